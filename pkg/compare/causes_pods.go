package compare

import "github.com/allocatable-diff/allocatable-diff/pkg/expect"

// threadsPerCore: CPU options switch the second thread of each core off; Karpenter counts DefaultVCpus. The bands of
// kube-reserved and podsPerCore follow the cpus that are on. Model §1.1, §8.6.
func threadsPerCore(g *gap) evidence {
	on := g.Node.Capacity.Get(expect.CPU).Value
	if on <= 0 || on*2 != g.Type.VCPUs*1000 {
		return nil
	}
	if g.kind == pods && !g.isPodsPerCore(on/1000) {
		return nil
	}
	g.take(g.capacityLeft, 0)
	g.takeCPUBands()
	return func() string {
		return "the node has " + number(on/1000) + " of the type's " + number(g.Type.VCPUs) + " vCPUs: one thread per core"
	}
}

// takeCPUBands takes the difference of kube-reserved cpu that comes from fewer cpus alone.
func (g *gap) takeCPUBands() {
	if g.kind == cpu && g.kept.kubeBy == byDefault && g.keeps.kube == cpuBands(g.expectedCapacity) {
		g.takeKube()
	}
}

// isPodsPerCore reports whether podsPerCore gives the expected pods by the type's vCPUs, and the node's by the cpus that
// are on.
func (g *gap) isPodsPerCore(on int64) bool {
	terms := g.Expect.Get(expect.Pods).CapacityTerms
	return len(terms) == 1 && terms[0].Times == g.Type.VCPUs && g.Type.VCPUs > 0 && g.capacity == g.expectedCapacity/g.Type.VCPUs*on
}

// cpusOffline: the CPU options leave fewer cores on, or the system has switched some off. Model §8.6.
func cpusOffline(g *gap) evidence {
	if g.capacityLeft >= 0 || g.capacity <= 0 {
		return nil
	}
	g.take(g.capacityLeft, 0)
	g.takeCPUBands()
	return func() string {
		return "the node has " + amount(expect.CPU, g.capacity) + " of the type's " + number(g.Type.VCPUs) + " vCPUs"
	}
}

// customNetworking: the CNI gives pods no addresses of the first interface, so the AMI's calculator counts one less:
// 29 → 20, 58 → 44. #6353.
func customNetworking(g *gap) evidence {
	enis := g.eniLimited()
	if enis < 2 || g.capacity != eniPods(g.Type, enis-1) {
		return nil
	}
	g.take(g.capacityLeft, 0)
	return func() string {
		return "the node has the " + number(g.capacity) + " pods of " + number(enis-1) + " interfaces, Karpenter expects the " + number(g.expectedCapacity) + " of " + number(enis)
	}
}

// eniLimited is the number of interfaces behind the expected pods; 0 where they do not follow the interfaces.
func (g *gap) eniLimited() int64 {
	for enis := g.Type.DefaultCardENIs; enis > 0; enis-- {
		if g.expectedCapacity == eniPods(g.Type, enis) {
			if g.Kubelet != nil && len(g.Kubelet.MaxPods) > 0 {
				return 0
			}
			return enis
		}
	}
	return 0
}

// prefixDelegation: each address of an interface is a prefix of 16, and the AMI's calculator caps the pods at 110, or 250
// above 30 vCPUs. #7505, #6102, #8210.
func prefixDelegation(g *gap) evidence {
	if g.eniLimited() == 0 || g.capacity <= g.expectedCapacity || g.Type.IPv4PerENI < 2 {
		return nil
	}
	limit := int64(110)
	if g.Type.VCPUs > 30 {
		limit = 250
	}
	if g.capacity != min(limit, g.Type.DefaultCardENIs*(g.Type.IPv4PerENI-1)*16+2) {
		return nil
	}
	g.take(g.capacityLeft, 0)
	return func() string {
		return "the node has " + number(g.capacity) + " pods, as max-pods-calculator gives with prefix delegation; Karpenter expects " + number(g.expectedCapacity) + " by interfaces"
	}
}

// nodeClassUnknown: without the class, the family's default disk is assumed and no maxPods, so what differs may be its
// setting.
func nodeClassUnknown(g *gap) evidence {
	if g.Class != nil || (g.kind == disk && g.madeOf(g.disk)) {
		return nil
	}
	g.take(g.capacityLeft, 0)
	return func() string {
		return "no NodeClass in the input: " + amount(g.row.Resource, g.expectedCapacity) + " is a default, the node has " + amount(g.row.Resource, g.capacity)
	}
}

// maxPodsUserData: the kubelet's max pods are always set by someone, and Karpenter passes its own; so another number was
// set by user data, the AMI or another CNI's set-up. #7505, #6890, #4557, eksctl#3818.
func maxPodsUserData(g *gap) evidence {
	if g.capacityLeft == 0 {
		return nil
	}
	g.take(g.capacityLeft, 0)
	return func() string {
		text := "the node has max pods " + number(g.capacity) + ", Karpenter expects " + number(g.expectedCapacity)
		if enis := g.eniLimited(); enis > 0 {
			text += " by its " + number(enis) + " network interfaces"
		} else if terms := g.Expect.Get(expect.Pods).CapacityTerms; len(terms) > 0 {
			text += " (" + terms[0].Text() + ")"
		}
		switch g.capacity {
		case 110:
			text += "; 110 is the kubelet's default, and the cap of managed node groups and max-pods-calculator"
		case 250:
			text += "; 250 is the cap of managed node groups and max-pods-calculator on large types"
		}
		return text
	}
}
