package compare

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// TestDocumented is what each start-up keeps of a node, m5.large with 8Gi, 2 cpus, 20Gi and 29 pods unless said.
func TestDocumented(t *testing.T) {
	reserved := func(pairs ...string) *snapshot.Kubelet { return &snapshot.Kubelet{KubeReserved: labels(pairs...)} }
	evicts := func(pairs ...string) *snapshot.Kubelet { return &snapshot.Kubelet{EvictionHard: labels(pairs...)} }
	for _, c := range []struct {
		name, reason string
		family       string
		image        string
		kubelet      *snapshot.Kubelet
		reserved     int64
		pods         string
		resource     string
		want         int64
	}{
		{"AL2023", "the formula of nodeadm", "AL2023", "", nil, 0, "29", expect.Memory, 674 * mib},                                                               // 11·29 + 255 + 100
		{"AL2023, max pods", "nodeadm reserves for the ENI-limited pods whatever the user's maxPods are", "AL2023", "", nil, 0, "110", expect.Memory, 674 * mib}, // not 11·110 + 355
		{"AL2023, reserved ENIs", "nodeadm knows of no reserved ENIs", "AL2023", "", nil, 1, "20", expect.Memory, 674 * mib},
		{"AL2023, merged", "a drop-in file replaces one key", "AL2023", "", reserved("memory", "1Gi"), 0, "29", expect.CPU, 70},
		{"AL2023, own key", "and that one is the user's", "AL2023", "", reserved("memory", "1Gi"), 0, "29", expect.Memory, 1124 * mib},
		{"AL2023, eviction merged", "nodefs keeps its default beside the user's memory", "AL2023", "", evicts("memory.available", "5%"), 0, "29", expect.EphemeralStorage, gib + 2147483680}, // 20Gi · float32(0.1)
		{"AL2, replaced", "a flag replaces the map, so cpu is not reserved", "AL2", "", reserved("memory", "1Gi"), 0, "29", expect.CPU, 0},
		{"AL2, eviction replaced", "and neither is nodefs", "AL2", "", evicts("memory.available", "5%"), 0, "29", expect.EphemeralStorage, gib},
		{"Ubuntu, replaced", "as on AL2", "AL2", "Ubuntu 22.04.5 LTS", reserved("memory", "1Gi"), 0, "29", expect.EphemeralStorage, 2147483680},
		{"Bottlerocket", "it reserves for the max pods that are configured", "Bottlerocket", "", nil, 0, "110", expect.Memory, 1565 * mib}, // 11·110 + 255 + 100
		{"Bottlerocket, merged", "each reserved key has a default of its own", "Bottlerocket", "", reserved("cpu", "1"), 0, "29", expect.Memory, 674 * mib},
		{"Bottlerocket, eviction replaced", "signals that are not configured are off", "Bottlerocket", "", evicts("memory.available", "5%"), 0, "29", expect.EphemeralStorage, gib},
		{"Windows", "newer kubelets evict below 500Mi, and nothing is reserved by default", "Windows2022", "", nil, 0, "110", expect.Memory, 500 * mib},
		{"Custom", "spec.kubelet reaches no Custom node", "Custom", "Amazon Linux 2023.7", reserved("memory", "1Gi"), 0, "29", expect.Memory, 674 * mib},
		{"Custom on Bottlerocket", "the image decides what starts it", "Custom", "Bottlerocket OS 1.40.0", nil, 0, "110", expect.Memory, 1565 * mib},
		{"percentage", "the kubelet takes 5 % as a 32-bit fraction and truncates", "AL2023", "", evicts("memory.available", "5%"), 0, "29", expect.Memory, 574*mib + 429496736}, // 8Gi · float32(0.05)
		{"0%", "turns the signal off", "AL2023", "", evicts("memory.available", "0%"), 0, "29", expect.Memory, 574 * mib},
		{"100%", "turns the signal off", "AL2023", "", evicts("memory.available", "100%"), 0, "29", expect.Memory, 574 * mib},
		{"soft", "soft thresholds are never reserved", "AL2023", "", &snapshot.Kubelet{EvictionSoft: labels("memory.available", "2Gi")}, 0, "29", expect.Memory, 674 * mib},
		{"system", "system-reserved is added", "AL2023", "", &snapshot.Kubelet{SystemReserved: labels("memory", "300Mi")}, 0, "29", expect.Memory, 974 * mib},
		{"system cpus", "a list of cpus replaces kube-reserved cpu", "AL2023", "", &snapshot.Kubelet{ReservedSystemCPUs: "0"}, 0, "29", expect.CPU, 1000},
		{"merged defaults", "mergeDefaultEvictionSettings keeps the other signals", "Bottlerocket", "", &snapshot.Kubelet{EvictionHard: labels("memory.available", "5%"), MergeDefaultEvictionSettings: true}, 0, "29", expect.EphemeralStorage, gib + 2147483680},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := scene{family: c.family, image: c.image, kubelet: c.kubelet, reserved: c.reserved, instance: "m5.large", capacity: amounts("pods", c.pods)}.subject(t)
			capacity := map[string]int64{expect.Memory: 8 * gib, expect.CPU: 2000, expect.EphemeralStorage: 20 * gib}[c.resource]
			if got := nodeSideOf(&s).documented(c.resource, capacity); got.total() != c.want {
				t.Errorf("%s: keeps %d, not %d: %+v", c.reason, got.total(), c.want, got)
			}
		})
	}
}

// TestExpressionReachesTheNode: Karpenter works an expression out and hands the node its value; with the gate off it
// drops the entry, and the default counts.
func TestExpressionReachesTheNode(t *testing.T) {
	for _, c := range []struct {
		gate bool
		want int64
	}{{true, 208 * mib}, {false, 574 * mib}} { // 2 · 100, rounded up to a multiple of 16
		s := scene{version: "1.15.2", cel: c.gate, kubelet: &snapshot.Kubelet{KubeReserved: labels("memory", "vcpus * 100")}, instance: "m5.large"}.subject(t)
		if got := nodeSideOf(&s).documented(expect.Memory, 8*gib); got.kube != c.want {
			t.Errorf("gate %v: the node keeps %d for the kubelet, not %d", c.gate, got.kube, c.want)
		}
	}
}

// TestPercentKept are thresholds that public kubelets had: their capacity less their 1Gi less their allocatable.
func TestPercentKept(t *testing.T) {
	for _, c := range []struct{ capacity, allocatable int64 }{
		{104779756 * kib, 95491281146}, // #7989
		{20959212 * kib, 18242267924},
		{20893676 * kib, 18181869946},
		{439107072 * kib, 403607335062},
	} {
		if got := percentKept(c.capacity, 10); got != c.capacity-gib-c.allocatable {
			t.Errorf("10 %% of %d is kept as %d, not %d", c.capacity, got, c.capacity-gib-c.allocatable)
		}
	}
}

// TestCPUBands: the scripts' integer bands are Karpenter's truncated doubles, for every number of cores.
func TestCPUBands(t *testing.T) {
	for _, c := range []struct{ cores, want int64 }{{1, 60}, {2, 70}, {3, 75}, {4, 80}, {5, 82}, {8, 90}, {16, 110}, {96, 310}, {192, 550}} {
		if got := cpuBands(c.cores * 1000); got != c.want {
			t.Errorf("%d cores keep %dm, not %dm", c.cores, got, c.want)
		}
	}
	for cores := int64(1); cores <= 1024; cores++ {
		s := scene{instance: "m5.large", edit: func(i *snapshot.InstanceType) { i.VCPUs = cores }, kubelet: &snapshot.Kubelet{MaxPods: jsontext.Value("1")}}.subject(t)
		if got, want := cpuBands(cores*1000), total(s.Expect.Get(expect.CPU).KubeReserved); got != want {
			t.Fatalf("%d cores keep %dm on the node, Karpenter expects %dm", cores, got, want)
		}
	}
}

func TestCPUsIn(t *testing.T) {
	for list, want := range map[string]int64{"0": 1, "0-3": 4, "0-1, 4,6-7": 5, "3-1": 0, "x": 0, "": 0} {
		if got := cpusIn(list); got != want {
			t.Errorf("%q has %d cpus, not %d", list, got, want)
		}
	}
}

// TestFraction: the overhead that is implied is the smallest of four decimals, by Karpenter's own rounding.
func TestFraction(t *testing.T) {
	for _, c := range []struct {
		keeps, machine int64
		want           float64
	}{
		{317844 * kib, 4 * gib, 0.0757}, // 310.4Mi: 4096 · 0.0757 = 310.07, which Karpenter makes 311
		{0, 4 * gib, 0},
		{1, 4 * gib, 0.0001},
		{1, 0, 0},
	} {
		if got := fraction(c.keeps, c.machine); got != c.want {
			t.Errorf("%d of %d is a fraction of %v, not %v", c.keeps, c.machine, got, c.want)
		}
	}
}
