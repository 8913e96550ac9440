package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
	"github.com/allocatable-diff/allocatable-diff/pkg/recommend"
)

// GitHub takes 1 MiB of summary for a step and drops the whole of a larger one. With these limits the largest summary is
// a good part smaller, whatever the texts are.
const (
	markdownFindings = 20
	markdownList     = 20
	markdownText     = 600
	markdownName     = 80
)

// summary writes Markdown as GitHub renders it; it reads well as text too.
type summary struct {
	b   bytes.Buffer
	run *gate.Run
}

// writeMarkdown writes a summary for a CI step or a pull request: the verdict, the worst findings, what to set, and
// below folds the rest.
func writeMarkdown(w io.Writer, run *gate.Run, o Options) error {
	s := &summary{run: run}
	s.verdict()
	s.findings()
	s.recommendation(o.Recommendation)
	s.unjudged()
	s.notes()
	s.settings()
	_, err := w.Write(s.b.Bytes())
	return err
}

func (s *summary) printf(format string, args ...any) { fmt.Fprintf(&s.b, format, args...) }

var signs = map[gate.Severity]string{gate.Fail: "❌", gate.Warn: "⚠️", gate.Info: "ℹ️"}

func (s *summary) verdict() {
	sign := map[gate.Result]string{gate.Passed: "✅", gate.Failed: "❌", gate.Inconclusive: "⚠️"}[s.run.Result]
	s.printf("## %s Karpenter's expectation of its nodes: %s\n\n", sign, s.run.Result)
	s.printf("%s\n\n", markdown(cut(clusterNames(s.run)+": "+outcomeText(s.run), markdownText)))
	t := s.run.Totals
	s.printf("| Judged | Fail | Warn | Pass | Unknown | Skipped | Not Karpenter's |\n|---:|---:|---:|---:|---:|---:|---:|\n")
	s.printf("| %d | %d | %d | %d | %d | %d | %d |\n", t.Judged, t.Failed, t.Warned, t.Passed, t.Unknown, t.Skipped, t.Foreign)
	if text := memoryOf(s.run).text(); text != "" {
		s.printf("\nMemory: %s.\n", text)
	}
	s.printf("\nNext: %s\n", markdown(nextStep(s.run)))
}

func (s *summary) findings() {
	if len(s.run.Findings) == 0 {
		return
	}
	s.printf("\n### Findings\n")
	left := markdownFindings
	for _, t := range topics(s.run) {
		if left == 0 {
			break
		}
		s.printf("\n%s **%s**", signs[t.severity], markdown(t.meaning()))
		if t.named() {
			s.printf(" (%s)", code(cut(t.id, markdownName)))
		}
		s.printf("\n\n")
		shown := t.findings[:min(len(t.findings), left)]
		left -= len(shown)
		worst := t.worst()
		if worst.Nodes == 0 { // about the allowlist
			for _, f := range shown {
				s.printf("- %s\n", markdown(cut(f.Evidence, markdownText)))
			}
			s.printf("\n- Remedy: %s\n", markdown(cut(worst.Remedy, markdownText)))
			continue
		}
		s.rows(&t, shown)
		s.printf("\n")
		if worst.Evidence != "" {
			s.printf("- Cause: %s\n", markdown(cut(worst.Evidence, markdownText)))
		}
		if worst.Remedy != "" {
			s.printf("- Remedy: %s\n", markdown(cut(worst.Remedy, markdownText)))
		}
		s.printf("- Worst: %s\n", code(middle(worstNode(s.run, worst), markdownName)))
	}
	if more := len(s.run.Findings) - (markdownFindings - left); more > 0 {
		s.printf("\n**%s** in the artifact (report.html, run.json).\n", gate.Plural(more, "more finding"))
	}
}

func (s *summary) rows(t *topic, findings []*gate.Finding) {
	against, having := t.columns()
	s.printf("| Type | %s | %s | Delta | Share | Nodes | Class, AMI |\n|---|---:|---:|---:|---:|---:|---|\n", against, having)
	for _, f := range findings {
		actual, delta := amount(f.Resource, f.Actual), f.Delta
		if f.Status == compare.Missing {
			actual, delta = "none", -f.Expected
		}
		var where []string
		for _, w := range []string{f.NodeClass, f.AMIFamily} {
			if w != "" {
				where = append(where, code(middle(w, markdownName)))
			}
		}
		if len(s.run.Clusters) > 1 {
			where = append(where, code(middle(f.Cluster, markdownName)))
		}
		s.printf("| %s | %s | %s | %s | %s | %d of %d | %s |\n", code(middle(f.InstanceType, markdownName)),
			amount(f.Resource, f.Expected), actual, signed(f.Resource, delta), percent(delta, f.Expected), f.Nodes, f.Of, strings.Join(where, ", "))
	}
}

// recommendation is what to set, where that was worked out.
func (s *summary) recommendation(r *recommend.Report) {
	if r == nil || r.Flat == nil {
		return
	}
	s.printf("\n### Recommended overhead\n\n")
	s.printf("Set %s: the smallest fraction that over-estimates none of %s.\n", code("VM_MEMORY_OVERHEAD_PERCENT="+recommend.Format(*r.Flat)), gate.Plural(r.Samples, "sampled node"))
	s.printf("\n| Overhead | Nodes over-estimated | Memory hidden | |\n|---:|---:|---:|---|\n")
	row := func(o *recommend.Outcome, what string) {
		if o != nil {
			s.printf("| %s | %d | %s | %s |\n", recommend.Format(o.Percent), o.OverEstimated, bytesText(o.HiddenBytes), what)
		}
	}
	row(r.Current, "now")
	row(r.AtFlat, "recommended")
	if r.Line != nil {
		s.printf("| %d MiB + %s | 0 | %s | tightest safe line, for information |\n", r.Line.Mebibytes, recommend.Format(r.Line.Fraction), bytesText(r.Line.HiddenBytes))
	}
}

// details folds a list below one line.
func (s *summary) details(title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	s.printf("\n<details><summary>%s</summary>\n\n", title)
	for i, l := range lines {
		if i == markdownList {
			s.printf("- … and %d more\n", len(lines)-i)
			break
		}
		s.printf("- %s\n", l)
	}
	s.printf("\n</details>\n")
}

func (s *summary) unjudged() {
	var lines []string
	for _, g := range unjudgedNodes(s.run) {
		state := string(g.state)
		if g.state == gate.Foreign {
			state = "not Karpenter's"
		}
		text := fmt.Sprintf("%s %s: %s", gate.Plural(len(g.names), "node"), state, markdown(cut(g.reason, markdownText)))
		if g.state != gate.Foreign {
			text += " (" + codes(g.names, 3) + ")"
		}
		lines = append(lines, text)
	}
	if claims := unmatchedClaims(s.run); len(claims) > 0 {
		lines = append(lines, gate.Plural(len(claims), "NodeClaim")+" without a node: "+codes(claims, 3))
	}
	s.details("Not judged", lines)
}

func (s *summary) notes() {
	var lines []string
	for _, n := range notes(s.run) {
		lines = append(lines, fmt.Sprintf("%s (%s)", markdown(cut(n.text, markdownText)), gate.Plural(n.nodes, "node")))
	}
	s.details("For information", lines)
}

func (s *summary) settings() {
	var lines []string
	for _, set := range settings(s.run) {
		var parts []string
		for _, l := range set.lines {
			parts = append(parts, fmt.Sprintf("%s (%s)", markdown(cut(l[0], markdownName)), markdown(cut(l[1], markdownName))))
		}
		lines = append(lines, codes(set.clusters, 3)+": "+strings.Join(parts, ", "))
	}
	for _, a := range assumptions(s.run) {
		lines = append(lines, "assumed: "+markdown(cut(a.text(s.run), markdownText)))
	}
	s.details("Settings and assumptions", lines)
}

// codes lists the first few names and counts the rest.
func codes(names []string, most int) string {
	var out []string
	for i, n := range names {
		if i == most {
			out = append(out, fmt.Sprintf("and %d more", len(names)-most))
			break
		}
		out = append(out, code(middle(n, markdownName)))
	}
	return strings.Join(out, ", ")
}

// code shows a name as code. It is HTML, since a code span of Markdown cannot hold every name in a table; in it GitHub
// links neither users nor issues.
func code(s string) string {
	if s == "" {
		return ""
	}
	var b strings.Builder
	b.WriteString("<code>")
	for _, r := range visible(s) {
		if r < utf8.RuneSelf && (unicode.IsPunct(r) || unicode.IsSymbol(r)) && !strings.ContainsRune("-._/=,", r) {
			fmt.Fprintf(&b, "&#%d;", r)
			continue
		}
		b.WriteRune(r)
	}
	b.WriteString("</code>")
	return strings.ReplaceAll(strings.ReplaceAll(b.String(), "__", "&#95;&#95;"), "www.", "www&#46;")
}

// markdown makes a text plain: nothing in it is markup, a link, a mention of a user or a reference to an issue.
func markdown(s string) string {
	runes := []rune(visible(s))
	word := func(i int) bool {
		return i >= 0 && i < len(runes) && (unicode.IsLetter(runes[i]) || unicode.IsDigit(runes[i]))
	}
	var b strings.Builder
	for i, r := range runes {
		switch r {
		case '<', '>', '&', '|', '\\', '`', '*', '[', ']', '~', '!':
			fmt.Fprintf(&b, "&#%d;", r)
		case '_':
			if word(i-1) && word(i+1) { // as in VM_MEMORY_OVERHEAD_PERCENT: no emphasis
				b.WriteRune(r)
				continue
			}
			b.WriteString("&#95;")
		case '@', '#': // an empty comment comes between the sign and the name
			b.WriteRune(r)
			b.WriteString("<!-- -->")
		case '$': // would start a formula
			b.WriteString("<span>$</span>")
		case ':':
			if i+1 < len(runes) && runes[i+1] == '/' {
				b.WriteString("&#58;")
				continue
			}
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return strings.ReplaceAll(b.String(), "www.", "www&#46;")
}
