package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// The columns of an explanation: 80 characters, with figures that are exact to the byte.
const (
	explainWidth  = 80
	explainFigure = 16
	explainLabel  = explainWidth - 2 - 2*explainFigure
)

// explainer writes lines for a terminal of 80 columns.
type explainer struct{ w *bufio.Writer }

// Explain writes the derivation of one node: what Karpenter calculated beside what the node has, term by term, then the
// causes of each difference with their evidence, the next step, and where the formula stands. The terms of a side add up
// to the totals below them.
func Explain(w io.Writer, x *gate.Explanation) error {
	e := &explainer{bufio.NewWriter(w)}
	e.head(x)
	for i := range x.Derivations {
		e.derivation(&x.Derivations[i], &x.Node)
	}
	return e.w.Flush()
}

// Failures to write stay in the bufio.Writer, whose Flush returns them.
func (e *explainer) line(text string) { fmt.Fprintln(e.w, strings.TrimRight(text, " ")) }

// item writes a name and its text, wrapped beside it.
func (e *explainer) item(name, text string) {
	if text == "" {
		return
	}
	const indent = 12
	for i, line := range wrap(visible(text), explainWidth-indent) {
		if i > 0 {
			name = ""
		}
		e.line(fmt.Sprintf("%-*s%s", indent, name, line))
	}
}

func (e *explainer) head(x *gate.Explanation) {
	n, c := &x.Node, &x.Cluster
	verdict := string(n.State)
	if n.State == gate.Judged {
		verdict = n.Severity.String()
	}
	e.item("Node", n.Name)
	e.item("Verdict", verdict)
	e.item("Why", n.Reason)
	e.item("Cluster", c.Name)
	e.item("NodePool", n.NodePool)
	e.item("AMI", strings.TrimSpace(n.AMIFamily+"  "+n.OSImage))
	e.item("Type", x.Facts)
	e.item("Facts from", c.InstanceTypesFrom)
	e.item("Karpenter", "v"+c.Karpenter+" ("+c.KarpenterFrom+")")
	e.item("Overhead", fmt.Sprintf("%v (%s)", c.OverheadPercent, c.OverheadPercentFrom))
	e.item("ENIs", fmt.Sprintf("%d reserved (%s)", c.ReservedENIs, c.ReservedENIsFrom))
	e.item("Class", x.Class)
	e.item("Kubelet", x.Settings)
	e.item("Claim", x.Claim)
	for _, a := range c.Assumptions {
		e.item("Assumed", a.Text)
	}
}

func (e *explainer) derivation(d *compare.Derivation, n *gate.Node) {
	e.line("")
	e.columns(visible(d.Resource), "expected", "node")
	for _, l := range d.Lines {
		label := "  " + l.Label
		if l.Total {
			label = "= " + l.Label
		}
		e.columns(visible(label), exact(d.Resource, l.Expected), exact(d.Resource, l.Node))
	}
	for _, r := range []*compare.Row{d.Capacity, d.Allocatable} {
		if r != nil {
			e.row(r, verdictOn(n, r))
			if r == d.Allocatable || !sameCauses(d) {
				e.causes(r, verdictOn(n, r))
			}
		}
	}
	e.item("  formula", d.Source)
	e.item("  reserves", d.ReserveSource)
}

// sameCauses reports whether allocatable repeats every cause of capacity, so that saying them once is enough.
func sameCauses(d *compare.Derivation) bool {
	if d.Capacity == nil || d.Allocatable == nil {
		return false
	}
	for _, c := range d.Capacity.Causes {
		if !slices.ContainsFunc(d.Allocatable.Causes, func(a compare.Cause) bool { return a.ID == c.ID }) {
			return false
		}
	}
	return true
}

// columns writes a label and two figures; a label that is too long gets lines of its own.
func (e *explainer) columns(label, expected, node string) {
	lines := []string{label}
	if utf8.RuneCountInString(label) > explainLabel {
		indent := label[:2]
		lines = wrap(label[2:], explainLabel-2)
		for i := range lines {
			lines[i] = indent + lines[i]
			indent = "  "
		}
	}
	for _, l := range lines[:len(lines)-1] {
		e.line(l)
	}
	last := lines[len(lines)-1]
	pad := strings.Repeat(" ", max(0, explainLabel+2-utf8.RuneCountInString(last)))
	e.line(fmt.Sprintf("%s%s%*s%*s", last, pad, explainFigure, expected, explainFigure, node))
}

// exact prints a figure as a quantity that loses nothing; empty where there is none.
func exact(resource string, f snapshot.Figure) string {
	if !f.Known {
		return ""
	}
	return snapshot.FormatQuantity(resource, f.Value)
}

// verdictOn is the judged row of a compared one; nil where the node was not judged.
func verdictOn(n *gate.Node, r *compare.Row) *gate.Row {
	for _, v := range n.Rows {
		if v.Resource == r.Resource && v.Field == r.Field {
			return v
		}
	}
	return nil
}

// row writes what a row comes to.
func (e *explainer) row(r *compare.Row, verdict *gate.Row) {
	text := r.Status.String()
	if verdict != nil {
		text = verdict.Status.String()
		if verdict.Severity > gate.Pass {
			text += " (" + verdict.Severity.String() + ")"
		}
	}
	if gap := r.Gap(); gap.Known && gap.Value != 0 {
		text = signed(r.Resource, gap.Value) + " " + text
	}
	if r.Claim.Known {
		text += ", claim " + exact(r.Resource, r.Claim)
		if d := r.ClaimDelta(); d.Known && d.Value != 0 {
			text += " (node " + signed(r.Resource, d.Value) + ")"
		}
	}
	if verdict != nil && verdict.Reason != "" {
		text += "; " + verdict.Reason
	}
	e.item("  "+shortField(r.Field), text)
}

// causes writes why a row is as it is, and what to do about it.
func (e *explainer) causes(r *compare.Row, verdict *gate.Row) {
	for _, c := range r.Causes {
		e.item("", signed(r.Resource, c.Part)+" "+c.ID+": "+c.Evidence)
	}
	if verdict == nil || max(verdict.Severity, verdict.ClaimSeverity) <= gate.Info {
		return
	}
	for _, c := range verdict.ClaimCauses {
		e.item("", "of the claim: "+signed(r.Resource, c.Part)+" "+c.ID+": "+c.Evidence)
	}
	if main := compare.Main(r.Causes, r.Gap().Value); main != nil && verdict.Severity > gate.Info {
		e.item("  next", main.Remedy)
	}
	if main := compare.Main(verdict.ClaimCauses, r.ClaimDelta().Value); main != nil {
		e.item("  next", main.Remedy)
	}
}

// shortField names a field within the ten characters beside its text.
func shortField(f compare.Field) string {
	if f == compare.Allocatable {
		return "allocat."
	}
	return f.String()
}
