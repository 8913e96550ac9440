package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// junitLimit is the bytes of one file: GitLab refuses a JUnit file above 30 MB, others from 25 MB on.
const junitLimit = 24_000_000

// writeSuites writes a whole document.
func writeSuites(w io.Writer, suites []junitSuite) error {
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	var all [4]int
	for i := range suites {
		for o, n := range suites[i].outcomes() {
			all[o] += n
		}
	}
	root := element("testsuites", junitName, all)
	if err := e.EncodeToken(root); err != nil {
		return err
	}
	for i := range suites {
		if err := suites[i].encode(e); err != nil {
			return err
		}
	}
	if err := errors.Join(e.EncodeToken(root.End()), e.Close()); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (s *junitSuite) outcomes() (counts [4]int) {
	for i := range s.cases {
		counts[s.cases[i].outcome()]++
	}
	return counts
}

func (s *junitSuite) encode(e *xml.Encoder) error {
	start := element("testsuite", s.name, s.outcomes())
	if err := e.EncodeToken(start); err != nil {
		return err
	}
	properties := struct {
		XMLName xml.Name `xml:"properties"`
		List    []junitProperty
	}{List: s.properties}
	if err := e.Encode(properties); err != nil {
		return err
	}
	for i := range s.cases {
		if err := e.Encode(s.cases[i].testcase()); err != nil {
			return err
		}
	}
	return e.EncodeToken(start.End())
}

// element is a testsuites or testsuite element; its counts are the sums of what is below it.
func element(tag, name string, counts [4]int) xml.StartElement {
	s := xml.StartElement{Name: xml.Name{Local: tag}}
	attr := func(name, value string) {
		s.Attr = append(s.Attr, xml.Attr{Name: xml.Name{Local: name}, Value: value})
	}
	attr("name", name)
	attr("tests", strconv.Itoa(counts[passed]+counts[failed]+counts[errored]+counts[skipped]))
	attr("failures", strconv.Itoa(counts[failed]))
	attr("errors", strconv.Itoa(counts[errored]))
	attr("skipped", strconv.Itoa(counts[skipped]))
	attr("time", junitTime)
	return s
}

// junitShards cuts the report into documents of at most limit bytes each; a suite that does not fit goes on, under the
// same name, in the next one. A single test case larger than limit gets a document of its own.
func junitShards(suites []junitSuite, limit int) ([][]junitSuite, error) {
	var shards [][]junitSuite
	var shard []junitSuite
	scale := newJUnitScale()
	size := 0
	for i := range suites {
		s := &suites[i]
		head, err := scale.suite(s)
		if err != nil {
			return nil, err
		}
		from := 0
		size += head
		for j := range s.cases {
			n, err := scale.testcase(&s.cases[j])
			if err != nil {
				return nil, err
			}
			if size+n > limit && (j > from || len(shard) > 0) {
				if j > from {
					shard = append(shard, junitSuite{s.name, s.properties, s.cases[from:j]})
				}
				shards = append(shards, shard)
				shard, from, size = nil, j, head
			}
			size += n
		}
		shard = append(shard, junitSuite{s.name, s.properties, s.cases[from:]})
	}
	return append(shards, shard), nil
}

// junitScale tells how many bytes a part of a document takes, or a few more.
type junitScale struct {
	bytes   bytes.Buffer
	encoder *xml.Encoder
}

func newJUnitScale() *junitScale {
	s := &junitScale{}
	s.encoder = xml.NewEncoder(&s.bytes)
	s.encoder.Indent("    ", "  ")
	return s
}

// suite is what a suite takes beside its test cases, with a document around it.
func (s *junitScale) suite(suite *junitSuite) (int, error) {
	s.bytes.Reset()
	err := writeSuites(&s.bytes, []junitSuite{{name: suite.name, properties: suite.properties}})
	return s.bytes.Len() + 64, err // 64: longer counts, deeper indentation
}

func (s *junitScale) testcase(c *junitNode) (int, error) {
	s.bytes.Reset()
	err := s.encoder.Encode(c.testcase())
	return s.bytes.Len() + 8, err
}

// writeJUnitFile writes path, or, where the report is too large for its readers, path-0001.xml and so on. Whichever of
// the two is not written is removed: a reader of junit*.xml would take yesterday's for today's.
func writeJUnitFile(path string, run *gate.Run, limit int) error {
	suites := junitSuites(run)
	write := func(path string, suites []junitSuite, limit int) error {
		return snapshot.WriteFile(path, 0o644, func(w io.Writer) error { return writeSuites(&bounded{w, limit}, suites) })
	}
	if isStream(path) {
		return write(path, suites, math.MaxInt) // a pipe has no second file
	}
	// To measure the test cases takes as long as to write them, and nearly every report fits into one file.
	err := write(path, suites, limit)
	if err == nil {
		return removeStale(path, []string{path})
	}
	if !errors.Is(err, errTooLarge) {
		return err
	}
	shards, err := junitShards(suites, limit)
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	var paths []string
	for i := range shards {
		paths = append(paths, shardPath(path, i+1))
		if err := write(paths[i], shards[i], math.MaxInt); err != nil {
			return err
		}
	}
	return removeStale(path, paths)
}

// errTooLarge is what writing more than limit bytes fails with.
var errTooLarge = errors.New("too large for one file")

// bounded lets no more than left bytes through.
type bounded struct {
	w    io.Writer
	left int
}

func (b *bounded) Write(data []byte) (int, error) {
	if b.left -= len(data); b.left < 0 {
		return 0, errTooLarge
	}
	return b.w.Write(data)
}

func shardPath(path string, number int) string {
	ext := filepath.Ext(path)
	return fmt.Sprintf("%s-%04d%s", strings.TrimSuffix(path, ext), number, ext)
}

// removeStale removes what an earlier run wrote for path and this one did not. Only regular files with the very names
// that writeJUnitFile gives are removed.
func removeStale(path string, current []string) error {
	keep := map[string]bool{}
	for _, p := range current {
		keep[filepath.Base(p)] = true
	}
	base, ext := filepath.Base(path), filepath.Ext(path)
	ours, err := regexp.Compile("^" + regexp.QuoteMeta(strings.TrimSuffix(base, ext)) + `(-\d{4,})?` + regexp.QuoteMeta(ext) + "$")
	if err != nil {
		return fmt.Errorf("removing old shards of %s: %w", path, err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("removing old shards of %s: %w", path, err)
	}
	for _, e := range entries {
		if !ours.MatchString(e.Name()) || keep[e.Name()] || !e.Type().IsRegular() {
			continue
		}
		if err := os.Remove(filepath.Join(filepath.Dir(path), e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing an old shard of %s: %w", path, err)
		}
	}
	return nil
}
