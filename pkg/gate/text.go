package gate

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// Text is what a spec or test case says of a node: every row that matters, worst first in the order of the resources,
// aligned, each with its causes. Empty where nothing matters.
func (n *Node) Text() string {
	if n.State != Judged {
		return n.Reason
	}
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, severity := range []Severity{Fail, Warn} {
		for _, r := range n.Rows {
			if max(r.Severity, r.ClaimSeverity) == severity {
				r.print(t)
			}
		}
	}
	t.Flush() //nolint:errcheck // a strings.Builder does not fail
	return strings.TrimRight(b.String(), "\n")
}

// Texts is Text for many nodes. Equal rows are shared between nodes, so most of a large fleet say the same few things. The
// zero value is ready to use, by one goroutine at a time.
type Texts struct {
	known map[[mostSaid]*Row]string
}

// mostSaid is how many rows that matter a node has whose text is remembered.
const mostSaid = 6

// Of returns n.Text().
func (t *Texts) Of(n *Node) string {
	if n.State != Judged {
		return n.Reason
	}
	var said [mostSaid]*Row
	count := 0
	for _, r := range n.Rows {
		if max(r.Severity, r.ClaimSeverity) < Warn {
			continue
		}
		if count == mostSaid {
			return n.Text()
		}
		said[count] = r
		count++
	}
	text, ok := t.known[said]
	if !ok {
		if t.known == nil {
			t.known = map[[mostSaid]*Row]string{}
		}
		text = n.Text()
		t.known[said] = text
	}
	return text
}

// print writes the row as tab-separated cells, and below it what explains it.
func (r *Row) print(t *tabwriter.Writer) {
	amount := func(f snapshot.Figure) string {
		if !f.Known {
			return "none"
		}
		return snapshot.FormatQuantity(r.Resource, f.Value)
	}
	fmt.Fprintf(t, "%s\t%s\t%s\texpected %s\tactual %s\t%s\n", r.Resource, r.Field, r.Status, amount(r.Expected), amount(r.Actual), r.difference())
	if r.ClaimSeverity > Info {
		fmt.Fprintf(t, "%s\t%s\t%s\tclaim %s\tactual %s\t%s\n", r.Resource, r.Field, ClaimOverEstimate, amount(r.Claim), amount(r.Actual), signed(r.Resource, r.ClaimDelta()))
	}
	if r.Severity > Info {
		printCauses(t, r.Causes, r.Gap().Value)
	}
	if r.ClaimSeverity > Info {
		printCauses(t, r.ClaimCauses, r.ClaimDelta().Value)
	}
}

func printCauses(t *tabwriter.Writer, causes []compare.Cause, delta int64) {
	for _, c := range causes {
		fmt.Fprintf(t, "  %s\t%s\n", c.ID, c.Evidence)
	}
	if main := compare.Main(causes, delta); main != nil && main.Remedy != "" {
		fmt.Fprintf(t, "  next\t%s\n", main.Remedy)
	}
}

func (r *Row) difference() string { return signed(r.Resource, r.Delta()) }

// signed prints a delta with its sign: "-43Mi", "+2Gi"; empty where there is none.
func signed(resource string, delta snapshot.Figure) string {
	if !delta.Known {
		return ""
	}
	text := snapshot.FormatQuantity(resource, delta.Value)
	if delta.Value > 0 {
		text = "+" + text
	}
	return text
}
