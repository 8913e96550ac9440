package report

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// The dialect is what Jenkins, GitLab and the GitHub actions that read JUnit all take: Jenkins splits a classname at its
// last dot and wants it not empty; GitLab drops a test case whose name and classname another one has; all show message
// on one line and the text below it.
const (
	junitName = "karpenter-allocatable"
	// junitMessage is the characters of a message, junitBody of a text: annotations are cut at 64 KiB in all.
	junitMessage = 250
	junitBody    = 8000
	// junitTime is the time of everything: a run has none, so that equal runs give equal bytes.
	junitTime = "0.000"
)

type junitCase struct {
	XMLName   xml.Name      `xml:"testcase"`
	ClassName string        `xml:"classname,attr"`
	Name      string        `xml:"name,attr"`
	Time      string        `xml:"time,attr"`
	Failure   *junitProblem `xml:"failure"`
	Error     *junitProblem `xml:"error"`
	Skipped   *junitSkip    `xml:"skipped"`
	Out       *junitText    `xml:"system-out"`
}

type junitProblem struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	junitText
}

// junitText is escaped by escapedText: encoding/xml would write every line break as a reference, and people read these
// files too.
type junitText struct {
	Escaped string `xml:",innerxml"`
}

func escapedText(s string) junitText { return junitText{markup.Replace(cut(xmlText(s), junitBody))} }

var markup = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

type junitSkip struct {
	Message string `xml:"message,attr"`
}

type junitProperty struct {
	XMLName xml.Name `xml:"property"`
	Name    string   `xml:"name,attr"`
	Value   string   `xml:"value,attr"`
}

// junitSuite is the nodes of one NodePool, or the run itself.
type junitSuite struct {
	name       string
	properties []junitProperty
	cases      []junitNode
}

// junitNode is a test case before it is written: the node, or the case itself where it is about the run.
type junitNode struct {
	class, name string
	node        *gate.Node
	texts       *gate.Texts // of all nodes
	run         *junitCase
}

func writeJUnit(w io.Writer, run *gate.Run, _ Options) error {
	return writeSuites(w, junitSuites(run))
}

// junitSuites lays out the test cases: one per Karpenter node, in suites by cluster and NodePool, and one more for each
// thing that is wrong with the run as a whole, so that a run that judged nothing is never green.
func junitSuites(run *gate.Run) []junitSuite {
	type key struct{ cluster, pool string }
	at := map[key]int{}
	classes := map[key]string{} // by suite and type
	foreign := map[string]int{}
	texts := &gate.Texts{}
	var keys []key
	var suites []junitSuite
	for i := range run.Nodes {
		n := &run.Nodes[i]
		if n.State == gate.Foreign {
			foreign[n.Cluster]++
			continue
		}
		k := key{n.Cluster, n.NodePool}
		j, ok := at[k]
		if !ok {
			j = len(suites)
			at[k] = j
			keys = append(keys, k)
			suites = append(suites, junitSuite{name: part(n.Cluster, "unnamed") + "." + part(n.NodePool, "no-nodepool")})
		}
		of := key{suites[j].name, n.InstanceType}
		if classes[of] == "" {
			classes[of] = suites[j].name + "." + strings.ReplaceAll(part(n.InstanceType, "unknown-type"), ".", "_")
		}
		suites[j].cases = append(suites[j].cases, junitNode{
			class: classes[of],
			name:  middle(part(n.Name, "unnamed"), 200) + " allocatable within tolerance",
			node:  n,
			texts: texts,
		})
	}
	order := make([]int, len(suites))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(keys[a].cluster, keys[b].cluster), cmp.Compare(keys[a].pool, keys[b].pool))
	})
	out := make([]junitSuite, 0, len(suites)+1)
	for _, i := range order {
		s := suites[i]
		slices.SortStableFunc(s.cases, func(a, b junitNode) int {
			return cmp.Or(cmp.Compare(a.node.InstanceType, b.node.InstanceType), cmp.Compare(a.node.Name, b.node.Name))
		})
		s.properties = junitProperties(run, keys[i].cluster, foreign[keys[i].cluster])
		out = append(out, s)
	}
	if s := junitRun(run); len(s.cases) > 0 {
		out = append(out, s)
	}
	unique(out)
	return out
}

// junitRun is the test cases about the run as a whole; none where it is well.
func junitRun(run *gate.Run) junitSuite {
	s := junitSuite{name: junitName + ".run", properties: []junitProperty{{Name: "nodes.foreign", Value: strconv.Itoa(run.Totals.Foreign)}}}
	add := func(name string, failure, err *junitProblem) {
		s.cases = append(s.cases, junitNode{class: s.name, name: name, run: &junitCase{Failure: failure, Error: err}})
	}
	if run.Result == gate.Inconclusive {
		add("the run judged something", nil, problem("inconclusive", run.Inconclusive, run.Inconclusive))
	}
	var expired []string
	for i := range run.Findings {
		if f := &run.Findings[i]; f.ID == gate.AllowlistExpired {
			expired = append(expired, f.Evidence)
		}
	}
	if len(expired) > 0 {
		add("the allowlist has no expired entry", problem(gate.AllowlistExpired, gate.Plural(len(expired), "entry")+" expired: "+expired[0], strings.Join(expired, "\n")), nil)
	}
	return s
}

func junitProperties(run *gate.Run, cluster string, foreign int) []junitProperty {
	i := slices.IndexFunc(run.Clusters, func(c gate.Cluster) bool { return c.Name == cluster })
	if i < 0 {
		return nil
	}
	c := &run.Clusters[i]
	var out []junitProperty
	for _, p := range [][2]string{
		{"karpenter.version", c.Karpenter},
		{"karpenter.version.from", c.KarpenterFrom},
		{"overhead", strconv.FormatFloat(c.OverheadPercent, 'g', -1, 64)},
		{"overhead.from", c.OverheadPercentFrom},
		{"reserved-enis", strconv.FormatInt(c.ReservedENIs, 10)},
		{"reserved-enis.from", c.ReservedENIsFrom},
		{"instance-types.from", c.InstanceTypesFrom},
		{"digest", c.Digest},
		{"nodes.foreign", strconv.Itoa(foreign)},
	} {
		out = append(out, junitProperty{Name: p[0], Value: cut(xmlLine(p[1]), junitMessage)})
	}
	return out
}

// unique numbers the test cases that another one has the name and classname of.
func unique(suites []junitSuite) {
	seen := map[[2]string]bool{}
	for i := range suites {
		for j := range suites[i].cases {
			c := &suites[i].cases[j]
			name := c.name
			for n := 2; seen[[2]string{c.class, c.name}]; n++ {
				c.name = fmt.Sprintf("%s (%d)", name, n)
			}
			seen[[2]string{c.class, c.name}] = true
		}
	}
}

// part is a piece of a suite name or classname: never empty, on one line.
func part(s, otherwise string) string {
	return cmp.Or(middle(strings.TrimSpace(xmlLine(s)), 100), otherwise)
}

// xmlLine makes a text one line that XML 1.0 can hold.
func xmlLine(s string) string { return visible(xmlText(s)) }

// xmlText drops the characters that XML 1.0 has no way to write; line breaks stay.
func xmlText(s string) string {
	if clean(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n':
			return r
		case r < ' ' || r >= 0xd800 && r <= 0xdfff || r == 0xfffe || r == 0xffff:
			return -1
		}
		return r
	}, s)
}

func problem(kind, message, text string) *junitProblem {
	return &junitProblem{
		Type:      kind,
		Message:   cut(strings.Join(strings.Fields(xmlLine(message)), " "), junitMessage),
		junitText: escapedText(text),
	}
}

// outcome is what a test case counts as.
type outcome int

const (
	passed outcome = iota
	failed
	errored
	skipped
)

func (c *junitNode) outcome() outcome {
	switch {
	case c.run != nil && c.run.Error != nil:
		return errored
	case c.run != nil:
		return failed
	case c.node.State == gate.Skipped:
		return skipped
	case c.node.State == gate.Unknown && c.node.Severity == gate.Fail:
		return errored
	case c.node.State == gate.Unknown:
		return skipped
	case c.node.Severity == gate.Fail:
		return failed
	}
	return passed
}

// testcase is the test case as it is written.
func (c *junitNode) testcase() *junitCase {
	out := &junitCase{}
	if c.run != nil {
		*out = *c.run
	}
	out.ClassName, out.Name, out.Time = c.class, c.name, junitTime
	n := c.node
	switch o := c.outcome(); {
	case n == nil:
	case o == errored:
		out.Error = problem("unknown", "could not judge: "+n.Reason, n.Reason)
	case o == skipped && n.State == gate.Unknown:
		out.Skipped = &junitSkip{problem("", "could not judge: "+n.Reason, "").Message}
	case o == skipped:
		out.Skipped = &junitSkip{problem("", n.Reason, "").Message}
	case o == failed:
		kind, message := failingRows(n)
		out.Failure = problem(kind, message, join("\n", c.texts.Of(n), unknownRows(n), origin(n)))
	case n.Severity == gate.Warn:
		text := escapedText(join("\n", "warning", c.texts.Of(n), unknownRows(n), origin(n)))
		out.Out = &text
	default:
		if rows := unknownRows(n); rows != "" { // passed by what could be judged
			text := escapedText(join("\n", rows, origin(n)))
			out.Out = &text
		}
	}
	return out
}

// unknownRows are the rows of a judged node that could not be judged, one to a line.
func unknownRows(n *gate.Node) string {
	var lines []string
	for _, r := range n.Rows {
		if r.Status == compare.Unknown {
			lines = append(lines, fmt.Sprintf("could not judge %s %s: %s", r.Resource, r.Field, r.Reason))
		}
	}
	return strings.Join(lines, "\n")
}

// failingRows is the kind of the first row that fails, and all of them on one line.
func failingRows(n *gate.Node) (kind, message string) {
	var parts []string
	for _, r := range n.Rows {
		if r.Severity == gate.Fail {
			kind = cmp.Or(kind, r.Status.String())
			parts = append(parts, difference(r, "expected", r.Expected, r.Delta()))
		}
		if r.ClaimSeverity == gate.Fail {
			kind = cmp.Or(kind, gate.ClaimOverEstimate)
			parts = append(parts, difference(r, "claim", r.Claim, r.ClaimDelta()))
		}
	}
	return cmp.Or(kind, "finding"), strings.Join(parts, "; ")
}

// difference is a row in one line: "memory: expected 6844Mi, actual 6801Mi, 43Mi over".
func difference(r *gate.Row, name string, against, delta snapshot.Figure) string {
	what := r.Resource
	if r.Field == compare.Capacity {
		what += " capacity"
	}
	text := fmt.Sprintf("%s: %s %s, actual %s", what, name, figureText(r.Resource, against), figureText(r.Resource, r.Actual))
	switch {
	case r.Status == compare.Missing:
		return fmt.Sprintf("%s: %s %s, none on the node", what, name, figureText(r.Resource, against))
	case delta.Value < 0:
		return text + ", " + strings.TrimPrefix(amount(r.Resource, delta.Value), "-") + " over"
	case delta.Value > 0:
		return text + ", " + amount(r.Resource, delta.Value) + " under"
	}
	return text
}

// origin says where the node comes from: what a person needs to find others like it.
func origin(n *gate.Node) string {
	var b strings.Builder
	b.Grow(256) // most are shorter
	add := func(name, value string) {
		if value == "" {
			return
		}
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString(name)
		b.WriteString(value)
	}
	for _, p := range [...][2]string{
		{"node ", n.Name}, {"type ", n.InstanceType}, {"arch ", n.Arch}, {"zone ", n.Zone}, {"NodePool ", n.NodePool}, {"NodeClass ", n.NodeClass},
		{"AMI family ", n.AMIFamily}, {"image ", n.OSImage}, {"claim ", n.Claim}, {"claim memory ", string(n.ClaimState)}, {"Karpenter ", n.KarpenterVersion},
	} {
		add(p[0], visible(p[1]))
	}
	if n.Drifted {
		add("", "its NodeClass was edited after launch")
	}
	return b.String()
}
