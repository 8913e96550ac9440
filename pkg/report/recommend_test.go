package report

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
	"github.com/allocatable-diff/allocatable-diff/pkg/recommend"
)

func pointer[T any](v T) *T { return &v }

// exampleAdvice is a fleet that hides much, priced.
func exampleAdvice() *recommend.Report {
	usd := func(v float64) *float64 { return &v }
	r := &recommend.Report{
		Field: compare.Capacity, Samples: 50, Flat: pointer(0.0757),
		Line:    &recommend.Line{Mebibytes: 325, Fraction: 0.036371, HiddenBytes: 34 << 30, MonthlyUSD: usd(124.1)},
		Current: &recommend.Outcome{Percent: 0.075, OverEstimated: 1, HiddenBytes: 206 << 30, MonthlyUSD: usd(751.9)},
		AtFlat:  &recommend.Outcome{Percent: 0.0757, HiddenBytes: 209 << 30, MonthlyUSD: usd(762.85)},
		Sweep: []recommend.Outcome{
			{Percent: 0, OverEstimated: 50, MonthlyUSD: usd(0)},
			{Percent: 0.07, OverEstimated: 6, HiddenBytes: 182 << 30, MonthlyUSD: usd(664.3)},
			{Percent: 0.08, HiddenBytes: 230 << 30, MonthlyUSD: usd(839.5)},
		},
		Groups: []recommend.Group{
			{Kind: recommend.ByArch, Name: "amd64", Samples: 45, Nodes: 48, Types: 29, Flat: pointer(0.0757), OverEstimated: 1, HiddenBytes: 190 << 30, HiddenBytesAtFlat: 192 << 30, MonthlyUSD: usd(693.5)},
			{Kind: recommend.ByArch, Name: "arm64", Samples: 5, Nodes: 5, Types: 4, Flat: pointer(0.0546), HiddenBytes: 16 << 30, HiddenBytesAtFlat: 17 << 30, MonthlyUSD: usd(58.4)},
			{Kind: recommend.ByNodePool, Name: strings.Repeat("a-pool-of-a-very-long-name-", 4), Samples: 3, Nodes: 3, Types: 1, Inconclusive: true, HiddenBytes: 206 << 30, HiddenBytesAtFlat: 209 << 30, MonthlyUSD: usd(751.9)},
			{Kind: recommend.ByInstanceType, Name: "c7a.large", Samples: 1, Nodes: 1, Types: 1, Inconclusive: true},
		},
		Needs:              &recommend.Spread{P50: 0.0419, P95: 0.0704},
		Decisive:           &recommend.Decisive{InstanceType: "c7a.large", Cluster: "prod", Node: "ip-10-0-1-7.eu-west-1.compute.internal", FlatWithout: pointer(0.0704)},
		Wasteful:           []recommend.TypeUse{{InstanceType: "p3dn.24xlarge", Samples: 2, Flat: 0.0264, HiddenBytes: 70 << 30, HiddenBytesAtFlat: 71 << 30, MonthlyUSD: usd(255.5)}},
		Tight:              []recommend.TypeUse{{InstanceType: "c7a.large", Samples: 1, Flat: 0.0757, MonthlyUSD: usd(0)}},
		OverEstimatedTypes: []recommend.TypeCount{{InstanceType: "c7a.large", Nodes: 1}},
		SeveralCapacities: []recommend.Capacities{{InstanceType: "m5.16xlarge", Sizes: []recommend.CapacitySize{
			{SmallestBytes: 258340508 << 10, LargestBytes: 258340508 << 10, Nodes: 1}, {SmallestBytes: 261093020 << 10, LargestBytes: 261093024 << 10, Nodes: 3},
		}}},
		Patches: []recommend.Patch{
			{Releases: "up to v0.31", Helm: "settings:\n  aws:\n    vmMemoryOverheadPercent: \"0.0757\"\n", Command: `kubectl -n karpenter patch configmap karpenter-global-settings --type merge -p '{"data":{"aws.vmMemoryOverheadPercent":"0.0757"}}' && kubectl -n karpenter rollout restart deployment/karpenter`},
			{Releases: "v0.33 and newer", Helm: "settings:\n  vmMemoryOverheadPercent: \"0.0757\"\n", Command: "kubectl -n kube-system set env deployment/karpenter VM_MEMORY_OVERHEAD_PERCENT=0.0757"},
		},
		Excluded: []recommend.Excluded{{Reason: "not initialized: no label karpenter.sh/initialized=true, so device plugins may not have registered yet", Nodes: 2}},
		Unpriced: 1,
		Notes:    []string{"from Karpenter v1.1.0 on the overhead counts only until the first node of an instance type and AMI set has registered"},
	}
	return r
}

func TestRecommendGolden(t *testing.T) {
	priced := exampleAdvice()
	free := exampleAdvice()
	free.Field, free.Current.Percent, free.Current.OverEstimated, free.OverEstimatedTypes = compare.Allocatable, 0.0757, 0, nil
	free.Unpriced, free.Notes, free.Excluded, free.Patches = 0, nil, nil, free.Patches[1:]
	for _, usd := range []**float64{&free.Current.MonthlyUSD, &free.AtFlat.MonthlyUSD, &free.Line.MonthlyUSD} {
		*usd = nil
	}
	for i := range free.Sweep {
		free.Sweep[i].MonthlyUSD = nil
	}
	for i := range free.Groups {
		free.Groups[i].MonthlyUSD = nil
	}
	free.Wasteful[0].MonthlyUSD, free.Tight[0].MonthlyUSD = nil, nil
	none := &recommend.Report{Excluded: []recommend.Excluded{{Reason: "not ready: condition Ready is False", Nodes: 3}}}
	for name, r := range map[string]*recommend.Report{"recommend-priced.txt": priced, "recommend.txt": free, "recommend-none.txt": none} {
		var b bytes.Buffer
		if err := Recommend(&b, r); err != nil {
			t.Fatal(err)
		}
		golden(t, name, b.Bytes())
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
				t.Errorf("%s: %d columns: %s", name, n, line)
			}
		}
		if r != priced && strings.Contains(b.String(), "USD") {
			t.Errorf("%s prints money without prices", name)
		}
	}
}

// TestRecommendFleet: controllers that differ have no one fraction today, and no row in the sweep; several types may
// decide together.
func TestRecommendFleet(t *testing.T) {
	r := exampleAdvice()
	r.ControllersDiffer, r.Current.Percent, r.Decisive.FlatWithout = true, 0.07, r.Flat
	var b bytes.Buffer
	if err := Recommend(&b, r); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{"Now each controller's own, from 0.07 hides", "0.07 6 182.0 664.30 0.0757", "only the fraction of a cluster can be set", "other types need as much"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

// TestRecommendHostile: names come from anybody who can label a node.
func TestRecommendHostile(t *testing.T) {
	r := exampleAdvice()
	const evil = "\x1b[31mevil\n\u202e"
	r.Decisive.Node, r.Decisive.InstanceType, r.Groups[0].Name, r.Wasteful[0].InstanceType = evil, evil, evil, evil
	r.OverEstimatedTypes[0].InstanceType, r.SeveralCapacities[0].InstanceType, r.Excluded[0].Reason = evil, evil, evil
	var b bytes.Buffer
	if err := Recommend(&b, r); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(b.String(), "\x1b\u202e") {
		t.Errorf("control characters get through: %q", b.String())
	}
}

func TestRecommendWriterError(t *testing.T) {
	if err := Recommend(&failing{}, exampleAdvice()); err == nil {
		t.Error("no error from a writer that fails")
	}
	if err := RecommendJSON(&failing{}, exampleAdvice()); err == nil {
		t.Error("no error from a writer that fails, as JSON")
	}
}

func TestShellLines(t *testing.T) {
	for _, tt := range []struct {
		name, command string
		width         int
		want          []string
	}{
		{"short", "kubectl get nodes", 20, []string{"kubectl get nodes"}},
		{"broken", "kubectl -n kube-system get nodes", 22, []string{`kubectl -n kube-system \`, "  get nodes"}},
		{"quoted", "echo 'a b c d e f' g", 10, []string{`echo \`, `  'a b c d e f' \`, "  g"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, shellLines(tt.command, tt.width)); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}
