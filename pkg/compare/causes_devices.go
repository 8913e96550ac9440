package compare

import (
	"strings"

	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
)

// takeAll takes everything that is left.
func (g *gap) takeAll() { g.take(g.capacityLeft, g.reserveLeft) }

// none reports whether the node has none of the resource, or does not list it.
func (g *gap) none() bool { return g.capacity == 0 && g.row.Actual.Value == 0 }

// overlayNotOnNode: a NodeOverlay promises what the node does not have. NodeOverlay since core v1.7.0 (990572335, #2306).
func overlayNotOnNode(g *gap) evidence {
	terms := g.Expect.Get(g.row.Resource).CapacityTerms
	if len(terms) != 1 || !strings.HasPrefix(terms[0].Label, "NodeOverlay ") || g.capacityLeft >= 0 {
		return nil
	}
	g.takeAll()
	return func() string {
		return terms[0].Label + " promises " + amount(g.row.Resource, g.expectedCapacity) + ", the node has " + amount(g.row.Resource, g.capacity)
	}
}

// devicePluginShared: the device plugin advertises each GPU several times (time-slicing, MPS), or under another name
// (nvidia.com/gpu.shared, nvidia.com/mig-…).
func devicePluginShared(g *gap) evidence {
	renamed := g.sharedNames()
	if g.expectedCapacity == 0 || (g.capacity <= g.expectedCapacity && (len(renamed) == 0 || !g.none())) {
		return nil
	}
	g.takeAll()
	return func() string {
		if len(renamed) > 0 && g.none() {
			return "the device plugin advertises the devices as " + strings.Join(renamed, ", ")
		}
		text := "the device plugin advertises " + number(g.capacity) + " of " + number(g.expectedCapacity) + " devices"
		if g.capacity%g.expectedCapacity == 0 {
			text += ", " + number(g.capacity/g.expectedCapacity) + " for each"
		}
		return text
	}
}

// sharedNames are the names under which the node advertises shares of an NVIDIA GPU.
func (g *gap) sharedNames() []string {
	var out []string
	if g.row.Resource == expect.NvidiaGPU {
		for _, r := range g.Node.Capacity {
			if IsSharedGPU(r.Name) && r.Value > 0 {
				out = append(out, r.Name)
			}
		}
	}
	return out
}

// IsSharedGPU reports whether the resource is a share of an NVIDIA GPU: time-sliced or MPS under its own name, or a
// MIG slice.
func IsSharedGPU(resource string) bool {
	return resource == expect.NvidiaGPU+".shared" || strings.HasPrefix(resource, "nvidia.com/mig-")
}

// deviceNotInEC2: the node has devices where EC2's facts have none: fractional GPUs (g6f and gr6f have a count of 0), or
// facts older than the type.
func deviceNotInEC2(g *gap) evidence {
	if g.expectedCapacity != 0 || g.capacityLeft <= 0 {
		return nil
	}
	g.takeAll()
	return func() string {
		return "the node has " + number(g.capacity) + ", EC2's facts of " + g.Type.Name + " none"
	}
}

// AskedForEFA reports whether the node was launched with EFA: Karpenter attaches it only where a pod requested it or the
// class lists network interfaces (model §1.5).
func AskedForEFA(s Subject) bool {
	if s.Class != nil && s.Class.NetworkInterfaces != nil {
		return true
	}
	return s.Claim != nil && (s.Claim.Requests.Get(expect.EFA).Value > 0 || s.Claim.Capacity.Get(expect.EFA).Value > 0 || s.Claim.Allocatable.Get(expect.EFA).Value > 0)
}

// efaNotRequested: the type has EFA and the node was launched without, on purpose. In the claim's status since v0.33.0
// (8eb2991f9, #5068).
func efaNotRequested(g *gap) evidence {
	if g.row.Resource != expect.EFA || !g.none() || AskedForEFA(*g.Subject) {
		return nil
	}
	g.takeAll()
	return func() string { return "neither the claim nor the class asks for EFA" }
}

// efaOneShort: the primary interface carries the node's own address, so the device plugin has one less (p4d 3 of 4, p5en
// and trn2 15 of 16).
func efaOneShort(g *gap) evidence {
	if g.row.Resource != expect.EFA || g.expectedCapacity < 2 || g.capacity != g.expectedCapacity-1 {
		return nil
	}
	g.takeAll()
	return func() string {
		return "the node has " + number(g.capacity) + " of the type's " + number(g.expectedCapacity) + " EFA interfaces: one is the node's own"
	}
}

// podENIOff: branch interfaces are expected of every trunking type, and are there only with security groups for pods.
func podENIOff(g *gap) evidence {
	if g.row.Resource != expect.PodENI || !g.none() {
		return nil
	}
	g.takeAll()
	return func() string {
		return "the type has " + number(g.expectedCapacity) + " branch interfaces; the CNI advertises none, so security groups for pods are off"
	}
}

// windowsIPAMOff: the addresses are expected of every Windows node, and are there only with VPC IPAM for Windows
// (amazon-vpc-resource-controller-k8s#86).
func windowsIPAMOff(g *gap) evidence {
	if g.row.Resource != expect.PrivateIPv4 || !g.none() {
		return nil
	}
	g.takeAll()
	return func() string {
		return number(g.expectedCapacity) + " pod addresses expected; the resource controller advertises none"
	}
}

// vpcLimitsTable: the number comes from a table that each release carries in its own state (model §1.5).
func vpcLimitsTable(g *gap) evidence {
	if g.row.Resource == expect.EFA || g.expectedCapacity == 0 || g.none() {
		return nil
	}
	g.takeAll()
	return func() string {
		return "the node has " + number(g.capacity) + ", the table of VPC limits " + number(g.expectedCapacity)
	}
}

// devicePluginAbsent: no device plugin has registered: not installed, not tolerated on the node, or its driver failed.
// Neuron has two names for the same devices, and older plugins advertise one of them only (#3555).
func devicePluginAbsent(g *gap) evidence {
	if !g.none() || g.expectedCapacity == 0 {
		return nil
	}
	g.takeAll()
	return func() string {
		text := "the type has " + number(g.expectedCapacity) + ", the node advertises none"
		if g.row.Resource == expect.NeuronCore && g.Node.Capacity.Get(expect.NeuronDevice).Value > 0 {
			text += "; it does " + expect.NeuronDevice + ", under which the same devices can be requested"
		}
		return text
	}
}

// deviceUnhealthy: the kubelet leaves devices that their plugin calls unhealthy in capacity and takes them off
// allocatable, all of them once the plugin is gone (kubernetes pkg/kubelet/cm/devicemanager).
func deviceUnhealthy(g *gap) evidence {
	if g.row.Field != Allocatable || g.reserve <= 0 || g.reserveLeft >= 0 {
		return nil
	}
	g.take(0, g.reserveLeft)
	return func() string {
		return "of " + number(g.capacity) + " devices " + number(g.reserve) + " are unhealthy, or their plugin has stopped"
	}
}
