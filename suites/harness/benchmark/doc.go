// Command benchmark answers one question: is the tool as fast and as small as was promised?
//
// Each row of its table is a promise: a ratio of two things that are measured in the same run, in turn, so that a busy or
// a slow machine is busy and slow for both of them; or a figure that stands for itself. It prints the median of all
// pairs, the range, the goal, and whether the goal is reached, and exits 1 where one is not.
//
//	make benchmark                        every row, then the Go benchmarks, into reports/benchmark.txt
//	make benchmark PAIRS=9 ROWS='dump|recommend'
//
// What is measured are whole processes: the binary of `make build`, the compiled suite under `make e2e-diff`, jq, empty
// suites on plain Ginkgo (emptyspecs/), Karpenter's own code (suites/conformance/oracles). Clusters are generated
// (fleet/), of a hundred of the types in the folder INSTANCE_TYPE_DATA, or of those of fixtures/ec2 without. A row that
// lacks something says what, and counts neither way.
//
// The program itself knows nothing but the standard library: the kernel counts the memory of a parent to its child until
// the child becomes another program, so a parent must be smaller than whatever it measures (supply/ generates).
package main
