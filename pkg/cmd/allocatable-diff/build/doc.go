// Package build answers one question: what is this binary?
//
// It imports next to nothing, so that it can answer `allocatable-diff version` before the clients of Kubernetes and AWS
// are set up, which takes far longer than the answer: see early.go.
package build
