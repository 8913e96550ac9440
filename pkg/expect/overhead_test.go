package expect

import (
	"fmt"
	"testing"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

func TestReserved(t *testing.T) {
	for _, row := range []struct {
		reason   string
		given    given
		instance snapshot.InstanceType
		want     []string
	}{
		{"a key replaces its own default alone", given{kubelet: `{"kubeReserved":{"memory":"500Mi"}}`}, m5Large(),
			[]string{"memory kube-reserved=500Mi", "cpu kube-reserved=70m", "ephemeral-storage kube-reserved=1Gi", "memory allocatable=6977Mi"}}, // 7577−500−100
		{"0 is a value", given{kubelet: `{"kubeReserved":{"memory":"0","cpu":"0","ephemeral-storage":"0"}}`}, m5Large(),
			[]string{"memory allocatable=7477Mi", "cpu allocatable=2", "ephemeral-storage allocatable=18Gi"}}, // 7577−100; 2; 20−2
		{"a key that capacity does not have vanishes", given{kubelet: `{"kubeReserved":{"pid":"1000"}}`}, m5Large(),
			[]string{"pid capacity=absent", "memory allocatable=6903Mi"}},
		{"any resource that capacity has is lowered, an absent GPU below zero", given{kubelet: `{"kubeReserved":{"pods":"5","nvidia.com/gpu":"1"}}`}, m5Large(),
			[]string{"pods capacity=29", "pods allocatable=24", "nvidia.com/gpu capacity=0", "nvidia.com/gpu allocatable=-1"}}, // 29−5; 0−1
		{"both maps add up", given{kubelet: `{"kubeReserved":{"cpu":"100m"},"systemReserved":{"cpu":"200m","memory":"1Gi"}}`}, m5Large(),
			[]string{"cpu allocatable=1700m", "memory allocatable=5879Mi"}}, // 2000−100−200; 6903−1024
		{"a byte's fraction is kept and rounded up at the end", given{kubelet: `{"systemReserved":{"memory":"0.3Gi"}}`}, m5Large(),
			[]string{"memory allocatable=6916197581"}}, // ⌈6903Mi − 322122547.2⌉
		{"a millicore's fraction too", given{kubelet: `{"kubeReserved":{"cpu":"0.0705"}}`}, m5Large(),
			[]string{"cpu allocatable=1930m"}}, // ⌈2000−70.5⌉
		{"two fractions make a whole", given{kubelet: `{"kubeReserved":{"cpu":"0.0705"},"systemReserved":{"cpu":"500u"}}`}, m5Large(),
			[]string{"cpu allocatable=1929m"}}, // 2000−70.5−0.5
		{"the smallest quantity", given{kubelet: `{"systemReserved":{"memory":"1n"}}`}, m5Large(),
			[]string{"memory allocatable=6903Mi"}}, // ⌈6903Mi − 1e−9⌉
		{"a fraction below zero is rounded up as well", given{kubelet: `{"kubeReserved":{"cpu":"2000.5m"}}`}, m5Large(),
			[]string{"cpu allocatable=0"}}, // ⌈2000−2000.5⌉
		{"RAID0 keeps decimal bytes", given{class: `{"instanceStorePolicy":"RAID0"}`, kubelet: `{"kubeReserved":{"ephemeral-storage":"1G"},"evictionHard":{"nodefs.available":"0%"}}`}, m5d4xlarge(),
			[]string{"ephemeral-storage allocatable=599000000000"}}, // 599·10^9
		{"v0.27.0 fills in what the user's map lacks", given{version: "0.27.0", kubelet: `{"systemReserved":{"memory":"50Mi"}}`}, m5Large(),
			[]string{"memory system-reserved=50Mi", "cpu system-reserved=100m", "ephemeral-storage system-reserved=1Gi"}},
		{"negative, which the CRD refuses", given{kubelet: `{"systemReserved":{"memory":"-1Gi"}}`}, m5Large(),
			[]string{"memory allocatable=7927Mi"}}, // 6903+1024
	} {
		t.Run(row.reason, func(t *testing.T) {
			checkFigures(t, row.given.expect(t, row.instance), row.want...)
		})
	}
}

func TestReservedErrors(t *testing.T) {
	for _, row := range []struct{ reason, kubelet, want string }{
		{"a reserved value", `{"systemReserved":{"memory":"1 Gi"}}`, `systemReserved memory: "1 Gi" is not a quantity`},
		{"also of a key without effect", `{"kubeReserved":{"pid":"many"}}`, `kubeReserved pid: "many" is not a quantity`},
		{"nothing is no quantity", `{"kubeReserved":{"cpu":""}}`, `kubeReserved cpu: "" is not a quantity`},
		{"a decimal exponent, which the CRD lets through", `{"kubeReserved":{"cpu":"1e1.5"}}`, `kubeReserved cpu: "1e1.5" is not a quantity`},
		{"more than 64 bits", `{"systemReserved":{"memory":"1e30"}}`, `systemReserved memory: "1e30": the figures do not fit 64 bits`},
		{"an eviction signal", `{"evictionHard":{"memory.available":""}}`, `evictionHard memory.available: "" is not a quantity`},
		{"a signal that nobody reads", `{"evictionHard":{"imagefs.available":"x","nodefs.inodesFree":"x","pid.available":"x"},"evictionSoft":{"memory.available":"x"}}`, ""},
		{"podsPerCore is a number", `{"podsPerCore":"2"}`, `podsPerCore: "2" is not a 32-bit integer`},
		{"of 32 bits", `{"podsPerCore":2147483648}`, "podsPerCore: 2147483648 is not a 32-bit integer"},
		{"maxPods too", `{"maxPods":-2147483649}`, "maxPods: -2147483649 is not a 32-bit integer"},
		{"and whole", `{"maxPods":58.0}`, "maxPods: 58.0 is not a 32-bit integer"},
		{"null is not set", `{"maxPods":null,"podsPerCore":null}`, ""},
	} {
		// v1.14.1: a release without expressions.
		if got := (given{version: "1.14.1", kubelet: row.kubelet}).failure(t, m5Large()); got != row.want {
			t.Errorf("%s: got %q, want %q", row.reason, got, row.want)
		}
	}
}

func TestEviction(t *testing.T) {
	const soft = "1.8.8"
	for _, row := range []struct {
		reason string
		given  given
		want   []string
	}{
		{"the defaults", given{}, []string{"memory eviction=100Mi", "ephemeral-storage eviction=2Gi"}}, // 20Gi/10
		{"a smaller value replaces a default", given{kubelet: `{"evictionHard":{"memory.available":"50Mi","nodefs.available":"1Gi"}}`},
			[]string{"memory eviction=50Mi", "ephemeral-storage eviction=1Gi", "memory allocatable=6953Mi"}}, // 7577−574−50
		{"a signal of one resource leaves the other's default", given{kubelet: `{"evictionHard":{"memory.available":"1Gi"}}`},
			[]string{"memory eviction=1Gi", "ephemeral-storage eviction=2Gi"}},
		{"signals that Karpenter does not read", given{kubelet: `{"evictionHard":{"imagefs.available":"50%","nodefs.inodesFree":"50%","pid.available":"50%"}}`},
			[]string{"memory eviction=100Mi", "ephemeral-storage eviction=2Gi"}},
		{"100 % is off, not the default", given{kubelet: `{"evictionHard":{"memory.available":"100%"}}`},
			[]string{"memory eviction=0", "memory allocatable=7003Mi"}}, // 7577−574
		{"in any spelling", given{kubelet: `{"evictionHard":{"memory.available":"100.00%","nodefs.available":"1e2%"}}`},
			[]string{"memory eviction=0", "ephemeral-storage eviction=0"}},
		{"0 % is 0", given{kubelet: `{"evictionHard":{"memory.available":"0%","nodefs.available":"0%"}}`},
			[]string{"memory eviction=0", "ephemeral-storage eviction=0"}},
		{"a percentage is rounded up to a byte", given{kubelet: `{"evictionHard":{"memory.available":"5%"}}`},
			[]string{"memory eviction=397253018"}}, // ⌈7577·2^20/100·5⌉ = ⌈397253017.6⌉
		{"% at both ends and doubled", given{kubelet: `{"evictionHard":{"memory.available":"%%5%%"}}`},
			[]string{"memory eviction=397253018"}},
		{"what ParseFloat takes: hexadecimal", given{kubelet: `{"evictionHard":{"memory.available":"0x1p3%"}}`},
			[]string{"memory eviction=635604829"}}, // 8 %: ⌈635604828.16⌉
		{"above 100", given{kubelet: `{"evictionHard":{"memory.available":"150%"}}`},
			[]string{"memory eviction=11638272Ki", "memory allocatable=-4467200Ki"}}, // 1.5·7577Mi; 7577Mi−574Mi−that
		{"below 0", given{kubelet: `{"evictionHard":{"memory.available":"-10%"}}`},
			[]string{"memory eviction=-794506035"}}, // ⌈−794506035.2⌉
		{"a negative quantity raises allocatable", given{kubelet: `{"evictionHard":{"memory.available":"-100Mi"}}`},
			[]string{"memory eviction=-100Mi", "memory allocatable=7103Mi"}}, // 7003+100
		{"soft above hard, where it counts", given{version: soft, kubelet: `{"evictionHard":{"memory.available":"1Gi"},"evictionSoft":{"memory.available":"2Gi"}}`},
			[]string{"memory eviction=2Gi"}},
		{"hard above soft", given{version: soft, kubelet: `{"evictionHard":{"memory.available":"2Gi"},"evictionSoft":{"memory.available":"1Gi"}}`},
			[]string{"memory eviction=2Gi"}},
		{"soft alone", given{version: soft, kubelet: `{"evictionSoft":{"memory.available":"50Mi","nodefs.available":"1Gi"}}`},
			[]string{"memory eviction=50Mi", "ephemeral-storage eviction=1Gi"}},
		{"soft, one of each resource", given{version: soft, kubelet: `{"evictionHard":{"memory.available":"50Mi"},"evictionSoft":{"nodefs.available":"1Gi"}}`},
			[]string{"memory eviction=50Mi", "ephemeral-storage eviction=1Gi"}},
		{"a negative soft value alone stands", given{version: soft, kubelet: `{"evictionSoft":{"memory.available":"-1Mi"}}`},
			[]string{"memory eviction=-1Mi"}},
		{"not on Bottlerocket", given{version: soft, family: "Bottlerocket", kubelet: `{"evictionSoft":{"memory.available":"2Gi"}}`},
			[]string{"memory eviction=100Mi"}},
		{"nor from v1.9.0 on", given{kubelet: `{"evictionSoft":{"memory.available":"2Gi"}}`},
			[]string{"memory eviction=100Mi"}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			checkFigures(t, row.given.expect(t, m5Large()), row.want...)
		})
	}
}

func TestEvictionErrors(t *testing.T) {
	for _, row := range []struct{ reason, text string }{
		{"nothing before the %", "%"},
		{"only %", "%%%"},
		{"space", "5 %"},
		{"infinity", "inf%"},
		{"no number", "nan%"},
		{"beyond a double", "1e999%"},
		{"text", "five%"},
	} {
		got := given{kubelet: `{"evictionHard":{"memory.available":"` + row.text + `"}}`}.failure(t, m5Large())
		if want := fmt.Sprintf("evictionHard memory.available: %q is not a percentage", row.text); got != want {
			t.Errorf("%s: got %q, want %q", row.reason, got, want)
		}
	}
	// A double that does not fit 64 bits is upstream's panic on the type, not on the class.
	got := given{kubelet: `{"evictionHard":{"memory.available":"1e300%"}}`}.failure(t, m5Large())
	if got == "" {
		t.Error("a threshold of 10^307 bytes gives a number")
	}
}

// TestEvictionFloatOrder: the capacity is divided by 100 before it is multiplied, in doubles. At 7.5 and 15 % that is
// one byte above exact arithmetic for some sizes, and never at the other percentages in use.
func TestEvictionFloatOrder(t *testing.T) {
	for _, row := range []struct {
		reason   string
		capacity int64
		percent  float64
		want     int64
	}{
		{"415Gi at 7.5 %: exactly 33420214272", 415 << 30, 7.5, 33420214273}, // 445602856960·0.075
		{"415Gi at 15 %: exactly 66840428544", 415 << 30, 15, 66840428545},   // 445602856960·0.15
		{"415Mi at 7.5 %: exactly 32636928", 415 << 20, 7.5, 32636929},       // 435159040·0.075
		{"805Mi at 15 %: exactly 126615552", 805 << 20, 15, 126615553},       // 844103680·0.15
		{"400Gi at 7.5 % is exact", 400 << 30, 7.5, 32212254720},             // 429496729600·0.075
		{"415Gi at 10 % is exact", 415 << 30, 10, 44560285696},               // 445602856960·0.1
	} {
		got, err := percentOf(row.capacity, row.percent)
		if err != nil || got != whole(row.want) {
			t.Errorf("%s: got %v, %v; want %d", row.reason, got, err, row.want)
		}
	}
	for _, row := range []struct {
		percent float64
		tenths  int64
		above   int
	}{
		{1, 10, 0}, {3, 30, 0}, {5, 50, 0}, {7, 70, 0}, {7.5, 75, 1089}, {10, 100, 0}, {12, 120, 0}, {15, 150, 1089}, {20, 200, 0},
	} {
		above := 0
		for mib := int64(1); mib <= 400_000; mib++ {
			got, err := percentOf(mib<<20, row.percent)
			if err != nil {
				t.Fatal(err)
			}
			switch exact := (mib<<20*row.tenths + 999) / 1000; got.Units {
			case exact:
			case exact + 1:
				above++
			default:
				t.Fatalf("%d MiB at %v %%: %d, exactly %d", mib, row.percent, got.Units, exact)
			}
		}
		if above != row.above {
			t.Errorf("at %v %% %d sizes are a byte above exact arithmetic, want %d", row.percent, above, row.above)
		}
	}
}

// TestPercentBeyondDoubles: above 2^53 bytes upstream prints the double in its shortest form and reads that back, which
// is not the double's own value.
func TestPercentBeyondDoubles(t *testing.T) {
	got, err := percentOf(1<<62, 300)
	if err == nil {
		t.Errorf("three times 2^62 is %v", got)
	}
	got, err = percentOf(1<<62, 50)
	if err != nil {
		t.Fatal(err)
	}
	// 2^61 = 2305843009213693952, whose shortest decimal is 2305843009213694000.
	if want := whole(2305843009213694000); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}
