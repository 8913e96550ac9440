package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/allocatable-diff/allocatable-diff/pkg/collect"
	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
	"github.com/allocatable-diff/allocatable-diff/pkg/options"
	"github.com/allocatable-diff/allocatable-diff/pkg/recommend"
	"github.com/allocatable-diff/allocatable-diff/pkg/report"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// checkCommand is the gate.
func (p *program) checkCommand() *cobra.Command {
	o := options.New()
	var exitZero, perNode bool
	var profiled profiles
	c := p.command(&cobra.Command{
		Use:   "check",
		Short: "Judge every node, print what differs and why, and fail on drift",
		Long: `check compares every Karpenter node with what Karpenter expects of it, prints the findings worst first,
and writes the reports that --output names.

It exits with 0 when nothing was found, 1 on findings, 2 on wrong usage, 3 when it could not finish, and
4 when nothing could be concluded (no Karpenter node, or nodes that could not be judged).`,
		Args: cobra.NoArgs,
	}, o, func(ctx context.Context, _ []string) error {
		return profiled.of(func() error { return p.check(ctx, o, checkFlags{exitZero: exitZero, perNode: perNode}) })
	})
	f := c.Flags()
	o.AddCluster(f)
	o.AddTypes(f)
	o.AddKarpenter(f)
	o.AddGate(f)
	o.AddOutput(f)
	o.AddTerminal(f)
	profiled.add(f)
	f.BoolVar(&exitZero, "exit-zero", false, "advisory run: end with 0 on findings and where nothing could be concluded")
	f.BoolVar(&perNode, "metrics-per-node", false, "one time series per node in prometheus output, not one per type")
	return c
}

type checkFlags struct{ exitZero, perNode bool }

func (p *program) check(ctx context.Context, o *options.Options, flags checkFlags) error {
	outputs, err := parseOutputs(o.Outputs)
	if err != nil {
		return usage(err)
	}
	how, err := o.Gate()
	if err != nil {
		return usage(err)
	}
	how.Today = time.Now()
	in, err := p.load(ctx, o)
	if err != nil {
		return err
	}
	run, err := p.judge(in, how)
	if err != nil {
		return err
	}
	ro := reportOptions(o, flags)
	if ro.Recommendation, err = recommendationFor(outputs, in, how); err != nil {
		return usage(err)
	}
	if o.Ratchet {
		if err := ratchet(run, how.Baseline, o.Baseline); err != nil {
			return unfinished(err)
		}
	}
	if p.code = run.ExitCode(); flags.exitZero {
		p.code = gate.ExitOK
	}
	onStdout := false
	for _, out := range outputs {
		if out.format.Name == "github" && o.GitHubOutput != "" {
			if err := appendResults(o.GitHubOutput, run); err != nil {
				return unfinished(err)
			}
		}
		onStdout = onStdout || out.path == "-"
	}
	if err := p.writeAll(outputs, run, ro); err != nil {
		return err
	}
	if onStdout { // stdout carries a report that a program reads: the table would spoil it
		return nil
	}
	return unfinished(p.print(run, o))
}

// print writes the table, or with --quiet the verdict alone.
func (p *program) print(run *gate.Run, o *options.Options) error {
	if o.Quiet {
		_, err := fmt.Fprintln(p.stdout, report.Verdict(run))
		return err
	}
	table, err := report.Find("table")
	if err != nil {
		return err
	}
	return table.Write(p.stdout, run, report.Options{Color: !o.NoColor && isTerminal(p.stdout)})
}

// recommendationFor works out the overhead to set where a report shows it; nil where none does, and for run files,
// which do not hold what it rests on.
func recommendationFor(outputs []output, in collect.Input, how gate.Options) (*recommend.Report, error) {
	if len(in.Runs) > 0 || !slices.ContainsFunc(outputs, func(o output) bool { return o.format.Recommends }) {
		return nil, nil
	}
	samples, err := recommend.Samples(in.Snapshots, how)
	if err != nil {
		return nil, err
	}
	return recommend.Compute(samples, recommend.Options{MinSamples: recommend.DefaultMinSamples}), nil
}

// output is one --output: a format and where it goes.
type output struct {
	format report.Format
	path   string
}

// parseOutputs reads every FORMAT=PATH before anything is done, so that a typo costs no run.
func parseOutputs(texts []string) ([]output, error) {
	var out []output
	for _, text := range texts {
		name, path, ok := strings.Cut(text, "=")
		if !ok || path == "" {
			return nil, fmt.Errorf("--output %q: write it as FORMAT=PATH, such as junit=junit.xml", text)
		}
		format, err := report.Find(name)
		if err != nil {
			return nil, fmt.Errorf("--output %q: %w", text, err)
		}
		for _, other := range out {
			if other.path == path {
				return nil, fmt.Errorf("--output %q: %s is written by another --output", text, path)
			}
		}
		out = append(out, output{format, path})
	}
	return out, nil
}

func reportOptions(o *options.Options, flags checkFlags) report.Options {
	return report.Options{UpstreamCSV: o.CSVFormat == "upstream", MetricsPerNode: flags.perNode}
}

func (p *program) write(out output, run *gate.Run, o *options.Options) error {
	return p.writeWith(out, run, reportOptions(o, checkFlags{}))
}

// writeAll writes the files, then what goes to stdout, whose reader may not be there any more.
func (p *program) writeAll(outputs []output, run *gate.Run, ro report.Options) error {
	var files []report.File
	for _, out := range outputs {
		if out.path != "-" {
			files = append(files, report.File{Format: out.format, Path: out.path})
		}
	}
	failed := []error{unfinished(report.WriteFiles(files, run, ro))}
	for _, out := range outputs {
		if out.path == "-" {
			failed = append(failed, p.writeWith(out, run, ro))
		}
	}
	return errors.Join(failed...)
}

func (p *program) writeWith(out output, run *gate.Run, ro report.Options) error {
	if out.path == "-" {
		if err := out.format.Write(p.stdout, run, ro); err != nil {
			return unfinished(fmt.Errorf("writing %s to stdout: %w", out.format.Name, err))
		}
		return nil
	}
	return unfinished(report.WriteFile(out.format, out.path, run, ro))
}

// appendResults adds the run's results to the file of a GitHub step; earlier lines of the step are there already.
func appendResults(path string, run *gate.Run) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("writing the results of the step: %w", err)
	}
	return errors.Join(report.GitHubOutput(f, run), f.Close())
}

// ratchet writes the baseline that the run allows.
func ratchet(run *gate.Run, old *gate.Baseline, path string) error {
	data, err := run.Ratchet(old).Encode()
	if err != nil {
		return fmt.Errorf("baseline %s: %w", path, err)
	}
	return snapshot.WriteFile(path, 0o644, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
