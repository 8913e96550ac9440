package collect

import (
	"fmt"
	"maps"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/version"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// collection is the objects of one kind. Dumps overlap (nodes.json beside all.json), so one object may come twice.
type collection[T any] struct {
	items snapshot.Pages[T]
	seen  map[string]sighting
	// origins are where objects were first seen.
	origins []origin
}

// sighting is which object it is, and where it was first seen: positions in items and origins. There is one of every
// node, so they are small.
type sighting struct{ item, origin uint32 }

// origin is the file of an object, and the version of its API.
type origin struct{ version, file string }

// add keeps v under key. The same object a second time is no news; one of an older API version gives way to the newer;
// a different object of the same name means that two clusters, or two moments of one, were mixed.
func (c *collection[T]) add(key, name string, h header, s *source, v T) error {
	if c.seen == nil {
		c.seen = map[string]sighting{}
	}
	first, ok := c.seen[key]
	if !ok {
		c.seen[key] = sighting{uint32(c.items.Len()), c.origin(h, s)} //nolint:gosec // no cluster has 2^32 objects
		*c.items.Add() = v
		return nil
	}
	known, from := c.items.At(int(first.item)), c.origins[first.origin]
	if s.replaces {
		*known = v
		return nil
	}
	if from.version != h.apiVersion {
		if newer(h.apiVersion, from.version) {
			*known = v
			c.seen[key] = sighting{first.item, c.origin(h, s)}
		}
		return nil
	}
	if reflect.DeepEqual(*known, v) {
		return nil
	}
	where := "twice in this file"
	if from.file != s.name {
		where = "also in " + from.file
	}
	return s.fail(fmt.Errorf("%s %q is %s with another content: all dumps together are one cluster at one moment, so remove one of the two (several clusters are given as snapshots)", h.kind, name, where))
}

// take returns the objects and leaves the collection empty.
func (c *collection[T]) take() []T {
	c.seen, c.origins = nil, nil // before a copy is made: what is needed for the copy was needed for these
	return c.items.Take()
}

// origin is the position of where the current object comes from: most often where the last one did.
func (c *collection[T]) origin(h header, s *source) uint32 {
	from := origin{h.apiVersion, s.name}
	if n := len(c.origins); n == 0 || c.origins[n-1] != from {
		c.origins = append(c.origins, from)
	}
	return uint32(len(c.origins) - 1) //nolint:gosec // no more than objects
}

// mark is how much of each collection there is, for rewind.
type mark [6]int

func (d *dump) mark() mark {
	return mark{d.nodes.items.Len(), d.claims.items.Len(), d.pools.items.Len(), d.classes.items.Len(), d.overlays.items.Len(), d.deployments.items.Len()}
}

// rewind forgets every object that was added since m was taken.
func (d *dump) rewind(m mark) {
	d.nodes.truncate(m[0])
	d.claims.truncate(m[1])
	d.pools.truncate(m[2])
	d.classes.truncate(m[3])
	d.overlays.truncate(m[4])
	d.deployments.truncate(m[5])
}

func (c *collection[T]) truncate(n int) {
	c.items.Truncate(n)
	maps.DeleteFunc(c.seen, func(_ string, s sighting) bool { return int(s.item) >= n })
}

// newer compares the versions of one API group by Kubernetes' rules: v1alpha5 < v1beta1 < v1.
func newer(a, b string) bool {
	return version.CompareKubeAwareVersionStrings(a[strings.LastIndexByte(a, '/')+1:], b[strings.LastIndexByte(b, '/')+1:]) > 0
}
