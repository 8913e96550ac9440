package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// width is the columns of a terminal.
const width = 80

// table prints the rows as they come: a run takes minutes. It keeps the first error.
type table struct {
	out io.Writer
	// goals counts those that were judged, notHeld those that were missed.
	goals, notHeld int
	// missed, unjudged and failed are names of rows.
	missed, unjudged, failed []string
	err                      error
}

func (t *table) line(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintln(t.out, strings.TrimRight(fmt.Sprintf(format, args...), " "))
	}
}

func (t *table) head(about []string) {
	for _, text := range about {
		t.wrap("", text)
	}
	t.line("")
	t.columns("", "median", "min … max", "goal", "holds")
}

func (t *table) columns(what, median, extent, goal, holds string) {
	t.line("%-29s %9s  %-21s %9s  %s", what, median, extent, goal, holds)
}

func (t *table) row(r row, m measured) {
	t.wrap("", r.title)
	if m.lacks != "" {
		t.wrap("  ", "not measured: "+m.lacks)
		t.unjudged = append(t.unjudged, r.name)
		return
	}
	if m.failed != nil {
		t.line("  failed: %s", strings.TrimSpace(m.failed.Error()))
		t.failed = append(t.failed, r.name)
		return
	}
	for _, f := range m.figures {
		sign, holds := "≤ ", "yes"
		if f.goal.atLeast {
			sign = "≥ "
		}
		t.goals++
		if !f.holds() {
			holds = "NO"
			t.notHeld++
			t.missed = append(t.missed, r.name)
		}
		t.columns("  "+f.what, f.unit(median(f.samples)), extent(f), sign+f.unit(f.goal.limit), holds)
	}
	for _, note := range m.notes {
		t.wrap("    ", note)
	}
}

// extent is the smallest and the largest sample; empty for one alone.
func extent(f figure) string {
	if len(f.samples) == 1 {
		return ""
	}
	return f.unit(slices.Min(f.samples)) + " … " + f.unit(slices.Max(f.samples))
}

// wrap prints a text in lines that fit the terminal.
func (t *table) wrap(indent, text string) {
	line := indent
	for _, word := range strings.Fields(text) {
		if len([]rune(line))+len([]rune(word)) > width && line != indent {
			t.line("%s", line)
			line = indent + "  "
		}
		line += word + " "
	}
	t.line("%s", line)
}

// foot concludes, and reports whether every goal that can be judged here is reached. Nothing judged is no success.
func (t *table) foot() (bool, error) {
	t.line("")
	switch {
	case t.notHeld > 0:
		t.wrap("", fmt.Sprintf("%d of %s missed: %s", t.notHeld, plural(t.goals, "goal"), strings.Join(slices.Compact(t.missed), ", ")))
	default:
		t.wrap("", plural(t.goals, "goal")+" reached")
	}
	if len(t.failed) > 0 {
		t.wrap("", "could not be measured: "+strings.Join(t.failed, ", "))
	}
	if len(t.unjudged) > 0 {
		t.wrap("", "not measured: "+strings.Join(t.unjudged, ", "))
	}
	return t.goals > 0 && t.notHeld == 0 && len(t.failed) == 0, t.err
}
