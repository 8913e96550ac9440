package expect

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// Model is one NodeClass read by the rules of one release. It is safe for concurrent use.
type Model struct {
	settings Settings
	rules    Rules
	family   *AMIFamily
	class    *snapshot.NodeClass
	kubelet  kubelet
	// efaOnly counts the EFA-only interfaces on network card 0, efas those on any card.
	efaOnly, efas int64
	// overlay is what NodeOverlays add to or replace in capacity, in name order.
	overlay []overlayAmount
	// volume is the disk by the block device mappings, without RAID0, which depends on the type.
	volume Term
	// volumeErr is why the mappings cannot be read: upstream panics on the first type that looks at them.
	volumeErr error
}

// Class is what a node was launched from, as far as it is known.
type Class struct {
	// NodeClass is nil when it is not known: default disks and no kubelet settings are assumed.
	NodeClass *snapshot.NodeClass
	// Kubelet is the settings that count for the node (see collect.Join); nil when none are set or known.
	Kubelet *snapshot.Kubelet
	// Family overrides the family of NodeClass; it is required without one.
	Family *AMIFamily
	// Overlays are the NodeOverlays that match the node, in any order.
	Overlays []snapshot.NodeOverlay
}

// New reads a class by the rules of the release in settings. It fails where upstream would panic or refuse the class
// whatever the instance type: a reserved value or eviction signal that does not parse, an alias of no family, a
// negative setting.
func New(settings Settings, class Class) (*Model, error) {
	m := &Model{settings: settings, rules: RulesOf(settings.Version), family: class.Family, class: class.NodeClass}
	if m.class == nil {
		m.class = &snapshot.NodeClass{}
	}
	if m.class.Problem != "" {
		return nil, fmt.Errorf("%s %q: %s", m.class.Kind, m.class.Name, m.class.Problem)
	}
	if err := settings.check(); err != nil {
		return nil, err
	}
	var err error
	if m.family == nil {
		if m.family, err = FamilyOf(m.class, settings.Version); err != nil {
			return nil, err
		}
	}
	if m.kubelet, err = readKubelet(class.Kubelet, m); err != nil {
		return nil, err
	}
	if m.overlay, err = readOverlays(class.Overlays, m); err != nil {
		return nil, err
	}
	m.readNetworkInterfaces()
	m.volume, m.volumeErr = m.readVolume()
	return m, nil
}

// check fails on settings with which Karpenter does not start.
func (s Settings) check() error {
	if p := s.OverheadPercent; math.IsNaN(p) || math.IsInf(p, 0) || p < 0 {
		return fmt.Errorf("overhead percent %v: Karpenter wants a fraction of at least 0, such as %v", p, DefaultOverheadPercent)
	}
	if s.ReservedENIs < 0 {
		return fmt.Errorf("reserved ENIs %d: Karpenter wants at least 0", s.ReservedENIs)
	}
	return nil
}

// Family is the AMI family whose rules the model applies.
func (m *Model) Family() *AMIFamily { return m.family }

// Rules are the rules of the model's release.
func (m *Model) Rules() Rules { return m.rules }

// Settings are the settings that the model was made with.
func (m *Model) Settings() Settings { return m.settings }

// Expectation is what the release expects of an instance type. Resources are in the order of the table in
// resources.go, then those of NodeOverlays by name.
type Expectation struct {
	InstanceType string
	Family       string
	Resources    []Resource
}

// Resource is the expectation of one resource in its base unit: millicores for cpu, else bytes or a count.
type Resource struct {
	Name string
	// Capacity and Allocatable are not Known where a fact of the instance type is missing; Unknown says which.
	Capacity, Allocatable snapshot.Figure
	// The calculation: Capacity is the sum of CapacityTerms, and Allocatable is that sum less the three reserves less
	// HugePages; both are rounded up to a whole base unit. See AllocatableSum.
	CapacityTerms                          Sum
	KubeReserved, SystemReserved, Eviction Sum
	// HugePages is what huge pages take from memory (v1.7.0 and later); Clamped, that the result was raised to 0.
	HugePages Sum
	Clamped   bool
	Unknown   string
}

// Get returns the expectation of the named resource; nil when the release does not have it.
func (e *Expectation) Get(name string) *Resource {
	for i := range e.Resources {
		if e.Resources[i].Name == name {
			return &e.Resources[i]
		}
	}
	return nil
}

// Expect computes the expectation of one instance type. It fails where upstream would panic on the type, and where a
// figure does not fit 64 bits.
func (m *Model) Expect(t *snapshot.InstanceType) (*Expectation, error) {
	return m.calculate(&calculation{}, t, snapshot.Figure{})
}

// Expectations yields what Expect returns for each type, in their order. All of it is worked out in one piece of memory,
// which is most of the time that an expectation takes: what was yielded is overwritten by the next.
func (m *Model) Expectations(types []snapshot.InstanceType) iter.Seq2[*Expectation, error] {
	return func(yield func(*Expectation, error) bool) {
		c := &calculation{}
		for i := range types {
			if !yield(m.calculate(c, &types[i], snapshot.Figure{})) {
				return
			}
		}
	}
}

// ExpectDiscovered is Expect with the memory capacity that the controller discovered from an earlier node of the type,
// in bytes. Percentages of the eviction threshold keep the predicted capacity as their base, as upstream's do (#9455).
// Releases before v1.1.0 discover nothing: there it is Expect.
func (m *Model) ExpectDiscovered(t *snapshot.InstanceType, memory int64) (*Expectation, error) {
	return m.calculate(&calculation{}, t, snapshot.Figure{Value: memory, Known: m.rules.DiscoveredMemory})
}

// calculate works out t in the memory of c, and returns its result.
func (m *Model) calculate(c *calculation, t *snapshot.InstanceType, discovered snapshot.Figure) (*Expectation, error) {
	if err := checkFacts(t); err != nil {
		return nil, err
	}
	c.begin(m, t)
	e := &c.result
	for i := range resources {
		row := &resources[i]
		if row.has != nil && !row.has(m) {
			continue
		}
		e.Resources = append(e.Resources, Resource{Name: row.name})
		r := &e.Resources[len(e.Resources)-1]
		sum, err := row.capacity(c)
		unknown, err := missing(err)
		switch {
		case err != nil:
			return nil, err
		case unknown != "":
			r.Unknown = unknown
		default:
			if r.CapacityTerms, r.Capacity, err = result(sum); err != nil {
				return nil, fmt.Errorf("%s of %s: %w", row.name, t.Name, err)
			}
		}
		c.remember(row.name, r.Capacity.Value)
		if row.name == Memory && discovered.Known {
			r.CapacityTerms, r.Capacity = c.sum(term("discovered on an earlier node", discovered.Value)), discovered
		}
	}
	if err := m.applyOverlay(e); err != nil {
		return nil, err
	}
	if err := c.subtract(e); err != nil {
		return nil, err
	}
	return e, nil
}

// AllocatableSum is the whole calculation of Allocatable: the terms of capacity, then, negative, what is taken off it,
// then the rounding or the clamp where there was one. Its terms add up to Allocatable exactly. It is nil where
// Allocatable is not known.
func (r *Resource) AllocatableSum() Sum {
	if !r.Allocatable.Known {
		return nil
	}
	out := slices.Clone(r.CapacityTerms)
	for _, taken := range []Sum{r.KubeReserved, r.SystemReserved, r.Eviction, r.HugePages} {
		for _, t := range taken {
			// Neither this nor the sum below can overflow: Allocatable, once known, went the same way.
			t.Amount, _ = t.Amount.Neg()
			out = append(out, t)
		}
	}
	total, _ := out.Total()
	rest, _ := whole(r.Allocatable.Value).less(Sum{{Amount: total}})
	switch {
	case r.Clamped:
		return append(out, Term{Label: "raised to 0 where huge pages take more than there is", Amount: rest})
	case rest != Amount{}:
		return append(out, Term{Label: "rounded up to a whole " + unitOf(r.Name), Amount: rest})
	}
	return out
}

// unitOf names the base unit of a resource.
func unitOf(name string) string {
	switch {
	case name == CPU:
		return "millicore"
	case snapshot.InBytes(name):
		return "byte"
	}
	return "number"
}

// result adds a capacity up. A capacity is whole but for a volume or overlay written with a fraction, which is rounded up.
func result(sum Sum) (Sum, snapshot.Figure, error) {
	total, err := sum.Total()
	return sum, snapshot.Figure{Value: total.Ceil(), Known: err == nil}, err
}
