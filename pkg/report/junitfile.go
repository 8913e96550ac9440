package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// junitLimit is the bytes of one file: GitLab refuses a JUnit file above 30 MB, others from 25 MB on.
const junitLimit = 24_000_000

// junitShard is one document: suites whose test cases are counted and written already.
type junitShard struct {
	parts []*junitPart
	size  int
}

// junitPart is a suite, or as much of one as goes into a document.
type junitPart struct {
	suite  *junitSuite
	counts [4]int
	cases  bytes.Buffer
}

// add begins a part of suite, which takes size bytes without test cases.
func (s *junitShard) add(suite *junitSuite, size int) *junitPart {
	p := &junitPart{suite: suite}
	s.parts = append(s.parts, p)
	s.size += size
	return p
}

// hasCases reports whether any test case is in the document.
func (s *junitShard) hasCases() bool {
	return slices.ContainsFunc(s.parts, func(p *junitPart) bool { return p.cases.Len() > 0 })
}

// write writes the whole document.
func (s *junitShard) write(w io.Writer) error {
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	var all [4]int
	for _, p := range s.parts {
		for o, n := range p.counts {
			all[o] += n
		}
	}
	root := element("testsuites", junitName, all)
	if err := e.EncodeToken(root); err != nil {
		return err
	}
	for _, p := range s.parts {
		if err := p.encode(e, w); err != nil {
			return err
		}
	}
	if err := errors.Join(e.EncodeToken(root.End()), e.Close()); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// encode writes the part to e, which writes to w.
func (p *junitPart) encode(e *xml.Encoder, w io.Writer) error {
	start := element("testsuite", p.suite.name, p.counts)
	if err := e.EncodeToken(start); err != nil {
		return err
	}
	properties := struct {
		XMLName xml.Name `xml:"properties"`
		List    []junitProperty
	}{List: p.suite.properties}
	if err := errors.Join(e.Encode(properties), e.Flush()); err != nil {
		return err
	}
	if _, err := w.Write(p.cases.Bytes()); err != nil {
		return err
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

// junitShards yields the report as documents of at most limit bytes each; a suite that does not fit goes on, under the
// same name, in the next one. A single test case larger than limit gets a document of its own. Each test case is written
// once, since that takes time: so a document is made of text that waits in memory for its counts.
func junitShards(suites []junitSuite, limit int) iter.Seq2[*junitShard, error] {
	return func(yield func(*junitShard, error) bool) {
		var text bytes.Buffer
		e := xml.NewEncoder(&text)
		e.Indent("    ", "  ")
		shard := &junitShard{}
		for i := range suites {
			s := &suites[i]
			head, err := junitHead(s)
			if err != nil {
				yield(nil, err)
				return
			}
			part := shard.add(s, head)
			for j := range s.cases {
				c := &s.cases[j]
				text.Reset()
				if err := e.Encode(c.testcase()); err != nil {
					yield(nil, err)
					return
				}
				line := bytes.TrimPrefix(text.Bytes(), []byte("\n")) // there is one in front of all but the first
				if shard.size+len(line) >= limit && shard.hasCases() {
					if part.cases.Len() == 0 {
						shard.parts = shard.parts[:len(shard.parts)-1]
					}
					if !yield(shard, nil) {
						return
					}
					shard = &junitShard{}
					part = shard.add(s, head)
				}
				part.counts[c.outcome()]++
				part.cases.WriteByte('\n')
				part.cases.Write(line)
				shard.size += 1 + len(line)
			}
		}
		yield(shard, nil)
	}
}

// junitHead is a little more than what a suite takes beside its test cases, with a document around it.
func junitHead(s *junitSuite) (int, error) {
	var b bytes.Buffer
	err := (&junitShard{parts: []*junitPart{{suite: s}}}).write(&b)
	return b.Len() + 64, err // longer counts
}

// writeJUnitFile writes path, or, where the report is too large for its readers, path-0001.xml and so on. Whichever of
// the two is not written is removed: a reader of junit*.xml would take yesterday's for today's.
func writeJUnitFile(path string, run *gate.Run, limit int) error {
	var paths []string
	var first *junitShard // its name depends on whether there is another
	write := func(s *junitShard, path string) error {
		paths = append(paths, path)
		return snapshot.WriteFile(path, 0o644, s.write)
	}
	number := 0
	for shard, err := range junitShards(junitSuites(run), limit) {
		if err != nil {
			return fmt.Errorf("writing %s: %w", path, err)
		}
		if number++; number == 1 {
			first = shard
			continue
		}
		if number == 2 {
			if err := write(first, shardPath(path, 1)); err != nil {
				return err
			}
			first = nil
		}
		if err := write(shard, shardPath(path, number)); err != nil {
			return err
		}
	}
	if first != nil {
		if err := write(first, path); err != nil {
			return err
		}
	}
	return removeStale(path, paths)
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
