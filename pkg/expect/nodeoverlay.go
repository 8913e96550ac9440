package expect

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// overlayAmount is one entry of NodeOverlay capacity, after weights were decided.
type overlayAmount struct {
	resource string
	amount   Amount
	overlay  string
}

// readOverlays merges the overlays that match a node: for each resource the one of the largest weight counts, and
// among equals the one whose name comes last in reverse order, as upstream sorts them. cpu, memory, ephemeral-storage
// and pods cannot be overlaid (a rule of the CRD).
// Source: pkg/controllers/nodeoverlay of sigs.k8s.io/karpenter, since core v1.7.0, behind the gate NodeOverlay.
func readOverlays(overlays []snapshot.NodeOverlay, m *Model) ([]overlayAmount, error) {
	if !m.settings.NodeOverlay || !m.rules.HugePages {
		return nil, nil
	}
	sorted := slices.Clone(overlays)
	slices.SortFunc(sorted, func(a, b snapshot.NodeOverlay) int {
		return cmp.Or(-cmp.Compare(a.Weight, b.Weight), cmp.Compare(a.Name, b.Name))
	})
	var out []overlayAmount
	for _, o := range sorted {
		for _, e := range o.Capacity {
			if slices.ContainsFunc(out, func(a overlayAmount) bool { return a.resource == e.Key }) {
				continue
			}
			amount, err := ParseAmount(e.Key, e.Value)
			if err != nil {
				return nil, fmt.Errorf("NodeOverlay %q: capacity %s: %w", o.Name, e.Key, err)
			}
			out = append(out, overlayAmount{e.Key, amount, o.Name})
		}
	}
	slices.SortFunc(out, func(a, b overlayAmount) int { return cmp.Compare(a.resource, b.resource) })
	return out, nil
}

// applyOverlay adds the overlays' resources to capacity, or replaces them there.
func (m *Model) applyOverlay(e *Expectation) {
	for _, o := range m.overlay {
		r := e.Get(o.resource)
		if r == nil {
			e.Resources = append(e.Resources, Resource{Name: o.resource})
			r = &e.Resources[len(e.Resources)-1]
		}
		*r = Resource{
			Name:          o.resource,
			Capacity:      snapshot.Figure{Value: o.amount.Ceil(), Known: true},
			CapacityTerms: Sum{{"NodeOverlay " + o.overlay, o.amount}},
		}
	}
}
