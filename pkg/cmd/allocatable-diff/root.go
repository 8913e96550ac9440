package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
	"github.com/allocatable-diff/allocatable-diff/pkg/options"
	"github.com/allocatable-diff/allocatable-diff/pkg/report"
)

// rootCommand is the data-gathering tool, flag for flag as Karpenter documents its own, and the parent of the others.
func (p *program) rootCommand() *cobra.Command {
	o := options.New()
	outFile := "allocatable-diff.csv"
	var root *cobra.Command
	root = p.command(&cobra.Command{
		Use:   "allocatable-diff",
		Short: "Compare what Karpenter expects of each node with what the node has",
		Long: `allocatable-diff lists a cluster's nodes, recomputes what Karpenter expects of each, and compares.

Without a command it gathers data: it writes a CSV of expected and actual capacity and allocatable, with
the VM memory overhead that --overhead-percent gives (0 when it is not given), and judges nothing.
"allocatable-diff check" is the gate.`,
		Example: `  allocatable-diff --cluster-name prod --out-file prod.csv --overhead-percent 0.075
  kubectl get nodes -o json | allocatable-diff check --cluster-name prod --from -`,
		Args: cobra.NoArgs,
	}, o, func(ctx context.Context, _ []string) error {
		return p.gather(ctx, o, outFile, root.Flags().Changed("overhead-percent"))
	})
	if strings.HasPrefix(p.name, "kubectl-") {
		root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl allocatable-diff"}
	}
	f := root.Flags()
	o.AddCluster(f)
	o.AddTypes(f)
	o.AddKarpenter(f)
	o.AddCSVFormat(f)
	o.AddTerminal(f)
	f.StringVar(&outFile, "out-file", outFile, "file to write the CSV to")
	percent := f.Lookup("overhead-percent")
	percent.Usage += "; auto is the controller's"
	percent.DefValue = "0" // what help prints: Karpenter's tool begins from none
	root.AddCommand(p.checkCommand(), p.snapshotCommand(), p.expectCommand(), p.recommendCommand(), p.explainCommand(), p.compareCommand(), p.offlineCommand(), p.manifestsCommand(), p.versionCommand())
	return root
}

// gather writes the 13-column CSV and a summary; it never judges. Its overhead is 0 unless one is given; auto, when it is,
// is the controller's.
func (p *program) gather(ctx context.Context, o *options.Options, outFile string, given bool) error {
	if o.ClusterName == "" {
		return usage(errors.New("--cluster-name is required (env CLUSTER_NAME)"))
	}
	if outFile == "" {
		return usage(errors.New("--out-file must not be empty"))
	}
	assumed := o.OverheadPercent == options.Auto && !given
	if assumed {
		o.OverheadPercent = "0"
	}
	how, err := o.Gate()
	if err != nil {
		return usage(err)
	}
	run, err := p.evaluate(ctx, o, how)
	if err != nil {
		return err
	}
	format, err := report.Find("csv")
	if err != nil {
		return err
	}
	if err := p.write(output{format, outFile}, run, o); err != nil {
		return err
	}
	if run.Totals.Karpenter == 0 {
		p.code = gate.ExitInconclusive
		fmt.Fprintf(p.stderr, "%s\n", run.Inconclusive)
	}
	if outFile == "-" {
		return nil
	}
	return unfinished(summarize(p.stdout, run, outFile, assumed, o.Quiet))
}

// overheadFrom says where the overhead comes from; assumed is this command's own default.
func overheadFrom(c *gate.Cluster, assumed bool) string {
	if assumed {
		return "this command's default, as in Karpenter's tool; see --overhead-percent"
	}
	return c.OverheadPercentFrom
}

// summarize says in a few lines what was written and with which settings; quiet, in one.
func summarize(w io.Writer, run *gate.Run, outFile string, assumed, quiet bool) error {
	t := run.Totals
	lines := []string{fmt.Sprintf("wrote %s of %s to %s", gate.Plural(t.Karpenter, "node"), gate.Plural(len(run.Clusters), "cluster"), outFile)}
	if quiet {
		_, err := fmt.Fprintln(w, lines[0])
		return err
	}
	for i := range run.Clusters {
		c := &run.Clusters[i]
		lines = append(lines, fmt.Sprintf("%s: Karpenter v%s (%s), overhead %v (%s)", c.Name, c.Karpenter, c.KarpenterFrom, c.OverheadPercent, overheadFrom(c, assumed)))
	}
	if t.Skipped > 0 {
		lines = append(lines, fmt.Sprintf("%s not compared: not ready, not initialized or being deleted", gate.Plural(t.Skipped, "node")))
	}
	if t.Unknown > 0 {
		lines = append(lines, fmt.Sprintf("%s could not be computed: their expected cells are empty", gate.Plural(t.Unknown, "node")))
	}
	lines = append(lines, `this only gathers: run "allocatable-diff check" to judge`)
	_, err := io.WriteString(w, strings.Join(lines, "\n")+"\n")
	return err
}
