package harness

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("The suite", func() {
	reportFiles := []string{"allocatable-diff.csv", "nodes.csv", "junit.xml", "run.json"}

	It("writes the same bytes alone, under ginkgo, with three processes, and as check does", func() {
		for _, name := range []string{"karpenter-drift", "v1beta1"} {
			source := fixture(name)
			alone := specs{source: source}.run()
			want := map[string]int{"karpenter-drift": 1}[name]
			Expect(alone.result).To(exitWith(want))
			check := reports("--cluster-name", "test", "--from", source, "--instance-types", typesPath())
			for _, processes := range []int{1, 3} {
				other := specs{source: source, processes: processes}.run()
				Expect(other.result).To(exitWith(want))
				Expect(other.failed()).To(Equal(alone.failed()))
				Expect(other.passed()).To(Equal(alone.passed()))
				for _, file := range reportFiles {
					Expect(read(other.reports, file)).To(Equal(read(alone.reports, file)), "%s with %d processes", file, processes)
				}
			}
			for format, file := range map[string]string{"csv": "allocatable-diff.csv", "csv-wide": "nodes.csv", "junit": "junit.xml", "json": "run.json"} {
				Expect(check[format]).To(Equal(read(alone.reports, file)), file)
			}
		}
	})

	It("has a spec for each of Karpenter's nodes, and none for the others", func() {
		r := specs{source: fixture("karpenter-demo"), policy: filepath.Join(fixture("karpenter-demo"), "policy.yaml")}.run()
		Expect(r.result).To(exitWith(0))
		run := parseRun(read(r.reports, "run.json"))
		Expect(len(r.passed()) + len(r.skipped())).To(Equal(run.Totals.Karpenter + 1))
		Expect(r.passed()).To(HaveLen(run.Totals.Judged + 1))
		Expect(run.Totals.Foreign).To(BeNumerically(">", 0))
		for _, n := range run.Nodes {
			Expect(slices.Contains(append(r.passed(), r.skipped()...), n.Name)).To(Equal(n.State != "foreign"), n.Name)
		}
	})

	It("says what differs, what was expected, and what to do next", func() {
		r := specs{source: red().dump()}.run()
		Expect(r.result).To(exitWith(1))
		Expect(r.result).To(say("pods allocatable over-estimate expected 29 actual 28 -1", "next"))
		Expect(r.result).To(say("nodepool=general type=m5.large arch=amd64 family=AL2023"))
	})

	It("fails when its processes read different inputs", func() {
		one, other := clean(), clean()
		other.of("m5.large").moves("pods", "1")
		// In the place of the compiled suite: it gives the second process another source.
		wrapper := write(GinkgoT().TempDir(), "allocatable.test", fmt.Sprintf("#!/bin/sh\ncase \"$*\" in *parallel.process=2*) export SOURCE='%s';; esac\nexec '%s' \"$@\"\n", other.dump(), suite()))
		executable(wrapper)
		r := specs{source: one.dump(), processes: 2, binary: wrapper}.run()
		Expect(r.result).To(exitWith(1))
		Expect(r.result).To(say("this process read another input than process 1"))
		same := write(filepath.Dir(wrapper), "same/allocatable.test", fmt.Sprintf("#!/bin/sh\nexec '%s' \"$@\"\n", suite()))
		executable(same)
		Expect(specs{source: one.dump(), processes: 2, binary: same}.run().result).To(exitWith(0))
	})

	DescribeTable("looks at the nodes in focus alone", func(focus string, types ...string) {
		c := red()
		r := specs{source: c.dump(), focus: focus}.run()
		Expect(r.result).To(exitWith(0)) // the node that drifted is not among them
		var in, out []string
		for _, m := range c.machines {
			if slices.Contains(types, m.typ()) {
				in = append(in, m.name())
			} else {
				out = append(out, m.name())
			}
		}
		Expect(r.passed()).To(ConsistOf(in))
		run := parseRun(read(r.reports, "run.json"))
		Expect(run.Totals.Judged).To(Equal(len(in)))
		report := parseJUnit(read(r.reports, "junit.xml"))
		Expect(report.Tests).To(Equal(8))
		Expect(report.Skipped).To(Equal(len(out)))
		for _, name := range out {
			n := run.node(name)
			Expect([]string{n.State, n.Reason}).To(Equal([]string{"skipped", "not in focus"}))
			Expect(report.cases(func(c junitCase) bool {
				return c.Skipped != nil && c.Skipped.Message == "not in focus"
			})).To(ContainElement(HavePrefix(name + " ")))
		}
		wide := lines(read(r.reports, "nodes.csv"))
		Expect(slices.ContainsFunc(wide, func(l string) bool { return strings.Contains(l, ",skipped,") && strings.HasSuffix(l, ",not in focus") })).To(BeTrue())
	},
		Entry("by architecture", "arm64", "m6g.large", "t4g.large"),
		Entry("by architecture, exactly", "arch=arm64", "m6g.large", "t4g.large"),
		Entry("by type", "type=t4g.large", "t4g.large"),
		Entry("by node pool", "nodepool=accelerated", "g5.xlarge", "g4ad.xlarge", "inf2.xlarge", "dl1.24xlarge", "p4d.24xlarge"),
	)

	DescribeTable("is red and still writes its reports when nothing could be judged", func(c func() *cluster, says string) {
		r := specs{source: c().dump()}.run()
		Expect(r.result).To(exitWith(1))
		Expect(r.failed()).To(ContainElement("judges the cluster"))
		Expect(r.result).To(say(says))
		Expect(entries(r.reports)).To(ContainElements(reportFiles))
		Expect(parseRun(read(r.reports, "run.json")).Result).To(Equal("inconclusive"))
		report := parseJUnit(read(r.reports, "junit.xml"))
		Expect(report.Errors).To(BeNumerically(">", 0))
		Expect(lines(read(r.reports, "allocatable-diff.csv"))[:2]).To(Equal([]string{groups12 + ",", columns}))
	},
		Entry("no node", bare, "no Karpenter node among 0"),
		Entry("no node of Karpenter's", foreign, "no Karpenter node among 8"),
		Entry("no node of a known type", func() *cluster {
			c := bare()
			c.add("m5.large").node.Metadata.Labels["node.kubernetes.io/instance-type"] = "x9.large"
			return c
		}, "none of 1 Karpenter node could be judged"),
	)

	It("skips, with the reason, the nodes that are not compared", func() {
		c := clean()
		c.of("m5.large").node.Status.Conditions[0]["status"] = "False"
		c.of("m6g.large").node.Metadata.DeletionTimestamp = "2026-08-22T10:00:00Z"
		starting := c.of("g5.xlarge")
		delete(starting.node.Metadata.Labels, "karpenter.sh/initialized")
		starting.lacks("nvidia.com/gpu") // its device plugin has not registered yet
		r := specs{source: c.dump()}.run()
		Expect(r.result).To(exitWith(0))
		Expect(r.skipped()).To(HaveLen(3))
		reasons := map[string]string{}
		for _, n := range parseRun(read(r.reports, "run.json")).Nodes {
			if n.State == "skipped" {
				reasons[n.InstanceType] = n.Reason
			}
		}
		Expect(reasons).To(And(
			HaveKeyWithValue("m5.large", ContainSubstring("not ready")),
			HaveKeyWithValue("m6g.large", ContainSubstring("being deleted")),
			HaveKeyWithValue("g5.xlarge", ContainSubstring("not initialized")),
			HaveLen(3),
		))
	})

	It("fails when a report cannot be written", func() {
		dir := GinkgoT().TempDir()
		write(dir, "file", "")
		for _, processes := range []int{0, 2} {
			r := specs{source: clean().dump(), processes: processes, env: []string{"REPORTS=" + filepath.Join(dir, "file", "reports")}}.run()
			Expect(r.result).To(exitWith(1))
			Expect(r.result).To(say("writing the reports", filepath.Join(dir, "file")))
			Expect(r.junit.cases(func(c junitCase) bool { return c.Failure != nil })).To(Equal([]string{"[ReportAfterSuite] reports"}))
		}
	})
})
