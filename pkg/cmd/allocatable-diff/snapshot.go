package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/allocatable-diff/allocatable-diff/pkg/collect"
	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
	"github.com/allocatable-diff/allocatable-diff/pkg/options"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// snapshotCommand records what the other commands would read.
func (p *program) snapshotCommand() *cobra.Command {
	o := options.New()
	path, redact := "", false
	c := p.command(&cobra.Command{
		Use:   "snapshot -o FILE",
		Short: "Record a cluster to replay anywhere",
		Long: `snapshot records what the other commands would read: nodes, claims, pools, classes, Karpenter's settings
and the facts of the nodes' instance types, and nothing else. "--from FILE" replays it: the reports are
the same, byte for byte. The file is for its owner's eyes alone (mode 0600).

With --redact it can be shown to others: names of the cluster, its nodes, claims, pools and classes, provider IDs,
zones, account numbers, ARNs and addresses are replaced, one by the same everywhere. The reports are the same but for
these names.`,
		Args: cobra.NoArgs,
	}, o, func(ctx context.Context, _ []string) error {
		if path == "" {
			return usage(errors.New("-o FILE is required"))
		}
		in, err := p.load(ctx, o)
		if err != nil {
			return err
		}
		if len(in.Snapshots) != 1 || len(in.Runs) > 0 {
			return usage(fmt.Errorf("a snapshot holds one cluster, the input has %s and %s", gate.Plural(len(in.Snapshots), "cluster"), gate.Plural(len(in.Runs), "run file")))
		}
		s := in.Snapshots[0]
		if redact {
			s = snapshot.Redact(s)
			collect.Join(s)
		}
		return unfinished(p.record(s, path))
	})
	f := c.Flags()
	o.AddCluster(f)
	o.AddTypes(f)
	f.BoolVar(&redact, "redact", false, "replace names and identities, so that the snapshot can be shown to others")
	f.StringVarP(&path, "output", "o", path, "file to write; - is stdout; a name ending in .gz is compressed")
	return c
}

func (p *program) record(s *snapshot.Snapshot, path string) error {
	if path == "-" {
		return snapshot.Encode(p.stdout, s)
	}
	if err := snapshot.Write(path, s); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.stderr, "wrote %s of cluster %q to %s (%s)\n", gate.Plural(len(s.Nodes), "node"), s.Cluster, path, s.Digest())
	return err
}
