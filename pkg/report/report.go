package report

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
	"github.com/allocatable-diff/allocatable-diff/pkg/recommend"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// Format is one way to write a run.
type Format struct {
	// Name is what --output calls it.
	Name string
	// File is the usual name of the file; empty for what is not written to a file of its own.
	File string
	// Write writes the whole report. It does not change the run.
	Write func(io.Writer, *gate.Run, Options) error
	// Recommends says that the report shows Options.Recommendation: nobody else needs to work it out.
	Recommends bool
}

// Options are the choices that a person has. The zero value is the default of each.
type Options struct {
	// UpstreamCSV writes the CSV with the first header row of Karpenter's own tool, which is one cell short.
	UpstreamCSV bool
	// Color uses terminal colours in the table.
	Color bool
	// Width is the columns of the terminal; 0 means 80.
	Width int
	// MetricsPerNode adds a time series per node to the metrics.
	MetricsPerNode bool
	// Recommendation, where there is one, is shown with the findings in Markdown and HTML.
	Recommendation *recommend.Report
}

const junitFormat = "junit"

// Formats are all formats, in the order in which they are listed and written.
var Formats = []Format{
	{Name: "csv", File: "allocatable-diff.csv", Write: writeCSV},
	{Name: "csv-wide", File: "nodes.csv", Write: writeWideCSV},
	{Name: junitFormat, File: "junit.xml", Write: writeJUnit},
	{Name: "json", File: "run.json", Write: writeJSON},
	{Name: "markdown", File: "summary.md", Write: writeMarkdown, Recommends: true},
	{Name: "html", File: "report.html", Write: writeHTML, Recommends: true},
	{Name: "prometheus", File: "metrics.prom", Write: writeMetrics},
	{Name: "github", Write: writeGitHub},
	{Name: "table", Write: writeTable},
}

// Find returns the format of a name; the error lists the names there are.
func Find(name string) (Format, error) {
	names := make([]string, len(Formats))
	for i, f := range Formats {
		if f.Name == name {
			return f, nil
		}
		names[i] = f.Name
	}
	return Format{}, fmt.Errorf("no report format %q: there are %s", name, strings.Join(names, ", "))
}

// WriteFile writes the report to path, whole or not at all. A JUnit report that its readers would refuse as too large
// goes to path-0001.xml and so on instead.
func WriteFile(f Format, path string, run *gate.Run, o Options) error {
	if f.Name == junitFormat {
		return writeJUnitFile(path, run, junitLimit)
	}
	return snapshot.WriteFile(path, 0o644, func(w io.Writer) error { return f.Write(w, run, o) })
}

// File is a report and the path that it goes to.
type File struct {
	Format Format
	Path   string
}

// WriteFiles writes every report, side by side: most of the time goes into the largest of them, and into waiting for the
// disk. What is no regular file comes last, one after the other: two of them can be one terminal, and a pipe waits for its
// reader. A report that cannot be written keeps none of the others back; the errors are joined in the order of the files.
func WriteFiles(files []File, run *gate.Run, o Options) error {
	failed := make([]error, len(files))
	var sideBySide errgroup.Group
	sideBySide.SetLimit(runtime.GOMAXPROCS(0))
	var streams []int
	for i, f := range files {
		if isStream(f.Path) {
			streams = append(streams, i)
			continue
		}
		sideBySide.Go(func() error {
			failed[i] = WriteFile(f.Format, f.Path, run, o)
			return nil
		})
	}
	_ = sideBySide.Wait() // the errors are in failed, in the order of the files
	for _, i := range streams {
		failed[i] = WriteFile(files[i].Format, files[i].Path, run, o)
	}
	return errors.Join(failed...)
}

// isStream reports whether path is there and is no regular file.
func isStream(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular()
}

// Files are the formats that have a file of their own, in the order in which they are written.
func Files() []Format {
	var out []Format
	for _, f := range Formats {
		if f.File != "" {
			out = append(out, f)
		}
	}
	return out
}
