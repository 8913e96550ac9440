package compare

import (
	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
)

// within is how far a reserve may be off and still count as explained: 1Mi of memory or disk, 1m of cpu.
func within(resource string) int64 {
	if resource == expect.CPU {
		return 1
	}
	return mib
}

// explain finds what makes up the reserve that a node really keeps: capacity − allocatable − huge pages. It is the
// documented one where that fits to within 1Mi; else the first of the other known ones that does. Where none does, the
// documented one comes back with false, and the rest is unexplained.
func (n nodeSide) explain(resource string, capacity, reserve int64) (kept, bool) {
	documented := n.documented(resource, capacity)
	fits := func(k kept) bool { return size(reserve-k.total()) <= within(resource) }
	if fits(documented) {
		return documented, true
	}
	if own := n.s.Kubelet; own != nil && n.kubelet != own {
		// Whoever writes the user data of a Custom class can have put the same settings there.
		delivered := n
		delivered.kubelet = own
		if k := delivered.documented(resource, capacity); fits(k) {
			return k, true
		}
	}
	var found kept
	var ok bool
	switch resource {
	case expect.Memory:
		found, ok = n.otherMemory(documented, capacity, reserve, fits)
	case expect.EphemeralStorage:
		found, ok = n.otherDisk(documented, capacity, reserve, fits)
	case expect.CPU:
		found, ok = otherCPU(documented, reserve)
	}
	if ok {
		return found, true
	}
	return documented, false
}

// keeping is what the node keeps between the capacity and the allocatable that it reports, besides huge pages. A kubelet
// reports nothing below 0: there the documented reserve counts, if it is as large.
func (n nodeSide) keeping(resource string, capacity, allocatable, pages int64) kept {
	k, _ := n.found(resource, capacity, allocatable, pages)
	return k
}

// found is keeping, and whether what it found explains the node.
func (n nodeSide) found(resource string, capacity, allocatable, pages int64) (kept, bool) {
	reserve := capacity - allocatable - pages
	if allocatable == 0 {
		if k := n.documented(resource, capacity); k.total() >= reserve {
			return k, true
		}
	}
	return n.explain(resource, capacity, reserve)
}

// capacityOf works a capacity that the node does not report out of its allocatable, by the documented reserve. near is a
// capacity to start from: a percentage of what is not known yet takes some steps.
func (n nodeSide) capacityOf(resource string, allocatable, pages, near int64) int64 {
	for range 8 {
		near = allocatable + pages + n.documented(resource, near).total()
	}
	return near
}

// podCount is a number of pods that a reserve of memory can have been made for.
type podCount struct {
	pods int64
	name string
}

// podCounts are the counts that AMIs, Karpenter and people use, in the order of how common they are.
func (n nodeSide) podCounts() []podCount {
	t := n.s.Type
	counts := make([]podCount, 0, 8)
	add := func(pods int64, name string) {
		if pods > 0 {
			counts = append(counts, podCount{pods, name})
		}
	}
	add(eniPods(t, t.DefaultCardENIs), "the ENI-limited pods")
	add(n.s.Node.Capacity.Get(expect.Pods).Value, "the node's max pods")
	if pods := n.s.Expect.Get(expect.Pods); pods != nil {
		add(pods.Capacity.Value, "the max pods that Karpenter expects")
	}
	add(110, "the kubelet's default, and nodeadm's where it does not know the type")
	add(250, "the cap for prefix delegation on large types")
	add(eniPods(t, t.DefaultCardENIs-1), "the ENI-limited pods with one interface less")
	add(eniPods(t, t.ENIs), "the pods of all network cards")
	return counts
}

// otherMemory tries, in this order: nothing but an eviction threshold; another pod count under a known threshold;
// another threshold under the documented reserve; any pod count, exactly; any whole number of MiB, as a person sets it.
func (n nodeSide) otherMemory(documented kept, capacity, reserve int64, fits func(kept) bool) (kept, bool) {
	type threshold struct {
		bytes int64
		by    basis
	}
	thresholds := []threshold{{documented.eviction, documented.evictionBy}, {100 * mib, byOthers}, {0, byOthers}}
	for _, e := range thresholds {
		k := kept{kubeBy: byNothing, eviction: e.bytes, evictionBy: e.by}
		if fits(k) {
			return k, true
		}
		k.system, k.kubeBy = documented.system, byOthers
		for _, count := range n.podCounts() {
			k.kube, k.pods, k.podsName = podsMemory(count.pods), count.pods, count.name
			if fits(k) {
				return k, true
			}
		}
	}
	if k, ok := otherThreshold(documented, capacity, reserve); ok {
		return k, true
	}
	k := documented
	k.kubeBy, k.podsName = byOthers, ""
	k.kube = reserve - k.system - k.eviction
	pods := (k.kube - 255*mib + 11*mib/2) / (11 * mib)
	switch {
	case k.kube < 0:
		return k, false
	case pods >= 0 && size(k.kube-podsMemory(pods)) <= 4*kib:
		k.pods, k.podsName = pods, "a count that is not the type's"
		return k, true
	}
	k.pods = 0
	return k, k.kube%mib == 0
}

// evictionAmounts are thresholds of memory that people set.
var evictionAmounts = []int64{200 * mib, 250 * mib, 256 * mib, 300 * mib, 500 * mib, 512 * mib, 750 * mib, 768 * mib, gib, 2 * gib}

// otherThreshold tries other eviction thresholds under the documented reserve: the amounts that people set, and whole and
// half percentages, exactly.
func otherThreshold(documented kept, capacity, reserve int64) (kept, bool) {
	k := documented
	k.evictionBy, k.percent = byOthers, 0
	k.eviction = reserve - k.kube - k.system
	for _, amount := range evictionAmounts {
		if k.eviction == amount {
			return k, true
		}
	}
	if p, ok := percentOf(k.eviction, capacity); ok {
		k.percent = p
		return k, true
	}
	return k, false
}

// percentOf is the whole or half percentage up to 30 of which the kubelet makes exactly this threshold.
func percentOf(eviction, capacity int64) (float64, bool) {
	if eviction <= 0 || capacity <= 0 {
		return 0, false
	}
	halves := int64(float64(eviction)/float64(capacity)*200 + 0.5)
	p := float64(halves) / 2
	return p, halves > 0 && halves <= 60 && size(percentKept(capacity, p)-eviction) <= 4*kib
}

// otherDisk tries: no 1Gi; no threshold; neither; another percentage; a whole number of MiB besides the threshold.
func (n nodeSide) otherDisk(documented kept, capacity, reserve int64, fits func(kept) bool) (kept, bool) {
	nodefs := percentKept(capacity, 10)
	for _, k := range []kept{
		{kubeBy: byNothing, eviction: nodefs, percent: 10},
		{kubeBy: byNothing, eviction: documented.eviction, evictionBy: documented.evictionBy, percent: documented.percent},
		{kubeBy: byOthers, kube: gib, system: documented.system, eviction: nodefs, percent: 10},
		{kubeBy: documented.kubeBy, kube: documented.kube, system: documented.system, evictionBy: byOthers},
		{kubeBy: byNothing, evictionBy: byOthers},
	} {
		if fits(k) {
			return k, true
		}
	}
	k := documented
	k.evictionBy = byOthers
	k.eviction = reserve - k.kube - k.system
	var ok bool
	if k.percent, ok = percentOf(k.eviction, capacity); ok {
		return k, true
	}
	k = documented
	k.kubeBy = byOthers
	k.kube = reserve - k.system - k.eviction
	return k, k.kube >= 0 && k.kube%mib == 0
}

// otherCPU tries: nothing; whole cores, as reservedSystemCPUs keeps them; a multiple of 10m, as a person sets it.
func otherCPU(documented kept, reserve int64) (kept, bool) {
	switch {
	case reserve == 0:
		return kept{kubeBy: byNothing}, true
	case reserve > 0 && reserve%1000 == 0:
		return kept{kubeBy: byOthers, system: reserve}, true
	case reserve > 0 && reserve%10 == 0:
		k := documented
		k.kubeBy, k.kube = byOthers, reserve-k.system
		return k, k.kube >= 0
	}
	return documented, false
}

func size(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}
