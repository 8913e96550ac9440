package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/allocatable-diff/allocatable-diff/pkg/offline"
	"github.com/allocatable-diff/allocatable-diff/pkg/options"
)

// offlineCommand serves a recorded cluster to any client.
func (p *program) offlineCommand() *cobra.Command {
	o := options.New()
	var dir, types string
	c := p.command(&cobra.Command{
		Use:   "offline --from DIR",
		Short: "Serve an API server and a fake EC2 filled from DIR, until interrupted",
		Long: `offline starts a real kube-apiserver with etcd, fills it with the kubectl dumps in DIR, and a fake EC2 with the
describe-instance-types output there; prints a kubeconfig path and an endpoint; and serves both on loopback
until it is interrupted. "make envtest" provides the servers.`,
		Example: `  allocatable-diff offline --from fixtures/clusters/karpenter-demo --instance-types fixtures/ec2`,
		Args:    cobra.NoArgs,
	}, o, func(ctx context.Context, _ []string) error {
		return p.serve(ctx, dir, types)
	})
	f := c.Flags()
	f.StringVar(&dir, "from", "", "directory of kubectl dumps")
	f.StringVar(&types, "instance-types", "", "directory of describe-instance-types output, besides what is in the other one")
	return c
}

func (p *program) serve(ctx context.Context, dir, types string) (err error) {
	if dir == "" {
		return usage(errors.New("--from DIR is required"))
	}
	world := offline.Options{}
	for _, tree := range []struct {
		path string
		into *fs.FS
	}{{dir, &world.Cluster}, {types, &world.InstanceTypes}} {
		if tree.path == "" {
			continue
		}
		if info, err := os.Stat(tree.path); err != nil || !info.IsDir() {
			return usage(fmt.Errorf("%s is not a directory that can be read", tree.path))
		}
		*tree.into = os.DirFS(tree.path)
	}
	p.endsItself.Store(true)
	e, err := offline.Start(ctx, world)
	if err != nil {
		return unfinished(err)
	}
	defer func() { err = errors.Join(err, unfinished(e.Stop())) }()
	// In this form the lines can be given to a shell as they are. Any region and credentials do.
	if _, err := fmt.Fprintf(p.stdout, "export KUBECONFIG=%s\nexport AWS_ENDPOINT_URL=%s AWS_REGION=us-west-2 AWS_DEFAULT_REGION=us-west-2 AWS_ACCESS_KEY_ID=offline AWS_SECRET_ACCESS_KEY=offline\n", e.Kubeconfig(), e.EC2URL); err != nil {
		return unfinished(err)
	}
	fmt.Fprintln(p.stderr, "serving until interrupted (Ctrl-C)")
	<-ctx.Done()
	return nil
}
