package expect

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// Amount is an exact quantity of one resource: Units base units (millicores for cpu, else bytes or a count) and Nano
// billionths of one, 0 ≤ Nano < 1e9. It lies between the smallest and the largest int64, so that Ceil always fits. Only
// what a person wrote (a reserved value, a volume, an overlay) can have a fraction.
type Amount struct {
	Units int64
	Nano  int32
}

const nanos = 1_000_000_000

// whole is an Amount without a fraction.
func whole(units int64) Amount { return Amount{Units: units} }

// errOverflow is what a figure outside int64 fails with.
var errOverflow = errors.New("the figures do not fit 64 bits")

// Add returns a + b; it fails when the sum does not fit.
func (a Amount) Add(b Amount) (Amount, error) {
	small, large := min(a.Units, b.Units), max(a.Units, b.Units)
	nano := a.Nano + b.Nano
	if nano >= nanos {
		// The carry goes to the smaller one first: −2^63−1 and a carry fit, although −2^63−1 does not. With a fraction
		// neither is 2^63−1.
		small, nano = small+1, nano-nanos
	}
	sum := small + large
	if wrapped := (small^sum)&(large^sum) < 0; wrapped || sum == math.MaxInt64 && nano > 0 {
		return Amount{}, errOverflow
	}
	return Amount{sum, nano}, nil
}

// less returns a less the sum; it fails when either does not fit.
func (a Amount) less(s Sum) (Amount, error) {
	if len(s) == 0 {
		return a, nil
	}
	total, err := s.Total()
	if err != nil {
		return Amount{}, err
	}
	if total, err = total.Neg(); err != nil {
		return Amount{}, err
	}
	return a.Add(total)
}

// Neg returns −a; it fails for the one value that has no opposite.
func (a Amount) Neg() (Amount, error) {
	if a.Units == math.MinInt64 {
		return Amount{}, errOverflow
	}
	if a.Nano == 0 {
		return Amount{Units: -a.Units}, nil
	}
	return Amount{-a.Units - 1, nanos - a.Nano}, nil
}

// Ceil rounds toward plus infinity. Upstream keeps fractions; a node has none.
func (a Amount) Ceil() int64 {
	if a.Nano > 0 {
		return a.Units + 1
	}
	return a.Units
}

// Cmp compares a with b as cmp.Compare does.
func (a Amount) Cmp(b Amount) int {
	switch {
	case a.Units != b.Units:
		if a.Units < b.Units {
			return -1
		}
		return 1
	case a.Nano != b.Nano:
		if a.Nano < b.Nano {
			return -1
		}
		return 1
	}
	return 0
}

// ParseAmount reads a Kubernetes quantity of the named resource exactly, to a billionth of the base unit. Finer input
// is rounded away from zero by the parser, as upstream's is.
func ParseAmount(name, text string) (Amount, error) {
	if err := checkExponent(text); err != nil {
		return Amount{}, err
	}
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return Amount{}, fmt.Errorf("%q is not a quantity", text)
	}
	dec := q.AsDec()
	exponent := 9 - int64(dec.Scale()) // to billionths of a unit
	if name == snapshot.CPU {
		exponent += 3 // the base unit is a millicore
	}
	n := new(big.Int).Set(dec.UnscaledBig())
	// The parser leaves nothing finer than a billionth but zero, so a negative exponent changes nothing.
	n.Mul(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(exponent), nil))
	units, nano := new(big.Int).DivMod(n, big.NewInt(nanos), new(big.Int))
	if !units.IsInt64() || units.Int64() == math.MaxInt64 && nano.Sign() > 0 {
		return Amount{}, fmt.Errorf("%q: %w", text, errOverflow)
	}
	return Amount{units.Int64(), int32(nano.Int64())}, nil
}

// The longest quantity and the largest exponent that are read: far more than fits 64 bits, and little enough that the
// parser, which writes an exponent of 10^9 out in digits, cannot be made to fill the memory.
const (
	longestQuantity = 128
	largestExponent = 99
)

// checkExponent refuses a quantity that is too much for the parser. "1E" and "1Ei" are suffixes, not exponents.
func checkExponent(text string) error {
	if len(text) > longestQuantity {
		return fmt.Errorf("%q… is not a quantity: longer than %d characters", text[:16], longestQuantity)
	}
	i := strings.IndexAny(text, "eE")
	if i < 0 || i+1 == len(text) {
		return nil
	}
	n, err := strconv.ParseInt(text[i+1:], 10, 64)
	if errors.Is(err, strconv.ErrRange) || err == nil && (n > largestExponent || n < -largestExponent) {
		return fmt.Errorf("%q: exponent beyond ±%d", text, largestExponent)
	}
	return nil
}

// Format prints the amount as a quantity of the named resource: "7577Mi", "1930m", "322122547.2".
func (a Amount) Format(name string) string {
	if a.Nano == 0 {
		return snapshot.FormatQuantity(name, a.Units)
	}
	digits := strings.TrimRight(fmt.Sprintf("%09d", a.Nano), "0")
	units, sign := a.Units, ""
	if units < 0 { // the fraction is counted upward from Units: turn it round for reading
		rest := nanos - int64(a.Nano)
		units, sign = -(a.Units + 1), "-"
		digits = strings.TrimRight(fmt.Sprintf("%09d", rest), "0")
	}
	text := fmt.Sprintf("%s%d.%s", sign, units, digits)
	if name == snapshot.CPU {
		text += "m"
	}
	return text
}
