package report

import (
	"strconv"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
)

// types is the table that the script sorts and filters. Every type has a body of its own, so that its nodes go with it.
func (p *page) types() g.Node {
	if len(p.Groups) == 0 {
		return nil
	}
	columns := g.Group{
		g.If(p.SeveralClusters, th("Cluster", byText)),
		th("Type", byText), th("NodePool", byText), th("AMI family", byText), th("Nodes", num, byNumber), th("Verdict", byNumber),
		th("Expected", num, byNumber), th("Actual", num, byNumber), th("Delta", num, byNumber), th("Share", num, byNumber),
		th("Other resources", byText),
	}
	return section("types", "Instance types",
		line(h.P, h.Class("muted"), g.Text("Allocatable memory of each instance type, NodePool and AMI family. The figures are those of the worst node.")),
		filter(),
		scroll(h.Aria("labelledby", "types"), block(h.Table, h.ID("table"), h.Class("types"),
			tableHead(columns),
			each(p.Groups, func(t typeGroup) g.Node { return t.body(p.SeveralClusters) }),
		)),
	)
}

func filter() g.Node {
	return block(h.Form, h.Class("filter"), h.Role("search"),
		line(h.Label, g.Text("Filter "), h.Input(h.Type("search"), h.ID("filter"), h.Placeholder("type, pool, node …"), h.AutoComplete("off"))),
		line(h.Label, g.Text("Verdict "), h.Select(h.ID("verdict"),
			h.Option(h.Value(""), g.Text("any")),
			each(verdicts, func(v string) g.Node { return h.Option(g.Text(v)) }),
		)),
		line(output, h.ID("shown"), h.For("filter verdict")),
	)
}

// output is where the script says how many rows there are: those who do not see them hear it.
func output(children ...g.Node) g.Node { return g.El("output", children...) }

// body is the row of the type, and one with its nodes, folded.
func (t typeGroup) body(severalClusters bool) g.Node {
	figure := num
	if t.Over() {
		figure = h.Class("num over")
	}
	value := func(v string) g.Node { return h.Data("v", v) }
	count := strconv.Itoa(t.Nodes)
	return block(h.TBody, h.Data("verdicts", t.verdictWords()),
		line(h.Tr,
			g.If(severalClusters, td(visible(t.Cluster))),
			rowHead(t.Type()), td(t.Pool()), td(t.Family()), td(count, num, value(count)),
			h.Td(h.Class("chips"), value(strconv.Itoa(t.Rank())), each(t.Chips(), chip.show)),
			td(t.Expected(), num, value(t.ExpectedValue())), td(t.Actual(), num, value(t.ActualValue())),
			td(t.Delta(), figure, value(t.DeltaValue())), td(t.Share(), figure, value(t.ShareValue())),
			td(t.Others(), h.Class("others")),
		),
		line(h.Tr, h.Class("nodes"), t.nodes(severalClusters)),
	)
}

// verdictWords are what the row is filtered by.
func (t typeGroup) verdictWords() string {
	var b strings.Builder
	for _, c := range t.Chips() {
		b.WriteString(c.Verdict + " ")
	}
	return b.String()
}

func (c chip) show() g.Node {
	return g.Group{verdictChip(c.Verdict, strconv.Itoa(c.Count)+" "+c.Verdict), g.Text(" ")}
}

// nodeColumns are the same for every type, so all rows share them.
var nodeColumns = g.Group{th("Nodes", num), th("Verdict"), th("Expected", num), th("Actual", num), th("Delta", num), th("Remarks"), th("Names")}

func (t typeGroup) nodes(severalClusters bool) g.Node {
	span := "10"
	if severalClusters {
		span = "11"
	}
	return h.Td(h.ColSpan(span), h.Details(
		line(h.Summary, g.Text(gate.Plural(t.Nodes, "node"))),
		tableOf(nodeColumns, each(t.Sets, figureSet.row)),
	))
}

// row has the names in one text, so that the browser finds them.
func (s figureSet) row() g.Node {
	return line(h.Tr,
		td(strconv.Itoa(len(s.Names)), num), h.Td(verdictChip(s.Verdict, s.Verdict)),
		td(s.Expected, num), td(s.Actual, num), td(s.Delta, num),
		td(join("; ", s.Reason, s.Others)), td(strings.Join(s.Names, ", "), h.Class("names")),
	)
}
