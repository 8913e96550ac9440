package report

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"io"

	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
	"github.com/allocatable-diff/allocatable-diff/pkg/recommend"
)

var (
	//go:embed html/report.css
	htmlStyle string
	//go:embed html/report.js
	htmlScript string
)

// htmlFindings is how many rows of a topic are shown before the rest is folded.
const htmlFindings = 8

// page is what document shows: texts as they are read, none of them escaped yet.
type page struct {
	Result, Headline, Clusters, Verdict, Memory, Next string
	Tiles                                             []tile
	Topics                                            []pageTopic
	Advice                                            *advicePanel
	Charts                                            []chart
	Groups                                            []typeGroup
	SeveralClusters                                   bool
	Unjudged                                          []pageUnjudged
	Notes                                             []pageNote
	Settings                                          []pageSetting
	Assumptions                                       []string
	Digests                                           []pageDigest
}

type tile struct {
	Label string
	Value int
	Class string
}

// pageTopic is a topic as it is shown.
type pageTopic struct {
	Severity, Meaning, ID string
	Against, Actual       string
	Rows, More            []pageFinding
	Cause, Remedy, Worst  string
	Entries               []string
}

type pageFinding struct {
	Type, Expected, Actual, Delta, Share, Nodes, Where string
}

type advicePanel struct {
	Setting, Samples string
	Rows             []adviceRow
	Notes            []string
}

type adviceRow struct {
	Overhead string
	Over     int
	Hidden   string
	What     string
}

type pageUnjudged struct {
	State, Label, Reason, Nodes, Names string
}

type pageNote struct{ Text, Nodes string }

type pageSetting struct {
	Clusters string
	Lines    [][2]string
}

type pageDigest struct{ Cluster, Digest string }

// writeHTML writes one page that needs nothing else: styles, script and charts are in it, and its policy forbids it to
// load or send anything. It is readable without the script, which only sorts and filters.
func writeHTML(w io.Writer, run *gate.Run, o Options) error {
	p, err := newPage(run, o.Recommendation)
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(w, 1<<16)
	if err := p.document().Render(b); err != nil {
		return err
	}
	return b.Flush()
}

func newPage(run *gate.Run, r *recommend.Report) (*page, error) {
	t := run.Totals
	p := &page{
		Result: string(run.Result), Headline: headline(run), Clusters: clusterNames(run), Verdict: outcomeText(run), Memory: memoryOf(run).text(), Next: nextStep(run),
		Tiles: []tile{
			{"judged", t.Judged, ""}, {"fail", t.Failed, "fail"}, {"warn", t.Warned, "warn"}, {"pass", t.Passed, "pass"},
			{"unknown", t.Unknown, "unknown"}, {"skipped", t.Skipped, ""}, {"not Karpenter's", t.Foreign, ""},
		},
		Groups: typeGroups(run), SeveralClusters: len(run.Clusters) > 1, Advice: newAdvice(r),
	}
	for _, topic := range topics(run) {
		p.Topics = append(p.Topics, newPageTopic(run, &topic))
	}
	for _, g := range unjudgedNodes(run) {
		label := string(g.state)
		if g.state == gate.Foreign {
			label = "not Karpenter's"
		}
		p.Unjudged = append(p.Unjudged, pageUnjudged{string(g.state), label, visible(g.reason), gate.Plural(len(g.names), "node"), some(g.names, 5, 80)})
	}
	if claims := unmatchedClaims(run); len(claims) > 0 {
		p.Unjudged = append(p.Unjudged, pageUnjudged{"skipped", "skipped", "NodeClaims without a node", gate.Plural(len(claims), "claim"), some(claims, 5, 80)})
	}
	for _, n := range notes(run) {
		p.Notes = append(p.Notes, pageNote{n.text, gate.Plural(n.nodes, "node")})
	}
	for _, s := range settings(run) {
		set := pageSetting{Clusters: some(s.clusters, 5, 80)}
		for _, l := range s.lines {
			set.Lines = append(set.Lines, [2]string{visible(l[0]), visible(l[1])})
		}
		p.Settings = append(p.Settings, set)
	}
	for _, a := range assumptions(run) {
		p.Assumptions = append(p.Assumptions, a.text(run))
	}
	for i := range run.Clusters {
		p.Digests = append(p.Digests, pageDigest{visible(run.Clusters[i].Name), visible(run.Clusters[i].Digest)})
	}
	var err error
	p.Charts, err = charts(run, p.Groups, r)
	return p, err
}

// contentPolicy forbids the page to load or send anything, and every style and script but the two that are our own files.
func contentPolicy() string {
	return fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; img-src data:; base-uri 'none'; form-action 'none'", hash(htmlStyle), hash(htmlScript))
}

// hash is the source expression of the policy that allows a text.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// headline is the result in a sentence.
func headline(run *gate.Run) string {
	t := run.Totals
	switch {
	case run.Result == gate.Inconclusive:
		return "Nothing can be concluded"
	case t.Failed > 0:
		return fmt.Sprintf("%d of %s not as Karpenter expects", t.Failed, gate.Plural(t.Judged, "judged node"))
	case run.Result == gate.Failed:
		return "The allowlist has expired entries"
	case t.Warned > 0:
		return fmt.Sprintf("No node fails, %d of %d to look at", t.Warned, t.Judged)
	}
	return "Every judged node is as Karpenter expects"
}

func newPageTopic(run *gate.Run, t *topic) pageTopic {
	worst := t.worst()
	out := pageTopic{
		Severity: t.severity.String(), Meaning: t.meaning(),
		Cause: visible(worst.Evidence), Remedy: visible(worst.Remedy), Worst: visible(worstNode(run, worst)),
	}
	if t.named() {
		out.ID = visible(t.id)
	}
	out.Against, out.Actual = t.columns()
	for _, f := range t.findings {
		if f.Nodes == 0 { // about the allowlist
			out.Entries, out.Cause = append(out.Entries, visible(f.Evidence)), ""
			continue
		}
		actual, delta := amount(f.Resource, f.Actual), f.Delta
		if f.Status == compare.Missing {
			actual, delta = "none", -f.Expected
		}
		row := pageFinding{
			Type: visible(f.InstanceType), Expected: amount(f.Resource, f.Expected), Actual: actual, Delta: signed(f.Resource, delta), Share: percent(delta, f.Expected),
			Nodes: fmt.Sprintf("%d of %d", f.Nodes, f.Of), Where: visible(join(", ", f.NodeClass, f.AMIFamily)),
		}
		if len(run.Clusters) > 1 {
			row.Where = join(", ", row.Where, visible(f.Cluster))
		}
		if len(out.Rows) < htmlFindings {
			out.Rows = append(out.Rows, row)
			continue
		}
		out.More = append(out.More, row)
	}
	return out
}

func newAdvice(r *recommend.Report) *advicePanel {
	if r == nil || r.Flat == nil {
		return nil
	}
	p := &advicePanel{Setting: "VM_MEMORY_OVERHEAD_PERCENT=" + recommend.Format(*r.Flat), Samples: gate.Plural(r.Samples, "sampled node")}
	add := func(o *recommend.Outcome, what string) {
		if o != nil {
			p.Rows = append(p.Rows, adviceRow{recommend.Format(o.Percent), o.OverEstimated, bytesText(o.HiddenBytes), what})
		}
	}
	if !r.ControllersDiffer {
		add(r.Current, "set now")
	}
	add(r.AtFlat, "recommended")
	if r.Line != nil {
		p.Rows = append(p.Rows, adviceRow{fmt.Sprintf("%d MiB + %s", r.Line.Mebibytes, recommend.Format(r.Line.Fraction)), 0, bytesText(r.Line.HiddenBytes), "as safe; Karpenter cannot be set to it"})
	}
	for _, n := range r.Notes {
		p.Notes = append(p.Notes, visible(n))
	}
	return p
}
