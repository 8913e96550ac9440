package expect

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// Amount is an exact quantity of one resource: Units base units (millicores for cpu, else bytes or a count) and Nano
// billionths of one, 0 ≤ Nano < 1e9. Only a reserved value can have a fraction: a capacity is always whole.
type Amount struct {
	Units int64
	Nano  int32
}

const nanos = 1_000_000_000

// whole is an Amount without a fraction.
func whole(units int64) Amount { return Amount{Units: units} }

// errOverflow is what a sum outside int64 fails with.
var errOverflow = errors.New("the figures do not fit 64 bits")

// Add returns a + b; it fails when the sum does not fit.
func (a Amount) Add(b Amount) (Amount, error) {
	nano := int64(a.Nano) + int64(b.Nano)
	carry := nano / nanos
	sum := a.Units + b.Units
	if (b.Units > 0) != (sum > a.Units) && b.Units != 0 {
		return Amount{}, errOverflow
	}
	if carry > 0 && sum == math.MaxInt64 {
		return Amount{}, errOverflow
	}
	return Amount{sum + carry, int32(nano % nanos)}, nil
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

// Ceil rounds toward plus infinity. Upstream keeps fractions; a node has none (model §14.1.5).
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
	ten := big.NewInt(10)
	switch {
	case exponent > 60:
		return Amount{}, fmt.Errorf("%q: %w", text, errOverflow)
	case exponent >= 0:
		n.Mul(n, ten.Exp(ten, big.NewInt(exponent), nil))
	default:
		n.Quo(n, ten.Exp(ten, big.NewInt(-exponent), nil))
	}
	units, nano := new(big.Int).DivMod(n, big.NewInt(nanos), new(big.Int))
	if !units.IsInt64() {
		return Amount{}, fmt.Errorf("%q: %w", text, errOverflow)
	}
	return Amount{units.Int64(), int32(nano.Int64())}, nil
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
