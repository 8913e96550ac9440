package snapshot

import (
	"hash/maphash"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Cache keeps one copy of each label and amount, and one of each list of them, so that a large cluster costs little more
// than what its nodes differ in: those of one type, pool and zone have equal labels but for the host name, which no later
// step reads, and mostly equal amounts. What comes from a Cache is shared and must not be changed. The zero value is
// ready to use, by one goroutine at a time.
type Cache struct {
	labels    pairs[Label]
	resources pairs[Resource]

	labelLists    lists[Label]
	resourceLists lists[Resource]
	texts         map[string]string
	// The lists that are being read.
	label    Labels
	resource ResourceList
}

// Label returns the pair of these texts.
func (c *Cache) Label(key, value []byte) *Label {
	return c.labels.of(key, value, func(key, value string) *Label { return &Label{key, value} })
}

// ShareLabels returns a list equal to l, whose pairs are from c: the same one for equal lists, nil for an empty one. l
// itself is copied.
func (c *Cache) ShareLabels(l Labels) Labels { return c.labelLists.share(l) }

// DecodeLabels reads the next value of dec, as Labels do themselves.
func (c *Cache) DecodeLabels(dec *jsontext.Decoder, to *Labels) error {
	c.label = c.label[:0]
	if err := readObject(dec, func(key, value []byte) { c.label = append(c.label, c.Label(key, value)) }); err != nil {
		return err
	}
	if !slices.IsSortedFunc(c.label, labelOrder) {
		slices.SortStableFunc(c.label, labelOrder)
	}
	*to = c.labelLists.share(c.label)
	return nil
}

// DecodeResources reads the next value of dec, as a ResourceList does itself.
func (c *Cache) DecodeResources(dec *jsontext.Decoder, to *ResourceList) error {
	c.resource = c.resource[:0]
	err := readObject(dec, func(name, text []byte) {
		c.resource = append(c.resource, c.resources.of(name, text, parseResource))
	})
	if err != nil {
		return err
	}
	if !slices.IsSortedFunc(c.resource, resourceOrder) {
		slices.SortStableFunc(c.resource, resourceOrder)
	}
	*to = c.resourceLists.share(c.resource)
	return nil
}

// Text returns one copy of s.
func (c *Cache) Text(s string) string {
	if known, ok := c.texts[s]; ok {
		return known
	}
	if c.texts == nil {
		c.texts = map[string]string{}
	}
	c.texts[s] = s
	return s
}

// ShareTexts replaces the texts that many nodes have by the copies of cache.
func (n *Node) ShareTexts(cache *Cache) {
	for _, s := range []*string{&n.OSImage, &n.KubeletVersion, &n.KernelVersion, &n.Ready, &n.ClassHash.Value, &n.ClassHash.Version} {
		*s = cache.Text(*s)
	}
}

// ShareTexts replaces the texts that many claims have by the copies of cache.
func (c *NodeClaim) ShareTexts(cache *Cache) {
	for _, s := range []*string{
		&c.Kind, &c.APIVersion, &c.Pool, &c.ClassRef.Group, &c.ClassRef.Kind, &c.ClassRef.Name, &c.ImageID,
		&c.ClassHash.Value, &c.ClassHash.Version, &c.PoolHash.Value, &c.PoolHash.Version, &c.Initialized,
	} {
		*s = cache.Text(*s)
	}
}

// pairs are what texts stand for, by name and then by value. What was seen before is found without making a string.
type pairs[T any] map[string]*valuesOf[T]

type valuesOf[T any] struct {
	name  string
	known map[string]*T
}

func (p *pairs[T]) of(name, value []byte, pair func(name, value string) *T) *T {
	values := (*p)[string(name)]
	if values == nil {
		if *p == nil {
			*p = pairs[T]{}
		}
		values = &valuesOf[T]{name: string(name), known: map[string]*T{}}
		(*p)[values.name] = values
	}
	if known := values.known[string(value)]; known != nil {
		return known
	}
	text := string(value)
	fresh := pair(values.name, text)
	values.known[text] = fresh
	return fresh
}

// lists keeps one copy of each list of shared elements.
type lists[T any] struct {
	seed  maphash.Seed
	known map[uint64][]*T
	// rest is what new lists are cut from: many small pieces would each cost the collector a visit.
	rest []*T
}

// listsAtOnce is the elements of one allocation.
const listsAtOnce = 2048

func (l *lists[T]) share(list []*T) []*T {
	if len(list) == 0 {
		return nil
	}
	if l.known == nil {
		l.seed, l.known = maphash.MakeSeed(), map[uint64][]*T{}
	}
	var h maphash.Hash
	h.SetSeed(l.seed)
	for _, e := range list {
		maphash.WriteComparable(&h, e)
	}
	hash := h.Sum64()
	known, ok := l.known[hash]
	if ok && slices.Equal(known, list) {
		return known
	}
	if len(l.rest) < len(list) {
		l.rest = make([]*T, max(listsAtOnce, len(list)))
	}
	fresh := l.rest[:len(list):len(list)]
	l.rest = l.rest[len(list):]
	copy(fresh, list)
	if !ok { // of different lists with one hash the first is shared; the others are right all the same
		l.known[hash] = fresh
	}
	return fresh
}
