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
}

// sighting is where an object was first seen.
type sighting struct {
	index   int
	version string
	file    string
}

// add keeps v under key. The same object a second time is no news; one of an older API version gives way to the newer;
// a different object of the same name means that two clusters, or two moments of one, were mixed.
func (c *collection[T]) add(key, name string, h header, s *source, v T) error {
	if c.seen == nil {
		c.seen = map[string]sighting{}
	}
	first, ok := c.seen[key]
	if !ok {
		c.seen[key] = sighting{c.items.Len(), h.apiVersion, s.name}
		*c.items.Add() = v
		return nil
	}
	known := c.items.At(first.index)
	if s.replaces {
		*known = v
		return nil
	}
	if first.version != h.apiVersion {
		if newer(h.apiVersion, first.version) {
			*known = v
			c.seen[key] = sighting{first.index, h.apiVersion, s.name}
		}
		return nil
	}
	if reflect.DeepEqual(*known, v) {
		return nil
	}
	where := "twice in this file"
	if first.file != s.name {
		where = "also in " + first.file
	}
	return s.fail(fmt.Errorf("%s %q is %s with another content: all dumps together are one cluster at one moment, so remove one of the two (several clusters are given as snapshots)", h.kind, name, where))
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
	maps.DeleteFunc(c.seen, func(_ string, s sighting) bool { return s.index >= n })
}

// newer compares the versions of one API group by Kubernetes' rules: v1alpha5 < v1beta1 < v1.
func newer(a, b string) bool {
	return version.CompareKubeAwareVersionStrings(a[strings.LastIndexByte(a, '/')+1:], b[strings.LastIndexByte(b, '/')+1:]) > 0
}
