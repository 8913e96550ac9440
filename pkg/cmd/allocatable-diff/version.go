package main

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
	"github.com/allocatable-diff/allocatable-diff/pkg/options"
)

// build is what `version` tells.
type build struct {
	Version string `json:"version"`
	Go      string `json:"goVersion"`
	// ReportAPIVersion is the version of run and snapshot files.
	ReportAPIVersion string `json:"reportAPIVersion"`
	// OldestKarpenter and NewestKarpenter bound the releases whose formulas are known.
	OldestKarpenter string `json:"oldestKarpenter"`
	NewestKarpenter string `json:"newestKarpenter"`
}

func (p *program) versionCommand() *cobra.Command {
	format := "text"
	c := p.command(&cobra.Command{
		Use:   "version",
		Short: "Print the version and which Karpenter releases are known",
		Args:  cobra.NoArgs,
	}, options.New(), func(context.Context, []string) error {
		b := build{Version: moduleVersion(), Go: runtime.Version(), ReportAPIVersion: gate.APIVersion, OldestKarpenter: "v" + expect.Oldest.String(), NewestKarpenter: "v" + expect.Newest.String()}
		switch format {
		case "text":
			_, err := fmt.Fprintf(p.stdout, "allocatable-diff %s (%s), Karpenter %s to %s, reports %s\n", b.Version, b.Go, b.OldestKarpenter, b.NewestKarpenter, b.ReportAPIVersion)
			return unfinished(err)
		case "json":
			enc := json.NewEncoder(p.stdout)
			enc.SetIndent("", "  ")
			return unfinished(enc.Encode(b))
		}
		return usage(fmt.Errorf("-o %q: it is text or json", format))
	})
	c.Flags().StringVarP(&format, "output", "o", format, "text or json")
	return c
}

// moduleVersion is the version that the binary was installed at; "latest" for one built from a checkout.
func moduleVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "latest"
	}
	return info.Main.Version
}
