package harness

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// recommendation is the part of `recommend -o json` that was promised.
type recommendation struct {
	Samples *int
	Flat    *float64
	Line    *struct {
		Mebibytes   *int64
		Fraction    *float64
		HiddenBytes *int64
	}
	Current *outcome
	Sweep   []outcome
	Groups  []struct {
		Kind, Name   string
		Samples      int
		Flat         *float64
		Inconclusive bool
	}
}

type outcome struct {
	Percent       *float64
	OverEstimated *int
	HiddenBytes   *int64
	MonthlyUSD    *float64
}

var _ = Describe("recommend", func() {
	recommend := func(from string, args ...string) result {
		GinkgoHelper()
		return run(append([]string{"recommend", "--cluster-name", "test", "--from", from, "--instance-types", typesPath()}, args...)...)
	}
	parse := func(from string, args ...string) recommendation {
		GinkgoHelper()
		r := recommend(from, append(args, "-o", "json")...)
		Expect(r).To(exitWith(0))
		Expect(r.stderr).To(BeEmpty())
		var out recommendation
		Expect(json.Unmarshal([]byte(r.stdout), &out)).To(Succeed())
		return out
	}
	// judgedAt sums up, from the rows of a check under a fraction, what recommend says of it.
	judgedAt := func(from string, fraction float64) (overEstimated int, hidden int64, samples int) {
		GinkgoHelper()
		r := check(from, "--exit-zero", "--overhead-percent", strconv.FormatFloat(fraction, 'f', -1, 64), "--output", "csv-wide=nodes.csv")
		Expect(r).To(exitWith(0))
		rows, err := csv.NewReader(strings.NewReader(read(r.dir, "nodes.csv"))).ReadAll()
		Expect(err).NotTo(HaveOccurred())
		at := map[string]int{}
		for i, name := range rows[0] {
			at[name] = i
		}
		for _, row := range rows[1:] {
			if row[at["resource"]] != "memory" || row[at["field"]] != "capacity" || row[at["status"]] == "skipped" || row[at["status"]] == "unknown" {
				continue
			}
			delta, err := strconv.ParseInt(row[at["delta"]], 10, 64)
			Expect(err).NotTo(HaveOccurred())
			samples++
			if delta < 0 {
				overEstimated++
			}
			hidden += max(0, delta)
		}
		return overEstimated, hidden, samples
	}

	DescribeTable("agrees with check, node by node", func(name string) {
		from := fixture(name)
		r := parse(from)
		over, hidden, samples := judgedAt(from, *r.Current.Percent)
		Expect([]any{*r.Samples, *r.Current.OverEstimated, *r.Current.HiddenBytes}).To(Equal([]any{samples, over, hidden}))

		over, _, _ = judgedAt(from, *r.Flat)
		Expect(over).To(BeZero(), "flat over-estimates no node")
		over, _, _ = judgedAt(from, *r.Flat-0.0001)
		Expect(over).To(BeNumerically(">", 0), "the next smaller fraction does")
		Expect(*r.Flat*10000).To(BeNumerically("~", math.Round(*r.Flat*10000), 1e-6), "four decimals")

		// 0.00 to 0.12.
		Expect(r.Sweep).To(HaveLen(13))
		for i, o := range r.Sweep {
			Expect(*o.Percent).To(BeNumerically("~", float64(i)/100, 1e-9))
			if i > 0 {
				Expect(*o.OverEstimated).To(BeNumerically("<=", *r.Sweep[i-1].OverEstimated))
				Expect(*o.HiddenBytes).To(BeNumerically(">=", *r.Sweep[i-1].HiddenBytes))
			}
		}
		over, hidden, _ = judgedAt(from, 0.06)
		Expect([]any{*r.Sweep[6].OverEstimated, *r.Sweep[6].HiddenBytes}).To(Equal([]any{over, hidden}))

		Expect(*r.Line.Mebibytes).To(BeNumerically(">=", 0))
		Expect(*r.Line.Fraction).To(BeNumerically(">=", 0))
		perKind := map[string]int{}
		for _, g := range r.Groups {
			perKind[g.Kind] += g.Samples
			Expect(g.Inconclusive).To(Equal(g.Flat == nil), g.Name)
			Expect(g.Samples < 5).To(Equal(g.Inconclusive), "fewer than --min-samples: %s", g.Name)
		}
		Expect(perKind).To(And(HaveKeyWithValue("arch", *r.Samples), HaveKeyWithValue("amiFamily", *r.Samples), HaveKeyWithValue("nodePool", *r.Samples), HaveKeyWithValue("instanceType", *r.Samples)))
	},
		Entry(nil, "karpenter-demo"), Entry(nil, "karpenter-drift"), Entry(nil, "v1beta1"),
	)

	It("prints no money without prices, and money with them", func() {
		from := fixture("karpenter-drift")
		Expect(recommend(from).stdout).NotTo(ContainSubstring("USD"))
		Expect(parse(from).Current.MonthlyUSD).To(BeNil())
		prices := write(GinkgoT().TempDir(), "prices.yaml", "perGiBHour: 0.005\n")
		r := parse(from, "--price", prices)
		// 730 hours to a month.
		Expect(*r.Current.MonthlyUSD).To(BeNumerically("~", float64(*r.Current.HiddenBytes)/(1<<30)*0.005*730, 0.01))
		Expect(recommend(from, "--price", prices).stdout).To(ContainSubstring("USD"))
	})

	It("works for allocatable too", func() {
		from := fixture("karpenter-drift")
		capacity, allocatable := parse(from), parse(from, "--target", "allocatable")
		Expect(*allocatable.Flat).To(BeNumerically(">", *capacity.Flat), "huge pages take from allocatable alone")
	})

	It("prints a patch that sets the flat fraction", func() {
		from := fixture("karpenter-drift")
		Expect(recommend(from)).To(say(fmt.Sprintf("VM_MEMORY_OVERHEAD_PERCENT=%v", *parse(from).Flat)))
	})

	It("has the same bytes whatever the order", func() {
		c := clean()
		Expect(recommend(shuffled(c), "-o", "json").stdout).To(Equal(recommend(c.dump(), "-o", "json").stdout))
	})

	It("is inconclusive without a node to learn from", func() {
		Expect(recommend(foreign().dump())).To(exitWith(4))
	})

	DescribeTable("refuses", func(args []string, says ...string) {
		r := recommend(clean().dump(), args...)
		Expect(r).To(exitWith(2))
		Expect(r).To(say(says...))
	},
		Entry("a format that it does not have", []string{"-o", "csv"}, "table or json"),
		Entry("a target that is no field", []string{"--target", "cpu"}, "--target"),
		Entry("groups of nothing", []string{"--min-samples", "0"}, "--min-samples"),
		Entry("a price file that is not there", []string{"--price", "missing.yaml"}, "missing.yaml"),
	)
})
