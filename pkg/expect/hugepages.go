package expect

import "strings"

// hugePagesPrefix heads the resource of every page size: hugepages-2Mi, hugepages-1Gi, and 64Ki and 32Mi on arm64.
const hugePagesPrefix = "hugepages-"

// IsHugePages reports whether the resource is huge pages of some size.
func IsHugePages(name string) bool { return strings.HasPrefix(name, hugePagesPrefix) }

// subtractHugePages takes every huge page in capacity off what is left of memory, and raises that to 0 where it gets
// negative. Only a NodeOverlay puts huge pages into capacity.
// Source: Allocatable() of sigs.k8s.io/karpenter pkg/cloudprovider/types.go, since core v1.7.0 (990572335, #2306).
func (c *calculation) subtractHugePages(e *Expectation, memory *Resource, left Amount) (Amount, error) {
	if !c.rules.HugePages {
		return left, nil
	}
	for i := range e.Resources {
		pages := &e.Resources[i]
		if !IsHugePages(pages.Name) {
			continue
		}
		var err error
		if left, err = left.less(pages.CapacityTerms); err != nil {
			return Amount{}, err
		}
		for _, t := range pages.CapacityTerms {
			memory.HugePages = append(memory.HugePages, Term{Label: pages.Name, Amount: t.Amount})
		}
		if left.Cmp(Amount{}) < 0 {
			left, memory.Clamped = Amount{}, true
		}
	}
	return left, nil
}
