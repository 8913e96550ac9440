package expect

import (
	"fmt"
	"math"
	"testing"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

func TestMemory(t *testing.T) {
	type architectures = []string
	x86, arm := architectures{"x86_64"}, architectures{"arm64"}
	for _, row := range []struct {
		reason        string
		version       string
		mib           int64
		architectures architectures
		percent       float64
		want          int64 // MiB
	}{
		{"the default overhead is rounded up to a whole MiB", "", 8192, x86, 0.075, 7577},                // 8192−⌈614.4⌉
		{"no overhead", "", 8192, x86, 0, 8192},                                                          // 8192−0
		{"a whole overhead is not rounded", "", 1000, x86, 0.1, 900},                                     // 1000−100
		{"0.07 of 1600 is 112, and 113 as doubles", "", 1600, x86, 0.07, 1487},                           // 1600−113
		{"0.07 of 8192 is 573.44 either way", "", 8192, x86, 0.07, 7618},                                 // 8192−⌈573.44⌉
		{"the percentage is of what the CMA leaves", "", 2048, arm, 0.075, 1835},                         // 2048−64−⌈148.8⌉
		{"no CMA before v0.28.0", "0.27.8", 2048, arm, 0.075, 1894},                                      // 2048−⌈153.6⌉
		{"the first architecture decides: x86", "", 2048, architectures{"x86_64", "arm64"}, 0.075, 1894}, // 2048−154
		{"the first architecture decides: arm", "", 2048, architectures{"arm64", "x86_64"}, 0.075, 1835}, // 1984−149
		{"i386 before x86_64", "", 2048, architectures{"i386", "x86_64"}, 0.075, 1894},                   // 2048−154
		{"mac is not arm64", "", 16384, architectures{"arm64_mac"}, 0.075, 15155},                        // 16384−⌈1228.8⌉
		{"no architecture at all", "", 2048, nil, 0.075, 1894},                                           // 2048−154
		{"the percentage is a fraction: 7.5 takes 7.5 times the memory", "", 8192, x86, 7.5, -53248},     // 8192−61440
		{"all of it", "", 8192, x86, 1, 0},                                                               // 8192−8192
		{"less than the CMA", "", 32, arm, 0.075, -30},                                                   // 32−64−⌈−2.4⌉
		{"nothing", "", 0, x86, 0.075, 0},                                                                // 0
		{"24 TiB", "", 25165824, x86, 0.075, 23278387},                                                   // 25165824−⌈1887436.8⌉
	} {
		t.Run(row.reason, func(t *testing.T) {
			instance := snapshot.InstanceType{Name: "x", MemoryMiB: row.mib, Architectures: row.architectures}
			e := given{version: row.version, settings: overhead(row.percent)}.expect(t, instance)
			if got := e.Get(Memory).Capacity.Value; got != row.want<<20 {
				t.Errorf("got %d MiB and %d bytes, want %d MiB", got>>20, got&(1<<20-1), row.want)
			}
		})
	}
}

// TestMemoryFloatOrder compares the doubles with exact arithmetic over every multiple of 64 MiB up to 2,000,000. The
// counts are Karpenter's own: a "cleaner" formula would fail here.
func TestMemoryFloatOrder(t *testing.T) {
	for _, row := range []struct {
		percent                float64
		numerator, denominator int64
		above                  int
	}{
		{0.02, 2, 100, 0}, {0.03, 3, 100, 0}, {0.05, 5, 100, 0}, {0.06, 6, 100, 0},
		{0.07, 7, 100, 977},
		{0.075, 75, 1000, 0}, {0.1, 10, 100, 0}, {0.115, 115, 1000, 0}, {0.2, 20, 100, 0},
	} {
		t.Run(fmt.Sprint(row.percent), func(t *testing.T) {
			m, err := given{settings: overhead(row.percent)}.model(t)
			if err != nil {
				t.Fatal(err)
			}
			above := 0
			for size := int64(256); size <= 2_000_000; size += 64 {
				c := calculation{Model: m, instance: &snapshot.InstanceType{MemoryMiB: size}}
				sum, err := c.memory()
				if err != nil {
					t.Fatal(err)
				}
				exact := size - (size*row.numerator+row.denominator-1)/row.denominator
				switch got := sumOf(t, sum) >> 20; got {
				case exact:
				case exact - 1:
					above++
				default:
					t.Fatalf("%d MiB give %d, exactly %d", size, got, exact)
				}
			}
			if above != row.above {
				t.Errorf("the overhead is above exact arithmetic for %d sizes, want %d", above, row.above)
			}
		})
	}
}

func TestMemoryOverflow(t *testing.T) {
	instance := snapshot.InstanceType{Name: "x", MemoryMiB: 1 << 42}
	if got := (given{settings: overhead(1)}).failure(t, instance); got != "" {
		t.Errorf("the largest memory fails: %s", got)
	}
	want := "memory of x at overhead 1.5: the figures do not fit 64 bits"
	if got := (given{settings: overhead(1.5)}).failure(t, instance); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := (given{settings: overhead(math.MaxFloat64)}).failure(t, m5Large()); got == "" {
		t.Error("an overhead without end gives a number")
	}
}

// TestDiscoveredMemory: the capacity that a node showed replaces the formula's, and nothing else.
func TestDiscoveredMemory(t *testing.T) {
	const seen = 7760908 << 10 // KiB, as a kubelet reports it
	for _, row := range []struct {
		reason string
		given  given
		want   []string
	}{
		{"allocatable follows", given{}, []string{
			"memory capacity=7760908Ki", "memory kube-reserved=574Mi", "memory eviction=100Mi", "memory allocatable=7070732Ki",
			"cpu capacity=2", "ephemeral-storage capacity=20Gi", "pods capacity=29", // 7760908−(574+100)·1024
		}},
		{"a percentage keeps the predicted base (#9455)", given{kubelet: `{"evictionHard":{"memory.available":"5%"}}`}, []string{
			"memory eviction=397253018", "memory allocatable=6948034150", // ⌈7577Mi/100·5⌉; 7760908Ki−574Mi−397253018
		}},
		{"before v1.1.0 nothing is discovered", given{version: "1.0.14"}, []string{"memory capacity=7577Mi"}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			m, err := row.given.model(t)
			if err != nil {
				t.Fatal(err)
			}
			instance := m5Large()
			e, err := m.ExpectDiscovered(&instance, seen)
			if err != nil {
				t.Fatal(err)
			}
			checkFigures(t, e, row.want...)
		})
	}
}
