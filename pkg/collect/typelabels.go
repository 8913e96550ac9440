package collect

import (
	"strconv"
	"strings"

	"github.com/aws/amazon-vpc-resource-controller-k8s/pkg/aws/vpc"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// Labels with which Karpenter describes the instance type of a node. Source: computeRequirements() in
// pkg/providers/instancetype/types.go, v0.27 … v1.15.
const (
	labelCPU              = "karpenter.k8s.aws/instance-cpu"
	labelMemory           = "karpenter.k8s.aws/instance-memory"
	labelSize             = "karpenter.k8s.aws/instance-size"
	labelHypervisor       = "karpenter.k8s.aws/instance-hypervisor"
	labelLocalNVMe        = "karpenter.k8s.aws/instance-local-nvme"
	labelGPUManufacturer  = "karpenter.k8s.aws/instance-gpu-manufacturer"
	labelGPUCount         = "karpenter.k8s.aws/instance-gpu-count"
	labelAcceleratorCount = "karpenter.k8s.aws/instance-accelerator-count"
)

// TypesFromLabels is the instance types of the nodes as far as Karpenter's labels and the VPC limits library tell, in
// name order: no AWS data is needed. What they do not tell is in Missing: EFA always, Neuron devices (labels have their
// count but not their cores), the disks of a type that may have some without NVMe, and the network of a type that the
// library does not know. A type none of whose nodes has the labels for vCPUs and memory is left out, so its nodes are
// unknown.
func TypesFromLabels(nodes []snapshot.Node) []snapshot.InstanceType {
	s := snapshot.Snapshot{}
	seen := map[string]bool{}
	for i := range nodes {
		n := &nodes[i]
		if name := n.InstanceType(); name == "" || seen[name] {
			continue
		}
		if t, ok := typeFromLabels(n); ok {
			seen[t.Name] = true
			s.InstanceTypes = append(s.InstanceTypes, t)
		}
	}
	s.Sort()
	return s.InstanceTypes
}

// architectures are EC2's names for those of Kubernetes.
var architectures = map[string]string{"amd64": "x86_64", "arm64": "arm64"}

// manufacturers are EC2's spelling of what Karpenter lowers for its label.
var manufacturers = map[string]string{"nvidia": "NVIDIA", "amd": "AMD", "habana": "Habana"}

func typeFromLabels(n *snapshot.Node) (snapshot.InstanceType, bool) {
	cpu, hasCPU := count(n.Labels, labelCPU)
	memory, hasMemory := count(n.Labels, labelMemory)
	arch, hasArch := architectures[n.Labels.Get(snapshot.LabelArch)]
	if !hasCPU || !hasMemory || !hasArch {
		return snapshot.InstanceType{}, false
	}
	t := snapshot.InstanceType{
		Name: n.InstanceType(), VCPUs: cpu, MemoryMiB: memory, Architectures: []string{arch},
		BareMetal: strings.HasPrefix(n.Labels.Get(labelSize), "metal"),
	}
	addNetwork(&t)
	addInstanceStore(&t, n.Labels)
	if gpus, ok := count(n.Labels, labelGPUCount); ok {
		manufacturer := n.Labels.Get(labelGPUManufacturer)
		if name, ok := manufacturers[manufacturer]; ok {
			manufacturer = name
		}
		t.GPUs = []snapshot.Device{{Manufacturer: manufacturer, Count: gpus}}
	}
	if accelerators, ok := count(n.Labels, labelAcceleratorCount); ok {
		t.InferenceAccelerators = []snapshot.Device{{Manufacturer: "AWS", Count: accelerators}}
	}
	t.Missing = append(t.Missing, snapshot.FactEFA)
	if isNeuron(t.Name) {
		t.Missing = append(t.Missing, snapshot.FactNeuron)
	}
	return t, true
}

func addNetwork(t *snapshot.InstanceType) {
	l, ok := vpc.Limits[t.Name]
	if !ok || l.DefaultNetworkCardIndex < 0 || l.DefaultNetworkCardIndex >= len(l.NetworkCards) {
		t.Missing = append(t.Missing, snapshot.FactNetwork)
		return
	}
	t.Limits = limitsOf(t.Name)
	t.ENIs, t.IPv4PerENI = int64(l.Interface), int64(l.IPv4PerInterface)
	t.DefaultCardENIs = l.NetworkCards[l.DefaultNetworkCardIndex].MaximumNetworkInterfaces
}

// addInstanceStore reads the label of NVMe disks. Without it there may still be others: only types on the Xen
// hypervisor have disks that are no NVMe. Before v1.1.0 an unknown size was labelled "0".
func addInstanceStore(t *snapshot.InstanceType, l snapshot.Labels) {
	switch gb, ok := count(l, labelLocalNVMe); {
	case ok && gb > 0:
		t.InstanceStoreGB = &gb
	case !ok && l.Get(labelHypervisor) == "xen":
		t.Missing = append(t.Missing, snapshot.FactInstanceStore)
	}
}

// count is the number on a label; false when it is not there or is none.
func count(l snapshot.Labels, key string) (int64, bool) {
	n, err := strconv.ParseInt(l.Get(key), 10, 64)
	return n, err == nil && n >= 0
}
