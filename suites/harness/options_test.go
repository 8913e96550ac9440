package harness

import (
	"slices"
	"strings"
	"unicode/utf8"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("A value that does not parse", func() {
	// usage expects exit 2, nothing on stdout and nothing written.
	usage := func(c command, says ...string) {
		GinkgoHelper()
		c.args = slices.Concat(c.args, []string{"--cluster-name", "test", "--from", fixture("v1beta1"), "--instance-types", typesPath()})
		r := c.run()
		Expect(r).To(exitWith(2))
		Expect(r.stdout).To(BeEmpty())
		Expect(r.stderr).To(HavePrefix("error: "))
		Expect(r).To(say(says...))
		Expect(entries(r.dir)).To(BeEmpty())
	}

	DescribeTable("as a flag", func(args string, says ...string) {
		usage(command{args: append([]string{"check"}, strings.Fields(args)...)}, says...)
	},
		Entry("a percentage that is none", "--overhead-percent 7.5", "7.5", "fraction", "write 0.075"),
		Entry("one hundred per cent", "--overhead-percent 1", "fraction"),
		Entry("negative", "--overhead-percent=-0.1", "-0.1", "fraction"),
		Entry("no number", "--overhead-percent NaN", "NaN", "fraction"),
		Entry("infinite", "--overhead-percent Inf", "fraction"),
		Entry("no number at all", "--overhead-percent much", `"much"`, "fraction"),
		Entry("with a unit", "--overhead-percent 7.5%", "fraction"),
		Entry("the name that the controller's own flag has", "--vm-memory-overhead-percent 7.5", "fraction"),
		Entry("a negative count", "--reserved-enis=-1", "--reserved-enis", "count"),
		Entry("no count", "--reserved-enis one", "--reserved-enis", "count"),
		Entry("no release", "--karpenter-version latest", `"latest"`, "release such as v"),
		Entry("a release before the first that is known", "--karpenter-version 0.26.1", "0.26.1", "v0.27.0"),
		Entry("a gate without a value", "--feature-gates NodeOverlay", `"NodeOverlay"`, "Name=true"),
		Entry("an AWS gate without a value", "--aws-feature-gates NodeClassCEL=perhaps", "NodeClassCEL", "Name=true"),
		Entry("a CSV layout that does not exist", "--csv-format wide", `"wide"`, "fixed or upstream"),
		Entry("a selector that is none", "--selector =,=", "--selector"),
		Entry("a negative chunk", "--chunk-size=-1", "--chunk-size"),
		Entry("no time", "--request-timeout soon", "--request-timeout", "30s"),
		Entry("a flag that does not exist", "--overhead 0.1", "--overhead", "--help"),
		Entry("an argument too many", "prod", `"prod"`),
		Entry("an output without a path", "--output csv", `"csv"`, "FORMAT=PATH"),
		Entry("an output with an empty path", "--output csv=", "FORMAT=PATH"),
		Entry("two outputs in one file", "--output csv=a --output json=a", "a is written by another --output"),
		Entry("--ratchet without the file that it tightens", "--ratchet", "--baseline"),
	)

	It("as an output format lists the formats that there are", func() {
		usage(command{args: []string{"check", "--output", "yaml=out.yaml"}}, `"yaml"`, "csv", "csv-wide", "junit", "json", "markdown", "prometheus", "github")
	})

	DescribeTable("in the environment", func(variable string, says ...string) {
		usage(command{args: []string{"check"}, env: []string{variable}}, says...)
		// The suite reads the same variables: it says so and writes nothing.
		s := specs{source: fixture("v1beta1"), env: []string{variable}}.run()
		Expect(s.result).To(exitWith(1))
		Expect(s.result).To(say(says...))
		Expect(s.reports).NotTo(BeADirectory())
	},
		Entry(nil, "VM_MEMORY_OVERHEAD_PERCENT=7.5", "7.5", "fraction"),
		Entry(nil, "VM_MEMORY_OVERHEAD_PERCENT=much", `"much"`, "fraction"),
		Entry(nil, "RESERVED_ENIS=-1", "count"),
		Entry(nil, "KARPENTER_VERSION=latest", `"latest"`),
		Entry(nil, "FEATURE_GATES=NodeOverlay", "Name=true"),
		Entry(nil, "AWS_FEATURE_GATES=NodeClassCEL", "Name=true"),
	)

	DescribeTable("of the suite alone", func(variables []string, says ...string) {
		s := specs{source: fixture("v1beta1"), env: variables}.run()
		Expect(s.result).To(exitWith(1))
		Expect(s.result).To(say(says...))
	},
		Entry("no number of shards", []string{"SHARD_TOTAL=many"}, "SHARD_TOTAL", "count"),
		Entry("no shards", []string{"SHARD_TOTAL=0"}, "SHARD_TOTAL", "count"),
		Entry("a shard beyond the last", []string{"SHARD_TOTAL=2", "SHARD_INDEX=2"}, "SHARD_INDEX", "0 to SHARD_TOTAL"),
		Entry("no shard", []string{"SHARD_TOTAL=2"}, "SHARD_INDEX"),
		Entry("a policy that is not there", []string{"POLICY=/nowhere/policy.yaml"}, "policy /nowhere/policy.yaml"),
		Entry("a source that is not there", []string{"SOURCE=/nowhere"}, "/nowhere"),
		Entry("no source, but a cluster", []string{"SOURCE="}, "SOURCE is not set", "make e2e-diff"),
		Entry("no cluster, but a source", []string{"CLUSTER_NAME="}, "CLUSTER_NAME is not set"),
	)
})

var _ = Describe("An option", func() {
	judge := func(c command) result {
		GinkgoHelper()
		c.args = slices.Concat([]string{"check", "--cluster-name", "test", "--from", fixture("v1-reserved-enis"), "--instance-types", typesPath()}, c.args)
		return c.run()
	}

	It("wins as a flag over the environment, and there over what the cluster says", func() {
		Expect(judge(command{})).To(say("Karpenter v1.5.1 (image tag of Deployment kube-system/karpenter)", "reserved ENIs 1"))
		environment := []string{"KARPENTER_VERSION=v1.5.2", "RESERVED_ENIS=2", "VM_MEMORY_OVERHEAD_PERCENT=0.05"}
		Expect(judge(command{env: environment})).To(say("Karpenter v1.5.2 (", "overhead 0.05 (", "reserved ENIs 2 ("))
		Expect(judge(command{env: environment, args: []string{"--karpenter-version", "1.6", "--reserved-enis", "0", "--overhead-percent", "0.06"}})).
			To(say("Karpenter v1.6.0 (", "overhead 0.06 (", "reserved ENIs 0 ("))
	})

	It("that is broken in the environment does not matter where the flag is given", func() {
		Expect(judge(command{env: []string{"RESERVED_ENIS=x"}, args: []string{"--reserved-enis", "0"}})).To(exitWith(1))
	})

	It("that a gate needs reads SOURCE, CLUSTER_NAME and INSTANCE_TYPES", func() {
		r := command{args: []string{"check"}, env: []string{"SOURCE=" + clean().dump(), "CLUSTER_NAME=prod", "INSTANCE_TYPES=" + typesPath()}}.run()
		Expect(r).To(exitWith(0))
		Expect(r.stdout).To(HavePrefix("PASS: prod: 8 nodes judged"))
	})

	It("without a name for the cluster is wrong usage, but where a snapshot has one", func() {
		from := clean().dump()
		r := run("check", "--from", from)
		Expect(r).To(exitWith(2))
		Expect(r).To(say("--cluster-name", "CLUSTER_NAME"))
		dir := GinkgoT().TempDir()
		Expect(command{dir: dir, args: []string{"snapshot", "--cluster-name", "prod", "--from", from, "--instance-types", typesPath(), "-o", "s.json"}}.run()).To(exitWith(0))
		Expect(command{dir: dir, args: []string{"check", "--from", "s.json"}}.run().stdout).To(HavePrefix("PASS: prod: "))
		Expect(command{dir: dir, args: []string{"check", "--from", "s.json", "--cluster-name", "other"}}.run().stdout).To(HavePrefix("PASS: other: "))
	})

	It("--quiet prints the verdict alone", func() {
		r := judge(command{args: []string{"--quiet"}})
		Expect(lines(r.stdout)).To(HaveLen(1))
		Expect(r.stderr).To(BeEmpty())
	})
})

var _ = Describe("The streams", func() {
	It("carry the report on stdout, where a report was asked for there, and nothing beside it", func() {
		c := red()
		r := check(c.dump(), "--output", "json=-", "--output", "csv=out.csv")
		Expect(r).To(exitWith(1))
		Expect(r.stderr).To(BeEmpty())
		Expect(parseRun(r.stdout).Totals.Failed).To(Equal(1))
		to := check(c.dump(), "--output", "json=run.json")
		Expect(r.stdout).To(Equal(read(to.dir, "run.json")))
	})

	It("carry what went wrong on stderr, and nothing of it on stdout", func() {
		for _, args := range [][]string{{"chekc"}, {"check"}, {"check", "--nope"}, {"snapshot"}, {"expect", "--karpenter-version", "x"}, {"explain"}, {"compare"}, {"recommend", "--target", "x"}} {
			r := run(append(args, "--instance-types", typesPath())...)
			Expect(r).To(exitWith(2))
			Expect(r.stdout).To(BeEmpty(), r.GomegaString())
			Expect(r.stderr).To(HavePrefix("error: "))
		}
	})

	It("have no colour where nobody looks", func() {
		r := check(red().dump())
		Expect(r.stdout).NotTo(ContainSubstring("\x1b"))
		Expect(lines(r.stdout)).To(HaveEach(WithTransform(utf8.RuneCountInString, BeNumerically("<=", 80))))
	})

	It("carry help and version on stdout", func() {
		for _, args := range [][]string{{"--help"}, {"check", "--help"}, {"help", "snapshot"}, {"version"}, {"version", "-o", "json"}, {"completion", "bash"}, {"manifests", "--cluster-name", "x"}} {
			r := run(args...)
			Expect(r).To(exitWith(0))
			Expect(r.stdout).NotTo(BeEmpty())
			Expect(r.stderr).To(BeEmpty())
		}
	})

	It("that nobody reads any more are an error, not silence", func() {
		r := command{program: "/bin/sh", args: []string{"-c", `"$0" check --cluster-name test --from "$1" --output json=- >/dev/full`, tool(), clean().dump()}}.run()
		Expect(r).To(exitWith(3))
		Expect(r).To(say("stdout"))
	})
})
