package report

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/allocatable-diff/allocatable-diff/pkg/collect"
	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
	"github.com/allocatable-diff/allocatable-diff/pkg/options"
	"github.com/allocatable-diff/allocatable-diff/pkg/recommend"
)

// TestFixtures writes every format of every recorded cluster and holds it against the rules of its readers: what real
// objects lead to, not what a test thought of.
func TestFixtures(t *testing.T) {
	clusters, err := os.ReadDir("../../fixtures/clusters")
	if err != nil {
		t.Fatal(err)
	}
	schema := runSchema(t)
	for _, c := range clusters {
		t.Run(c.Name(), func(t *testing.T) {
			o := options.New()
			o.ClusterName, o.From, o.InstanceTypes = c.Name(), []string{filepath.Join("../../fixtures/clusters", c.Name())}, "../../fixtures/ec2"
			in, err := collect.Load(t.Context(), strings.NewReader(""), io.Discard, o)
			if err != nil {
				t.Fatal(err)
			}
			how := gate.Options{Policy: gate.DefaultPolicy()}
			run, err := gate.Evaluate(in.Snapshots, how)
			if err != nil {
				t.Fatal(err)
			}
			samples, err := recommend.Samples(in.Snapshots, how)
			if err != nil {
				t.Fatal(err)
			}
			ro := Options{Recommendation: recommend.Compute(samples, recommend.Options{MinSamples: recommend.DefaultMinSamples})}

			if n := len(readCSV(t, written(t, "csv", run, ro))); n != 2+run.Totals.Karpenter {
				t.Errorf("csv: %d records for %d Karpenter nodes", n, run.Totals.Karpenter)
			}
			nodes := map[string]bool{}
			for _, r := range readCSV(t, written(t, "csv-wide", run, ro))[1:] {
				nodes[r[1]] = true
			}
			if len(nodes) != len(run.Nodes) {
				t.Errorf("csv-wide: %d of %d nodes have rows", len(nodes), len(run.Nodes))
			}
			data := written(t, "json", run, ro)
			if err := validate(t, schema, data); err != nil {
				t.Errorf("json: %v", err)
			}
			back, err := ReadRun(bytes.NewReader(data))
			if err != nil {
				t.Fatalf("json: %v", err)
			}
			for i := range run.Clusters {
				run.Clusters[i].Ignored = nil // of the input, not of the run
			}
			if diff := cmp.Diff(run, back); diff != "" {
				t.Errorf("json: the run comes back changed:\n%s", diff)
			}
			cases := 0
			for _, s := range checkJUnit(t, "junit", written(t, "junit", run, ro)).Suite {
				for _, c := range s.Cases {
					if !strings.HasSuffix(c.ClassName, ".run") {
						cases++
					}
				}
			}
			if cases != run.Totals.Karpenter {
				t.Errorf("junit: %d test cases for %d Karpenter nodes", cases, run.Totals.Karpenter)
			}
			checkPage(t, "html", written(t, "html", run, ro))
			if problems, err := promlint.New(bytes.NewReader(written(t, "prometheus", run, ro))).Lint(); err != nil || len(problems) > 0 {
				t.Errorf("prometheus: %v %v", problems, err)
			}
			for i, line := range strings.Split(string(written(t, "table", run, ro)), "\n") {
				if n := utf8.RuneCountInString(line); n > 80 {
					t.Errorf("table: line %d has %d columns: %s", i+1, n, line)
				}
			}
			if n := len(written(t, "markdown", run, ro)); n > 1<<20 {
				t.Errorf("markdown: %d bytes", n)
			}
		})
	}
}
