package expect

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// overlayAmount is one entry of NodeOverlay capacity, after weights were decided.
type overlayAmount struct {
	resource string
	amount   Amount
	overlay  string
}

// readOverlays merges the overlays that match a node, heaviest first, and among equals the one whose name comes later
// in the alphabet first. For each resource the first counts, and before v1.9.0 the last (core #2764). An overlay is
// refused as a whole where it sets a resource that is fixed, or one that the overlay before it, of its own weight, set
// already. Upstream also refuses it where such a conflict is on another type or pool, or over a price: not modelled.
// Source: OrderByWeight() in pkg/apis/v1alpha1, updateInstanceTypeCapacity() and isCapacityUpdateConflicting() in
// pkg/controllers/nodeoverlay of sigs.k8s.io/karpenter (read v1.8.0, v1.9.0, v1.10.0, v1.14.1, v1.15.0; the v1.8 patch
// releases were not); since core v1.7.0, behind the gate NodeOverlay.
func readOverlays(overlays []snapshot.NodeOverlay, m *Model) ([]overlayAmount, error) {
	if !m.settings.NodeOverlay || !m.rules.HugePages {
		return nil, nil
	}
	sorted := slices.Clone(overlays)
	slices.SortFunc(sorted, func(a, b snapshot.NodeOverlay) int {
		return cmp.Or(-cmp.Compare(a.Weight, b.Weight), -cmp.Compare(a.Name, b.Name))
	})
	var out []overlayAmount
	var before *snapshot.NodeOverlay
	for i := range sorted {
		o := &sorted[i]
		if len(o.Capacity) == 0 || setsFixed(o) || before != nil && before.Weight == o.Weight && shareResource(before, o) {
			continue
		}
		before = o
		for _, e := range o.Capacity {
			amount, err := ParseAmount(e.Key, e.Value)
			if err != nil {
				return nil, fmt.Errorf("NodeOverlay %q: capacity %s: %w", o.Name, e.Key, err)
			}
			set := overlayAmount{e.Key, amount, o.Name}
			switch i := slices.IndexFunc(out, func(a overlayAmount) bool { return a.resource == e.Key }); {
			case i < 0:
				out = append(out, set)
			case !m.rules.HeaviestOverlay:
				out[i] = set
			}
		}
	}
	slices.SortFunc(out, func(a, b overlayAmount) int { return cmp.Compare(a.resource, b.resource) })
	return out, nil
}

func setsFixed(o *snapshot.NodeOverlay) bool {
	for i := range resources {
		if _, set := o.Capacity.Lookup(resources[i].name); set && resources[i].fixed {
			return true
		}
	}
	return false
}

func shareResource(a, b *snapshot.NodeOverlay) bool {
	return slices.ContainsFunc(a.Capacity, func(e *snapshot.Label) bool {
		_, ok := b.Capacity.Lookup(e.Key)
		return ok
	})
}

// applyOverlay adds the overlays' resources to capacity, or replaces them there.
func (m *Model) applyOverlay(e *Expectation) error {
	for _, o := range m.overlay {
		r := e.Get(o.resource)
		if r == nil {
			e.Resources = append(e.Resources, Resource{})
			r = &e.Resources[len(e.Resources)-1]
		}
		*r = Resource{Name: o.resource}
		var err error
		if r.CapacityTerms, r.Capacity, err = result(Sum{{Label: "NodeOverlay " + o.overlay, Amount: o.amount}}); err != nil {
			return fmt.Errorf("%s of %s: %w", o.resource, e.InstanceType, err)
		}
	}
	return nil
}

// offeringLabels are the labels of which one instance type has several values. Karpenter applies an overlay to the type
// as soon as one of them matches, whichever the node got.
var offeringLabels = []string{
	"topology.kubernetes.io/zone",
	"topology.k8s.aws/zone-id",
	"karpenter.sh/capacity-type",
	"karpenter.k8s.aws/capacity-reservation-id",
	"karpenter.k8s.aws/capacity-reservation-type",
	"karpenter.k8s.aws/capacity-reservation-interruptible",
	"karpenter.k8s.aws/placement-group-id",
	"karpenter.k8s.aws/placement-group-partition",
	"karpenter.k8s.aws/instance-tenancy",
}

// labelAliases are older names of labels, which Karpenter reads as the newer ones.
var labelAliases = map[string]string{
	"failure-domain.beta.kubernetes.io/zone":   "topology.kubernetes.io/zone",
	"failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
	"beta.kubernetes.io/arch":                  "kubernetes.io/arch",
	"beta.kubernetes.io/os":                    "kubernetes.io/os",
	"beta.kubernetes.io/instance-type":         "node.kubernetes.io/instance-type",
}

// OverlaysFor returns the overlays that match a node with these labels, in their own order. It fails where the labels
// cannot tell: on an operator that is not known, and where only a label that offerings differ in stands against the
// overlay. Upstream matches against the instance type and the NodePool's labels, which are on the node; a label that
// somebody else put there counts here and not there.
// Source: getOverlaidOfferings() in pkg/controllers/nodeoverlay/controller.go and pkg/scheduling of sigs.k8s.io/karpenter
// (v1.14.1); Gte and Lte were added after v1.8.0.
func OverlaysFor(overlays []snapshot.NodeOverlay, labels snapshot.Labels) ([]snapshot.NodeOverlay, error) {
	var out []snapshot.NodeOverlay
	for _, o := range overlays {
		ok, err := overlayMatches(o.Requirements, labels)
		if err != nil {
			return nil, fmt.Errorf("NodeOverlay %q: %w", o.Name, err)
		}
		if ok {
			out = append(out, o)
		}
	}
	return out, nil
}

func overlayMatches(requirements []snapshot.Requirement, labels snapshot.Labels) (bool, error) {
	var undecided string
	matches := true
	for _, r := range requirements {
		if name, ok := labelAliases[r.Key]; ok {
			r.Key = name
		}
		ok, err := requirementMatches(r, labels)
		switch {
		case err != nil:
			return false, err
		case ok:
		case slices.Contains(offeringLabels, r.Key):
			undecided = r.Key
		default:
			matches = false
		}
	}
	if matches && undecided != "" {
		return false, fmt.Errorf("it does not match the node by %s, but Karpenter applies it to the instance type as soon as another offering of it does, which the node cannot tell", undecided)
	}
	return matches, nil
}

func requirementMatches(r snapshot.Requirement, labels snapshot.Labels) (bool, error) {
	value, present := labels.Lookup(r.Key)
	switch r.Operator {
	case "In":
		return present && slices.Contains(r.Values, value), nil
	case "NotIn":
		return !present || !slices.Contains(r.Values, value), nil
	case "Exists":
		return present, nil
	case "DoesNotExist":
		return !present, nil
	case "Gt", "Lt", "Gte", "Lte":
		return boundMatches(r, value, present)
	}
	return false, fmt.Errorf("requirement %s has the operator %q, which is none of In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte, Lte", r.Key, r.Operator)
}

// boundMatches compares integers; a label that is no integer is out of every bound.
func boundMatches(r snapshot.Requirement, value string, present bool) (bool, error) {
	if len(r.Values) != 1 {
		return false, fmt.Errorf("requirement %s %s has %d values, not 1", r.Key, r.Operator, len(r.Values))
	}
	bound, err := strconv.Atoi(r.Values[0])
	if err != nil || bound < 0 {
		return false, fmt.Errorf("requirement %s %s: %q is not an integer of at least 0", r.Key, r.Operator, r.Values[0])
	}
	n, err := strconv.Atoi(value)
	if !present || err != nil {
		return false, nil //nolint:nilerr // a value that is no number is not within a bound
	}
	switch r.Operator {
	case "Gt":
		return n > bound, nil
	case "Lt":
		return n < bound, nil
	case "Gte":
		return n >= bound, nil
	default:
		return n <= bound, nil
	}
}
