package expect

import (
	"math/big"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// FuzzParseVersion: a release that is read prints as itself, with and without v, and is in order with the bounds.
func FuzzParseVersion(f *testing.F) {
	for _, seed := range []string{"v1.14.1", "1.14.1", "v1.14", "1.0.0-rc.3", "v1.7.3-hash-fix-backport", "0-4f51c3bd", "", "v", "1.2.3.4", "01.002.3", "1.2.3+", "99999.99999.99999", "1.2.3-\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := ParseVersion(text)
		if err != nil {
			if v != (Version{}) {
				t.Fatalf("%q fails and is %v", text, v)
			}
			return
		}
		for _, again := range []string{v.String(), "v" + v.String(), v.String() + "-rc.1", v.String() + "+build"} {
			if w, err := ParseVersion(again); err != nil || w != v {
				t.Fatalf("%q is %v, but %q is %v, %v", text, v, again, w, err)
			}
		}
		if v.Before(v) || v.Before(Version{}) {
			t.Fatalf("%v is before itself or before 0.0.0", v)
		}
		RulesOf(v)
	})
}

// FuzzNodeClass puts anything into every field of a class, a type and the settings. Whatever comes in, a result is
// what its terms add up to in arithmetic that cannot overflow, and what does not fit is an error.
func FuzzNodeClass(f *testing.F) {
	const ordinary = 0b1010
	f.Add(uint64(ordinary), "Bottlerocket", "58", "2", "memory", "0.3Gi", "5%", "100Gi", "/dev/xvdb", int64(0), "efa-only", int64(1), 0.075, int64(8), int64(16384), int64(4), int64(15), int64(600))
	f.Add(^uint64(0), "Windows2022", `"min(110, max_pods)"`, "2147483647", "cpu", "vcpus * 30", "1e2%", "9223372036854775807.5", "", int64(-1), "", int64(1<<63-1), 1e300, int64(1<<31-1), int64(1<<42), int64(1<<31-1), int64(1<<31-1), int64(1<<33))
	f.Add(uint64(0), "", "null", "-2147483648", "hugepages-2Mi", "-9223372036854775808", "0x1p3%", "1e2147483647", "/dev/xvda", int64(0), "efa-only", int64(-1<<63), -1.0, int64(-1), int64(-1<<63), int64(0), int64(0), int64(-1))
	f.Add(uint64(0xffff), "Custom", `"1.0/0.0"`, "1", "pods", "1n", "-0.0001%", "1n", "/dev/sda1", int64(1), "interface", int64(2), 0.07, int64(0), int64(0), int64(0), int64(1), int64(0))
	f.Fuzz(func(t *testing.T, bits uint64, family, maxPods, podsPerCore, key, reserved, signal, size, device string, card int64, kind string, enis int64, percent float64, vcpus, mib, interfaces, ips, disk int64) {
		bit := func() bool {
			on := bits&1 == 1
			bits >>= 1
			return on
		}
		version := releases[bits%uint64(len(releases))].since
		instance := snapshot.InstanceType{
			Name: "trn1.32xlarge", VCPUs: vcpus, MemoryMiB: mib, Architectures: []string{"arm64"},
			ENIs: interfaces, DefaultCardENIs: interfaces, IPv4PerENI: ips, EFAs: interfaces,
			GPUs:                  []snapshot.Device{{Manufacturer: "NVIDIA", Count: interfaces}, {Manufacturer: "NVIDIA", Count: ips}},
			InferenceAccelerators: []snapshot.Device{{Count: ips}},
			Neurons:               []snapshot.Neuron{{Count: interfaces, Cores: ips}},
			Limits:                &snapshot.VPCLimits{IPv4PerENI: ips, Trunking: bit(), BranchInterfaces: interfaces},
		}
		if bit() {
			instance.InstanceStoreGB = &disk
		}
		class := &snapshot.NodeClass{
			Kind: "EC2NodeClass", APIVersion: "karpenter.k8s.aws/v1", AMIFamily: &family,
			BlockDeviceMappings: []snapshot.BlockDeviceMapping{{DeviceName: &device, RootVolume: bit(), EBS: &snapshot.EBS{VolumeSize: &size}}, {DeviceName: &device}},
			NetworkInterfaces:   &[]snapshot.NetworkInterface{{NetworkCardIndex: card, InterfaceType: kind}},
		}
		if bit() {
			class.InstanceStorePolicy = "RAID0"
		}
		if bit() {
			class.AMIFamily, class.Alias = nil, &family
		}
		signals := snapshot.LabelsOf(map[string]string{"memory.available": signal, "nodefs.available": signal})
		entries := snapshot.LabelsOf(map[string]string{key: reserved})
		settings := Settings{Version: version, OverheadPercent: percent, ReservedENIs: enis, NodeOverlay: bit(), NodeClassCEL: bit(), UnlimitedPodDensity: bit(), PodENI: bit()}
		m, err := New(settings, Class{
			NodeClass: class,
			Kubelet: &snapshot.Kubelet{
				MaxPods: jsontext.Value(maxPods), PodsPerCore: jsontext.Value(podsPerCore),
				KubeReserved: entries, SystemReserved: entries, EvictionHard: signals, EvictionSoft: signals,
			},
			Overlays: []snapshot.NodeOverlay{{Name: "a", Weight: card, Capacity: entries}, {Name: "b", Weight: enis, Capacity: entries}},
		})
		if err != nil {
			return
		}
		e, err := m.Expect(&instance)
		if err != nil {
			return
		}
		checkSums(t, e)
		checkProducts(t, &instance, e)
		if e, err := m.ExpectDiscovered(&instance, disk); err == nil {
			checkSums(t, e)
		}
	})
}

// checkProducts works out again, in arithmetic that cannot overflow, the terms that are products.
func checkProducts(t *testing.T, instance *snapshot.InstanceType, e *Expectation) {
	t.Helper()
	for _, p := range []struct {
		resource, label string
		factors         []int64
	}{
		{CPU, "EC2 vCPUs", []int64{instance.VCPUs, 1000}},
		{Memory, "EC2 memory", []int64{instance.MemoryMiB, mib}},
		{Pods, "pod addresses of an interface", []int64{instance.DefaultCardENIs, instance.IPv4PerENI - 1}},
		{NeuronCore, "Neuron cores of EC2", []int64{instance.Neurons[0].Count, instance.Neurons[0].Cores}},
	} {
		r := e.Get(p.resource)
		if r == nil {
			continue
		}
		for _, term := range r.CapacityTerms {
			if term.Label != p.label {
				continue
			}
			if want := new(big.Int).Mul(big.NewInt(p.factors[0]), big.NewInt(p.factors[1])); want.Cmp(big.NewInt(term.Amount.Units)) != 0 {
				t.Errorf("%s is %d, want %v", term.Text(), term.Amount.Units, want)
			}
		}
	}
}
