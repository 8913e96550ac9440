package expect

import (
	"testing"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

func TestCPU(t *testing.T) {
	for _, row := range []struct {
		reason string
		vcpus  int64
		want   []string
	}{
		{"one core", 1, []string{"cpu capacity=1", "cpu kube-reserved=60m", "cpu allocatable=940m"}},                     // 60
		{"two", 2, []string{"cpu capacity=2", "cpu kube-reserved=70m", "cpu allocatable=1930m"}},                         // 60+10
		{"three: half of the third band", 3, []string{"cpu kube-reserved=75m", "cpu allocatable=2925m"}},                 // 60+10+5
		{"four", 4, []string{"cpu kube-reserved=80m", "cpu allocatable=3920m"}},                                          // 60+10+10
		{"five: 2.5 is cut to 2 before it is added", 5, []string{"cpu kube-reserved=82m", "cpu allocatable=4918m"}},      // 80+int(2.5)
		{"eight", 8, []string{"cpu kube-reserved=90m", "cpu allocatable=7910m"}},                                         // 80+10
		{"96", 96, []string{"cpu kube-reserved=310m", "cpu allocatable=95690m"}},                                         // 80+230
		{"192", 192, []string{"cpu kube-reserved=550m", "cpu allocatable=191450m"}},                                      // 80+470
		{"none", 0, []string{"cpu capacity=0", "cpu kube-reserved=0", "cpu allocatable=0"}},                              // 0
		{"beyond the last band's end", 3_000_000, []string{"cpu kube-reserved=5368779m", "cpu allocatable=2994631221m"}}, // 80+int((2^31−4000)·0.0025)
	} {
		t.Run(row.reason, func(t *testing.T) {
			checkFigures(t, given{}.expect(t, snapshot.InstanceType{Name: "x", VCPUs: row.vcpus}), row.want...)
		})
	}
}

// TestKubeReservedCPUIsTheNodes compares the doubles with the integer arithmetic of the AMIs' start-up scripts, in
// ten-thousandths: the expectation and the node must agree on every size.
func TestKubeReservedCPUIsTheNodes(t *testing.T) {
	script := func(millicores int64) (sum int64) {
		for _, band := range []struct{ from, to, share int64 }{{0, 1000, 600}, {1000, 2000, 100}, {2000, 4000, 50}, {4000, 1 << 40, 25}} {
			if millicores > band.from {
				sum += (min(millicores, band.to) - band.from) * band.share / 10000
			}
		}
		return sum
	}
	for vcpus := int64(1); vcpus <= 4096; vcpus++ {
		c := calculation{instance: &snapshot.InstanceType{VCPUs: vcpus}}
		if got, want := sumOf(t, c.kubeReservedCPU()), script(vcpus*1000); got != want {
			t.Errorf("%d vCPUs: %dm, the node reserves %dm", vcpus, got, want)
		}
	}
}
