package allocatable

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"

	"github.com/allocatable-diff/allocatable-diff/pkg/collect"
	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
	"github.com/allocatable-diff/allocatable-diff/pkg/options"
	"github.com/allocatable-diff/allocatable-diff/pkg/recommend"
	"github.com/allocatable-diff/allocatable-diff/pkg/report"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// cluster is the recorded input of every process, run its verdict: pure, so equal on each of them.
var (
	cluster *input
	run     *gate.Run
)

// demo is the cluster that the suite judges where nothing else is asked for.
const demo = "../../fixtures/clusters/karpenter-demo"

// input is what the suite judges, and how.
type input struct {
	snapshots []*snapshot.Snapshot
	how       gate.Options
	options   *options.Suite
	// begun gives the result of the reports that are being written; nil where none are.
	begun chan error
}

// load reads the input of the suite. A live cluster is not read here: each process of a parallel run would see another
// one. `make e2e-diff` records it first.
func load(ctx context.Context) (*input, error) {
	o, err := options.ReadSuite(options.Environment)
	if err != nil {
		return nil, err
	}
	if len(o.From) == 0 {
		if o.ClusterName != "" {
			return nil, errors.New("SOURCE is not set: record the cluster first, as `make e2e-diff CLUSTER_NAME=…` does")
		}
		o.ClusterName, o.From, o.Policy = "karpenter-demo", []string{demo}, filepath.Join(demo, "policy.yaml")
		o.InstanceTypes = "../../fixtures/ec2"
	}
	in, err := collect.Load(ctx, os.Stdin, os.Stderr, &o.Options)
	if err != nil {
		return nil, err
	}
	how, err := o.Gate()
	if err != nil {
		return nil, err
	}
	how.Today = time.Now()
	how.Shard = gate.Shard{Index: o.ShardIndex, Total: o.ShardTotal}
	for _, s := range in.Snapshots {
		if s.Cluster == "" {
			return nil, errors.New("CLUSTER_NAME is not set, and the input does not name its cluster")
		}
	}
	return &input{snapshots: in.Snapshots, how: how, options: o}, nil
}

// digest identifies what was judged.
func digest() string {
	var all []string
	for i := range run.Clusters {
		all = append(all, run.Clusters[i].Digest)
	}
	return strings.Join(all, " ")
}

// evaluate judges the input; inFocus nil means every node.
func (in *input) evaluate(inFocus func(gate.Node) bool) (*gate.Run, error) {
	how := in.how
	how.InFocus = inFocus
	return gate.Evaluate(in.snapshots, how)
}

// begin writes the reports of the whole run while the specs run: they are known before. It does nothing where they could
// still be narrowed, and on other processes than the first.
func (in *input) begin() {
	suite, _ := ginkgo.GinkgoConfiguration()
	narrowed := len(suite.FocusStrings)+len(suite.SkipStrings)+len(suite.FocusFiles)+len(suite.SkipFiles) > 0 || suite.LabelFilter != ""
	if suite.ParallelProcess == 1 && !narrowed && !suite.DryRun {
		in.begun = make(chan error, 1)
		go func() { in.begun <- in.write(run) }()
	}
}

// finish waits for the reports, or writes them. A run that was narrowed is judged anew, so that what was not in focus
// says so.
func (in *input) finish(suite types.Report) error {
	var err error
	if in.begun != nil {
		err = <-in.begun
	}
	left := filteredOut(suite)
	if in.begun != nil && len(left) == 0 {
		return err
	}
	whole := run
	if len(left) > 0 {
		if whole, err = in.evaluate(func(n gate.Node) bool { return !left[specOf{labelValue(n.Cluster), n.Name}] }); err != nil {
			return err
		}
	}
	return in.write(whole)
}

// write writes every file report.
func (in *input) write(written *gate.Run) error {
	if in.options.Reports == "" {
		return nil
	}
	if err := os.MkdirAll(in.options.Reports, 0o755); err != nil {
		return fmt.Errorf("making the folder of the reports: %w", err)
	}
	samples, err := recommend.Samples(in.snapshots, in.how)
	if err != nil {
		return err
	}
	o := report.Options{
		UpstreamCSV:    in.options.CSVFormat == "upstream",
		Recommendation: recommend.Compute(samples, recommend.Options{MinSamples: recommend.DefaultMinSamples}),
	}
	var files []report.File
	for _, f := range report.Files() {
		files = append(files, report.File{Format: f, Path: filepath.Join(in.options.Reports, f.File)})
	}
	return report.WriteFiles(files, written, o)
}

// specOf names the node of a spec.
type specOf struct{ cluster, node string }

// filteredOut lists the nodes whose specs Ginkgo's filters took out: those are skipped without a reason, where our own
// skips have one.
func filteredOut(suite types.Report) map[specOf]bool {
	out := map[specOf]bool{}
	for _, s := range suite.SpecReports {
		if s.LeafNodeType != types.NodeTypeIt || s.State != types.SpecStateSkipped || s.Failure.Message != "" {
			continue
		}
		cluster := ""
		for _, label := range s.Labels() {
			if value, ok := strings.CutPrefix(label, clusterLabel); ok {
				cluster = value
			}
		}
		out[specOf{cluster, s.LeafNodeText}] = true
	}
	return out
}
