package compare

import (
	"strings"

	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
)

// userMapReplacesDefaults: on AL2, Ubuntu and Windows the user's kubeReserved and evictionHard are kubelet flags, and a
// flag replaces the AMI's whole map; Bottlerocket and AL2 default no eviction signal once one is set. Karpenter's model
// merges key by key. Model §8.2, §8.4, §9.6; no issue was found for it.
func userMapReplacesDefaults(g *gap) evidence {
	var missing []string
	if g.kept.kubeBy == byReplacement && g.takeKube() != 0 {
		missing = append(missing, "kubeReserved without "+g.row.Resource)
	}
	if g.kept.evictionBy == byReplacement && g.takeEviction() != 0 {
		signal := "memory.available"
		if g.kind == disk {
			signal = "nodefs.available"
		}
		missing = append(missing, "evictionHard without "+signal)
	}
	return func() string {
		return "the class sets " + strings.Join(missing, " and ") + ": on " + g.side.os + " that replaces the whole map, so the node keeps " +
			g.keepsText(g.kept) + ", Karpenter expects " + g.keepsText(g.keeps)
	}
}

// keepsText prints what one side keeps of the row's resource.
func (g *gap) keepsText(k kept) string { return short(g.row.Resource, k.total()) }

// noKubeReserved: the AMI reserves nothing for the kubelet, only the eviction threshold: AL2 AMIs of before 2019 and
// other people's; for Windows AMIs no reserve is documented (containers-roadmap#1245).
func noKubeReserved(g *gap) evidence {
	if g.kept.kubeBy != byNothing {
		return nil
	}
	g.takeKube()
	g.takeSystem()
	return func() string {
		text := "the node keeps nothing for the kubelet"
		if g.kept.eviction != 0 {
			text += ", only " + short(g.row.Resource, g.kept.eviction) + " for eviction"
		}
		return text + "; Karpenter expects " + g.keepsText(g.keeps)
	}
}

// reservedSystemCPUs: the kubelet drops kube-reserved cpu and keeps the listed cpus for the system; Karpenter does not
// read the setting. core#2531; it can be set in the NodeClass from v1.15.0 (#9461), in user data before.
func reservedSystemCPUs(g *gap) evidence {
	if g.kept.kubeBy != byOthers || g.kept.kube != 0 || g.kept.system == 0 {
		return nil
	}
	g.takeKube()
	g.takeSystem()
	return func() string {
		text := "the node keeps whole cpus (" + short(expect.CPU, g.kept.system) + "), as reservedSystemCPUs does"
		if list := g.side.kubelet.ReservedSystemCPUs; list != "" {
			text = "reservedSystemCPUs: " + list + " keeps " + short(expect.CPU, g.kept.system)
		}
		return text + "; Karpenter expects " + g.keepsText(g.keeps)
	}
}

// systemReservedInvented: v0.27.0 alone expected 100m of cpu, 100Mi of memory and 1Gi of disk to be reserved for the
// system, which no AMI does. Removed by ff900f989 (#3568).
func systemReservedInvented(g *gap) evidence {
	if !g.rules().DefaultSystemReserved || g.kept.system != 0 || g.systemLeft == 0 {
		return nil
	}
	taken := g.takeSystem()
	return func() string {
		return "Karpenter v0.27.0 expects " + short(g.row.Resource, taken) + " to be reserved for the system; no AMI does"
	}
}

// evictionSettings: the kubelet's threshold is not the one that Karpenter counts. evictionSoft counted up to v1.8
// (#8407, fixed by 33f14b4fe #8565); a claim with discovered memory keeps the percentage of the predicted one (#9455,
// #8367); the signal is set in Bottlerocket's user data (#5104); newer Windows kubelets keep 500Mi (model §8.1).
func evictionSettings(g *gap) evidence {
	if g.takeEviction() == 0 {
		return nil
	}
	return func() string {
		text := "the kubelet evicts below " + amount(g.row.Resource, g.kept.eviction)
		if g.kept.eviction == 0 {
			text = "the kubelet has no eviction threshold"
		}
		if g.kept.percent > 0 {
			text += " (" + decimal(g.kept.percent) + " % of its capacity)"
		}
		if g.kept.evictionBy == byOthers {
			text += ", which is not in the class"
		}
		text += "; Karpenter counts " + amount(g.row.Resource, g.keeps.eviction)
		if terms := g.Expect.Get(g.row.Resource).Eviction; len(terms) > 0 {
			text += " (" + terms[0].Text() + ")"
		}
		return text
	}
}

// kubeReservedMismatch: what the node keeps for the kubelet and the system is known, and another than Karpenter's: for
// another number of pods (#1959: ENI pods against the 110 that the node has; amazon-eks-ami#1698), or set in user data,
// the AMI or a drop-in file (amazon-eks-ami#1145, #8497).
func kubeReservedMismatch(g *gap) evidence {
	g.takeKube()
	g.takeSystem()
	if g.part == 0 {
		return nil
	}
	return func() string {
		node, expected := g.kept.kube+g.kept.system, g.keeps.kube+g.keeps.system
		text := "the node keeps " + short(g.row.Resource, node)
		switch {
		case g.kept.podsName != "":
			text += " = 11Mi × " + number(g.kept.pods) + " + 255Mi (" + g.kept.podsName + ")"
			if g.kept.system != 0 {
				text += " + " + short(g.row.Resource, g.kept.system) + " for the system"
			}
		case g.kept.kubeBy == byOthers:
			text += ", set in user data, the AMI or a drop-in file,"
		}
		text += " besides eviction; Karpenter expects " + short(g.row.Resource, expected)
		if terms := g.Expect.Get(g.row.Resource).KubeReserved; len(terms) > 0 && g.kind == memory {
			text += " (" + terms[0].Text() + ")"
		}
		return text
	}
}

// floorAtZero: the kubelet reports 0 where the reserves are larger than the node, Karpenter a negative figure (t3.nano on
// Windows: −1092Mi, model §11 row 17).
func floorAtZero(g *gap) evidence {
	if g.reserveLeft == 0 || g.Node.Allocatable.Get(g.row.Resource).Value != 0 || g.kept.total()+g.hugePages < g.capacity {
		return nil
	}
	g.take(0, g.reserveLeft)
	return func() string {
		return "the node's reserves (" + short(g.row.Resource, g.kept.total()+g.hugePages) + ") are larger than its " + short(g.row.Resource, g.capacity) +
			": the kubelet reports 0"
	}
}

// rounding: below 1Mi (1m of cpu), a reserve counts as explained: the kubelet truncates percentages taken as 32-bit
// fractions, Karpenter rounds those of doubles up (model §8.1), and figures in reports are rounded.
func rounding(g *gap) evidence {
	limit := within(g.row.Resource)
	if g.row.Field == Capacity || size(g.capacityLeft) > limit || size(g.reserveLeft) > limit {
		return nil
	}
	g.take(g.capacityLeft, g.reserveLeft)
	return func() string { return "less than 1Mi (1m of cpu): the two sides round in different ways" }
}

// unexplained is the residual: whatever no cause above carries.
func unexplained(g *gap) evidence {
	residual := g.capacityLeft + g.reserveLeft
	fromReserve := g.reserveLeft
	g.take(g.capacityLeft, g.reserveLeft)
	return func() string {
		resource := g.row.Resource
		switch {
		case g.kind&(memory|cpu|disk) != 0 && g.row.Field == Allocatable && fromReserve != 0 && !g.fits:
			return "the node keeps " + amount(resource, g.reserve-g.hugePages) + " besides huge pages; its AMI's formula gives " + amount(resource, g.kept.total()) +
				", and no other pod count or threshold known explains it to within 1Mi: residual " + short(resource, residual)
		case g.kind == memory && g.capacity > g.machine():
			return "the node has " + amount(resource, g.capacity) + ", more than EC2's " + mebibytes(g.machine()) + ": are the facts of " + g.Type.Name + " current?"
		case g.kind == disk:
			return "the node's disk is " + amount(resource, g.capacity) + ": no mapping of the class, no default and no instance store has that size"
		}
		return "residual " + short(resource, residual)
	}
}

// unsplit is the one cause of a row whose figures cannot be taken apart.
func unsplit(total int64, detailed bool) Cause {
	c := Cause{ID: Unexplained, Part: total}
	if detailed {
		c.Evidence = "the figures cannot be taken apart: one of them is not known, or larger than any machine"
	}
	return c
}
