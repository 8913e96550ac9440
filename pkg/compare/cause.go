package compare

import (
	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// Cause is a named part of a difference.
type Cause struct {
	// ID is stable: policies, allowlists and dashboards refer to it. See CauseIDs.
	ID string `json:"id"`
	// Part is the share of the row's delta that the cause carries, in the row's base unit, sign kept.
	Part int64 `json:"part"`
	// Evidence are the figures that show the cause, for a person. Explain leaves it empty, Detail fills it in.
	Evidence string `json:"evidence,omitzero"`
	// Remedy is the next step; filled in with Evidence.
	Remedy string `json:"remedy,omitzero"`
}

// Explain splits the difference of every row into causes: their parts add up to Row.Gap exactly. A row without a
// difference has none. Causes come without words: a large fleet has a million rows that nobody reads. See Detail.
func Explain(s Subject, rows []Row) { AppendCauses(make([]Cause, 0, 6), s, rows) }

// AppendCauses is Explain into memory that is there already: the causes of the rows are parts of what it returns.
func AppendCauses(all []Cause, s Subject, rows []Row) []Cause {
	var g gap
	for i := range rows {
		if r := &rows[i]; r.Gap().Value != 0 {
			from := len(all)
			all = g.explain(&s, r, false, all)
			r.Causes = all[from:len(all):len(all)]
		}
	}
	return all
}

// Detail puts evidence and remedy to the causes of one row.
func Detail(s Subject, r *Row) {
	if r.Gap().Value != 0 {
		r.Causes = new(gap).explain(&s, r, true, nil)
	}
}

// ExplainClaim splits actual − claim of a row into causes, in words: what Karpenter believed at launch against the node.
// It is nil where they are equal or one is not known.
func ExplainClaim(s Subject, r *Row) []Cause {
	if r.ClaimDelta().Value == 0 {
		return nil
	}
	g := &gap{ofClaim: true}
	return g.explain(&s, r, true, nil)
}

// Main is the cause that carries most of the delta in its direction; nil where none does. Of a row whose delta is not
// known (a missing resource), delta is 0 and the largest cause counts.
func Main(causes []Cause, delta int64) *Cause {
	var main *Cause
	for i := range causes {
		c := &causes[i]
		if delta != 0 && (c.Part < 0) != (delta < 0) {
			continue
		}
		if main == nil || size(c.Part) > size(main.Part) {
			main = c
		}
	}
	return main
}

// Gap is what causes add up to: Delta, and for a missing resource all of what was expected.
func (r *Row) Gap() snapshot.Figure {
	if r.Status == Missing && r.Expected.Known {
		return snapshot.Figure{Value: -r.Expected.Value, Known: true}
	}
	return r.Delta()
}

// kind is what sort of resource a row is about.
type kind uint8

const (
	memory kind = 1 << iota
	cpu
	disk
	pods
	device
	networkDevice

	core4    = memory | cpu | disk | pods
	devices  = device | networkDevice
	anything = core4 | devices
)

func kindOf(resource string) kind {
	switch resource {
	case expect.Memory:
		return memory
	case expect.CPU:
		return cpu
	case expect.EphemeralStorage:
		return disk
	case expect.Pods:
		return pods
	case expect.EFA, expect.PodENI, expect.PrivateIPv4:
		return networkDevice
	}
	return device
}

// gap is the part of a row's difference that no cause has taken yet, with the figures that the causes look at. Capacity
// and reserve are split first, and a cause takes from one or both, so nothing is counted twice:
//
//	actual − expected = (capacity − expected capacity) + (expected reserve − reserve)
//
// where a reserve is what lies between capacity and allocatable. A percentage of the capacity that both sides keep goes
// with the capacity: 10 % of a disk that is 75Mi smaller than expected is 7.5Mi less, and nobody's reserve is wrong.
type gap struct {
	*Subject
	row  *Row
	kind kind
	// ofClaim: the claim is explained against the node, not the expectation.
	ofClaim bool
	side    nodeSide
	// expectedCapacity is the formula's or the claim's, capacity the node's. assumed: the node reports none, so its
	// reserve was taken from the model and put on top of allocatable.
	expectedCapacity, capacity int64
	assumed                    bool
	// keeps is what the expectation reserves, kept what the node does; fits says that it explains the node's reserve.
	keeps, kept kept
	reserve     int64
	fits        bool
	// hugePages is what the node's huge pages take from memory.
	hugePages int64
	// What is left for the causes.
	capacityLeft, reserveLeft int64
	// kubeLeft, systemLeft, evictionLeft and hugePagesLeft divide reserveLeft; what they do not cover is residual.
	kubeLeft, systemLeft, evictionLeft, hugePagesLeft int64
	// shared is the percentage of capacity that both sides keep in an allocatable row; 0 without one.
	shared float64
	// disk is the size that a cause has found the disk to have been made with; at first the expected one.
	disk int64
	// part is what the cause being tried has taken.
	part int64
}

// evidence words a cause that applies; nil when it does not.
type evidence func() string

// largest is the largest figure that is taken apart: sums of a few of them fit 64 bits.
const largest = 1 << 59

// explain tries the table from the top, and appends the causes that apply.
func (g *gap) explain(s *Subject, r *Row, detailed bool, out []Cause) []Cause {
	total := r.Gap().Value
	if g.ofClaim {
		total = r.ClaimDelta().Value
	}
	if !g.prepare(s, r) {
		return append(out, unsplit(total, detailed))
	}
	for i := range causes {
		c := &causes[i]
		if c.kinds&g.kind == 0 || (c.onlyClaim && !g.ofClaim) {
			continue
		}
		g.part = 0
		words := c.find(g)
		if words == nil || g.part == 0 {
			continue
		}
		cause := Cause{ID: c.id, Part: g.part}
		if detailed {
			cause.Evidence, cause.Remedy = words(), c.remedy
		}
		out = append(out, cause)
		if g.capacityLeft == 0 && g.reserveLeft == 0 {
			break
		}
	}
	return out
}

// prepare splits the row; false when the figures are too large to be taken apart.
func (g *gap) prepare(s *Subject, r *Row) bool {
	side := g.side
	if side.s != s { // it is the node's, so all of its rows share one
		side = nodeSideOf(s)
	}
	*g = gap{Subject: s, row: r, kind: kindOf(r.Resource), ofClaim: g.ofClaim, side: side}
	e := s.Expect.Get(r.Resource)
	if e == nil || !e.Capacity.Known {
		return false
	}
	base := [2]snapshot.Figure{e.Capacity, e.Allocatable}
	if g.ofClaim {
		base = [2]snapshot.Figure{s.Claim.Capacity.Get(r.Resource), s.Claim.Allocatable.Get(r.Resource)}
	}
	g.expectedCapacity = base[0].Value
	g.disk = g.expectedCapacity
	capacity, allocatable := s.Node.Capacity.Get(r.Resource), s.Node.Allocatable.Get(r.Resource)
	for _, f := range []snapshot.Figure{base[0], base[1], capacity, allocatable} {
		if f.Value > largest || f.Value < -largest {
			return false
		}
	}
	if r.Field == Capacity {
		g.capacity = capacity.Value
		g.capacityLeft = capacity.Value - g.expectedCapacity
		return true
	}
	if !base[0].Known || !base[1].Known {
		return false
	}
	g.keeps = keptBy(e)
	if g.kind == memory {
		g.hugePages = hugePages(s.Node.Capacity)
		g.hugePagesLeft = total(e.HugePages) - g.hugePages
	}
	g.capacity = capacity.Value
	if !capacity.Known && r.Status != Missing {
		g.assumed = true
		g.capacity = g.side.capacityOf(r.Resource, allocatable.Value, g.hugePages, g.expectedCapacity)
		if g.capacity > largest || g.capacity < -largest {
			return false
		}
	}
	g.capacityLeft = g.capacity - g.expectedCapacity
	g.reserve = g.capacity - allocatable.Value
	g.reserveLeft = base[0].Value - base[1].Value - g.reserve
	if g.kind&(memory|cpu|disk) != 0 {
		g.divide(e, allocatable.Value)
	}
	return true
}

// divide finds what the node keeps, and compares it with what was expected to be kept.
func (g *gap) divide(e *expect.Resource, allocatable int64) {
	g.kept, g.fits = g.side.found(g.row.Resource, g.capacity, allocatable, g.hugePages)
	if !g.keeps.sane() || !g.kept.sane() {
		g.fits = false
		return
	}
	g.kubeLeft = g.keeps.kube - g.kept.kube
	g.systemLeft = g.keeps.system - g.kept.system
	g.evictionLeft = g.keeps.eviction - g.kept.eviction
	if g.ofClaim {
		if keeps := e.Capacity.Value - e.Allocatable.Value; size(g.reserveLeft+g.reserve-keeps) > within(g.row.Resource) {
			// The claim was made with another reserve, of which nothing but the sum is known.
			g.kubeLeft, g.systemLeft, g.evictionLeft = 0, 0, 0
		}
	}
	if p := g.kept.percent; p > 0 && g.evictionLeft != 0 && size(g.keeps.eviction-percentKept(g.expectedCapacity, p)) <= 4*kib {
		g.shared = p
		g.capacityLeft += g.evictionLeft
		g.reserveLeft -= g.evictionLeft
		g.evictionLeft = 0
	}
}

// keptBy is what an expectation reserves.
func keptBy(e *expect.Resource) kept {
	return kept{kube: total(e.KubeReserved), system: total(e.SystemReserved), eviction: total(e.Eviction)}
}

// sane reports whether the parts are small enough to be added and subtracted.
func (k kept) sane() bool {
	for _, v := range []int64{k.kube, k.system, k.eviction} {
		if v > largest || v < -largest {
			return false
		}
	}
	return true
}

// total is a sum in whole base units. An expectation's sums fit: they were added up before.
func total(s expect.Sum) int64 {
	t, err := s.Total()
	if err != nil {
		return 0
	}
	return t.Ceil()
}

// hugePages is what a node's huge pages of every size take, in bytes.
func hugePages(capacity snapshot.ResourceList) int64 {
	var n int64
	for _, r := range capacity {
		if expect.IsHugePages(r.Name) && r.Text == "" && size(r.Value) < largest {
			n += r.Value
		}
	}
	return n
}

// take moves from what is left to the cause being tried.
func (g *gap) take(fromCapacity, fromReserve int64) {
	g.capacityLeft -= fromCapacity
	g.reserveLeft -= fromReserve
	g.part += fromCapacity + fromReserve
}

// takeKube, takeSystem, takeEviction and takeHugePages take one division of the reserve whole.
func (g *gap) takeKube() int64 { return g.takeDivision(&g.kubeLeft) }

func (g *gap) takeSystem() int64 { return g.takeDivision(&g.systemLeft) }

func (g *gap) takeEviction() int64 { return g.takeDivision(&g.evictionLeft) }

func (g *gap) takeHugePages() int64 { return g.takeDivision(&g.hugePagesLeft) }

func (g *gap) takeDivision(division *int64) int64 {
	n := *division
	g.take(0, n)
	*division = 0
	return n
}
