package snapshot

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Cache keeps one copy of the lists that many nodes have in common, so that a large cluster costs little more than what
// its nodes differ in: those of one type, pool and zone have equal labels but for the host name, which no later step
// reads, and mostly equal amounts. Lists from a Cache are shared and must not be changed. The zero value is ready to
// use, by one goroutine at a time.
type Cache struct {
	labels map[string]Labels
	text   []byte
	// Decoded lists by their JSON text. An object seen again is not even parsed.
	decodedLabels    map[string]Labels
	decodedResources map[string]ResourceList
}

// maxDecoded bounds the texts that are remembered: a cluster in which every list is another has nothing to share.
const maxDecoded = 1 << 14

// ShareLabels returns a list equal to l, the same one for equal lists; nil for an empty one. l itself is copied.
func (c *Cache) ShareLabels(l Labels) Labels {
	if len(l) == 0 {
		return nil
	}
	c.text = c.text[:0]
	for _, e := range l {
		c.text = append(append(c.text, e.Key...), '\x00')
		c.text = append(append(c.text, e.Value...), '\x00')
	}
	if known, ok := c.labels[string(c.text)]; ok {
		return known
	}
	if c.labels == nil {
		c.labels = map[string]Labels{}
	}
	list := append(make(Labels, 0, len(l)), l...)
	c.labels[string(c.text)] = list
	return list
}

// DecodeLabels reads the next value of dec, as Labels do themselves.
func (c *Cache) DecodeLabels(dec *jsontext.Decoder, to *Labels) error {
	if c.decodedLabels == nil {
		c.decodedLabels = map[string]Labels{}
	}
	return decodeOnce(dec, to, c.decodedLabels, (*Labels).UnmarshalJSONFrom)
}

// DecodeResources reads the next value of dec, as a ResourceList does itself.
func (c *Cache) DecodeResources(dec *jsontext.Decoder, to *ResourceList) error {
	if c.decodedResources == nil {
		c.decodedResources = map[string]ResourceList{}
	}
	return decodeOnce(dec, to, c.decodedResources, (*ResourceList).UnmarshalJSONFrom)
}

func decodeOnce[T any](dec *jsontext.Decoder, to *T, known map[string]T, decode func(*T, *jsontext.Decoder) error) error {
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	if list, ok := known[string(raw)]; ok {
		*to = list
		return nil
	}
	text := string(raw) // dec may use the memory of raw again
	if err := decode(to, jsontext.NewDecoder(strings.NewReader(text), jsontext.AllowDuplicateNames(true))); err != nil {
		return err
	}
	if len(known) < maxDecoded {
		known[text] = *to
	}
	return nil
}
