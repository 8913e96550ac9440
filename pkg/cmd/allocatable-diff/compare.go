package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
	"github.com/allocatable-diff/allocatable-diff/pkg/options"
	"github.com/allocatable-diff/allocatable-diff/pkg/report"
)

// compareFlags are the flags of `compare` alone.
type compareFlags struct{ toVersion, toFamily, format string }

// compareCommand compares two clusters, or one with itself after an upgrade or migration.
func (p *program) compareCommand() *cobra.Command {
	o := options.New()
	flags := compareFlags{format: "table"}
	c := p.command(&cobra.Command{
		Use:   "compare A [B]",
		Short: "Show what moved between two snapshots, or what an upgrade or migration would change",
		Long: `compare A B reads two snapshots, dumps or run files and shows which capacity, reserve or expectation of an
instance type moved beyond the spread that the type had: run it before and after an AMI upgrade.

compare A --to-karpenter-version V shows whose expectation an upgrade of Karpenter changes, and
compare A --to-ami-family F which a migration of the AMI family changes.

It exits with 1 when something moved or changes. Types that only one side has are information.`,
		Example: `  allocatable-diff compare old.json new.json
  allocatable-diff compare prod.json --to-karpenter-version v1.11.0
  allocatable-diff compare prod.json --to-ami-family Bottlerocket`,
		Args: cobra.RangeArgs(1, 2),
	}, o, func(ctx context.Context, args []string) error {
		return p.compare(ctx, o, flags, args)
	})
	f := c.Flags()
	f.StringVar(&o.ClusterName, "cluster-name", o.ClusterName, "names a cluster whose input does not (env CLUSTER_NAME)")
	o.AddTypes(f)
	o.AddKarpenter(f)
	f.StringVar(&flags.toVersion, "to-karpenter-version", "", "compare A with itself under this release")
	f.StringVar(&flags.toFamily, "to-ami-family", "", "compare A with itself under this AMI family: "+strings.Join(expect.FamilyNames(), ", "))
	f.StringVarP(&flags.format, "output", "o", flags.format, "table or json")
	return c
}

func (p *program) compare(ctx context.Context, o *options.Options, flags compareFlags, args []string) error {
	if flags.format != "table" && flags.format != "json" {
		return usage(fmt.Errorf("-o %q: it is table or json", flags.format))
	}
	what := flags.toVersion != "" || flags.toFamily != ""
	switch {
	case what && len(args) == 2:
		return usage(errors.New("--to-karpenter-version and --to-ami-family compare one input with itself: give A alone"))
	case !what && len(args) == 1:
		return usage(errors.New("give a second input B, --to-karpenter-version or --to-ami-family"))
	case what:
		return p.compareChange(ctx, o, flags, args[0])
	}
	from, err := p.compared(ctx, o, args[0], gate.Options{Policy: gate.DefaultPolicy()})
	if err != nil {
		return err
	}
	to, err := p.compared(ctx, o, args[1], gate.Options{Policy: gate.DefaultPolicy()})
	if err != nil {
		return err
	}
	moves := gate.Compare(from, to)
	if len(moves.Moves) > 0 {
		p.code = gate.ExitFindings
	} else if moves.Compared == 0 {
		p.code = gate.ExitInconclusive
	}
	if flags.format == "json" {
		return unfinished(report.MovesJSON(p.stdout, moves))
	}
	return unfinished(report.Moves(p.stdout, moves, args[0], args[1]))
}

// compareChange evaluates one input twice: as it is, and under another release or family.
func (p *program) compareChange(ctx context.Context, o *options.Options, flags compareFlags, path string) error {
	if flags.toFamily != "" && !slices.Contains(expect.FamilyNames(), flags.toFamily) {
		return usage(fmt.Errorf("--to-ami-family %q: it is one of %s", flags.toFamily, strings.Join(expect.FamilyNames(), ", ")))
	}
	how := gate.Options{Policy: gate.DefaultPolicy()}
	from, err := p.compared(ctx, o, path, how)
	if err != nil {
		return err
	}
	var label []string
	after := *o
	if flags.toVersion != "" {
		after.KarpenterVersion = flags.toVersion
		label = append(label, "Karpenter "+flags.toVersion)
	}
	if flags.toFamily != "" {
		how.AMIFamily = flags.toFamily
		label = append(label, "AMI family "+flags.toFamily)
	}
	to, err := p.compared(ctx, &after, path, how)
	if err != nil {
		return err
	}
	if v, err := expect.ParseVersion(flags.toVersion); err == nil { // no version at all is none to note
		p.noteRelease(v)
	}
	changes := gate.Changes(from, to)
	switch {
	case len(changes) > 0:
		p.code = gate.ExitFindings
	case from.Totals.Judged == 0:
		p.code = gate.ExitInconclusive
	}
	if flags.format == "json" {
		return unfinished(report.ChangesJSON(p.stdout, changes))
	}
	return unfinished(report.Changes(p.stdout, changes, strings.Join(label, " and ")))
}

// compared reads and judges one side. A dump that no one named is called by its path.
func (p *program) compared(ctx context.Context, o *options.Options, path string, how gate.Options) (*gate.Run, error) {
	side := *o
	side.From = []string{path}
	if path == "-" && p.stdinRead {
		return nil, usage(errors.New("stdin can be read once: write one of the two sides to a file"))
	}
	var err error
	if how.Overrides, err = side.Overrides(); err != nil {
		return nil, usage(err)
	}
	in, err := p.read(ctx, &side)
	if err != nil {
		return nil, err
	}
	for _, s := range in.Snapshots {
		if s.Cluster == "" {
			s.Cluster = path
		}
	}
	return p.judge(in, how)
}
