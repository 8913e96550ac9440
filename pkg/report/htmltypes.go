package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// typeGroup is the nodes of one instance type, NodePool and AMI family: a row of the table of the page.
type typeGroup struct {
	Cluster, InstanceType, NodePool, AMIFamily string
	// Severity is that of the worst node, Verdicts how many nodes have each.
	Severity gate.Severity
	verdicts map[string]int
	// least and most are the range of (actual − expected) / expected allocatable memory; meaningless unless memory.
	least, most float64
	memory      bool
	// Sets are the nodes with equal figures, worst first.
	Sets  []figureSet
	Nodes int

	expected, actualLeast, actualMost, deltaLeast, deltaMost int64
}

// figureSet is nodes of a group that have the same figures and verdict.
type figureSet struct {
	Verdict          string
	severity         gate.Severity
	Reason           string
	Expected, Actual string
	Delta            string
	// Others are the differences in other resources than memory, in words.
	Others string
	Names  []string
	delta  int64
}

// typeGroups groups the nodes that are Karpenter's, worst first.
func typeGroups(run *gate.Run) []typeGroup {
	type key struct{ cluster, typ, pool, family string }
	at := map[key]int{}
	sets := map[string]int{}
	var out []typeGroup
	for i := range run.Nodes {
		n := &run.Nodes[i]
		if n.State == gate.Foreign {
			continue
		}
		k := key{n.Cluster, n.InstanceType, n.NodePool, n.AMIFamily}
		j, ok := at[k]
		if !ok {
			j = len(out)
			at[k] = j
			out = append(out, typeGroup{Cluster: n.Cluster, InstanceType: n.InstanceType, NodePool: n.NodePool, AMIFamily: n.AMIFamily, verdicts: map[string]int{}})
		}
		out[j].add(n, j, sets)
	}
	for i := range out {
		slices.SortStableFunc(out[i].Sets, func(a, b figureSet) int {
			return cmp.Or(-cmp.Compare(a.severity, b.severity), cmp.Compare(a.delta, b.delta), cmp.Compare(a.Verdict, b.Verdict))
		})
	}
	slices.SortStableFunc(out, func(a, b typeGroup) int {
		return cmp.Or(-cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.worst(), b.worst()), cmp.Compare(a.InstanceType, b.InstanceType))
	})
	return out
}

// rank orders groups of one severity: those with nodes that have less than is expected first, those without figures last.
func (t *typeGroup) rank() int {
	switch {
	case t.Over():
		return 0
	case t.memory:
		return 1
	}
	return 2
}

// worst orders groups of one rank: the largest share first.
func (t *typeGroup) worst() float64 { return -math.Abs(t.share()) }

// share is that of the worst node: the one that has least, or, where all have what is expected, most.
func (t *typeGroup) share() float64 {
	if t.Over() {
		return t.least
	}
	return t.most
}

func (t *typeGroup) add(n *gate.Node, index int, sets map[string]int) {
	t.Nodes++
	t.Severity = max(t.Severity, n.Severity)
	t.verdicts[verdictOf(n)]++
	row := find(n, expect.Memory, compare.Allocatable)
	if n.State == gate.Judged && row != nil && row.Delta().Known && row.Expected.Value > 0 {
		t.addMemory(row)
	}
	s := figureSet{Verdict: verdictOf(n), severity: n.Severity, Reason: visible(n.Reason), Others: others(n)}
	if row != nil {
		d := row.Delta()
		s.Expected, s.Actual, s.delta = figureText(row.Resource, row.Expected), figureText(row.Resource, row.Actual), d.Value
		if d.Known {
			s.Delta = signed(row.Resource, d.Value)
		}
	}
	key := fmt.Sprintf("%d\x00%s\x00%s\x00%s\x00%s\x00%s\x00%d", index, s.Verdict, s.Reason, s.Others, s.Expected, s.Actual, s.delta)
	i, ok := sets[key]
	if !ok {
		i = len(t.Sets)
		sets[key] = i
		t.Sets = append(t.Sets, s)
	}
	t.Sets[i].Names = append(t.Sets[i].Names, visible(n.Name))
}

func (t *typeGroup) addMemory(row *gate.Row) {
	delta := row.Delta().Value
	share := float64(delta) / float64(row.Expected.Value)
	if !t.memory {
		t.memory, t.least, t.most = true, share, share
		t.expected, t.actualLeast, t.actualMost, t.deltaLeast = row.Expected.Value, row.Actual.Value, row.Actual.Value, delta
		t.deltaMost = delta
		return
	}
	t.least, t.most = min(t.least, share), max(t.most, share)
	t.actualLeast, t.actualMost = min(t.actualLeast, row.Actual.Value), max(t.actualMost, row.Actual.Value)
	t.deltaLeast, t.deltaMost = min(t.deltaLeast, delta), max(t.deltaMost, delta)
	t.expected = max(t.expected, row.Expected.Value)
}

// others are what differs in other resources than memory: those that matter, in words.
func others(n *gate.Node) string {
	var out []string
	for _, r := range n.Rows {
		if r.Field != compare.Allocatable || n.State != gate.Judged {
			continue
		}
		name := shortResource(visible(r.Resource))
		if r.ClaimSeverity > gate.Info {
			out = append(out, fmt.Sprintf("%s claim %s", name, figureText(r.Resource, r.Claim)))
		}
		if r.Resource == expect.Memory {
			continue
		}
		switch {
		case r.Status == compare.Missing && r.Severity > gate.Info:
			out = append(out, fmt.Sprintf("%s missing (expected %s)", name, figureText(r.Resource, r.Expected)))
		case r.Status == compare.Unknown:
			out = append(out, name+" unknown")
		case r.Severity > gate.Info:
			out = append(out, fmt.Sprintf("%s %s (expected %s)", name, figureText(r.Resource, r.Actual), figureText(r.Resource, r.Expected)))
		}
	}
	return strings.Join(out, ", ")
}

// Type, Pool and Family are the names as they are shown.
func (t typeGroup) Type() string   { return cmp.Or(visible(t.InstanceType), "unknown") }
func (t typeGroup) Pool() string   { return visible(t.NodePool) }
func (t typeGroup) Family() string { return visible(t.AMIFamily) }

// verdicts are all that a node of Karpenter's can have, worst first.
var verdicts = []string{"fail", "unknown", "warn", "pass", "skipped"}

// Chips are the verdicts of the group, worst first, with their counts.
func (t typeGroup) Chips() []chip {
	var out []chip
	for _, v := range verdicts {
		if n := t.verdicts[v]; n > 0 {
			out = append(out, chip{v, n})
		}
	}
	return out
}

// chip is a number of nodes with one verdict.
type chip struct {
	Verdict string
	Count   int
}

// Rank orders verdicts when the table is sorted by them.
func (t typeGroup) Rank() int {
	return t.verdicts["fail"]<<20 + t.verdicts["unknown"]<<10 + t.verdicts["warn"]
}

// Expected, Actual, Delta and Share are the memory of the group; a dash where it has none.
func (t typeGroup) Expected() string { return t.text(t.expected) }

// Actual is a range where the nodes differ.
func (t typeGroup) Actual() string {
	least, most := t.text(t.actualLeast), t.text(t.actualMost)
	if least == most {
		return least
	}
	return least + " … " + most
}

// Delta is that of the worst node.
func (t typeGroup) Delta() string {
	if !t.memory {
		return "–"
	}
	return signed(expect.Memory, t.delta())
}

func (t typeGroup) delta() int64 {
	if t.Over() {
		return t.deltaLeast
	}
	return t.deltaMost
}

// Share is that of the worst node.
func (t typeGroup) Share() string {
	if !t.memory {
		return "–"
	}
	return percentText(t.share())
}

func (t typeGroup) text(v int64) string {
	return figureText(expect.Memory, snapshot.Figure{Value: v, Known: t.memory})
}

// The figures behind the texts, for sorting; empty where there are none.
func (t typeGroup) ExpectedValue() string { return t.value(float64(t.expected)) }
func (t typeGroup) ActualValue() string   { return t.value(float64(t.actualLeast)) }
func (t typeGroup) DeltaValue() string    { return t.value(float64(t.delta())) }
func (t typeGroup) ShareValue() string    { return t.value(t.share()) }

func (t typeGroup) value(v float64) string {
	if !t.memory {
		return ""
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// Over reports whether a node of the group has less than is expected.
func (t typeGroup) Over() bool { return t.memory && t.deltaLeast < 0 }

// Others are the differences in other resources, each once.
func (t typeGroup) Others() string {
	var out []string
	for i := range t.Sets {
		if o := t.Sets[i].Others; o != "" && !slices.Contains(out, o) {
			out = append(out, o)
		}
	}
	return cut(strings.Join(out, "; "), 200)
}
