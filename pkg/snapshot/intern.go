package snapshot

import "unique"

// intern returns one shared copy of s: a large cluster repeats the same few labels and quantities on every node.
func intern(s string) string { return unique.Make(s).Value() }
