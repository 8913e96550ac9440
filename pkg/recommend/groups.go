package recommend

import (
	"cmp"
	"slices"

	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
)

// kinds are the ways to group nodes, in the order of the report.
var kinds = []struct {
	kind GroupKind
	of   func(*Sample) string
}{
	{ByCluster, func(s *Sample) string { return s.Cluster }},
	{ByArch, func(s *Sample) string { return s.Arch }},
	{ByAMIFamily, func(s *Sample) string { return s.AMIFamily }},
	{ByNodePool, func(s *Sample) string { return cmp.Or(s.NodePool, "(none)") }},
	{ByInstanceType, func(s *Sample) string { return s.InstanceType }},
}

// members is a group being added up.
type members struct {
	Group
	types map[string]bool
	step  int
	usd   float64
}

// group fills in the groups, and the rankings of types that follow from them.
func (p *problem) group(r *Report) {
	for _, k := range kinds {
		groups := p.groupsOf(k.of)
		if k.kind == ByCluster && len(groups) < 2 {
			continue
		}
		for _, m := range groups {
			m.Kind = k.kind
			r.Groups = append(r.Groups, m.Group)
		}
		if k.kind == ByInstanceType {
			p.rank(r, groups)
		}
	}
}

// groupsOf groups the nodes by a name, in name order.
func (p *problem) groupsOf(of func(*Sample) string) []*members {
	groups := map[string]*members{}
	var order []*members
	for i := range p.nodes {
		n := &p.nodes[i]
		name := of(n.Sample)
		m, ok := groups[name]
		if !ok {
			m = &members{Group: Group{Name: name}, types: map[string]bool{}}
			groups[name] = m
			order = append(order, m)
		}
		m.Samples++
		m.types[n.InstanceType] = true
		m.step = max(m.step, n.step)
		m.HiddenBytes = add(m.HiddenBytes, n.hidden)
		m.HiddenBytesAtFlat = add(m.HiddenBytesAtFlat, n.hiddenAtFlat)
		m.usd += float64(n.hidden) * n.fit.perByteMonth
		if n.overToday {
			m.OverEstimated++
		}
	}
	for _, s := range p.all {
		if m := groups[of(s)]; m != nil && s.State != gate.Foreign {
			m.Nodes++
		}
	}
	for _, m := range order {
		m.Types = len(m.types)
		m.MonthlyUSD = p.money(m.usd)
		if m.Inconclusive = m.Samples < p.MinSamples; !m.Inconclusive {
			flat := fraction(m.step)
			m.Flat = &flat
		}
	}
	slices.SortFunc(order, func(a, b *members) int { return cmp.Compare(a.Name, b.Name) })
	return order
}

// ranked is how long the rankings of types are.
const ranked = 10

// rank fills in the types that hide most, that need most, and that are over-estimated today.
func (p *problem) rank(r *Report, types []*members) {
	for _, m := range types {
		if m.OverEstimated > 0 {
			r.OverEstimatedTypes = append(r.OverEstimatedTypes, TypeCount{m.Name, m.OverEstimated})
		}
	}
	use := func(by func(a, b *members) int, keep func(*members) bool) []TypeUse {
		sorted := slices.Clone(types)
		slices.SortStableFunc(sorted, by)
		var out []TypeUse
		for _, m := range sorted[:min(ranked, len(sorted))] {
			if keep(m) {
				out = append(out, TypeUse{m.Name, m.Samples, fraction(m.step), m.HiddenBytes, m.HiddenBytesAtFlat, m.MonthlyUSD})
			}
		}
		return out
	}
	r.Wasteful = use(func(a, b *members) int { return -cmp.Compare(a.HiddenBytes, b.HiddenBytes) }, func(m *members) bool { return m.HiddenBytes > 0 })
	r.Tight = use(func(a, b *members) int { return -cmp.Compare(a.step, b.step) }, func(m *members) bool { return m.step > 0 })
}

// spread fills in how the needs of the nodes are distributed and which type decides.
func (p *problem) spread(r *Report) {
	steps := make([]int, len(p.nodes))
	decisive := &p.nodes[0]
	for i := range p.nodes {
		steps[i] = p.nodes[i].step
		if p.nodes[i].step > decisive.step {
			decisive = &p.nodes[i]
		}
	}
	slices.Sort(steps)
	at := func(percent int) float64 { return fraction(steps[(len(steps)*percent+99)/100-1]) }
	r.Needs = &Spread{P50: at(50), P95: at(95)}
	r.Decisive = &Decisive{InstanceType: decisive.InstanceType, Cluster: decisive.Cluster, Node: decisive.Node}
	without := -1
	for i := range p.nodes {
		if p.nodes[i].InstanceType != decisive.InstanceType {
			without = max(without, p.nodes[i].step)
		}
	}
	if without >= 0 {
		flat := fraction(without)
		r.Decisive.FlatWithout = &flat
	}
}
