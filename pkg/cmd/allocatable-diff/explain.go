package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
	"github.com/allocatable-diff/allocatable-diff/pkg/options"
	"github.com/allocatable-diff/allocatable-diff/pkg/report"
)

// explainCommand shows the derivation of one node.
func (p *program) explainCommand() *cobra.Command {
	o := options.New()
	c := p.command(&cobra.Command{
		Use:   "explain NODE",
		Short: "Show the sum from EC2's memory to allocatable, term by term, beside the node's own",
		Args:  cobra.ExactArgs(1),
	}, o, func(ctx context.Context, args []string) error {
		return p.explain(ctx, o, args[0])
	})
	f := c.Flags()
	o.AddCluster(f)
	o.AddTypes(f)
	o.AddKarpenter(f)
	return c
}

func (p *program) explain(ctx context.Context, o *options.Options, node string) error {
	how, err := o.Gate()
	if err != nil {
		return usage(err)
	}
	in, err := p.load(ctx, o)
	if err != nil {
		return err
	}
	if len(in.Snapshots) == 0 {
		return usage(errors.New("a run file does not hold what explain needs: give the snapshot that it was made from"))
	}
	e, err := gate.Explain(in.Snapshots, how, node)
	if err != nil {
		return usage(err)
	}
	return unfinished(report.Explain(p.stdout, e))
}
