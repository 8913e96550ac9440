package harness

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"
	. "github.com/onsi/gomega"
)

// specs is one run of the compiled end-to-end suite.
type specs struct {
	source, policy string
	// processes is how many; 0 runs the compiled test alone, as go test does, without the ginkgo command line.
	processes int
	focus     string
	env       []string
	// binary replaces the compiled suite.
	binary string
}

// ran is what became of it.
type ran struct {
	result
	// reports is the folder that the suite wrote to.
	reports string
	specs   types.SpecReports
	// junit is Ginkgo's own JUnit file.
	junit junit
}

func (s specs) run() ran {
	GinkgoHelper()
	dir := GinkgoT().TempDir()
	out := ran{reports: filepath.Join(dir, "reports")}
	c := command{program: suite(), dir: dir, env: append([]string{
		"CLUSTER_NAME=test", "INSTANCE_TYPES=" + typesPath(), "SOURCE=" + s.source, "POLICY=" + s.policy, "REPORTS=" + out.reports,
	}, s.env...)}
	if s.binary != "" {
		c.program = s.binary
	}
	if s.processes == 0 {
		c.args = []string{"--ginkgo.no-color", "--ginkgo.json-report=" + filepath.Join(dir, "ginkgo.json"), "--ginkgo.junit-report=" + filepath.Join(dir, "ginkgo.xml")}
		if s.focus != "" {
			c.args = append(c.args, "--ginkgo.focus="+s.focus)
		}
	} else {
		c.args = []string{"run", "--no-color", fmt.Sprintf("--procs=%d", s.processes), "--output-dir=" + dir, "--json-report=ginkgo.json", "--junit-report=ginkgo.xml"}
		if s.focus != "" {
			c.args = append(c.args, "--focus="+s.focus)
		}
		c.program, c.args = ginkgo(), append(c.args, c.program)
	}
	out.result = c.run()
	if data, err := os.ReadFile(filepath.Join(dir, "ginkgo.json")); err == nil {
		var all []types.Report
		Expect(json.Unmarshal(data, &all)).To(Succeed())
		for _, r := range all {
			out.specs = append(out.specs, r.SpecReports...)
		}
	}
	if data, err := os.ReadFile(filepath.Join(dir, "ginkgo.xml")); err == nil {
		Expect(xml.Unmarshal(data, &out.junit)).To(Succeed())
	}
	return out
}

func (r *ran) in(states types.SpecState) []string {
	var out []string
	for _, s := range r.specs.WithLeafNodeType(types.NodeTypeIt).WithState(states) {
		out = append(out, s.LeafNodeText)
	}
	slices.Sort(out)
	return out
}

func (r *ran) failed() []string  { return r.in(types.SpecStateFailureStates) }
func (r *ran) passed() []string  { return r.in(types.SpecStatePassed) }
func (r *ran) skipped() []string { return r.in(types.SpecStateSkipped) }
