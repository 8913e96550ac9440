package report

import (
	"fmt"
	"strconv"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"
)

// document is the page from top to bottom, a function per section; one without content is nil, which is not written.
//
// It is built from Go functions because a template evaluates methods by names known only at run time: a program with one
// keeps every exported method of every type in it, a sixth of ours, and each run pays for them in memory.
func (p *page) document() g.Node {
	return g.Group{
		g.Raw("<!DOCTYPE html>\n"),
		block(h.HTML, h.Lang("en"),
			p.head(),
			block(h.Body,
				p.header(),
				block(h.Main, p.totals(), p.findings(), p.advice(), p.charts(), p.types(), p.unjudged(), p.notes(), p.settings()),
				p.footer(),
				line(h.Script, g.Raw(htmlScript)),
			),
		),
	}
}

func (p *page) head() g.Node {
	return block(h.Head,
		line(h.Meta, h.Charset("utf-8")),
		line(h.Meta, g.Attr("http-equiv", "Content-Security-Policy"), h.Content(contentPolicy())),
		line(h.Meta, h.Name("viewport"), h.Content("width=device-width, initial-scale=1")),
		line(h.Meta, h.Name("referrer"), h.Content("no-referrer")),
		line(h.Meta, h.Name("color-scheme"), h.Content("light dark")),
		line(h.TitleEl, g.Text(p.Result+": "+p.Clusters+" – allocatable-diff")),
		line(h.Link, h.Rel("icon"), h.Href("data:,")), // or the browser asks for one
		line(h.StyleEl, g.Raw(htmlStyle)),
	)
}

func (p *page) header() g.Node {
	said := func(what, text string) g.Node { return line(h.P, h.Strong(g.Text(what)), g.Text(" "+text)) }
	return block(h.Header, h.Class("verdict "+p.Result),
		line(h.P, h.Class("eyebrow"), g.Text("allocatable-diff "), h.Span(h.Aria("hidden", "true"), g.Text("·")), g.Text(" "+p.Clusters)),
		line(h.H1, badge(p.Result), g.Text(" "+p.Headline)),
		line(h.P, h.Class("lead"), g.Text(p.Verdict)),
		g.If(p.Memory != "", said("Memory", p.Memory)),
		said("Next", p.Next),
	)
}

func (p *page) totals() g.Node {
	return block(h.Section, h.Aria("label", "Totals"),
		block(h.Dl, h.Class("tiles"), each(p.Tiles, tile.show)),
	)
}

// show has a colour only where there is something to count: a red nought would alarm.
func (t tile) show() g.Node {
	class := "tile"
	if t.Class != "" && t.Value != 0 {
		class += " " + t.Class
	}
	return line(h.Div, h.Class(class), h.Dt(g.Text(t.Label)), h.Dd(g.Text(strconv.Itoa(t.Value))))
}

func (p *page) findings() g.Node {
	if len(p.Topics) == 0 {
		return nil
	}
	return section("findings", "Findings, worst first", each(p.Topics, pageTopic.card))
}

func (t pageTopic) card() g.Node {
	return block(h.Article, h.Class("card "+t.Severity),
		line(h.H3, badge(t.Severity), g.Text(" "+t.Meaning), g.If(t.ID != "", g.Group{g.Text(" "), h.Code(g.Text(t.ID))})),
		list(t.Entries),
		g.If(len(t.Rows) > 0, t.rows(t.Meaning, t.Rows)),
		g.If(len(t.More) > 0, line(h.Details,
			line(h.Summary, g.Text(fmt.Sprintf("%d more", len(t.More)))),
			t.rows("More: "+t.Meaning, t.More),
		)),
		g.If(t.Cause != "" || t.Remedy != "" || t.Worst != "", block(h.Dl, h.Class("why"),
			g.If(t.Cause != "", definition("Cause", g.Text(t.Cause))),
			g.If(t.Remedy != "", definition("Remedy", g.Text(t.Remedy))),
			g.If(t.Worst != "", definition("Worst", h.Code(g.Text(t.Worst)))),
		)),
	)
}

func (t pageTopic) rows(label string, rows []pageFinding) g.Node {
	columns := g.Group{
		th("Type"), th(t.Against, num), th(t.Actual, num), th("Delta", num), th("Share", num), th("Nodes", num), th("Class, AMI"),
	}
	return scroll(h.Aria("label", label), tableOf(columns, each(rows, pageFinding.row)))
}

func (f pageFinding) row() g.Node {
	return line(h.Tr, rowHead(f.Type), td(f.Expected, num), td(f.Actual, num), td(f.Delta, num), td(f.Share, num), td(f.Nodes, num), td(f.Where))
}

func (p *page) advice() g.Node {
	a := p.Advice
	if a == nil {
		return nil
	}
	columns := g.Group{th("Overhead"), th("Nodes over-estimated", num), th("Memory hidden", num), th("")}
	return section("advice", "Recommended overhead",
		block(h.Div, h.Class("card"),
			line(h.P, h.Code(g.Text(a.Setting)), g.Text(" is the smallest fraction that over-estimates none of "+a.Samples+".")),
			scroll(h.Aria("label", "Overheads compared"), tableOf(columns, each(a.Rows, adviceRow.row))),
			list(a.Notes),
		),
	)
}

func (r adviceRow) row() g.Node {
	return line(h.Tr, rowHead(r.Overhead), td(strconv.Itoa(r.Over), num), td(r.Hidden, num), td(r.What))
}

func (p *page) charts() g.Node {
	if len(p.Charts) == 0 {
		return nil
	}
	return section("charts", "Charts",
		block(h.Div, h.Class("charts"), each(p.Charts, chart.figure)),
	)
}

func (c chart) figure() g.Node {
	return block(h.Figure,
		line(h.H3, g.Text(c.Title)),
		line(h.Div, h.Class("scroll"), g.Raw(string(c.SVG))),
		line(h.FigCaption, g.Text(c.Caption)),
	)
}

func (p *page) unjudged() g.Node {
	if len(p.Unjudged) == 0 {
		return nil
	}
	return section("unjudged", "Not judged",
		block(h.Ul, h.Class("plain"), each(p.Unjudged, pageUnjudged.item)),
	)
}

func (u pageUnjudged) item() g.Node {
	return line(h.Li, verdictChip(u.State, u.Label), g.Text(" "+u.Nodes+": "+u.Reason+" "), muted(u.Names))
}

func (p *page) notes() g.Node {
	if len(p.Notes) == 0 {
		return nil
	}
	return section("notes", "For information",
		block(h.Ul, h.Class("plain"), each(p.Notes, func(n pageNote) g.Node {
			return line(h.Li, g.Text(n.Text+" "), muted(n.Nodes))
		})),
	)
}

func (p *page) settings() g.Node {
	return section("settings", "Settings and assumptions",
		each(p.Settings, pageSetting.card),
		list(p.Assumptions),
	)
}

func (s pageSetting) card() g.Node {
	return block(h.Div, h.Class("card"),
		line(h.H3, g.Text(s.Clusters)),
		block(h.Dl, h.Class("why"), each(s.Lines, func(l [2]string) g.Node { return definition(l[0], g.Text(l[1])) })),
	)
}

func (p *page) footer() g.Node {
	return block(h.Footer, each(p.Digests, func(d pageDigest) g.Node {
		return line(h.P, g.Text("Snapshot of "+d.Cluster+": "), h.Code(g.Text(d.Digest)))
	}))
}
