package gate

import (
	"iter"

	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// Subjects yields every node of the snapshots, classified as Evaluate does, with what was expected of it; a Node has no
// rows and no severity. Order is the snapshots'. The Subject is complete for a node that is Judged; of others, fields
// that could not be worked out are nil. It fails only on overrides that cannot be used.
func Subjects(snapshots []*snapshot.Snapshot, o Options) (iter.Seq2[Node, compare.Subject], error) {
	evaluations := make([]*evaluation, len(snapshots))
	for i, s := range snapshots {
		e, err := newEvaluation(s, o)
		if err != nil {
			return nil, err
		}
		evaluations[i] = e
	}
	return func(yield func(Node, compare.Subject) bool) {
		for _, e := range evaluations {
			for i := range e.snapshot.Nodes {
				if !yield(e.classified(&e.snapshot.Nodes[i])) {
					return
				}
			}
		}
	}, nil
}
