package compare

import "github.com/allocatable-diff/allocatable-diff/pkg/expect"

// cma is the contiguous memory area of a Graviton machine, which its kernel keeps for itself.
const cma = 64 * mib

// gravitonCMA: before v0.28.0 Karpenter expected arm64 machines to have the 64Mi that their kernel keeps.
// fb3eb0510 (#3940), reported in #3937.
func gravitonCMA(g *gap) evidence {
	if g.rules().GravitonCMA || !g.isARM64() || g.capacityLeft == 0 {
		return nil
	}
	g.take(-cma, 0)
	return func() string {
		return "Karpenter before v0.28.0 counts the 64Mi of contiguous memory that an arm64 kernel keeps"
	}
}

func (g *gap) rules() expect.Rules { return g.Model.Rules() }

func (g *gap) isARM64() bool {
	return len(g.Type.Architectures) > 0 && g.Type.Architectures[0] == "arm64"
}

// machine is the memory that EC2 names, without the CMA of arm64: what the overhead is a share of, in bytes.
func (g *gap) machine() int64 {
	m := g.Type.MemoryMiB * mib
	if g.isARM64() {
		m -= cma
	}
	return m
}

// isHypervisors reports whether what the machine keeps can be the hypervisor, the firmware and the kernel: they take 2.6
// to 10.5 % on public nodes (model §8.6), more only of the smallest. Beyond a quarter it is something else, such as a
// memory limit on the kernel's command line.
func (g *gap) isHypervisors() bool {
	keeps := g.machine() - g.capacity
	return keeps >= 0 && keeps <= max(g.machine()/4, 256*mib)
}

// hypervisorGap: the overhead is 0, so nothing is taken off for what the machine itself keeps. It is the root command's
// default, as it is that of Karpenter's own tool.
func hypervisorGap(g *gap) evidence {
	if g.capacityLeft >= 0 || g.Model.Settings().OverheadPercent != 0 || !g.isHypervisors() {
		return nil
	}
	g.take(g.capacityLeft, 0)
	return g.impliedPercent
}

// overheadPercentTooSmall: the machine keeps more than the overhead takes off. The default of 0.075 is too small for
// c7a.medium, c6a.large and c7a.large, among others (core#692, #4163, #7060).
func overheadPercentTooSmall(g *gap) evidence {
	if g.capacityLeft >= 0 || g.Model.Settings().OverheadPercent == 0 || !g.isHypervisors() {
		return nil
	}
	g.take(g.capacityLeft, 0)
	return g.impliedPercent
}

// overheadPercentTooLarge: the machine keeps less than the overhead takes off, most on large types (#6611: 45Gi on
// i4i.32xlarge; #6509: 22Gi on trn1.32xlarge; #7929).
func overheadPercentTooLarge(g *gap) evidence {
	if g.capacityLeft <= 0 || g.capacity > g.machine() {
		return nil
	}
	g.take(g.capacityLeft, 0)
	return g.impliedPercent
}

// impliedPercent words what the machine keeps as the overhead that would fit.
func (g *gap) impliedPercent() string {
	machine := g.machine()
	keeps := machine - g.capacity
	text := "of EC2's " + mebibytes(machine)
	if g.isARM64() {
		text += " (less 64Mi CMA)"
	}
	text += " the machine keeps " + amount(expect.Memory, keeps) + " = " + share(keeps, machine) + ", a fraction of " + decimal(fraction(keeps, machine)) +
		"; the overhead " + decimal(g.Model.Settings().OverheadPercent) + " takes off " + mebibytes(machine-g.expectedCapacity)
	if g.assumed {
		text += " (the node reports no capacity: its reserve is taken from the model)"
	}
	return text
}

// hugePagesTaken: the kubelet takes every allocated huge page off allocatable memory; Karpenter only those of a
// NodeOverlay, since v1.7.0. core#692, #3315, bottlerocket-core-kit#952.
func hugePagesTaken(g *gap) evidence {
	taken := -g.takeHugePages()
	return func() string {
		text := "huge pages take " + mebibytes(g.hugePages) + " of the node's memory"
		if taken != g.hugePages {
			text += ", the NodeOverlays say " + mebibytes(g.hugePages-taken)
		}
		return text
	}
}

// reservedENIs: from v0.28.0 to v1.5.1 Karpenter lowered kube-reserved memory by the pods of the reserved interfaces;
// the AMI's own formula does not know of them. Fixed by 7ed2a3560 (#8205), in v1.5.2 and later.
func reservedENIs(g *gap) evidence {
	rules, settings := g.rules(), g.Model.Settings()
	if !rules.ReservedENIs || rules.ReserveAllENIs || settings.ReservedENIs <= 0 || !g.countsENIs() {
		return nil
	}
	expected := (g.keeps.kube/mib - 255) / 11
	g.takeKube()
	return func() string {
		return "Karpenter v" + settings.Version.String() + " reserves memory for " + number(expected) + " pods, less those of " + number(settings.ReservedENIs) +
			" reserved ENI(s); the node for " + number(g.kept.pods) + ", " + g.kept.podsName
	}
}

// countsENIs reports whether both sides keep 11Mi for each of an ENI-limited number of pods, and not the same.
func (g *gap) countsENIs() bool {
	return g.kubeLeft != 0 && g.Model.Family().ENILimitedMemoryOverhead && g.kept.kubeBy == byDefault && g.keepsFormula()
}

// keepsFormula reports whether the expectation's kube-reserved memory is the formula, not a user's value.
func (g *gap) keepsFormula() bool {
	e := g.Expect.Get(g.row.Resource)
	return len(e.KubeReserved) == 2 && e.KubeReserved[0].Times == (g.keeps.kube/mib-255)/11
}

// efaOnlyInterfaces: since v1.11.0 Karpenter lowers kube-reserved memory by the pods of EFA-only interfaces on card 0;
// nodeadm counts them (model §9.3: 539Mi each on p5.48xlarge). 1de6d8c60 (#9027); no issue was found for it.
func efaOnlyInterfaces(g *gap) evidence {
	if !g.rules().NetworkInterfaces || g.Class == nil || g.Class.NetworkInterfaces == nil || !g.countsENIs() {
		return nil
	}
	expected := (g.keeps.kube/mib - 255) / 11
	g.takeKube()
	return func() string {
		return "Karpenter reserves memory for " + number(expected) + " pods, without those of the class's EFA-only interfaces; the node for " +
			number(g.kept.pods) + ", " + g.kept.podsName
	}
}

// allNetworkCards: up to v0.27.2 the interfaces of all network cards counted, 2942 pods and 32617Mi on p4d.24xlarge; a
// node has the default card's. Fixed by 672a83261 (#3720).
func allNetworkCards(g *gap) evidence {
	if g.rules().DefaultCardENIs || g.Type.ENIs == g.Type.DefaultCardENIs {
		return nil
	}
	switch {
	case g.kind == pods && g.expectedCapacity == eniPods(g.Type, g.Type.ENIs) && g.capacity == eniPods(g.Type, g.Type.DefaultCardENIs):
		g.take(g.capacityLeft, 0)
	case g.kind == memory && g.countsENIs():
		g.takeKube()
	default:
		return nil
	}
	return func() string {
		return "Karpenter counts the " + number(g.Type.ENIs) + " interfaces of all network cards, the node the " + number(g.Type.DefaultCardENIs) + " of the default card"
	}
}
