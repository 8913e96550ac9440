package expect

import (
	"strconv"
	"strings"
)

// Term is one step of a calculation: an amount and what it is.
type Term struct {
	// Label says what the amount is, e.g. "EC2 memory"; see Text for the whole.
	Label string
	// Times is how often what Label names was counted, e.g. 29 times 11Mi; 0 where nothing is multiplied.
	Times  int64
	Amount Amount
}

// Text says what the amount is: "kube-reserved: 11Mi a pod × 29".
func (t Term) Text() string {
	if t.Times == 0 {
		return t.Label
	}
	return t.Label + " × " + strconv.FormatInt(t.Times, 10)
}

// term is a Term of whole base units.
func term(label string, units int64) Term { return Term{Label: label, Amount: whole(units)} }

// times is n times each base units.
func times(label string, each, n int64) Term {
	return Term{Label: label, Times: n, Amount: whole(n * each)}
}

// Sum is a calculation. Its terms add up to its result.
type Sum []Term

// Total adds the terms; it fails when the sum does not fit an int64.
func (s Sum) Total() (Amount, error) {
	var total Amount
	for _, t := range s {
		var err error
		if total, err = total.Add(t.Amount); err != nil {
			return Amount{}, err
		}
	}
	return total, nil
}

// Text prints the calculation of the named resource: "8Gi (EC2 memory) -615Mi (VM memory overhead) = 7577Mi"; "0" when
// there are no terms.
func (s Sum) Text(name string) string {
	var b strings.Builder
	for i, t := range s {
		if i > 0 {
			b.WriteByte(' ')
			if t.Amount.Units >= 0 {
				b.WriteByte('+')
			}
		}
		b.WriteString(t.Amount.Format(name) + " (" + t.Text() + ")")
	}
	total, err := s.Total()
	switch {
	case err != nil:
		return b.String() + ": " + err.Error()
	case len(s) == 0:
		return total.Format(name)
	case len(s) > 1:
		b.WriteString(" = " + total.Format(name))
	}
	return b.String()
}
