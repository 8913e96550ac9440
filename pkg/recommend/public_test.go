package recommend

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
)

// TestPublicNodes is the recommendation for the memory that public nodes report: c7a.large decides, one MiB above what
// the default takes, and a line would hide less than a quarter.
func TestPublicNodes(t *testing.T) {
	for _, tt := range []struct {
		name    string
		alike   bool
		samples int
		over    int // at 0.075: the one c7a.large
		// best is what the best line hides that is not rounded, found by trying every pair of nodes in exact arithmetic.
		best int64
	}{
		{"one of each", false, 50, 1, 35410945723}, // 324.089 MiB + 3.63703 %
		{"every node", true, 220, 1, 227360311160}, // 754.145 MiB + 3.47298 %
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := publicNodes(t, "0.075", tt.alike)
			samples := take(t, f)
			r := Compute(samples, Options{})
			if r.Samples != tt.samples || len(r.Excluded) != 0 {
				t.Errorf("%d samples, excluded %v", r.Samples, r.Excluded)
			}
			if *r.Flat != 0.0757 { // 4096 MiB − 3876460 KiB = 310.39 MiB; 310/4096 = 0.07568
				t.Errorf("flat is %v, not 0.0757", *r.Flat)
			}
			if over, _ := byFormulas(t, samples, compare.Capacity, *r.Flat); over != 0 {
				t.Errorf("%d nodes are over-estimated at %v", over, *r.Flat)
			}
			if over, _ := byFormulas(t, samples, compare.Capacity, 0.0756); over == 0 {
				t.Error("no node is over-estimated at 0.0756")
			}
			if r.Current.Percent != 0.075 || r.Current.OverEstimated != tt.over {
				t.Errorf("today is %v with %d over-estimated", r.Current.Percent, r.Current.OverEstimated)
			}
			if r.Decisive.InstanceType != "c7a.large" || *r.Decisive.FlatWithout != 0.0704 { // c6i.large: 4096 − 3807.6 → 289; 288/4096 = 0.07031
				t.Errorf("%+v decides, without it %v", *r.Decisive, *r.Decisive.FlatWithout)
			}
			checkLine(t, samples, compare.Capacity, r)
			checkSums(t, r)
			if more := r.Line.HiddenBytes - tt.best; more < 0 || more > int64(2*r.Samples)<<20 { // the base and the share are rounded up
				t.Errorf("the line %d MiB + %v hides %d bytes, %d more than the best", r.Line.Mebibytes, r.Line.Fraction, r.Line.HiddenBytes, more)
			}
			if r.Line.HiddenBytes*4 > r.AtFlat.HiddenBytes {
				t.Errorf("the line hides %d bytes, more than a quarter of %d", r.Line.HiddenBytes, r.AtFlat.HiddenBytes)
			}
		})
	}
}

// TestWhatIf: a fraction that is asked about names the types that it would over-estimate (pytorch/ci-infra#910 runs at
// 0.06, which is too little for eight of these types and enough for the large ones).
func TestWhatIf(t *testing.T) {
	r := recommend(t, Options{}, publicNodes(t, "0.06", false))
	want := []TypeCount{{"c6i.large", 2}, {"c6id.large", 2}, {"c7a.large", 1}, {"inf1.xlarge", 1}, {"m5.large", 1}, {"t3a.medium", 2}}
	if diff := cmp.Diff(want, r.OverEstimatedTypes); diff != "" {
		t.Errorf("over-estimated at 0.06 (-want +got):\n%s", diff)
	}
	large := newFleet("x", "1.14.1", "0.06")
	for _, m := range []machine{
		{typ: "g5.2xlarge", ec2MiB: 32768, capacity: "32499160Ki"},
		{typ: "m7a.4xlarge", ec2MiB: 65536, capacity: "64422252Ki"},
		{typ: "m5.16xlarge", ec2MiB: 262144, capacity: "258340508Ki"},
	} {
		m.arch = "amd64"
		large.add(m)
	}
	if r := recommend(t, Options{}, large); len(r.OverEstimatedTypes) != 0 || r.Current.OverEstimated != 0 {
		t.Errorf("over-estimated at 0.06: %v", r.OverEstimatedTypes)
	}
}

// TestSeveralCapacities: m5.16xlarge comes with two memory sizes, 2.6 GiB apart under one kernel, and the smaller one
// decides; the 4 KiB between identical nodes are none.
func TestSeveralCapacities(t *testing.T) {
	r := recommend(t, Options{}, publicNodes(t, "0.075", true))
	want := []Capacities{
		{"g4dn.xlarge", []CapacitySize{{16095312 << 10, 16095312 << 10, 1}, {16140080 << 10, 16164852 << 10, 4}}},
		{"m5.16xlarge", []CapacitySize{{258340508 << 10, 258340508 << 10, 1}, {261093020 << 10, 261093024 << 10, 3}}},
		{"m5.large", []CapacitySize{{7845568 << 10, 7845568 << 10, 1}, {7951376 << 10, 7951376 << 10, 1}}},
	}
	if diff := cmp.Diff(want, r.SeveralCapacities); diff != "" {
		t.Errorf("several capacities (-want +got):\n%s", diff)
	}
	for _, g := range r.Groups {
		if g.Kind == ByInstanceType && g.Name == "m5.16xlarge" && !g.Inconclusive {
			t.Errorf("four nodes are conclusive for m5.16xlarge: %+v", g)
		}
	}
}

func TestNotes(t *testing.T) {
	claims := func(percent string, memory map[string]string) *fleet {
		f := newFleet("x", "1.1.1", percent)
		for _, m := range []machine{
			{typ: "c6i.large", ec2MiB: 4096, capacity: "3898984Ki"},
			{typ: "m6i.large", ec2MiB: 8192, capacity: "7958128Ki"},
			{typ: "r6i.large", ec2MiB: 16384, capacity: "16098184Ki"},
		} {
			m.arch, m.allocatable, m.claim = "amd64", "3Gi", memory[m.typ]
			f.add(m)
		}
		return f
	}
	// 4096 − ceil(471.04), 8192 − ceil(942.08), 16384 − ceil(1884.16)
	at115 := map[string]string{"c6i.large": "3624Mi", "m6i.large": "7249Mi", "r6i.large": "14499Mi"}
	for _, tt := range []struct {
		name, why string
		fleets    []*fleet
		options   Options
		want      string // part of a note; empty: no such note
		not       string
	}{
		{"implied", "all claims were made at 0.115, nothing says so (#7590)", []*fleet{claims("", at115)}, Options{}, "every predicted NodeClaim (3) fits an overhead of 0.115, not of 0.075", ""},
		{"implied in a narrow gap", "14747Mi is 0.0999 and no other fraction, 0.1 gives 14745Mi", []*fleet{claims("", map[string]string{"r6i.large": "14747Mi"})}, Options{}, "an overhead of 0.0999,", ""},
		{"agreed", "the claims say what is set", []*fleet{claims("0.115", at115)}, Options{}, "", "every predicted"},
		{"no one fraction", "claims of two fractions imply none", []*fleet{claims("", map[string]string{"c6i.large": "3788Mi", "m6i.large": "7249Mi"})}, Options{}, "", "every predicted"},
		{"discovered claims", "a measured claim is no prediction", []*fleet{claims("", map[string]string{"c6i.large": "3898984Ki"})}, Options{}, "1 of 3 sampled nodes", "every predicted"},
		{"before v1.1", "no memory is discovered", []*fleet{newFleetWith("1.0.8", machine{typ: "m5.large", arch: "amd64", ec2MiB: 8192, capacity: "7951376Ki"})}, Options{}, "", "first node"},
		{"two controllers", "a fleet has no one fraction", []*fleet{claims("0.06", nil), newFleetWith("1.14.1", machine{typ: "m5.large", arch: "amd64", ec2MiB: 8192, capacity: "7951376Ki"})}, Options{}, "the controllers differ", ""},
		{"huge pages", "an overhead would pay for a reserve", []*fleet{newFleetWith("1.14.1", machine{typ: "hpc6a.48xlarge", arch: "amd64", ec2MiB: 393216, capacity: "387919608Ki", allocatable: "364800760Ki"})}, Options{Field: compare.Allocatable}, "1 node (hpc6a.48xlarge) need", ""},
		{"no reserve apart", "allocatable that follows from capacity is no surprise", []*fleet{newFleetWith("1.14.1", machine{typ: "m6i.large", arch: "amd64", ec2MiB: 8192, capacity: "7958128Ki", allocatable: "7267952Ki"})}, Options{Field: compare.Allocatable}, "", "need more"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			notes := strings.Join(recommend(t, tt.options, tt.fleets...).Notes, "\n")
			if tt.want != "" && !strings.Contains(notes, tt.want) {
				t.Errorf("no note with %q (%s):\n%s", tt.want, tt.why, notes)
			}
			if tt.not != "" && strings.Contains(notes, tt.not) {
				t.Errorf("a note with %q (%s):\n%s", tt.not, tt.why, notes)
			}
		})
	}
}

func newFleetWith(version string, machines ...machine) *fleet {
	f := newFleet("y", version, "")
	for _, m := range machines {
		f.add(m)
	}
	return f
}

// TestClusters: several clusters are groups of their own, since each has a controller; a single one is not.
func TestClusters(t *testing.T) {
	m := machine{typ: "m5.large", arch: "amd64", ec2MiB: 8192, capacity: "7951376Ki"}
	a, b := newFleet("a", "1.14.1", "0.06"), newFleet("b", "1.14.1", "0.05")
	for range 5 {
		a.add(m)
		b.add(m)
	}
	b.add(machine{typ: "c7a.large", arch: "amd64", ec2MiB: 4096, capacity: "3876460Ki"})
	clusters := func(r *Report) (names []string, flats []float64) {
		for _, g := range r.Groups {
			if g.Kind == ByCluster {
				names, flats = append(names, g.Name), append(flats, *g.Flat)
			}
		}
		return names, flats
	}
	r := recommend(t, Options{}, b, a)
	names, flats := clusters(r)
	if !cmp.Equal(names, []string{"a", "b"}) || !cmp.Equal(flats, []float64{0.0521, 0.0757}) {
		t.Errorf("clusters %v need %v", names, flats)
	}
	if r.Current.Percent != 0.05 || r.Current.OverEstimated != 6 { // b's six nodes; a's five have 427 MiB of 492
		t.Errorf("today is %v with %d over-estimated", r.Current.Percent, r.Current.OverEstimated)
	}
	if names, _ := clusters(recommend(t, Options{}, a)); names != nil {
		t.Errorf("a single cluster is a group: %v", names)
	}
}
