package gate

import (
	"testing"

	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// TestTextsAreText: what is remembered is what Text returns, whichever rows two nodes have in common.
func TestTextsAreText(t *testing.T) {
	row := func(resource string, s Severity) *Row {
		return &Row{Severity: s, Row: compare.Row{
			Resource: resource, Field: compare.Allocatable, Status: compare.OverEstimate,
			Expected: snapshot.Figure{Value: 2000, Known: true}, Actual: snapshot.Figure{Value: 1000, Known: true},
		}}
	}
	var many []*Row
	for range mostSaid + 1 {
		many = append(many, row("memory", Warn))
	}
	pass, warn, fail := row("pods", Pass), row("cpu", Warn), row("memory", Fail)
	nodes := []Node{
		{Name: "nothing", State: Judged},
		{Name: "only what passes", State: Judged, Rows: []*Row{pass}},
		{Name: "a warning", State: Judged, Rows: []*Row{pass, warn}},
		{Name: "both", State: Judged, Rows: []*Row{fail, warn}},
		{Name: "both, in another order", State: Judged, Rows: []*Row{warn, fail}},
		{Name: "a failure", State: Judged, Rows: []*Row{fail}},
		{Name: "as many as are remembered", State: Judged, Rows: many[:mostSaid]},
		{Name: "more than are remembered", State: Judged, Rows: many},
		{Name: "another one", State: Judged, Rows: many[1:]},
		{Name: "not judged", State: Unknown, Reason: "no facts", Rows: []*Row{fail}},
	}
	var texts Texts
	for range 2 { // the second time everything is remembered
		for i := range nodes {
			if got, want := texts.Of(&nodes[i]), nodes[i].Text(); got != want {
				t.Errorf("%s: %q, want %q", nodes[i].Name, got, want)
			}
		}
	}
}
