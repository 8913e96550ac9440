package gate

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// rowFile is a Row in a run file: figures are integers in base units, and what is absent has no member. A run of a
// large cluster has a million rows, so what goes without saying (a severity of pass, a delta of zero) is left out.
type rowFile struct {
	Resource      string          `json:"resource"`
	Field         compare.Field   `json:"field"`
	Status        compare.Status  `json:"status"`
	Severity      Severity        `json:"severity,omitzero"`
	ClaimSeverity Severity        `json:"claimSeverity,omitzero"`
	Expected      *int64          `json:"expected,omitzero"`
	Claim         *int64          `json:"claim,omitzero"`
	Actual        *int64          `json:"actual,omitzero"`
	Delta         int64           `json:"delta,omitzero"`
	Causes        []compare.Cause `json:"causes,omitzero"`
	ClaimCauses   []compare.Cause `json:"claimCauses,omitzero"`
	Reason        string          `json:"reason,omitzero"`
	Allowed       string          `json:"allowed,omitzero"`
}

// MarshalJSONTo writes the row as run files have it.
func (r *Row) MarshalJSONTo(enc *jsontext.Encoder) error {
	return json.MarshalEncode(enc, &rowFile{
		Resource: r.Resource, Field: r.Field, Status: r.Status, Severity: r.Severity, ClaimSeverity: r.ClaimSeverity,
		Expected: optional(&r.Expected), Claim: optional(&r.Claim), Actual: optional(&r.Actual), Delta: r.Delta().Value,
		Causes: r.Causes, ClaimCauses: r.ClaimCauses, Reason: r.Reason, Allowed: r.Allowed,
	})
}

// UnmarshalJSONFrom reads what MarshalJSONTo writes. delta is there for readers of the file; one that is not
// actual − expected means that the file was edited, and is refused.
func (r *Row) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var f rowFile
	if err := json.UnmarshalDecode(dec, &f); err != nil {
		return err
	}
	*r = Row{
		Row: compare.Row{
			Resource: f.Resource, Field: f.Field, Status: f.Status,
			Expected: figure(f.Expected), Claim: figure(f.Claim), Actual: figure(f.Actual), Causes: f.Causes, Reason: f.Reason,
		},
		Severity: f.Severity, ClaimSeverity: f.ClaimSeverity, ClaimCauses: f.ClaimCauses, Allowed: f.Allowed,
	}
	if d := r.Delta().Value; d != f.Delta {
		return fmt.Errorf("%s %s: delta is %d, but actual − expected is %d", f.Resource, f.Field, f.Delta, d)
	}
	return nil
}

func optional(f *snapshot.Figure) *int64 {
	if !f.Known {
		return nil
	}
	return &f.Value
}

func figure(v *int64) snapshot.Figure {
	if v == nil {
		return snapshot.Figure{}
	}
	return snapshot.Figure{Value: *v, Known: true}
}
