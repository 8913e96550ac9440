package compare

import (
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
	left, right = reserveTerms(s, e, capacity, allocatable)
	d.merge(left, right)
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

// merge puts the terms of both sides into lines, equal labels into one. The order is the expectation's, and a term that
// only the node has follows what stands before it there.
func (d *Derivation) merge(expected, node []step) {
	known := func(v int64) snapshot.Figure { return snapshot.Figure{Value: v, Known: true} }
	find := func(label string) int {
		for i := range expected {
			if expected[i].label == label {
				return i
			}
		}
		return -1
	}
	next := 0
	flush := func(upTo int) {
		for ; next < upTo; next++ {
			d.Lines = append(d.Lines, Line{Label: expected[next].label, Expected: known(expected[next].value)})
		}
	}
	for _, n := range node {
		i := find(n.label)
		if i < next { // not there, or passed already
			d.Lines = append(d.Lines, Line{Label: n.label, Node: known(n.value)})
			continue
		}
		flush(i)
		d.Lines = append(d.Lines, Line{Label: n.label, Expected: known(expected[i].value), Node: known(n.value)})
		next = i + 1
	}
	flush(len(expected))
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
	return new(gap).explain(&s, row, false)
}

// reserveTerms are the steps from capacity to allocatable.
func reserveTerms(s Subject, e *expect.Resource, capacity, allocatable snapshot.Figure) (expected, node []step) {
	for _, sum := range []expect.Sum{e.KubeReserved, e.SystemReserved, e.Eviction, e.HugePages} {
		expected = append(expected, steps(sum, -1)...)
	}
	label := fractions
	if e.Clamped {
		label = "raised to 0 where huge pages take more than there is"
	}
	expected = closeSteps(expected, e.Allocatable.Value-e.Capacity.Value, label)
	if !capacity.Known || !allocatable.Known {
		return expected, nil
	}
	reserve := capacity.Value - allocatable.Value
	if kindOf(e.Name)&(memory|cpu|disk) != 0 {
		node = keptTerms(s, e, capacity.Value, reserve)
	}
	label = "not explained"
	if allocatable.Value == 0 {
		label = "raised to 0: the kubelet reports nothing below"
	} else if sum := closeSteps(node, -reserve, ""); len(sum) > len(node) && size(sum[len(node)].value) <= within(e.Name) {
		label = "rounding"
	}
	return expected, closeSteps(node, -reserve, label)
}

// keptTerms are what the node's side keeps, in the expectation's words where it keeps the same.
func keptTerms(s Subject, e *expect.Resource, capacity, reserve int64) []step {
	pages := int64(0)
	if e.Name == expect.Memory {
		pages = hugePages(s.Node.Capacity)
	}
	side := nodeSideOf(&s)
	k, _ := side.explain(e.Name, capacity, reserve-pages)
	if documented := side.documented(e.Name, capacity); reserve == capacity && documented.total() >= reserve-pages {
		k = documented
	}
	var out []step
	switch {
	case k.kube == total(e.KubeReserved):
		out = append(out, steps(e.KubeReserved, -1)...)
	case k.podsName != "":
		out = append(out,
			step{"kube-reserved: 11Mi a pod × " + number(k.pods), -(k.kube - 255*mib)},
			step{"kube-reserved: base", -255 * mib})
	case k.kube != 0:
		out = append(out, step{"kube-reserved", -k.kube})
	}
	for _, part := range []struct {
		label    string
		kept     int64
		expected expect.Sum
	}{{"system-reserved", k.system, e.SystemReserved}, {"eviction threshold", k.eviction, e.Eviction}} {
		switch {
		case part.kept == 0:
		case len(part.expected) == 1 && (part.kept == total(part.expected) || (part.label == "eviction threshold" && k.percent > 0 && k.evictionBy != byOthers)):
			out = append(out, step{part.expected[0].Text(), -part.kept})
		default:
			out = append(out, step{part.label, -part.kept})
		}
	}
	if pages != 0 {
		out = append(out, step{"huge pages", -pages})
	}
	return out
}
