package snapshot

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSorted: every order of every length is sorted, and equal elements keep theirs.
func TestSorted(t *testing.T) {
	type element struct{ key, position int }
	random := rand.New(rand.NewPCG(3, 4))
	for n := range 40 {
		for range 50 {
			list := make([]element, n)
			for i := range list {
				list[i] = element{random.IntN(n/2 + 1), i}
			}
			want := slices.Clone(list)
			slices.SortStableFunc(want, func(a, b element) int { return cmp.Compare(a.key, b.key) })
			got := sorted(slices.Clone(list), func(a, b *element) int { return cmp.Compare(a.key, b.key) })
			if !slices.Equal(got, want) {
				t.Fatalf("%v sorted is %v, want %v", list, got, want)
			}
		}
	}
}
