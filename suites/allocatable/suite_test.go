package allocatable

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/reporters"
	"github.com/onsi/ginkgo/v2/types"
	. "github.com/onsi/gomega"

	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
)

// TestAllocatable loads before RunSpecs, since specs are generated from the data. Only input that cannot be read is
// fatal here: a run-level verdict is a spec, so that reports exist when it fails.
func TestAllocatable(t *testing.T) {
	RegisterFailHandler(Fail)
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(200) // Ginkgo keeps every spec to the end: to look for garbage early is in vain
	}
	var err error
	if cluster, err = load(context.Background()); err != nil {
		t.Fatalf("%v", err)
	}
	if run, err = cluster.evaluate(nil); err != nil {
		t.Fatalf("%v", err)
	}
	cluster.begin()
	declare(containers(run))
	_, how := GinkgoConfiguration()
	specsFile, how.JUnitReport = how.JUnitReport, ""
	RunSpecs(t, "Allocatable", how)
}

// declare makes the specs: one of the cluster, and one of each node. They are no top-level declarations, since those are
// made before the input is read.
func declare(all []*container) {
	Describe("Nodes", func() {
		It("judges the cluster", func() {
			if run.Result == gate.Inconclusive {
				Fail(run.Inconclusive)
			}
		})
	})
	for _, outer := range all {
		Describe("Nodes "+outer.text, outer.labels, func() {
			for _, inner := range outer.inner {
				Context(inner.text, inner.labels, func() {
					for _, n := range inner.nodes {
						It(n.Name, func() { assert(n) })
					}
				})
			}
		})
	}
}

// Every process must have read the same bytes: trees that differ are not noticed by Ginkgo.
var _ = SynchronizedBeforeSuite(func() []byte {
	return []byte(digest())
}, func(first []byte) {
	Expect(digest()).To(Equal(string(first)), "this process read another input than process 1: record a snapshot, and give every process that file")
})

// texts is what the specs say.
var texts gate.Texts

// assert is what a spec says of its node. Fail prints our text alone.
func assert(n *gate.Node) {
	switch {
	case n.State == gate.Skipped:
		Skip(n.Reason)
	case n.State == gate.Unknown && cluster.how.Policy.Unknown < gate.Fail:
		Skip("could not judge: " + n.Reason)
	case n.State == gate.Unknown:
		Fail("could not judge: " + n.Reason)
	case n.Severity == gate.Fail:
		Fail(texts.Of(n))
	case n.Severity == gate.Warn:
		AddReportEntry("warning", texts.Of(n), ReportEntryVisibilityFailureOrVerbose)
	}
}

// Reports are written on process 1, from the pure run: entries of specs do not survive the way between processes
// unchanged. What Ginkgo's filters took out is "not in focus" there.
var _ = ReportAfterSuite("reports", func(report Report) {
	if err := cluster.finish(report); err != nil {
		Fail(fmt.Sprintf("writing the reports: %v", err))
	}
})

// specsFile is Ginkgo's own JUnit file, which --junit-report asks for; empty for none.
var specsFile string

// Ginkgo would write for each spec when it began and ended, and its labels after its text, which says the same: four
// fifths of the file of a large cluster. What it failed with, and a warning's entry, are there without. It comes last,
// since it tells of the reports too.
var _ = ReportAfterSuite("specs", func(report Report) {
	if specsFile == "" {
		return
	}
	if err := reporters.GenerateJUnitReportWithConfig(report, specsFile, reporters.JunitReportConfig{
		OmitTimelinesForSpecState: types.SpecStatePassed | types.SpecStateSkipped | types.SpecStatePending,
		OmitSpecLabels:            true,
	}); err != nil {
		Fail(fmt.Sprintf("writing %s: %v", specsFile, err))
	}
})
