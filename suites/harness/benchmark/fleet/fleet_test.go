package fleet

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/allocatable-diff/allocatable-diff/pkg/collect"
	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

const recorded = "../../../../fixtures/ec2"

func newFleet(t *testing.T, o Options) *Fleet {
	t.Helper()
	types, err := collect.InstanceTypes(recorded)
	if err != nil {
		t.Fatal(err)
	}
	f, err := New(o, types)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func printed(t *testing.T, write func(io.Writer) error) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// judged is what a check says of a dump with facts from a source.
func judged(t *testing.T, dump []byte, source string) (*snapshot.Snapshot, *gate.Run) {
	t.Helper()
	in, err := collect.Files([]string{"-"}, bytes.NewReader(dump), collect.Options{Cluster: "fleet", InstanceTypes: source})
	if err != nil {
		t.Fatal(err)
	}
	run, err := gate.Evaluate(in.Snapshots, gate.Options{Policy: gate.DefaultPolicy()})
	if err != nil {
		t.Fatal(err)
	}
	return in.Snapshots[0], run
}

// TestJudged: a measurement over a cluster that cannot be judged, or in which nothing is found, would measure little.
func TestJudged(t *testing.T) {
	const nodes = 1000
	f := newFleet(t, Options{Nodes: nodes, Seed: 1})
	for _, row := range []struct {
		name, source string
		dump         []byte
	}{
		{"the cluster with EC2's facts", recorded, printed(t, f.WriteCluster)},
		{"nodes alone", "labels", printed(t, f.WriteNodes)},
	} {
		t.Run(row.name, func(t *testing.T) {
			s, run := judged(t, row.dump, row.source)
			totals := run.Totals
			if len(s.Nodes) != nodes || totals.Karpenter+totals.Foreign != nodes {
				t.Errorf("%d nodes read and %+v, want %d in all", len(s.Nodes), totals, nodes)
			}
			if totals.Unknown > 0 || totals.Judged < nodes*95/100 {
				t.Errorf("%+v: nearly all nodes can be judged, and none is unknown", totals)
			}
			if totals.Skipped == 0 || totals.Foreign == 0 || totals.Warned == 0 || totals.Passed == 0 {
				t.Errorf("%+v: a real cluster has some of each", totals)
			}
			if totals.Failed == 0 || totals.Failed > totals.Judged/10 {
				t.Errorf("%d of %d nodes fail, want some and not many", totals.Failed, totals.Judged)
			}
			rows := 0
			for i := range run.Nodes {
				rows += len(run.Nodes[i].Rows)
			}
			if rows < 8*totals.Judged {
				t.Errorf("%d rows of %d nodes: each has capacity and allocatable of cpu, memory, pods and the disk", rows, totals.Judged)
			}
			if !slices.ContainsFunc(run.Findings, func(f gate.Finding) bool { return f.ID == "overhead-percent-too-small" }) {
				t.Error("no type keeps more than the overhead allows")
			}
			for i := range run.Findings {
				if f := &run.Findings[i]; f.ID == "unexplained" {
					t.Errorf("no machine is like this: %+v", f)
				}
			}
		})
	}
}

func TestClaims(t *testing.T) {
	f := newFleet(t, Options{Nodes: 1000, Seed: 1})
	s, run := judged(t, printed(t, f.WriteCluster), recorded)
	if len(s.NodePools) != pools || len(s.NodeClasses) != len(classes) {
		t.Errorf("%d pools and %d classes, want %d and %d", len(s.NodePools), len(s.NodeClasses), pools, len(classes))
	}
	states := map[gate.ClaimState]int{}
	for i := range run.Nodes {
		if n := &run.Nodes[i]; n.State == gate.Judged {
			states[n.ClaimState]++
		}
	}
	if states[gate.Predicted] == 0 || states[gate.Discovered] < states[gate.Predicted] || len(states) != 2 {
		t.Errorf("claims %v: some are predicted, most discovered, and every node has one", states)
	}
	if got, want := run.Clusters[0].Karpenter, "1.14.1"; !strings.Contains(got, want) {
		t.Errorf("Karpenter %s, want %s of the Deployment", got, want)
	}
}

func TestSize(t *testing.T) {
	const nodes = 500
	dump := printed(t, newFleet(t, Options{Nodes: nodes, Seed: 1}).WriteNodes)
	if size := len(dump) / nodes; size < 7_000 || size > 10_000 {
		t.Errorf("%d bytes a node: kubectl prints some 10 KB", size)
	}
	for _, part := range []string{`"managedFields"`, `"images"`} {
		if n := bytes.Count(dump, []byte(part)); n != nodes {
			t.Errorf("%s stands %d times in %d nodes", part, n, nodes)
		}
	}
}

// TestSame: two runs of a benchmark must measure the same thing, and a larger fleet is the smaller one with more nodes.
func TestSame(t *testing.T) {
	small := printed(t, newFleet(t, Options{Nodes: 20, Seed: 7}).WriteNodes)
	if !bytes.Equal(small, printed(t, newFleet(t, Options{Nodes: 20, Seed: 7}).WriteNodes)) {
		t.Error("equal seeds give different nodes")
	}
	if bytes.Equal(small, printed(t, newFleet(t, Options{Nodes: 20, Seed: 8}).WriteNodes)) {
		t.Error("another seed gives the same nodes")
	}
	head, _, _ := bytes.Cut(small, []byte("\n    ],\n"))
	if !bytes.HasPrefix(printed(t, newFleet(t, Options{Nodes: 30, Seed: 7}).WriteNodes), head) {
		t.Error("the first 20 of 30 nodes are not the 20")
	}
}

func TestTypes(t *testing.T) {
	s, _ := judged(t, printed(t, newFleet(t, Options{Nodes: 2000, Seed: 1, Types: 60}).WriteNodes), "labels")
	seen := map[string]bool{}
	for i := range s.Nodes {
		seen[s.Nodes[i].InstanceType()] = true
	}
	if len(seen) != 60 {
		t.Errorf("%d types, want 60", len(seen))
	}
	if _, err := New(Options{}, []snapshot.InstanceType{{Name: "mac1.metal", Architectures: []string{"x86_64_mac"}}}); err == nil {
		t.Error("a fleet of Macs: Karpenter launches none")
	}
}

// TestOrder: kubectl prints members by name, and a decoder may be faster on those.
func TestOrder(t *testing.T) {
	dec := jsontext.NewDecoder(bytes.NewReader(printed(t, newFleet(t, Options{Nodes: 200, Seed: 1}).WriteCluster)))
	last := []string{}
	for {
		token, err := dec.ReadToken()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		switch kind, length := dec.StackIndex(dec.StackDepth()); {
		case token.Kind() == '{':
			last = append(last, "")
		case token.Kind() == '}':
			last = last[:len(last)-1]
		case kind == '{' && length%2 == 1:
			name, before := token.String(), &last[len(last)-1]
			if name < *before {
				t.Fatalf("%s: after %q", dec.StackPointer(), *before)
			}
			*before = name
		}
	}
}

func TestWriteError(t *testing.T) {
	f := newFleet(t, Options{Nodes: 1000, Seed: 1})
	for _, write := range []func(io.Writer) error{f.WriteNodes, f.WriteCluster} {
		full := errors.New("disk full")
		if err := write(failing{full}); !errors.Is(err, full) {
			t.Errorf("error %v, want the writer's", err)
		}
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
