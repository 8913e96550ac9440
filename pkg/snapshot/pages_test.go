package snapshot

import (
	"slices"
	"testing"
)

// TestPages: around the border of a page, what was added comes back in order, and what was forgotten does not.
func TestPages(t *testing.T) {
	for _, row := range []struct {
		reason            string
		added, kept, more int
	}{
		{"nothing", 0, 0, 0},
		{"half a page", 3, 2, 0},
		{"just a page", pageSize, pageSize, 0},
		{"one more than a page", pageSize + 1, pageSize + 1, 0},
		{"back to the border, and on", pageSize + 5, pageSize, 3},
		{"back over the border, and on", 2*pageSize + 5, pageSize - 1, pageSize},
		{"all forgotten", pageSize + 1, 0, 1},
	} {
		var p Pages[int]
		var want []int
		for i := range row.added {
			*p.Add() = i
			want = append(want, i)
		}
		p.Truncate(row.kept)
		want = want[:row.kept]
		for i := range row.more {
			v := p.Add()
			if *v != 0 {
				t.Errorf("%s: a new element is %d, want 0", row.reason, *v)
			}
			*v = -i
			want = append(want, -i)
		}
		if p.Len() != len(want) {
			t.Errorf("%s: %d elements, want %d", row.reason, p.Len(), len(want))
		}
		for i, v := range want {
			if *p.At(i) != v {
				t.Errorf("%s: element %d is %d, want %d", row.reason, i, *p.At(i), v)
			}
		}
		if got := p.Take(); !slices.Equal(got, want) || p.Len() != 0 {
			t.Errorf("%s: %d elements, %d left, want %d and none", row.reason, len(got), p.Len(), len(want))
		}
		if got := p.Take(); got != nil {
			t.Errorf("%s: an empty list is %v, want nil", row.reason, got)
		}
	}
}
