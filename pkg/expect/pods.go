package expect

import (
	"fmt"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// defaultMaxPods is the kubelet's own default, used where pods do not follow the interfaces.
const defaultMaxPods = 110

// podsCapacity is maxPods when set (0 is legal); else the ENI-limited count where it applies; else 110; then at most
// podsPerCore per vCPU where the family counts it. Prefix delegation, IPv6 and custom networking without reserved ENIs
// are not modelled: whoever uses them sets maxPods.
// Source: pods() in pkg/providers/instancetype/types.go.
func (c *calculation) podsCapacity() (Sum, error) {
	sum, err := c.maxPods()
	if err != nil {
		return nil, err
	}
	if c.kubelet.podsPerCore > 0 && c.family.PodsPerCore {
		total, err := sum.Total()
		if err != nil {
			return nil, err
		}
		if perCore := c.kubelet.podsPerCore * c.instance.VCPUs; perCore < total.Units {
			return c.sum(Term{"podsPerCore × vCPUs", whole(perCore)}), nil
		}
	}
	return sum, nil
}

func (c *calculation) maxPods() (Sum, error) {
	if n, ok, err := c.kubelet.maxPods.value(c); err != nil {
		return nil, err
	} else if ok {
		return c.sum(Term{"maxPods", whole(n)}), nil
	}
	return c.podsWithoutMaxPods()
}

// podsWithoutMaxPods is the count as if maxPods were not set, before podsPerCore.
func (c *calculation) podsWithoutMaxPods() (Sum, error) {
	if c.eniLimitedPodDensity() {
		return c.eniLimitedPods(c.reservedENIs(), "")
	}
	return c.sum(Term{"default max pods", whole(defaultMaxPods)}), nil
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
// share the host's network. Reserved and EFA-only interfaces are taken off first; with none left it is 0. label heads
// the terms.
// Source: ENILimitedPods() in pkg/providers/instancetype/types.go; interfaces of the default card since v0.27.3
// (672a83261), reserved since v0.28.0 (ef3b72d03), EFA-only since v1.11.0 (1de6d8c60): those on card 0, although the
// interfaces are the default card's.
func (c *calculation) eniLimitedPods(reserved int64, label string) (Sum, error) {
	if err := c.need(snapshot.FactNetwork); err != nil {
		return nil, err
	}
	t := c.instance
	enis := t.ENIs
	if c.rules.DefaultCardENIs {
		enis = t.DefaultCardENIs
	}
	if enis < 0 || enis > 1<<20 || t.IPv4PerENI < 0 || t.IPv4PerENI > 1<<20 {
		return nil, fmt.Errorf("pods of %s: %d interfaces of %d addresses: %w", t.Name, enis, t.IPv4PerENI, errOverflow)
	}
	pods := t.IPv4PerENI - 1
	if c.rules.ReservedENIs && enis-reserved-c.efaOnly <= 0 {
		return c.sum(Term{label + "no network interface left for pods", whole(0)}), nil
	}
	from := len(c.terms)
	c.terms = append(c.terms, Term{label + "interfaces × (IPv4 addresses − 1)", whole(enis * pods)})
	if reserved != 0 {
		c.terms = append(c.terms, Term{label + "reserved ENIs", whole(-reserved * pods)})
	}
	if c.efaOnly != 0 {
		c.terms = append(c.terms, Term{label + "EFA-only interfaces on card 0", whole(-c.efaOnly * pods)})
	}
	c.terms = append(c.terms, Term{label + "pods on the host network", whole(2)})
	return Sum(c.terms[from:len(c.terms):len(c.terms)]), nil
}
