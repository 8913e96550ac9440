package collect

import "github.com/allocatable-diff/allocatable-diff/pkg/snapshot"

// Join walks from each node to its claim, pool and class, and writes what it found to Node.Join.
func Join(s *snapshot.Snapshot) {}
