package expect

import "github.com/allocatable-diff/allocatable-diff/pkg/snapshot"

// The instance types of the tests, by hand from public facts: vCPUs, MiB, first architecture, interfaces of the default
// card × IPv4 addresses. They are functions, so that no test sees another's change.

func x86(name string, vcpus, mib, enis, ips int64) snapshot.InstanceType {
	return snapshot.InstanceType{
		Name: name, VCPUs: vcpus, MemoryMiB: mib, Architectures: []string{"x86_64"},
		ENIs: enis, DefaultCardENIs: enis, IPv4PerENI: ips,
	}
}

func arm64(name string, vcpus, mib, enis, ips int64) snapshot.InstanceType {
	t := x86(name, vcpus, mib, enis, ips)
	t.Architectures = []string{"arm64"}
	return t
}

// withCards gives the type interfaces on further network cards.
func withCards(t snapshot.InstanceType, all, efas int64) snapshot.InstanceType {
	t.ENIs, t.EFAs = all, efas
	return t
}

func withDisk(t snapshot.InstanceType, gb int64) snapshot.InstanceType {
	t.InstanceStoreGB = &gb
	return t
}

func a1Medium() snapshot.InstanceType    { return arm64("a1.medium", 1, 2048, 2, 4) }
func c52xlarge() snapshot.InstanceType   { return x86("c5.2xlarge", 8, 16384, 4, 15) }
func m5Large() snapshot.InstanceType     { return x86("m5.large", 2, 8192, 3, 10) }
func m5Xlarge() snapshot.InstanceType    { return x86("m5.xlarge", 4, 16384, 4, 15) }
func m6gXlarge() snapshot.InstanceType   { return arm64("m6g.xlarge", 4, 16384, 4, 15) }
func t3Nano() snapshot.InstanceType      { return x86("t3.nano", 2, 512, 2, 2) }
func t4gSmall() snapshot.InstanceType    { return arm64("t4g.small", 2, 2048, 3, 4) }
func r6a12xlarge() snapshot.InstanceType { return x86("r6a.12xlarge", 48, 393216, 8, 30) }
func m7iMetal24xl() snapshot.InstanceType {
	return x86("m7i.metal-24xl", 96, 393216, 15, 50)
}

func m5d4xlarge() snapshot.InstanceType {
	return withDisk(x86("m5d.4xlarge", 16, 65536, 8, 30), 600)
}

func p4d24xlarge() snapshot.InstanceType {
	return withDisk(withCards(x86("p4d.24xlarge", 96, 1179648, 15, 50), 60, 4), 8000)
}

func p548xlarge() snapshot.InstanceType {
	t := withDisk(withCards(x86("p5.48xlarge", 192, 2097152, 2, 50), 64, 32), 30400)
	t.GPUs = []snapshot.Device{{Manufacturer: "NVIDIA", Count: 8}}
	return t
}

func trn132xlarge() snapshot.InstanceType {
	t := withDisk(withCards(x86("trn1.32xlarge", 128, 524288, 5, 50), 40, 8), 7600)
	t.Neurons = []snapshot.Neuron{{Count: 16, Cores: 2}}
	return t
}

func inf124xlarge() snapshot.InstanceType {
	t := withCards(x86("inf1.24xlarge", 96, 196608, 11, 30), 11, 1)
	t.Neurons = []snapshot.Neuron{{Count: 16, Cores: 4}}
	t.InferenceAccelerators = []snapshot.Device{{Manufacturer: "AWS", Count: 16}}
	return t
}

// withLimits gives the type a row of the VPC limits table.
func withLimits(t snapshot.InstanceType, branches int64) snapshot.InstanceType {
	t.Limits = &snapshot.VPCLimits{IPv4PerENI: t.IPv4PerENI, Trunking: branches > 0, BranchInterfaces: branches}
	return t
}
