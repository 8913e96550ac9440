// Package report answers one question: how does each reader see a Run?
//
// One file per format, each a function from a gate.Run to bytes; Formats lists them. Nothing is judged here, and no
// format depends on another. Equal runs give equal bytes.
//
//	f, err := report.Find("junit")
//	err = report.WriteFile(f, "reports/junit.xml", run, report.Options{})
//
// What a cluster says of itself (names, labels, versions) is hostile until it is made harmless for the format: a cell
// cannot become a formula, a name cannot become markup, an escape sequence cannot reach a terminal.
package report
