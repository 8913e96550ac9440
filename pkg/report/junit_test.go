package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
)

func TestJUnitGolden(t *testing.T) {
	golden(t, "junit.xml", written(t, "junit", exampleRun(t), Options{}))
	golden(t, "junit-empty.xml", written(t, "junit", emptyRun(t), Options{}))
}

// document is a JUnit file as its readers see it.
type document struct {
	XMLName                                  xml.Name `xml:"testsuites"`
	Tests, Failures, Errors, Skipped, Suites string
	Attrs                                    []xml.Attr `xml:",any,attr"`
	Suite                                    []suite    `xml:"testsuite"`
}

type suite struct {
	Attrs      []xml.Attr `xml:",any,attr"`
	Properties []struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	} `xml:"properties>property"`
	Cases []testcase `xml:"testcase"`
}

type testcase struct {
	ClassName string   `xml:"classname,attr"`
	Name      string   `xml:"name,attr"`
	Time      string   `xml:"time,attr"`
	Failure   *message `xml:"failure"`
	Error     *message `xml:"error"`
	Skipped   *message `xml:"skipped"`
	Out       string   `xml:"system-out"`
}

type message struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func attr(t *testing.T, attrs []xml.Attr, name string) string {
	t.Helper()
	i := slices.IndexFunc(attrs, func(a xml.Attr) bool { return a.Name.Local == name })
	if i < 0 {
		t.Errorf("no attribute %s", name)
		return ""
	}
	return attrs[i].Value
}

// jenkins is what the schema of Jenkins' xunit plugin (junit-10.xsd) lets each element have. It has no skipped on
// testsuites, which the others sum up and Jenkins' junit plugin passes over.
var jenkins = map[string][]string{
	"testsuites": {"name", "time", "tests", "failures", "errors", "skipped"},
	"testsuite":  {"name", "tests", "failures", "errors", "group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url"},
	"properties": {}, "property": {"name", "value"},
	"testcase": {"name", "time", "classname", "group"},
	"failure":  {"type", "message"}, "error": {"type", "message"}, "skipped": {"type", "message"},
	"system-out": {}, "system-err": {},
}

var jenkinsTime = regexp.MustCompile(`^(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]*)?$`)

// checkJUnit holds a file against the rules of each reader and returns it parsed.
func checkJUnit(t *testing.T, name string, data []byte) document {
	t.Helper()
	if !bytes.HasPrefix(data, []byte("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")) {
		t.Errorf("%s: no prolog", name)
	}
	if !utf8.Valid(data) {
		t.Errorf("%s: no UTF-8", name)
	}
	if len(data) >= 25_000_000 {
		t.Errorf("%s: %d bytes, GitLab takes 30 MB and others 25", name, len(data))
	}
	d := xml.NewDecoder(bytes.NewReader(data)) // strict: refuses characters that XML 1.0 does not have
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		allowed, ok := jenkins[start.Name.Local]
		if !ok {
			t.Errorf("%s: Jenkins has no element %s", name, start.Name.Local)
		}
		for _, a := range start.Attr {
			if !slices.Contains(allowed, a.Name.Local) {
				t.Errorf("%s: Jenkins has no attribute %s of %s", name, a.Name.Local, start.Name.Local)
			}
		}
	}
	var doc document
	if err := xml.Unmarshal(data, &doc); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	seen := map[string]bool{}
	var all [4]int
	for _, s := range doc.Suite {
		var counts [4]int
		if attr(t, s.Attrs, "name") == "" {
			t.Errorf("%s: a suite without a name", name)
		}
		for _, c := range s.Cases {
			counts[c.check(t, name)]++
			if key := c.ClassName + "\x00" + c.Name; seen[key] {
				t.Errorf("%s: GitLab drops the second of %q %q", name, c.ClassName, c.Name)
			} else {
				seen[key] = true
			}
		}
		checkCounts(t, name, s.Attrs, counts)
		for i := range all {
			all[i] += counts[i]
		}
	}
	checkCounts(t, name, doc.Attrs, all)
	return doc
}

// check returns the outcome of the test case.
func (c *testcase) check(t *testing.T, name string) outcome {
	t.Helper()
	if c.ClassName == "" || c.Name == "" {
		t.Errorf("%s: Jenkins refuses an empty classname: %+v", name, c)
	}
	if strings.HasPrefix(c.ClassName, ".") || strings.HasSuffix(c.ClassName, ".") {
		t.Errorf("%s: Jenkins splits %q at its last dot and one part is empty", name, c.ClassName)
	}
	if !regexp.MustCompile(`^\d+\.\d{3}$`).MatchString(c.Time) || !jenkinsTime.MatchString(c.Time) {
		t.Errorf("%s: time %q", name, c.Time)
	}
	result, found := passed, 0
	for o, m := range map[outcome]*message{failed: c.Failure, errored: c.Error, skipped: c.Skipped} {
		if m == nil {
			continue
		}
		result, found = o, found+1
		if m.Message == "" || strings.ContainsAny(m.Message, "\r\n") || utf8.RuneCountInString(m.Message) > 250 {
			t.Errorf("%s: the message %q is not one line of at most 250 characters", name, m.Message)
		}
		if o != skipped && (m.Type == "" || strings.TrimSpace(m.Text) == "") {
			t.Errorf("%s: %s: GitLab shows the text and mikepenz the type: %+v", name, c.Name, m)
		}
		if len(m.Text) > 60000 {
			t.Errorf("%s: GitHub cuts an annotation of %d bytes", name, len(m.Text))
		}
	}
	if found > 1 {
		t.Errorf("%s: %s has %d results", name, c.Name, found)
	}
	return result
}

func checkCounts(t *testing.T, name string, attrs []xml.Attr, counts [4]int) {
	t.Helper()
	for a, want := range map[string]int{
		"tests": counts[passed] + counts[failed] + counts[errored] + counts[skipped], "failures": counts[failed], "errors": counts[errored], "skipped": counts[skipped],
	} {
		if got := attr(t, attrs, a); got != strconv.Itoa(want) {
			t.Errorf("%s: %s=%s, but there are %d", name, a, got, want)
		}
	}
	if got := attr(t, attrs, "time"); !jenkinsTime.MatchString(got) {
		t.Errorf("%s: time %q", name, got)
	}
}

func TestJUnitReaders(t *testing.T) {
	for name, run := range map[string]*gate.Run{
		"example": exampleRun(t), "clean": cleanRun(t), "empty": emptyRun(t), "hostile": hostileRun(t), "large": largeRun(t, 300),
	} {
		checkJUnit(t, name, written(t, "junit", run, Options{}))
	}
}

// TestJUnitOutcomes: each state of a node has its own element.
func TestJUnitOutcomes(t *testing.T) {
	doc := checkJUnit(t, "example", written(t, "junit", exampleRun(t), Options{}))
	cases := map[string]testcase{}
	for _, s := range doc.Suite {
		if len(s.Properties) != 9 || s.Properties[0].Name != "karpenter.version" || s.Properties[0].Value != "1.14.1" {
			t.Errorf("properties %v", s.Properties)
		}
		for _, c := range s.Cases {
			cases[strings.TrimSuffix(c.Name, ".eu-west-1.compute.internal allocatable within tolerance")] = c
		}
	}
	if len(cases) != 11 {
		t.Errorf("%d test cases, want one for each of the 11 Karpenter nodes", len(cases))
	}
	fail := cases["ip-10-0-1-7"]
	if fail.ClassName != "prod.default.c7a_large" || fail.Failure.Type != "over-estimate" || fail.Failure.Message != "memory: expected 3114Mi, actual 3111.6Mi, 2.4Mi over" {
		t.Errorf("an over-estimate is %+v %+v", fail, fail.Failure)
	}
	for _, want := range []string{"actual 3186284Ki", "-2452Ki", "percentage-too-small", "VM_MEMORY_OVERHEAD_PERCENT", "edited after launch"} {
		if !strings.Contains(fail.Failure.Text, want) {
			t.Errorf("the text of a failure lacks %q:\n%s", want, fail.Failure.Text)
		}
	}
	if c := cases["ip-10-0-4-1"]; c.Failure.Type != "missing" || c.Failure.Message != "nvidia.com/gpu: expected 1, none on the node" {
		t.Errorf("a missing GPU is %+v", c.Failure)
	}
	if c := cases["ip-10-0-3-2"]; c.Failure.Type != gate.ClaimOverEstimate || c.Failure.Message != "memory: claim 240.73Gi, actual 238.11Gi, 2688Mi over" {
		t.Errorf("a claim above the node is %+v", c.Failure)
	}
	if c := cases["ip-10-0-3-1"]; c.Failure != nil || !strings.HasPrefix(c.Out, "warning\n") {
		t.Errorf("a warning is %+v", c)
	}
	if c := cases["ip-10-0-6-1"]; c.Skipped == nil || !strings.HasPrefix(c.Skipped.Message, `could not judge: instance type "x9.large" is not known`) {
		t.Errorf("an unknown node under unknown: warn is %+v", c.Skipped)
	}
	if c := cases["ip-10-0-6-2"]; c.Skipped == nil || c.Skipped.Message != "not ready: condition Ready is False" {
		t.Errorf("a node that is not ready is %+v", c.Skipped)
	}
	if c := cases["ip-10-0-2-1"]; c.Failure != nil || c.Skipped != nil || c.Out != "" {
		t.Errorf("a node within tolerance is %+v", c)
	}
}

// TestJUnitUnknownRows: a node that passes by what could be judged says what could not.
func TestJUnitUnknownRows(t *testing.T) {
	clean := cleanRun(t)
	node := clean.Nodes[0]
	node.Rows = append(slices.Clone(node.Rows), &gate.Row{Row: compare.Row{Resource: expect.NvidiaGPU, Field: compare.Allocatable, Status: compare.Unknown, Reason: "the GPUs are not known"}})
	doc := checkJUnit(t, "unknown row", written(t, "junit", concluded(t, gate.DefaultPolicy(), clean.Clusters, []gate.Node{node}), Options{}))
	if c := doc.Suite[0].Cases[0]; c.Failure != nil || !strings.HasPrefix(c.Out, "could not judge nvidia.com/gpu allocatable: the GPUs are not known\n") {
		t.Errorf("%+v", c)
	}
}

// TestJUnitNeverGreen: a run that ends badly has a test case that says so, whatever its nodes are.
func TestJUnitNeverGreen(t *testing.T) {
	clean := cleanRun(t)
	expired := *clean
	expired.Result = gate.Failed
	expired.Findings = []gate.Finding{{ID: gate.AllowlistExpired, Severity: gate.Fail, Evidence: "accepted until 2026-01-01 by team-a: old AMI"}}
	strict := concluded(t, gate.DefaultPolicy(), clean.Clusters, []gate.Node{unjudgedNode("a", "x9.large", gate.Unknown, gate.Fail, "not known")})
	for _, c := range []struct {
		name             string
		run              *gate.Run
		failures, errors string
	}{
		{"no Karpenter node", emptyRun(t), "0", "1"},
		{"no node at all", concluded(t, gate.DefaultPolicy(), nil, nil), "0", "1"},
		{"an unknown node under unknown: fail", strict, "0", "2"}, // the node's, and the run's
		{"an expired allowance", &expired, "1", "0"},
		{"a clean run", clean, "0", "0"},
	} {
		doc := checkJUnit(t, c.name, written(t, "junit", c.run, Options{}))
		if f, e := attr(t, doc.Attrs, "failures"), attr(t, doc.Attrs, "errors"); f != c.failures || e != c.errors {
			t.Errorf("%s: %s failures and %s errors, want %s and %s", c.name, f, e, c.failures, c.errors)
		}
		if green := c.failures == "0" && c.errors == "0"; green != (c.run.Result == gate.Passed) {
			t.Errorf("%s: green is %v, the result %s", c.name, green, c.run.Result)
		}
	}
}

// TestJUnitUnique: nodes of one name, or names that become one when what XML cannot hold is dropped, stay apart.
func TestJUnitUnique(t *testing.T) {
	clean := cleanRun(t)
	nodes := []gate.Node{clean.Nodes[0], clean.Nodes[0], clean.Nodes[0]}
	nodes[1].Name, nodes[2].Name = "a\x00", "a\x01"
	run := concluded(t, gate.DefaultPolicy(), clean.Clusters, nodes)
	doc := checkJUnit(t, "equal names", written(t, "junit", run, Options{}))
	if n := len(doc.Suite[0].Cases); n != 3 {
		t.Errorf("%d test cases for 3 nodes", n)
	}
	if got := doc.Suite[0].Cases[1].Name; got != "a allocatable within tolerance (2)" {
		t.Errorf("the second is named %q", got)
	}
}

// TestJUnitShards: a report that is too large is cut into files that are each complete, and together hold every case
// once, under the same names.
func TestJUnitShards(t *testing.T) {
	run := largeRun(t, 300)
	whole := checkJUnit(t, "whole", written(t, "junit", run, Options{}))
	dir := t.TempDir()
	path := filepath.Join(dir, "junit.xml")
	const limit = 20_000
	for _, size := range []int{junitLimit, limit, 2 * limit, junitLimit} { // what the run before wrote must be gone
		if err := writeJUnitFile(path, run, size); err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		if size == junitLimit && (len(files) != 1 || files[0] != path) {
			t.Errorf("one file is enough, and there are %q", files)
		}
		if size != junitLimit && (len(files) < 3 || filepath.Base(files[0]) != "junit-0001.xml") {
			t.Errorf("at %d bytes a file there are %q", size, files)
		}
		var cases []string
		for i, f := range files {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			if len(data) > size {
				t.Errorf("%s has %d bytes, the limit is %d", f, len(data), size)
			}
			if want := fmt.Sprintf("junit-%04d.xml", i+1); len(files) > 1 && filepath.Base(f) != want {
				t.Errorf("shard %d is %s", i+1, f)
			}
			for _, s := range checkJUnit(t, f, data).Suite {
				if len(s.Cases) == 0 {
					t.Errorf("%s has a suite without cases", f)
				}
				for _, c := range s.Cases {
					cases = append(cases, c.ClassName+" "+c.Name)
				}
			}
		}
		var want []string
		for _, s := range whole.Suite {
			for _, c := range s.Cases {
				want = append(want, c.ClassName+" "+c.Name)
			}
		}
		if !slices.Equal(cases, want) {
			t.Errorf("at %d bytes a file the cases differ from those of the whole", size)
		}
	}
}

// TestJUnitKeepsOthersFiles: only files that have the very names of shards are removed.
func TestJUnitKeepsOthersFiles(t *testing.T) {
	dir := t.TempDir()
	others := []string{"junit-1.xml", "junit-0001.xml.bak", "junit-go.xml", "my-junit-0001.xml", "junit.txt", "junit-0001"}
	for _, name := range others {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "junit-0002.xml"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := writeJUnitFile(filepath.Join(dir, "junit.xml"), cleanRun(t), junitLimit); err != nil {
		t.Fatal(err)
	}
	for _, name := range append(others, "junit-0002.xml", "junit.xml") {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}
