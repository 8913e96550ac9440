package compare

import (
	"slices"

	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// Unjudged lays out the figures of a node that is not compared, for the reports that have rows for every node: what it
// reports, and what was expected of it where s.Expect is known. Every row has the given status; none has a cause.
func Unjudged(s Subject, status Status) []Row {
	var rows []Row
	if s.Expect != nil {
		rows = Rows(s)
	} else {
		rows = reported(s)
	}
	for i := range rows {
		rows[i].Status = status
	}
	return rows
}

// reported is the rows of a node of which nothing is expected: the core resources, then what else it has, known
// resources in the order of every report, the others by name.
func reported(s Subject) []Row {
	names := slices.Clone(core)
	has := func(name string) bool {
		c, a := s.Node.Capacity.Get(name), s.Node.Allocatable.Get(name)
		return c.Value != 0 || a.Value != 0
	}
	for _, name := range expect.ResourceNames() {
		if !slices.Contains(names, name) && has(name) {
			names = append(names, name)
		}
	}
	var others []string
	for _, amounts := range []snapshot.ResourceList{s.Node.Capacity, s.Node.Allocatable} {
		for _, r := range amounts {
			if !slices.Contains(names, r.Name) && !slices.Contains(others, r.Name) && has(r.Name) {
				others = append(others, r.Name)
			}
		}
	}
	slices.Sort(others)
	names = append(names, others...)
	rows := make([]Row, 0, 2*len(names))
	for _, name := range names {
		for _, field := range []Field{Capacity, Allocatable} {
			row := Row{Resource: name, Field: field, Claim: claimFigure(s.Claim, name, field)}
			amounts := s.Node.Capacity
			if field == Allocatable {
				amounts = s.Node.Allocatable
			}
			if actual, ok := amounts.Lookup(name); ok {
				row.setActual(actual)
			}
			rows = append(rows, row)
		}
	}
	return rows
}
