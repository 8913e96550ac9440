package gate

import (
	"cmp"
	"slices"

	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
)

// Measure is what of a node is compared between two runs.
type Measure string

// The measures.
const (
	// MeasureCapacity is what the kubelet reports of the machine.
	MeasureCapacity Measure = "capacity"
	// MeasureReserve is capacity − allocatable − huge pages: what the node keeps for itself.
	MeasureReserve Measure = "reserve"
	// MeasureExpectation is what Karpenter expects to be allocatable.
	MeasureExpectation Measure = "expectation"
)

// Range is the smallest and the largest figure of some nodes, in base units.
type Range struct {
	Min int64 `json:"min"`
	Max int64 `json:"max"`
}

func (r *Range) add(v int64, first bool) {
	if first {
		r.Min, r.Max = v, v
		return
	}
	r.Min, r.Max = min(r.Min, v), max(r.Max, v)
}

// Move is a figure of one instance type and AMI family that moved beyond the spread that the type had.
type Move struct {
	InstanceType string  `json:"instanceType"`
	AMIFamily    string  `json:"amiFamily"`
	Resource     string  `json:"resource"`
	Measure      Measure `json:"measure"`
	From         Range   `json:"from"`
	To           Range   `json:"to"`
	// Delta is by how much the range was left: to below From.Min where negative, above From.Max where positive.
	Delta int64 `json:"delta"`
	// FromNodes and ToNodes are how many nodes were looked at, FromAMIs and ToAMIs their images.
	FromNodes int      `json:"fromNodes"`
	ToNodes   int      `json:"toNodes"`
	FromAMIs  []string `json:"fromAMIs,omitempty"`
	ToAMIs    []string `json:"toAMIs,omitempty"`
}

// Moves is what differs between two runs.
type Moves struct {
	Moves []Move `json:"moves"`
	// Vanished and New are types that only one of the runs has; a changed mix of types is no finding.
	Vanished []string `json:"vanished,omitempty"`
	New      []string `json:"new,omitempty"`
	// Compared is the number of types that both have.
	Compared int `json:"compared"`
}

// sampleKey is what figures are gathered by.
type sampleKey struct{ instanceType, family string }

type figureKey struct {
	sampleKey
	resource string
	measure  Measure
}

// sampled is the figures of one run.
type sampled struct {
	nodes  map[sampleKey]int
	amis   map[sampleKey][]string
	ranges map[figureKey]Range
	order  []figureKey
	types  []string
}

func sample(r *Run) *sampled {
	s := &sampled{nodes: map[sampleKey]int{}, amis: map[sampleKey][]string{}, ranges: map[figureKey]Range{}}
	for i := range r.Nodes {
		n := &r.Nodes[i]
		if n.State != Judged {
			continue
		}
		k := sampleKey{n.InstanceType, n.AMIFamily}
		s.nodes[k]++
		if n.OSImage != "" && !slices.Contains(s.amis[k], n.OSImage) {
			s.amis[k] = append(s.amis[k], n.OSImage)
		}
		if !slices.Contains(s.types, n.InstanceType) {
			s.types = append(s.types, n.InstanceType)
		}
		s.add(k, n.Rows)
	}
	return s
}

func (s *sampled) add(k sampleKey, rows []*Row) {
	var pages int64
	capacity := map[string]int64{}
	for _, r := range rows {
		if r.Field == compare.Capacity && r.Actual.Known {
			capacity[r.Resource] = r.Actual.Value
			if expect.IsHugePages(r.Resource) {
				pages += r.Actual.Value
			}
		}
	}
	for _, r := range rows {
		if r.Field == compare.Capacity {
			if r.Actual.Known {
				s.put(figureKey{k, r.Resource, MeasureCapacity}, r.Actual.Value)
			}
			continue
		}
		if r.Expected.Known {
			s.put(figureKey{k, r.Resource, MeasureExpectation}, r.Expected.Value)
		}
		if total, ok := capacity[r.Resource]; ok && r.Actual.Known {
			reserve := total - r.Actual.Value
			if r.Resource == expect.Memory {
				reserve -= pages
			}
			s.put(figureKey{k, r.Resource, MeasureReserve}, reserve)
		}
	}
}

func (s *sampled) put(k figureKey, v int64) {
	r, ok := s.ranges[k]
	if !ok {
		s.order = append(s.order, k)
	}
	r.add(v, !ok)
	s.ranges[k] = r
}

// Compare finds what moved from run a to run b, beyond the spread that nodes of one type already had and the few KiB by
// which identical nodes differ.
func Compare(a, b *Run) *Moves {
	from, to := sample(a), sample(b)
	out := &Moves{Moves: []Move{}}
	for _, t := range from.types {
		if !slices.Contains(to.types, t) {
			out.Vanished = append(out.Vanished, t)
			continue
		}
		out.Compared++
	}
	for _, t := range to.types {
		if !slices.Contains(from.types, t) {
			out.New = append(out.New, t)
		}
	}
	for _, k := range from.order {
		was := from.ranges[k]
		now, ok := to.ranges[k]
		if !ok {
			continue
		}
		delta := moved(k.resource, was, now)
		if delta == 0 {
			continue
		}
		out.Moves = append(out.Moves, Move{
			InstanceType: k.instanceType, AMIFamily: k.family, Resource: k.resource, Measure: k.measure,
			From: was, To: now, Delta: delta,
			FromNodes: from.nodes[k.sampleKey], ToNodes: to.nodes[k.sampleKey],
			FromAMIs: slices.Sorted(slices.Values(from.amis[k.sampleKey])), ToAMIs: slices.Sorted(slices.Values(to.amis[k.sampleKey])),
		})
	}
	slices.Sort(out.Vanished)
	slices.Sort(out.New)
	slices.SortStableFunc(out.Moves, func(x, y Move) int {
		return cmp.Or(cmp.Compare(resourceOrder(x.Resource), resourceOrder(y.Resource)), cmp.Compare(x.Resource, y.Resource),
			cmp.Compare(measureOrder(x.Measure), measureOrder(y.Measure)), cmp.Compare(x.Delta, y.Delta),
			cmp.Compare(x.InstanceType, y.InstanceType), cmp.Compare(x.AMIFamily, y.AMIFamily))
	})
	return out
}

// moved is by how much now leaves was; 0 where it does not by more than jitter. Where it leaves on both sides the fall
// counts: it is what breaks pods.
func moved(resource string, was, now Range) int64 {
	var noise int64
	if resource == expect.Memory {
		noise = jitter
	}
	if fall := now.Min - was.Min; fall < -noise {
		return fall
	}
	if rise := now.Max - was.Max; rise > noise {
		return rise
	}
	return 0
}

func measureOrder(m Measure) int {
	return slices.Index([]Measure{MeasureCapacity, MeasureReserve, MeasureExpectation}, m)
}

// resourceOrder is the place of a resource in every report; unknown ones come last.
func resourceOrder(name string) int {
	if i := slices.Index(expect.ResourceNames(), name); i >= 0 {
		return i
	}
	return len(expect.ResourceNames())
}

// Change is an expectation that differs between two evaluations of the same nodes.
type Change struct {
	InstanceType string        `json:"instanceType"`
	NodeClass    string        `json:"nodeClass,omitempty"`
	Resource     string        `json:"resource"`
	Field        compare.Field `json:"field"`
	// From and To are nil where one side does not have the resource.
	From *int64 `json:"from"`
	To   *int64 `json:"to"`
	// Least is the smallest actual figure of the nodes; nil where none reports one. OverEstimates counts the nodes on
	// which To is more than there is, beyond the tolerance of the policy.
	Least         *int64 `json:"leastActual,omitempty"`
	OverEstimates int    `json:"overEstimates,omitempty"`
	Nodes         int    `json:"nodes"`
}

// Changes lists what an upgrade or migration changes: the expectations of the nodes of a that are others in b, folded
// by type and class. Nodes are matched by cluster and name. Only allocatable counts, and capacity where it alone
// changes.
func Changes(a, b *Run) []Change {
	type nodeKey struct{ cluster, name string }
	before := make(map[nodeKey]*Node, len(a.Nodes))
	for i := range a.Nodes {
		before[nodeKey{a.Nodes[i].Cluster, a.Nodes[i].Name}] = &a.Nodes[i]
	}
	type changeKey struct {
		instanceType, class, resource string
		field                         compare.Field
		from, to                      int64
		hadFrom, hasTo                bool
	}
	found := map[changeKey]int{}
	out := []Change{}
	for i := range b.Nodes {
		n := &b.Nodes[i]
		was, ok := before[nodeKey{n.Cluster, n.Name}]
		if !ok || n.State != Judged || was.State != Judged {
			continue
		}
		for _, p := range pairs(was.Rows, n.Rows) {
			k := changeKey{n.InstanceType, n.NodeClass, p.resource, p.field, p.from.Expected.Value, p.to.Expected.Value, p.from.Expected.Known, p.to.Expected.Known}
			j, ok := found[k]
			if !ok {
				j = len(out)
				found[k] = j
				out = append(out, Change{InstanceType: n.InstanceType, NodeClass: n.NodeClass, Resource: p.resource, Field: p.field, From: optional(&p.from.Expected), To: optional(&p.to.Expected)})
			}
			out[j].add(p)
		}
	}
	slices.SortStableFunc(out, func(x, y Change) int {
		return cmp.Or(-cmp.Compare(x.OverEstimates, y.OverEstimates), cmp.Compare(resourceOrder(x.Resource), resourceOrder(y.Resource)), cmp.Compare(x.Resource, y.Resource),
			-cmp.Compare(x.Field, y.Field), cmp.Compare(x.InstanceType, y.InstanceType), cmp.Compare(x.NodeClass, y.NodeClass))
	})
	return out
}

func (c *Change) add(p pair) {
	c.Nodes++
	if actual := p.to.Actual; actual.Known && (c.Least == nil || actual.Value < *c.Least) {
		c.Least = &actual.Value
	}
	if p.to.Status == compare.OverEstimate || p.to.Status == compare.Missing {
		c.OverEstimates++
	}
}

// pair is one row of both evaluations of a node; the zero Row stands for one that is not there.
type pair struct {
	resource string
	field    compare.Field
	from, to Row
}

// pairs are the rows whose expectation differs.
func pairs(a, b []*Row) []pair {
	type rowKey struct {
		resource string
		field    compare.Field
	}
	was := make(map[rowKey]*Row, len(a))
	for _, r := range a {
		was[rowKey{r.Resource, r.Field}] = r
	}
	var out []pair
	for _, to := range b {
		k := rowKey{to.Resource, to.Field}
		p := pair{resource: k.resource, field: k.field, to: *to}
		if r, ok := was[k]; ok {
			p.from = *r
			delete(was, k)
		}
		if p.from.Expected != p.to.Expected {
			out = append(out, p)
		}
	}
	for _, from := range a { // what b no longer has
		k := rowKey{from.Resource, from.Field}
		if _, left := was[k]; left && from.Expected.Known {
			out = append(out, pair{resource: k.resource, field: k.field, from: *from})
		}
	}
	return out
}
