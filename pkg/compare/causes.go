package compare

import (
	"math"

	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
)

// knownCause is a row of the table: a reason why a node differs from what was expected of it.
type knownCause struct {
	id string
	// kinds are the resources that it can touch.
	kinds kind
	// onlyClaim: it explains a claim against the node, never the formula.
	onlyClaim bool
	// find takes the cause's part from the gap; nil when it does not apply.
	find func(*gap) evidence
	// remedy is the next step for whoever is on call.
	remedy string
}

// causes lists every cause in the order in which they are tried: the more certain first, and what is left over last.
// What each function knows comes from the release or public report that its comment names.
var causes = []knownCause{
	{id: "discovered-memory", kinds: memory, onlyClaim: true, find: discoveredMemory,
		remedy: "Karpenter keeps the smallest memory it has seen, so this node's figure counts from its registration on (within minutes); if nodes keep coming, see that the node's AMI is one of the class's, and restart the controller"},
	{id: NodeClassChanged, kinds: anything, find: nodeClassChanged,
		remedy: "let Karpenter's drift replace the node, or judge it again once it has"},
	{id: "other-settings-at-launch", kinds: anything, onlyClaim: true, find: otherSettingsAtLaunch,
		remedy: "nothing to do if release, options or class were changed since: replaced nodes get a new claim"},

	{id: "graviton-cma", kinds: memory, find: gravitonCMA,
		remedy: "upgrade Karpenter to v0.28.0 or later, which takes the 64Mi off"},
	{id: "hypervisor-gap", kinds: memory, find: hypervisorGap,
		remedy: "set the overhead percent to the implied fraction or above: allocatable-diff recommend finds the value for the fleet"},
	{id: "overhead-percent-too-small", kinds: memory, find: overheadPercentTooSmall,
		remedy: "raise VM_MEMORY_OVERHEAD_PERCENT to the implied fraction or above: allocatable-diff recommend finds the value for the fleet"},
	{id: "overhead-percent-too-large", kinds: memory, find: overheadPercentTooLarge,
		remedy: "the memory is paid for and not used: see allocatable-diff recommend for what a smaller overhead percent would free, and whether it is safe for the smallest node"},

	{id: "threads-per-core", kinds: cpu | pods, find: threadsPerCore,
		remedy: "remove the cpuOptions from the launch template, or exclude the type: Karpenter counts the default vCPUs"},
	{id: "cpus-offline", kinds: cpu, find: cpusOffline,
		remedy: "look at the CPU options of the launch template and at lscpu on the node: Karpenter counts the default vCPUs"},

	{id: "storage-not-reported", kinds: disk, find: storageNotReported,
		remedy: "nothing to do: a Windows kubelet does not report its disk"},
	{id: "raid0-not-used", kinds: disk, find: raid0NotUsed,
		remedy: "remove instanceStorePolicy: RAID0, or have the user data build the array under /var/lib/kubelet (Karpenter does so for AL2 and AL2023, and for Bottlerocket from v1.1.0)"},
	{id: "raid0-not-told", kinds: disk, find: raid0NotTold,
		remedy: "set instanceStorePolicy: RAID0 in the NodeClass, so that Karpenter counts the instance store"},
	{id: "bottlerocket-os-volume", kinds: disk, find: bottlerocketOSVolume,
		remedy: "size /dev/xvdb, Bottlerocket's data volume, and leave rootVolume off /dev/xvda: pods never use the OS volume"},
	{id: "volume-without-size", kinds: disk, find: volumeWithoutSize,
		remedy: "set ebs.volumeSize on the mapping: Karpenter does not know how large a snapshot is"},
	{id: "volume-other-device", kinds: disk, find: volumeOtherDevice,
		remedy: "map the disk that holds /var/lib/kubelet in the NodeClass: its size on the device that Karpenter reads, or rootVolume: true on the mapping (v0.32.0 and later)"},
	{id: "filesystem-metadata", kinds: disk, find: filesystemMetadata,
		remedy: "structural, nothing to do: ask for a volume as much larger as pods need it"},

	{id: "custom-networking", kinds: pods, find: customNetworking,
		remedy: "set RESERVED_ENIS=1 (settings.reservedENIs), since custom networking gives the first interface no pod addresses"},
	{id: "all-network-cards", kinds: pods | memory, find: allNetworkCards,
		remedy: "upgrade Karpenter to v0.27.3 or later, which counts the default network card only"},
	{id: "prefix-delegation", kinds: pods, find: prefixDelegation,
		remedy: "set kubelet.maxPods in the NodeClass to what the node has: Karpenter does not know of prefix delegation"},
	{id: "nodeclass-unknown", kinds: disk | pods, find: nodeClassUnknown,
		remedy: "add the EC2NodeClass to the input: kubectl get ec2nodeclasses,nodepools,nodeclaims -o yaml"},
	{id: "max-pods-user-data", kinds: pods, find: maxPodsUserData,
		remedy: "set kubelet.maxPods in the NodeClass to what the node has, or take --max-pods out of the user data, the AMI or the CNI's set-up"},

	{id: "overlay-not-on-node", kinds: anything, find: overlayNotOnNode,
		remedy: "see why the node lacks what the NodeOverlay promises, or narrow the overlay's requirements"},
	{id: "device-plugin-shared", kinds: device, find: devicePluginShared,
		remedy: "nothing to do where sharing is meant; a NodeOverlay can tell Karpenter the shared count (v1.7.0 and later)"},
	{id: "device-not-in-ec2", kinds: devices, find: deviceNotInEC2,
		remedy: "look at the source of the instance types: newer facts may have the device"},
	{id: "efa-not-requested", kinds: networkDevice, find: efaNotRequested,
		remedy: "nothing to do: Karpenter attaches EFA where a pod requests it or the NodeClass lists networkInterfaces"},
	{id: "efa-one-short", kinds: networkDevice, find: efaOneShort,
		remedy: "request one less, or list efa-only networkInterfaces: the primary interface carries the node's own address"},
	{id: "pod-eni-off", kinds: networkDevice, find: podENIOff,
		remedy: "nothing to do unless security groups for pods are wanted: then set ENABLE_POD_ENI=true on aws-node"},
	{id: "windows-ipam-off", kinds: networkDevice, find: windowsIPAMOff,
		remedy: "set enable-windows-ipam in the ConfigMap amazon-vpc-cni, or expect no Windows pods with VPC addresses"},
	{id: "vpc-limits-table", kinds: networkDevice, find: vpcLimitsTable,
		remedy: "nothing to do: each Karpenter release carries its own table of VPC limits"},
	{id: "device-plugin-absent", kinds: devices, find: devicePluginAbsent,
		remedy: "kubectl get daemonsets -A: run the device plugin on this node (its tolerations and node selector), then look at its log"},
	{id: "device-unhealthy", kinds: devices, find: deviceUnhealthy,
		remedy: "look at the device plugin's log and at dmesg on the node; replace the node when a device has failed"},

	{id: "huge-pages", kinds: memory, find: hugePagesTaken,
		remedy: "take the pages out of the node's set-up, or tell Karpenter by a NodeOverlay with the capacity hugepages-2Mi (v1.7.0 and later)"},
	{id: "reserved-enis", kinds: memory, find: reservedENIs,
		remedy: "upgrade Karpenter to v1.5.2 or later; until then set kubeReserved.memory in the NodeClass to what the node keeps"},
	{id: "efa-only-interfaces", kinds: memory, find: efaOnlyInterfaces,
		remedy: "set kubeReserved.memory in the NodeClass to what the node keeps: nodeadm counts EFA-only interfaces"},
	{id: "user-map-replaces-defaults", kinds: memory | cpu | disk, find: userMapReplacesDefaults,
		remedy: "write every key of the map in the NodeClass (cpu, memory, ephemeral-storage; memory.available, nodefs.available): a flag replaces the AMI's whole map"},
	{id: "no-kube-reserved", kinds: memory | cpu | disk, find: noKubeReserved,
		remedy: "use a newer AMI, or set kubeReserved in the NodeClass: nothing protects the kubelet on this node"},
	{id: "reserved-system-cpus", kinds: cpu, find: reservedSystemCPUs,
		remedy: "set systemReserved.cpu in the NodeClass to the cpus that reservedSystemCPUs takes: Karpenter does not read it"},
	{id: "system-reserved-invented", kinds: memory | cpu | disk, find: systemReservedInvented,
		remedy: "upgrade Karpenter to v0.27.1 or later"},
	{id: "eviction-settings", kinds: memory | disk, find: evictionSettings,
		remedy: "set evictionHard in the NodeClass to what the kubelet really has (kubectl get --raw /api/v1/nodes/NODE/proxy/configz); evictionSoft no longer counts from v1.9.0 on"},
	{id: "kube-reserved-mismatch", kinds: anything, find: kubeReservedMismatch,
		remedy: "set kubeReserved and systemReserved in the NodeClass to what the kubelet really has (kubectl get --raw /api/v1/nodes/NODE/proxy/configz)"},
	{id: "floor-at-zero", kinds: memory | cpu | disk, find: floorAtZero,
		remedy: "the reserves are larger than the node: exclude the type from the NodePool"},

	{id: "rounding", kinds: memory | cpu | disk, find: rounding},
	{id: NodeClassChanged, kinds: anything, find: nodeClassChangedUnclaimed,
		remedy: "let Karpenter's drift replace the node, or judge it again once it has"},
	{id: Unexplained, kinds: anything, find: unexplained,
		remedy: "compare the node's kubelet configuration (kubectl get --raw /api/v1/nodes/NODE/proxy/configz) with allocatable-diff explain NODE, and report the case"},
}

// Causes that other packages ask for by name.
const (
	// NodeClassChanged: the class was edited after the node was launched.
	NodeClassChanged = "nodeclass-changed"
	// SeveralCapacities: one type comes with several real capacities. It is found over nodes, not in one.
	SeveralCapacities = "several-capacities"
	// Unexplained is the residual that no cause carries.
	Unexplained = "unexplained"
)

// CauseIDs lists the ids of all causes in the order in which they are tried, each once.
func CauseIDs() []string {
	ids := make([]string, 0, len(causes)+1)
	seen := map[string]bool{}
	for i := range causes {
		if id := causes[i].id; !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return append(ids, SeveralCapacities)
}

// discoveredMemory: the claim's memory came from an earlier node of the type, which had more than this one. Karpenter
// keeps the smallest seen, but the first sample replaces the prediction, and the cache is empty after a restart.
// Since v1.1.0 (f9b329249, #7004); #7590, #8449.
func discoveredMemory(g *gap) evidence {
	if g.expectedCapacity%mib == 0 || g.capacityLeft == 0 {
		return nil
	}
	g.take(g.capacityLeft, 0)
	return func() string {
		return "the claim has " + amount(expect.Memory, g.expectedCapacity) + ", discovered on an earlier node of the type; this one has " + amount(expect.Memory, g.capacity)
	}
}

// nodeClassChanged: the class's hash differs from the claim's at the same hash version, so today's class is not what
// the node was launched from. The claim tells by how much its expectation was another.
// The hash covers block devices, instance store policy, kubelet and network interfaces (model §5.5).
func nodeClassChanged(g *gap) evidence {
	if !g.Node.Join.Drifted || g.Claim == nil || g.ofClaim {
		return nil
	}
	e := g.Expect.Get(g.row.Resource)
	capacity, allocatable := g.Claim.Capacity.Get(g.row.Resource), g.Claim.Allocatable.Get(g.row.Resource)
	if !capacity.Known {
		return nil
	}
	moved := int64(0)
	if g.kind&(memory|cpu) == 0 { // these two capacities are the type's alone
		moved = capacity.Value - g.expectedCapacity
		g.disk = capacity.Value
	}
	reserve := int64(0)
	if g.row.Field == Allocatable {
		if !allocatable.Known {
			return nil
		}
		reserve = (e.Capacity.Value - e.Allocatable.Value) - (capacity.Value - allocatable.Value)
		if g.shared > 0 {
			followed := percentKept(g.expectedCapacity, g.shared) - percentKept(g.expectedCapacity+moved, g.shared)
			moved, reserve = moved+followed, reserve-followed
		}
		if size(reserve) > within(g.row.Resource) {
			g.kubeLeft, g.systemLeft, g.evictionLeft = 0, 0, 0
		} else if moved != 0 { // the two percentages are rounded in different ways
			moved, reserve = moved+reserve, 0
		}
	}
	if size(moved) > largest || size(reserve) > largest {
		return nil
	}
	g.take(moved, reserve)
	return func() string {
		return "the class was edited after launch: the claim has " + g.claimed() + ", today's class gives " + amount(g.row.Resource, g.row.Expected.Value)
	}
}

// nodeClassChangedUnclaimed is nodeClassChanged where no claim tells the difference: it carries all that is left of what
// the class feeds.
func nodeClassChangedUnclaimed(g *gap) evidence {
	if !g.Node.Join.Drifted || !FedByClass(g.row) || (g.row.Claim.Known && !g.ofClaim) {
		return nil
	}
	g.take(g.capacityLeft, g.reserveLeft)
	return func() string {
		return "the class was edited after launch: today's gives " + amount(g.row.Resource, g.row.Expected.Value)
	}
}

// FedByClass reports whether the NodeClass decides what is expected of the row: the disk, the pods, what is reserved, and
// EFA. The memory, the cpus and the accelerators are the instance type's alone.
func FedByClass(r *Row) bool {
	switch kindOf(r.Resource) {
	case disk, pods:
		return true
	case memory, cpu:
		return r.Field == Allocatable
	case networkDevice:
		return r.Resource == expect.EFA
	}
	return false
}

func (g *gap) claimed() string { return amount(g.row.Resource, g.row.Claim.Value) }

// otherSettingsAtLaunch: the claim is no discovery, and today's formula does not give it: another release, another
// option or another class was there at launch (model §6).
func otherSettingsAtLaunch(g *gap) evidence {
	if g.Node.Join.Drifted && FedByClass(g.row) {
		return nil
	}
	e := g.Expect.Get(g.row.Resource)
	fromCapacity, fromReserve := int64(0), int64(0)
	if g.expectedCapacity != e.Capacity.Value {
		fromCapacity = g.capacityLeft
	}
	if g.row.Field == Allocatable && size(g.reserveLeft+g.reserve-(e.Capacity.Value-e.Allocatable.Value)) > within(g.row.Resource) {
		fromReserve = g.reserveLeft - g.hugePagesLeft
	}
	g.take(fromCapacity, fromReserve)
	return func() string {
		text := "the claim has " + g.claimed() + ", today's settings give " + amount(g.row.Resource, g.row.Expected.Value)
		if f, ok := ClaimedOverhead(*g.Subject); ok && g.kind == memory {
			text += "; an overhead of " + decimal(f) + " gives the claim's capacity"
		}
		return text
	}
}

// ClaimedOverhead is the overhead, in whole thousandths, of which a claim's memory capacity is the prediction: what the
// controller was set to at launch. False where the claim was discovered, or no such fraction gives it (#7590: 0.115).
func ClaimedOverhead(s Subject) (float64, bool) {
	if s.Claim == nil || s.Type == nil || s.Model == nil {
		return 0, false
	}
	claimed := s.Claim.Capacity.Get(expect.Memory)
	g := gap{Subject: &s}
	machine := s.Type.MemoryMiB * mib
	if g.isARM64() && g.rules().GravitonCMA {
		machine -= cma
	}
	if !claimed.Known || claimed.Value%mib != 0 || machine <= 0 || claimed.Value > machine || claimed.Value < 0 {
		return 0, false
	}
	// The whole-MiB rounding leaves room for several fractions on small machines: the roundest one is meant.
	for _, steps := range []int64{200, 1000} {
		n := int64(float64(machine-claimed.Value) / float64(machine) * float64(steps))
		for _, n := range []int64{n, n + 1} {
			f := float64(n) / float64(steps)
			if int64(math.Ceil(float64(machine)*f/1024/1024)) == (machine-claimed.Value)/mib {
				return f, true
			}
		}
	}
	return 0, false
}
