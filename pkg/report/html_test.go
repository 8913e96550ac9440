package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
	"github.com/allocatable-diff/allocatable-diff/pkg/recommend"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

func TestHTMLGolden(t *testing.T) {
	golden(t, "report.html", written(t, "html", exampleRun(t), Options{Recommendation: recommendation()}))
}

// elements and attributes are all that our pages are made of. There is no way in them to load, send or run anything but
// the one script.
var (
	elements = []string{
		"html", "head", "meta", "title", "link", "style", "body", "header", "main", "footer", "section", "article", "div", "span", "p", "h1", "h2", "h3", "code", "strong",
		"dl", "dt", "dd", "ul", "li", "table", "thead", "tbody", "tr", "th", "td", "details", "summary", "figure", "figcaption", "form", "label", "input", "select", "option", "output", "script",
		"svg", "g", "path", "text", "desc",
	}
	attributes = []string{
		"lang", "charset", "http-equiv", "content", "name", "rel", "href", "class", "id", "aria-label", "aria-labelledby", "aria-hidden", "role", "scope", "colspan", "tabindex",
		"data-key", "data-v", "data-verdicts", "type", "placeholder", "autocomplete", "value", "for",
		"viewBox", "transform", "x", "y", "d", "font-size", "stroke-width", "stroke-dasharray",
	}
)

// checkPage parses a page and holds it against what every page owes. It returns the text that a person sees.
func checkPage(t *testing.T, name string, data []byte) string {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var text strings.Builder
	counts, ids := map[string]int{}, map[string]bool{}
	for n := range root.Descendants() {
		switch n.Type {
		case html.TextNode:
			if n.Parent.Data != "script" && n.Parent.Data != "style" {
				text.WriteString(n.Data + " ")
			}
			continue
		case html.CommentNode:
			t.Errorf("%s: a comment: %q", name, n.Data)
			continue
		case html.ElementNode:
		default:
			continue
		}
		counts[n.Data]++
		if !slices.Contains(elements, n.Data) {
			t.Errorf("%s: an element <%s>", name, n.Data)
		}
		for _, a := range n.Attr {
			if !slices.Contains(attributes, a.Key) {
				t.Errorf("%s: an attribute %s of <%s>", name, a.Key, n.Data)
			}
			if a.Key == "href" && a.Val != "data:," {
				t.Errorf("%s: a link to %q", name, a.Val)
			}
			if a.Key == "id" {
				if ids[a.Val] {
					t.Errorf("%s: two elements with the id %q", name, a.Val)
				}
				ids[a.Val] = true
			}
		}
		if n.Data == "script" || n.Data == "style" {
			content := n.FirstChild.Data
			if want := map[string]string{"script": htmlScript, "style": htmlStyle}[n.Data]; content != want {
				t.Errorf("%s: the <%s> is not ours", name, n.Data)
			}
			if !bytes.Contains(data, []byte(hash(content))) {
				t.Errorf("%s: the policy does not allow our <%s>", name, n.Data)
			}
		}
	}
	for element, want := range map[string]int{"script": 1, "style": 1, "title": counts["svg"] + 1, "h1": 1, "main": 1} {
		if counts[element] != want {
			t.Errorf("%s: %d <%s>, want %d", name, counts[element], element, want)
		}
	}
	if !bytes.Contains(data, []byte(`<meta http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;;`)) {
		t.Errorf("%s: no Content-Security-Policy that forbids everything else", name)
	}
	for _, m := range regexp.MustCompile(`aria-labelledby="([^"]*)"`).FindAllSubmatch(data, -1) {
		for _, id := range strings.Fields(string(m[1])) {
			if !ids[id] {
				t.Errorf("%s: aria-labelledby names %q, which is not there", name, id)
			}
		}
	}
	for _, line := range strings.Split(text.String(), "\n") {
		if line != visible(line) {
			t.Errorf("%s: something that cannot be seen in %q", name, line)
		}
	}
	return text.String()
}

func TestHTMLPages(t *testing.T) {
	for name, run := range map[string]*gate.Run{
		"example": exampleRun(t), "clean": cleanRun(t), "empty": emptyRun(t), "hostile": hostileRun(t), "large": largeRun(t, 300),
	} {
		for _, r := range []*recommend.Report{nil, recommendation(), {}} {
			text := checkPage(t, name, written(t, "html", run, Options{Recommendation: r}))
			if !strings.Contains(text, outcomeText(run)) {
				t.Errorf("%s: the page does not say %q", name, outcomeText(run))
			}
		}
	}
}

// TestHTMLHostileNames: every name is there to be read, as text.
func TestHTMLHostileNames(t *testing.T) {
	text := checkPage(t, "hostile", written(t, "html", hostileRun(t), Options{}))
	for _, h := range hostile {
		if !strings.Contains(text, visible(h)) {
			t.Errorf("%q is not in the text", h)
		}
	}
}

// TestHTMLSays: what a person comes for is in the page.
func TestHTMLSays(t *testing.T) {
	text := strings.Join(strings.Fields(checkPage(t, "example", written(t, "html", exampleRun(t), Options{Recommendation: recommendation()}))), " ")
	for _, want := range []string{
		"4 of 9 judged nodes not as Karpenter expects",
		"memory: the node has less than Karpenter expects percentage-too-small",
		"c7a.large 3114Mi 3111.6Mi -2.4Mi -0.08% 2 of 3 default, AL2023",
		"Cause the hypervisor keeps 7.57% of 4096Mi", "Remedy set VM_MEMORY_OVERHEAD_PERCENT to 0.0757",
		"VM_MEMORY_OVERHEAD_PERCENT=0.0757 is the smallest fraction that over-estimates none of 9 sampled nodes",
		"Memory that instances keep for themselves", "What if: nodes over-estimated", "What if: memory hidden", "Expected against actual memory, by type", "Types with several real memory sizes",
		"m5.16xlarge batch Bottlerocket 2",
		"not ready: condition Ready is False", "list nodeoverlays.karpenter.sh is forbidden", "image of Deployment kube-system/karpenter", "sha256:0b1f5c",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	// Without a recommendation the page has neither its panel nor its curves.
	text = checkPage(t, "example", written(t, "html", exampleRun(t), Options{}))
	for _, not := range []string{"What if", "recommended 0.0757", "Recommended overhead"} {
		if strings.Contains(text, not) {
			t.Errorf("without a recommendation the page says %q", not)
		}
	}
}

// TestHTMLSize: under 2 MB for 1,000 nodes, and 10,000 nodes grow it by their names and figures only.
func TestHTMLSize(t *testing.T) {
	size := func(nodes int) int {
		return len(written(t, "html", largeRun(t, nodes), Options{Recommendation: recommendation()}))
	}
	if n := size(1000); n >= 2_000_000 {
		t.Errorf("%d bytes for 1,000 nodes", n)
	}
	if n := size(10_000); n >= 6_000_000 {
		t.Errorf("%d bytes for 10,000 nodes", n)
	}
}

// TestInline: of a drawing only known elements and attributes reach the page, escaped.
func TestInline(t *testing.T) {
	var b bytes.Buffer
	err := inline(&b, strings.NewReader(`<?xml version="1.0"?><!-- c --><svg onload="x"><script>x</script><a href="x"><g transform="scale(1)" onclick="x"><path d="M0,0" style="fill:#030303;stroke:red;stroke-width:2;behavior:url(x)"/><text x="1" y="2">&lt;b&gt; &amp;</text></g></a></svg>`))
	if want := `x<g transform="scale(1)"><path d="M0,0" stroke-width="2" class="fg"></path><text x="1" y="2">&lt;b&gt; &amp;</text></g>`; err != nil || b.String() != want {
		t.Errorf("%s, %v, want %s", b.String(), err, want)
	}
	if err := inline(&b, strings.NewReader("<svg")); err == nil {
		t.Error("a broken drawing is no error")
	}
}

// TestChartsAreXML: the drawings are well-formed, and every ink in them has a colour in the style sheet.
func TestChartsAreXML(t *testing.T) {
	for name, run := range map[string]*gate.Run{"example": exampleRun(t), "hostile": hostileRun(t), "large": largeRun(t, 300)} {
		list, err := charts(run, typeGroups(run), recommendation())
		if err != nil {
			t.Fatal(err)
		}
		if len(list) < 4 {
			t.Errorf("%s: %d charts", name, len(list))
		}
		for _, c := range list {
			if err := xml.Unmarshal([]byte(c.SVG), new(any)); err != nil && err != io.EOF {
				t.Errorf("%s: %s: %v", name, c.Title, err)
			}
			for _, m := range regexp.MustCompile(`class="([^"]*)"`).FindAllStringSubmatch(string(c.SVG), -1) {
				for _, class := range strings.Fields(m[1]) {
					if !strings.Contains(htmlStyle, "."+class+" {") {
						t.Errorf("%s: no style for .%s", name, class)
					}
				}
			}
			if strings.Contains(string(c.SVG), "NaN") || strings.Contains(string(c.SVG), "Inf") {
				t.Errorf("%s: %s has a point nowhere", name, c.Title)
			}
		}
	}
}

// TestChartsExtremes: no figure that an input can hold breaks a chart.
func TestChartsExtremes(t *testing.T) {
	figures := []snapshot.Figure{{}, known(0), known(1), known(-1), known(7 * gi), known(math.MaxInt64), known(math.MinInt64)}
	var nodes []gate.Node
	for i, expected := range figures {
		for j, actual := range figures {
			var rows []*gate.Row
			for _, field := range []compare.Field{compare.Capacity, compare.Allocatable} {
				rows = append(rows, &gate.Row{Row: compare.Row{Resource: expect.Memory, Field: field, Expected: expected, Actual: actual}})
			}
			n := judged(fmt.Sprintf("n%d-%d", i, j), "default", fmt.Sprintf("t%d.large", i), "amd64", "AL2023", rows)
			nodes = append(nodes, n)
		}
	}
	cluster := exampleRun(t).Clusters[0]
	for _, percent := range []float64{0, 0.075, 0.99999, 1, 7.5, 1e300} {
		cluster.OverheadPercent = percent
		run := concluded(t, gate.DefaultPolicy(), []gate.Cluster{cluster}, nodes)
		flat := percent
		r := &recommend.Report{
			Flat: &flat, Samples: 1, Line: &recommend.Line{Mebibytes: math.MaxInt64, Fraction: percent},
			Current: &recommend.Outcome{Percent: percent}, AtFlat: &recommend.Outcome{Percent: percent, HiddenBytes: math.MaxInt64},
			Sweep: []recommend.Outcome{{Percent: 0}, {Percent: percent, HiddenBytes: math.MaxInt64}},
		}
		for i := range nodes { // each alone, too: an axis of one value
			checkPage(t, "one node", written(t, "html", concluded(t, gate.DefaultPolicy(), []gate.Cluster{cluster}, nodes[i:i+1]), Options{Recommendation: r}))
		}
		checkPage(t, "extremes", written(t, "html", run, Options{Recommendation: r}))
	}
}
