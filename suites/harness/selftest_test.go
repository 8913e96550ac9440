package harness

import (
	"regexp"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// plant is a drift on one node, and what the built-in gate has to make of it.
type plant struct {
	// typ is the type of the node, resource what drifts there.
	typ, resource string
	// why says what happened to such a node, or why the limit is where it is.
	why string
	// how changes the node or its claim.
	how func(*machine)
	// ends is the severity of the row, or with claim that of the claim; status is the row's.
	ends, status string
	claim        bool
}

const (
	fails   = "fail"
	warns   = "warn"
	informs = "info"
	passes  = "" // a run file leaves out what goes without saying
)

func by(resource, quantity string) func(*machine) {
	return func(m *machine) { m.moves(resource, quantity) }
}

func without(resources ...string) func(*machine) {
	return func(m *machine) {
		for _, r := range resources {
			m.lacks(r)
		}
	}
}

func has(resource, quantity string) func(*machine) {
	return func(m *machine) {
		m.node.Status.Capacity[resource], m.node.Status.Allocatable[resource] = quantity, quantity
	}
}

func promises(quantity string) func(*machine) {
	return func(m *machine) {
		for _, list := range []amounts{m.claim.Status.Capacity, m.claim.Status.Allocatable} {
			list["memory"] = sum(list["memory"], quantity)
		}
	}
}

// plants are every resource that is gated, in both directions, at both sides of each limit.
var plants = []plant{
	// m5.large: 6903Mi expected; 5 % of that is 345.15Mi.
	{typ: "m5.large", resource: "memory", why: "identical nodes differ by 4 to 8Ki", how: by("memory", "-64Ki"), ends: passes, status: "within-tolerance"},
	{typ: "m5.large", resource: "memory", why: "one KiB above the tolerance", how: by("memory", "-65Ki"), ends: fails, status: "over-estimate"},
	{typ: "m6g.large", resource: "memory", why: "half a per cent is enough for nodes to be launched for ever", how: by("memory", "-35Mi"), ends: fails, status: "over-estimate"},
	{typ: "m5.large", resource: "memory", why: "what the default hides on ordinary types", how: by("memory", "345Mi"), ends: passes, status: "within-tolerance"},
	{typ: "m5.large", resource: "memory", why: "more than 5 % is hidden", how: by("memory", "346Mi"), ends: warns, status: "under-estimate"},
	{typ: "p4d.24xlarge", resource: "memory", why: "more than 4Gi is hidden, though below 5 %", how: by("memory", "4097Mi"), ends: warns, status: "under-estimate"},

	{typ: "m5.large", resource: "cpu", why: "no tolerance", how: by("cpu", "-1m"), ends: fails, status: "over-estimate"},
	{typ: "m5.large", resource: "cpu", why: "nothing is reserved on the node", how: by("cpu", "70m"), ends: warns, status: "under-estimate"},

	{typ: "m5.large", resource: "pods", why: "no tolerance", how: by("pods", "-1"), ends: fails, status: "over-estimate"},
	{typ: "m5.large", resource: "pods", why: "prefix delegation in the user data", how: by("pods", "81"), ends: warns, status: "under-estimate"},

	// 17Gi expected: 2 % are 348.2Mi, 5 % are 870.4Mi.
	{typ: "m5.large", resource: "ephemeral-storage", why: "file-system metadata of XFS", how: by("ephemeral-storage", "-348Mi"), ends: passes, status: "within-tolerance"},
	{typ: "m5.large", resource: "ephemeral-storage", why: "metadata of ext4", how: by("ephemeral-storage", "-349Mi"), ends: warns, status: "over-estimate"},
	{typ: "m5.large", resource: "ephemeral-storage", why: "the kubelet's disk is another one", how: by("ephemeral-storage", "-871Mi"), ends: fails, status: "over-estimate"},
	{typ: "m5.large", resource: "ephemeral-storage", why: "a larger volume than the class says", how: by("ephemeral-storage", "349Mi"), ends: warns, status: "under-estimate"},

	{typ: "g5.xlarge", resource: "nvidia.com/gpu", why: "no device plugin", how: without("nvidia.com/gpu"), ends: fails, status: "missing"},
	{typ: "p4d.24xlarge", resource: "nvidia.com/gpu", why: "one of eight is broken", how: by("nvidia.com/gpu", "-1"), ends: fails, status: "over-estimate"},
	{typ: "g5.xlarge", resource: "nvidia.com/gpu", why: "time-slicing", how: has("nvidia.com/gpu", "4"), ends: warns, status: "under-estimate"},
	{typ: "g5.xlarge", resource: "nvidia.com/gpu", why: "time-slicing under a name of its own", how: func(m *machine) {
		without("nvidia.com/gpu")(m)
		has("nvidia.com/gpu.shared", "4")(m)
	}, ends: warns, status: "missing"},
	{typ: "g4ad.xlarge", resource: "amd.com/gpu", why: "no device plugin", how: without("amd.com/gpu"), ends: fails, status: "missing"},
	{typ: "g4ad.xlarge", resource: "amd.com/gpu", why: "time-slicing", how: has("amd.com/gpu", "2"), ends: warns, status: "under-estimate"},
	{typ: "inf2.xlarge", resource: "aws.amazon.com/neuron", why: "no device plugin", how: without("aws.amazon.com/neuron", "aws.amazon.com/neuroncore"), ends: fails, status: "missing"},
	{typ: "inf2.xlarge", resource: "aws.amazon.com/neuron", why: "more than the type has", how: has("aws.amazon.com/neuron", "2"), ends: warns, status: "under-estimate"},
	{typ: "inf2.xlarge", resource: "aws.amazon.com/neuroncore", why: "neuron says enough", how: without("aws.amazon.com/neuroncore"), ends: informs, status: "missing"},
	{typ: "dl1.24xlarge", resource: "habana.ai/gaudi", why: "no device plugin", how: without("habana.ai/gaudi"), ends: fails, status: "missing"},
	{typ: "dl1.24xlarge", resource: "habana.ai/gaudi", why: "one of eight is broken", how: by("habana.ai/gaudi", "-1"), ends: fails, status: "over-estimate"},
	{typ: "dl1.24xlarge", resource: "habana.ai/gaudi", why: "more than the type has", how: has("habana.ai/gaudi", "9"), ends: warns, status: "under-estimate"},

	{typ: "p4d.24xlarge", resource: efa, why: "the claim asks for four", how: without(efa), ends: fails, status: "missing"},
	{typ: "p4d.24xlarge", resource: efa, why: "two short", how: by(efa, "-2"), ends: fails, status: "over-estimate"},
	{typ: "p4d.24xlarge", resource: efa, why: "one short is common", how: by(efa, "-1"), ends: warns, status: "over-estimate"},
	{typ: "p4d.24xlarge", resource: efa, why: "more is information", how: by(efa, "1"), ends: informs, status: "under-estimate"},
	{typ: "dl1.24xlarge", resource: efa, why: "nobody asked, so Karpenter attached none", how: without(efa), ends: informs, status: "missing"},

	{typ: "m5.large", resource: podENI, why: "security groups for pods are off", how: without(podENI), ends: informs, status: "missing"},
	{typ: "m5.large", resource: podENI, why: "it differs", how: has(podENI, "8"), ends: warns, status: "over-estimate"},
	{typ: "m5.large", resource: podENI, why: "it differs", how: has(podENI, "10"), ends: warns, status: "under-estimate"},

	{typ: "m5.large", resource: "memory", why: "a claim discovered on a larger sibling still promises it", how: promises("1025Ki"), ends: fails, status: "match", claim: true},
	{typ: "m5.large", resource: "memory", why: "a claim made under other settings", how: promises("13Mi"), ends: warns, status: "match", claim: true},
	{typ: "m5.large", resource: "memory", why: "claims differ as nodes do", how: promises("64Ki"), ends: passes, status: "match", claim: true},

	{typ: "m5.large", resource: "memory", why: "the node reports no allocatable, so its capacity is judged", how: func(m *machine) {
		m.moves("memory", "-1Mi")
		m.node.Status.Allocatable = nil
	}, ends: fails, status: "over-estimate"},
}

func (p *plant) text() string {
	end := p.ends
	if end == passes {
		end = "pass"
	}
	what := p.resource
	if p.claim {
		what = "claim of " + what
	}
	return strings.Join([]string{what, "on", p.typ + ":", p.why + ":", end}, " ")
}

// severity is what the gate makes of the planted row.
func (p *plant) severity(r row) string {
	if p.claim {
		return r.ClaimSeverity
	}
	return r.Severity
}

var _ = Describe("Drift", func() {
	It("is not found in a clean cluster", func() {
		r := check(clean().dump())
		Expect(r).To(exitWith(0))
		Expect(r.stdout).To(HavePrefix("PASS: test: 8 nodes judged: 8 pass\n"))
		Expect(r.stdout).NotTo(ContainSubstring("WARN"))
		Expect(r.stderr).To(BeEmpty())
	})

	Context("on one node of a clean cluster", func() {
		for _, p := range plants {
			It(p.text(), func() {
				c := clean()
				m := c.of(p.typ)
				p.how(m)
				r := check(c.dump(), "--output", "json=run.json", "--output", "junit=junit.xml")
				Expect(r).To(exitWith(map[bool]int{true: 1}[p.ends == fails]))

				run := parseRun(read(r.dir, "run.json"))
				n := run.node(m.name())
				planted := n.row(p.resource)
				Expect([]string{p.severity(planted), planted.Status}).To(Equal([]string{p.ends, p.status}), "row %+v", planted)

				head := map[string]string{fails: "FAIL", warns: "WARN"}[p.ends]
				_, short, found := strings.Cut(p.resource, "/")
				if !found {
					short = p.resource
				}
				for _, severity := range []string{"FAIL", "WARN"} {
					Expect(regexp.MustCompile(`(?m)^`+severity+` +`+short+`( capacity)?: `).MatchString(r.stdout)).To(Equal(severity == head), "%s in:\n%s", severity, r.stdout)
				}

				report := parseJUnit(read(r.dir, "junit.xml"))
				var failing []string
				if p.ends == fails {
					failing = []string{m.name() + " allocatable within tolerance"}
				}
				Expect(report.cases(func(c junitCase) bool { return c.Failure != nil || c.Error != nil })).To(Equal(failing))
			})
		}
	})

	It("of a node that does not report a core resource is unknown in that row alone", func() {
		c := clean()
		m := c.of("m5.large")
		m.lacks("memory")
		m.moves("pods", "-1")
		r := check(c.dump(), "--output", "json=run.json")
		Expect(r).To(exitWith(1))
		run := parseRun(read(r.dir, "run.json"))
		n := run.node(m.name())
		Expect(n.State).To(Equal("judged"))
		Expect(n.row("pods").Severity).To(Equal(fails))
		for _, row := range n.Rows {
			Expect(row.Status == "unknown").To(Equal(row.Resource == "memory"), "%+v", row)
		}
	})

	It("of a node whose class was edited after launch warns at most, by the claim; without a claim it is not gated", func() {
		c := clean()
		c.class.Metadata.Annotations = hash("2")
		launched := c.of("m5.large")
		launched.moves("pods", "-1")
		alone := c.of("m6g.large")
		alone.claim, alone.node.Metadata.OwnerReferences, alone.node.Metadata.Annotations = nil, nil, hash("1")
		alone.moves("pods", "-1")
		r := check(c.dump(), "--output", "json=run.json")
		Expect(r).To(exitWith(0))
		Expect(r).To(say("edited after launch"))
		run := parseRun(read(r.dir, "run.json"))
		for m, want := range map[*machine]string{launched: warns, alone: informs} {
			n := run.node(m.name())
			Expect(n.row("pods").Severity).To(Equal(want), m.typ())
		}
		// What no class decides is judged as ever.
		c.of("g5.xlarge").lacks("nvidia.com/gpu")
		Expect(check(c.dump())).To(exitWith(1))
	})

	It("turns red exactly the specs of the nodes that fail", func() {
		c := bare()
		var red, all []string
		for _, p := range plants {
			m := c.add(p.typ)
			p.how(m)
			all = append(all, m.name())
			if p.ends == fails {
				red = append(red, m.name())
			}
		}
		slices.Sort(red)
		slices.Sort(all)
		r := specs{source: c.dump()}.run()
		Expect(r.result).To(exitWith(1))
		Expect(r.failed()).To(Equal(red))
		Expect(r.passed()).To(ConsistOf(slices.DeleteFunc(append(all, "judges the cluster"), func(n string) bool { return slices.Contains(red, n) })))
		report := parseJUnit(read(r.reports, "junit.xml"))
		Expect(report.cases(func(c junitCase) bool { return c.Failure != nil })).To(HaveLen(len(red)))
	})

	It("leaves every spec of a clean cluster green", func() {
		r := specs{source: clean().dump()}.run()
		Expect(r.result).To(exitWith(0))
		Expect(r.passed()).To(HaveLen(9))
	})
})
