package compare

import (
	"fmt"
	"math"
	"slices"

	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// Field is the part of a node's status that a row is about.
type Field uint8

// The fields.
const (
	Capacity Field = iota
	Allocatable
)

var fieldNames = []string{"capacity", "allocatable"}

func (f Field) String() string { return fieldNames[f] }

// MarshalText writes the field's name.
func (f Field) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText reads the field's name.
func (f *Field) UnmarshalText(text []byte) error { return readWord(fieldNames, text, f) }

// Status is what a row shows, in one word. It is about expected against actual alone; whether it matters is the gate's
// severity.
type Status uint8

// The statuses.
const (
	// Match: expected equals actual.
	Match Status = iota
	// WithinTolerance: they differ by less than the policy minds.
	WithinTolerance
	// OverEstimate: expected is above actual. Pods that Karpenter places may not fit.
	OverEstimate
	// UnderEstimate: expected is below actual. The difference is paid for and not used.
	UnderEstimate
	// Missing: expected, and not on the node at all.
	Missing
	// Unexpected: on the node, and not expected.
	Unexpected
	// Unknown: could not be judged.
	Unknown
	// Skipped: not compared.
	Skipped
)

var statusNames = []string{"match", "within-tolerance", "over-estimate", "under-estimate", "missing", "unexpected", "unknown", "skipped"}

func (s Status) String() string { return statusNames[s] }

// MarshalText writes the status's name.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the status's name.
func (s *Status) UnmarshalText(text []byte) error { return readWord(statusNames, text, s) }

// readWord finds text among names and sets word to its index.
func readWord[T ~uint8](names []string, text []byte, word *T) error {
	i := slices.Index(names, string(text))
	if i < 0 {
		return fmt.Errorf("%q is none of %q", text, names)
	}
	*word = T(i)
	return nil
}

// Row is one resource of one field of one node. Figures are in base units: millicores for cpu, else bytes or counts.
type Row struct {
	Resource string
	Field    Field
	Status   Status
	// Expected is the formula's, Claim the NodeClaim's status, Actual the Node's status.
	Expected, Claim, Actual snapshot.Figure
	// Causes split Delta: their parts add up to it. Empty where there is no delta.
	Causes []Cause
	// Reason says why the row is unknown or not gated; else empty.
	Reason string
}

// Delta is actual − expected; not Known where either is absent.
func (r *Row) Delta() snapshot.Figure { return difference(r.Actual, r.Expected) }

// ClaimDelta is actual − claim; not Known where either is absent.
func (r *Row) ClaimDelta() snapshot.Figure { return difference(r.Actual, r.Claim) }

func difference(a, b snapshot.Figure) snapshot.Figure {
	if !a.Known || !b.Known {
		return snapshot.Figure{}
	}
	d := a.Value - b.Value
	switch { // a hostile input must not turn an over-estimate into an under-estimate
	case a.Value >= 0 && b.Value < 0 && d < 0:
		d = math.MaxInt64
	case a.Value < 0 && b.Value > 0 && d > 0:
		d = math.MinInt64
	}
	return snapshot.Figure{Value: d, Known: true}
}

// Subject is a node with everything that is known of why it is as it is.
type Subject struct {
	Node *snapshot.Node
	// Claim, Class and Kubelet are nil where the snapshot does not have them.
	Claim   *snapshot.NodeClaim
	Class   *snapshot.NodeClass
	Kubelet *snapshot.Kubelet
	Type    *snapshot.InstanceType
	Model   *expect.Model
	Expect  *expect.Expectation
}

// core are the resources that every node reports.
var core = []string{expect.Memory, expect.CPU, expect.EphemeralStorage, expect.Pods}

// Rows compares the node of s with its expectation: capacity and allocatable of every resource, in the expectation's
// order, then what only the node has, by name. A resource that is zero on one side and absent on the other makes no row:
// every node lists hugepages-* as 0, and most types have no GPU.
func Rows(s Subject) []Row { return AppendRows(make([]Row, 0, 12), s) }

// AppendRows is Rows into memory that is there already.
func AppendRows(rows []Row, s Subject) []Row {
	for i := range s.Expect.Resources {
		r := &s.Expect.Resources[i]
		rows = appendRow(rows, s, r.Name, Capacity, r.Capacity, r.Unknown)
		rows = appendRow(rows, s, r.Name, Allocatable, r.Allocatable, r.Unknown)
	}
	for _, list := range []struct {
		field   Field
		amounts snapshot.ResourceList
	}{{Capacity, s.Node.Capacity}, {Allocatable, s.Node.Allocatable}} {
		for _, a := range list.amounts {
			if s.Expect.Get(a.Name) == nil && (a.Value != 0 || a.Text != "") {
				row := Row{Resource: a.Name, Field: list.field, Status: Unexpected, Claim: claimFigure(s.Claim, a.Name, list.field)}
				row.setActual(a)
				rows = append(rows, row)
			}
		}
	}
	return rows
}

func appendRow(rows []Row, s Subject, name string, field Field, expected snapshot.Figure, unknown string) []Row {
	amounts := s.Node.Capacity
	if field == Allocatable {
		amounts = s.Node.Allocatable
	}
	actual, present := amounts.Lookup(name)
	isCore := slices.Contains(core, name)
	if !present && !isCore && expected.Known && expected.Value == 0 {
		return rows
	}
	if present && actual.Text == "" && actual.Value == 0 && expected.Known && expected.Value == 0 {
		return rows
	}
	row := Row{Resource: name, Field: field, Expected: expected, Claim: claimFigure(s.Claim, name, field)}
	switch {
	case !expected.Known && !present && !isCore:
		return rows // neither side knows of it
	case !expected.Known:
		row.Status, row.Reason = Unknown, unknown
		if present {
			row.setActual(actual)
		}
	case !present && (isCore || len(amounts) == 0): // a kubelet reports all of a field or nothing of it
		row.Status, row.Reason = Unknown, "the node reports no "+field.String()+" of "+name
	case !present:
		row.Status = Missing
	default:
		row.setActual(actual)
		if row.Status != Unknown {
			row.Status = relation(row.Delta().Value, expected.Value != 0 || isCore)
		}
	}
	return append(rows, row)
}

// setActual takes over what the node reports; what is no quantity makes the row unknown.
func (r *Row) setActual(a *snapshot.Resource) {
	if a.Text != "" {
		r.Status, r.Reason = Unknown, fmt.Sprintf("the node reports %s %s %q, which is not a quantity of 64 bits", r.Field, r.Resource, a.Text)
		return
	}
	r.Actual = snapshot.Figure{Value: a.Value, Known: true}
}

func relation(delta int64, expected bool) Status {
	switch {
	case delta < 0:
		return OverEstimate
	case delta > 0 && !expected:
		return Unexpected
	case delta > 0:
		return UnderEstimate
	}
	return Match
}

func claimFigure(claim *snapshot.NodeClaim, name string, field Field) snapshot.Figure {
	if claim == nil {
		return snapshot.Figure{}
	}
	if field == Capacity {
		return claim.Capacity.Get(name)
	}
	return claim.Allocatable.Get(name)
}
