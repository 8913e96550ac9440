package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
)

// Verdict is the run in one line, for a person.
func Verdict(run *gate.Run) string {
	return strings.ToUpper(string(run.Result)) + ": " + clusterNames(run) + ": " + outcomeText(run)
}

// outcomeText is how many nodes came out how, or why nothing can be concluded.
func outcomeText(run *gate.Run) string {
	t := run.Totals
	if run.Result == gate.Inconclusive {
		return cut(visible(run.Inconclusive), 400)
	}
	line := gate.Plural(t.Judged, "node") + " judged"
	line += counted([]count{{t.Failed, "fail"}, {t.Warned, "warn"}, {t.Passed, "pass"}}, ", ", ": ")
	line += counted([]count{{t.Unknown, "could not be judged"}, {t.Skipped, "skipped"}, {t.Foreign, "not Karpenter's"}}, ", ", "; ")
	expired := 0
	for i := range run.Findings {
		if run.Findings[i].ID == gate.AllowlistExpired {
			expired++
		}
	}
	return line + counted([]count{{expired, "expired in the allowlist"}}, "", "; ")
}

type count struct {
	n    int
	what string
}

// counted lists the counts that are not zero, after lead; nothing where all are zero.
func counted(counts []count, sep, lead string) string {
	var parts []string
	for _, c := range counts {
		if c.n > 0 {
			parts = append(parts, strconv.Itoa(c.n)+" "+c.what)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return lead + strings.Join(parts, sep)
}

// clusterNames names up to three clusters and counts more.
func clusterNames(run *gate.Run) string {
	if len(run.Clusters) == 0 || len(run.Clusters) > 3 {
		return gate.Plural(len(run.Clusters), "cluster")
	}
	names := make([]string, len(run.Clusters))
	for i := range run.Clusters {
		names[i] = middle(ascii(run.Clusters[i].Name), 60)
	}
	return strings.Join(names, ", ")
}

// topic is findings that say the same of several types: one cause, one resource, one severity. People read it once.
type topic struct {
	id       string
	severity gate.Severity
	resource string
	field    compare.Field
	status   compare.Status
	// findings are in the order of size, largest first; nodes is how many they cover.
	findings []*gate.Finding
	nodes    int
}

// topics groups the findings, worst first: failing before warning, then by the number of nodes.
func topics(run *gate.Run) []topic {
	type key struct {
		id       string
		severity gate.Severity
		resource string
		field    compare.Field
		status   compare.Status
	}
	at := map[key]int{}
	var out []topic
	for i := range run.Findings {
		f := &run.Findings[i]
		k := key{f.ID, f.Severity, f.Resource, f.Field, f.Status}
		j, ok := at[k]
		if !ok {
			j = len(out)
			at[k] = j
			out = append(out, topic{id: f.ID, severity: f.Severity, resource: f.Resource, field: f.Field, status: f.Status})
		}
		out[j].findings = append(out[j].findings, f)
		out[j].nodes += f.Nodes
	}
	for _, t := range out {
		slices.SortStableFunc(t.findings, func(a, b *gate.Finding) int { return -cmp.Compare(size(a), size(b)) })
	}
	slices.SortStableFunc(out, func(a, b topic) int {
		return cmp.Or(-cmp.Compare(a.severity, b.severity), -cmp.Compare(a.nodes, b.nodes))
	})
	return out
}

// worst is the finding of the topic that differs most.
func (t *topic) worst() *gate.Finding { return t.findings[0] }

// size is how bad a finding is: a share of what was expected where something does not fit, since half a per cent is
// enough for that on any type; the amount where something is not used, since that is what is paid for.
func size(f *gate.Finding) float64 {
	d := math.Abs(float64(f.Delta))
	if f.Status == compare.UnderEstimate && f.ID != gate.ClaimOverEstimate {
		return d
	}
	return d / max(math.Abs(float64(f.Expected)), 1)
}

// named reports whether the topic's id is a cause: it says more than the status does.
func (t *topic) named() bool {
	switch t.id {
	case t.status.String(), gate.ClaimOverEstimate, gate.AllowlistExpired, gate.AllowlistUnused, gate.Outliers, compare.SeveralCapacities:
		return false
	}
	return true
}

// columns name the two figures of the topic's findings.
func (t *topic) columns() (against, actual string) {
	switch t.id {
	case gate.ClaimOverEstimate:
		return "Claimed", "Actual"
	case gate.Outliers:
		return "Siblings", "Outlier"
	case compare.SeveralCapacities:
		return "Largest", "Smallest"
	}
	return "Expected", "Actual"
}

// meaning says in words what the topic is about.
func (t *topic) meaning() string {
	what := shortResource(ascii(t.resource))
	if t.field == compare.Capacity {
		what += " capacity"
	}
	switch {
	case t.id == gate.ClaimOverEstimate:
		return what + ": the NodeClaim promises more than the node has"
	case t.id == gate.Outliers:
		return what + ": some nodes differ from their siblings"
	case t.id == compare.SeveralCapacities:
		return what + ": one type comes with several"
	case t.id == gate.AllowlistExpired:
		return "the allowlist: an entry has expired"
	case t.id == gate.AllowlistUnused:
		return "the allowlist: an entry covers nothing"
	}
	switch t.status {
	case compare.OverEstimate:
		return what + ": the node has less than Karpenter expects"
	case compare.UnderEstimate:
		return what + ": the node has more than Karpenter expects"
	case compare.Missing:
		return what + ": expected, and not on the node"
	}
	return what + ": " + t.status.String()
}

// worstNode is the node that gave the finding its figures; empty where the run's nodes do not have it.
func worstNode(run *gate.Run, f *gate.Finding) string {
	for _, name := range f.Names {
		i, ok := slices.BinarySearchFunc(run.Nodes, name, func(n gate.Node, name string) int {
			return cmp.Or(cmp.Compare(n.Cluster, f.Cluster), cmp.Compare(n.Name, name))
		})
		if !ok {
			continue
		}
		row := find(&run.Nodes[i], f.Resource, f.Field)
		if row != nil && (row.Delta().Value == f.Delta || row.ClaimDelta().Value == f.Delta) {
			return name
		}
	}
	if len(f.Names) > 0 {
		return f.Names[0]
	}
	return ""
}

// note is something worth knowing that fails nothing.
type note struct {
	text  string
	nodes int
}

// noteKey is what the rows behind one note have in common.
type noteKey struct {
	// kind orders the notes.
	kind     noteKind
	resource string
	detail   string
}

type noteKind int

const (
	noteUnknown noteKind = iota
	noteAllowed
	noteTolerated
	noteNotGated
	noteUnexpected
)

type noteCount struct {
	noteKey
	nodes int
	// last is the node counted last: a node counts once.
	last        int
	least, most float64
	largest     int64
}

// notes folds the rows that are no finding and yet not plain matches: one line each, whatever the number of nodes.
func notes(run *gate.Run) []note {
	at := map[noteKey]*noteCount{}
	var order []*noteCount
	for i := range run.Nodes {
		n := &run.Nodes[i]
		if n.State != gate.Judged {
			continue
		}
		for _, r := range n.Rows {
			k, ok := noteOf(r)
			if !ok {
				continue
			}
			c := at[k]
			if c == nil {
				c = &noteCount{noteKey: k, last: -1, least: 1}
				at[k] = c
				order = append(order, c)
			}
			c.add(i, r)
		}
	}
	slices.SortFunc(order, func(a, b *noteCount) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), byResource(a.resource, b.resource), cmp.Compare(a.detail, b.detail))
	})
	out := make([]note, len(order))
	for i, c := range order {
		out[i] = note{c.text(), c.nodes}
	}
	return out
}

// byResource orders resources as every report does: Karpenter's own in their order, then the others by name.
func byResource(a, b string) int {
	names := expect.ResourceNames()
	place := func(name string) int {
		if i := slices.Index(names, name); i >= 0 {
			return i
		}
		return len(names)
	}
	return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b))
}

// noteOf says which note a row belongs to. Capacity rows repeat what the allocatable ones say.
func noteOf(r *gate.Row) (noteKey, bool) {
	if r.Field == compare.Capacity || r.Severity > gate.Info {
		return noteKey{}, false
	}
	switch {
	case r.Status == compare.Unknown:
		return noteKey{noteUnknown, r.Resource, r.Reason}, true
	case r.Allowed != "":
		return noteKey{noteAllowed, r.Resource, r.Allowed}, true
	case r.Status == compare.WithinTolerance:
		return noteKey{noteTolerated, r.Resource, ""}, true
	case r.Status == compare.Unexpected:
		return noteKey{noteUnexpected, r.Resource, ""}, true
	case r.Reason != "" && r.Status != compare.Match:
		return noteKey{noteNotGated, r.Resource, r.Reason}, true
	}
	return noteKey{}, false
}

func (c *noteCount) add(node int, r *gate.Row) {
	if c.last != node {
		c.nodes, c.last = c.nodes+1, node
	}
	d := r.Delta().Value
	if max(d, -d) > max(c.largest, -c.largest) {
		c.largest = d
	}
	if e := r.Expected.Value; e != 0 {
		s := float64(d) / float64(e)
		c.least, c.most = min(c.least, max(s, -s)), max(c.most, s, -s)
	}
}

func (c *noteCount) text() string {
	resource, detail := shortResource(ascii(c.resource)), visible(c.detail)
	switch c.kind {
	case noteUnknown:
		return fmt.Sprintf("%s could not be judged: %s", resource, detail)
	case noteAllowed:
		return fmt.Sprintf("%s differs and is allowed: %s", resource, detail)
	case noteTolerated:
		if c.most < 0.00005 {
			return fmt.Sprintf("%s within tolerance: at most %s", resource, signed(c.resource, c.largest))
		}
		least, most := percentText(c.least), percentText(c.most)
		if least != most {
			most = least + " to " + most
		}
		return fmt.Sprintf("%s within tolerance: %s of what was expected", resource, most)
	case noteUnexpected:
		return resource + " is on the node and was not expected"
	}
	return resource + " " + detail
}

// unmatchedClaims are the claims of all clusters that no node belongs to.
func unmatchedClaims(run *gate.Run) []string {
	var out []string
	for i := range run.Clusters {
		out = append(out, run.Clusters[i].UnmatchedClaims...)
	}
	return out
}

// unjudged is the nodes that were not judged for one reason.
type unjudged struct {
	state  gate.State
	reason string
	// severity is what the policy makes of a node that could not be judged.
	severity gate.Severity
	names    []string
}

// unjudgedNodes groups the nodes that were not judged: unknown first, then skipped, then those of nobody.
func unjudgedNodes(run *gate.Run) []unjudged {
	states := []gate.State{gate.Unknown, gate.Skipped, gate.Foreign}
	type key struct {
		state  gate.State
		reason string
	}
	at := map[key]int{}
	var out []unjudged
	for i := range run.Nodes {
		n := &run.Nodes[i]
		if n.State == gate.Judged {
			continue
		}
		k := key{n.State, n.Reason}
		j, ok := at[k]
		if !ok {
			j = len(out)
			at[k] = j
			out = append(out, unjudged{state: n.State, reason: n.Reason, severity: n.Severity})
		}
		out[j].names = append(out[j].names, n.Name)
	}
	slices.SortStableFunc(out, func(a, b unjudged) int {
		return cmp.Or(cmp.Compare(slices.Index(states, a.state), slices.Index(states, b.state)), -cmp.Compare(len(a.names), len(b.names)), cmp.Compare(a.reason, b.reason))
	})
	return out
}

// some lists the first few names and counts the rest.
func some(names []string, most, width int) string {
	var out []string
	for i, n := range names {
		if i == most {
			out = append(out, fmt.Sprintf("and %d more", len(names)-most))
			break
		}
		out = append(out, middle(ascii(n), width))
	}
	return strings.Join(out, ", ")
}

// setting is what clusters were judged by, with the source of each figure.
type setting struct {
	clusters []string
	lines    [4][2]string
}

// settings folds the clusters that were judged alike.
func settings(run *gate.Run) []setting {
	var out []setting
	for i := range run.Clusters {
		c := &run.Clusters[i]
		lines := [4][2]string{
			{"Karpenter v" + c.Karpenter, c.KarpenterFrom},
			{"VM memory overhead " + strconv.FormatFloat(c.OverheadPercent, 'g', -1, 64), c.OverheadPercentFrom},
			{"reserved ENIs " + strconv.FormatInt(c.ReservedENIs, 10), c.ReservedENIsFrom},
			{"instance types", cmp.Or(c.InstanceTypesFrom, "none")},
		}
		j := slices.IndexFunc(out, func(s setting) bool { return s.lines == lines })
		if j < 0 {
			j = len(out)
			out = append(out, setting{lines: lines})
		}
		out[j].clusters = append(out[j].clusters, c.Name)
	}
	return out
}

// assumption is something that the input did not say, with the clusters where it did not.
type assumption struct {
	gate.Assumption
	clusters int
}

// assumptions are those of all clusters, each text once.
func assumptions(run *gate.Run) []assumption {
	at := map[string]int{}
	var out []assumption
	for i := range run.Clusters {
		for _, a := range run.Clusters[i].Assumptions {
			j, ok := at[a.Text]
			if !ok {
				j = len(out)
				at[a.Text] = j
				out = append(out, assumption{Assumption: gate.Assumption{Text: a.Text}})
			}
			out[j].Nodes += a.Nodes
			out[j].clusters++
		}
	}
	return out
}

// text says whom the assumption concerns, where that is not the whole run.
func (a assumption) text(run *gate.Run) string {
	text := visible(a.Text)
	if a.Nodes > 0 {
		return fmt.Sprintf("%s (%s)", text, gate.Plural(a.Nodes, "node"))
	}
	if a.clusters < len(run.Clusters) {
		return fmt.Sprintf("%s (%s)", text, gate.Plural(a.clusters, "cluster"))
	}
	return text
}

// memory is what the judged nodes hide and lack of allocatable memory, in bytes.
type memory struct {
	hidden, lacking           float64
	hiddenNodes, lackingNodes int
}

func memoryOf(run *gate.Run) memory {
	var m memory
	for i := range run.Nodes {
		if run.Nodes[i].State != gate.Judged {
			continue
		}
		row := find(&run.Nodes[i], expect.Memory, compare.Allocatable)
		if row == nil {
			continue
		}
		// float64: the sum over a fleet of hostile nodes must not wrap
		switch d := row.Delta().Value; {
		case d > 0:
			m.hidden, m.hiddenNodes = m.hidden+float64(d), m.hiddenNodes+1
		case d < 0:
			m.lacking, m.lackingNodes = m.lacking-float64(d), m.lackingNodes+1
		}
	}
	return m
}

// text says both in words; empty where every node is as expected.
func (m memory) text() string {
	var parts []string
	if m.lackingNodes > 0 {
		parts = append(parts, fmt.Sprintf("%s expected and not there (%s)", bytesText(int64(m.lacking)), gate.Plural(m.lackingNodes, "node")))
	}
	if m.hiddenNodes > 0 {
		parts = append(parts, fmt.Sprintf("%s there and not used (%s)", bytesText(int64(m.hidden)), gate.Plural(m.hiddenNodes, "node")))
	}
	return strings.Join(parts, ", ")
}

// nextStep is what to do now, in one line.
func nextStep(run *gate.Run) string {
	switch {
	case run.Result == gate.Inconclusive && run.Totals.Karpenter == 0:
		return "check the cluster, the context and the selector: none of the nodes is Karpenter's"
	case run.Result == gate.Inconclusive:
		return "see above why nodes were not judged; the policy's \"unknown: warn\" accepts it"
	case run.Result == gate.Failed:
		for _, t := range topics(run) {
			if node := worstNode(run, t.worst()); node != "" {
				return "run allocatable-diff explain " + shellWord(middle(ascii(node), 80))
			}
		}
		return "renew or remove the expired entries of the allowlist"
	case memoryOf(run).hidden > 0:
		return "run allocatable-diff recommend: it shows the overhead that fits these nodes"
	}
	return "nothing to do"
}

// shellWord quotes a name that a shell would not take as one word.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.'
	}
	if strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 && !strings.HasPrefix(s, "-") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
