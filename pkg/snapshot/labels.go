package snapshot

import (
	"cmp"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Labels is a string map kept as pairs in key order: small, and always written the same way. In JSON it is an
// object of strings. Pairs are shared between the objects that have them (see Cache) and must not be changed.
type Labels []*Label

// Label is one pair.
type Label struct{ Key, Value string }

// LabelsOf returns m in key order; nil for an empty map.
func LabelsOf(m map[string]string) Labels {
	if len(m) == 0 {
		return nil
	}
	out := make(Labels, 0, len(m))
	for k, v := range m {
		out = append(out, &Label{k, v})
	}
	slices.SortFunc(out, labelOrder)
	return out
}

func labelOrder(a, b *Label) int { return cmp.Compare(a.Key, b.Key) }

// Get returns the value of key; empty when it is not there.
func (l Labels) Get(key string) string {
	v, _ := l.Lookup(key)
	return v
}

// Lookup returns the value of key and whether it is there.
func (l Labels) Lookup(key string) (string, bool) {
	i, ok := slices.BinarySearchFunc(l, key, func(e *Label, k string) int { return cmp.Compare(e.Key, k) })
	if !ok {
		return "", false
	}
	return l[i].Value, true
}

// MarshalJSONTo writes l as an object.
func (l Labels) MarshalJSONTo(enc *jsontext.Encoder) error {
	if err := enc.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, e := range l {
		if err := enc.WriteToken(jsontext.String(e.Key)); err != nil {
			return err
		}
		if err := enc.WriteToken(jsontext.String(e.Value)); err != nil {
			return err
		}
	}
	return enc.WriteToken(jsontext.EndObject)
}

// UnmarshalJSONFrom reads an object whose values are strings, numbers or booleans; a scalar that is not a string is
// kept as it is written.
func (l *Labels) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return new(Cache).DecodeLabels(dec, l)
}
