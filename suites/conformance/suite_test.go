package conformance

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/allocatable-diff/allocatable-diff/pkg/options"
)

// What the specs are made of, read before the tree is built.
var (
	asked     *options.Conformance
	catalogue *Catalogue
	tables    []Table
)

func TestConformance(t *testing.T) {
	RegisterFailHandler(Fail)
	var err error
	if asked, err = options.ReadConformance(options.Environment); err != nil {
		t.Fatal(err)
	}
	for _, version := range asked.Versions {
		if !slices.Contains(Releases, version) {
			t.Fatalf("CONFORMANCE_VERSIONS %s: there are oracles of %s", version, strings.Join(Releases, ", "))
		}
	}
	if asked.InstanceTypeData != "" {
		if catalogue, err = ReadCatalogue(asked.InstanceTypeData); err != nil {
			t.Fatal(err)
		}
		if tables, err = Tables(asked.InstanceTypeData); err != nil {
			t.Fatal(err)
		}
	}
	RunSpecs(t, "Conformance")
}

const noData = "INSTANCE_TYPE_DATA is not set: point it to a folder with describe-instance-types.json.gz and the published tables karpenter-docs-VERSION.csv"

var _ = Describe("The tables that Karpenter publishes", func() {
	It("are at hand", func() {
		if asked.InstanceTypeData == "" {
			Skip(noData)
		}
		Expect(tables).NotTo(BeEmpty(), "%s has no karpenter-docs-VERSION.csv", asked.InstanceTypeData)
	})
	for _, table := range tables {
		It("equal pkg/expect at "+table.Release, func() {
			published, err := table.Compare(catalogue.InstanceTypes)
			Expect(err).NotTo(HaveOccurred())
			AddReportEntry(published.String(), strings.Join(published.Facts, "\n"))
			if len(published.Differences) > 0 {
				Fail(published.String() + "\n" + strings.Join(published.Differences, "\n"))
			}
		})
	}
})

// explained is how many kinds of difference are shrunk to their smallest case; each takes some seconds.
const explained = 5

// Serial: two processes would build the same packages at once.
var _ = Describe("Karpenter's own code", Serial, func() {
	for _, release := range Releases {
		It("equals pkg/expect at "+release, func(ctx SpecContext) {
			if !asked.Oracles {
				Skip("CONFORMANCE_ORACLES is not set: building the oracles takes minutes; make conformance does it")
			}
			if asked.InstanceTypeData == "" {
				Fail(noData)
			}
			if len(asked.Versions) > 0 && !slices.Contains(asked.Versions, release) {
				Skip("CONFORMANCE_VERSIONS leaves it out")
			}
			fmt.Fprintf(GinkgoWriter, "building Karpenter %s, minutes unless it is in the cache\n", release)
			oracle, err := BuildOracle(ctx, "oracles", release)
			Expect(err).NotTo(HaveOccurred())
			cases := append(Traps(), Generate(asked.Seed, asked.Cases, release)...)
			fmt.Fprintf(GinkgoWriter, "asking about %d hand-made cases and %d of seed %d, %d instance types each\n", len(cases)-asked.Cases, asked.Cases, asked.Seed, len(catalogue.InstanceTypes))
			result, err := Compare(ctx, oracle, Expectation, catalogue, cases)
			Expect(err).NotTo(HaveOccurred())
			summary := fmt.Sprintf("%s, seed %d", result, asked.Seed)
			AddReportEntry(summary, result.LimitsApart())
			if result.Mismatches == 0 {
				return
			}
			lines := []string{summary}
			for i, kind := range result.Kinds {
				if i == explained {
					lines = append(lines, fmt.Sprintf("and %d more kinds of difference", len(result.Kinds)-explained))
					break
				}
				text, err := Explain(ctx, oracle, Expectation, catalogue, cases, kind.First)
				Expect(err).NotTo(HaveOccurred())
				lines = append(lines, fmt.Sprintf("%d rows like this: %s", kind.Rows, text))
			}
			Fail(strings.Join(lines, "\n"))
		})
	}
})
