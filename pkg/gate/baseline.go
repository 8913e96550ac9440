package gate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
)

// BaselineKind heads a baseline file.
const BaselineKind = "Baseline"

// Baseline is what a fleet was found with when the gate was adopted: findings that are accepted as long as they do not
// grow. Only new drift fails.
type Baseline struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Findings   []Accepted `json:"findings"`
}

// Accepted is one accepted finding. Its AMI and cause are left out: a new AMI with the same difference is not new drift.
type Accepted struct {
	Cluster      string `json:"cluster"`
	InstanceType string `json:"instanceType"`
	NodeClass    string `json:"nodeClass,omitzero"`
	Resource     string `json:"resource"`
	// Finding is the row's status, or claim-over-estimate.
	Finding string `json:"finding"`
	// Delta is the largest difference that is accepted (actual − expected), in base units.
	Delta int64 `json:"delta"`
}

// acceptedKey is what makes two accepted findings the same.
type acceptedKey struct{ cluster, instanceType, nodeClass, resource, finding string }

func (a *Accepted) key() acceptedKey {
	return acceptedKey{a.Cluster, a.InstanceType, a.NodeClass, a.Resource, a.Finding}
}

// jitter is by how much identical nodes differ: memory that grows by less is no new drift.
const jitter = 64 << 10

// covers reports whether the accepted difference is at least as large as delta.
func (a *Accepted) covers(delta int64) bool {
	allowed := size(a.Delta)
	if a.Resource == "memory" {
		allowed += jitter
	}
	return size(delta) <= allowed && (delta < 0) == (a.Delta < 0)
}

// ParseBaseline reads a baseline file, strictly.
func ParseBaseline(data []byte) (*Baseline, error) {
	var b Baseline
	if err := json.Unmarshal(data, &b, json.RejectUnknownMembers(true)); err != nil {
		return nil, err
	}
	if b.APIVersion != APIVersion || b.Kind != BaselineKind {
		return nil, fmt.Errorf("it is %s %s, not %s %s: write one with --baseline FILE --ratchet", b.APIVersion, b.Kind, APIVersion, BaselineKind)
	}
	return &b, nil
}

// Encode returns the file's bytes.
func (b *Baseline) Encode() ([]byte, error) {
	data, err := json.Marshal(b, jsontext.WithIndent("  "))
	return append(data, '\n'), err
}

// Ratchet returns the baseline that the run allows: the accepted findings that are still there, each with the smaller of
// the two differences. It never adds one and never lets one grow. Without an old baseline (nil) it accepts everything
// that the run found.
func (r *Run) Ratchet(old *Baseline) *Baseline {
	current := map[acceptedKey]Accepted{}
	for i := range r.Nodes {
		n := &r.Nodes[i]
		for _, row := range n.Rows {
			for _, a := range row.accepted(n) {
				if was, ok := current[a.key()]; !ok || size(a.Delta) > size(was.Delta) {
					current[a.key()] = a
				}
			}
		}
	}
	out := &Baseline{APIVersion: APIVersion, Kind: BaselineKind}
	if old == nil {
		for _, a := range current {
			out.Findings = append(out.Findings, a)
		}
	} else {
		for _, a := range old.Findings {
			now, ok := current[a.key()]
			if !ok {
				continue
			}
			if size(now.Delta) < size(a.Delta) {
				a.Delta = now.Delta
			}
			out.Findings = append(out.Findings, a)
		}
	}
	slices.SortFunc(out.Findings, func(a, b Accepted) int {
		return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.InstanceType, b.InstanceType), cmp.Compare(a.NodeClass, b.NodeClass), cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Finding, b.Finding))
	})
	return out
}

// accepted is the row as findings of a baseline, whether it fails, warns or was accepted already.
func (r *Row) accepted(n *Node) []Accepted {
	var out []Accepted
	base := Accepted{Cluster: n.Cluster, InstanceType: n.InstanceType, NodeClass: n.NodeClass, Resource: r.Resource}
	if r.Field != compare.Allocatable {
		return nil
	}
	if r.Severity > Info || r.Allowed != "" {
		a := base
		a.Finding, a.Delta = r.Status.String(), r.Delta().Value
		out = append(out, a)
	}
	if r.ClaimSeverity > Info || (r.Allowed != "" && r.ClaimDelta().Value < 0) {
		a := base
		a.Finding, a.Delta = ClaimOverEstimate, r.ClaimDelta().Value
		out = append(out, a)
	}
	return out
}

// baselineAccepts lowers the severities of what the baseline already had.
func (e *evaluation) baselineAccepts(n *Node, r *Row) {
	const reason = "in the baseline"
	for _, a := range r.accepted(n) {
		was, ok := e.baseline[a.key()]
		if !ok || !was.covers(a.Delta) {
			continue
		}
		if a.Finding == ClaimOverEstimate {
			r.ClaimSeverity = min(r.ClaimSeverity, Info)
		} else {
			r.Severity = min(r.Severity, Info)
		}
		r.Allowed = reason
	}
}

// index finds accepted findings by what makes them the same; nil has none.
func (b *Baseline) index() map[acceptedKey]*Accepted {
	if b == nil {
		return nil
	}
	out := make(map[acceptedKey]*Accepted, len(b.Findings))
	for i := range b.Findings {
		out[b.Findings[i].key()] = &b.Findings[i]
	}
	return out
}
