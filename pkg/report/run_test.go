package report

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

const (
	ki = 1 << 10
	mi = 1 << 20
	gi = 1 << 30
)

// concluded sorts, counts and folds the nodes of a run built by hand.
func concluded(t testing.TB, policy gate.Policy, clusters []gate.Cluster, nodes []gate.Node) *gate.Run {
	t.Helper()
	run, err := gate.Merge([]*gate.Run{{Clusters: clusters, Nodes: nodes}}, policy)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func known(v int64) snapshot.Figure { return snapshot.Figure{Value: v, Known: true} }

// both is the capacity and allocatable row of a resource; capacity rows never gate.
func both(resource string, expectedCapacity, actualCapacity, expected, actual int64, severity gate.Severity, causes ...compare.Cause) []*gate.Row {
	row := func(field compare.Field, expected, actual int64, severity gate.Severity) *gate.Row {
		r := &gate.Row{Row: compare.Row{Resource: resource, Field: field, Expected: known(expected), Actual: known(actual)}, Severity: severity}
		switch {
		case actual < expected:
			r.Status = compare.OverEstimate
		case actual > expected:
			r.Status = compare.UnderEstimate
		}
		if r.Status != compare.Match && severity == gate.Pass {
			r.Status = compare.WithinTolerance
		}
		return r
	}
	rows := []*gate.Row{
		row(compare.Capacity, expectedCapacity, actualCapacity, min(severity, gate.Info)),
		row(compare.Allocatable, expected, actual, severity),
	}
	if rows[1].Status != compare.Match {
		rows[1].Causes = causes
	}
	return rows
}

// ordinary is the rows of a node in which cpu, storage and pods are as expected: storage loses a little to the file
// system, as it does on every node.
func ordinary(memory []*gate.Row, cpu, pods int64) []*gate.Row {
	rows := append([]*gate.Row{}, memory...)
	rows = append(rows, both(expect.CPU, cpu, cpu, cpu-cpu/25, cpu-cpu/25, gate.Pass)...)
	rows = append(rows, both(expect.EphemeralStorage, 20*gi, 20959212*ki, 18242267924, 18242267924-11<<20, gate.Pass)...)
	return append(rows, both(expect.Pods, pods, pods, pods, pods, gate.Pass)...)
}

func judged(name, pool, instanceType, arch, family string, rows []*gate.Row) gate.Node {
	n := gate.Node{
		Cluster: "prod", Name: name, State: gate.Judged, NodePool: pool, NodeClass: pool, InstanceType: instanceType,
		Arch: arch, Zone: "eu-west-1a", AMIFamily: family, OSImage: family + " 2026.08.01", KarpenterVersion: "1.14.1", Claim: pool + "-x7k2p", Rows: rows,
	}
	for i := range rows {
		n.Severity = max(n.Severity, rows[i].Severity, rows[i].ClaimSeverity)
	}
	return n
}

func unjudgedNode(name, instanceType string, state gate.State, severity gate.Severity, reason string) gate.Node {
	n := gate.Node{Cluster: "prod", Name: name, State: state, Severity: severity, Reason: reason, InstanceType: instanceType, Arch: "amd64", KarpenterVersion: "1.14.1"}
	status := compare.Skipped
	if state == gate.Unknown {
		status = compare.Unknown
	}
	if state != gate.Foreign {
		n.NodePool, n.NodeClass, n.AMIFamily = "default", "default", "AL2023"
	}
	for _, a := range []struct {
		resource string
		value    int64
	}{{expect.Memory, 7889152 * ki}, {expect.CPU, 2000}, {expect.EphemeralStorage, 20959212 * ki}, {expect.Pods, 29}} {
		for _, field := range []compare.Field{compare.Capacity, compare.Allocatable} {
			n.Rows = append(n.Rows, &gate.Row{Row: compare.Row{Resource: a.resource, Field: field, Status: status, Actual: known(a.value)}})
		}
	}
	return n
}

// exampleRun has every state, status and severity: the figures of c7a.large, m5.16xlarge and trn1.32xlarge are public
// field reports.
func exampleRun(t testing.TB) *gate.Run {
	gap := func(part int64) compare.Cause {
		return compare.Cause{ID: "percentage-too-small", Part: part, Evidence: "the hypervisor keeps 7.57% of 4096Mi, and 7.5% is assumed", Remedy: "set VM_MEMORY_OVERHEAD_PERCENT to 0.0757"}
	}
	hidden := func(part int64) compare.Cause {
		return compare.Cause{ID: "percentage-too-large", Part: part, Evidence: "the hypervisor keeps 3.65% of 262144Mi, and 7.5% is assumed", Remedy: "no flat percentage fits both small and large types: see recommend"}
	}
	small := both(expect.Memory, 3788*mi, 3708*mi+904*ki, 3114*mi, 3186284*ki, gate.Fail, gap(3186284*ki-3114*mi))
	fits := both(expect.Memory, 7577*mi, 7889152*ki, 6903*mi, 7199000*ki, gate.Pass)
	big := func(actual int64) []*gate.Row {
		return both(expect.Memory, 242483*mi, actual, 234021*mi, actual-8462*mi, gate.Warn, hidden(actual-8462*mi-234021*mi))
	}
	claimed := both(expect.Memory, 242483*mi, 258340508*ki, 234021*mi, 258340508*ki-8462*mi, gate.Warn, hidden(258340508*ki-8462*mi-234021*mi))
	claimed[0].Claim, claimed[1].Claim = known(261093020*ki), known(261093020*ki-8462*mi)
	claimed[1].ClaimSeverity = gate.Fail
	gpu := []*gate.Row{
		{Row: compare.Row{Resource: expect.NvidiaGPU, Field: compare.Capacity, Status: compare.Missing, Expected: known(1)}, Severity: gate.Info},
		{Row: compare.Row{Resource: expect.NvidiaGPU, Field: compare.Allocatable, Status: compare.Missing, Expected: known(1), Causes: nil}, Severity: gate.Fail},
	}
	notGated := []*gate.Row{{Row: compare.Row{Resource: expect.EFA, Field: compare.Allocatable, Status: compare.Missing, Expected: known(1), Reason: "not gated: neither the claim nor the NodeClass asks for EFA, so Karpenter attached none on purpose"}, Severity: gate.Info}}
	huge := []*gate.Row{{Row: compare.Row{Resource: "hugepages-2Mi", Field: compare.Allocatable, Status: compare.Unexpected, Actual: known(2 * gi)}, Severity: gate.Info}}
	allowed := both(expect.Memory, 3788*mi, 3708*mi, 3114*mi, 3034*mi, gate.Info, gap(-80*mi))
	allowed[1].Allowed = "known until the AMI of October"
	nodes := []gate.Node{
		judged("ip-10-0-1-7.eu-west-1.compute.internal", "default", "c7a.large", "amd64", "AL2023", ordinary(small, 2000, 29)),
		judged("ip-10-0-1-8.eu-west-1.compute.internal", "default", "c7a.large", "amd64", "AL2023", ordinary(small, 2000, 29)),
		judged("ip-10-0-1-9.eu-west-1.compute.internal", "default", "c7a.large", "amd64", "AL2023", ordinary(allowed, 2000, 29)),
		judged("ip-10-0-2-1.eu-west-1.compute.internal", "default", "m5.large", "amd64", "AL2023", ordinary(fits, 2000, 29)),
		judged("ip-10-0-2-2.eu-west-1.compute.internal", "default", "m5.large", "amd64", "AL2023", append(ordinary(fits, 2000, 29), huge...)),
		judged("ip-10-0-3-1.eu-west-1.compute.internal", "batch", "m5.16xlarge", "amd64", "Bottlerocket", ordinary(big(261093020*ki), 64000, 737)),
		judged("ip-10-0-3-2.eu-west-1.compute.internal", "batch", "m5.16xlarge", "amd64", "Bottlerocket", ordinary(claimed, 64000, 737)),
		judged("ip-10-0-4-1.eu-west-1.compute.internal", "gpu", "g5.xlarge", "amd64", "AL2023", append(append(ordinary(both(expect.Memory, 15155*mi, 15155*mi, 14162*mi, 14162*mi, gate.Pass), 4000, 58), gpu...), notGated...)),
		judged("ip-10-0-5-1.eu-west-1.compute.internal", "arm", "m6g.large", "arm64", "AL2023", ordinary(both(expect.Memory, 7518*mi, 7759*mi, 6844*mi, 7085*mi, gate.Pass), 2000, 29)),
		unjudgedNode("ip-10-0-6-1.eu-west-1.compute.internal", "x9.large", gate.Unknown, gate.Warn, `instance type "x9.large" is not known to the source of instance types (file): use --instance-types with a newer describe-instance-types file, or ec2`),
		unjudgedNode("ip-10-0-6-2.eu-west-1.compute.internal", "m5.large", gate.Skipped, gate.Pass, "not ready: condition Ready is False"),
		unjudgedNode("ip-10-0-6-3.eu-west-1.compute.internal", "c5.large", gate.Foreign, gate.Pass, "EKS Auto Mode: its NodeClass is another kind, run by AWS"),
	}
	nodes[6].ClaimState = gate.Discovered
	nodes[0].Drifted = true
	clusters := []gate.Cluster{{
		Name: "prod", Digest: "sha256:0b1f5c", Karpenter: "1.14.1", KarpenterFrom: "image of Deployment kube-system/karpenter",
		OverheadPercent: 0.075, OverheadPercentFrom: "Karpenter's default: the controller sets none",
		ReservedENIs: 0, ReservedENIsFrom: "assumed: Karpenter's default", InstanceTypesFrom: "file",
		Assumptions: []gate.Assumption{{Text: "no NodeOverlay could be read: list nodeoverlays.karpenter.sh is forbidden"}, {Text: "no NodeClaim found", Nodes: 2}},
	}}
	policy := gate.DefaultPolicy()
	policy.Unknown = gate.Warn
	return concluded(t, policy, clusters, nodes)
}

// cleanRun passes with nothing to say but the file system's share.
func cleanRun(t testing.TB) *gate.Run {
	memory := both(expect.Memory, 7577*mi, 7577*mi, 6903*mi, 6903*mi, gate.Pass)
	return concluded(t, gate.DefaultPolicy(), exampleRun(t).Clusters[:1], []gate.Node{
		judged("a", "default", "m5.large", "amd64", "AL2023", ordinary(memory, 2000, 29)),
		judged("b", "default", "m5.large", "amd64", "AL2023", ordinary(memory, 2000, 29)),
	})
}

// emptyRun has no Karpenter node and is inconclusive.
func emptyRun(t testing.TB) *gate.Run {
	return concluded(t, gate.DefaultPolicy(), exampleRun(t).Clusters[:1], []gate.Node{unjudgedNode("a", "m5.large", gate.Foreign, gate.Pass, "not Karpenter's")})
}

// largeRun has n nodes of 24 types in four pools, some of which fail; the same n gives the same run.
func largeRun(t testing.TB, n int) *gate.Run {
	r := rand.New(rand.NewPCG(1, 2))
	var nodes []gate.Node
	for i := range n {
		size := i % 8
		family := []string{"c7a", "m5", "r6i"}[i/8%3]
		name := []string{"large", "xlarge", "2xlarge", "4xlarge", "8xlarge", "12xlarge", "16xlarge", "24xlarge"}[size]
		ec2 := int64([]int{4, 8, 16}[i/8%3]) * gi * int64([]int{1, 2, 4, 8, 16, 24, 32, 48}[size])
		expected := ec2 - ec2*75/1000
		actual := ec2 - ec2*(28+r.Int64N(30))/1000 - 100*mi + r.Int64N(3)*4*ki
		reserve := 400*mi + ec2/64
		severity := gate.Pass
		var causes []compare.Cause
		switch d := actual - expected; {
		case d < -64*ki:
			severity = gate.Fail
			causes = []compare.Cause{{ID: "percentage-too-small", Part: d, Evidence: fmt.Sprintf("the hypervisor keeps %d MiB", (ec2-actual)/mi), Remedy: "raise VM_MEMORY_OVERHEAD_PERCENT"}}
		case d*100 > 5*expected || d > 4*gi:
			severity = gate.Warn
			causes = []compare.Cause{{ID: "percentage-too-large", Part: d, Evidence: fmt.Sprintf("the hypervisor keeps %d MiB", (ec2-actual)/mi), Remedy: "see recommend"}}
		}
		node := judged(fmt.Sprintf("ip-10-%d-%d-%d.eu-west-1.compute.internal", i>>16, i>>8&255, i&255), []string{"default", "batch", "web", "gpu"}[i%4], family+"."+name, "amd64", "AL2023",
			ordinary(both(expect.Memory, expected, actual, expected-reserve, actual-reserve, severity, causes...), int64(2000*(size+1)), 58))
		nodes = append(nodes, node)
	}
	return concluded(t, gate.DefaultPolicy(), exampleRun(t).Clusters[:1], nodes)
}

// hostile are names that a cluster can hold, or a dump can be made to.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `]]>`, "nul\x00byte", "\x1b[31mred\x1b[0m", "😀 party", `=cmd()|' /C calc'!A0`,
	"+1", "-1", "@SUM(A1)", "\ttab", "\rreturn", "line\nbreak", "`code` | pipe", "%0A::error::x", "\u202egnp.exe", "bad\xffutf8", "${{ github.token }}",
	"[link](javascript:alert(1))", "EOF\nEOF", "</style>", "--><!--", "\u2028separator", "@octocat #1 https://example.com",
}

// hostileRun puts a hostile text into every text of a run.
func hostileRun(t testing.TB) *gate.Run {
	texts := hostile
	long := make([]byte, 5000)
	for i := range long {
		long[i] = 'a' + byte(i%26)
	}
	texts = append(append([]string{}, texts...), string(long))
	clusters := exampleRun(t).Clusters
	var nodes []gate.Node
	for i, h := range texts {
		cause := compare.Cause{ID: h, Part: -80 * mi, Evidence: h, Remedy: h}
		memory := both(expect.Memory, 3788*mi, 3708*mi, 3114*mi, 3034*mi, gate.Fail, cause)
		n := judged(h, h, h, h, h, ordinary(memory, 2000, 29))
		n.Zone, n.OSImage, n.KarpenterVersion, n.Claim = h, h, h, h
		n.Rows = append(n.Rows,
			&gate.Row{Row: compare.Row{Resource: h, Field: compare.Allocatable, Status: compare.Unknown, Reason: h}},
			&gate.Row{Row: compare.Row{Resource: h, Field: compare.Capacity, Status: compare.UnderEstimate, Expected: known(1), Actual: known(2)}, Severity: gate.Info, Allowed: h})
		u := unjudgedNode(fmt.Sprintf("%s%d", h, i), h, gate.Unknown, gate.Warn, h)
		f := unjudgedNode(fmt.Sprintf("%s%d-", h, i), h, gate.Foreign, gate.Pass, h)
		for _, node := range []*gate.Node{&n, &u, &f} {
			node.Cluster = h
			nodes = append(nodes, *node)
		}
		c := clusters[0]
		c.Name, c.Digest, c.Karpenter, c.KarpenterFrom, c.OverheadPercentFrom, c.ReservedENIsFrom, c.InstanceTypesFrom = h, h, h, h, h, h, h
		c.Assumptions = []gate.Assumption{{Text: h}}
		c.Ignored = []snapshot.KindCount{{Kind: h, Count: 1}}
		clusters = append(clusters, c)
	}
	return concluded(t, gate.DefaultPolicy(), clusters, nodes)
}

// shuffled is the same run from inputs in another order.
func shuffled(t testing.TB, run *gate.Run, policy gate.Policy) *gate.Run {
	r := rand.New(rand.NewPCG(3, 4))
	clusters, nodes := append([]gate.Cluster{}, run.Clusters...), append([]gate.Node{}, run.Nodes...)
	r.Shuffle(len(clusters), func(i, j int) { clusters[i], clusters[j] = clusters[j], clusters[i] })
	r.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	return concluded(t, policy, clusters, nodes)
}
