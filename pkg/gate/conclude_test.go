package gate

import (
	"slices"
	"strings"
	"testing"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// TestInconclusive: the reasons are those of the nodes that the sentence is about.
func TestInconclusive(t *testing.T) {
	judged := Node{State: Judged, Severity: Info}
	young, leaving := Node{State: Skipped, Reason: "not initialized"}, Node{State: Skipped, Reason: "being deleted"}
	typeless, claimed := Node{State: Unknown, Reason: "no such type"}, Node{State: Unknown, Reason: "two claims"}
	for _, row := range []struct {
		name  string
		nodes []Node
		want  string
	}{
		{"one unknown among skipped ones", []Node{young, typeless, leaving, judged}, "1 node could not be judged: no such type"},
		{"equal reasons are said once", []Node{typeless, claimed, typeless, judged}, "3 nodes could not be judged: no such type; two claims"},
		{"where none was judged every reason counts", []Node{young, typeless}, "none of 2 Karpenter nodes could be judged: not initialized; no such type"},
		{"skipped ones alone leave the rest a verdict", []Node{young, judged}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			run := &Run{Nodes: row.nodes}
			run.conclude(DefaultPolicy(), nil)
			if run.Inconclusive != row.want {
				t.Errorf("got %q, want %q", run.Inconclusive, row.want)
			}
		})
	}
}

// TestNoOverlay: an overlay that was left out of a dump makes a node with huge pages look wrong, so it is said that there
// is none wherever the gate lets one count.
func TestNoOverlay(t *testing.T) {
	for _, row := range []struct {
		name, gates string
		overlays    []snapshot.NodeOverlay
		want        bool
	}{
		{name: "on, and none", gates: "NodeOverlay=true", want: true},
		{name: "on, and one", gates: "NodeOverlay=true", overlays: []snapshot.NodeOverlay{{Name: "pages"}}},
		{name: "off"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := newFleet(t, "1.14.1").Snapshot
			s.Controller.FeatureGates = snapshot.Setting{Value: row.gates, From: "the test"}
			s.NodeOverlays = row.overlays
			run, err := Evaluate([]*snapshot.Snapshot{s}, Options{Policy: DefaultPolicy()})
			if err != nil {
				t.Fatal(err)
			}
			said := slices.ContainsFunc(run.Clusters[0].Assumptions, func(a Assumption) bool { return strings.Contains(a.Text, "the input has no NodeOverlay") })
			if said != row.want {
				t.Errorf("said: %v, assumptions %v", said, run.Clusters[0].Assumptions)
			}
		})
	}
}

// TestTypeless: what to do about a type without facts is never what was done already.
func TestTypeless(t *testing.T) {
	for _, row := range []struct{ from, want string }{
		{"ec2", `instance type "x9.large" is not known to EC2 in the region that was asked: is it (--region) that of the cluster, and the account the cluster's?`},
		{"file", `instance type "x9.large" is not known to the source of instance types (file): use --instance-types with a newer describe-instance-types file, or ec2`},
		{"", `instance type "x9.large" is not known to the source of instance types (none): use --instance-types with a newer describe-instance-types file, or ec2`},
	} {
		e := &evaluation{snapshot: &snapshot.Snapshot{InstanceTypesFrom: row.from}}
		if got := e.typeless("x9.large").Error(); got != row.want {
			t.Errorf("%q: %s", row.from, got)
		}
	}
}
