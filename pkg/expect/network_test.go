package expect

import (
	"testing"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

func TestPodENIs(t *testing.T) {
	untrunked := withLimits(m5Large(), 9)
	untrunked.Limits.Trunking = false
	pod := func(s *Settings) { s.PodENI = true }
	for _, row := range []struct {
		reason   string
		given    given
		instance snapshot.InstanceType
		want     string
	}{
		{"the table's branch interfaces", given{}, withLimits(m5Large(), 9), "9"},
		{"a type that cannot trunk", given{}, untrunked, "0"},
		{"a type that the table does not have", given{}, m5Large(), "0"},
		{"v0.31 without aws.enablePodENI", given{version: "0.31.5"}, withLimits(m5Large(), 9), "0"},
		{"v0.31 with it", given{version: "0.31.5", settings: pod}, withLimits(m5Large(), 9), "9"},
		{"v0.32 does not ask", given{version: "0.32.0"}, withLimits(m5Large(), 9), "9"},
		{"on any family", given{family: "Bottlerocket"}, withLimits(m5Large(), 9), "9"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			checkFigures(t, row.given.expect(t, row.instance), PodENI+" capacity="+row.want)
		})
	}
}

func TestPrivateIPv4(t *testing.T) {
	architectures := func(list ...string) snapshot.InstanceType {
		instance := withLimits(m5Large(), 9)
		instance.Limits.IPv4PerENI = 7 // not EC2's 10, to tell the sources apart
		instance.Architectures = list
		return instance
	}
	amd64 := architectures("x86_64")
	for _, row := range []struct {
		reason, version, family string
		instance                snapshot.InstanceType
		want                    string
	}{
		{"Linux has none", "1.15.2", "AL2", amd64, "absent"},
		{"v0.28 has no Windows", "0.28.1", "Windows2022", amd64, "absent"},
		{"v0.29–v0.37: EC2's addresses", "0.29.0", "Windows2022", amd64, "9"}, // 10−1
		{"the last of them", "0.37.8", "Windows2019", amd64, "9"},             // 10−1
		{"v1.0 on: the table's", "1.0.0", "Windows2022", amd64, "6"},          // 7−1
		{"Windows2025", "1.9.0", "Windows2025", amd64, "6"},                   // 7−1
		{"v1.0 on: 0 for a type that it does not have", "1.0.0", "Windows2022", m5Large(), "0"},
		{"v0.31 on arm64: by family", "0.31.5", "Windows2022", architectures("arm64"), "9"}, // 10−1
		{"v0.32 on arm64: none", "0.32.0", "Windows2022", architectures("arm64"), "0"},
		{"i386 is passed over", "1.15.2", "Windows2022", architectures("i386", "x86_64"), "6"}, // 7−1
		{"mac too", "1.15.2", "Windows2022", architectures("x86_64_mac", "x86_64"), "6"},       // 7−1
		{"arm64 before x86_64 is arm64", "1.15.2", "Windows2022", architectures("arm64", "x86_64"), "0"},
		{"no architecture that Karpenter knows", "1.15.2", "Windows2022", architectures("x86_64_mac"), "0"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			checkFigures(t, given{version: row.version, family: row.family}.expect(t, row.instance), PrivateIPv4+" capacity="+row.want)
		})
	}
}

// TestMissingFacts: a fact that the source could not tell makes unknown what hangs on it, and nothing else.
func TestMissingFacts(t *testing.T) {
	why := func(fact string) string {
		return "unknown: the " + fact + " of m5.large are not known from this source: use --instance-types ec2 or a describe-instance-types file"
	}
	network, store, efa := why("network"), why("instance store"), why("EFA")
	for _, row := range []struct {
		reason  string
		missing snapshot.Fact
		given   given
		want    []string
	}{
		{"no network facts: pods, and what is reserved for them", snapshot.FactNetwork, given{},
			[]string{"pods capacity=" + network, "memory allocatable=" + network, "cpu allocatable=1930m", "ephemeral-storage allocatable=17Gi"}},
		{"maxPods makes pods known; AL2 still reserves by the interfaces", snapshot.FactNetwork, given{kubelet: `{"maxPods":58}`},
			[]string{"pods capacity=58", "memory allocatable=" + network}},
		{"Bottlerocket does not", snapshot.FactNetwork, given{family: "Bottlerocket", kubelet: `{"maxPods":58}`},
			[]string{"pods capacity=58", "memory allocatable=6584Mi"}}, // 7577−(11·58+255)−100
		{"nor do Windows' 110 pods", snapshot.FactNetwork, given{family: "Windows2022"},
			[]string{"pods capacity=110", "memory allocatable=6012Mi"}}, // 7577−1465−100
		{"kubeReserved memory makes memory known", snapshot.FactNetwork, given{kubelet: `{"kubeReserved":{"memory":"1Gi"}}`},
			[]string{"pods capacity=" + network, "memory allocatable=6453Mi"}}, // 7577−1024−100
		{"Windows addresses up to v0.37 are EC2's", snapshot.FactNetwork, given{version: "0.37.8", family: "Windows2022"},
			[]string{PrivateIPv4 + " capacity=" + network}},
		{"no disk facts matter under RAID0", snapshot.FactInstanceStore, given{class: `{"instanceStorePolicy":"RAID0"}`},
			[]string{"ephemeral-storage capacity=" + store, "memory allocatable=6903Mi"}},
		{"and not without", snapshot.FactInstanceStore, given{}, []string{"ephemeral-storage capacity=20Gi"}},
		{"no EFA facts", snapshot.FactEFA, given{}, []string{EFA + " capacity=" + efa, "pods capacity=29"}},
		{"a class's own list needs none", snapshot.FactEFA, given{class: `{"networkInterfaces":[]}`}, []string{EFA + " capacity=0"}},
		{"no GPU facts", snapshot.FactGPU, given{}, []string{NvidiaGPU + " capacity=" + why("GPUs"), Gaudi + " capacity=" + why("GPUs"), NeuronDevice + " capacity=0"}},
		{"no Neuron facts", snapshot.FactNeuron, given{}, []string{NeuronDevice + " capacity=" + why("neuron devices"), NeuronCore + " capacity=" + why("neuron devices"), NvidiaGPU + " capacity=0"}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			instance := m5Large()
			instance.Missing = []snapshot.Fact{row.missing}
			checkFigures(t, row.given.expect(t, instance), row.want...)
		})
	}
}
