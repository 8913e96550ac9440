package gate

// Shard is this process's part of a very large run: every Total-th node of a cluster, counted from Index. The zero
// Shard is the whole.
type Shard struct{ Index, Total int }

// has reports whether the node at position i, in the order of names, belongs to the shard.
func (s Shard) has(i int) bool { return s.Total <= 1 || i%s.Total == s.Index }
