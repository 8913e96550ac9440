package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/allocatable-diff/allocatable-diff/pkg/collect"
	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
	"github.com/allocatable-diff/allocatable-diff/pkg/options"
	"github.com/allocatable-diff/allocatable-diff/pkg/report"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// load reads the cluster or the files that o names.
func (p *program) load(ctx context.Context, o *options.Options) (collect.Input, error) {
	in, err := collect.Load(ctx, p.stdin, p.stderr, o)
	var broken *collect.InputError
	switch {
	case errors.As(err, &broken):
		return in, usage(err)
	case err != nil:
		return in, unfinished(err)
	}
	return in, usage(named(in.Snapshots))
}

// named refuses a snapshot that no one gave a name: every output says which cluster it is about.
func named(snapshots []*snapshot.Snapshot) error {
	for _, s := range snapshots {
		if s.Cluster == "" {
			return errors.New("--cluster-name is required: the input does not name its cluster (env CLUSTER_NAME)")
		}
	}
	return nil
}

// evaluate loads and judges; run files of earlier evaluations are merged in.
func (p *program) evaluate(ctx context.Context, o *options.Options, how gate.Options) (*gate.Run, error) {
	in, err := p.load(ctx, o)
	if err != nil {
		return nil, err
	}
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
