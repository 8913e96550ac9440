package expect

import "fmt"

// kubeReserved is what the release reserves of each resource for the kubelet: 11Mi a pod and 255Mi of memory, the
// bands of cpu, 1Gi of disk. A user's key replaces the default of that key alone.
// Source: kubeReservedResources() in pkg/providers/instancetype/types.go, all releases.
func (c *calculation) kubeReserved(name string) (Sum, error) {
	if sum, ok, err := c.reserved(c.kubelet.kubeReserved, name); ok || err != nil {
		return sum, err
	}
	switch name {
	case CPU:
		return c.kubeReservedCPU(), nil
	case Memory:
		return c.kubeReservedMemory()
	case EphemeralStorage:
		return c.sum(term("kube-reserved: default", gib)), nil
	}
	return nil, nil
}

// kubeReservedMemory is (11·P + 255) MiB. P is the ENI-limited count, whatever maxPods says, for the families whose
// start-up script reserves so, and the pods of the node for the others. Reserved ENIs lower P up to v1.5.1 although
// the script does not know of them (#8205); EFA-only interfaces do since v1.11.0 although nodeadm counts them.
func (c *calculation) kubeReservedMemory() (Sum, error) {
	pods, err := c.kubeReservedPods()
	if err != nil {
		return nil, err
	}
	total, err := pods.Total()
	if err != nil {
		return nil, err
	}
	if total.Units > 1<<33 || total.Units < -(1<<33) {
		return nil, fmt.Errorf("kube-reserved memory for %d pods: %w", total.Units, errOverflow)
	}
	return c.sum(
		times("kube-reserved: 11Mi a pod", 11*mib, total.Units),
		term("kube-reserved: base", 255*mib),
	), nil
}

func (c *calculation) kubeReservedPods() (Sum, error) {
	if !c.family.ENILimitedMemoryOverhead {
		return c.pods()
	}
	reserved := c.reservedENIs()
	if c.rules.ReserveAllENIs {
		reserved = 0
	}
	return c.eniLimitedPods(reserved)
}

// systemReserved is the user's map, and in v0.27.0 alone a default besides (removed by ff900f989, #3568).
func (c *calculation) systemReserved(name string) (Sum, error) {
	if sum, ok, err := c.reserved(c.kubelet.systemReserved, name); ok || err != nil {
		return sum, err
	}
	if !c.rules.DefaultSystemReserved {
		return nil, nil
	}
	const label = "system-reserved: default of v0.27.0"
	switch name {
	case CPU:
		return c.sum(term(label, 100)), nil
	case Memory:
		return c.sum(term(label, 100*mib)), nil
	case EphemeralStorage:
		return c.sum(term(label, gib)), nil
	}
	return nil, nil
}

// reserved looks the user's entry for a resource up; not found also where its expression gives nothing.
func (c *calculation) reserved(entries []reservation, name string) (Sum, bool, error) {
	for _, r := range entries {
		if r.resource != name {
			continue
		}
		if r.expression == nil {
			return c.sum(Term{Label: r.label, Amount: r.amount}), true, nil
		}
		amount, ok, err := r.expression.reserved(c, name)
		if err != nil || !ok {
			return nil, false, err
		}
		return c.sum(Term{Label: r.label, Amount: amount}), true, nil
	}
	return nil, false, nil
}

// eviction is the threshold below which the kubelet evicts: 100Mi of memory and 10 % of the disk. A signal replaces
// the default of its resource, also by a smaller value; of a hard and a soft one the larger counts, where soft counts.
// The percentage of memory is taken of the capacity by formula, also where a discovered one replaces it.
// Source: evictionThreshold() in pkg/providers/instancetype/types.go; nodefs since v0.27.1 (ff900f989).
func (c *calculation) eviction(name string) (Sum, error) {
	switch name {
	case Memory:
		return c.threshold(c.kubelet.memory, c.memoryBytes, term("eviction threshold: default", 100*mib))
	case EphemeralStorage:
		if !c.rules.NodefsEviction {
			return nil, nil
		}
		amount, err := percentOf(c.storageBytes, 10)
		if err != nil {
			return nil, err
		}
		return c.threshold(c.kubelet.nodefs, c.storageBytes, Term{Label: "eviction threshold: 10 % of the disk", Amount: amount})
	}
	return nil, nil
}

func (c *calculation) threshold(signals []signal, capacity int64, fallback Term) (Sum, error) {
	var largest Term
	for _, s := range signals {
		amount, err := s.threshold(capacity)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.label, err)
		}
		// First comes the hard signal: only a strictly greater soft one replaces it. Upstream's maximum starts from
		// nothing, so a single negative value stands.
		if largest.Label == "" || amount.Cmp(largest.Amount) > 0 {
			largest = Term{Label: s.label, Amount: amount}
		}
	}
	if largest.Label == "" {
		largest = fallback
	}
	return c.sum(largest), nil
}

// subtract works out allocatable = capacity − kube-reserved − system-reserved − eviction of every resource. Nothing is
// clamped but by huge pages: a small Windows type is below zero, and stays so.
// Source: Overhead.Total() and Allocatable() of sigs.k8s.io/karpenter pkg/cloudprovider/types.go; huge pages since core
// v1.7.0 (990572335).
func (c *calculation) subtract(e *Expectation) error {
	for i := range e.Resources {
		r := &e.Resources[i]
		if err := c.subtractOne(e, r); err != nil {
			return fmt.Errorf("%s of %s: %w", r.Name, e.InstanceType, err)
		}
	}
	return nil
}

func (c *calculation) subtractOne(e *Expectation, r *Resource) error {
	if !r.Capacity.Known {
		return nil
	}
	left, err := r.CapacityTerms.Total()
	if err != nil {
		return err
	}
	for _, reserve := range []struct {
		into *Sum
		of   func(*calculation, string) (Sum, error)
	}{
		{&r.KubeReserved, (*calculation).kubeReserved},
		{&r.SystemReserved, (*calculation).systemReserved},
		{&r.Eviction, (*calculation).eviction},
	} {
		sum, err := reserve.of(c, r.Name)
		unknown, err := missing(err)
		switch {
		case err != nil:
			return err
		case unknown != "":
			r.Unknown = unknown
			return nil
		case len(sum) == 0:
			continue
		}
		*reserve.into = sum
		if left, err = left.less(sum); err != nil {
			return err
		}
	}
	if r.Name == Memory {
		if left, err = c.subtractHugePages(e, r, left); err != nil {
			return err
		}
	}
	r.Allocatable.Value, r.Allocatable.Known = left.Ceil(), true
	return nil
}
