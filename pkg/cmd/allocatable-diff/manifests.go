package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/allocatable-diff/allocatable-diff/pkg/cmd/allocatable-diff/build"
	"github.com/allocatable-diff/allocatable-diff/pkg/options"
)

//go:embed manifests.yaml
var manifests string

// manifestsCommand prints what runs the gate inside a cluster, with the least rights that it needs.
func (p *program) manifestsCommand() *cobra.Command {
	o := options.New()
	o.KarpenterNamespace = "kube-system"
	c := p.command(&cobra.Command{
		Use:   "manifests",
		Short: "Print the YAML that runs check as a CronJob with read-only rights, and the IAM policy",
		Args:  cobra.NoArgs,
	}, o, func(context.Context, []string) error {
		return p.printManifests(o)
	})
	f := c.Flags()
	f.StringVar(&o.ClusterName, "cluster-name", o.ClusterName, "names the cluster in every output (env CLUSTER_NAME)")
	f.StringVar(&o.KarpenterNamespace, "karpenter-namespace", o.KarpenterNamespace, "namespace of the Karpenter controller")
	return c
}

func (p *program) printManifests(o *options.Options) error {
	if o.ClusterName == "" {
		return usage(errors.New("--cluster-name is required (env CLUSTER_NAME)"))
	}
	if problems := validation.IsDNS1123Label(o.KarpenterNamespace); len(problems) > 0 {
		return usage(fmt.Errorf("--karpenter-namespace %q: %s", o.KarpenterNamespace, problems[0]))
	}
	// The name can be anything; the others hold no character that means something in YAML or to a shell.
	_, err := io.WriteString(p.stdout, strings.NewReplacer(
		"${CLUSTER_NAME}", strconv.Quote(o.ClusterName),
		"${KARPENTER_NAMESPACE}", o.KarpenterNamespace,
		"${VERSION}", build.Version(),
	).Replace(manifests))
	return unfinished(err)
}
