package expect

import "github.com/allocatable-diff/allocatable-diff/pkg/snapshot"

// VMOverhead is the memory of one instance type as a function of the VM memory overhead alone: everything else of the
// calculation is done once. A search for the overhead that fits asks it far more often than whole expectations could be
// computed. It is not safe for concurrent use.
type VMOverhead struct {
	model Model
	c     calculation
	base  int64
	// reserved is kube-reserved and system-reserved, hugePages each page size; neither depends on the overhead.
	reserved  Amount
	hugePages Sum
	unknown   string
}

// VMOverhead takes the part of e, which is m.Expect(t), that does not depend on the overhead.
func (m *Model) VMOverhead(t *snapshot.InstanceType, e *Expectation) (*VMOverhead, error) {
	v := &VMOverhead{model: *m}
	v.c = calculation{Model: &v.model, instance: t, terms: make([]Term, 0, 4)}
	v.model.settings.OverheadPercent = 0
	sum, err := v.c.memory()
	if err != nil {
		return nil, err
	}
	base, err := sum.Total()
	if err != nil {
		return nil, err
	}
	v.base = base.Units / mib
	memory := e.Get(Memory)
	if !memory.Allocatable.Known {
		v.unknown = memory.Unknown
		return v, nil
	}
	kube, err := memory.KubeReserved.Total()
	if err != nil {
		return nil, err
	}
	system, err := memory.SystemReserved.Total()
	if err != nil {
		return nil, err
	}
	v.reserved, err = kube.Add(system)
	v.hugePages = memory.HugePages
	return v, err
}

// Unknown is why allocatable memory cannot be computed; empty when it can.
func (v *VMOverhead) Unknown() string { return v.unknown }

// BaseMiB is the memory that the overhead is taken of: EC2's figure, less the Graviton CMA where it counts.
func (v *VMOverhead) BaseMiB() int64 { return v.base }

// MiB is the overhead at a fraction, in the controller's own rounding. It grows with the fraction.
func (v *VMOverhead) MiB(percent float64) (int64, error) {
	v.model.settings.OverheadPercent = percent
	v.c.terms = v.c.terms[:0]
	sum, err := v.c.memory()
	if err != nil {
		return 0, err
	}
	return -sum[len(sum)-1].Amount.Units / mib, nil
}

// Capacity is the expected memory capacity in bytes at an overhead of so many MiB.
func (v *VMOverhead) Capacity(overheadMiB int64) int64 { return (v.base - overheadMiB) * mib }

// Allocatable is the expected allocatable memory in bytes at an overhead of so many MiB: an eviction signal in per cent
// follows the capacity. It is meaningless where Unknown says so.
func (v *VMOverhead) Allocatable(overheadMiB int64) (int64, error) {
	v.c.memoryBytes = v.Capacity(overheadMiB)
	v.c.terms = v.c.terms[:0]
	eviction, err := v.c.eviction(Memory)
	if err != nil {
		return 0, err
	}
	left, err := whole(v.c.memoryBytes).less(Sum{{Amount: v.reserved}})
	if err != nil {
		return 0, err
	}
	if left, err = left.less(eviction); err != nil {
		return 0, err
	}
	for i := range v.hugePages {
		if left, err = left.less(v.hugePages[i : i+1]); err != nil {
			return 0, err
		}
		if left.Cmp(Amount{}) < 0 {
			left = Amount{}
		}
	}
	return left.Ceil(), nil
}

// WithOverheadPercent is the model of the same class under another overhead.
func (m *Model) WithOverheadPercent(percent float64) *Model {
	other := *m
	other.settings.OverheadPercent = percent
	return &other
}
