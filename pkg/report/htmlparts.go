package report

import (
	"io"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"
)

// The parts that the sections of the page are put together from. Texts and attributes are escaped by gomponents, every one;
// what goes in as it is (g.Raw) is in htmlpage.go, but for the newline.

// constructor makes an element of its attributes and content, as the functions of gomponents' package html do.
type constructor = func(...g.Node) g.Node

var newline = g.Raw("\n")

// line is an element that ends its line: a page is read, and its golden file compared, line by line.
func line(e constructor, children ...g.Node) g.Node { return g.Group{e(children...), newline} }

// block is a line whose content has lines of its own.
func block(e constructor, children ...g.Node) g.Node {
	return line(e, append([]g.Node{newline}, children...)...)
}

// each shows the items one after the other. Each is built when it is written, where g.Map would build them all before:
// the rows of a page of 10,000 nodes never are in memory side by side.
func each[T any](items []T, show func(T) g.Node) g.Node {
	return g.NodeFunc(func(w io.Writer) error {
		for _, item := range items {
			if err := show(item).Render(w); err != nil {
				return err
			}
		}
		return nil
	})
}

// section is a part of the page with a heading, which names it for those who do not see it too.
func section(id, title string, children ...g.Node) g.Node {
	return block(h.Section, h.Aria("labelledby", id), line(h.H2, h.ID(id), g.Text(title)), g.Group(children))
}

// scroll is where a wide table moves sideways, with the keys too, so that the page itself never does.
func scroll(label, table g.Node) g.Node {
	return block(h.Div, h.Class("scroll"), h.TabIndex("0"), h.Role("region"), label, table)
}

func tableOf(columns g.Group, rows g.Node) g.Node {
	return block(h.Table, tableHead(columns), block(h.TBody, rows))
}

func tableHead(columns g.Group) g.Node { return line(h.THead, h.Tr(columns)) }

// The attributes of the columns and cells of every table. num are figures; the script sorts by the columns that have a key.
var (
	ofColumn = h.Scope("col")
	ofRow    = h.Scope("row")
	num      = h.Class("num")
	byText   = h.Data("key", "text")
	byNumber = h.Data("key", "number")
)

func th(name string, attributes ...g.Node) g.Node {
	return h.Th(ofColumn, g.Group(attributes), g.Text(name))
}

func rowHead(name string) g.Node { return h.Th(ofRow, g.Text(name)) }

func td(text string, attributes ...g.Node) g.Node { return h.Td(g.Group(attributes), g.Text(text)) }

// list has no element where there are no items.
func list(items []string) g.Node {
	if len(items) == 0 {
		return nil
	}
	return block(h.Ul, each(items, func(item string) g.Node { return line(h.Li, g.Text(item)) }))
}

func definition(term string, value g.Node) g.Node {
	return line(h.Div, h.Dt(g.Text(term)), h.Dd(value))
}

func badge(word string) g.Node { return h.Span(h.Class("badge "+word), g.Text(word)) }

func verdictChip(verdict, text string) g.Node { return h.Span(h.Class("chip "+verdict), g.Text(text)) }

func muted(text string) g.Node { return h.Span(h.Class("muted"), g.Text(text)) }
