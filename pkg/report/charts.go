package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
	"github.com/allocatable-diff/allocatable-diff/pkg/recommend"
)

// The size of a chart in points: two fit side by side on a desk's screen, and one is still readable on a phone.
const (
	chartWidth  vg.Length = 520
	chartHeight vg.Length = 300
	// chartTypes is how many types a chart of types shows, the worst.
	chartTypes = 24
)

// chart is a drawing with what it shows in words.
type chart struct {
	Title, Caption string
	SVG            inlineSVG
}

// charts are those that the run has figures for.
func charts(run *gate.Run, groups []typeGroup, r *recommend.Report) ([]chart, error) {
	var out []chart
	for i, draw := range []func() (*drawing, error){
		func() (*drawing, error) { return overheadChart(run, r) },
		func() (*drawing, error) { return deltaChart(groups) },
		func() (*drawing, error) { return sweepNodes.draw(r) },
		func() (*drawing, error) { return sweepHidden.draw(r) },
		func() (*drawing, error) { return capacityChart(run) },
	} {
		d, err := draw()
		if err != nil {
			return nil, fmt.Errorf("drawing a chart: %w", err)
		}
		if d == nil {
			continue
		}
		height := chartHeight
		if d.rows > 0 {
			height = vg.Length(max(60+d.rows*17, 140))
		}
		picture, err := svg(d.plot, "c"+strconv.Itoa(i), d.title, d.caption, chartWidth, height)
		if err != nil {
			return nil, err
		}
		out = append(out, chart{d.title, d.caption, picture})
	}
	return out, nil
}

// drawing is a chart before it is drawn. rows is the number of types on its y axis, 0 for a y axis of figures.
type drawing struct {
	plot           *plot.Plot
	title, caption string
	rows           int
}

// memoryPoint is what one instance keeps of its memory for itself.
type memoryPoint struct {
	// gib is the memory of the instance type after the Graviton CMA, kept the share that the node does not have of it.
	gib, kept float64
	over      bool
}

// memoryPoints works out the memory of each judged node's type: the formula takes the overhead off it, so it is the
// expected capacity divided by what the overhead leaves. The rounding to whole MiB is too small to see.
func memoryPoints(run *gate.Run) []memoryPoint {
	left := map[string]float64{}
	for i := range run.Clusters {
		left[run.Clusters[i].Name] = 1 - run.Clusters[i].OverheadPercent
	}
	type spot struct {
		x, y int
		over bool
	}
	seen := map[spot]bool{} // points that fall on each other are drawn once
	var out []memoryPoint
	for i := range run.Nodes {
		n := &run.Nodes[i]
		row := find(n, expect.Memory, compare.Capacity)
		if n.State != gate.Judged || row == nil || row.Expected.Value <= 0 || row.Actual.Value <= 0 || left[n.Cluster] <= 0 {
			continue
		}
		base := float64(row.Expected.Value) / left[n.Cluster]
		p := memoryPoint{gib: base / (1 << 30), kept: 1 - float64(row.Actual.Value)/base, over: row.Actual.Value < row.Expected.Value}
		if p.kept < -0.5 || p.gib < 0.1 || p.gib > 1<<20 { // not the memory of any instance: it would flatten the rest
			continue
		}
		s := spot{int(math.Log2(p.gib) * 50), int(p.kept * 4000), p.over}
		if !seen[s] {
			seen[s] = true
			out = append(out, p)
		}
	}
	return out
}

// overheadChart is the share of its memory that each node does not have, by the size of the instance, with the
// overheads that are set, recommended, and possible.
func overheadChart(run *gate.Run, r *recommend.Report) (*drawing, error) {
	points := memoryPoints(run)
	if len(points) == 0 {
		return nil, nil
	}
	p := newPlot("memory of the instance type (GiB)", "not there (% of it)")
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.ConstantTicks(powers(points))
	var fits, over plotter.XYs
	for _, m := range points {
		xy := plotter.XY{X: m.gib, Y: m.kept * 100}
		if m.over {
			over = append(over, xy)
			continue
		}
		fits = append(fits, xy)
	}
	least, most, top := points[0].gib, points[0].gib, 1.0
	for _, m := range points {
		least, most, top = min(least, m.gib), max(most, m.gib), max(top, m.kept*100)
	}
	for _, percent := range percents(run) {
		top = max(top, percent*100)
	}
	least, most = least/1.3, most*1.3
	caption := "Each point is a node; one above the line of the overhead that is set has less memory than Karpenter expects."
	if r != nil && r.Line != nil {
		line := *r.Line
		if err := curve(p, least, most, inkLine, fmt.Sprintf("%d MiB + %s%%", line.Mebibytes, decimal(line.Fraction*100)), func(gib float64) float64 {
			y := (float64(line.Mebibytes)/1024/gib + line.Fraction) * 100
			if y > 1.6*top { // steep on the left, where it would flatten the rest
				return math.NaN()
			}
			return y
		}); err != nil {
			return nil, err
		}
		caption += " The curve is the smallest base plus slope that is as safe: Karpenter cannot be set to it, and the room below the flat lines is what they hide."
	}
	if r != nil && r.Flat != nil {
		if err := curve(p, least, most, inkFlat, "recommended "+recommend.Format(*r.Flat), constant(*r.Flat)); err != nil {
			return nil, err
		}
	}
	for _, percent := range percents(run) {
		if err := curve(p, least, most, inkNow, "set "+recommend.Format(percent), constant(percent)); err != nil {
			return nil, err
		}
	}
	if err := scatter(p, fits, inkFits, "fits"); err != nil {
		return nil, err
	}
	if err := scatter(p, over, inkOver, "over-estimated"); err != nil {
		return nil, err
	}
	p.X.Min, p.X.Max, p.Y.Min = least, most, min(p.Y.Min, 0)
	p.Y.Max += (p.Y.Max - p.Y.Min) * 0.3 // room for the legend
	return &drawing{plot: p, title: "Memory that instances keep for themselves, by their size", caption: caption}, nil
}

// percents are the overheads that are set, each once, at most three.
func percents(run *gate.Run) []float64 {
	var out []float64
	for i := range run.Clusters {
		if p := run.Clusters[i].OverheadPercent; p < 1 && !slices.Contains(out, p) && len(out) < 3 {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

// powers are ticks at the powers of two that the points span.
func powers(points []memoryPoint) []plot.Tick {
	var ticks []plot.Tick
	least, most := math.Inf(1), math.Inf(-1)
	for _, p := range points {
		least, most = min(least, p.gib), max(most, p.gib)
	}
	from, to := math.Floor(math.Log2(least)), math.Ceil(math.Log2(most))
	step := max(1, math.Ceil((to-from)/11))
	for e := from; e <= to; e += step {
		v := math.Pow(2, e)
		ticks = append(ticks, plot.Tick{Value: v, Label: decimal(v)})
	}
	return ticks
}

func constant(fraction float64) func(float64) float64 {
	return func(float64) float64 { return fraction * 100 }
}

// decimal prints a number without the digits that rounding left at its end, and zero without a sign.
func decimal(v float64) string { return strconv.FormatFloat(math.Round(v*1e4)/1e4+0, 'f', -1, 64) }

// niceTicks are round numbers at even steps, none closer than a ninth of the axis.
type niceTicks struct{}

// Ticks implements plot.Ticker.
func (niceTicks) Ticks(low, high float64) []plot.Tick {
	step := math.Pow(10, math.Floor(math.Log10((high-low)/9)))
	for _, f := range []float64{1, 2, 5, 10} {
		if (high-low)/(step*f) <= 9 {
			step *= f
			break
		}
	}
	var ticks []plot.Tick
	for n := math.Ceil(low / step); n*step <= high; n++ {
		ticks = append(ticks, plot.Tick{Value: n * step, Label: decimal(n * step)})
	}
	return ticks
}

var dashes = map[ink][]vg.Length{inkNow: {6, 3}, inkFlat: nil, inkLine: {2, 2}}

// curve draws f between two abscissas, with points evenly apart on the logarithmic axis; not where f is NaN.
func curve(p *plot.Plot, from, to float64, i ink, name string, f func(float64) float64) error {
	const steps = 60
	var xys plotter.XYs
	for s := 0; s <= steps; s++ {
		x := from * math.Pow(to/from, float64(s)/steps)
		if y := f(x); !math.IsNaN(y) {
			xys = append(xys, plotter.XY{X: x, Y: y})
		}
	}
	if len(xys) == 0 {
		return nil
	}
	return polyline(p, xys, i, name)
}

func polyline(p *plot.Plot, xys plotter.XYs, i ink, name string) error {
	l, err := plotter.NewLine(xys)
	if err != nil {
		return err
	}
	l.Color, l.Width, l.Dashes = i.color(), 1.6, dashes[i]
	p.Add(l)
	if name != "" {
		p.Legend.Add(name, l)
	}
	return nil
}

func scatter(p *plot.Plot, xys plotter.XYs, i ink, name string) error {
	if len(xys) == 0 {
		return nil
	}
	s, err := plotter.NewScatter(xys)
	if err != nil {
		return err
	}
	s.GlyphStyle = glyph(i, 2.6)
	p.Add(s)
	if name != "" {
		p.Legend.Add(name, s)
	}
	return nil
}

// glyph is a filled circle; what is over-estimated is a triangle, so that it shows without colours too.
func glyph(i ink, radius vg.Length) draw.GlyphStyle {
	style := draw.GlyphStyle{Color: i.color(), Radius: radius, Shape: draw.CircleGlyph{}}
	if i == inkOver {
		style.Shape, style.Radius = draw.PyramidGlyph{}, radius*1.2
	}
	return style
}

// sweep is one of the two curves over the overheads that could be set.
type sweep struct {
	title, label, caption string
	of                    func(recommend.Outcome) float64
	// rises to the right, so that the legend has room on the left.
	rises bool
}

var (
	sweepNodes = sweep{
		title: "What if: nodes over-estimated", label: "nodes",
		caption: "How many of the sampled nodes would have less memory than Karpenter expects, at each overhead: none at the recommended one and above.",
		of:      func(o recommend.Outcome) float64 { return float64(o.OverEstimated) },
	}
	sweepHidden = sweep{
		title: "What if: memory hidden", label: "GiB", rises: true,
		caption: "How much memory of the sampled nodes Karpenter would not know of, at each overhead: what is safe for the small types is paid for on the large ones.",
		of:      func(o recommend.Outcome) float64 { return float64(o.HiddenBytes) / (1 << 30) },
	}
)

// draw is what other overheads would do to the sampled nodes.
func (s sweep) draw(r *recommend.Report) (*drawing, error) {
	if r == nil || len(r.Sweep) < 2 {
		return nil, nil
	}
	p := newPlot("vmMemoryOverheadPercent", s.label)
	outcomes := slices.Clone(r.Sweep)
	for _, o := range []*recommend.Outcome{r.AtFlat, r.Current} { // the curve must not cut their corners
		if o != nil && !(o == r.Current && r.ControllersDiffer) && !slices.ContainsFunc(outcomes, func(other recommend.Outcome) bool { return other.Percent == o.Percent }) {
			outcomes = append(outcomes, *o)
		}
	}
	slices.SortFunc(outcomes, func(a, b recommend.Outcome) int { return cmp.Compare(a.Percent, b.Percent) })
	var xys plotter.XYs
	top := 1.0
	for _, o := range outcomes {
		xys = append(xys, plotter.XY{X: o.Percent, Y: s.of(o)})
		top = max(top, s.of(o))
	}
	if err := polyline(p, xys, inkFits, ""); err != nil {
		return nil, err
	}
	if err := scatter(p, xys, inkFits, ""); err != nil {
		return nil, err
	}
	for _, mark := range []struct {
		outcome *recommend.Outcome
		ink     ink
		name    string
	}{{r.AtFlat, inkFlat, "recommended"}, {r.Current, inkNow, "set"}} {
		if o := mark.outcome; o != nil && !(mark.ink == inkNow && r.ControllersDiffer) {
			if err := polyline(p, plotter.XYs{{X: o.Percent, Y: 0}, {X: o.Percent, Y: top}}, mark.ink, mark.name+" "+recommend.Format(o.Percent)); err != nil {
				return nil, err
			}
		}
	}
	p.Y.Min, p.Y.Max = 0, top*1.3
	p.Legend.Left = s.rises
	return &drawing{plot: p, title: s.title, caption: s.caption}, nil
}

// deltaChart is how far the nodes of each type are from what was expected: a line from the least to the most.
func deltaChart(groups []typeGroup) (*drawing, error) {
	var worst []typeGroup
	for _, g := range groups {
		if g.memory {
			worst = append(worst, g)
		}
	}
	if len(worst) == 0 {
		return nil, nil
	}
	slices.SortStableFunc(worst, func(a, b typeGroup) int { return cmp.Compare(a.least, b.least) })
	between := len(worst) - chartTypes
	if between > 0 { // both ends matter: what does not fit, and what hides most
		worst = slices.Delete(worst, chartTypes/2, chartTypes/2+between)
	}
	p := newPlot("actual − expected allocatable memory (% of expected)", "")
	names, times := make([]string, len(worst)), map[string]int{}
	for _, g := range worst {
		times[g.InstanceType]++
	}
	low, high := -0.5, 0.5
	for i, g := range worst {
		y := float64(len(worst) - 1 - i) // the worst on top
		name := ascii(g.InstanceType)
		if times[g.InstanceType] > 1 {
			name += " " + ascii(g.NodePool)
		}
		names[len(worst)-1-i] = middle(name, 24)
		color := inkFits
		if g.least < 0 {
			color = inkOver
		}
		if err := polyline(p, plotter.XYs{{X: g.least * 100, Y: y}, {X: g.most * 100, Y: y}}, color, ""); err != nil {
			return nil, err
		}
		for _, v := range []float64{g.least, g.most} {
			i := inkFits
			if v < 0 {
				i = inkOver
			}
			if err := scatter(p, plotter.XYs{{X: v * 100, Y: y}}, i, ""); err != nil {
				return nil, err
			}
		}
		low, high = min(low, g.least*100), max(high, g.most*100)
	}
	if err := polyline(p, plotter.XYs{{X: 0, Y: -0.5}, {X: 0, Y: float64(len(worst)) - 0.5}}, inkNow, ""); err != nil {
		return nil, err
	}
	p.NominalY(names...)
	p.Y.Tick.Length = 0
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = low*1.05, high*1.05, -0.6, float64(len(worst))-0.4
	caption := "For each instance type, NodePool and AMI family the range of its nodes. Left of the line, pods that Karpenter places may not fit; right of it, memory is paid for and not used."
	if between > 0 {
		caption += fmt.Sprintf(" The %d in the middle are not drawn.", between)
	}
	return &drawing{plot: p, title: "Expected against actual memory, by type", caption: caption, rows: len(worst)}, nil
}

// capacityChart is the real memory of the types that come with several, the smallest of which decides what fits.
func capacityChart(run *gate.Run) (*drawing, error) {
	type key struct{ cluster, typ string }
	several := map[key]bool{}
	for i := range run.Findings {
		if f := &run.Findings[i]; f.ID == compare.SeveralCapacities {
			several[key{f.Cluster, f.InstanceType}] = true
		}
	}
	counts := map[key]map[int64]int{}
	var order []key
	for i := range run.Nodes {
		n := &run.Nodes[i]
		k := key{n.Cluster, n.InstanceType}
		row := find(n, expect.Memory, compare.Capacity)
		if n.State != gate.Judged || !several[k] || row == nil || row.Actual.Value <= 0 {
			continue
		}
		if counts[k] == nil {
			counts[k] = map[int64]int{}
			order = append(order, k)
		}
		counts[k][row.Actual.Value]++
	}
	order = order[:min(len(order), chartTypes)]
	if len(order) == 0 {
		return nil, nil
	}
	p := newPlot("above the smallest of the type (% of it)", "")
	names := make([]string, len(order))
	high := 0.1
	for i, k := range order {
		y := float64(len(order) - 1 - i)
		names[len(order)-1-i] = middle(ascii(k.typ), 22)
		values := make([]int64, 0, len(counts[k]))
		for v := range counts[k] {
			values = append(values, v)
		}
		slices.Sort(values)
		for _, v := range values {
			x := (float64(v)/float64(values[0]) - 1) * 100
			s, err := plotter.NewScatter(plotter.XYs{{X: x, Y: y}})
			if err != nil {
				return nil, err
			}
			s.GlyphStyle = glyph(inkFits, vg.Length(2+min(math.Sqrt(float64(counts[k][v])), 5)))
			p.Add(s)
			high = max(high, x)
		}
	}
	p.NominalY(names...)
	p.Y.Tick.Length = 0
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -high*0.05, high*1.05, -0.6, float64(len(order))-0.4
	return &drawing{
		plot: p, title: "Types with several real memory sizes", rows: len(order),
		caption: "Each point is a size that the nodes of the type come with, larger for more nodes. The smallest decides what fits.",
	}, nil
}
