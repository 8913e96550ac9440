package recommend

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestTightestLine(t *testing.T) {
	for _, tt := range []struct {
		name, why        string
		points           []point
		intercept, slope float64
	}{
		{"none", "nothing to be safe from", nil, 0, 0},
		{"one", "all machines alike: the gap is taken to grow with them", []point{{8192, 427}}, 0, 427.0 / 8192},
		{"two", "through both", []point{{4096, 300}, {8192, 400}}, 200, 100.0 / 4096},
		{"two of one base", "the larger gap counts", []point{{4096, 100}, {4096, 300}}, 0, 300.0 / 4096},
		{"convex", "the small machine is below the line from the origin", []point{{4096, 100}, {8192, 400}}, 0, 400.0 / 8192},
		{"falling", "a falling line would be unsafe for larger machines: level", []point{{4096, 400}, {8192, 200}}, 400, 0},
		{"below the axis", "more than EC2 says asks for nothing", []point{{4096, -10}, {8192, -20}}, 0, 0},
		{"far below the axis", "the large machine pulls the mean past every point that counts", []point{{4096, 100}, {1 << 20, -20}}, 100, 0},
		{"less memory than the CMA", "no overhead can be taken of it", []point{{-32, -64}}, 0, 0},
		{"three", "the edge over the mean (9557) is the second one", []point{{4096, 300}, {8192, 400}, {16384, 500}}, 300, 100.0 / 8192},
	} {
		t.Run(tt.name, func(t *testing.T) {
			mean := 0.0
			for _, p := range tt.points {
				mean += p.base / float64(len(tt.points))
			}
			a, b := tightestLine(tt.points, mean)
			if math.Abs(a-tt.intercept) > 1e-9 || math.Abs(b-tt.slope) > 1e-12 {
				t.Errorf("the line is %v + %v·base, not %v + %v·base (%s)", a, b, tt.intercept, tt.slope, tt.why)
			}
		})
	}
}

// TestTightestLineIsBest holds the hull against every line through two points, or level through one.
func TestTightestLineIsBest(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range 500 {
		points := make([]point, 1+random.IntN(12))
		mean := 0.0
		for i := range points {
			base := float64(int64(512) << random.IntN(8))
			points[i] = point{base, math.Round(base * (random.Float64()*0.1 - 0.01))}
			mean += base / float64(len(points))
		}
		height := func(a, b float64) float64 { // at the mean: what the sum of distances depends on
			for _, p := range append([]point{{}}, points...) {
				if a < -1e-9 || b < 0 || a+b*p.base < p.gap-1e-6 {
					return math.Inf(1)
				}
			}
			return a + b*mean
		}
		best := math.Inf(1)
		all := append([]point{{}}, points...)
		for _, p := range all {
			best = min(best, height(p.gap, 0))
			for _, q := range all {
				if p.base != q.base {
					b := (q.gap - p.gap) / (q.base - p.base)
					best = min(best, height(p.gap-b*p.base, b))
				}
			}
		}
		a, b := tightestLine(points, mean)
		if got := height(a, b); math.Abs(got-best) > 1e-6 {
			t.Fatalf("%v + %v·base is %v at the mean, the best is %v: %v", a, b, got, best, points)
		}
	}
}
