package expect

import "strings"

// hugePagesPrefix heads the resource of every page size: hugepages-2Mi, hugepages-1Gi, and 64Ki and 32Mi on arm64.
const hugePagesPrefix = "hugepages-"

// IsHugePages reports whether the resource is huge pages of some size.
func IsHugePages(name string) bool { return strings.HasPrefix(name, hugePagesPrefix) }

// subtractHugePages takes every huge page in capacity off allocatable memory, and raises memory to 0 where that makes
// it negative. Only a NodeOverlay puts huge pages into capacity.
// Source: Allocatable() of sigs.k8s.io/karpenter pkg/cloudprovider/types.go, since core v1.7.0 (990572335, #2306).
func (c *calculation) subtractHugePages(e *Expectation) error {
	if !c.rules.HugePages {
		return nil
	}
	memory := e.Get(Memory)
	if memory == nil || !memory.Allocatable.Known {
		return nil
	}
	for i := range e.Resources {
		pages := &e.Resources[i]
		if !IsHugePages(pages.Name) {
			continue
		}
		taken, err := whole(pages.Capacity.Value).Neg()
		if err != nil {
			return err
		}
		left, err := whole(memory.Allocatable.Value).Add(taken)
		if err != nil {
			return err
		}
		memory.HugePages = append(memory.HugePages, Term{pages.Name, whole(pages.Capacity.Value)})
		if left.Units < 0 {
			left, memory.Clamped = Amount{}, true
		}
		memory.Allocatable.Value = left.Units
	}
	return nil
}
