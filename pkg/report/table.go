package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
)

// What fits on a screen or two; the other reports have the rest.
const (
	tableTopics = 12
	tableTypes  = 8
	tableNotes  = 12
)

// Terminal colours, by meaning.
const (
	reset  = "\x1b[0m"
	bold   = "\x1b[1m"
	faint  = "\x1b[2m"
	red    = "\x1b[1;31m"
	yellow = "\x1b[33m"
	green  = "\x1b[32m"
)

// table writes lines for a terminal.
type table struct {
	w     *bufio.Writer
	run   *gate.Run
	width int
	color bool
}

// writeTable writes what a tired person needs, in the order in which they need it: the verdict, the findings worst
// first with cause and remedy, what was not judged, what was assumed, and the next step.
func writeTable(w io.Writer, run *gate.Run, o Options) error {
	t := &table{w: bufio.NewWriter(w), run: run, width: max(cmp.Or(o.Width, 80), 60), color: o.Color}
	t.verdict()
	t.findings()
	t.unjudged()
	t.information()
	t.settings()
	t.line("")
	t.item("Next", bold, nextStep(run))
	return t.w.Flush()
}

func (t *table) paint(color, s string) string {
	if !t.color || s == "" {
		return s
	}
	return color + s + reset
}

func severityColor(s gate.Severity) string {
	switch s {
	case gate.Fail:
		return red
	case gate.Warn:
		return yellow
	}
	return faint
}

func (t *table) line(s string) {
	t.w.WriteString(strings.TrimRight(s, " "))
	t.w.WriteByte('\n')
}

func (t *table) verdict() {
	color := map[gate.Result]string{gate.Failed: red, gate.Passed: green}[t.run.Result]
	for i, line := range wrap(Verdict(t.run), t.width-2) {
		if i > 0 {
			line = "  " + line
		}
		t.line(t.paint(cmp.Or(color, yellow), line))
	}
	if text := memoryOf(t.run).text(); text != "" {
		t.line("")
		t.item("Memory", "", text)
	}
}

// label is the width of the first column: a severity or the name of a line.
const label = 8

// item writes a label in its colour and a text that wraps beside it.
func (t *table) item(name, color, text string) {
	for i, line := range wrap(text, t.width-label) {
		if i > 0 {
			name = ""
		}
		t.line(t.paint(color, name) + strings.Repeat(" ", label-len(name)) + line)
	}
}

func (t *table) findings() {
	all := topics(t.run)
	for i := range all {
		if i == tableTopics {
			t.line("")
			t.item("", "", "… and "+gate.Plural(len(all)-i, "more finding")+": see report.html or run.json")
			return
		}
		t.topic(&all[i])
	}
}

func (t *table) topic(topic *topic) {
	t.line("")
	head := topic.meaning()
	if topic.named() {
		head += " (" + ascii(topic.id) + ")"
	}
	t.item(strings.ToUpper(topic.severity.String()), severityColor(topic.severity), head)
	worst := topic.worst()
	if worst.Nodes == 0 { // about the allowlist
		for _, f := range topic.findings[:min(len(topic.findings), tableTypes)] {
			t.sub("entry", visible(join(" ", f.InstanceType, f.NodeClass, f.AMIFamily, f.Resource))+": "+visible(f.Evidence))
		}
		t.sub("remedy", visible(worst.Remedy))
		return
	}
	t.types(topic)
	if worst.Evidence != "" {
		t.sub("cause", visible(worst.Evidence))
	}
	if worst.Remedy != "" {
		t.sub("remedy", visible(worst.Remedy))
	}
	t.sub("worst", middle(ascii(worstNode(t.run, worst)), t.width-2*label))
}

// sub writes a line of a topic.
func (t *table) sub(name, text string) {
	for i, line := range wrap(text, t.width-2*label) {
		if i > 0 {
			name = ""
		}
		t.line(strings.Repeat(" ", label) + t.paint(faint, fmt.Sprintf("%-*s", label, name)) + line)
	}
}

// types is the small table of a topic: one line per type, class and AMI.
func (t *table) types(topic *topic) {
	against, actual := topic.columns()
	header := []string{"TYPE", strings.ToUpper(against), strings.ToUpper(actual), "DELTA", "NODES", "CLASS, AMI"}
	rows := make([][]string, 0, tableTypes)
	for i, f := range topic.findings {
		if i == tableTypes {
			break
		}
		actual, delta := amount(f.Resource, f.Actual), f.Delta
		if f.Status == compare.Missing {
			actual, delta = "none", -f.Expected
		}
		rows = append(rows, []string{
			ascii(f.InstanceType), amount(f.Resource, f.Expected), actual, signed(f.Resource, delta),
			fmt.Sprintf("%d of %d", f.Nodes, f.Of), join(", ", ascii(f.NodeClass), ascii(f.AMIFamily), t.clusterOf(f)),
		})
	}
	t.columns(header, rows)
	if more := len(topic.findings) - len(rows); more > 0 {
		t.line(strings.Repeat(" ", label) + t.paint(faint, "… and "+gate.Plural(more, "more type")))
	}
}

// clusterOf names the cluster of a finding where there are several.
func (t *table) clusterOf(f *gate.Finding) string {
	if len(t.run.Clusters) < 2 {
		return ""
	}
	return ascii(f.Cluster)
}

// columns writes rows under a header: the first and the last column left, figures right. A text too long for the
// terminal is shortened in the middle; figures never are.
func (t *table) columns(header []string, rows [][]string) {
	widths := make([]int, len(header))
	for _, row := range append([][]string{header}, rows...) {
		for i, c := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	last := len(header) - 1
	room := t.width - label
	for i := 1; i < last; i++ {
		room -= widths[i] + 2
	}
	widths[0] = min(widths[0], max(room-len(header[last])-2, 8))
	widths[last] = max(min(widths[last], room-widths[0]-2), 0)
	for r, row := range append([][]string{header}, rows...) {
		var b strings.Builder
		b.WriteString(fmt.Sprintf("%-*s", widths[0], middle(row[0], widths[0])))
		for i := 1; i < last; i++ {
			b.WriteString(fmt.Sprintf("  %*s", widths[i], row[i]))
		}
		b.WriteString("  " + middle(row[last], widths[last]))
		line := strings.TrimRight(b.String(), " ")
		if r == 0 {
			line = t.paint(faint, line)
		}
		t.line(strings.Repeat(" ", label) + line)
	}
}

func (t *table) unjudged() {
	groups := unjudgedNodes(t.run)
	claims := unmatchedClaims(t.run)
	if len(groups)+len(claims) == 0 {
		return
	}
	t.line("")
	if len(claims) > 0 {
		t.item("CLAIM", faint, gate.Plural(len(claims), "NodeClaim")+" without a node, not compared: "+some(claims, 3, 60))
	}
	for i, g := range groups {
		if i == tableNotes {
			t.item("", "", "… and "+gate.Plural(len(groups)-i, "more reason"))
			return
		}
		name, color := "SKIP", faint
		if g.state == gate.Unknown {
			name, color = "UNKNOWN", severityColor(g.severity)
		}
		text := fmt.Sprintf("%s: %s", gate.Plural(len(g.names), "node"), visible(g.reason))
		if g.state != gate.Foreign {
			text += " (" + some(g.names, 2, 44) + ")"
		}
		t.item(name, color, cut(text, 6*t.width))
	}
}

func (t *table) information() {
	all := notes(t.run)
	if len(all) == 0 {
		return
	}
	t.line("")
	for i, n := range all {
		if i == tableNotes {
			t.item("", "", "… and "+gate.Plural(len(all)-i, "more note"))
			return
		}
		t.item("INFO", faint, cut(fmt.Sprintf("%s (%s)", n.text, gate.Plural(n.nodes, "node")), 6*t.width))
	}
}

// settings is what judged, and what was taken for granted.
func (t *table) settings() {
	t.line("")
	all := settings(t.run)
	for i, s := range all {
		if i == tableNotes {
			t.item("", "", "… and "+gate.Plural(len(all)-i, "more setting"))
			break
		}
		var parts []string
		for _, l := range s.lines {
			parts = append(parts, fmt.Sprintf("%s (%s)", visible(l[0]), visible(l[1])))
		}
		text := strings.Join(parts, ", ")
		if len(all) > 1 {
			text = some(s.clusters, 3, 40) + ": " + text
		}
		t.item("Judged", "", "by "+text)
	}
	for i, a := range assumptions(t.run) {
		if i == tableNotes {
			t.item("", "", "… and more: see report.html or run.json")
			return
		}
		t.item("Assumed", "", cut(a.text(t.run), 6*t.width))
	}
}

// wrap breaks text at spaces into lines of at most width characters; a word that is longer is cut in the middle.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		word = middle(word, width)
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	return append(lines, line)
}

// paragraph writes text whose further lines are indented.
func (t *table) paragraph(text string) {
	for i, line := range wrap(text, t.width-2) {
		if i > 0 {
			line = "  " + line
		}
		t.line(line)
	}
}
