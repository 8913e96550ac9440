package build

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

// What the packages of the same names know, repeated since they import much: a test of the command holds the two
// together.
const (
	// OldestKarpenter and NewestKarpenter are expect.Oldest and expect.Newest.
	OldestKarpenter = "v0.27.0"
	NewestKarpenter = "v1.15.2"
	// ReportAPIVersion is gate.APIVersion.
	ReportAPIVersion = "allocatable-diff/v1alpha1"
)

// Info is what `version` tells.
type Info struct {
	Version string `json:"version"`
	Go      string `json:"goVersion"`
	// ReportAPIVersion is the version of run and snapshot files.
	ReportAPIVersion string `json:"reportAPIVersion"`
	// OldestKarpenter and NewestKarpenter bound the releases whose formulas are known.
	OldestKarpenter string `json:"oldestKarpenter"`
	NewestKarpenter string `json:"newestKarpenter"`
}

// Read returns what this binary is.
func Read() Info {
	return Info{
		Version: Version(), Go: runtime.Version(), ReportAPIVersion: ReportAPIVersion,
		OldestKarpenter: OldestKarpenter, NewestKarpenter: NewestKarpenter,
	}
}

// Version is the version that the binary was installed at; "latest" for one built from a checkout.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "latest"
	}
	return info.Main.Version
}

// Print writes the line of `version`.
func (b Info) Print(w io.Writer) error {
	_, err := fmt.Fprintf(w, "allocatable-diff %s (%s), Karpenter %s to %s, reports %s\n", b.Version, b.Go, b.OldestKarpenter, b.NewestKarpenter, b.ReportAPIVersion)
	return err
}
