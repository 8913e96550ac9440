package gate

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

const ki = 1 << 10

// nodeOf is a judged node with a memory capacity, and an allocatable that is reserve below it.
func nodeOf(name, instanceType, image string, capacity, reserve, expected int64) Node {
	known := func(v int64) snapshot.Figure { return snapshot.Figure{Value: v, Known: true} }
	row := func(f compare.Field, actual int64) *Row {
		return &Row{Row: compare.Row{Resource: "memory", Field: f, Expected: known(expected), Actual: known(actual)}}
	}
	return Node{
		Cluster: "c", Name: name, State: Judged, InstanceType: instanceType, AMIFamily: "AL2023", OSImage: image,
		Rows: []*Row{row(compare.Capacity, capacity), row(compare.Allocatable, capacity-reserve)},
	}
}

func TestCompare(t *testing.T) {
	const old, next = "AMI 1", "AMI 2"
	for _, test := range []struct {
		name, reason  string
		from, to      []Node
		moves         []Move
		vanished, new []string
	}{
		{
			name: "another mix of types", reason: "after an upgrade pools fill with smaller types (#9531): a type that is gone is no failure",
			from:     []Node{nodeOf("a", "m5.4xlarge", old, 64000*ki, 100*ki, 60000*ki), nodeOf("b", "m5.large", old, 8000*ki, 100*ki, 7000*ki)},
			to:       []Node{nodeOf("c", "m5.2xlarge", old, 32000*ki, 100*ki, 30000*ki), nodeOf("d", "m5.large", old, 8000*ki, 100*ki, 7000*ki)},
			moves:    []Move{},
			vanished: []string{"m5.4xlarge"}, new: []string{"m5.2xlarge"},
		},
		{
			name: "jitter", reason: "identical nodes are 4 to 8 KiB apart",
			from:  []Node{nodeOf("a", "m5.large", old, 8000*ki, 100*ki, 7000*ki)},
			to:    []Node{nodeOf("a", "m5.large", next, 7992*ki, 100*ki, 7000*ki)},
			moves: []Move{},
		},
		{
			name: "inside the spread", reason: "m5.16xlarge comes in two sizes 2.6 GiB apart: either is what the type already had",
			from:  []Node{nodeOf("a", "m5.16xlarge", old, 261093020*ki, 100*ki, 1), nodeOf("b", "m5.16xlarge", old, 258340508*ki, 100*ki, 1)},
			to:    []Node{nodeOf("c", "m5.16xlarge", next, 260000000*ki, 100*ki, 1)},
			moves: []Move{},
		},
		{
			name: "a new AMI takes memory", reason: "capacity falls below all that the type had: 8000 − 7000 = 1000 KiB",
			from: []Node{nodeOf("a", "m5.large", old, 8000*ki, 100*ki, 6000*ki)},
			to:   []Node{nodeOf("a", "m5.large", next, 7000*ki, 100*ki, 6000*ki)},
			moves: []Move{{
				InstanceType: "m5.large", AMIFamily: "AL2023", Resource: "memory", Measure: MeasureCapacity,
				From: Range{8000 * ki, 8000 * ki}, To: Range{7000 * ki, 7000 * ki}, Delta: -1000 * ki,
				FromNodes: 1, ToNodes: 1, FromAMIs: []string{old}, ToAMIs: []string{next},
			}},
		},
		{
			name: "a larger reserve", reason: "the machine is the same, the kubelet keeps more: 400 − 100 = 300 KiB",
			from: []Node{nodeOf("a", "m5.large", old, 8000*ki, 100*ki, 6000*ki)},
			to:   []Node{nodeOf("a", "m5.large", next, 8000*ki, 400*ki, 6000*ki)},
			moves: []Move{{
				InstanceType: "m5.large", AMIFamily: "AL2023", Resource: "memory", Measure: MeasureReserve,
				From: Range{100 * ki, 100 * ki}, To: Range{400 * ki, 400 * ki}, Delta: 300 * ki,
				FromNodes: 1, ToNodes: 1, FromAMIs: []string{old}, ToAMIs: []string{next},
			}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := Compare(&Run{Nodes: test.from}, &Run{Nodes: test.to})
			if diff := cmp.Diff(test.moves, got.Moves); diff != "" {
				t.Errorf("%s:\n%s", test.reason, diff)
			}
			if diff := cmp.Diff([][]string{test.vanished, test.new}, [][]string{got.Vanished, got.New}); diff != "" {
				t.Errorf("%s:\n%s", test.reason, diff)
			}
		})
	}
}

func TestChanges(t *testing.T) {
	before := &Run{Nodes: []Node{nodeOf("a", "m8g.large", "", 8000*ki, 0, 7000*ki), nodeOf("b", "m8g.large", "", 8000*ki, 0, 7000*ki)}}
	after := &Run{Nodes: []Node{nodeOf("a", "m8g.large", "", 8000*ki, 0, 9000*ki), nodeOf("b", "m8g.large", "", 8000*ki, 0, 7000*ki)}}
	for _, r := range after.Nodes[0].Rows {
		r.Status = compare.OverEstimate
	}
	got := Changes(before, after)
	if len(got) != 2 { // capacity and allocatable of the one node whose expectation changed
		t.Fatalf("%d changes: %+v", len(got), got)
	}
	for _, c := range got {
		if *c.From != 7000*ki || *c.To != 9000*ki || c.Nodes != 1 || c.OverEstimates != 1 || *c.Least != 8000*ki {
			t.Errorf("from %d to %d on %d nodes, %d over, least %d", *c.From, *c.To, c.Nodes, c.OverEstimates, *c.Least)
		}
	}
	if none := Changes(before, before); len(none) != 0 {
		t.Errorf("a run against itself: %+v", none)
	}
}
