package gate

import (
	"cmp"
	"slices"

	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
)

// ClaimOverEstimate is the finding of a claim that promises more than the node has.
const ClaimOverEstimate = "claim-over-estimate"

// group is what nodes must have in common for their findings to be one.
type group struct {
	cluster, instanceType, nodeClass, family, osImage string
}

type foldKey struct {
	group
	id, resource string
	field        compare.Field
	status       compare.Status
	severity     Severity
}

// fold makes one finding of equal differences: the same cause, resource and direction on nodes of one type, class and
// AMI. Order is worst first.
func (r *Run) fold(extra []Finding) {
	sizes := map[group]int{}
	found := map[foldKey]*Finding{}
	var order []*Finding
	for i := range r.Nodes {
		n := &r.Nodes[i]
		if n.State != Judged {
			continue
		}
		g := group{n.Cluster, n.InstanceType, n.NodeClass, n.AMIFamily, n.OSImage}
		sizes[g]++
		for _, row := range n.Rows {
			for _, f := range row.findings() {
				key := foldKey{g, f.ID, f.Resource, f.Field, f.Status, f.Severity}
				into, ok := found[key]
				if !ok {
					f.Cluster, f.InstanceType, f.NodeClass, f.AMIFamily, f.OSImage = g.cluster, g.instanceType, g.nodeClass, g.family, g.osImage
					into = &f
					found[key] = into
					order = append(order, into)
				}
				into.absorb(&f, n.Name)
			}
		}
	}
	r.Findings = make([]Finding, 0, len(order))
	for _, f := range order {
		f.Of = sizes[group{f.Cluster, f.InstanceType, f.NodeClass, f.AMIFamily, f.OSImage}]
		r.Findings = append(r.Findings, *f)
	}
	r.Findings = append(r.Findings, r.siblings()...)
	r.Findings = append(r.Findings, extra...)
	slices.SortStableFunc(r.Findings, worstFirst)
}

// findingID is the cause that carries most of the difference, or the status where no cause is named.
func (r *Row) findingID() string {
	if r.Reason == judgedByClaim {
		return compare.NodeClassChanged
	}
	if main := compare.Main(r.Causes, r.Gap().Value); main != nil {
		return main.ID
	}
	return r.Status.String()
}

// findings are what one row has to say.
func (r *Row) findings() []Finding {
	var out []Finding
	base := Finding{Resource: r.Resource, Field: r.Field, Status: r.Status, Actual: r.Actual.Value, Allowed: r.Allowed}
	if r.Severity > Info {
		f := base
		f.ID, f.Severity, f.Expected, f.Delta = r.findingID(), r.Severity, r.Expected.Value, r.Gap().Value
		if r.Reason == judgedByClaim {
			f.Expected, f.Delta = r.Claim.Value, r.ClaimDelta().Value
		}
		f.word(r.Causes)
		out = append(out, f)
	}
	if r.ClaimSeverity > Info {
		f := base
		f.ID, f.Severity, f.Expected, f.Delta = ClaimOverEstimate, r.ClaimSeverity, r.Claim.Value, r.ClaimDelta().Value
		f.word(r.ClaimCauses)
		out = append(out, f)
	}
	return out
}

// word takes evidence and remedy from the cause that the finding is named after; where it is named after none, from the
// one that carries most, by name.
func (f *Finding) word(causes []compare.Cause) {
	for i := range causes {
		if causes[i].ID == f.ID {
			f.Evidence, f.Remedy = causes[i].Evidence, causes[i].Remedy
			return
		}
	}
	if main := compare.Main(causes, f.Delta); main != nil {
		f.Evidence, f.Remedy = main.ID+": "+main.Evidence, main.Remedy
	}
}

// absorb adds one more node to the finding; the one with the largest difference gives the figures.
func (f *Finding) absorb(other *Finding, node string) {
	f.Nodes++
	f.Names = append(f.Names, node)
	if size(other.Delta) > size(f.Delta) {
		f.Expected, f.Actual, f.Delta, f.Evidence, f.Remedy = other.Expected, other.Actual, other.Delta, other.Evidence, other.Remedy
	}
}

func size(delta int64) int64 {
	if delta < 0 && delta != minInt64 {
		return -delta
	}
	return delta
}

func worstFirst(a, b Finding) int {
	return cmp.Or(
		-cmp.Compare(a.Severity, b.Severity),
		-cmp.Compare(a.Nodes, b.Nodes),
		cmp.Compare(a.Cluster, b.Cluster),
		cmp.Compare(a.InstanceType, b.InstanceType),
		cmp.Compare(a.NodeClass, b.NodeClass),
		cmp.Compare(a.OSImage, b.OSImage),
		cmp.Compare(a.Resource, b.Resource),
		cmp.Compare(a.Field, b.Field),
		cmp.Compare(a.ID, b.ID),
	)
}
