package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
	"github.com/allocatable-diff/allocatable-diff/pkg/options"
	"github.com/allocatable-diff/allocatable-diff/pkg/recommend"
	"github.com/allocatable-diff/allocatable-diff/pkg/report"
)

// recommendFlags are the flags of `recommend` alone.
type recommendFlags struct {
	minSamples            int
	price, format, target string
}

// recommendCommand finds the overhead to set.
func (p *program) recommendCommand() *cobra.Command {
	o := options.New()
	flags := recommendFlags{minSamples: recommend.DefaultMinSamples, format: "table", target: compare.Capacity.String()}
	c := p.command(&cobra.Command{
		Use:   "recommend",
		Short: "Find the smallest overhead that over-estimates no node, and what it wastes",
		Long: `recommend finds the smallest vmMemoryOverheadPercent, at four decimals, at which Karpenter expects of no
sampled node more memory than it has, by Karpenter's own arithmetic; shows what other values would do; and
prints the patch that sets it. It rests on the nodes that are there now: a type that is not among them may
need more.`,
		Args: cobra.NoArgs,
	}, o, func(ctx context.Context, _ []string) error {
		return p.recommend(ctx, o, flags)
	})
	f := c.Flags()
	o.AddCluster(f)
	o.AddTypes(f)
	o.AddKarpenter(f)
	f.IntVar(&flags.minSamples, "min-samples", flags.minSamples, "nodes that a group needs; a smaller one is inconclusive")
	f.StringVar(&flags.price, "price", "", "file with perGiBHour and perType prices in USD: what is hidden is then told in money, too")
	f.StringVar(&flags.target, "target", flags.target, "what must not be over-estimated: capacity or allocatable of memory")
	f.StringVarP(&flags.format, "output", "o", flags.format, "table or json")
	return c
}

func (p *program) recommend(ctx context.Context, o *options.Options, flags recommendFlags) error {
	how := recommend.Options{MinSamples: flags.minSamples, Namespace: o.KarpenterNamespace}
	write := report.Recommend
	switch flags.format {
	case "table":
	case "json":
		write = report.RecommendJSON
	default:
		return usage(fmt.Errorf("-o %q: it is table or json", flags.format))
	}
	if err := how.Field.UnmarshalText([]byte(flags.target)); err != nil {
		return usage(fmt.Errorf("--target: %w", err))
	}
	if flags.minSamples < 1 {
		return usage(fmt.Errorf("--min-samples %d: it is at least 1", flags.minSamples))
	}
	if flags.price != "" {
		data, err := os.ReadFile(flags.price)
		if err == nil {
			how.Prices, err = recommend.ParsePrices(data)
		}
		if err != nil {
			return usage(fmt.Errorf("--price %s: %w", flags.price, err))
		}
	}
	judged, err := o.Gate()
	if err != nil {
		return usage(err)
	}
	in, err := p.load(ctx, o)
	if err != nil {
		return err
	}
	if len(in.Runs) > 0 {
		return usage(errors.New("a run file does not hold what recommend needs: give the snapshot that it was made from"))
	}
	samples, err := recommend.Samples(in.Snapshots, judged)
	if err != nil {
		return usage(err)
	}
	for _, s := range in.Snapshots {
		if settings, err := expect.Resolve(s.Controller, judged.Overrides); err == nil { // Samples has refused the others
			p.noteRelease(settings.Version)
		}
	}
	r := recommend.Compute(samples, how)
	if r.Samples == 0 {
		p.code = gate.ExitInconclusive
	}
	return unfinished(write(p.stdout, r))
}
