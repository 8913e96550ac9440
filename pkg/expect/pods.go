package expect

import "github.com/allocatable-diff/allocatable-diff/pkg/snapshot"

// defaultMaxPods is the kubelet's own default, used where pods do not follow the interfaces.
const defaultMaxPods = 110

// pods is podsCapacity, worked out once: kube-reserved memory and CEL expressions ask for it again.
func (c *calculation) pods() (Sum, error) {
	if !c.podsKnown {
		c.podsSum, c.podsErr = c.podsCapacity()
		c.podsKnown = true
	}
	return c.podsSum, c.podsErr
}

// podsCapacity is maxPods when set (0 is legal); else the ENI-limited count where it applies; else 110; then at most
// podsPerCore per vCPU where the family counts it. Prefix delegation, IPv6 and custom networking without reserved ENIs
// are not modelled: whoever uses them sets maxPods.
// Source: pods() in pkg/providers/instancetype/types.go.
func (c *calculation) podsCapacity() (Sum, error) {
	n, ok, err := c.kubelet.maxPods.value(c)
	switch {
	case err != nil:
		return nil, err
	case ok:
		return c.atMostPodsPerCore(c.sum(term("maxPods", n)))
	}
	return c.podsWithoutMaxPods()
}

// podsWithoutMaxPods is the count as if maxPods were not set.
func (c *calculation) podsWithoutMaxPods() (Sum, error) {
	if !c.eniLimitedPodDensity() {
		return c.atMostPodsPerCore(c.sum(term("default max pods", defaultMaxPods)))
	}
	sum, err := c.eniLimitedPods(c.reservedENIs())
	if err != nil {
		return nil, err
	}
	return c.atMostPodsPerCore(sum)
}

func (c *calculation) atMostPodsPerCore(sum Sum) (Sum, error) {
	if c.kubelet.podsPerCore <= 0 || !c.family.PodsPerCore {
		return sum, nil
	}
	total, err := sum.Total()
	if err != nil {
		return nil, err
	}
	perCore := term("podsPerCore", c.kubelet.podsPerCore*c.instance.VCPUs)
	if perCore.Amount.Cmp(total) >= 0 {
		return sum, nil
	}
	perCore.Times = c.instance.VCPUs
	return c.sum(perCore), nil
}

// eniLimitedPodDensity: the controller's setting up to v0.28, setting and family up to v0.32, then the family alone.
func (c *calculation) eniLimitedPodDensity() bool {
	if c.rules.GlobalSettings && c.settings.UnlimitedPodDensity {
		return false
	}
	return !c.rules.FamilyDensity || c.family.ENILimitedPodDensity
}

func (c *calculation) reservedENIs() int64 {
	if !c.rules.ReservedENIs {
		return 0
	}
	return c.settings.ReservedENIs
}

// eniLimitedPods is interfaces × (addresses − 1) + 2, in pods: one address of each interface is its own, and two pods
// share the host's network. Reserved and EFA-only interfaces are taken off first; with none left it is 0.
// Source: ENILimitedPods() in pkg/providers/instancetype/types.go; interfaces of the default card since v0.27.3
// (672a83261), reserved since v0.28.0 (ef3b72d03), EFA-only since v1.11.0 (1de6d8c60): those on card 0, although the
// interfaces are the default card's.
func (c *calculation) eniLimitedPods(reserved int64) (Sum, error) {
	if err := c.need(snapshot.FactNetwork); err != nil {
		return nil, err
	}
	t := c.instance
	enis := t.ENIs
	if c.rules.DefaultCardENIs {
		enis = t.DefaultCardENIs
	}
	pods := t.IPv4PerENI - 1
	// Compared, not subtracted: reserved may be the largest int64.
	if c.rules.ReservedENIs && (reserved >= enis || c.efaOnly >= enis-reserved) {
		return c.sum(term("no network interface left for pods", 0)), nil
	}
	from := len(c.terms)
	c.terms = append(c.terms, times("pod addresses of an interface", pods, enis))
	if reserved != 0 {
		c.terms = append(c.terms, times("pod addresses of a reserved ENI", -pods, reserved))
	}
	if c.efaOnly != 0 {
		c.terms = append(c.terms, times("pod addresses of an EFA-only interface on card 0", -pods, c.efaOnly))
	}
	c.terms = append(c.terms, term("pods on the host network", 2))
	return Sum(c.terms[from:len(c.terms):len(c.terms)]), nil
}
