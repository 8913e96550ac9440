package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/allocatable-diff/allocatable-diff/pkg/cmd/allocatable-diff/build"
	"github.com/allocatable-diff/allocatable-diff/pkg/options"
)

func (p *program) versionCommand() *cobra.Command {
	format := "text"
	c := p.command(&cobra.Command{
		Use:   "version",
		Short: "Print the version and which Karpenter releases are known",
		Args:  cobra.NoArgs,
	}, options.New(), func(context.Context, []string) error {
		switch format {
		case "text": // without flags build has printed it before this program began
			return unfinished(build.Read().Print(p.stdout))
		case "json":
			enc := json.NewEncoder(p.stdout)
			enc.SetIndent("", "  ")
			return unfinished(enc.Encode(build.Read()))
		}
		return usage(fmt.Errorf("-o %q: it is text or json", format))
	})
	c.Flags().StringVarP(&format, "output", "o", format, "text or json")
	return c
}
