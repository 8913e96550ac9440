package conformance

import (
	"maps"
	"slices"
)

// Shrink makes a case as small as it gets while it still shows what it was found for. shows is asked about many smaller
// cases at a time, since asking an oracle starts a program; it returns the index of the first that shows it, or -1.
func Shrink(c Case, shows func([]Case) (int, error)) (Case, error) {
	for {
		candidates := smaller(c)
		i, err := shows(candidates)
		if err != nil || i < 0 {
			return c, err
		}
		c = candidates[i]
	}
}

// smaller lists the cases that are one step simpler: an option at its default, or one thing left out of the NodeClass,
// outermost things first.
func smaller(c Case) []Case {
	var all []Case
	if c.OverheadPercent != 0.075 {
		simpler := c
		simpler.OverheadPercent = 0.075
		all = append(all, simpler)
	}
	if c.ReservedENIs != 0 {
		simpler := c
		simpler.ReservedENIs = 0
		all = append(all, simpler)
	}
	for _, less := range without(c.NodeClass["spec"]) {
		simpler := c
		simpler.NodeClass = maps.Clone(c.NodeClass)
		simpler.NodeClass["spec"] = less
		all = append(all, simpler)
	}
	return all
}

// without lists the values that lack one key or element somewhere in v.
func without(v any) []any {
	var all []any
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			less := maps.Clone(v)
			delete(less, key)
			all = append(all, less)
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			for _, inner := range without(v[key]) {
				less := maps.Clone(v)
				less[key] = inner
				all = append(all, less)
			}
		}
	case []any:
		for i := range v {
			all = append(all, slices.Delete(slices.Clone(v), i, i+1))
		}
		for i := range v {
			for _, inner := range without(v[i]) {
				less := slices.Clone(v)
				less[i] = inner
				all = append(all, less)
			}
		}
	}
	return all
}
