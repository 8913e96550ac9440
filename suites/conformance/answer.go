package conformance

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Field is a list of amounts that both sides give for an instance type.
type Field int

// The fields, in the order in which an oracle prints them.
const (
	Capacity Field = iota
	Allocatable
	KubeReserved
	SystemReserved
	EvictionThreshold
	fields // their number
)

func (f Field) String() string {
	return [...]string{"capacity", "allocatable", "kube-reserved", "system-reserved", "eviction threshold"}[f]
}

// Answer is what one side, an oracle or pkg/expect, says of one instance type in one case.
type Answer struct {
	Case, InstanceType string
	// Unknown is why there are no amounts: upstream panicked, or pkg/expect says it cannot tell.
	Unknown string
	Amounts [fields]Amounts
	// Resources are the names that pkg/expect has in capacity, zeros included; an oracle's answer has none.
	Resources []string
}

// Amounts are `name=amount,…` in name order without zeros: millicores for cpu, else bytes or a count. As text, since most
// are only ever compared with the other side's, and since a quantity may not fit 64 bits.
type Amounts string

// all gives each resource name and its amount, in name order.
func (a Amounts) all() iter.Seq2[string, string] {
	return func(yield func(name, amount string) bool) {
		for entry := range strings.SplitSeq(string(a), ",") {
			if name, amount, ok := strings.Cut(entry, "="); ok && !yield(name, amount) {
				return
			}
		}
	}
}

// newAmounts is the opposite of all, leaving zeros out.
func newAmounts(all map[string]int64) Amounts {
	names := make([]string, 0, len(all))
	for name, amount := range all {
		if amount != 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var b strings.Builder
	for i, name := range names {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(name)
		b.WriteByte('=')
		b.WriteString(strconv.FormatInt(all[name], 10))
	}
	return Amounts(b.String())
}

// parseAnswer reads a line of an oracle (oracles/oracle/doc.go has its form).
func parseAnswer(line []string) (Answer, error) {
	if len(line) < 4 {
		return Answer{}, fmt.Errorf("too short")
	}
	a := Answer{Case: line[0], InstanceType: line[1]}
	switch {
	case line[2] == "panic" && len(line) == 4:
		message, err := strconv.Unquote(line[3])
		if err != nil {
			return Answer{}, fmt.Errorf("message: %w", err)
		}
		a.Unknown = message
	case line[2] == "ok" && len(line) == 3+int(fields):
		for f := range fields {
			a.Amounts[f] = Amounts(line[3+f])
		}
	default:
		return Answer{}, fmt.Errorf("neither ok with %d lists nor a panic with its message", fields)
	}
	return a, nil
}

// unknown is why the answer cannot be used: a panic, or an amount that does not fit 64 bits. Upstream computes such an
// amount; pkg/expect, whose figures are 64-bit, has to say that it does not know.
func (a Answer) unknown() string {
	if a.Unknown != "" {
		return a.Unknown
	}
	for f, list := range a.Amounts {
		for name, amount := range list.all() {
			if len(amount) > 18 { // shorter ones fit
				if _, err := strconv.ParseInt(amount, 10, 64); err != nil {
					return fmt.Sprintf("%s %s=%s does not fit 64 bits", Field(f), name, amount)
				}
			}
		}
	}
	return ""
}

// Difference is one amount that the two sides disagree on, or, without a resource, whether there are amounts at all.
type Difference struct {
	Case, InstanceType string
	Field              Field
	Resource           string
	Oracle, Ours       string
}

func (d Difference) String() string {
	what := d.Field.String() + " of " + d.Resource
	if d.Resource == "" {
		what = "figures at all"
	}
	return fmt.Sprintf("%s, %s: Karpenter %s, pkg/expect %s", d.InstanceType, what, d.Oracle, d.Ours)
}

// differences compares an oracle's answer with ours, in a fixed order.
func differences(oracle, ours Answer) []Difference {
	if oracle.Amounts == ours.Amounts && oracle.Unknown == "" && ours.Unknown == "" {
		return nil
	}
	theirReason := oracle.unknown()
	if theirReason != "" && ours.Unknown != "" {
		return nil
	}
	if theirReason != "" || ours.Unknown != "" {
		return []Difference{{
			Case: oracle.Case, InstanceType: oracle.InstanceType,
			Oracle: cmp.Or(theirReason, "has figures"), Ours: cmp.Or(ours.Unknown, "has figures"),
		}}
	}
	var found []Difference
	for f := range fields {
		if oracle.Amounts[f] == ours.Amounts[f] {
			continue
		}
		theirs, us := maps.Collect(oracle.Amounts[f].all()), maps.Collect(ours.Amounts[f].all())
		names := slices.AppendSeq(slices.Collect(maps.Keys(theirs)), maps.Keys(us))
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			// An overhead of something that capacity does not have has no effect, and pkg/expect drops it.
			effective := f == Capacity || f == Allocatable || slices.Contains(ours.Resources, name)
			if effective && theirs[name] != us[name] {
				found = append(found, Difference{
					Case: oracle.Case, InstanceType: oracle.InstanceType, Field: f, Resource: name,
					Oracle: cmp.Or(theirs[name], "0"), Ours: cmp.Or(us[name], "0"),
				})
			}
		}
	}
	return found
}
