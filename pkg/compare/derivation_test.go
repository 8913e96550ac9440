package compare

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// TestLinesAddUp derives random nodes: on both sides, the terms between two totals add up from one to the other.
func TestLinesAddUp(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 2))
	checked := 0
	for range 3_000 {
		s, ok := randomSubject(r)
		if !ok {
			continue
		}
		for _, d := range Derive(s, Rows(s)) {
			if e := s.Expect.Get(d.Resource); e == nil || !e.Capacity.Known {
				continue // nothing is expected of it, so there are no terms
			}
			for _, side := range []struct {
				name   string
				figure func(Line) snapshot.Figure
			}{
				{"expected", func(l Line) snapshot.Figure { return l.Expected }},
				{"node", func(l Line) snapshot.Figure { return l.Node }},
			} {
				checked += addUp(t, d, side.name, side.figure)
			}
		}
	}
	if checked < 30_000 {
		t.Errorf("only %d totals checked", checked)
	}
}

func addUp(t *testing.T, d Derivation, side string, figure func(Line) snapshot.Figure) int {
	t.Helper()
	var sum int64
	checked, complete := 0, true
	for _, l := range d.Lines {
		f := figure(l)
		if !l.Total {
			sum += f.Value
			continue
		}
		if f.Known && complete {
			checked++
			if sum != f.Value {
				t.Fatalf("%s, %s: the terms up to %q add up to %d, not %d: %+v", d.Resource, side, l.Label, sum, f.Value, d.Lines)
			}
		}
		sum, complete = f.Value, f.Known
	}
	return checked
}

// TestDerive is the published row that nobody could re-derive (#6453): c6gd.16xlarge, 112720Mi. The CMA comes off before
// the percentage.
func TestDerive(t *testing.T) {
	known := func(v int64) snapshot.Figure { return snapshot.Figure{Value: v, Known: true} }
	none := snapshot.Figure{}
	sc := scene{
		overhead: 0.075, instance: "c6gd.16xlarge",
		capacity: amounts("memory", "126388048Ki", "hugepages-2Mi", "1Gi"), allocatable: amounts("memory", "116674384Ki"), // − 8462Mi − 1Gi
	}
	d := Derive(sc.subject(t), sc.rows(t))[0]
	want := []Line{
		{Label: "EC2 memory", Expected: known(131072 * mib), Node: known(131072 * mib)},
		{Label: "Graviton CMA", Expected: known(-64 * mib), Node: known(-64 * mib)},
		{Label: "VM memory overhead", Expected: known(-9826 * mib), Node: none}, // ceil(131008 · 0.075)
		{Label: "kept by hypervisor, firmware and kernel", Expected: none, Node: known(126388048*kib - 131008*mib)},
		{Label: "capacity", Expected: known(121182 * mib), Node: known(126388048 * kib), Total: true},
		{Label: "kube-reserved: 11Mi a pod × 737", Expected: known(-8107 * mib), Node: known(-8107 * mib)},
		{Label: "kube-reserved: base", Expected: known(-255 * mib), Node: known(-255 * mib)},
		{Label: "eviction threshold: default", Expected: known(-100 * mib), Node: known(-100 * mib)},
		{Label: "huge pages", Expected: none, Node: known(-gib)},
		{Label: "allocatable", Expected: known(112720 * mib), Node: known(116674384 * kib), Total: true},
	}
	if diff := cmp.Diff(want, d.Lines); diff != "" {
		t.Errorf("memory (-want +got):\n%s", diff)
	}
	if d.Source != expect.Source(expect.Memory) || d.ReserveSource == "" {
		t.Errorf("the formulas are %q and %q", d.Source, d.ReserveSource)
	}
}

// TestDeriveDifferently is a node that keeps other reserves than Karpenter expects: each side has its own terms.
func TestDeriveDifferently(t *testing.T) {
	sc := scene{
		family: "Bottlerocket", instance: "t4g.small",
		capacity: amounts("memory", "1853Mi", "pods", "110"), allocatable: amounts("memory", "288Mi"), // − 1565
	}
	d := Derive(sc.subject(t), sc.rows(t))[0]
	type term struct{ expected, node int64 }
	got := map[string]term{}
	for _, l := range d.Lines {
		got[l.Label] = term{l.Expected.Value / mib, l.Node.Value / mib}
	}
	want := map[string]term{
		"EC2 memory": {2048, 2048}, "Graviton CMA": {-64, -64}, "kept by hypervisor, firmware and kernel": {0, -131}, "VM memory overhead": {0, 0}, "capacity": {1984, 1853},
		"kube-reserved: 11Mi a pod × 11": {-121, 0}, "kube-reserved: 11Mi a pod × 110": {0, -1210}, "kube-reserved: base": {-255, -255},
		"eviction threshold: default": {-100, -100}, "allocatable": {1508, 288},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(term{})); diff != "" {
		t.Errorf("memory in Mi (-want +got):\n%s", diff)
	}
}
