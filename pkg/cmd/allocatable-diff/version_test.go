package main

import (
	"testing"

	"github.com/allocatable-diff/allocatable-diff/pkg/cmd/allocatable-diff/build"
	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
)

// TestBuildKnowsThePackages: what build repeats is what the packages say.
func TestBuildKnowsThePackages(t *testing.T) {
	for _, row := range []struct{ what, got, want string }{
		{"oldest release", build.OldestKarpenter, "v" + expect.Oldest.String()},
		{"newest release", build.NewestKarpenter, "v" + expect.Newest.String()},
		{"version of the reports", build.ReportAPIVersion, gate.APIVersion},
	} {
		if row.got != row.want {
			t.Errorf("the %s is %s in package build, want %s", row.what, row.got, row.want)
		}
	}
}
