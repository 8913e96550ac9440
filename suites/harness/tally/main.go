// Command tally sums JUnit files and prints one plain line: "N passed, N failed, N skipped". It exits with 1 when a test
// failed, and when none ran: an empty run proves nothing.
//
// Ginkgo lists the nodes around its specs as test cases too. They run even where no spec does, so they count when they
// fail alone.
package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// suite is the part of JUnit that is counted: suites nest, cases hold what became of them.
type suite struct {
	Suites []suite `xml:"testsuite"`
	Cases  []struct {
		Name    string    `xml:"name,attr"`
		Failure *struct{} `xml:"failure"`
		Error   *struct{} `xml:"error"`
		Skipped *struct{} `xml:"skipped"`
	} `xml:"testcase"`
}

type counts struct{ passed, failed, skipped int }

func (c *counts) add(s suite) {
	for _, t := range s.Cases {
		switch {
		case t.Failure != nil || t.Error != nil:
			c.failed++
		case aroundSpecs(t.Name):
		case t.Skipped != nil:
			c.skipped++
		default:
			c.passed++
		}
	}
	for _, inner := range s.Suites {
		c.add(inner)
	}
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
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			var s suite
			if err := xml.Unmarshal(data, &s); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			c.add(s)
			return nil
		})
		if err != nil {
			return c, err
		}
	}
	return c, nil
}
