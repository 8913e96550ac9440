package report

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
	"github.com/allocatable-diff/allocatable-diff/pkg/recommend"
)

func recommendation() *recommend.Report {
	flat := 0.0757
	return &recommend.Report{
		Samples: 9, Flat: &flat, Line: &recommend.Line{Mebibytes: 427, Fraction: 0.036, HiddenBytes: 3 * gi},
		Current: &recommend.Outcome{Percent: 0.075, OverEstimated: 3, HiddenBytes: 22 * gi},
		AtFlat:  &recommend.Outcome{Percent: flat, HiddenBytes: 23 * gi},
		Sweep: []recommend.Outcome{
			{Percent: 0, OverEstimated: 9}, {Percent: 0.03, OverEstimated: 7, HiddenBytes: 2 * gi}, {Percent: 0.06, OverEstimated: 4, HiddenBytes: 14 * gi},
			{Percent: 0.09, HiddenBytes: 29 * gi}, {Percent: 0.12, HiddenBytes: 41 * gi},
		},
	}
}

func TestMarkdownGolden(t *testing.T) {
	golden(t, "summary.md", written(t, "markdown", exampleRun(t), Options{Recommendation: recommendation()}))
	golden(t, "summary-clean.md", written(t, "markdown", cleanRun(t), Options{}))
	golden(t, "github.txt", written(t, "github", exampleRun(t), Options{}))
}

var (
	tag        = regexp.MustCompile(`<[^>]*>`)
	tagsOfOurs = []string{"<code>", "</code>", "<details>", "</details>", "<summary>", "</summary>", "<span>", "</span>", "<!-- -->"}
)

// TestMarkdownHostile: no name becomes markup, a link, a mention, a formula or a cell of its own.
func TestMarkdownHostile(t *testing.T) {
	text := string(written(t, "markdown", hostileRun(t), Options{}))
	for _, found := range tag.FindAllString(text, -1) {
		if !slices.Contains(tagsOfOurs, found) {
			t.Errorf("the tag %q is none of ours", found)
		}
	}
	for _, bad := range []string{"](", "`", "://", "www.", "${{", "@octocat", "#1 ", "\x00", "\x1b", "\u202e"} {
		if i := strings.Index(text, bad); i >= 0 {
			t.Errorf("%q stands in the text: %q", bad, text[max(i-40, 0):min(i+40, len(text))])
		}
	}
	columns := 0
	for i, line := range strings.Split(text, "\n") {
		if !strings.HasPrefix(line, "|") {
			columns = 0
			continue
		}
		n := strings.Count(line, "|")
		if columns != 0 && n != columns {
			t.Errorf("line %d has %d cells, its table %d: %s", i+1, n-1, columns-1, line)
		}
		columns = n
	}
}

func TestMarkdownText(t *testing.T) {
	for _, c := range []struct{ in, out, why string }{
		{"set VM_MEMORY_OVERHEAD_PERCENT to 0.0757", "set VM_MEMORY_OVERHEAD_PERCENT to 0.0757", "an underscore inside a word is no emphasis"},
		{"_x_", "&#95;x&#95;", "emphasis"},
		{"**x** `y`", "&#42;&#42;x&#42;&#42; &#96;y&#96;", "emphasis and code"},
		{"a|b", "a&#124;b", "a cell"},
		{"<b>&amp;", "&#60;b&#62;&#38;amp;", "HTML"},
		{"@octocat #1", "@<!-- -->octocat #<!-- -->1", "a mention and a reference"},
		{"https://www.example.com", "https&#58;//www&#46;example.com", "a link"},
		{"$x$", "<span>$</span>x<span>$</span>", "a formula"},
		{"a\nb\x00", "a b\uFFFD", "line breaks and NUL"},
	} {
		if got := markdown(c.in); got != c.out {
			t.Errorf("markdown(%q) = %q, want %q: %s", c.in, got, c.out, c.why)
		}
	}
	if got := code("a|b`<i>"); got != "<code>a&#124;b&#96;&#60;i&#62;</code>" {
		t.Errorf("code = %q", got)
	}
}

// TestMarkdownSize: GitHub drops a summary above 1 MiB, so no input may lead to one.
func TestMarkdownSize(t *testing.T) {
	var nodes []gate.Node
	var clusters []gate.Cluster
	long := strings.Repeat("<|", 2500)
	example := exampleRun(t)
	for i := range 500 {
		name := fmt.Sprintf("%s%d", long, i)
		n := example.Nodes[i%len(example.Nodes)]
		n.Cluster, n.Name, n.InstanceType, n.NodeClass, n.AMIFamily, n.Reason = name, name, name, name, name, ""
		if n.State != gate.Judged {
			n.Reason = name
		}
		nodes = append(nodes, n)
		c := example.Clusters[0]
		c.Name, c.KarpenterFrom = name, name
		c.Assumptions = []gate.Assumption{{Text: name}}
		clusters = append(clusters, c)
	}
	run := concluded(t, gate.DefaultPolicy(), clusters, nodes)
	if n := len(written(t, "markdown", run, Options{Recommendation: recommendation()})); n > 1<<20 {
		t.Errorf("%d bytes of summary, GitHub takes %d", n, 1<<20)
	}
}

// TestMarkdownMore: twenty findings are shown and the others counted.
func TestMarkdownMore(t *testing.T) {
	run := largeRun(t, 3000)
	text := string(written(t, "markdown", run, Options{}))
	rows := regexp.MustCompile(`(?m)^\| <code>`).FindAllString(text, -1)
	if len(rows) != markdownFindings {
		t.Errorf("%d findings are shown", len(rows))
	}
	if want := fmt.Sprintf("**%d more findings** in the artifact", len(run.Findings)-markdownFindings); !strings.Contains(text, want) {
		t.Errorf("no %q in the summary", want)
	}
}
