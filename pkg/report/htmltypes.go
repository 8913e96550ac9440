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
	Cluster, InstanceType, NodePool, AMIFamily, Arch string
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
			out = append(out, typeGroup{Cluster: n.Cluster, InstanceType: n.InstanceType, NodePool: n.NodePool, AMIFamily: n.AMIFamily, Arch: n.Arch, verdicts: map[string]int{}})
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
func (g *typeGroup) rank() int {
	switch {
	case g.Over():
		return 0
	case g.memory:
		return 1
	}
	return 2
}

// worst orders groups of one rank: the largest share first.
func (g *typeGroup) worst() float64 { return -math.Abs(g.share()) }

// share is that of the worst node: the one that has least, or, where all have what is expected, most.
func (g *typeGroup) share() float64 {
	if g.Over() {
		return g.least
	}
	return g.most
}

func (g *typeGroup) add(n *gate.Node, index int, sets map[string]int) {
	g.Nodes++
	g.Severity = max(g.Severity, n.Severity)
	g.verdicts[verdictOf(n)]++
	row := find(n, expect.Memory, compare.Allocatable)
	if n.State == gate.Judged && row != nil && row.Delta().Known && row.Expected.Value > 0 {
		g.addMemory(row)
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
		i = len(g.Sets)
		sets[key] = i
		g.Sets = append(g.Sets, s)
	}
	g.Sets[i].Names = append(g.Sets[i].Names, visible(n.Name))
}

func (g *typeGroup) addMemory(row *gate.Row) {
	delta := row.Delta().Value
	share := float64(delta) / float64(row.Expected.Value)
	if !g.memory {
		g.memory, g.least, g.most = true, share, share
		g.expected, g.actualLeast, g.actualMost, g.deltaLeast = row.Expected.Value, row.Actual.Value, row.Actual.Value, delta
		g.deltaMost = delta
		return
	}
	g.least, g.most = min(g.least, share), max(g.most, share)
	g.actualLeast, g.actualMost = min(g.actualLeast, row.Actual.Value), max(g.actualMost, row.Actual.Value)
	g.deltaLeast, g.deltaMost = min(g.deltaLeast, delta), max(g.deltaMost, delta)
	g.expected = max(g.expected, row.Expected.Value)
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
func (g typeGroup) Type() string   { return cmp.Or(visible(g.InstanceType), "unknown") }
func (g typeGroup) Pool() string   { return visible(g.NodePool) }
func (g typeGroup) Family() string { return visible(g.AMIFamily) }

// Chips are the verdicts of the group, worst first, with their counts.
func (g typeGroup) Chips() []chip {
	var out []chip
	for _, v := range []string{"fail", "unknown", "warn", "pass", "skipped"} {
		if n := g.verdicts[v]; n > 0 {
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
func (g typeGroup) Rank() int {
	return g.verdicts["fail"]<<20 + g.verdicts["unknown"]<<10 + g.verdicts["warn"]
}

// Expected, Actual, Delta and Share are the memory of the group; a dash where it has none.
func (g typeGroup) Expected() string { return g.text(g.expected) }

// Actual is a range where the nodes differ.
func (g typeGroup) Actual() string {
	least, most := g.text(g.actualLeast), g.text(g.actualMost)
	if least == most {
		return least
	}
	return least + " … " + most
}

// Delta is that of the worst node.
func (g typeGroup) Delta() string {
	if !g.memory {
		return "–"
	}
	return signed(expect.Memory, g.delta())
}

func (g typeGroup) delta() int64 {
	if g.Over() {
		return g.deltaLeast
	}
	return g.deltaMost
}

// Share is that of the worst node.
func (g typeGroup) Share() string {
	if !g.memory {
		return "–"
	}
	return percentText(g.share())
}

func (g typeGroup) text(v int64) string {
	return figureText(expect.Memory, snapshot.Figure{Value: v, Known: g.memory})
}

// The figures behind the texts, for sorting; empty where there are none.
func (g typeGroup) ExpectedValue() string { return g.value(float64(g.expected)) }
func (g typeGroup) ActualValue() string   { return g.value(float64(g.actualLeast)) }
func (g typeGroup) DeltaValue() string    { return g.value(float64(g.delta())) }
func (g typeGroup) ShareValue() string    { return g.value(g.share()) }

func (g typeGroup) value(v float64) string {
	if !g.memory {
		return ""
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// Over reports whether a node of the group has less than is expected.
func (g typeGroup) Over() bool { return g.memory && g.deltaLeast < 0 }

// Others are the differences in other resources, each once.
func (g typeGroup) Others() string {
	var out []string
	for i := range g.Sets {
		if o := g.Sets[i].Others; o != "" && !slices.Contains(out, o) {
			out = append(out, o)
		}
	}
	return cut(strings.Join(out, "; "), 200)
}
