package collect

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// dump gathers the objects of one cluster from any number of streams: kubectl's files, or the answers of an API server.
type dump struct {
	options Options
	readers map[groupKind]object
	cache   *snapshot.Cache
	decode  json.Options // lets equal amounts share memory

	nodes       collection[snapshot.Node]
	claims      collection[snapshot.NodeClaim]
	pools       collection[snapshot.NodePool]
	classes     collection[snapshot.NodeClass]
	overlays    collection[snapshot.NodeOverlay]
	deployments collection[Deployment]
	configMaps  collection[ConfigMap]
	served      map[string]bool // API versions of karpenter.sh
	ignored     map[string]int
	objects     int // met so far, ignored ones too
}

func newDump(o Options) *dump {
	d := &dump{options: o, cache: &snapshot.Cache{}, served: map[string]bool{}, ignored: map[string]int{}}
	d.decode = json.WithUnmarshalers(json.UnmarshalFromFunc(d.cache.DecodeResources))
	d.readers = map[groupKind]object{
		{"", "Node"}:                           &nodeObject{Metadata: metadata(d.cache, o.Selector != nil)},
		{"", "ConfigMap"}:                      &configMapObject{Metadata: metadata(d.cache, false)},
		{"apps", "Deployment"}:                 &deploymentObject{Metadata: metadata(d.cache, false)},
		{groupKarpenter, "Machine"}:            &claimObject{Metadata: metadata(d.cache, false)},
		{groupKarpenter, "NodeClaim"}:          &claimObject{Metadata: metadata(d.cache, false)},
		{groupKarpenter, "Provisioner"}:        &poolObject{Metadata: metadata(d.cache, false)},
		{groupKarpenter, "NodePool"}:           &poolObject{Metadata: metadata(d.cache, false)},
		{groupKarpenter, "NodeOverlay"}:        &overlayObject{Metadata: metadata(d.cache, false)},
		{groupKarpenterAWS, "AWSNodeTemplate"}: &classObject{Metadata: metadata(d.cache, false)},
		{groupKarpenterAWS, "EC2NodeClass"}:    &classObject{Metadata: metadata(d.cache, false)},
	}
	return d
}

func metadata(c *snapshot.Cache, all bool) objectMeta {
	return objectMeta{Labels: labelSet{cache: c, all: all}}
}

const (
	groupKarpenter    = "karpenter.sh"
	groupKarpenterAWS = "karpenter.k8s.aws"
)

// groupKind recognises an object, whatever the version of its API.
type groupKind struct{ group, kind string }

// header is what an object says it is.
type header struct{ apiVersion, kind string }

func (h header) groupKind() groupKind {
	group, _, grouped := strings.Cut(h.apiVersion, "/")
	if !grouped {
		group = ""
	}
	return groupKind{group, h.kind}
}

func (h header) known() bool { return h.apiVersion != "" && h.kind != "" }

// isList reports whether the object holds others: kubectl's List, or an API server's NodeList.
func (h header) isList() bool { return strings.HasSuffix(h.kind, "List") }

// item is what a list says of those of its items that do not say it themselves, as the API server's answers.
func (h header) item() header {
	if kind := strings.TrimSuffix(h.kind, "List"); h.isList() && kind != "" {
		return header{h.apiVersion, kind}
	}
	return header{}
}

// object is one kind's way into the dump. It is used again for the next object of the kind.
type object interface {
	// reset forgets the last object.
	reset()
	// parts are where to decode the top members into.
	parts() parts
	// keep adds the object to the dump.
	keep(d *dump, h header, s *source) error
}

// parts are the members of an object; nil for one that is not read.
type parts struct {
	metadata           *objectMeta
	spec, status, data any
}

func (p parts) member(name string) any {
	switch name {
	case "metadata":
		return p.metadata
	case "spec":
		return p.spec
	case "status":
		return p.status
	case "data":
		return p.data
	}
	return nil
}

// held is an object whose kind was not known when it was read.
type held struct {
	header  header
	members []heldMember
	items   []held
	list    bool
	// noItems: what stands where the items of a list would is no array.
	noItems bool
	// noObject is a JSON value of another kind where an object should be.
	noObject bool
}

type heldMember struct {
	name string
	raw  jsontext.Value
}

// readJSON reads one value after the other until the stream ends.
func (d *dump) readJSON(s *source) error {
	dec := jsontext.NewDecoder(s, jsontext.AllowDuplicateNames(true))
	for {
		if dec.PeekKind() == jsontext.KindInvalid {
			_, err := dec.ReadToken()
			if errors.Is(err, io.EOF) {
				return nil
			}
			return s.failAt(dec, "", err)
		}
		if err := d.readValue(dec, s); err != nil {
			return err
		}
	}
}

// readValue reads one object, or an array of them.
func (d *dump) readValue(dec *jsontext.Decoder, s *source) error {
	var rest []held
	switch dec.PeekKind() {
	case '[':
		var err error
		if rest, err = d.readItems(dec, s, header{}); err != nil {
			return err
		}
	case '{':
		h, err := d.read(dec, s, header{})
		if err != nil {
			return err
		}
		if h != nil {
			rest = []held{*h}
		}
	default:
		if err := dec.SkipValue(); err != nil {
			return s.failAt(dec, "", err)
		}
		rest = []held{{noObject: true}}
	}
	for _, h := range rest {
		if err := d.settle(h, header{}, s); err != nil {
			return err
		}
	}
	return nil
}

// read reads one object. kubectl writes apiVersion and kind first, so the rest goes straight to where it belongs or is
// skipped; an object that says later what it is comes back as held, with the members that may be of use. hint is what
// the object is if it does not say so.
func (d *dump) read(dec *jsontext.Decoder, s *source, hint header) (*held, error) {
	if _, err := dec.ReadToken(); err != nil { // the brace
		return nil, s.failAt(dec, "", err)
	}
	h := held{header: hint}
	var o object
	decided := false
	for dec.PeekKind() != '}' {
		token, err := dec.ReadToken()
		if err != nil {
			return nil, s.failAt(dec, "", err)
		}
		name := token.String()
		switch {
		case name == "apiVersion":
			err = json.UnmarshalDecode(dec, &h.header.apiVersion)
		case name == "kind":
			err = json.UnmarshalDecode(dec, &h.header.kind)
		case name == "items" && !decided && (h.header.kind == "" || h.header.isList()) && dec.PeekKind() == '[':
			h.list = true
			items, err := d.readItems(dec, s, h.header.item())
			if err != nil {
				return nil, err
			}
			h.items = append(h.items, items...)
			continue
		case name == "items" && !decided && (h.header.kind == "" || h.header.isList()):
			isNull := dec.PeekKind() == 'n' // an empty list of Go's
			h.list, h.noItems = isNull && h.header.isList(), !isNull
			err = dec.SkipValue()
		case h.header.isList() && name == "metadata" && s.replaces: // of a file it does not matter
			err = h.hold(dec, name)
		case h.header.isList():
			err = dec.SkipValue()
		default:
			if !decided && h.header.known() {
				decided = true
				o = d.begin(h.header)
				if err := d.release(&h, o, s); err != nil {
					return nil, err
				}
			}
			err = d.member(dec, name, o, &h, decided)
		}
		if err != nil {
			return nil, s.failAt(dec, h.about(o), err)
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, s.failAt(dec, h.about(o), err)
	}
	if !decided {
		return &h, nil
	}
	return nil, d.finish(o, h.header, s)
}

// begin is the reader of a kind, ready for the next object; nil for a kind that is not read.
func (d *dump) begin(h header) object {
	o := d.readers[h.groupKind()]
	if o != nil {
		o.reset()
	}
	return o
}

// finish keeps a read object, or counts one that is not read.
func (d *dump) finish(o object, h header, s *source) error {
	d.objects++
	if o == nil {
		if h.isList() {
			return nil // an empty list
		}
		if strings.HasPrefix(h.apiVersion, snapshotGroup) {
			return s.fail(fmt.Errorf("a %s of %s must be a JSON file of its own that begins with apiVersion and kind", h.kind, h.apiVersion))
		}
		d.ignored[h.kind]++
		return nil
	}
	if m := o.parts().metadata; m.Name == "" {
		return s.fail(fmt.Errorf("object %d is a %s without metadata.name", d.objects, h.kind))
	}
	if group, _, _ := strings.Cut(h.apiVersion, "/"); group == groupKarpenter {
		d.served[h.apiVersion] = true
	}
	return o.keep(d, h, s)
}

const snapshotGroup = "allocatable-diff/"

// member reads the value of one member of an object: into o, or aside while the kind is not known yet.
func (d *dump) member(dec *jsontext.Decoder, name string, o object, h *held, decided bool) error {
	if decided {
		if o == nil {
			return dec.SkipValue()
		}
		to := o.parts().member(name)
		if to == nil {
			return dec.SkipValue()
		}
		return json.UnmarshalDecode(dec, to, d.decode)
	}
	switch name {
	case "metadata", "spec", "status", "data", instanceTypesMember:
	default:
		return dec.SkipValue()
	}
	return h.hold(dec, name)
}

// hold puts the value of a member aside.
func (h *held) hold(dec *jsontext.Decoder, name string) error {
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	h.members = append(h.members, heldMember{name, raw.Clone()})
	return nil
}

// about names the object for an error, as far as it is known.
func (h *held) about(o object) string {
	if o == nil {
		return h.header.kind
	}
	if name := o.parts().metadata.Name; name != "" {
		return fmt.Sprintf("%s %q", h.header.kind, name)
	}
	return h.header.kind
}

// readItems reads the objects of an array. Those that did not say what they are come back.
func (d *dump) readItems(dec *jsontext.Decoder, s *source, hint header) ([]held, error) {
	if _, err := dec.ReadToken(); err != nil { // the bracket
		return nil, s.failAt(dec, "", err)
	}
	var rest []held
	for dec.PeekKind() != ']' {
		if dec.PeekKind() != '{' {
			if err := dec.SkipValue(); err != nil {
				return nil, s.failAt(dec, "", err)
			}
			rest = append(rest, held{noObject: true})
			continue
		}
		h, err := d.read(dec, s, hint)
		if err != nil {
			return nil, err
		}
		if h != nil {
			rest = append(rest, *h)
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, s.failAt(dec, "", err)
	}
	return rest, nil
}

// settle keeps an object that was held back, now that it is known what it is. hint is what its list says.
func (d *dump) settle(h held, hint header, s *source) error {
	if h.noObject {
		return d.foreign(&h, s)
	}
	if h.header.apiVersion == "" {
		h.header.apiVersion = hint.apiVersion
	}
	if h.header.kind == "" {
		h.header.kind = hint.kind
	}
	if h.noItems && h.header.isList() {
		return s.fail(fmt.Errorf("the items of the %s are no array", h.header.kind))
	}
	if h.list && (h.header.kind == "" || h.header.isList()) {
		s.list = h.header.kind
		if err := h.readContinue(s); err != nil {
			return err
		}
		for _, item := range h.items {
			if err := d.settle(item, h.header.item(), s); err != nil {
				return err
			}
		}
		return nil
	}
	if !h.header.known() {
		return d.foreign(&h, s)
	}
	o := d.begin(h.header)
	if err := d.release(&h, o, s); err != nil {
		return err
	}
	return d.finish(o, h.header, s)
}

// readContinue finds where the next page begins, in the metadata of a list, whether that came before its kind or after.
func (h *held) readContinue(s *source) error {
	if !s.replaces {
		return nil
	}
	for _, m := range h.members {
		if m.name != "metadata" {
			continue
		}
		var list struct {
			Continue string `json:"continue"`
		}
		if err := json.Unmarshal(m.raw, &list); err != nil {
			return s.fail(fmt.Errorf("%s: metadata: %w", h.header.kind, snapshot.ExplainJSON(err)))
		}
		s.next = list.Continue
	}
	return nil
}

// release decodes what was put aside into o, now that its kind is known: a ConfigMap's data comes before its kind, since
// kubectl sorts members by name.
func (d *dump) release(h *held, o object, s *source) error {
	if o == nil {
		return nil
	}
	for _, m := range h.members {
		to := o.parts().member(m.name)
		if to == nil {
			continue
		}
		if err := json.Unmarshal(m.raw, to, d.decode); err != nil {
			return s.fail(fmt.Errorf("%s: %s: %w", h.about(o), m.name, snapshot.ExplainJSON(err)))
		}
	}
	return nil
}

const instanceTypesMember = "InstanceTypes"

// foreign is a document that is no Kubernetes object. In a directory such files may lie about (a policy, say); one that
// a person named is a mistake.
func (d *dump) foreign(h *held, s *source) error {
	isTypes := slices.ContainsFunc(h.members, func(m heldMember) bool { return m.name == instanceTypesMember })
	switch {
	case !s.named && isTypes:
		d.ignored["describe-instance-types output (see --instance-types)"]++
		return nil
	case !s.named:
		d.ignored["no Kubernetes object"]++
		return nil
	case isTypes:
		return s.fail(errors.New("it is describe-instance-types output: give it with --instance-types"))
	case h.noObject:
		return s.fail(fmt.Errorf("value %d is no Kubernetes object: is it what kubectl get -o json or -o yaml prints?", d.objects+1))
	case h.header.kind != "":
		return s.fail(fmt.Errorf("object %d, kind %s, has no apiVersion", d.objects+1, h.header.kind))
	}
	return s.fail(fmt.Errorf("object %d has no kind: is it what kubectl get -o json or -o yaml prints?", d.objects+1))
}

// snapshot is everything that was gathered, joined and in canonical order. It leaves the dump empty.
func (d *dump) snapshot() *snapshot.Snapshot {
	s := &snapshot.Snapshot{
		APIVersion: snapshot.APIVersion, Kind: snapshot.Kind, Cluster: d.options.Cluster,
		NodeClasses: d.classes.take(), NodePools: d.pools.take(), NodeOverlays: d.overlays.take(),
		NodeClaims: d.claims.take(), Nodes: d.nodes.take(),
	}
	filter := newLabelFilter(s.NodeOverlays, d.cache)
	for i := range s.Nodes {
		s.Nodes[i].Labels = filter.apply(s.Nodes[i].Labels)
	}
	configMaps := d.configMaps.take()
	found := detect(d.deployments.take(), configMaps, slices.Sorted(maps.Keys(d.served)), d.options.KarpenterNamespace)
	s.Controller = found.controller
	ignored := maps.Clone(d.ignored)
	ignored["ConfigMap"] += len(configMaps) - found.configMaps
	for kind, n := range ignored {
		if n > 0 {
			s.Ignored = append(s.Ignored, snapshot.KindCount{Kind: kind, Count: n})
		}
	}
	s.Sort()
	Join(s)
	return s
}
