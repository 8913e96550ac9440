package recommend

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

func TestFlat(t *testing.T) {
	for _, tt := range []struct {
		name, why string
		version   string
		arch      string
		ec2MiB    int64
		capacity  string
		want      float64
	}{
		{"m5.large", "a node of 2023", "1.14.1", "amd64", 8192, "7951376Ki", 0.0521},                                           // 426.98 → 427 MiB; 426/8192 = 0.05200
		{"c7a.large", "the default over-estimates it", "1.14.1", "amd64", 4096, "3876460Ki", 0.0757},                           // 310.39 → 311 MiB; 310/4096 = 0.07568
		{"m6g.large", "the CMA is off before the fraction", "1.14.1", "arm64", 8192, "7921660Ki", 0.0483},                      // 8128 − 7735.996 → 393; 392/8128 = 0.04823
		{"m6g.large before v0.28", "no CMA: the fraction has to make up for it", "0.27.8", "arm64", 8192, "7921660Ki", 0.0557}, // 457; 456/8192 = 0.05566
		{"equal", "expected = actual is no over-estimate", "1.14.1", "amd64", 8192, "7577Mi", 0.075},                           // 615; 614/8192 = 0.07495
		{"a KiB less", "and one KiB decides", "1.14.1", "amd64", 8192, "7758847Ki", 0.0751},                                    // 616; 615/8192 = 0.07507
		{"float", "at 0.07 Karpenter's doubles take 113 MiB of 1600, exact arithmetic 112", "1.14.1", "amd64", 1600, "1487Mi", 0.07},
		{"more than EC2 says", "nothing needs to be taken away", "1.14.1", "amd64", 8192, "8193Mi", 0},
		{"as EC2 says", "not even one MiB", "1.14.1", "amd64", 8192, "8Gi", 0},
		{"bytes", "a fraction of a KiB is one MiB more", "1.14.1", "amd64", 8192, "8589934591", 0.0001}, // 1 MiB; 0/8192 < p
		{"a tenth", "more than the sweep covers", "1.14.1", "amd64", 1024, "938840Ki", 0.1045},          // 107.16 → 108; 107/1024 = 0.10449
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFleet("x", tt.version, "")
			f.add(machine{typ: "type", arch: tt.arch, ec2MiB: tt.ec2MiB, capacity: tt.capacity, allocatable: "1Gi"})
			r := recommend(t, Options{}, f)
			if r.Samples != 1 || r.Flat == nil {
				t.Fatalf("%d samples, excluded %v", r.Samples, r.Excluded)
			}
			if *r.Flat != tt.want {
				t.Errorf("flat is %v, not %v (%s)", *r.Flat, tt.want, tt.why)
			}
		})
	}
}

// TestFlatAllocatable: an eviction threshold in per cent shrinks with the capacity, so the fraction must give more.
func TestFlatAllocatable(t *testing.T) {
	for _, tt := range []struct {
		name, why   string
		eviction    string
		allocatable string
		want        float64
	}{
		// 8192 − o − 574 (11·29 + 255) − 100 ≤ 6903 − 1/1024: o ≥ 616; 615/8192 = 0.07507
		{"default", "100Mi whatever the capacity", "", "7068671Ki", 0.0751},
		// 7945060352 − 794506036 − 601882624 = 6548671692 bytes of 7577 MiB, so o ≥ 615; 614/8192 = 0.07495
		{"10%", "7577Mi − ceil(757.7Mi) − 574Mi is just what the node has", "10%", "6548671692", 0.075},
		// the same less one byte: at most 7576 MiB, so o ≥ 616
		{"10% less a byte", "one byte of a percentage decides as well", "10%", "6548671691", 0.0751},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFleet("x", "1.14.1", "")
			family := "AL2023"
			class := snapshot.NodeClass{Name: "c", Kind: "EC2NodeClass", APIVersion: "karpenter.k8s.aws/v1", AMIFamily: &family}
			if tt.eviction != "" {
				class.Kubelet = &snapshot.Kubelet{EvictionHard: snapshot.Labels{{Key: "memory.available", Value: tt.eviction}}}
			}
			f.NodeClasses = append(f.NodeClasses, class)
			f.add(machine{typ: "m5.large", arch: "amd64", ec2MiB: 8192, class: "EC2NodeClass/c", capacity: "8Gi", allocatable: tt.allocatable})
			r := recommend(t, Options{Field: compare.Allocatable}, f)
			if r.Flat == nil || *r.Flat != tt.want {
				t.Errorf("flat is %v, not %v (%s; excluded %v)", r.Flat, tt.want, tt.why, r.Excluded)
			}
		})
	}
}

// TestLine: the unrounded line through gaps of 300.125 and 400.125 MiB is 200.125 MiB + 100/4096; both nodes then keep
// only what whole MiB cost, 0.875 MiB.
func TestLine(t *testing.T) {
	f := newFleet("x", "1.14.1", "")
	f.add(machine{typ: "a", arch: "amd64", ec2MiB: 4096, capacity: "3886976Ki"})
	f.add(machine{typ: "b", arch: "amd64", ec2MiB: 8192, capacity: "7978880Ki"})
	want := &Line{Mebibytes: 201, Fraction: 0.024414, HiddenBytes: 2 * 896 << 10}
	if diff := cmp.Diff(want, recommend(t, Options{}, f).Line); diff != "" {
		t.Errorf("line (-want +got):\n%s", diff)
	}
}

// TestProperties: on random fleets the flat fraction over-estimates nothing and the next smaller one something, by the
// whole formulas; the line is as safe and never hides more; sums equal the sum of their parts.
func TestProperties(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 60 {
		f := newFleet("x", "1.14.1", "0.06")
		for range 1 + random.IntN(40) {
			typ := random.IntN(12)
			ec2 := int64(1024) << (typ / 2) * int64(1+typ%2*2)
			arch := []string{"amd64", "arm64"}[typ%2]
			real := int64(float64(ec2<<20) * (0.9 + 0.1*random.Float64()))
			f.add(machine{typ: "t" + string(rune('a'+typ)), arch: arch, ec2MiB: ec2, pool: "p" + string(rune('a'+random.IntN(3))), capacity: snapshot.FormatQuantity("memory", real&^1023), allocatable: "1Gi"})
		}
		for _, field := range []compare.Field{compare.Capacity, compare.Allocatable} {
			samples := take(t, f)
			r := Compute(samples, Options{Field: field, MinSamples: 1})
			if r.Samples == 0 {
				t.Fatal("nothing sampled", r.Excluded)
			}
			if over, _ := byFormulas(t, samples, field, *r.Flat); over != 0 {
				t.Errorf("%s: %d nodes over-estimated at %v", field, over, *r.Flat)
			}
			if *r.Flat > 0 {
				if over, _ := byFormulas(t, samples, field, fraction(step(*r.Flat)-1)); over == 0 {
					t.Errorf("%s: no node over-estimated below %v", field, *r.Flat)
				}
			}
			for _, o := range append([]Outcome{*r.Current, *r.AtFlat}, r.Sweep...) {
				if over, hides := byFormulas(t, samples, field, o.Percent); over != o.OverEstimated || hides != o.HiddenBytes {
					t.Errorf("%s at %v: %d over and %d bytes hidden, the formulas say %d and %d", field, o.Percent, o.OverEstimated, o.HiddenBytes, over, hides)
				}
			}
			checkLine(t, samples, field, r)
			checkSums(t, r)
		}
	}
}

func step(flat float64) int { return int(flat*steps + 0.5) }

// byFormulas counts and adds up by whole expectations, one for each node.
func byFormulas(t *testing.T, samples []Sample, field compare.Field, percent float64) (over int, hides int64) {
	t.Helper()
	for i := range samples {
		s := &samples[i]
		e, err := s.curve.model.WithOverheadPercent(percent).Expect(s.curve.instanceType)
		if err != nil {
			t.Fatal(err)
		}
		expected, actual := e.Get(expect.Memory).Capacity.Value, s.Capacity.Value
		if field == compare.Allocatable {
			expected, actual = e.Get(expect.Memory).Allocatable.Value, s.Allocatable.Value
		}
		if expected > actual {
			over++
		}
		hides += max(0, actual-expected)
	}
	return over, hides
}

func checkLine(t *testing.T, samples []Sample, field compare.Field, r *Report) {
	t.Helper()
	var hides int64
	for i := range samples {
		c := samples[i].curve
		share, err := c.MiB(r.Line.Fraction)
		if err != nil {
			t.Fatal(err)
		}
		expected, err := c.expected(field, r.Line.Mebibytes+share)
		if err != nil {
			t.Fatal(err)
		}
		actual := samples[i].figure(field).Value
		if expected > actual {
			t.Errorf("the line %d MiB + %v over-estimates %s by %d bytes", r.Line.Mebibytes, r.Line.Fraction, samples[i].Node, expected-actual)
		}
		hides += actual - expected
	}
	if hides != r.Line.HiddenBytes {
		t.Errorf("the line hides %d bytes, the report says %d", hides, r.Line.HiddenBytes)
	}
	if r.Line.HiddenBytes > r.AtFlat.HiddenBytes {
		t.Errorf("the line hides %d bytes, more than the %d of the flat fraction", r.Line.HiddenBytes, r.AtFlat.HiddenBytes)
	}
}

func checkSums(t *testing.T, r *Report) {
	t.Helper()
	type parts struct {
		samples, over int
		now, flat     int64
	}
	sums := map[GroupKind]parts{}
	largest := map[GroupKind]float64{}
	for _, g := range r.Groups {
		s := sums[g.Kind]
		sums[g.Kind] = parts{s.samples + g.Samples, s.over + g.OverEstimated, s.now + g.HiddenBytes, s.flat + g.HiddenBytesAtFlat}
		if g.Inconclusive { // it may be the one that needs most
			largest[g.Kind] = *r.Flat
		} else {
			largest[g.Kind] = max(largest[g.Kind], *g.Flat)
		}
	}
	want := parts{r.Samples, r.Current.OverEstimated, r.Current.HiddenBytes, r.AtFlat.HiddenBytes}
	for kind, got := range sums {
		if got != want {
			t.Errorf("the groups by %s add up to %v, the fleet is %v", kind, got, want)
		}
		if largest[kind] != *r.Flat {
			t.Errorf("the groups by %s need at most %v, the fleet %v", kind, largest[kind], *r.Flat)
		}
	}
}

// TestOrder: samples in any order give the same bytes.
func TestOrder(t *testing.T) {
	samples := take(t, publicNodes(t, "0.075", false), func() *fleet {
		f := newFleet("other", "1.0.6", "0.06")
		f.add(machine{typ: "m5.large", arch: "amd64", ec2MiB: 8192, capacity: "7951376Ki", allocatable: "7Gi"})
		return f
	}())
	prices := &Prices{PerType: map[string]float64{"m5.large": 0.096, "c7a.large": 0.1}}
	text := func() string {
		b, err := json.Marshal(Compute(samples, Options{Prices: prices}))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	want := text()
	random := rand.New(rand.NewPCG(5, 6))
	for range 10 {
		random.Shuffle(len(samples), func(i, j int) { samples[i], samples[j] = samples[j], samples[i] })
		if diff := cmp.Diff(want, text()); diff != "" {
			t.Fatalf("order changes the report (-sorted +shuffled):\n%s", diff)
		}
	}
}

func TestExcluded(t *testing.T) {
	f := newFleet("x", "1.14.1", "")
	base := machine{typ: "m5.large", arch: "amd64", ec2MiB: 8192, capacity: "7951376Ki", allocatable: "7267952Ki"}
	f.add(base)
	with := func(change func(*machine)) *snapshot.Node {
		m := base
		change(&m)
		return f.add(m)
	}
	with(func(m *machine) { m.typ, m.ec2MiB = "zz9.large", 0 })
	with(func(m *machine) { m.labels = map[string]string{snapshot.LabelInitialized: "false"} })
	with(func(m *machine) { m.labels = map[string]string{snapshot.LabelAutoModeClass: "default"} })
	with(func(m *machine) { m.capacity = "" })
	with(func(m *machine) { m.capacity = "0" })
	with(func(m *machine) { m.capacity = "-1Gi" })
	with(func(m *machine) { m.typ, m.ec2MiB, m.capacity = "m5.4xlarge", 65536, "100Ki" })
	with(func(*machine) {}).Deleting = true
	with(func(*machine) {}).Ready = "False"
	r := recommend(t, Options{}, f)
	want := []Excluded{
		{"the node reports no capacity of memory", 3},
		{"EKS Auto Mode: its NodeClass is another kind, run by AWS", 1},
		{"being deleted", 1},
		{`instance type "zz9.large" is not known`, 1},
		{"no overhead below 1 makes the expectation as small as the node", 1},
		{"not initialized", 1},
		{"not ready: condition Ready is False", 1},
	}
	for i := range r.Excluded { // the gate's own words go on with advice
		for _, w := range want {
			if got := r.Excluded[i].Reason; len(got) > len(w.Reason) && got[:len(w.Reason)] == w.Reason {
				r.Excluded[i].Reason = w.Reason
			}
		}
	}
	if diff := cmp.Diff(want, r.Excluded); diff != "" {
		t.Errorf("excluded (-want +got):\n%s", diff)
	}
	if r.Samples != 1 || r.ExitCode() != gate.ExitOK {
		t.Errorf("%d samples, exit code %d", r.Samples, r.ExitCode())
	}
	i := slices.IndexFunc(r.Groups, func(g Group) bool { return g.Kind == ByInstanceType })
	if g := r.Groups[i]; g.Samples != 1 || g.Nodes != 7 { // all m5.large but the one of Auto Mode
		t.Errorf("the group has %d samples of %d nodes, not 1 of 7", g.Samples, g.Nodes)
	}
}

// TestExcludedForAllocatable: what is not known of the reserve keeps a node out, of allocatable alone.
func TestExcludedForAllocatable(t *testing.T) {
	f := newFleet("x", "1.14.1", "")
	m := machine{typ: "m5.large", arch: "amd64", ec2MiB: 8192, capacity: "7951376Ki", allocatable: "7267952Ki"}
	f.add(m)
	f.add(m).Join.Drifted = true
	m.image = "Bottlerocket OS 1.40.0"
	f.add(m)
	m.image, m.allocatable = "", ""
	f.add(m)
	for field, samples := range map[compare.Field]int{compare.Capacity: 4, compare.Allocatable: 1} {
		if r := recommend(t, Options{Field: field}, f); r.Samples != samples {
			t.Errorf("%s: %d samples, not %d: %v", field, r.Samples, samples, r.Excluded)
		}
	}
}

// TestArch: a node without the label has the architecture of its type.
func TestArch(t *testing.T) {
	f := newFleet("x", "1.14.1", "")
	f.add(machine{typ: "m6g.large", arch: "arm64", ec2MiB: 8192, capacity: "7921660Ki", labels: map[string]string{snapshot.LabelArch: ""}})
	f.add(machine{typ: "m5.large", arch: "amd64", ec2MiB: 8192, capacity: "7951376Ki", labels: map[string]string{snapshot.LabelArch: ""}})
	var got []string
	for _, g := range recommend(t, Options{}, f).Groups {
		if g.Kind == ByArch {
			got = append(got, g.Name)
		}
	}
	if diff := cmp.Diff([]string{"amd64", "arm64"}, got); diff != "" {
		t.Errorf("architectures (-want +got):\n%s", diff)
	}
}

func TestNoSamples(t *testing.T) {
	r := recommend(t, Options{}, newFleet("x", "1.14.1", ""))
	if r.Flat != nil || r.ExitCode() != gate.ExitInconclusive {
		t.Errorf("an empty fleet gets %v, exit code %d", r.Flat, r.ExitCode())
	}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"field":"capacity","samples":0,"flat":null,"line":null,"current":null,"atFlat":null,"sweep":[],"groups":[]}`
	if diff := cmp.Diff(want, string(b)); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}
}

// TestJSON is the shape that scripts read.
func TestJSON(t *testing.T) {
	f := newFleet("x", "1.0.6", "0.05")
	f.add(machine{typ: "m5.large", arch: "amd64", ec2MiB: 8192, capacity: "7951376Ki", allocatable: "7Gi"})
	f.add(machine{typ: "m5.large", arch: "amd64", ec2MiB: 8192, capacity: "7951376Ki", allocatable: "7Gi"})
	price := 0.01
	b, err := json.MarshalIndent(recommend(t, Options{MinSamples: 2, Prices: &Prices{PerGiBHour: &price}}, f), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/report.json", append(b, '\n'))
}

// TestExtremes: figures that only a broken or hostile input has end in a number or an exclusion, not in a panic or in a
// sum that wrapped round.
func TestExtremes(t *testing.T) {
	for _, tt := range []struct {
		name, percent string
		ec2MiB        int64
		capacity      string
		// capacities and allocatables are whether the nodes are sampled for either.
		capacities, allocatables bool
	}{
		{"the largest machine", "0.075", 1 << 42, "4Ei", true, true},
		{"the largest quantity", "0.075", 8192, "9223372036854775807", true, true},
		{"a node of no memory", "0.075", 1 << 20, "1Ki", false, true}, // no fraction below 1 leaves so little of 1 TiB, but the kubelet's reserve does
		{"less memory than the CMA", "0.075", 32, "32Mi", true, true},
		{"a fraction far above 1", "1e30", 8192, "8Gi", false, false}, // the model itself refuses it
		{"a fraction above 1", "7.5", 8192, "8Gi", true, true},
		{"no quantity", "0.075", 8192, "lots", false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFleet("x", "1.14.1", tt.percent)
			for range 4 {
				f.add(machine{typ: "x", arch: "arm64", ec2MiB: tt.ec2MiB, capacity: tt.capacity, allocatable: tt.capacity})
			}
			for field, sampled := range map[compare.Field]bool{compare.Capacity: tt.capacities, compare.Allocatable: tt.allocatables} {
				r := recommend(t, Options{Field: field}, f)
				if want := map[bool]int{true: 4}[sampled]; r.Samples != want {
					t.Fatalf("%s: %d samples, excluded %v", field, r.Samples, r.Excluded)
				}
				for _, o := range r.Sweep {
					if o.HiddenBytes < 0 {
						t.Errorf("%s at %v: %d bytes hidden", field, o.Percent, o.HiddenBytes)
					}
				}
			}
		})
	}
}

// TestMany: a fleet four hundred times as large has the same fraction and line, and hides four hundred times as much.
func TestMany(t *testing.T) {
	const times = 400
	one, many := publicNodes(t, "0.06", false), publicNodes(t, "0.06", false)
	for i := 1; i < times; i++ {
		many.Nodes = append(many.Nodes, one.Nodes...)
	}
	small, large := recommend(t, Options{}, one), recommend(t, Options{}, many)
	if *small.Flat != *large.Flat || small.Line.Mebibytes != large.Line.Mebibytes || small.Line.Fraction != large.Line.Fraction {
		t.Errorf("%v and %+v for one, %v and %+v for many", *small.Flat, *small.Line, *large.Flat, *large.Line)
	}
	if large.Samples != times*small.Samples || large.Current.HiddenBytes != times*small.Current.HiddenBytes || large.Current.OverEstimated != times*small.Current.OverEstimated || large.Line.HiddenBytes != times*small.Line.HiddenBytes {
		t.Errorf("%+v for one, %+v for many", *small.Current, *large.Current)
	}
	if diff := cmp.Diff(small.Needs, large.Needs); diff != "" {
		t.Errorf("needs (-one +many):\n%s", diff)
	}
}
