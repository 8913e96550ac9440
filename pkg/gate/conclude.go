package gate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// conclude sorts the run, counts it, folds its findings and says how it ended. extra are findings that are about no
// node.
func (r *Run) conclude(p Policy, extra []Finding) {
	slices.SortFunc(r.Clusters, func(a, b Cluster) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Digest, b.Digest)) })
	slices.SortFunc(r.Nodes, func(a, b Node) int { return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Name, b.Name)) })
	r.count()
	r.fold(extra)
	r.Result, r.Inconclusive = Passed, ""
	failed := func(f Finding) bool { return f.Severity == Fail }
	switch reason := r.inconclusive(p); {
	case slices.ContainsFunc(r.Findings, failed):
		r.Result = Failed
	case reason != "":
		r.Result, r.Inconclusive = Inconclusive, reason
	}
}

func (r *Run) count() {
	r.Totals = Totals{}
	t := &r.Totals
	for i := range r.Nodes {
		n := &r.Nodes[i]
		if n.State == Foreign {
			t.Foreign++
			continue
		}
		t.Karpenter++
		switch {
		case n.State == Skipped:
			t.Skipped++
		case n.State == Unknown:
			t.Unknown++
		case n.Severity == Fail:
			t.Failed++
		case n.Severity == Warn:
			t.Warned++
		default:
			t.Passed++
		}
	}
	t.Judged = t.Failed + t.Warned + t.Passed
}

// inconclusive says why the run proves nothing; empty when it does. Zero judged nodes are never a pass.
func (r *Run) inconclusive(p Policy) string {
	t := r.Totals
	switch {
	case t.Karpenter == 0:
		return fmt.Sprintf("no Karpenter node among %d: looked for the labels %s, %s and %s", len(r.Nodes), snapshot.LabelNodePool, snapshot.LabelProvisioner, snapshot.LabelNodeClass)
	case t.Judged == 0:
		return fmt.Sprintf("none of %s could be judged: %s", Plural(t.Karpenter, "Karpenter node"), r.reasons(Unknown, Skipped))
	case t.Unknown > 0 && p.Unknown == Fail:
		return fmt.Sprintf("%s could not be judged: %s", Plural(t.Unknown, "node"), r.reasons(Unknown))
	case t.Judged < p.MinJudged:
		return fmt.Sprintf("%s judged, the policy wants at least %d", Plural(t.Judged, "node"), p.MinJudged)
	case float64(t.Judged) < p.MinJudgedShare*float64(t.Karpenter):
		return fmt.Sprintf("%d of %s judged, the policy wants a share of at least %v", t.Judged, Plural(t.Karpenter, "node"), p.MinJudgedShare)
	}
	return ""
}

// reasons lists the distinct reasons of the nodes in some states, at most three.
func (r *Run) reasons(states ...State) string {
	var out []string
	for i := range r.Nodes {
		n := &r.Nodes[i]
		if slices.Contains(states, n.State) && !slices.Contains(out, n.Reason) {
			if len(out) == 3 {
				out = append(out, "…")
				break
			}
			out = append(out, n.Reason)
		}
	}
	return strings.Join(out, "; ")
}

// Plural prints a count with its noun: "1 node", "3 nodes".
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
