package harness

import (
	"fmt"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("The policy", func() {
	drifted := func(resource, quantity string) func() *cluster {
		return func() *cluster {
			c := clean()
			c.of("m5.large").moves(resource, quantity)
			return c
		}
	}
	DescribeTable("changes what it names", func(c func() *cluster, policy string, without, with int, says ...string) {
		source := c().dump()
		Expect(check(source)).To(exitWith(without))
		file := write(GinkgoT().TempDir(), "policy.yaml", policy)
		r := check(source, "--policy", file)
		Expect(r).To(exitWith(with))
		Expect(r).To(say(says...))
		s := specs{source: source, policy: file}.run()
		Expect(s.result).To(exitWith(min(with, 1)))
	},
		Entry("strict: any over-estimate of the disk fails", drifted("ephemeral-storage", "-1Mi"), "strict: true\n", 0, 1, "FAIL ephemeral-storage"),
		Entry("strict for one resource", drifted("memory", "-1Ki"), "resources: {memory: {strict: true}}\n", 0, 1, "FAIL memory"),
		Entry("a tighter limit", drifted("memory", "-64Ki"), "resources: {memory: {overEstimate: {fail: [63Ki]}}}\n", 0, 1),
		Entry("a wider limit", drifted("memory", "-100Mi"), "resources: {memory: {overEstimate: {fail: [100Mi]}}}\n", 1, 0),
		Entry("a relative limit: 6903Mi, of which 1.4 % are 96.6Mi", drifted("memory", "-96Mi"), "resources: {memory: {overEstimate: {fail: ['1.4%']}}}\n", 1, 0),
		Entry("a relative limit, exceeded", drifted("memory", "-97Mi"), "resources: {memory: {overEstimate: {fail: ['1.4%']}}}\n", 1, 1),
		Entry("a direction that warns", drifted("pods", "-1"), "resources: {pods: {overEstimate: {warn: ['0']}}}\n", 1, 0, "WARN pods"),
		Entry("a direction that fails", drifted("pods", "1"), "resources: {pods: {underEstimate: {fail: ['0']}}}\n", 0, 1, "FAIL pods"),
		Entry("a direction that informs", drifted("cpu", "-5m"), "resources: {cpu: {overEstimate: {information: true}}}\n", 1, 0),
		Entry("a device that may be missing", func() *cluster {
			c := clean()
			c.of("g5.xlarge").lacks("nvidia.com/gpu")
			return c
		}, "resources: {nvidia.com/gpu: {missing: warn}}\n", 1, 0, "WARN gpu"),
		Entry("another resource than the one that drifts", drifted("pods", "-1"), "resources: {cpu: {overEstimate: {information: true}}}\n", 1, 1),
		Entry("coverage: enough were judged", clean, "minJudged: 8\nminJudgedShare: 1\n", 0, 0),
		Entry("coverage: too few were judged", clean, "minJudged: 9\n", 0, 4, "8 nodes judged, the policy wants at least 9"),
		Entry("coverage: seven of eight are 0.875", doubtful, "unknown: warn\nminJudgedShare: 0.875\n", 4, 0),
		Entry("coverage: too small a share was judged", doubtful, "unknown: warn\nminJudgedShare: 0.876\n", 4, 4, "7 of 8 nodes judged, the policy wants a share of at least 0.876"),
	)
})

var _ = Describe("The allowlist", func() {
	day := func(days int) string { return time.Now().UTC().AddDate(0, 0, days).Format(time.DateOnly) }
	entry := func(what string, days int) string {
		return fmt.Sprintf("allow:\n- {%s, reason: as agreed, owner: team-nodes, expires: %s}\n", what, day(days))
	}

	DescribeTable("accepts", func(what string, code int) {
		source, file := red().dump(), write(GinkgoT().TempDir(), "allowlist.yaml", entry(what, 2))
		r := check(source, "--allowlist", file, "--output", "json=run.json")
		Expect(r).To(exitWith(code))
		run := parseRun(read(r.dir, "run.json"))
		n := run.node("ip-10-0-0-2.ec2.internal")
		pods := n.row("pods")
		if code == 0 {
			Expect([]string{pods.Severity, pods.Status, pods.Allowed}).To(Equal([]string{informs, "over-estimate", "as agreed"}))
			Expect(r).To(say("as agreed"))
			Expect(r.stdout).NotTo(ContainSubstring("WARN"))
		} else {
			Expect(pods.Severity).To(Equal(fails))
			Expect(r).To(say("covers nothing any more (owner team-nodes): as agreed"))
		}
		Expect(specs{source: source, env: []string{"ALLOWLIST=" + file}}.run().result).To(exitWith(code))
	},
		Entry("a resource of a type", "instanceType: m5.large, resource: pods", 0),
		Entry("a pattern", "instanceType: 'm5.*', nodePool: 'gen*'", 0),
		Entry("a node", "node: ip-10-0-0-2.ec2.internal", 0),
		Entry("a status", "cause: over-estimate", 0),
		Entry("a cluster", "cluster: test", 0),
		Entry("not another resource", "instanceType: m5.large, resource: memory", 1),
		Entry("not another type", "instanceType: m6g.large", 1),
		Entry("not another cluster", "cluster: prod", 1),
	)

	It("fails on an entry that has expired, even where nothing drifts", func() {
		file := write(GinkgoT().TempDir(), "allowlist.yaml", entry("instanceType: m5.large", -1))
		r := check(clean().dump(), "--allowlist", file, "--output", "junit=junit.xml")
		Expect(r).To(exitWith(1))
		Expect(r).To(say("accepted until "+day(-1)+" by team-nodes: as agreed", "1 expired in the allowlist"))
		report := parseJUnit(read(r.dir, "junit.xml"))
		Expect(report.Failures).To(Equal(1))
	})

	It("no longer accepts what an expired entry covered", func() {
		file := write(GinkgoT().TempDir(), "allowlist.yaml", entry("instanceType: m5.large", -1))
		r := check(red().dump(), "--allowlist", file)
		Expect(r).To(exitWith(1))
		Expect(r).To(say("FAIL pods"))
	})

	It("warns of an entry that covers nothing", func() {
		file := write(GinkgoT().TempDir(), "allowlist.yaml", entry("instanceType: m5.large", 2))
		r := check(clean().dump(), "--allowlist", file)
		Expect(r).To(exitWith(0))
		Expect(r).To(say("WARN", "covers nothing any more (owner team-nodes): as agreed", "remove the entry"))
	})
})

var _ = Describe("The baseline", func() {
	// adopt writes the baseline of a cluster as it is.
	adopt := func(c *cluster) string {
		GinkgoHelper()
		file := filepath.Join(GinkgoT().TempDir(), "baseline.json")
		Expect(check(c.dump(), "--baseline", file, "--ratchet")).To(exitWith(1))
		Expect(file).To(BeARegularFile())
		return file
	}
	short := func(pods string) *cluster {
		c := clean()
		c.of("m5.large").moves("pods", pods)
		return c
	}
	memory := func(by string) *cluster {
		c := clean()
		c.of("m5.large").moves("memory", by)
		return c
	}

	DescribeTable("accepts what a fleet was adopted with, and nothing more", func(then, now func() *cluster, code int) {
		file := adopt(then())
		before, source := read(file), now().dump()
		r := check(source, "--baseline", file)
		Expect(r).To(exitWith(code))
		Expect(specs{source: source, env: []string{"BASELINE=" + file}}.run().result).To(exitWith(code))
		Expect(read(file)).To(Equal(before), "only --ratchet writes it")
	},
		Entry("the same drift", red, red, 0),
		Entry("less drift", func() *cluster { return short("-3") }, red, 0),
		Entry("none any more", red, clean, 0),
		Entry("the drift has grown", red, func() *cluster { return short("-2") }, 1),
		Entry("the other direction", red, func() *cluster {
			c := short("1")
			c.of("m5.large").moves("cpu", "-1m")
			return c
		}, 1),
		Entry("the same resource on another type", red, func() *cluster {
			c := red()
			c.of("m6g.large").moves("pods", "-1")
			return c
		}, 1),
		Entry("another resource on the same type", red, func() *cluster {
			c := red()
			c.of("m5.large").moves("cpu", "-1m")
			return c
		}, 1),
		Entry("a second node of the type with as much", red, func() *cluster {
			c := red()
			c.add("m5.large").moves("pods", "-1")
			return c
		}, 0),
		Entry("a second node of the type with more", red, func() *cluster {
			c := red()
			c.add("m5.large").moves("pods", "-2")
			return c
		}, 1),
		Entry("memory: equal nodes differ by as much", func() *cluster { return memory("-10Mi") }, func() *cluster { return memory("-10304Ki") }, 0),
		Entry("memory: more than equal nodes differ by", func() *cluster { return memory("-10Mi") }, func() *cluster { return memory("-10305Ki") }, 1),
	)

	It("is tightened by --ratchet and never loosened", func() {
		file := adopt(short("-3"))
		first := read(file)
		Expect(check(short("-4").dump(), "--baseline", file, "--ratchet")).To(exitWith(1))
		Expect(read(file)).To(Equal(first), "a drift that has grown is not taken in")

		other := short("-3")
		other.of("m6g.large").moves("cpu", "-1m")
		Expect(check(other.dump(), "--baseline", file, "--ratchet")).To(exitWith(1))
		Expect(read(file)).To(Equal(first), "nor is a new one")

		Expect(check(short("-1").dump(), "--baseline", file, "--ratchet")).To(exitWith(0))
		Expect(read(file)).To(And(Not(Equal(first)), ContainSubstring(`"delta": -1`)))
		Expect(check(short("-3").dump(), "--baseline", file)).To(exitWith(1))

		Expect(check(clean().dump(), "--baseline", file, "--ratchet")).To(exitWith(0))
		Expect(read(file)).NotTo(ContainSubstring("m5.large"))
		Expect(check(short("-1").dump(), "--baseline", file)).To(exitWith(1), "what was healed is new drift")
	})

	It("has the same bytes for the same drift, whatever the order", func() {
		c := redAndDoubtful()
		c.of("g5.xlarge").lacks("nvidia.com/gpu")
		first := read(adopt(c))
		again := filepath.Join(GinkgoT().TempDir(), "baseline.json")
		Expect(check(shuffled(c), "--baseline", again, "--ratchet")).To(exitWith(1))
		Expect(read(again)).To(Equal(first))
	})

	It("does not make a doubtful run conclusive", func() {
		c := doubtful()
		c.of("m6g.large").moves("pods", "-1")
		file := adopt(c)
		Expect(check(c.dump(), "--baseline", file)).To(exitWith(4))
	})
})
