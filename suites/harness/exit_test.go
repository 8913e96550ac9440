package harness

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// A cluster for each thing that can become of a run.
func green() *cluster { return clean() }

func red() *cluster {
	c := clean()
	c.of("m5.large").moves("pods", "-1")
	return c
}

// doubtful has one node whose type nobody knows.
func doubtful() *cluster {
	c := clean()
	c.of("m5.large").node.Metadata.Labels["node.kubernetes.io/instance-type"] = "x9.large"
	return c
}

func redAndDoubtful() *cluster {
	c := doubtful()
	c.of("m6g.large").moves("pods", "-1")
	return c
}

// foreign has nodes, but none of Karpenter's.
func foreign() *cluster {
	c := clean()
	for _, m := range c.machines {
		m.claim, m.node.Metadata.OwnerReferences = nil, nil
		for _, label := range []string{"karpenter.sh/nodepool", "karpenter.sh/registered", "karpenter.sh/initialized"} {
			delete(m.node.Metadata.Labels, label)
		}
	}
	return c
}

var _ = Describe("The exit code", func() {
	const (
		brokenPolicy = "unknwon: warn\n"
		// A path below a file cannot be written, not even by root.
		below = "file/run.json"
	)
	type given struct {
		cluster func() *cluster
		policy  string
		args    []string
	}
	DescribeTable("of check", func(g given, code int, says ...string) {
		dir := GinkgoT().TempDir()
		write(dir, "file", "")
		args := []string{"check", "--cluster-name", "test", "--from", g.cluster().dump(), "--instance-types", typesPath()}
		if g.policy != "" {
			args = append(args, "--policy", write(dir, "policy.yaml", g.policy))
		}
		r := command{args: append(args, g.args...), dir: dir}.run()
		Expect(r).To(exitWith(code))
		Expect(r).To(say(says...))
	},
		Entry("0: nothing was found", given{cluster: green}, 0, "PASS: test: 8 nodes judged: 8 pass"),
		Entry("0: a warning is no finding", given{cluster: func() *cluster {
			c := clean()
			c.of("m5.large").moves("pods", "1")
			return c
		}}, 0, "PASS: test: 8 nodes judged: 1 warn, 7 pass"),
		Entry("1: findings", given{cluster: red}, 1, "FAIL: test: 8 nodes judged: 1 fail, 7 pass", "m5.large", "ip-10-0-0-2.ec2.internal"),
		Entry("4: a node that could not be judged, with the reason and what to do", given{cluster: doubtful}, 4,
			"INCONCLUSIVE: test: 1 node could not be judged", `"x9.large" is not known`, "use --instance-types with a newer describe-instance-types file"),
		Entry("0: the policy says that such a node warns", given{cluster: doubtful, policy: "unknown: warn\n"}, 0, "x9.large"),
		Entry("4: no Karpenter node, with the labels looked for", given{cluster: foreign}, 4,
			"no Karpenter node among 8", "karpenter.sh/nodepool, karpenter.sh/provisioner-name and karpenter.k8s.aws/ec2nodeclass"),
		Entry("4: no node at all", given{cluster: bare}, 4, "no Karpenter node among 0"),
		Entry("4: no Karpenter node, whatever the policy makes of unknown ones", given{cluster: foreign, policy: "unknown: warn\n"}, 4),
		Entry("4: the selector matches none", given{cluster: red, args: []string{"--selector", "team=nobody"}}, 4, "no Karpenter node among 0", "selector"),
		Entry("0: the selector leaves the healthy nodes", given{cluster: red, args: []string{"-l", "kubernetes.io/arch=arm64"}}, 0, "2 nodes judged"),
		Entry("4: no node is ready", given{cluster: func() *cluster {
			c := red()
			for _, m := range c.machines {
				m.node.Status.Conditions[0]["status"] = "False"
			}
			return c
		}}, 4, "none of 8 Karpenter nodes could be judged", "not ready"),
		Entry("3: an output that cannot be written", given{cluster: green, args: []string{"--output", "json=" + below}}, 3, below),
		Entry("2: a policy with a key that does not exist", given{cluster: green, policy: brokenPolicy}, 2, "policy.yaml", `"unknwon"`),

		Entry("1 before 4: findings and a node that could not be judged", given{cluster: redAndDoubtful}, 1, "FAIL", "x9.large"),
		Entry("3 before 1: findings that could not be written", given{cluster: red, args: []string{"--output", "json=" + below}}, 3),
		Entry("3 before 4: nor could what is inconclusive", given{cluster: foreign, args: []string{"--output", "json=" + below}}, 3),
		Entry("2 before 3: a broken policy, and an output that cannot be written", given{cluster: red, policy: brokenPolicy, args: []string{"--output", "json=" + below}}, 2),
		Entry("2 before 1: a broken policy, and findings", given{cluster: red, policy: brokenPolicy}, 2),
		Entry("2 before 4: a broken policy, and no Karpenter node", given{cluster: foreign, policy: brokenPolicy}, 2),

		Entry("--exit-zero turns 1 into 0, and still says what was found", given{cluster: red, args: []string{"--exit-zero"}}, 0, "FAIL: test"),
		Entry("--exit-zero turns 4 into 0", given{cluster: foreign, args: []string{"--exit-zero"}}, 0, "INCONCLUSIVE: test"),
		Entry("--exit-zero leaves 2", given{cluster: red, policy: brokenPolicy, args: []string{"--exit-zero"}}, 2),
		Entry("--exit-zero leaves 3", given{cluster: red, args: []string{"--exit-zero", "--output", "json=" + below}}, 3),
	)

	It("is 3 when the cluster does not answer, and names the server", func() {
		// Port 1 of this machine: nothing listens there.
		kubeconfig := write(GinkgoT().TempDir(), "kubeconfig", `{"apiVersion":"v1","kind":"Config","current-context":"c",
"contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],"users":[{"name":"u","user":{}}],"clusters":[{"name":"c","cluster":{"server":"http://127.0.0.1:1"}}]}`)
		for _, args := range [][]string{{"check"}, {"check", "--exit-zero"}, {}, {"snapshot", "-o", "s.json"}, {"recommend"}} {
			r := run(slices.Concat(args, []string{"--cluster-name", "test", "--kubeconfig", kubeconfig, "--instance-types", "labels"})...)
			Expect(r).To(exitWith(3))
			Expect(r).To(say("127.0.0.1:1"))
			Expect(r.stdout).To(BeEmpty())
			Expect(entries(r.dir)).To(BeEmpty())
		}
	})

	It("is 1 of compare when something moved, 0 when nothing did, 4 when nothing could be compared, 2 for a wrong pair", func() {
		before, after := clean(), clean()
		after.of("m5.large").moves("memory", "-100Mi")
		a, b, none := before.dump(), after.dump(), foreign().dump()
		compare := func(args ...string) result {
			GinkgoHelper()
			return run(append([]string{"compare", "--instance-types", typesPath()}, args...)...)
		}
		r := compare(a, b)
		Expect(r).To(exitWith(1))
		Expect(r).To(say("Capacity of memory", "m5.large 7577Mi 7477Mi"))
		Expect(compare(a, a)).To(exitWith(0))
		Expect(compare(none, none)).To(exitWith(4))
		Expect(compare(a)).To(exitWith(2))
		Expect(compare(a, b, "--to-karpenter-version", "v1.15.0")).To(exitWith(2))
		Expect(compare(a, "missing.json")).To(exitWith(2))
		Expect(compare("-", "-")).To(exitWith(2))
		// Custom networking: v1.5.2 stops taking the reserved interface's pods off kube-reserved.
		r = compare(fixture("v1-reserved-enis"), "--to-karpenter-version", "v1.5.2")
		Expect(r).To(exitWith(1))
		Expect(r).To(say("m8g.large 7186Mi 7087Mi"))
		Expect(compare(fixture("v1-reserved-enis"), "--to-karpenter-version", "v1.5.1")).To(exitWith(0))
		// A release that nobody has read is compared by the rules of the newest that was, and says so in every command.
		Expect(compare(fixture("v1-reserved-enis"), "--to-karpenter-version", "v1.99.0")).To(say("note: Karpenter v1.99.0 is newer than v1.15", "judged by the rules of v1.15"))
		for _, args := range [][]string{
			{"recommend", "--from", fixture("v1-reserved-enis"), "--instance-types", typesPath(), "--cluster-name", "x"},
			{"expect", "m5.large", "--instance-types", typesPath()},
			{"check", "--from", fixture("v1-reserved-enis"), "--instance-types", typesPath(), "--cluster-name", "x"},
		} {
			Expect(command{args: append(args, "--karpenter-version", "v1.99.0")}.run()).To(say("Karpenter v1.99.0 is newer than v1.15", "judged by the rules of v1.15"))
			known := command{args: append(args, "--karpenter-version", "v1.15.0")}.run()
			Expect(known.stdout + known.stderr).NotTo(ContainSubstring("is newer than"))
		}
		// Windows has 50Gi and 110 pods.
		r = compare(a, "--to-ami-family", "Windows2022")
		Expect(r).To(exitWith(1))
		Expect(r).To(say("AMI family Windows2022 changes"))
		r = compare(a, "--to-ami-family", "Debian")
		Expect(r).To(exitWith(2))
		Expect(r).To(say("Debian", "AL2023"))
	})
})

var _ = Describe("A node", func() {
	// Both labels of the design, each alone: the reason that Karpenter's own tool finds no node is that it looks for one.
	DescribeTable("is Karpenter's by", func(label string) {
		c := bare()
		m := c.add("m5.large")
		m.claim, m.node.Metadata.OwnerReferences = nil, nil
		m.moves("pods", "-1")
		labels := m.node.Metadata.Labels
		delete(labels, "karpenter.sh/nodepool")
		labels[label] = "default"
		r := check(dumpOf([]*object{c.controller, c.class, m.node}), "--output", "json=run.json", "--output", "csv=out.csv")
		judged := parseRun(read(r.dir, "run.json"))
		Expect(judged.node(m.name()).State).To(Equal("judged"), r.GomegaString())
		Expect(lines(read(r.dir, "out.csv"))).To(HaveLen(3))
	},
		Entry("karpenter.sh/nodepool alone", "karpenter.sh/nodepool"),
		Entry("karpenter.sh/provisioner-name alone", "karpenter.sh/provisioner-name"),
		Entry("karpenter.k8s.aws/ec2nodeclass alone", "karpenter.k8s.aws/ec2nodeclass"),
	)

	It("of unknown type has its own row and spec, and the others are judged", func() {
		c := doubtful()
		unknown := c.machines[0].name()
		r := check(c.dump(), "--output", "json=run.json", "--output", "csv=out.csv", "--output", "csv-wide=nodes.csv", "--output", "junit=junit.xml")
		Expect(r).To(exitWith(4))
		run := parseRun(read(r.dir, "run.json"))
		Expect(run.Totals.Judged).To(Equal(7))
		Expect(run.Totals.Unknown).To(Equal(1))
		Expect(read(r.dir, "out.csv")).To(ContainSubstring("\nx9.large,,,,,,,"), "a row with empty expected cells")
		Expect(read(r.dir, "nodes.csv")).To(ContainSubstring("," + unknown + ","))
		report := parseJUnit(read(r.dir, "junit.xml"))
		Expect(report.cases(func(c junitCase) bool { return c.Error != nil })).To(ContainElement(unknown + " allocatable within tolerance"))
		Expect(report.cases(func(c junitCase) bool { return c.Failure != nil })).To(BeEmpty())

		s := specs{source: c.dump()}.run()
		Expect(s.result).To(exitWith(1))
		Expect(s.failed()).To(ConsistOf(unknown, "judges the cluster"))
		Expect(s.passed()).To(HaveLen(7))
		relaxed := specs{source: c.dump(), policy: write(GinkgoT().TempDir(), "policy.yaml", "unknown: warn\n")}.run()
		Expect(relaxed.result).To(exitWith(0))
		Expect(relaxed.skipped()).To(ConsistOf(unknown))
	})

	It("can be all there is: kubectl get nodes -o json, from stdin", func() {
		f, err := os.Open(filepath.Join(fixture("v1-reserved-enis"), "nodes.json"))
		Expect(err).NotTo(HaveOccurred())
		defer f.Close()
		r := command{args: []string{"check", "--cluster-name", "x", "--from", "-", "--output", "json=run.json"}, stdin: f}.run()
		Expect(r).To(exitWith(0))
		Expect(r).To(say("instance types (labels)", "no Karpenter Deployment in the input", "0.075"))
		run := parseRun(read(r.dir, "run.json"))
		Expect(run.Totals.Judged).To(Equal(4))
		for _, n := range run.Nodes {
			for resource, gated := range map[string]bool{"memory": true, "cpu": true, "pods": false, "ephemeral-storage": false} {
				row := n.row(resource)
				Expect(row.Status).NotTo(Equal("unknown"), resource)
				Expect(strings.HasPrefix(row.Reason, "not gated: ")).To(Equal(!gated), resource)
			}
		}
	})
})
