// Package offline answers one question: does the live path, against a real API server and an EC2 that speaks the real
// protocol, give the same as files do, and lose nothing when either of them fails?
//
// It builds allocatable-diff once and runs it as a person would, against worlds of pkg/offline: one for each fixture
// cluster. Between the tool and an API server stands a proxy that records what is asked and answers wrongly where a spec
// says so. Nothing leaves the machine: run in one process, where unshare is permitted, the suite starts itself anew
// without any network but loopback. Where kube-apiserver and etcd are not installed (make envtest), the specs that need
// them are skipped with that reason; those of EC2 alone still run.
//
//	KUBEBUILDER_ASSETS=$(pkg/offline/servers/envtest.sh) go tool ginkgo run ./suites/offline
package offline
