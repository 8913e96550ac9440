package main

import (
	"fmt"
	"slices"
)

// goal is what was promised of a figure: at most so much, or at least.
type goal struct {
	limit   float64
	atLeast bool
}

func atMost(limit float64) goal  { return goal{limit: limit} }
func atLeast(limit float64) goal { return goal{limit: limit, atLeast: true} }

func (g goal) reached(v float64) bool {
	if g.atLeast {
		return v >= g.limit
	}
	return v <= g.limit
}

// unit is how a figure is printed.
type unit func(float64) string

func times(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f×", v)
	case v >= 10:
		return fmt.Sprintf("%.1f×", v)
	}
	return fmt.Sprintf("%.2f×", v)
}

// megabytes prints bytes; a megabyte is 10^6 of them.
func megabytes(v float64) string { return fmt.Sprintf("%.0f MB", v/1e6) }

// duration prints seconds.
func duration(v float64) string {
	if v < 1 {
		return fmt.Sprintf("%.0f ms", v*1000)
	}
	return fmt.Sprintf("%.2f s", v)
}

func count(v float64) string { return fmt.Sprint(int(v)) }

// figure is one promise with what was measured of it.
type figure struct {
	what    string
	samples []float64
	goal    goal
	unit    unit
}

// holds reports whether the median reaches the goal.
func (f figure) holds() bool { return f.goal.reached(median(f.samples)) }

// median is the middle of the samples, or the mean of the two in the middle. There must be one.
func median(samples []float64) float64 {
	sorted := slices.Sorted(slices.Values(samples))
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}

// ratios are those of each pair.
func ratios(a, b []usage, of func(usage) float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = of(a[i]) / of(b[i])
	}
	return out
}

// each is one figure of every run.
func each(runs []usage, of func(usage) float64) []float64 {
	out := make([]float64, len(runs))
	for i, u := range runs {
		out[i] = of(u)
	}
	return out
}

// measured is what became of a row.
type measured struct {
	figures []figure
	// notes are lines for a person: the sides of the ratios as they are.
	notes []string
	// lacks is what the row needs and does not have here; else empty.
	lacks string
	// failed is why it could not be measured although it has everything; else nil.
	failed error
}

// side describes one side of a ratio: the medians of its runs.
func side(name string, runs []usage) string {
	return fmt.Sprintf("%s: %s, cpu %s, peak %s", name, duration(median(each(runs, seconds))),
		duration(median(each(runs, func(u usage) float64 { return u.cpu.Seconds() }))), megabytes(median(each(runs, peak))))
}
