package collect

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// keptLabels are what later steps read of a node, besides the prefixes below and what NodeOverlays require.
var keptLabels = map[string]bool{
	snapshot.LabelInstanceType:       true,
	snapshot.LabelInstanceTypeOld:    true,
	snapshot.LabelArch:               true,
	snapshot.LabelOS:                 true,
	snapshot.LabelZone:               true,
	"topology.kubernetes.io/region":  true,
	snapshot.LabelAutoModeClass:      true,
	snapshot.LabelComputeType:        true,
	"eks.amazonaws.com/capacityType": true,
	"eks.amazonaws.com/nodegroup":    true,
}

// keptPrefixes are Karpenter's own labels: the pool, the state of the node and the facts of its type.
var keptPrefixes = []string{"karpenter.sh/", "karpenter.k8s.aws/"}

func keeps(key string) bool {
	return keptLabels[key] || slices.ContainsFunc(keptPrefixes, func(p string) bool { return strings.HasPrefix(key, p) })
}

// droppedLabels are thrown away while reading, where every other label waits for the NodeOverlays: they differ from
// node to node, or repeat another label, and no overlay can ask for them.
var droppedLabels = map[string]bool{
	"kubernetes.io/hostname":                   true,
	"beta.kubernetes.io/arch":                  true,
	"beta.kubernetes.io/os":                    true,
	"failure-domain.beta.kubernetes.io/region": true,
	"failure-domain.beta.kubernetes.io/zone":   true,
	"k8s.io/cloud-provider-aws":                true,
}

// labelSet is the labels of the object that is being read. It is used again for the next one.
type labelSet struct {
	list snapshot.Labels
	// all keeps droppedLabels as well, for a selector.
	all   bool
	cache *snapshot.Cache
	// name is that of the member that is being read.
	name []byte
}

// UnmarshalJSONFrom reads an object of strings. A label that someone wrote as a number or boolean, which the API would
// refuse, is taken as its text.
func (l *labelSet) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	l.list = l.list[:0]
	tok, err := dec.ReadToken()
	if err != nil {
		return err
	}
	switch tok.Kind() {
	case 'n':
		return nil
	case '{':
	default:
		return &wrongKind{want: "an object", found: tok.Kind()}
	}
	for dec.PeekKind() != '}' {
		if err := l.member(dec); err != nil {
			return err
		}
	}
	if _, err = dec.ReadToken(); err != nil {
		return err
	}
	if !slices.IsSortedFunc(l.list, byKey) {
		slices.SortStableFunc(l.list, byKey)
	}
	return nil
}

func byKey(a, b *snapshot.Label) int { return cmp.Compare(a.Key, b.Key) }

func (l *labelSet) member(dec *jsontext.Decoder) error {
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	name, err := unquote(raw)
	if err != nil {
		return err
	}
	dropped := droppedLabels[string(name)]
	if dropped && !l.all {
		return dec.SkipValue()
	}
	l.name = append(l.name[:0], name...) // dec uses the memory of name again
	if raw, err = dec.ReadValue(); err != nil {
		return err
	}
	switch raw.Kind() {
	case '"', '0', 't', 'f':
	case 'n':
		return nil
	default:
		return &wrongKind{want: "a string", found: raw.Kind()}
	}
	text, err := unquote(raw)
	if err != nil {
		return err
	}
	if dropped { // it differs from node to node: not for the cache
		l.list = append(l.list, &snapshot.Label{Key: string(l.name), Value: string(text)})
		return nil
	}
	l.list = append(l.list, l.cache.Label(l.name, text))
	return nil
}

// unquote is the text of a JSON string, or of another scalar as it stands. It does not copy where nothing is escaped.
func unquote(raw jsontext.Value) ([]byte, error) {
	if raw.Kind() != '"' {
		return raw, nil
	}
	if !bytes.ContainsRune(raw, '\\') {
		return raw[1 : len(raw)-1], nil
	}
	return jsontext.AppendUnquote(nil, raw)
}

// selectable lets a selector look at a label list.
type selectable snapshot.Labels

func (s selectable) Has(key string) bool { _, ok := s.Lookup(key); return ok }

func (s selectable) Get(key string) string { return snapshot.Labels(s).Get(key) }

func (s selectable) Lookup(key string) (string, bool) { return snapshot.Labels(s).Lookup(key) }

// labelFilter cuts label lists down to what a snapshot keeps, once for each distinct list.
type labelFilter struct {
	extra map[string]bool // keys that NodeOverlays require
	cache *snapshot.Cache
	done  map[**snapshot.Label]snapshot.Labels
	kept  snapshot.Labels // memory for the list at hand
}

func newLabelFilter(overlays []snapshot.NodeOverlay, cache *snapshot.Cache) *labelFilter {
	f := &labelFilter{extra: map[string]bool{}, cache: cache, done: map[**snapshot.Label]snapshot.Labels{}}
	for i := range overlays {
		for _, r := range overlays[i].Requirements {
			f.extra[r.Key] = true
		}
	}
	return f
}

func (f *labelFilter) apply(l snapshot.Labels) snapshot.Labels {
	if len(l) == 0 {
		return nil
	}
	if kept, ok := f.done[&l[0]]; ok {
		return kept
	}
	_, hasType := l.Lookup(snapshot.LabelInstanceType)
	f.kept = f.kept[:0]
	for _, e := range l {
		if e.Key == snapshot.LabelInstanceTypeOld && hasType {
			continue
		}
		if keeps(e.Key) || f.extra[e.Key] {
			f.kept = append(f.kept, e)
		}
	}
	kept := f.cache.ShareLabels(f.kept)
	f.done[&l[0]] = kept
	return kept
}
