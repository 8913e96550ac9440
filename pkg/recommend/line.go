package recommend

import (
	"cmp"
	"math"
	"slices"
)

// lineSteps is the resolution of the line's fraction: at six decimals rounding costs less than a MiB on any machine.
const lineSteps = 1_000_000

// point is a node in the plane of the line: the memory that an overhead is taken of, and the overhead that it needs, in
// MiB.
type point struct{ base, gap float64 }

// tightestLine returns the line y = intercept + slope·base, both at least 0, that lies on or above every point and has
// the smallest sum of distances to them; mean is the mean base of the points, each counted as often as it occurs.
//
// The sum is n·(y(mean) − mean gap), so the best line is the lowest one above the points at the mean: the edge of their
// upper convex hull there. The origin as one more point keeps the intercept from getting negative; where the edge falls,
// the level line through the top is best. Where all points have one base, the edge from the origin is taken: it assumes
// that the gap grows with the machine, which errs on the safe side for larger ones.
func tightestLine(points []point, mean float64) (intercept, slope float64) {
	hull := upperHull(points)
	for i := 1; i < len(hull); i++ {
		left, right := hull[i-1], hull[i]
		slope = (right.gap - left.gap) / (right.base - left.base)
		if slope <= 0 {
			return left.gap, 0
		}
		if mean <= right.base {
			return max(left.gap-slope*left.base, 0), slope
		}
	}
	return 0, 0
}

// upperHull is the upper convex hull of the origin and the points right of it, from left to right (Andrew's monotone
// chain). A machine that has less memory than the CMA takes is none.
func upperHull(points []point) []point {
	sorted := []point{{}}
	for _, p := range points {
		if p.base > 0 {
			sorted = append(sorted, p)
		}
	}
	slices.SortFunc(sorted, func(a, b point) int { return cmp.Or(cmp.Compare(a.base, b.base), cmp.Compare(a.gap, b.gap)) })
	var hull []point
	for _, p := range sorted {
		for len(hull) > 0 && (hull[len(hull)-1].base == p.base || len(hull) > 1 && !above(hull[len(hull)-2], hull[len(hull)-1], p)) {
			hull = hull[:len(hull)-1]
		}
		hull = append(hull, p)
	}
	return hull
}

// above reports whether b lies above the straight line from a to c.
func above(a, b, c point) bool {
	return (b.gap-a.gap)*(c.base-a.base) > (c.gap-a.gap)*(b.base-a.base)
}

// line finds the safe line that hides least and can be written down: whole MiB, and a fraction of six decimals that is
// rounded as Karpenter rounds its own. The flat fraction is a line too, and stays where rounding makes others worse.
func (p *problem) line(flat float64, atFlat *Outcome) *Line {
	best := &Line{Fraction: flat, HiddenBytes: atFlat.HiddenBytes, MonthlyUSD: atFlat.MonthlyUSD}
	_, slope := tightestLine(p.points())
	for _, k := range []float64{math.Floor(slope * lineSteps), math.Ceil(slope * lineSteps)} {
		if l := p.lineAt(k / lineSteps); l != nil && l.HiddenBytes < best.HiddenBytes {
			best = l
		}
	}
	return best
}

// points are the curves with the largest gap of each, and the mean base over all nodes.
func (p *problem) points() ([]point, float64) {
	points := make([]point, 0, len(p.curves))
	sum, n := 0.0, 0
	for _, c := range p.curves {
		points = append(points, point{float64(c.BaseMiB()), c.worst.gap})
		sum += float64(c.BaseMiB()) * float64(c.nodes)
		n += c.nodes
	}
	return points, sum / float64(n)
}

// lineAt is the line of the given fraction with the smallest base that over-estimates no node.
func (p *problem) lineAt(slope float64) *Line {
	base := 0.0
	for _, c := range p.curves {
		base = max(base, math.Ceil(c.worst.gap-slope*float64(c.BaseMiB())))
	}
	l := &Line{Mebibytes: int64(base), Fraction: slope}
	// The doubles above may be off by a hair, and the need is in whole MiB: make sure.
	for _, c := range p.curves {
		share, err := c.MiB(slope)
		if err != nil {
			return nil
		}
		l.Mebibytes = max(l.Mebibytes, c.worst.mib-share)
	}
	sum := p.outcome(func(c *fitted) (int64, error) {
		share, err := c.MiB(slope)
		return l.Mebibytes + share, err
	}, nil)
	l.HiddenBytes, l.MonthlyUSD = sum.hidden, p.money(sum.usd)
	return l
}
