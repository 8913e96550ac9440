package expect

import (
	"testing"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// benchmarkTypes are types of all kinds.
func benchmarkTypes() []snapshot.InstanceType {
	return []snapshot.InstanceType{
		a1Medium(), c52xlarge(), m5Large(), m5Xlarge(), m6gXlarge(), t3Nano(), t4gSmall(), r6a12xlarge(),
		m7iMetal24xl(), m5d4xlarge(), p4d24xlarge(), p548xlarge(), trn132xlarge(), inf124xlarge(),
	}
}

var benchmarkClasses = []struct {
	name  string
	given given
}{
	{"defaults", given{family: "AL2023"}},
	{"settings", given{family: "Bottlerocket", kubelet: mixedSettings, class: twoInterfaces}},
	{"overlay", given{family: "AL2023", settings: overlayGate, overlays: []snapshot.NodeOverlay{capacityOf("a", 0, "hugepages-2Mi=1Gi", "example.com/x=1")}}},
	{"cel", given{family: "AL2023", settings: celGate, kubelet: `{"maxPods":"min(110, default_enis * ips_per_eni)","kubeReserved":{"memory":"11 * max_pods + 255"}}`}},
}

// BenchmarkExpect is one expectation of a model that is reused over many types.
func BenchmarkExpect(b *testing.B) {
	for _, row := range benchmarkClasses {
		b.Run(row.name, func(b *testing.B) {
			m, err := row.given.model(b)
			if err != nil {
				b.Fatal(err)
			}
			types := benchmarkTypes()
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := m.Expect(&types[i%len(types)]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestExpectAllocations: a fleet has hundreds of types and a what-if sweep asks for all of them many times.
func TestExpectAllocations(t *testing.T) {
	most := map[string]float64{"defaults": 4, "settings": 4, "overlay": 10, "cel": 32}
	for _, row := range benchmarkClasses {
		m, err := row.given.model(t)
		if err != nil {
			t.Fatal(err)
		}
		instance := p4d24xlarge()
		got := testing.AllocsPerRun(100, func() {
			if _, err := m.Expect(&instance); err != nil {
				t.Error(err)
			}
		})
		if got > most[row.name] {
			t.Errorf("%s: %v allocations of one expectation, want at most %v", row.name, got, most[row.name])
		}
	}
}
