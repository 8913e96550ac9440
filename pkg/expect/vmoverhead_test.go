package expect

import (
	"math/rand/v2"
	"testing"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// TestVMOverhead holds the short way to memory against the whole formulas, at fractions of every kind.
func TestVMOverhead(t *testing.T) {
	for _, tt := range []struct {
		name, why string
		settings  Settings
		family    string
		kubelet   *snapshot.Kubelet
		overlays  []snapshot.NodeOverlay
	}{
		{name: "defaults", why: "100Mi is evicted whatever the capacity is", settings: Settings{Version: Newest}, family: "AL2023"},
		{name: "no Graviton CMA", why: "v0.27 takes the overhead of all memory", settings: Settings{Version: Version{0, 27, 3}}, family: "AL2"},
		{name: "eviction in per cent", why: "the threshold follows the capacity", settings: Settings{Version: Newest}, family: "AL2023",
			kubelet: &snapshot.Kubelet{EvictionHard: snapshot.Labels{{Key: "memory.available", Value: "7.5%"}}}},
		{name: "soft above hard", why: "v1.8 takes the larger, which may change with the capacity", settings: Settings{Version: Version{1, 8, 8}}, family: "AL2",
			kubelet: &snapshot.Kubelet{
				EvictionHard: snapshot.Labels{{Key: "memory.available", Value: "500Mi"}},
				EvictionSoft: snapshot.Labels{{Key: "memory.available", Value: "5%"}},
			}},
		{name: "reserved by the user", why: "fractions of a byte are kept to the end", settings: Settings{Version: Newest}, family: "Bottlerocket",
			kubelet: &snapshot.Kubelet{
				KubeReserved:   snapshot.Labels{{Key: "memory", Value: "1.5"}},
				SystemReserved: snapshot.Labels{{Key: "memory", Value: "0.75"}},
			}},
		{name: "huge pages", why: "what is left is raised to 0", settings: Settings{Version: Newest, NodeOverlay: true}, family: "AL2023",
			overlays: []snapshot.NodeOverlay{{Name: "pages", Capacity: snapshot.Labels{{Key: "hugepages-1Gi", Value: "4Gi"}, {Key: "hugepages-2Mi", Value: "512Mi"}}}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := New(tt.settings, Class{Family: FamilyNamed(tt.family, tt.settings.Version), Kubelet: tt.kubelet, Overlays: tt.overlays})
			if err != nil {
				t.Fatal(err)
			}
			random := rand.New(rand.NewPCG(1, 2))
			for range 200 {
				it := &snapshot.InstanceType{Name: "x", VCPUs: 2, MemoryMiB: 512 + random.Int64N(1<<20), Architectures: []string{"x86_64"}, ENIs: 3, DefaultCardENIs: 3, IPv4PerENI: 10}
				if random.IntN(2) == 0 {
					it.Architectures[0] = "arm64"
				}
				e, err := m.Expect(it)
				if err != nil {
					t.Fatal(err)
				}
				v, err := m.VMOverhead(it, e)
				if err != nil {
					t.Fatal(err)
				}
				if v.Unknown() != "" {
					t.Fatalf("allocatable is unknown: %s", v.Unknown())
				}
				for _, percent := range []float64{0, 0.07, 0.075, 0.115, float64(random.IntN(10000)) / 10000, random.Float64(), 1.5} {
					whole, err := m.WithOverheadPercent(percent).Expect(it)
					if err != nil {
						t.Fatal(err)
					}
					mib, err := v.MiB(percent)
					if err != nil {
						t.Fatal(err)
					}
					allocatable, err := v.Allocatable(mib)
					if err != nil {
						t.Fatal(err)
					}
					memory := whole.Get(Memory)
					if v.Capacity(mib) != memory.Capacity.Value || allocatable != memory.Allocatable.Value {
						t.Fatalf("%d MiB %s at %v: %d and %d, the whole formulas say %d and %d (%s)",
							it.MemoryMiB, it.Architectures[0], percent, v.Capacity(mib), allocatable, memory.Capacity.Value, memory.Allocatable.Value, tt.why)
					}
				}
			}
		})
	}
}

// TestVMOverheadUnknown: without the interfaces the kubelet's reserve is not known, and neither is allocatable.
func TestVMOverheadUnknown(t *testing.T) {
	m, err := New(Settings{Version: Newest}, Class{Family: FamilyNamed("AL2023", Newest)})
	if err != nil {
		t.Fatal(err)
	}
	it := &snapshot.InstanceType{Name: "m5.large", VCPUs: 2, MemoryMiB: 8192, Architectures: []string{"x86_64"}, Missing: []snapshot.Fact{snapshot.FactNetwork}}
	e, err := m.Expect(it)
	if err != nil {
		t.Fatal(err)
	}
	v, err := m.VMOverhead(it, e)
	if err != nil {
		t.Fatal(err)
	}
	if v.Unknown() == "" {
		t.Error("allocatable is known although the interfaces are not")
	}
	if mib, err := v.MiB(0.075); err != nil || v.Capacity(mib) != 7577<<20 { // 8192 − ceil(614.4)
		t.Errorf("capacity is %d (%v), not 7577Mi", v.Capacity(mib), err)
	}
}
