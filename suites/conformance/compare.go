package conformance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// Ours is pkg/expect asked about one case: a function of the instance type. It is an Answer for every type, as an
// oracle's is; a class that no type can be computed for is Unknown for each.
type Ours func(release string, c Case) func(*snapshot.InstanceType) Answer

// Result is what a comparison with one oracle gives.
type Result struct {
	Release string
	// Rows are the pairs of case and instance type that were compared; Unknown, those that upstream panics on (or whose
	// figures do not fit 64 bits); Mismatches, those with a difference.
	Rows, Unknown, Mismatches int
	// Kinds are the differences told apart by field and resource, in the order in which they were found.
	Kinds []Kind
	// OtherLimits are the types whose VPC limits in our library's table are not those compiled into the release, in name
	// order. EC2 changed them since; pod-eni and PrivateIPv4Address of these are compared on the release's limits.
	OtherLimits []string
}

// LimitsApart lists OtherLimits by instance family: "c9g: medium large xlarge".
func (r Result) LimitsApart() string {
	var b strings.Builder
	last := ""
	for _, name := range r.OtherLimits {
		family, size, _ := strings.Cut(name, ".")
		if family != last {
			if last != "" {
				b.WriteByte('\n')
			}
			b.WriteString(family + ":")
			last = family
		}
		b.WriteString(" " + size)
	}
	return b.String()
}

// Kind is the differences in one field of one resource: the first, and how many rows have one.
type Kind struct {
	First Difference
	Rows  int
}

// add counts a difference among its kind.
func (r *Result) add(d Difference) {
	for i := range r.Kinds {
		if k := &r.Kinds[i]; k.First.Field == d.Field && k.First.Resource == d.Resource {
			k.Rows++
			return
		}
	}
	r.Kinds = append(r.Kinds, Kind{First: d, Rows: 1})
}

func (r Result) String() string {
	return fmt.Sprintf("%s: %d rows compared, %d mismatches, %d of the rows unknown on both sides; %d types compared on the release's own VPC limits, which changed since",
		r.Release, r.Rows, r.Mismatches, r.Unknown, len(r.OtherLimits))
}

// Compare puts the cases to an oracle and to pkg/expect, for each instance type of the catalogue.
func Compare(ctx context.Context, o Oracle, ours Ours, catalogue *Catalogue, cases []Case) (Result, error) {
	r := Result{Release: o.Release}
	limits, err := o.Limits(ctx)
	if err != nil {
		return r, fmt.Errorf("reading the VPC limits of %s: %w", o.Release, err)
	}
	types := slices.Clone(catalogue.InstanceTypes)
	for i := range types {
		t := &types[i]
		theirs, listed := limits[t.Name]
		if listed != (t.Limits != nil) || listed && theirs != *t.Limits {
			r.OtherLimits = append(r.OtherLimits, t.Name)
		}
		t.Limits = nil
		if listed {
			t.Limits = &theirs
		}
	}
	var answer func(*snapshot.InstanceType) Answer
	err = o.Ask(ctx, catalogue.Files, cases, func(theirs Answer) error {
		if r.Rows == len(types)*len(cases) {
			return errors.New("an answer too many")
		}
		i, t := r.Rows/len(types), &types[r.Rows%len(types)]
		if theirs.Case != cases[i].ID || theirs.InstanceType != t.Name {
			return fmt.Errorf("want the answer to case %s for %s", cases[i].ID, t.Name)
		}
		if r.Rows%len(types) == 0 {
			answer = ours(o.Release, cases[i])
		}
		r.Rows++
		if theirs.unknown() != "" {
			r.Unknown++
		}
		found := differences(theirs, answer(t))
		if len(found) > 0 {
			r.Mismatches++
		}
		for _, d := range found {
			r.add(d)
		}
		return nil
	})
	if err == nil && r.Rows != len(types)*len(cases) {
		err = fmt.Errorf("the oracle of %s gave %d answers, not %d cases × %d types", o.Release, r.Rows, len(cases), len(types))
	}
	return r, err
}

// Explain says what a difference is, with the smallest case that still shows it: the question to put to either side.
func Explain(ctx context.Context, o Oracle, ours Ours, catalogue *Catalogue, cases []Case, d Difference) (string, error) {
	folder, err := os.MkdirTemp("", "conformance-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	one, err := catalogue.only(d.InstanceType, folder)
	if err != nil {
		return "", err
	}
	asked := cases[slices.IndexFunc(cases, func(c Case) bool { return c.ID == d.Case })]
	shown := d
	small, err := Shrink(asked, func(candidates []Case) (int, error) {
		candidates = slices.Clone(candidates)
		for i := range candidates {
			candidates[i].ID = strconv.Itoa(i) // an answer names its question
		}
		result, err := Compare(ctx, o, ours, one, candidates)
		if err != nil {
			return -1, err
		}
		for _, kind := range result.Kinds {
			if kind.First.Field == d.Field && kind.First.Resource == d.Resource {
				shown = kind.First
				return strconv.Atoi(kind.First.Case)
			}
		}
		return -1, nil
	})
	if err != nil {
		return "", fmt.Errorf("looking for the smallest case of %q: %w", d, err)
	}
	why := ""
	if asked.Why != "" {
		why = " (" + asked.Why + ")"
	}
	small.ID = d.Case
	return fmt.Sprintf("Karpenter %s, case %s%s: %s\n  smallest case: %s\n  there: %s\n  to see ours, with its nodeClass in FILE: allocatable-diff expect %s --explain --karpenter-version %s --overhead-percent %v --reserved-enis %d --node-class FILE",
		o.Release, d.Case, why, d, small, shown, d.InstanceType, o.Release, small.OverheadPercent, small.ReservedENIs), nil
}
