package gate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// TestReports are public reports that are about many nodes, or about what may fail a run. Those about one node's figures
// are in package compare.
func TestReports(t *testing.T) {
	type found struct {
		ID        string
		Severity  Severity
		Resource  string
		Nodes, Of int
	}
	g6 := func(f *fleet) {
		f.node("default", "g6.12xlarge", amounts("cpu", "48", "pods", "234", "nvidia.com/gpu", "4", "memory", "190595356Ki"),
			amounts("cpu", "47810m", "pods", "234", "nvidia.com/gpu", "4", "memory", "187596060Ki"))
	}
	for _, c := range []struct {
		name, reason string
		class        func(*fleet)
		nodes        func(*fleet)
		// want are the findings above information, and those about siblings.
		want   []found
		result Result
	}{
		{
			name: "core#1185: one node every 40 seconds", reason: "equal nodes with the same lack are one finding with a count",
			class: func(f *fleet) { f.class("default", "AL2").Kubelet = &snapshot.Kubelet{MaxPods: jsontext.Value("110")} },
			nodes: func(f *fleet) {
				for range 3 {
					f.node("default", "c5.xlarge", nil, amounts("cpu", "3920m", "memory", "6519632Ki", "pods", "110")) // 6584Mi expected
				}
			},
			want: []found{{"overhead-percent-too-small", Fail, "memory", 3, 3}}, result: Failed,
		},
		{
			name: "#8449: the percentage is not applied every time", reason: "a later claim has what a node of the type reported, and neither is drift",
			nodes: func(f *fleet) {
				for _, claimed := range []string{"363724Mi", "381000000Ki"} {
					f.node("default", "r6a.12xlarge", amounts("memory", "381000004Ki", "pods", "234", "cpu", "48"), amounts("memory", "378000708Ki", "pods", "234", "cpu", "47810m"))
					allocatable := "360795Mi" // 363724 − 2929
					if claimed != "363724Mi" {
						allocatable = "378000704Ki" // − 2929Mi
					}
					f.claim(amounts("memory", claimed), amounts("memory", allocatable))
				}
			},
			want: []found{{"overhead-percent-too-large", Warn, "memory", 2, 2}}, result: Passed,
		},
		{
			name: "pytorch/ci-infra#910: 6 % for a fleet that keeps 5.3 % at most", reason: "no node is over-estimated",
			nodes: func(f *fleet) {
				f.Controller.VMMemoryOverheadPercent.Value = "0.06"
				f.node("default", "g5.48xlarge", amounts("nvidia.com/gpu", "8"), amounts("memory", "736289Mi", "nvidia.com/gpu", "8")) // 786432 − 41681 (5.3 %) − 8462
				f.node("default", "m6i.32xlarge", nil, amounts("memory", "506913Mi"))                                                  // 524288 − 8913 (1.7 %) − 8462
			},
			want: []found{{"overhead-percent-too-large", Warn, "memory", 1, 1}}, result: Passed,
		},
		{
			name: "pytorch/ci-infra#910: 5 % for the same fleet", reason: "the node that keeps more is over-estimated",
			nodes: func(f *fleet) {
				f.Controller.VMMemoryOverheadPercent.Value = "0.05"
				f.node("default", "g5.48xlarge", amounts("nvidia.com/gpu", "8"), amounts("memory", "736289Mi", "nvidia.com/gpu", "8"))
			},
			want: []found{{"overhead-percent-too-small", Fail, "memory", 1, 1}}, result: Failed,
		},
		{
			name: "#7505: more pods than expected", reason: "warns: pods that could run are not placed",
			nodes: func(f *fleet) { f.node("default", "m5.large", nil, amounts("pods", "110")) },
			want:  []found{{"prefix-delegation", Warn, "pods", 1, 1}}, result: Passed,
		},
		{
			name: "#7505: fewer pods than expected", reason: "fails: pods are placed that cannot run",
			nodes: func(f *fleet) { f.node("default", "m5.large", nil, amounts("pods", "20")) },
			want:  []found{{"custom-networking", Fail, "pods", 1, 1}}, result: Failed,
		},
		{
			name: "#4557: another CNI addresses 126", reason: "only the node's status is compared: what the CNI can address is nobody's expectation",
			class: func(f *fleet) {
				f.class("default", "AL2023").Kubelet = &snapshot.Kubelet{MaxPods: jsontext.Value("234")}
			},
			nodes: func(f *fleet) { f.node("default", "m6i.2xlarge", nil, amounts("pods", "234")) }, result: Passed,
		},
		{
			name: "m5.16xlarge, 2.6GiB apart", reason: "two machines of one name are named with counts, and neither is an over-estimate",
			class: func(f *fleet) { f.class("default", "AL2").Kubelet = &snapshot.Kubelet{MaxPods: jsontext.Value("250")} },
			nodes: func(f *fleet) {
				for _, m := range [][2]string{{"261093024Ki", "252427936Ki"}, {"261093020Ki", "252427932Ki"}, {"258340508Ki", "249675420Ki"}} {
					f.node("default", "m5.16xlarge", amounts("memory", m[0], "pods", "250"), amounts("memory", m[1], "pods", "250"))
				}
			},
			want: []found{{"overhead-percent-too-large", Warn, "memory", 3, 3}, {compare.SeveralCapacities, Info, "memory", 1, 3}}, result: Passed,
		},
		{
			name: "p3dn.24xlarge, 4Ki apart", reason: "jitter is no finding, and no sibling is an outlier for it",
			class: func(f *fleet) { f.class("default", "AL2").Kubelet = &snapshot.Kubelet{MaxPods: jsontext.Value("250")} },
			nodes: func(f *fleet) {
				for i := range 16 {
					memory := [][2]string{{"784066028Ki", "753772012Ki"}, {"784066032Ki", "753772016Ki"}}[min(i/11, 1)]
					f.node("default", "p3dn.24xlarge", amounts("memory", memory[0], "hugepages-2Mi", "21122Mi", "pods", "250", "nvidia.com/gpu", "8"),
						amounts("memory", memory[1], "hugepages-2Mi", "21122Mi", "pods", "250", "nvidia.com/gpu", "8"))
				}
			},
			want: []found{{"overhead-percent-too-large", Warn, "memory", 16, 16}}, result: Passed,
		},
		{
			name: "g6.12xlarge, claim 8Ki below the node", reason: "discovered memory that fits, and branch interfaces that the CNI does not use",
			nodes: func(f *fleet) {
				g6(f)
				f.claim(amounts("memory", "190595348Ki"), amounts("memory", "187596052Ki", "vpc.amazonaws.com/pod-eni", "114"))
			},
			want: []found{{"overhead-percent-too-large", Warn, "memory", 1, 1}}, result: Passed, // 4.2Gi hidden by the formula
		},
		{
			name: "g6.12xlarge, claim 1Mi above the node", reason: "fails, although the formula is far below both",
			nodes: func(f *fleet) {
				g6(f)
				f.claim(amounts("memory", "190596380Ki"), amounts("memory", "187597084Ki"))
			},
			want: []found{{ClaimOverEstimate, Fail, "memory", 1, 1}, {"overhead-percent-too-large", Warn, "memory", 1, 1}}, result: Failed,
		},
		{
			name: "time-slicing", reason: "a shared device plugin warns",
			nodes: func(f *fleet) {
				f.node("default", "g5.2xlarge", amounts("nvidia.com/gpu", "4"), amounts("nvidia.com/gpu", "4"))
				f.node("default", "p4d.24xlarge", amounts("nvidia.com/mig-1g.5gb", "56"), amounts("nvidia.com/mig-1g.5gb", "56"))
				f.node("default", "g5.xlarge", amounts("nvidia.com/gpu.shared", "10"), amounts("nvidia.com/gpu.shared", "10"))
			},
			want: []found{
				{"device-plugin-shared", Warn, "nvidia.com/gpu", 1, 1}, {"device-plugin-shared", Warn, "nvidia.com/gpu", 1, 1},
				{"device-plugin-shared", Warn, "nvidia.com/gpu", 1, 1},
			}, result: Passed,
		},
		{
			name: "#3555: two names of Neuron", reason: "the claim lists one, and an older plugin has a third",
			nodes: func(f *fleet) {
				f.node("default", "inf2.xlarge", amounts("aws.amazon.com/neuron", "1", "aws.amazon.com/neuroncore", "2", "aws.amazon.com/neurondevice", "1"),
					amounts("aws.amazon.com/neuron", "1", "aws.amazon.com/neuroncore", "2", "aws.amazon.com/neurondevice", "1"))
				f.claim(nil, amounts("aws.amazon.com/neuron", "1"))
				f.node("default", "inf1.xlarge", amounts("aws.amazon.com/neuron", "1"), amounts("aws.amazon.com/neuron", "1"))
			}, result: Passed,
		},
		{
			name: "no GPU before the operator", reason: "a node that is not initialized is skipped, and counted",
			nodes: func(f *fleet) {
				f.node("default", "g5.xlarge", nil, nil).Labels = snapshot.LabelsOf(map[string]string{
					snapshot.LabelNodePool: "default", snapshot.LabelRegistered: "true", snapshot.LabelInstanceType: "g5.xlarge",
				})
			}, result: Inconclusive,
		},
		{
			name: "no GPU after it", reason: "an initialized node without its GPU fails",
			nodes: func(f *fleet) { f.node("default", "g5.xlarge", nil, amounts("cpu", "3920m")) },
			want:  []found{{"device-plugin-absent", Fail, "nvidia.com/gpu", 1, 1}}, result: Failed,
		},
		{
			name: "hpc6a.48xlarge: EFA on 16 of 144", reason: "128 of 144 lack what their claims asked for",
			nodes: func(f *fleet) {
				for i := range 144 {
					capacity := amounts("pods", "100")
					if i%9 == 0 {
						capacity[expect.EFA] = "1"
					}
					f.node("default", "hpc6a.48xlarge", capacity, capacity)
					f.claim(nil, nil).Requests = snapshot.ParseResources(amounts(expect.EFA, "1"))
				}
			},
			want: []found{{"device-plugin-absent", Fail, expect.EFA, 128, 144}, {Outliers, Info, expect.EFA, 16, 144}}, result: Failed,
		},
		{
			name: "hpc6a.48xlarge: no one asked for EFA", reason: "Karpenter attaches it on request only, so none is missing",
			nodes: func(f *fleet) { f.node("default", "hpc6a.48xlarge", nil, nil) }, result: Passed,
		},
		{
			name: "Windows", reason: "all memory allocatable, 110 pods, no disk reported, no addresses: nothing that fails",
			class: func(f *fleet) { f.class("default", "Windows2022") },
			nodes: func(f *fleet) {
				f.node("default", "m5.large", amounts("cpu", "2", "memory", "8388208Ki", "pods", "110", "ephemeral-storage", "0", expect.PrivateIPv4, "11"),
					amounts("cpu", "2", "memory", "8388208Ki", "pods", "110", "ephemeral-storage", "0", expect.PrivateIPv4, "11")).OSImage = "Windows Server 2022 Datacenter"
			},
			want: []found{
				{"no-kube-reserved", Warn, "cpu", 1, 1}, {"no-kube-reserved", Warn, "memory", 1, 1}, {"vpc-limits-table", Warn, expect.PrivateIPv4, 1, 1},
			}, result: Passed,
		},
		{
			name: "#6890: pods are wrong on part of 50 nodes", reason: "12 of 50 that differ from their siblings are not the same as 50 that are wrong",
			nodes: func(f *fleet) {
				for i := range 50 {
					pods := "58"
					if i%4 == 1 && i < 48 {
						pods = "110"
					}
					f.node("default", "m5.xlarge", nil, amounts("pods", pods))
				}
			},
			want: []found{{"prefix-delegation", Warn, "pods", 12, 50}, {Outliers, Info, "pods", 12, 50}}, result: Passed,
		},
		{
			name: "containers-roadmap#2506, eks-user-guide#1076: Auto Mode", reason: "its nodes are another kind's: no rule for pods or storage applies, and they are counted",
			nodes: func(f *fleet) {
				f.node("default", "m6id.xlarge", amounts("pods", "27", "ephemeral-storage", "80Gi"), amounts("pods", "27", "ephemeral-storage", "70Gi")).Labels = snapshot.LabelsOf(map[string]string{
					snapshot.LabelNodePool: "general-purpose", snapshot.LabelInitialized: "true", snapshot.LabelInstanceType: "m6id.xlarge", snapshot.LabelComputeType: "auto",
				})
			}, result: Inconclusive,
		},
		{
			name: "#7493: a claim that never registered", reason: "without a node there is nothing to compare with, least of all zero",
			nodes: func(f *fleet) {
				f.NodeClaims = append(f.NodeClaims, snapshot.NodeClaim{Name: "flex", Kind: snapshot.KindNodeClaim, Allocatable: snapshot.ParseResources(amounts("memory", "6903Mi"))})
			}, result: Inconclusive,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFleet(t, "1.14.1")
			if c.class != nil {
				c.class(f)
			} else {
				f.class("default", "AL2023")
			}
			c.nodes(f)
			run := f.evaluate()
			var got []found
			for _, x := range run.Findings {
				if x.Severity > Info || x.ID == Outliers || x.ID == compare.SeveralCapacities {
					got = append(got, found{x.ID, x.Severity, x.Resource, x.Nodes, x.Of})
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
			if run.Result != c.result {
				t.Errorf("%s: the run is %s (%s), not %s", c.reason, run.Result, run.Inconclusive, c.result)
			}
			if n := run.Totals; n.Karpenter+n.Foreign != len(f.Nodes) {
				t.Errorf("%d nodes, and %+v", len(f.Nodes), n)
			}
		})
	}
}

// TestEditedClass: only what the class feeds is judged by the claim, and warns at most; what the machine lacks fails as
// ever.
func TestEditedClass(t *testing.T) {
	for _, c := range []struct {
		name, reason string
		claim        map[string]string
		allocatable  map[string]string
		resource     string
		want         Severity
		id           string
	}{
		{"pods as claimed", "the class says 29 today, the claim and the node 20", amounts("pods", "20"), amounts("pods", "20"), "pods", Pass, ""},
		{"pods below the claim", "warns: it would fail under an unedited class", amounts("pods", "22"), amounts("pods", "20"), "pods", Warn, compare.NodeClassChanged},
		{"pods without a claim", "nothing to judge by", nil, amounts("pods", "20"), "pods", Info, ""},
		{"claim above today's class", "the node is what today's class gives, the claim promised more", amounts("pods", "58"), amounts("pods", "29"), "pods", Warn, ClaimOverEstimate},
		{"GPUs", "no class feeds them", amounts("nvidia.com/gpu", "1"), amounts("cpu", "3920m"), "nvidia.com/gpu", Fail, "device-plugin-absent"},
		{"memory below a discovered claim", "warns at most", amounts("memory", "15474676Ki"), amounts("memory", "15374676Ki"), "memory", Warn, ClaimOverEstimate},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFleet(t, "1.14.1")
			f.class("default", "AL2023")
			capacity := map[string]string{}
			if m, ok := c.allocatable["memory"]; ok && m != "" {
				capacity["memory"] = "16064852Ki" // − 674Mi = 15374676Ki
			}
			f.node("default", "g4dn.xlarge", capacity, c.allocatable).Join.Drifted = true
			if c.claim != nil {
				claimed := map[string]string{}
				if _, ok := c.claim["memory"]; ok {
					claimed["memory"] = "16164852Ki"
				}
				f.claim(claimed, c.claim)
			}
			run := f.evaluate()
			var worst Severity
			for _, r := range run.Nodes[0].Rows {
				if r.Resource == c.resource && r.Field == compare.Allocatable {
					worst = max(r.Severity, r.ClaimSeverity)
				}
			}
			if worst != c.want {
				t.Errorf("%s: %s, not %s: %+v", c.reason, worst, c.want, run.Findings)
			}
			if found := finding(run, c.id, c.resource); c.id != "" && (found == nil || found.Evidence == "") {
				t.Errorf("%s: no finding %s in words: %+v", c.reason, c.id, run.Findings)
			}
		})
	}
}

// TestClaimUnderOtherSettings: a claim made under another overhead is above the node, and warns.
func TestClaimUnderOtherSettings(t *testing.T) {
	f := newFleet(t, "1.14.1")
	f.class("default", "AL2023")
	capacity, allocatable := healthy()
	f.node("default", "m5.large", capacity, allocatable)
	f.claim(amounts("memory", "8028Mi"), amounts("memory", "7354Mi")) // 8192 − ceil(163.84), − 674
	run := f.evaluate()
	found := finding(run, ClaimOverEstimate, "memory")
	if found == nil || found.Severity != Warn || !strings.Contains(found.Evidence, "an overhead of 0.02") || run.Result != Passed {
		t.Errorf("%s: %+v", run.Result, run.Findings)
	}
	if got := run.Nodes[0].Rows[0].Status; got != compare.WithinTolerance {
		t.Errorf("the claim changed the row's status to %s", got)
	}
}

// TestOutliers: the majority decides what is normal, and who has less of it without a finding of its own is warned of.
func TestOutliers(t *testing.T) {
	for _, c := range []struct {
		name, reason string
		pods         []string
		disks        []string
		want         string
	}{
		{"all alike", "no outlier", []string{"29", "29", "29", "29"}, nil, ""},
		{"one of four", "has a finding of its own already", []string{"29", "29", "20", "29"}, nil, "info pods 1 of 4: 1 of 4 differ from their siblings, which have 29: 20 ×1"},
		{"two kinds", "no majority, no norm", []string{"29", "29", "20", "20"}, nil, ""},
		{"two nodes", "cannot agree against each other", []string{"29", "20"}, nil, ""},
		{"several others", "are listed with counts", []string{"29", "29", "29", "29", "20", "20", "11"}, nil, "info pods 3 of 7: 3 of 7 differ from their siblings, which have 29: 20 ×2, 11 ×1"},
		{"a smaller disk within tolerance", "hides in the tolerance of 2 %", nil, []string{"18181869946", "18181869946", "18181869946", "17933882132"}, "warn ephemeral-storage 1 of 4: 1 of 4 differ from their siblings, which have 18181869946: 17933882132 ×1"},
		{"disks a little apart", "are alike", nil, []string{"18181869946", "18182813665", "18181869946", "18181869946"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFleet(t, "1.14.1")
			f.class("default", "AL2023")
			for i := range max(len(c.pods), len(c.disks)) {
				_, allocatable := healthy()
				if c.pods != nil {
					allocatable["pods"] = c.pods[i]
				}
				if c.disks != nil {
					allocatable["ephemeral-storage"] = c.disks[i]
				}
				f.node("default", "m5.large", nil, allocatable)
			}
			got := ""
			for _, x := range f.evaluate().Findings {
				if x.ID == Outliers {
					got += fmt.Sprintf("%s %s %d of %d: %s", x.Severity, x.Resource, x.Nodes, x.Of, x.Evidence)
				}
			}
			if got != c.want {
				t.Errorf("%s: %q, not %q", c.reason, got, c.want)
			}
		})
	}
}

// TestOutliersOnPurpose: who attaches branch interfaces or huge pages to some nodes means it, and nodes whose class is not
// known are nobody's siblings.
func TestOutliersOnPurpose(t *testing.T) {
	for _, c := range []struct {
		name  string
		class string
		edit  func(capacity, allocatable map[string]string)
		want  Severity
	}{
		{"branch interfaces", "default", func(_, a map[string]string) { delete(a, expect.PodENI) }, Info},
		{"something nobody expects", "default", func(_, a map[string]string) { a["example.com/fpga"] = "1" }, Pass},
		{"no class", "", func(_, a map[string]string) { a["pods"] = "20" }, Pass},
	} {
		f := newFleet(t, "1.14.1")
		f.class("default", "AL2023")
		for i := range 4 {
			capacity, allocatable := healthy()
			allocatable[expect.PodENI] = "9"
			if i == 2 {
				c.edit(capacity, allocatable)
			}
			f.node(c.class, "m5.large", capacity, allocatable)
		}
		got := Pass
		for _, x := range f.evaluate().Findings {
			if x.ID == Outliers {
				got = x.Severity
			}
		}
		if got != c.want {
			t.Errorf("%s: an outlier of %s, not %s", c.name, got, c.want)
		}
	}
}

// TestOutliersKeepMore: machines differ in memory, so what is compared is what they keep from pods; a drifted node is no
// sibling.
func TestOutliersKeepMore(t *testing.T) {
	f := newFleet(t, "1.14.1")
	f.class("default", "AL2023")
	for _, m := range [][2]string{
		{"7845568Ki", "7155392Ki"}, {"7951376Ki", "7261200Ki"}, {"7920000Ki", "7229824Ki"}, // − 674Mi each
		{"7951376Ki", "7158800Ki"}, // − 774Mi
		{"7951376Ki", "6758800Ki"},
	} {
		capacity, allocatable := healthy()
		capacity["memory"], allocatable["memory"] = m[0], m[1]
		f.node("default", "m5.large", capacity, allocatable)
	}
	f.Nodes[4].Join.Drifted = true
	found := finding(f.evaluate(), Outliers, "memory")
	want := "1 of 4 differ from their siblings, which keep from pods 674Mi: 774Mi ×1"
	if found == nil || found.Evidence != want || found.Severity != Warn || !cmp.Equal(found.Names, []string{"node-03"}) {
		t.Errorf("%+v, not %q", found, want)
	}
}
