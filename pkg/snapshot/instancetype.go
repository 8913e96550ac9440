package snapshot

// InstanceType is what EC2 says of one instance type, reduced to what the formulas read. Amounts are in EC2's own
// units, named. Missing lists the groups of facts that the source could not tell: a resource that needs one of
// them is unknown, not zero.
type InstanceType struct {
	Name string `json:"name"`
	// VCPUs is VCpuInfo.DefaultVCpus.
	VCPUs int64 `json:"vcpus"`
	// MemoryMiB is MemoryInfo.SizeInMiB.
	MemoryMiB int64 `json:"memoryMiB"`
	// Architectures is ProcessorInfo.SupportedArchitectures in EC2's order: the first one decides the CMA rule.
	Architectures []string `json:"architectures,omitzero"`
	BareMetal     bool     `json:"bareMetal,omitzero"`
	// InstanceStoreGB is InstanceStorageInfo.TotalSizeInGB (10^9 bytes); nil when the type has none.
	InstanceStoreGB *int64 `json:"instanceStoreGB,omitzero"`
	// ENIs is NetworkInfo.MaximumNetworkInterfaces, summed over all network cards.
	ENIs int64 `json:"enis"`
	// DefaultCardENIs is NetworkCards[DefaultNetworkCardIndex].MaximumNetworkInterfaces, by slice position.
	DefaultCardENIs int64 `json:"defaultCardENIs"`
	// IPv4PerENI is NetworkInfo.Ipv4AddressesPerInterface.
	IPv4PerENI int64 `json:"ipv4PerENI"`
	// EFAs is EfaInfo.MaximumEfaInterfaces; 0 without EFA.
	EFAs int64 `json:"efas,omitzero"`
	// GPUs is GpuInfo.Gpus, InferenceAccelerators is InferenceAcceleratorInfo.Accelerators.
	GPUs                  []Device `json:"gpus,omitzero"`
	InferenceAccelerators []Device `json:"inferenceAccelerators,omitzero"`
	// Neurons is NeuronInfo.NeuronDevices.
	Neurons []Neuron `json:"neurons,omitzero"`
	// Limits is the row of the VPC limits table; nil when the table does not have the type.
	Limits *VPCLimits `json:"limits,omitzero"`
	// Missing names the fact groups that the source could not tell.
	Missing []Fact `json:"missing,omitzero"`
}

// Device is a GPU or inference accelerator of one kind.
type Device struct {
	Manufacturer string `json:"manufacturer"`
	Count        int64  `json:"count"`
}

// Neuron is one NeuronDevices entry.
type Neuron struct {
	Count int64 `json:"count"`
	// Cores is CoreInfo.Count: cores of one device.
	Cores int64 `json:"cores"`
}

// VPCLimits is a row of amazon-vpc-resource-controller-k8s's limits table.
type VPCLimits struct {
	IPv4PerENI       int64 `json:"ipv4PerENI"`
	Trunking         bool  `json:"trunking,omitzero"`
	BranchInterfaces int64 `json:"branchInterfaces,omitzero"`
}

// Fact is a group of facts that a source can lack.
type Fact string

// The groups of facts.
const (
	FactNetwork       Fact = "network"
	FactInstanceStore Fact = "instance store"
	FactEFA           Fact = "EFA"
	FactNeuron        Fact = "neuron devices"
	FactGPU           Fact = "GPUs"
)

// Lacks reports whether the source could not tell the group of facts f.
func (t *InstanceType) Lacks(f Fact) bool {
	for _, m := range t.Missing {
		if m == f {
			return true
		}
	}
	return false
}
