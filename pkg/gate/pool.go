package gate

import (
	"hash/maphash"
	"slices"

	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// rowPool keeps one copy of equal rows. Nodes of one type, class and AMI differ in a few KiB of memory at most, so a
// million rows of a large cluster are some thousand: that decides how much memory a run takes.
type rowPool struct {
	seed  maphash.Seed
	known map[uint64]*Row
	// rows and lists are what new ones are cut from: a million small pieces would each cost the collector a visit.
	rows  []Row
	lists []*Row
}

func newRowPool() *rowPool { return &rowPool{seed: maphash.MakeSeed(), known: map[uint64]*Row{}} }

// Pieces of one allocation.
const (
	rowsAtOnce  = 64
	listsAtOnce = 4096
)

// share returns the rows of one node, each of which other nodes may have too; rows can be used again.
func (p *rowPool) share(rows []Row) []*Row {
	if len(rows) == 0 {
		return nil
	}
	if len(p.lists) < len(rows) {
		p.lists = make([]*Row, max(listsAtOnce, len(rows)))
	}
	out := p.lists[:len(rows):len(rows)]
	p.lists = p.lists[len(rows):]
	for i := range rows {
		out[i] = p.of(&rows[i])
	}
	return out
}

func (p *rowPool) of(r *Row) *Row {
	hash := maphash.Comparable(p.seed, r.figures())
	known, ok := p.known[hash]
	if ok && known.equal(r) {
		return known
	}
	if len(p.rows) == 0 {
		p.rows = make([]Row, rowsAtOnce)
	}
	fresh := &p.rows[0]
	p.rows = p.rows[1:]
	*fresh = *r
	fresh.Causes, fresh.ClaimCauses = exactly(r.Causes), exactly(r.ClaimCauses)
	if !ok { // of different rows with one hash the first is shared; the others are right all the same
		p.known[hash] = fresh
	}
	return fresh
}

// exactly is causes without room for more.
func exactly(causes []compare.Cause) []compare.Cause {
	if causes == nil {
		return nil
	}
	return append(make([]compare.Cause, 0, len(causes)), causes...)
}

// figures are what a row is told apart by in nearly every case.
type figures struct {
	resource                string
	field                   compare.Field
	status                  compare.Status
	severity, claimSeverity Severity
	expected, claim, actual snapshot.Figure
	causes                  int
}

func (r *Row) figures() figures {
	return figures{r.Resource, r.Field, r.Status, r.Severity, r.ClaimSeverity, r.Expected, r.Claim, r.Actual, len(r.Causes)}
}

func (r *Row) equal(o *Row) bool {
	return r.figures() == o.figures() && r.Reason == o.Reason && r.Allowed == o.Allowed &&
		slices.Equal(r.Causes, o.Causes) && slices.Equal(r.ClaimCauses, o.ClaimCauses)
}
