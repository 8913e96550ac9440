package harness

import (
	"encoding/xml"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// target is one make target, run on what this suite has compiled: targets that compile for themselves would do so in
// the folders that are being tested.
type target struct {
	name string
	// variables are NAME=value of the command line.
	variables []string
	env       []string
	stdin     io.Reader
}

// made is what became of it.
type made struct {
	result
	// reports is where the reports went.
	reports string
}

func (t target) run() made {
	GinkgoHelper()
	for _, program := range []string{"make", "/bin/bash"} {
		if _, err := exec.LookPath(program); err != nil {
			Skip(program + " is not installed here")
		}
	}
	dir := GinkgoT().TempDir()
	out := made{reports: filepath.Join(dir, "reports")}
	args := append([]string{"--no-print-directory", "-C", root, "--old-file=build", t.name,
		"BIN=" + tool(), "E2E=" + suite(), "JUNIT=" + filepath.Join(dir, "junit"), "REPORTS=" + out.reports}, t.variables...)
	out.result = command{program: "make", args: args, env: slices.Concat(goEnvironment(), t.env, []string{"GINKGO_NO_COLOR=true"}), dir: dir, stdin: t.stdin}.run()
	return out
}

// goEnvironment lets the go command find what was compiled and downloaded before.
func goEnvironment() []string {
	GinkgoHelper()
	var out []string
	for _, pair := range os.Environ() {
		if strings.HasPrefix(pair, "GO") {
			out = append(out, pair)
		}
	}
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH", "GOENV"} {
		value, err := exec.Command("go", "env", name).Output()
		Expect(err).NotTo(HaveOccurred())
		out = append(out, name+"="+strings.TrimSpace(string(value)))
	}
	return out
}

var _ = Describe("make", func() {
	// Recipes that fail end make with its own 2.
	const failed = 2

	It("help names every target that was promised", func() {
		r := target{name: "help"}.run()
		Expect(r.result).To(exitWith(0))
		for _, name := range []string{"demo", "demo-drift", "e2e-diff", "e2etests", "test", "coverage", "deflake", "benchmark", "conformance", "envtest", "toolchain", "codegen", "verify", "presubmit"} {
			Expect(r.stdout).To(MatchRegexp(`(?m)^  `+regexp.QuoteMeta(name)+` +\S`), name)
		}
	})

	It("demo ends well, warns, and writes the reports", func() {
		r := target{name: "demo"}.run()
		Expect(r.result).To(exitWith(0))
		Expect(r.stdout).To(And(HavePrefix("PASS: karpenter-demo: "), ContainSubstring("\nWARN ")))
		Expect(entries(r.reports)).To(ContainElements("allocatable-diff.csv", "nodes.csv", "junit.xml", "run.json", "summary.md", "report.html"))
	})

	It("demo-drift prints the exit code of the gate and fails", func() {
		r := target{name: "demo-drift"}.run()
		Expect(r.result).To(exitWith(failed))
		Expect(r.stdout).To(And(HavePrefix("FAIL: karpenter-drift: "), HaveSuffix("allocatable-diff check: exit 1\n")))
	})

	Describe("e2e-diff", func() {
		diff := func(source string, variables ...string) made {
			GinkgoHelper()
			return target{name: "e2e-diff", variables: append([]string{"CLUSTER_NAME=test", "SOURCE=" + source}, variables...), env: []string{"INSTANCE_TYPES=" + typesPath()}}.run()
		}

		It("judges the demonstration cluster under its policy, and is red without", func() {
			policy := "POLICY=fixtures/clusters/karpenter-demo/policy.yaml"
			r := diff("fixtures/clusters/karpenter-demo", policy)
			Expect(r.result).To(exitWith(0))
			Expect(r.stdout).To(MatchRegexp(`\n\d+ passed, 0 failed, \d+ skipped\n$`))
			Expect(entries(r.reports)).To(ContainElements("allocatable-diff.csv", "nodes.csv", "junit.xml", "run.json"))
			Expect(diff("fixtures/clusters/karpenter-demo").result).To(exitWith(failed))
			// From kubectl's output alone: the facts of the types are on the nodes' labels.
			r = target{name: "e2e-diff", variables: []string{"CLUSTER_NAME=test", "SOURCE=fixtures/clusters/karpenter-demo", policy}}.run()
			Expect(r.result).To(exitWith(0))
		})

		It("is green on a clean cluster and red on one that drifts", func() {
			Expect(diff(clean().dump()).result).To(exitWith(0))
			r := diff(red().dump())
			Expect(r.result).To(exitWith(failed))
			Expect(r.result).To(say("8 Passed", "1 Failed"))
			var specs junit
			Expect(xml.Unmarshal([]byte(read(filepath.Join(filepath.Dir(r.reports), "junit"), "e2e.xml")), &specs)).To(Succeed())
			failures := specs.cases(func(c junitCase) bool {
				return c.Failure != nil && strings.Contains(c.Failure.Message, "expected 29  actual 28")
			})
			Expect(failures).To(ConsistOf(And(ContainSubstring("nodepool=general type=m5.large arch=amd64 family=AL2023"), HaveSuffix(" ip-10-0-0-2.ec2.internal"))))
			Expect(specs.cases(func(c junitCase) bool { return strings.HasPrefix(c.Name, "[It] ") })).To(HaveLen(9))
		})

		It("writes the same bytes with PROCS=3", func() {
			one, three := diff(fixture("karpenter-drift")), diff(fixture("karpenter-drift"), "PROCS=3")
			Expect(three.result).To(exitWith(failed))
			for _, file := range []string{"allocatable-diff.csv", "nodes.csv", "junit.xml", "run.json"} {
				Expect(read(three.reports, file)).To(Equal(read(one.reports, file)), file)
			}
		})

		DescribeTable("narrowed by", func(variable string, code int, says ...string) {
			r := diff(red().dump(), variable)
			Expect(r.result).To(exitWith(code))
			Expect(r.result).To(say(says...))
		},
			Entry("FOCUS looks at what matches", "FOCUS=arm64", 0, "2 passed, 0 failed, 7 skipped"),
			Entry("FOCUS is red where nothing matches", "FOCUS=riscv64", failed, "tally: no test ran", "0 passed, 0 failed, 9 skipped"),
			Entry("SKIP leaves out what matches", "SKIP=type=m5.large", 0, "8 passed, 0 failed, 1 skipped"),
			Entry("LABELS looks at what matches", "LABELS=nodepool: containsAny {general}", failed, "Ran 3 of 9 Specs", "ip-10-0-0-2.ec2.internal"),
			Entry("LABELS is red where nothing matches", "LABELS=nodepool: containsAny {none}", failed, "tally: no test ran", "0 passed, 0 failed, 9 skipped"),
		)

		It("takes paths from where make runs, with spaces, and stdin", func() {
			spaced := filepath.Join(GinkgoT().TempDir(), "of the team")
			Expect(os.CopyFS(filepath.Join(spaced, "cluster"), os.DirFS(fixture("karpenter-demo")))).To(Succeed())
			reports := "REPORTS=" + filepath.Join(spaced, "reports")
			policy := "POLICY=" + filepath.Join(spaced, "cluster", "policy.yaml")
			r := target{name: "e2e-diff", variables: []string{"CLUSTER_NAME=test", "SOURCE=" + filepath.Join(spaced, "cluster"), policy, reports}, env: []string{"INSTANCE_TYPES=fixtures/ec2"}}.run()
			Expect(r.result).To(exitWith(0))
			from := filepath.Join(spaced, "reports")
			Expect(entries(from)).To(ContainElements("allocatable-diff.csv", "nodes.csv", "junit.xml", "run.json"))

			recorded := command{args: []string{"snapshot", "--cluster-name", "test", "--from", fixture("karpenter-demo"), "--instance-types", typesPath(), "-o", "-"}}.run()
			Expect(recorded).To(exitWith(0))
			piped := target{name: "e2e-diff", variables: []string{"CLUSTER_NAME=test", "SOURCE=-", policy}, stdin: strings.NewReader(recorded.stdout)}.run()
			Expect(piped.result).To(exitWith(0))
			Expect(read(piped.reports, "nodes.csv")).To(Equal(read(from, "nodes.csv")))
		})

		It("without CLUSTER_NAME says how", func() {
			r := target{name: "e2e-diff"}.run()
			Expect(r.result).To(exitWith(failed))
			Expect(r.result).To(say("CLUSTER_NAME is not set: make e2e-diff CLUSTER_NAME=prod"))
		})
	})
})
