// Package emptyspecs is as many specs as EMPTY_SPECS says, none of which does anything: what Ginkgo itself takes for a
// tree of the size of ours. They lie in containers of EMPTY_CONTAINER specs each, and flat without.
//
// It is the other side of a measurement of suites/harness/benchmark, and no test of anything: `make test` leaves it out.
package emptyspecs
