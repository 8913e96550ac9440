package report

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
	"github.com/allocatable-diff/allocatable-diff/pkg/recommend"
)

// What fits on a screen or two; the JSON has the rest.
const (
	recommendGroups = 10
	recommendTypes  = 5
	recommendNotes  = 8
)

// RecommendJSON writes the recommendation for scripts.
func RecommendJSON(w io.Writer, r *recommend.Report) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// Recommend writes the recommendation for a terminal of 80 columns: what to set and why, what other fractions would do,
// what is only for information, and the patch.
func Recommend(w io.Writer, r *recommend.Report) error {
	t := &advice{table: table{w: bufio.NewWriter(w), width: 80}, r: r, decimals: gibDecimals(r)}
	if r.Samples == 0 {
		t.paragraph("Inconclusive: no node could be sampled, so nothing can be recommended")
		t.excluded()
		return t.w.Flush()
	}
	t.flat()
	t.sweep()
	t.information()
	t.types()
	t.patches()
	t.excluded()
	t.notes()
	return t.w.Flush()
}

// advice is a recommendation being written.
type advice struct {
	table
	r *recommend.Report
	// decimals is how many decimals of a GiB tell the figures apart.
	decimals int
}

// gibDecimals is 1 for a fleet that hides much, and 2 for one where that would print zeros.
func gibDecimals(r *recommend.Report) int {
	if r.AtFlat != nil && r.AtFlat.HiddenBytes >= 100<<30 {
		return 1
	}
	return 2
}

// gib prints bytes in GiB: one unit for all figures, so that columns can be compared by eye.
func (t *advice) gib(bytes int64) string {
	return strconv.FormatFloat(float64(bytes)/(1<<30), 'f', t.decimals, 64)
}

// section heads a table with its name beside the header.
func (t *advice) section(title string) {
	t.line("")
	t.paragraph(title)
}

func (t *advice) flat() {
	r := t.r
	t.paragraph(fmt.Sprintf("Set vmMemoryOverheadPercent to %s: the smallest fraction that over-estimates no node (memory %s, %s)",
		recommend.Format(*r.Flat), r.Field, gate.Plural(r.Samples, "sampled node")))
	t.line("")
	now := t.outcome(r.Current)
	if r.ControllersDiffer {
		now = "each controller's own, from " + now
	}
	if len(r.OverEstimatedTypes) > 0 {
		names := make([]string, len(r.OverEstimatedTypes))
		for i, c := range r.OverEstimatedTypes {
			names[i] = ascii(c.InstanceType)
		}
		now += ": " + some(names, 3, 40)
	}
	t.item("Now", "", now)
	t.item("Then", "", t.outcome(r.AtFlat))
	why := fmt.Sprintf("%s needs %s (%s)", ascii(r.Decisive.InstanceType), recommend.Format(*r.Flat), middle(ascii(r.Decisive.Node), 48))
	switch without := r.Decisive.FlatWithout; {
	case without == nil:
	case *without == *r.Flat:
		why += "; other types need as much"
	default:
		why += fmt.Sprintf("; without that type %s would do", recommend.Format(*without))
	}
	t.item("Why", "", fmt.Sprintf("%s. Half of the nodes need at most %s, 95%% at most %s.", why, recommend.Format(r.Needs.P50), recommend.Format(r.Needs.P95)))
}

// outcome is what a fraction does, in a sentence.
func (t *advice) outcome(o *recommend.Outcome) string {
	text := fmt.Sprintf("%s hides %s GiB%s and over-estimates %s", recommend.Format(o.Percent), t.gib(o.HiddenBytes), t.money(o.MonthlyUSD), gate.Plural(o.OverEstimated, "node"))
	if o.OverEstimated == 0 {
		text = strings.TrimSuffix(text, "0 nodes") + "no node"
	}
	return text
}

// money is the amount in brackets; empty without prices.
func (t *advice) money(usd *float64) string {
	if usd == nil {
		return ""
	}
	return " (" + dollars(*usd) + " USD a month)"
}

func dollars(usd float64) string { return strconv.FormatFloat(usd, 'f', 2, 64) }

// sweep is the table of fractions, with today's and the recommended one in their places.
func (t *advice) sweep() {
	type row struct {
		recommend.Outcome
		remark string
	}
	rows := []row{{*t.r.AtFlat, "recommended"}}
	switch {
	case t.r.ControllersDiffer: // no one fraction does what is done today
	case t.r.Current.Percent == t.r.AtFlat.Percent:
		rows[0].remark = "now, and recommended"
	default:
		rows = append(rows, row{*t.r.Current, "now"})
	}
	for _, o := range t.r.Sweep {
		if !slices.ContainsFunc(rows, func(r row) bool { return r.Percent == o.Percent }) {
			rows = append(rows, row{Outcome: o})
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.Percent, b.Percent) })
	header := []string{"OVERHEAD", "OVER-ESTIMATED", "HIDDEN GiB", ""}
	if t.r.Current.MonthlyUSD != nil {
		header = []string{"OVERHEAD", "OVER-ESTIMATED", "HIDDEN GiB", "USD A MONTH", ""}
	}
	cells := make([][]string, len(rows))
	for i, o := range rows {
		cells[i] = []string{column(o.Percent), strconv.Itoa(o.OverEstimated), t.gib(o.HiddenBytes)}
		if o.MonthlyUSD != nil {
			cells[i] = append(cells[i], dollars(*o.MonthlyUSD))
		}
		cells[i] = append(cells[i], o.remark)
	}
	t.section("What if: nodes over-estimated and memory hidden at other fractions")
	t.columns(header, cells)
}

// column prints a fraction with at least two decimals.
func column(percent float64) string {
	if text := recommend.Format(percent); len(text) > len("0.00") {
		return text
	}
	return strconv.FormatFloat(percent, 'f', 2, 64)
}

// needed prints the fraction that a row of nodes needs, all of one width.
func needed(flat float64) string { return strconv.FormatFloat(flat, 'f', 4, 64) }

// headings name the kinds of groups that the terminal shows; instance types have tables of their own.
var headings = []struct {
	kind recommend.GroupKind
	name string
}{
	{recommend.ByCluster, "CLUSTER"},
	{recommend.ByArch, "ARCH"},
	{recommend.ByAMIFamily, "AMI FAMILY"},
	{recommend.ByNodePool, "NODE POOL"},
}

// information is what cannot be set: the line and the groups.
func (t *advice) information() {
	title := "For information: Karpenter takes one fraction per controller, nothing finer"
	if t.r.ControllersDiffer || slices.ContainsFunc(t.r.Groups, func(g recommend.Group) bool { return g.Kind == recommend.ByCluster }) {
		title = "For information: of what follows, only the fraction of a cluster can be set"
	}
	t.section(title)
	l := t.r.Line
	t.item("Line", "", fmt.Sprintf("%d MiB + %s%% of memory is as safe and hides %s GiB%s, %s GiB less than %s",
		l.Mebibytes, trimmed(l.Fraction*100), t.gib(l.HiddenBytes), t.money(l.MonthlyUSD), t.gib(t.r.AtFlat.HiddenBytes-l.HiddenBytes), recommend.Format(*t.r.Flat)))
	for _, h := range headings {
		var groups []recommend.Group
		for _, g := range t.r.Groups {
			if g.Kind == h.kind {
				groups = append(groups, g)
			}
		}
		t.groups(h.name, groups)
	}
}

// groups is the table of one kind, the ones that hide most first.
func (t *advice) groups(name string, groups []recommend.Group) {
	if len(groups) == 0 {
		return
	}
	slices.SortStableFunc(groups, func(a, b recommend.Group) int { return -cmp.Compare(a.HiddenBytes, b.HiddenBytes) })
	header := []string{name, "SAMPLED", "TYPES", "OVER", "HIDDEN GiB", "NEEDS", ""}
	if t.r.Current.MonthlyUSD != nil {
		header = slices.Insert(header, 5, "USD/MONTH")
	}
	rows := make([][]string, 0, recommendGroups)
	for _, g := range groups[:min(len(groups), recommendGroups)] {
		needs := "inconclusive"
		if g.Flat != nil {
			needs = needed(*g.Flat)
		}
		row := []string{ascii(g.Name), fmt.Sprintf("%d of %d", g.Samples, g.Nodes), strconv.Itoa(g.Types), strconv.Itoa(g.OverEstimated), t.gib(g.HiddenBytes), needs, ""}
		if g.MonthlyUSD != nil {
			row = slices.Insert(row, 5, dollars(*g.MonthlyUSD))
		}
		rows = append(rows, row)
	}
	t.line("")
	t.columns(header, rows)
	t.more(len(groups)-len(rows), "more")
}

func (t *advice) more(n int, noun string) {
	if n > 0 {
		t.line(fmt.Sprintf("%*s… and %d %s, see -o json", label, "", n, noun))
	}
}

// types are the types that hide most and those that need most, and the ones with several memory sizes.
func (t *advice) types() {
	t.ranking("Types that hide most", t.r.Wasteful)
	t.ranking("Types that need most", t.r.Tight)
	if len(t.r.SeveralCapacities) == 0 {
		return
	}
	t.section("Types of several real memory sizes: the smallest decides")
	for _, c := range t.r.SeveralCapacities[:min(len(t.r.SeveralCapacities), recommendTypes)] {
		sizes := make([]string, len(c.Sizes))
		for i, s := range c.Sizes {
			sizes[i] = fmt.Sprintf("%s (%s)", bytesText(s.SmallestBytes), gate.Plural(s.Nodes, "node"))
		}
		t.item("", "", ascii(c.InstanceType)+": "+some(sizes, recommendTypes, 600))
	}
	t.more(len(t.r.SeveralCapacities)-recommendTypes, "more")
}

func (t *advice) ranking(title string, types []recommend.TypeUse) {
	if len(types) == 0 {
		return
	}
	header := []string{"TYPE", "SAMPLED", "HIDDEN GiB", "AT FLAT", "NEEDS"}
	if t.r.Current.MonthlyUSD != nil {
		header = slices.Insert(header, 3, "USD/MONTH")
	}
	var rows [][]string
	for _, u := range types[:min(len(types), recommendTypes)] {
		row := []string{ascii(u.InstanceType), strconv.Itoa(u.Samples), t.gib(u.HiddenBytes), t.gib(u.HiddenBytesAtFlat), needed(u.Flat)}
		if u.MonthlyUSD != nil {
			row = slices.Insert(row, 3, dollars(*u.MonthlyUSD))
		}
		rows = append(rows, row)
	}
	t.section(title)
	t.columns(header, rows)
}

// patches are ready to be copied; the value is a string, since Karpenter's chart drops the number 0.
func (t *advice) patches() {
	for _, p := range t.r.Patches {
		t.section(fmt.Sprintf("Set it (Karpenter %s)", p.Releases))
		t.paragraph("as a Helm value, in quotes: the chart drops the number 0")
		for line := range strings.Lines(p.Helm) {
			t.line("    " + strings.TrimRight(line, "\n"))
		}
		t.paragraph("or until the next helm upgrade:")
		for _, line := range shellLines(p.Command, t.width-6) {
			t.line("    " + line)
		}
	}
}

func (t *advice) excluded() {
	for i, e := range t.r.Excluded {
		if i == 0 {
			t.section("Not sampled")
		}
		if i == recommendNotes {
			t.more(len(t.r.Excluded)-i, "more reasons")
			return
		}
		t.item("", "", cut(fmt.Sprintf("%s: %s", gate.Plural(e.Nodes, "node"), visible(e.Reason)), 6*t.width))
	}
}

func (t *advice) notes() {
	notes := append([]string{"it holds for the instance types and images that were sampled: others may need more"}, t.r.Notes...)
	if t.r.Unpriced > 0 {
		notes = append(notes, fmt.Sprintf("%s without a price, in no sum of money", gate.Plural(t.r.Unpriced, "node")))
	}
	t.line("")
	for _, n := range notes {
		t.item("Note", "", visible(n))
	}
}

// trimmed prints a number to four decimals without zeros at the end.
func trimmed(f float64) string {
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(f, 'f', 4, 64), "0"), ".")
}

// shellLines breaks a command at spaces outside quotes into lines that a shell reads as one. A word that is longer than
// a line stays whole.
func shellLines(command string, width int) []string {
	var words []string
	quoted, start := false, 0
	for i, r := range command {
		switch {
		case r == '\'':
			quoted = !quoted
		case r == ' ' && !quoted:
			words = append(words, command[start:i])
			start = i + 1
		}
	}
	words = append(words, command[start:])
	var lines []string
	line := words[0]
	for _, word := range words[1:] {
		if utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines = append(lines, line+` \`)
			line = "  " + word
			continue
		}
		line += " " + word
	}
	return append(lines, line)
}
