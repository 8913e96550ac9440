package compare

import (
	"slices"

	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// Derivation is how one resource came about on both sides: Karpenter's calculation beside the node's own. Its lines are
// terms; those of a side that stand between two totals add up from the one to the other, to the byte.
type Derivation struct {
	Resource string
	// Source names the formula of capacity here and upstream; ReserveSource that of what is kept, and empty where nothing
	// is.
	Source, ReserveSource string
	Lines                 []Line
	// Capacity and Allocatable are the rows, explained in words; nil where there is none.
	Capacity, Allocatable *Row
}

// Line is a term or a total, in the resource's base unit. A side that does not have it is not Known.
type Line struct {
	Label          string
	Expected, Node snapshot.Figure
	Total          bool
}

// The labels of totals.
const (
	capacityLabel    = "capacity"
	allocatableLabel = "allocatable"
)

// reserveSource is where the reserves of both sides are worked out.
const reserveSource = "pkg/expect/overhead.go, of the node pkg/compare/nodeside.go; types.go kubeReservedResources(), evictionThreshold()"

// Derive lays out every resource of the rows, which are Rows of s. What is expected of a resource that cannot be computed
// has no terms.
func Derive(s Subject, rows []Row) []Derivation {
	var out []Derivation
	for i := range rows {
		row := &rows[i]
		if n := len(out); n == 0 || out[n-1].Resource != row.Resource {
			out = append(out, Derivation{Resource: row.Resource, Source: expect.Source(row.Resource)})
		}
		d := &out[len(out)-1]
		if row.Field == Capacity {
			d.Capacity = row
		} else {
			d.Allocatable = row
		}
	}
	for i := range out {
		if kindOf(out[i].Resource)&(memory|cpu|disk) != 0 {
			out[i].ReserveSource = reserveSource
		}
		out[i].derive(s)
	}
	return out
}

// derive fills in the lines.
func (d *Derivation) derive(s Subject) {
	e := s.Expect.Get(d.Resource)
	capacity, allocatable := s.Node.Capacity.Get(d.Resource), s.Node.Allocatable.Get(d.Resource)
	if e == nil || !e.Capacity.Known {
		d.total(capacityLabel, snapshot.Figure{}, capacity)
		d.total(allocatableLabel, snapshot.Figure{}, allocatable)
		return
	}
	left, right := capacityTerms(s, e, capacity)
	d.merge(left, right)
	d.total(capacityLabel, e.Capacity, capacity)
	if !e.Allocatable.Known {
		d.total(allocatableLabel, e.Allocatable, allocatable)
		return
	}
	for _, part := range reserveTerms(s, e, capacity, allocatable) {
		d.merge(part.expected, part.node)
	}
	d.total(allocatableLabel, e.Allocatable, allocatable)
}

func (d *Derivation) total(label string, expected, node snapshot.Figure) {
	d.Lines = append(d.Lines, Line{Label: label, Expected: expected, Node: node, Total: true})
}

// step is a term of one side.
type step struct {
	label string
	value int64
}

// merge puts the terms of both sides into lines: the expectation's, each beside the node's of the same label, then those
// that only the node has.
func (d *Derivation) merge(expected, node []step) {
	known := func(v int64) snapshot.Figure { return snapshot.Figure{Value: v, Known: true} }
	index := func(in []step, label string) int {
		return slices.IndexFunc(in, func(s step) bool { return s.label == label })
	}
	for _, e := range expected {
		line := Line{Label: e.label, Expected: known(e.value)}
		if i := index(node, e.label); i >= 0 {
			line.Node = known(node[i].value)
		}
		d.Lines = append(d.Lines, line)
	}
	for _, n := range node {
		if index(expected, n.label) < 0 {
			d.Lines = append(d.Lines, Line{Label: n.label, Node: known(n.value)})
		}
	}
}

// steps are the terms of a sum in whole base units: fractions are rounded up as the result is, so a last step can be left
// to round.
func steps(sum expect.Sum, sign int64) []step {
	out := make([]step, 0, len(sum))
	for _, t := range sum {
		out = append(out, step{t.Text(), sign * t.Amount.Ceil()})
	}
	return out
}

// closeSteps adds what is missing between the steps and the difference of their totals, under a label; nothing where they add
// up.
func closeSteps(all []step, difference int64, label string) []step {
	for _, s := range all {
		difference -= s.value
	}
	if difference == 0 {
		return all
	}
	return append(all, step{label, difference})
}

const fractions = "fractions of a unit, rounded"

// capacityTerms are the steps to capacity. The node's side has what is the type's alone, and then what it turned out to
// be: what the machine keeps of memory, or the cause of the difference.
func capacityTerms(s Subject, e *expect.Resource, capacity snapshot.Figure) (expected, node []step) {
	expected = closeSteps(steps(e.CapacityTerms, 1), e.Capacity.Value, fractions)
	if !capacity.Known {
		return expected, nil
	}
	if e.Name == expect.Memory {
		for _, x := range expected {
			if x.label == "EC2 memory" || x.label == "Graviton CMA" {
				node = append(node, x)
			}
		}
		return expected, closeSteps(node, capacity.Value, "kept by hypervisor, firmware and kernel")
	}
	node = append(node, expected...)
	row := Row{Resource: e.Name, Field: Capacity, Expected: e.Capacity, Actual: capacity}
	for _, c := range explained(s, &row) {
		node = append(node, step{c.ID, c.Part})
	}
	return expected, closeSteps(node, capacity.Value, Unexplained)
}

func explained(s Subject, row *Row) []Cause {
	if row.Gap().Value == 0 {
		return nil
	}
	return new(gap).explain(&s, row, false, nil)
}

// sides are the steps of one kind of reserve.
type sides struct{ expected, node []step }

// reserveTerms are the steps from capacity to allocatable, kind by kind: kubelet, system, eviction, huge pages, and what
// closes the sum.
func reserveTerms(s Subject, e *expect.Resource, capacity, allocatable snapshot.Figure) []sides {
	parts := make([]sides, 0, 5)
	var left, right []step
	add := func(sum expect.Sum, node []step) {
		expected := steps(sum, -1)
		left, right = append(left, expected...), append(right, node...)
		parts = append(parts, sides{expected, node})
	}
	known := capacity.Known && allocatable.Known
	reserve := capacity.Value - allocatable.Value
	var k kept
	pages := int64(0)
	if known && kindOf(e.Name)&(memory|cpu|disk) != 0 {
		if e.Name == expect.Memory {
			pages = hugePages(s.Node.Capacity)
		}
		k = nodeSideOf(&s).keeping(e.Name, capacity.Value, allocatable.Value, pages)
	}
	add(e.KubeReserved, kubeSteps(k, e.KubeReserved))
	add(e.SystemReserved, nodeSteps(k.system, "system-reserved", e.SystemReserved, false))
	add(e.Eviction, evictionSteps(k, e))
	add(e.HugePages, nodeSteps(pages, "huge pages", e.HugePages, false))

	label := fractions
	if e.Clamped {
		label = "raised to 0 where huge pages take more than there is"
	}
	last := sides{expected: closeSteps(left, e.Allocatable.Value-e.Capacity.Value, label)[len(left):]}
	if known {
		closed := closeSteps(right, -reserve, "not explained")
		last.node = closed[len(right):]
		if len(last.node) > 0 {
			switch {
			case allocatable.Value == 0:
				last.node[0].label = "raised to 0: the kubelet reports nothing below"
			case size(last.node[0].value) <= within(e.Name):
				last.node[0].label = "rounding"
			}
		}
	}
	return append(parts, last)
}

// kubeSteps are the node's own kube-reserved, in the expectation's words where it is the same.
func kubeSteps(k kept, expected expect.Sum) []step {
	if k.podsName != "" && k.kube != total(expected) {
		return []step{{"kube-reserved: 11Mi a pod × " + number(k.pods), -(k.kube - 255*mib)}, {"kube-reserved: base", -255 * mib}}
	}
	return nodeSteps(k.kube, "kube-reserved", expected, false)
}

// evictionSteps are the node's own threshold. The same percentage of another capacity is the same term.
func evictionSteps(k kept, e *expect.Resource) []step {
	if k.percent == 0 {
		return nodeSteps(k.eviction, "eviction threshold", e.Eviction, false)
	}
	same := size(total(e.Eviction)-percentKept(e.Capacity.Value, k.percent)) <= 4*kib
	return nodeSteps(k.eviction, "eviction threshold: "+decimal(k.percent)+" % of capacity", e.Eviction, same)
}

// nodeSteps are what the node keeps under a label, or in the expectation's words where it is the same.
func nodeSteps(keeps int64, label string, expected expect.Sum, same bool) []step {
	switch {
	case keeps == 0:
		return nil
	case keeps == total(expected):
		return steps(expected, -1)
	case same && len(expected) == 1:
		return []step{{expected[0].Text(), -keeps}}
	}
	return []step{{label, -keeps}}
}
