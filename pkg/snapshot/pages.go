package snapshot

// Pages is a list that grows without being copied: what a large cluster is read into, of which nobody knows how long it
// gets. The zero value is empty.
type Pages[T any] struct {
	pages [][]T // each pageSize long
	count int
}

// pageSize is the elements of a page.
const pageSize = 256

// Len is the number of elements.
func (p *Pages[T]) Len() int { return p.count }

// At is the element at position i, which must be there.
func (p *Pages[T]) At(i int) *T { return &p.pages[i/pageSize][i%pageSize] }

// Add adds a zero element, for the caller to fill in.
func (p *Pages[T]) Add() *T {
	if p.count == len(p.pages)*pageSize {
		p.pages = append(p.pages, make([]T, pageSize))
	}
	p.count++
	return p.At(p.count - 1)
}

// Truncate forgets all elements from position n on.
func (p *Pages[T]) Truncate(n int) {
	for i := n; i < p.count; i++ {
		var zero T
		*p.At(i) = zero
	}
	p.count = n
}

// Take returns the elements as one list, nil for none, and leaves p empty.
func (p *Pages[T]) Take() []T {
	if p.count == 0 {
		return nil
	}
	out := make([]T, 0, p.count)
	for i, page := range p.pages {
		out = append(out, page[:min(pageSize, p.count-len(out))]...)
		p.pages[i] = nil // the collector may have it already
	}
	*p = Pages[T]{}
	return out
}
