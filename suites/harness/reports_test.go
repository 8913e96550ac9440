package harness

import (
	"encoding/json"
	"encoding/xml"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// runFile is the part of run.json that specs look at.
type runFile struct {
	Result       string
	Inconclusive string
	Totals       struct{ Karpenter, Judged, Failed, Warned, Passed, Unknown, Skipped, Foreign int }
	Findings     []finding
	Nodes        []judged
}

type finding struct {
	ID, Severity, Resource, Status, Allowed string
	Nodes                                   int
}

type judged struct {
	Name, State, Severity, Reason string
	InstanceType                  string
	Rows                          []row
}

type row struct {
	Resource, Field, Status, Severity, ClaimSeverity, Reason, Allowed string
	Delta                                                             int64
}

func parseRun(text string) runFile {
	GinkgoHelper()
	var r runFile
	Expect(json.Unmarshal([]byte(text), &r)).To(Succeed())
	return r
}

// node is the verdict on the node of a name.
func (r *runFile) node(name string) judged {
	GinkgoHelper()
	i := slices.IndexFunc(r.Nodes, func(n judged) bool { return n.Name == name })
	Expect(i).NotTo(Equal(-1), "the run file has no node %s", name)
	return r.Nodes[i]
}

// row is the row of a resource in allocatable, or in capacity where the node reports no allocatable.
func (n *judged) row(resource string) row {
	GinkgoHelper()
	for _, field := range []string{"allocatable", "capacity"} {
		for _, r := range n.Rows {
			if r.Resource == resource && r.Field == field && (field == "capacity" || r.Status != "unknown") {
				return r
			}
		}
	}
	Fail("the node " + n.Name + " has no row of " + resource)
	return row{}
}

// junit is a JUnit file as every reader takes it.
type junit struct {
	Tests    int `xml:"tests,attr"`
	Failures int `xml:"failures,attr"`
	Errors   int `xml:"errors,attr"`
	Skipped  int `xml:"skipped,attr"`
	Suites   []struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	} `xml:"testsuite"`
}

type junitCase struct {
	ClassName string   `xml:"classname,attr"`
	Name      string   `xml:"name,attr"`
	Failure   *problem `xml:"failure"`
	Error     *problem `xml:"error"`
	Skipped   *problem `xml:"skipped"`
}

type problem struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// parseJUnit parses a report, and checks that each count is the sum of what is below it.
func parseJUnit(text string) junit {
	GinkgoHelper()
	var all junit
	Expect(xml.Unmarshal([]byte(text), &all)).To(Succeed())
	var sum junit
	for _, s := range all.Suites {
		var failures, errors, skipped int
		for _, c := range s.Cases {
			Expect(c.ClassName).NotTo(BeEmpty())
			switch {
			case c.Failure != nil:
				failures++
			case c.Error != nil:
				errors++
			case c.Skipped != nil:
				skipped++
			}
		}
		Expect([]int{s.Tests, s.Failures, s.Errors, s.Skipped}).To(Equal([]int{len(s.Cases), failures, errors, skipped}), "the counts of %s", s.Name)
		sum.Tests, sum.Failures, sum.Errors, sum.Skipped = sum.Tests+s.Tests, sum.Failures+failures, sum.Errors+errors, sum.Skipped+skipped
	}
	Expect([]int{all.Tests, all.Failures, all.Errors, all.Skipped}).To(Equal([]int{sum.Tests, sum.Failures, sum.Errors, sum.Skipped}), "the counts of the whole")
	return all
}

// cases are the test cases that a condition picks, by name.
func (j *junit) cases(pick func(junitCase) bool) []string {
	var out []string
	for _, s := range j.Suites {
		for _, c := range s.Cases {
			if pick(c) {
				out = append(out, c.Name)
			}
		}
	}
	slices.Sort(out)
	return out
}
