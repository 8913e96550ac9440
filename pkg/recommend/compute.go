package recommend

import (
	"cmp"
	"math"
	"slices"

	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
)

// Options say what to recommend.
type Options struct {
	// Field is what must not be over-estimated; capacity of memory by default.
	Field compare.Field
	// MinSamples is the least number of samples that a group needs; 0 means DefaultMinSamples. The flat fraction of the
	// fleet is given for any number of samples.
	MinSamples int
	// Prices turn memory into money; nil means no money.
	Prices *Prices
	// Namespace is Karpenter's, for the patches; empty means kube-system.
	Namespace string
}

// DefaultMinSamples is the least number of samples of a group.
const DefaultMinSamples = 5

// sweepSteps is how many hundredths the sweep goes up to: 0.00 … 0.12.
const sweepSteps = 12

// Compute finds the overhead that fits the samples. Their order does not matter.
func Compute(samples []Sample, o Options) *Report {
	o.MinSamples = cmp.Or(o.MinSamples, DefaultMinSamples)
	o.Namespace = cmp.Or(o.Namespace, "kube-system")
	p := pose(samples, o)
	r := &Report{Field: o.Field, Samples: len(p.nodes), Excluded: p.excluded, Sweep: []Outcome{}, Groups: []Group{}}
	if len(p.nodes) == 0 {
		return r
	}
	flat := p.flat()
	r.Flat = &flat
	r.AtFlat = p.at(flat, func(n *node) *int64 { return &n.hiddenAtFlat })
	r.Current, r.ControllersDiffer = p.current()
	for hundredths := range sweepSteps + 1 {
		percent := float64(hundredths) / 100
		r.Sweep = append(r.Sweep, *p.at(percent, nil))
	}
	r.Line = p.line(flat, r.AtFlat)
	r.Unpriced = p.unpriced()
	p.group(r)
	p.spread(r)
	r.SeveralCapacities = p.severalCapacities()
	r.Patches = p.patches(flat, o.Namespace)
	r.Notes = p.notes(r)
	return r
}

// problem is the samples prepared for the search.
type problem struct {
	Options
	nodes    []node
	curves   []*fitted
	excluded []Excluded
	all      []*Sample
}

// node is a sample that counts.
type node struct {
	*Sample
	need
	fit    *fitted
	actual int64
	// hidden and hiddenAtFlat are what is hidden today and at the flat fraction; overToday, that more is expected today.
	hidden, hiddenAtFlat int64
	overToday            bool
}

// fitted is a curve with what its nodes ask for.
type fitted struct {
	*curve
	nodes int
	// worst is the need of the smallest node, which has smallest bytes.
	worst    need
	smallest int64
	// perByteMonth is the price of its memory; priced, that there is one.
	perByteMonth float64
	priced       bool
	// expected is scratch: the expected bytes at the overhead that is being looked at.
	expected int64
}

func pose(samples []Sample, o Options) *problem {
	p := &problem{Options: o, nodes: make([]node, 0, len(samples)), all: make([]*Sample, len(samples))}
	for i := range samples {
		p.all[i] = &samples[i]
	}
	slices.SortStableFunc(p.all, func(a, b *Sample) int {
		return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Node, b.Node))
	})
	type figure struct {
		curve  *curve
		actual int64
	}
	type answer struct {
		need
		err error
	}
	known := map[figure]answer{}
	curves := map[*curve]*fitted{}
	excluded := map[string]int{}
	for _, s := range p.all {
		if reason := s.usable(o.Field); reason != "" {
			excluded[reason]++
			continue
		}
		key := figure{s.curve, s.figure(o.Field).Value}
		a, ok := known[key]
		if !ok {
			a.need, a.err = s.curve.find(o.Field, key.actual)
			known[key] = a
		}
		if a.err != nil {
			excluded[a.err.Error()]++
			continue
		}
		c, ok := curves[s.curve]
		if !ok {
			c = &fitted{curve: s.curve, smallest: math.MaxInt64}
			c.perByteMonth, c.priced = o.Prices.perByteMonth(s.curve)
			curves[s.curve] = c
			p.curves = append(p.curves, c)
		}
		c.nodes++
		if key.actual < c.smallest {
			c.smallest, c.worst = key.actual, a.need
		}
		p.nodes = append(p.nodes, node{Sample: s, need: a.need, fit: c, actual: key.actual})
	}
	p.excluded = count(excluded)
	// The tightest come first: where one is over-estimated, it is found at once.
	slices.SortStableFunc(p.curves, func(a, b *fitted) int { return -cmp.Compare(a.worst.step, b.worst.step) })
	return p
}

// count lists the reasons, most frequent first.
func count(reasons map[string]int) []Excluded {
	var out []Excluded
	for reason, n := range reasons {
		out = append(out, Excluded{reason, n})
	}
	slices.SortFunc(out, func(a, b Excluded) int {
		return cmp.Or(-cmp.Compare(a.Nodes, b.Nodes), cmp.Compare(a.Reason, b.Reason))
	})
	return out
}

// flat is the smallest fraction that fits every node, made sure of by the whole formulas: none is over-estimated with
// it, and one is with the next smaller.
func (p *problem) flat() float64 {
	step := 0
	for _, c := range p.curves {
		step = max(step, c.worst.step)
	}
	over := func(step int) bool {
		return slices.ContainsFunc(p.curves, func(c *fitted) bool {
			return c.overEstimates(p.Field, fraction(step), c.smallest)
		})
	}
	for step < steps && over(step) {
		step++
	}
	for step > 0 && !over(step-1) {
		step--
	}
	return fraction(step)
}

// sum is what an overhead does to the nodes.
type sum struct {
	over   int
	hidden int64
	usd    float64
}

// outcome adds up what the given overhead of each curve does. Where into is given it also notes each node's part.
func (p *problem) outcome(overheadMiB func(*fitted) (int64, error), into func(*node) *int64) sum {
	for _, c := range p.curves {
		mib, err := overheadMiB(c)
		if err == nil {
			c.expected, err = c.curve.expected(p.Field, mib)
		}
		if err != nil { // outside 64 bits: nothing that a node has is as much
			c.expected = math.MaxInt64
		}
	}
	var s sum
	for i := range p.nodes {
		n := &p.nodes[i]
		part := hidden(n.actual, n.fit.expected)
		if n.fit.expected > n.actual {
			s.over++
		}
		s.hidden = add(s.hidden, part)
		s.usd += float64(part) * n.fit.perByteMonth
		if into != nil {
			*into(n) = part
		}
	}
	return s
}

// at is the outcome of one fraction for all nodes.
func (p *problem) at(percent float64, into func(*node) *int64) *Outcome {
	s := p.outcome(func(c *fitted) (int64, error) { return c.MiB(percent) }, into)
	return &Outcome{percent, s.over, s.hidden, p.money(s.usd)}
}

// current is the outcome of what is set today, each node under its own controller, and whether the controllers differ.
// Its Percent is then the smallest.
func (p *problem) current() (*Outcome, bool) {
	s := p.outcome(func(c *fitted) (int64, error) { return c.MiB(c.percent) }, func(n *node) *int64 { return &n.hidden })
	smallest, largest := p.curves[0].percent, p.curves[0].percent
	for _, c := range p.curves {
		smallest, largest = min(smallest, c.percent), max(largest, c.percent)
	}
	for i := range p.nodes {
		p.nodes[i].overToday = p.nodes[i].fit.expected > p.nodes[i].actual
	}
	return &Outcome{smallest, s.over, s.hidden, p.money(s.usd)}, smallest != largest
}

// money is the amount to report: nil without prices.
func (p *problem) money(usd float64) *float64 {
	if p.Prices == nil {
		return nil
	}
	return &usd
}

// unpriced counts the nodes that no price was given for.
func (p *problem) unpriced() int {
	n := 0
	for _, c := range p.curves {
		if p.Prices != nil && !c.priced {
			n += c.nodes
		}
	}
	return n
}

// hidden is what a node has and is not expected to have, in bytes; 0 where more is expected. It never wraps round.
func hidden(actual, expected int64) int64 {
	if expected >= actual {
		return 0
	}
	if d := actual - expected; d > 0 {
		return d
	}
	return math.MaxInt64
}

// add adds two amounts that are not negative, up to the largest there is.
func add(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
