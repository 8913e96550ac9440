package expect

import "strings"

// Term is one step of a calculation: an amount and what it is.
type Term struct {
	// Label says what the amount is, e.g. "EC2 memory".
	Label  string
	Amount Amount
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

// Text prints the calculation of the named resource: "8Gi (EC2 memory) -615Mi (VM memory overhead) = 7577Mi".
func (s Sum) Text(name string) string {
	var b strings.Builder
	for i, t := range s {
		if i > 0 {
			b.WriteByte(' ')
			if t.Amount.Units >= 0 {
				b.WriteByte('+')
			}
		}
		b.WriteString(t.Amount.Format(name) + " (" + t.Label + ")")
	}
	total, err := s.Total()
	if err != nil {
		return b.String() + ": " + err.Error()
	}
	if len(s) != 1 {
		b.WriteString(" = " + total.Format(name))
	}
	return strings.TrimSpace(b.String())
}
