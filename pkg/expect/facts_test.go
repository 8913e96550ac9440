package expect

import (
	"math"
	"testing"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// TestFactsOutOfRange: a figure in a file that EC2 could not have given is an error, whatever a formula would make of it.
func TestFactsOutOfRange(t *testing.T) {
	const where = ": look at the file that it comes from"
	large := int64(math.MaxInt64)
	disk, negative := int64(1<<33+1), int64(-1)
	for _, row := range []struct {
		reason string
		change func(*snapshot.InstanceType)
		want   string
	}{
		{"vCPUs", func(i *snapshot.InstanceType) { i.VCPUs = large }, "9223372036854775807 vCPUs, which is not between 0 and 2147483647"},
		{"negative vCPUs", func(i *snapshot.InstanceType) { i.VCPUs = -1 }, "-1 vCPUs, which is not between 0 and 2147483647"},
		{"memory", func(i *snapshot.InstanceType) { i.MemoryMiB = 1<<42 + 1 }, "4398046511105 MiB of memory, which is not between 0 and 4398046511104"},
		{"interfaces", func(i *snapshot.InstanceType) { i.ENIs = large }, "9223372036854775807 network interfaces, which is not between 0 and 2147483647"},
		{"interfaces of the default card", func(i *snapshot.InstanceType) { i.DefaultCardENIs = math.MinInt64 }, "-9223372036854775808 network interfaces of the default card, which is not between 0 and 2147483647"},
		{"addresses", func(i *snapshot.InstanceType) { i.IPv4PerENI = large }, "9223372036854775807 IPv4 addresses of an interface, which is not between 0 and 2147483647"},
		{"EFAs", func(i *snapshot.InstanceType) { i.EFAs = -5 }, "-5 EFA interfaces, which is not between 0 and 2147483647"},
		{"disks", func(i *snapshot.InstanceType) { i.InstanceStoreGB = &disk }, "8589934593 GB of instance store, which is not between 0 and 8589934592"},
		{"negative disks", func(i *snapshot.InstanceType) { i.InstanceStoreGB = &negative }, "-1 GB of instance store, which is not between 0 and 8589934592"},
		{"table addresses", func(i *snapshot.InstanceType) { i.Limits = &snapshot.VPCLimits{IPv4PerENI: math.MinInt64} }, "-9223372036854775808 IPv4 addresses in the VPC limits table, which is not between 0 and 2147483647"},
		{"branch interfaces", func(i *snapshot.InstanceType) { i.Limits = &snapshot.VPCLimits{BranchInterfaces: large} }, "9223372036854775807 branch interfaces in the VPC limits table, which is not between 0 and 2147483647"},
		{"GPUs", func(i *snapshot.InstanceType) { i.GPUs = []snapshot.Device{{Manufacturer: "NVIDIA", Count: large}} }, "9223372036854775807 accelerators, which is not between 0 and 2147483647"},
		{"accelerators", func(i *snapshot.InstanceType) { i.InferenceAccelerators = []snapshot.Device{{Count: -1}} }, "-1 accelerators, which is not between 0 and 2147483647"},
		{"Neuron devices", func(i *snapshot.InstanceType) { i.Neurons = []snapshot.Neuron{{Count: 1 << 40, Cores: 1}} }, "1099511627776 Neuron devices, which is not between 0 and 2147483647"},
		{"Neuron cores", func(i *snapshot.InstanceType) { i.Neurons = []snapshot.Neuron{{Count: 1, Cores: 1 << 40}} }, "1099511627776 cores of a Neuron device, which is not between 0 and 2147483647"},
	} {
		instance := m5Large()
		row.change(&instance)
		if got, want := (given{}).failure(t, instance), `instance type "m5.large" has `+row.want+where; got != want {
			t.Errorf("%s:\n got %s\nwant %s", row.reason, got, want)
		}
	}
}

// TestLargestFacts: the largest facts that are let in give exact figures or an error, in every formula.
func TestLargestFacts(t *testing.T) {
	disk := int64(largestDisk)
	largest := snapshot.InstanceType{
		Name: "x", VCPUs: largestCount, MemoryMiB: largestMemory, Architectures: []string{"x86_64"}, InstanceStoreGB: &disk,
		ENIs: largestCount, DefaultCardENIs: largestCount, IPv4PerENI: largestCount, EFAs: largestCount,
		GPUs:    []snapshot.Device{{Manufacturer: "NVIDIA", Count: largestCount}, {Manufacturer: "NVIDIA", Count: largestCount}},
		Neurons: []snapshot.Neuron{{Count: largestCount, Cores: largestCount}},
		Limits:  &snapshot.VPCLimits{IPv4PerENI: largestCount, Trunking: true, BranchInterfaces: largestCount},
	}
	const kubeReserved = `"kubeReserved":{"memory":"1Gi"}`
	e := given{class: `{"instanceStorePolicy":"RAID0"}`, kubelet: `{` + kubeReserved + `,"podsPerCore":2147483647,"evictionHard":{"memory.available":"1Gi"}}`, settings: overhead(0.5)}.expect(t, largest)
	checkFigures(t, e,
		"cpu capacity=2147483647",
		"memory capacity=2Ei",                                    // 2^42·2^20/2
		"ephemeral-storage capacity=7812500Ti",                   // 2^33·10^9
		"pods capacity=4611686011984936964",                      // min((2^31−1)·(2^31−2)+2, (2^31−1)^2)
		"nvidia.com/gpu capacity=4294967294",                     // 2·(2^31−1)
		"aws.amazon.com/neuroncore capacity=4611686014132420609", // (2^31−1)^2
		"vpc.amazonaws.com/pod-eni capacity=2147483647",
	)
	e = given{kubelet: `{` + kubeReserved + `,"maxPods":2147483647,"podsPerCore":2147483647}`}.expect(t, largest)
	checkFigures(t, e, "pods capacity=2147483647")
	want := "memory of x: kube-reserved memory for 4611686011984936964 pods: the figures do not fit 64 bits" // (2^31−1)·(2^31−2)+2
	if got := (given{}).failure(t, largest); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	checkFigures(t, given{family: "Bottlerocket", kubelet: `{"maxPods":2147483647}`}.expect(t, m5Large()), "memory kube-reserved=23622320372Mi")   // 11·(2^31−1)+255
	checkFigures(t, given{family: "Bottlerocket", kubelet: `{"maxPods":-2147483648}`}.expect(t, m5Large()), "memory kube-reserved=-23622319873Mi") // −11·2^31+255
}
