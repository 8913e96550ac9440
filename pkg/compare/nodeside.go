package compare

import (
	"strconv"
	"strings"

	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

const (
	kib = 1 << 10
	mib = 1 << 20
	gib = 1 << 30
)

// bootstrap is what the start-up of an AMI family makes of a node's reserves: the node's side, where expect has
// Karpenter's.
type bootstrap struct {
	os string
	// keeps: without settings it reserves the bands of cpu, 1Gi of disk, and 11Mi a pod and 255Mi of memory.
	keeps bool
	// configuredPods: the pods behind that memory are the kubelet's max-pods; else the ENI-limited count, whatever
	// max-pods, reserved ENIs and EFA-only interfaces are.
	configuredPods bool
	// replacesReserved and replacesEviction: a user's map replaces the whole default map, so a key that the user left
	// out is not reserved at all; else it is merged key by key, as Karpenter's model assumes.
	replacesReserved, replacesEviction bool
	// memoryAvailable is the eviction threshold of memory where nothing is set.
	memoryAvailable int64
}

// bootstraps is the table (model §8.2–8.5). The first row is what an OS that is not in it gets.
//
//   - AL2023: amazon-eks-ami nodeadm (read at v20260724) writes its defaults to the kubelet's configuration, Karpenter's
//     settings to a drop-in file, which is merged.
//   - AL2, Ubuntu: bootstrap.sh (amazon-eks-ami v20251108); Karpenter's settings are kubelet flags, and a flag replaces
//     the map of the configuration file.
//   - Bottlerocket: each reserved key has its own default; eviction-hard is only what is configured.
//   - Windows: flags; no default reserve is documented (containers-roadmap#1245), and newer kubelets evict below 500Mi.
var bootstraps = []bootstrap{
	{os: "AL2023", keeps: true, memoryAvailable: 100 * mib},
	{os: "AL2", keeps: true, replacesReserved: true, replacesEviction: true, memoryAvailable: 100 * mib},
	{os: "Ubuntu", keeps: true, replacesReserved: true, replacesEviction: true, memoryAvailable: 100 * mib},
	{os: "Bottlerocket", keeps: true, configuredPods: true, replacesEviction: true, memoryAvailable: 100 * mib},
	{os: "Windows2019", replacesReserved: true, replacesEviction: true, memoryAvailable: 500 * mib},
	{os: "Windows2022", replacesReserved: true, replacesEviction: true, memoryAvailable: 500 * mib},
	{os: "Windows2025", replacesReserved: true, replacesEviction: true, memoryAvailable: 500 * mib},
}

// nodeSide is a node's start-up with the settings that reach it.
type nodeSide struct {
	*bootstrap
	s *Subject
	// kubelet is never nil. Karpenter uses the user data of a Custom class as it is, so spec.kubelet reaches no Custom
	// node (model §5.4, #8497): then it has no settings.
	kubelet *snapshot.Kubelet
}

var noSettings = &snapshot.Kubelet{}

// nodeSideOf finds the start-up by the node's own image, for only the image does it; the class's family is Karpenter's
// word for it.
func nodeSideOf(s *Subject) nodeSide {
	family := s.Model.Family()
	os := family.Name
	if running, ok := expect.FamilyOfImage(s.Node.OSImage, expect.Newest); ok {
		if running.Name == "AL2" { // what a release does not know is AL2 to it, and only old ones know Ubuntu
			running, _ = expect.FamilyOfImage(s.Node.OSImage, expect.Oldest)
		}
		os = running.Name
	}
	n := nodeSide{bootstrap: &bootstraps[0], s: s, kubelet: noSettings}
	for i := range bootstraps {
		if bootstraps[i].os == os {
			n.bootstrap = &bootstraps[i]
		}
	}
	if s.Kubelet != nil && family.Name != "Custom" {
		n.kubelet = s.Kubelet
	}
	return n
}

// basis says where a reserve comes from.
type basis uint8

const (
	// byDefault: the AMI's own formula, or the kubelet's default.
	byDefault basis = iota
	// bySettings: the class's value.
	bySettings
	// byReplacement: nothing, since a user's map without the key replaced the default map.
	byReplacement
	// byNothing: nothing, since the AMI reserves nothing.
	byNothing
	// byOthers: set where Karpenter does not look, in user data, the AMI or a drop-in file.
	byOthers
)

// kept is what one side keeps of a resource from the pods, in base units.
type kept struct {
	kube, system, eviction int64
	kubeBy, evictionBy     basis
	// pods is the count behind kube-reserved memory, and podsName what it is; empty where no count is behind it.
	pods     int64
	podsName string
	// percent is the eviction signal where it is a percentage of capacity; else 0.
	percent float64
}

func (k kept) total() int64 { return k.kube + k.system + k.eviction }

// documented is what the start-up keeps of a resource of so much capacity, by its own source.
func (n nodeSide) documented(resource string, capacity int64) kept {
	k := kept{system: n.user("systemReserved", resource)}
	switch own, set := n.userKey("kubeReserved", resource); {
	case set:
		k.kube, k.kubeBy = own, bySettings
	case n.replacesReserved && len(n.kubelet.KubeReserved) > 0:
		k.kubeBy = byReplacement
	case !n.keeps:
		k.kubeBy = byNothing
	default:
		n.keepDefault(&k, resource, capacity)
	}
	if resource == expect.CPU && n.kubelet.ReservedSystemCPUs != "" {
		// The kubelet drops kube-reserved cpu and reserves the listed cpus for the system (core#2531).
		k.kube, k.kubeBy = 0, byOthers
		k.system = cpusIn(n.kubelet.ReservedSystemCPUs) * 1000
	}
	n.evict(&k, resource, capacity)
	return k
}

// keepDefault is the AMI's own kube-reserved.
func (n nodeSide) keepDefault(k *kept, resource string, capacity int64) {
	switch resource {
	case expect.CPU:
		k.kube = cpuBands(capacity)
	case expect.EphemeralStorage:
		k.kube = gib
	case expect.Memory:
		k.pods, k.podsName = n.pods()
		k.kube = podsMemory(k.pods)
	}
}

// pods is the count behind the AMI's reserve of memory.
func (n nodeSide) pods() (int64, string) {
	if n.configuredPods {
		if pods := n.s.Node.Capacity.Get(expect.Pods); pods.Known {
			return pods.Value, "the node's max pods"
		}
		if pods := n.s.Expect.Get(expect.Pods); pods != nil && pods.Capacity.Known {
			return pods.Capacity.Value, "the max pods that Karpenter configures"
		}
	}
	return eniPods(n.s.Type, n.s.Type.DefaultCardENIs), "the ENI-limited pods"
}

// evict is the kubelet's hard eviction threshold; soft thresholds never count.
func (n nodeSide) evict(k *kept, resource string, capacity int64) {
	signal, fallback, percent := "", int64(0), 0.0
	switch resource {
	case expect.Memory:
		signal, fallback = "memory.available", n.memoryAvailable
	case expect.EphemeralStorage:
		signal, percent = "nodefs.available", 10
	default:
		return
	}
	switch text, set := n.kubelet.EvictionHard.Lookup(signal); {
	case set:
		k.evictionBy = bySettings
		k.eviction, k.percent = threshold(resource, text, capacity)
	case n.replacesEviction && len(n.kubelet.EvictionHard) > 0 && !n.kubelet.MergeDefaultEvictionSettings:
		k.evictionBy = byReplacement
	case percent > 0:
		k.eviction, k.percent = percentKept(capacity, percent), percent
	default:
		k.eviction = fallback
	}
}

// user is a user's value of one reserved map; 0 where there is none.
func (n nodeSide) user(field, resource string) int64 {
	v, _ := n.userKey(field, resource)
	return v
}

// userKey is a user's value of one reserved map as it reaches the node, and whether there is one. Karpenter works an
// expression out before it hands it over, so its value is the expectation's.
func (n nodeSide) userKey(field, resource string) (int64, bool) {
	values := n.kubelet.KubeReserved
	if field == "systemReserved" {
		values = n.kubelet.SystemReserved
	}
	text, ok := values.Lookup(resource)
	if !ok {
		return 0, false
	}
	if v, err := snapshot.ParseQuantity(resource, text); err == nil {
		return v, true
	}
	r := n.s.Expect.Get(resource)
	if r == nil {
		return 0, false
	}
	terms := r.KubeReserved
	if field == "systemReserved" {
		terms = r.SystemReserved
	}
	if len(terms) != 1 || !strings.HasPrefix(terms[0].Label, field) {
		return 0, false // the gate is off or the expression failed: the default applies
	}
	return terms[0].Amount.Ceil(), true
}

// threshold is an eviction signal as the kubelet reads it: "0%" and "100%" turn it off, any other percentage is the
// 32-bit fraction of capacity, truncated. The second result is the percentage; 0 for a quantity.
// Source: kubernetes pkg/kubelet/eviction/helpers.go and pkg/kubelet/eviction/api (read in v1.36.3).
func threshold(resource, text string, capacity int64) (int64, float64) {
	number, ok := strings.CutSuffix(text, "%")
	if !ok {
		v, err := snapshot.ParseQuantity(resource, text)
		if err != nil {
			return 0, 0
		}
		return v, 0
	}
	p, err := strconv.ParseFloat(number, 32)
	if err != nil || p <= 0 || p >= 100 {
		return 0, 0
	}
	return percentKept(capacity, p), p
}

// percentKept is the kubelet's share of a capacity: the percentage as a 32-bit fraction, truncated. Karpenter takes
// the double and rounds up, so the two differ by some bytes.
func percentKept(capacity int64, percent float64) int64 {
	return int64(float64(capacity) * float64(float32(percent)/100))
}

// eniPods is the standard count of so many interfaces: each has one address of its own, and two pods share the host's
// network. 0 where EC2's facts do not say.
func eniPods(t *snapshot.InstanceType, interfaces int64) int64 {
	if t.Lacks(snapshot.FactNetwork) || interfaces <= 0 {
		return 0
	}
	return interfaces*(t.IPv4PerENI-1) + 2
}

// podsMemory is the AMIs' reserve of memory for so many pods.
func podsMemory(pods int64) int64 { return (11*pods + 255) * mib }

// cpuBands is the AMIs' reserve for so many millicores: 6 % of the first core, 1 % of the second, 0.5 % of the next two
// and 0.25 % of the others, in whole cores.
func cpuBands(millicores int64) int64 {
	cores := millicores / 1000
	quarters := int64(0) // quarter per cents of a core, 2.5 millicores each
	for _, band := range [...]struct{ cores, share int64 }{{1, 24}, {1, 4}, {2, 2}} {
		n := min(cores, band.cores)
		quarters += n * band.share
		cores -= n
	}
	return (quarters + cores) * 5 / 2
}

// cpusIn counts the cpus of a list such as "0-3,8".
func cpusIn(list string) int64 {
	var n int64
	for part := range strings.SplitSeq(list, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(part), "-")
		a, err := strconv.ParseInt(from, 10, 32)
		if err != nil {
			continue
		}
		b := a
		if isRange {
			if b, err = strconv.ParseInt(to, 10, 32); err != nil || b < a {
				continue
			}
		}
		n += b - a + 1
	}
	return n
}
