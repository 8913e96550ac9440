// Package harness answers one question: does what people run, the built binary, the compiled end-to-end suite and the
// make targets, do what was promised?
//
// It builds allocatable-diff, the suite and the ginkgo command line once, and runs them as a user would: in a folder, a
// home and an environment of their own. It looks at nothing but what comes out: exit codes, streams, files and their
// bytes. The clusters that it judges are generated: a clean one has exactly what Karpenter expects, and a spec plants
// the drift that it is about.
//
//	go tool ginkgo run ./suites/harness
package harness
