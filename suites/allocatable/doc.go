// Package allocatable is the end-to-end suite: one spec per node of a recorded cluster, asserting that what Karpenter
// expects is within tolerance of what the node has.
//
// It is configured by the environment, as `make e2e-diff` sets it: CLUSTER_NAME, SOURCE (a snapshot, a kubectl dump or
// a directory of them), POLICY, REPORTS, and the options of the command line by their own variables. Without SOURCE it
// judges the demonstration cluster of fixtures/.
//
// There is no arithmetic, no client and no file format here: the suite generates specs from the verdicts of pkg/gate
// and writes its reports through pkg/report, as the command line does.
package allocatable
