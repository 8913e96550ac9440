package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/allocatable-diff/allocatable-diff/pkg/collect"
	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
	"github.com/allocatable-diff/allocatable-diff/pkg/options"
	"github.com/allocatable-diff/allocatable-diff/pkg/report"
)

// read reads the cluster or the files that o names.
func (p *program) read(ctx context.Context, o *options.Options) (collect.Input, error) {
	p.stdinRead = p.stdinRead || slices.Contains(o.From, "-")
	in, err := collect.Load(ctx, p.stdin, p.progress(o), o)
	var broken *collect.InputError
	switch {
	case errors.As(err, &broken):
		return in, usage(err)
	case err != nil:
		return in, unfinished(err)
	}
	return in, nil
}

// load is read, and refuses a cluster that no one gave a name: every output says which cluster it is about.
func (p *program) load(ctx context.Context, o *options.Options) (collect.Input, error) {
	if len(o.From) == 0 && o.ClusterName == "" {
		return collect.Input{}, usage(errors.New("--cluster-name is required for a live cluster (env CLUSTER_NAME)"))
	}
	in, err := p.read(ctx, o)
	if err != nil {
		return in, err
	}
	for _, s := range in.Snapshots {
		if s.Cluster == "" {
			return in, usage(errors.New("--cluster-name is required: the input does not name its cluster (env CLUSTER_NAME)"))
		}
	}
	return in, nil
}

// evaluate loads and judges.
func (p *program) evaluate(ctx context.Context, o *options.Options, how gate.Options) (*gate.Run, error) {
	in, err := p.load(ctx, o)
	if err != nil {
		return nil, err
	}
	run, err := p.judge(in, how)
	giveBack() // the input is half of what is in memory, and no report needs it
	return run, err
}

// judge evaluates the snapshots of the input; run files of earlier evaluations are merged in.
func (p *program) judge(in collect.Input, how gate.Options) (*gate.Run, error) {
	var runs []*gate.Run
	for _, file := range in.Runs {
		r, err := report.ReadRun(bytes.NewReader(file.Data))
		if err != nil {
			return nil, usage(fmt.Errorf("run file %s: %w", file.Path, err))
		}
		runs = append(runs, r)
	}
	if len(in.Snapshots) > 0 || len(runs) == 0 {
		run, err := gate.Evaluate(in.Snapshots, how)
		if err != nil {
			return nil, usage(err)
		}
		if len(runs) == 0 {
			return run, nil
		}
		runs = append(runs, run)
	}
	merged, err := gate.Merge(runs, how.Policy)
	return merged, usage(err)
}

// noteRelease says on stderr that a release is judged by the rules of an older one, where no report of the command does.
func (p *program) noteRelease(v expect.Version) {
	if note := v.Unread(); note != "" {
		fmt.Fprintf(p.stderr, "note: %s\n", note)
	}
}
