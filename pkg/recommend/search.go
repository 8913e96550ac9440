package recommend

import (
	"errors"
	"sort"

	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
)

// steps is how many fractions of four decimals there are below 1; step k is the fraction k/10000.
const steps = 10000

// fraction is step k as Karpenter reads it: the double nearest to the decimal number, which one division of two whole
// numbers gives.
func fraction(step int) float64 { return float64(step) / steps }

// need is what one figure of one curve asks for.
type need struct {
	// mib is the smallest overhead at which expected ≤ actual, step the smallest fraction that Karpenter makes so much of.
	mib  int64
	step int
	// gap is the overhead in MiB, not rounded, that would make expected equal actual; negative where the node has more
	// than EC2 says.
	gap float64
}

var errNoFraction = errors.New("no overhead below 1 makes the expectation as small as the node")

// find searches the need of a node of curve c that has so many bytes. Expected memory falls with the overhead, and the
// overhead grows with the fraction, so both are found by bisection.
func (c *curve) find(field compare.Field, actual int64) (need, error) {
	var failed error
	fits := func(overheadMiB int64) bool {
		expected, err := c.expected(field, overheadMiB)
		if err != nil {
			failed = err
		}
		return expected <= actual
	}
	most := max(c.BaseMiB(), 0)
	n := need{mib: int64(sort.Search(int(most)+1, func(i int) bool { return fits(int64(i)) }))}
	expected, err := c.expected(field, n.mib)
	switch {
	case failed != nil:
		return n, failed
	case err != nil:
		return n, err
	case n.mib > most:
		return n, errNoFraction
	}
	n.gap = float64(n.mib) - float64(hidden(actual, expected))/(1<<20)
	n.step, err = c.firstStep(n.mib)
	if err == nil && n.step >= steps {
		err = errNoFraction
	}
	return n, err
}

// firstStep is the first step at which Karpenter takes at least so many MiB away.
func (c *curve) firstStep(mib int64) (int, error) {
	if mib <= 0 { // also of the imaginary machine that has less memory than the CMA takes
		return 0, nil
	}
	var failed error
	step := sort.Search(steps+1, func(k int) bool {
		got, err := c.MiB(fraction(k))
		if err != nil {
			failed = err
		}
		return got >= mib
	})
	return step, failed
}

// overEstimates runs the whole formulas with the fraction and says whether they expect more than actual.
func (c *curve) overEstimates(field compare.Field, percent float64, actual int64) bool {
	e, err := c.model.WithOverheadPercent(percent).Expect(c.instanceType)
	if err != nil {
		return true
	}
	memory := e.Get(expect.Memory)
	if field == compare.Allocatable {
		return memory.Allocatable.Value > actual
	}
	return memory.Capacity.Value > actual
}
