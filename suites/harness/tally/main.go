// Command tally sums JUnit files and prints one plain line: "N passed, N failed, N skipped". It exits with 1 when a test
// failed, and when none ran: an empty run proves nothing.
//
// Ginkgo lists the nodes around its specs as test cases too. They run even where no spec does, so they count when they
// fail alone.
package main

import (
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

type counts struct{ passed, failed, skipped int }

// testcase is what is looked at of a JUnit test case: suites nest, cases hold what became of them.
type testcase struct {
	name            string
	failed, skipped bool
}

func (c *counts) add(t testcase) {
	switch {
	case t.failed:
		c.failed++
	case aroundSpecs(t.name):
	case t.skipped:
		c.skipped++
	default:
		c.passed++
	}
}

// read adds the cases of a file, one after the other: that of a large cluster has a hundred thousand.
func (c *counts) read(r io.Reader) error {
	d := xml.NewDecoder(bufio.NewReaderSize(r, 1<<16))
	var t testcase
	elements := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) && elements > 0 {
			return nil
		}
		if err != nil {
			return err
		}
		switch e := token.(type) {
		case xml.StartElement:
			elements++
			switch e.Name.Local {
			case "testcase":
				t = testcase{name: attribute(e, "name")}
			case "failure", "error":
				t.failed = true
			case "skipped":
				t.skipped = true
			}
		case xml.EndElement:
			if e.Name.Local == "testcase" {
				c.add(t)
			}
		}
	}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// aroundSpecs reports whether a test case is a node of Ginkgo's that is no spec: "[ReportAfterSuite] reports", where a spec
// is "[It] …".
func aroundSpecs(name string) bool {
	return strings.HasPrefix(name, "[") && !strings.HasPrefix(name, "[It]")
}

func main() {
	c, err := sum(os.Args[1:])
	if err == nil && c.passed+c.failed == 0 {
		err = errors.New("no test ran")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "tally:", err)
	}
	write(os.Stdout, c)
	if err != nil || c.failed > 0 {
		os.Exit(1)
	}
}

func write(w io.Writer, c counts) {
	fmt.Fprintf(w, "%d passed, %d failed, %d skipped\n", c.passed, c.failed, c.skipped)
}

// sum counts every *.xml below the paths.
func sum(paths []string) (counts, error) {
	var c counts
	for _, root := range paths {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".xml") {
				return err
			}
			f, err := os.Open(path)
			if err != nil {
				return err
			}
			defer f.Close()
			if err := c.read(f); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			return nil
		})
		if err != nil {
			return c, err
		}
	}
	return c, nil
}
