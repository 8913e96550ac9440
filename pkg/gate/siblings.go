package gate

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// Outliers is the finding of nodes that differ from their siblings: the others of their type, class and AMI. Its figures
// are what the siblings have (Expected) and what the node furthest away has (Actual); of memory, what is kept from pods,
// since the capacity of equal machines is not equal.
const Outliers = "outliers"

// leastSiblings is the smallest group in which most nodes can agree against some.
const leastSiblings = 3

// siblings compares the judged nodes of a run with each other: outliers of every resource, and types whose machines come
// with several capacities. Neither fails a run: whether a difference matters is judged by the expectation.
func (r *Run) siblings() []Finding {
	groups, machines := map[group][]*Node{}, map[group][]*Node{}
	var order, types []group
	for i := range r.Nodes {
		n := &r.Nodes[i]
		if n.State != Judged {
			continue
		}
		g := group{n.Cluster, n.InstanceType, n.NodeClass, n.AMIFamily, n.OSImage}
		machine := g
		machine.nodeClass = "" // no class changes a machine's memory
		if machines[machine] == nil {
			types = append(types, machine)
		}
		machines[machine] = append(machines[machine], n)
		if n.Drifted || n.NodeClass == "" {
			continue // launched from another class than its siblings, or from nobody knows which
		}
		if groups[g] == nil {
			order = append(order, g)
		}
		groups[g] = append(groups[g], n)
	}
	var out []Finding
	for _, g := range order {
		if len(groups[g]) >= leastSiblings {
			out = append(out, outliers(g, groups[g])...)
		}
	}
	for _, g := range types {
		if f, ok := severalCapacities(g, machines[g]); ok {
			out = append(out, f)
		}
	}
	return out
}

// sighting is one node's figure.
type sighting struct {
	value int64
	node  *Node
	row   *Row
}

// outliers finds, for each resource, the nodes that differ from what more than half of the group has.
func outliers(g group, nodes []*Node) []Finding {
	var names []string
	seen := map[string][]sighting{}
	for _, n := range nodes {
		for _, row := range n.Rows {
			v, ok := figureOf(n, row)
			if !ok {
				continue
			}
			if seen[row.Resource] == nil {
				names = append(names, row.Resource)
			}
			seen[row.Resource] = append(seen[row.Resource], sighting{v, n, row})
		}
	}
	var out []Finding
	for _, name := range names {
		all := seen[name]
		if len(all) < leastSiblings || alike(all, jitterOf(name)) {
			continue
		}
		clusters := cluster(all, jitterOf(name))
		norm := slices.MaxFunc(clusters, func(a, b []sighting) int { return cmp.Compare(len(a), len(b)) })
		if len(clusters) == 1 || 2*len(norm) <= len(all) {
			continue
		}
		out = append(out, outlierFinding(g, name, norm, clusters, len(all)))
	}
	return out
}

// figureOf is the figure in which siblings agree: what is kept of memory, and what is allocatable of the others. A
// device that the node lacks is 0.
func figureOf(n *Node, r *Row) (int64, bool) {
	switch {
	case r.Field != compare.Allocatable || !r.Expected.Known: // what nobody expects, nobody misses
		return 0, false
	case r.Status == compare.Missing:
		return 0, true
	case !r.Actual.Known:
		return 0, false
	case r.Resource != expect.Memory:
		return r.Actual.Value, true
	}
	for _, c := range n.Rows {
		if c.Resource == expect.Memory && c.Field == compare.Capacity {
			return c.Actual.Value - r.Actual.Value, c.Actual.Known
		}
	}
	return 0, false
}

// jitterOf is by how much siblings differ without a reason: some KiB of memory, a little of a disk's blocks.
func jitterOf(resource string) func(int64) int64 {
	return func(v int64) int64 {
		switch resource {
		case expect.Memory:
			return 1 << 20
		case expect.EphemeralStorage:
			return size(v) / 100
		}
		return 0
	}
}

// alike reports whether no two figures are further apart than jitter allows, as on most fleets: then nothing is sorted.
func alike(all []sighting, jitter func(int64) int64) bool {
	least, most := all[0].value, all[0].value
	for _, s := range all {
		least, most = min(least, s.value), max(most, s.value)
	}
	return most-least <= jitter(most)
}

// cluster sorts figures and parts them wherever two neighbours are further apart than jitter allows.
func cluster(all []sighting, jitter func(int64) int64) [][]sighting {
	slices.SortStableFunc(all, func(a, b sighting) int { return cmp.Compare(a.value, b.value) })
	var out [][]sighting
	from := 0
	for i := range all {
		if i > 0 && all[i].value-all[i-1].value > jitter(all[i].value) {
			out = append(out, all[from:i])
			from = i
		}
	}
	return append(out, all[from:])
}

func outlierFinding(g group, resource string, norm []sighting, clusters [][]sighting, of int) Finding {
	f := Finding{
		ID: Outliers, Severity: Info, Cluster: g.cluster, InstanceType: g.instanceType, NodeClass: g.nodeClass, AMIFamily: g.family, OSImage: g.osImage,
		Resource: resource, Field: compare.Allocatable, Of: of, Expected: norm[0].value,
	}
	worse := func(v int64) bool { return (v > f.Expected) == (resource == expect.Memory) }
	var others []sighting
	for _, c := range clusters {
		if &c[0] != &norm[0] {
			others = append(others, c...)
		}
	}
	for _, o := range others {
		f.Nodes++
		f.Names = append(f.Names, o.node.Name)
		if d := o.value - f.Expected; size(d) > size(f.Delta) {
			f.Actual, f.Delta, f.Status = o.value, d, o.row.Status
		}
		if o.row.Severity <= Info && o.row.Allowed == "" && !onPurpose(o.row) && worse(o.value) {
			f.Severity = Warn // it has less than its siblings, and no finding of its own
		}
	}
	slices.Sort(f.Names)
	what := "have"
	if resource == expect.Memory {
		what = "keep from pods"
	}
	f.Evidence = fmt.Sprintf("%d of %d differ from their siblings, which %s %s: %s", f.Nodes, of, what, snapshot.FormatQuantity(resource, f.Expected), counts(resource, others))
	f.Remedy = "compare the user data, the AMI and the start-up log of one of them with a sibling's"
	return f
}

// onPurpose reports whether a node can have less than its siblings by intent: EFA is attached on request, branch
// interfaces and Windows addresses where the CNI was told to.
func onPurpose(r *Row) bool {
	return r.Resource == expect.EFA || r.Resource == expect.PodENI || r.Resource == expect.PrivateIPv4
}

// counts lists figures with how many nodes have each, most nodes first: "110 ×3, 250 ×1".
func counts(resource string, all []sighting) string {
	const most = 5
	clusters := cluster(all, jitterOf(resource))
	slices.SortStableFunc(clusters, func(a, b []sighting) int { return -cmp.Compare(len(a), len(b)) })
	var b strings.Builder
	for i, c := range clusters {
		if i == most {
			b.WriteString(", …")
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(snapshot.FormatQuantity(resource, c[0].value) + " ×" + strconv.Itoa(len(c)))
	}
	return b.String()
}

// severalCapacities finds the real memory capacities of one type under one AMI: hardware revisions, of which the smallest
// decides what fits (m5.16xlarge: 261093020Ki and 258340508Ki). Less than 1Mi and 0.05 % apart is one capacity.
func severalCapacities(g group, nodes []*Node) (Finding, bool) {
	var all []sighting
	for _, n := range nodes {
		for _, r := range n.Rows {
			if r.Resource == expect.Memory && r.Field == compare.Capacity && r.Actual.Known {
				all = append(all, sighting{r.Actual.Value, n, r})
			}
		}
	}
	if len(all) < 2 {
		return Finding{}, false
	}
	clusters := cluster(all, func(v int64) int64 { return max(1<<20, size(v)/2048) })
	if n := len(clusters); n < 2 || (n > 4 && 4*n > len(all)) { // a figure of its own on each node is no revision
		return Finding{}, false
	}
	smallest := clusters[0]
	f := Finding{
		ID: compare.SeveralCapacities, Severity: Info, Cluster: g.cluster, InstanceType: g.instanceType, AMIFamily: g.family, OSImage: g.osImage,
		Resource: expect.Memory, Field: compare.Capacity, Status: smallest[0].row.Status,
		Nodes: len(smallest), Of: len(all), Expected: all[len(all)-1].value, Actual: smallest[0].value,
	}
	f.Delta = f.Actual - f.Expected
	for _, s := range smallest {
		f.Names = append(f.Names, s.node.Name)
	}
	slices.Sort(f.Names)
	texts := make([]string, 0, len(clusters))
	for _, c := range clusters {
		texts = append(texts, snapshot.FormatQuantity(expect.Memory, c[0].value)+" ×"+strconv.Itoa(len(c)))
	}
	if len(texts) > 6 {
		texts = append(texts[:3], append([]string{"…"}, texts[len(texts)-2:]...)...)
	}
	f.Evidence = fmt.Sprintf("%d real capacities of one type: %s", len(clusters), strings.Join(texts, ", "))
	f.Remedy = "the smallest decides what fits: judge the overhead by it, as recommend does"
	return f, true
}
