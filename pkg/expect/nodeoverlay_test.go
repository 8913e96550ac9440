package expect

import (
	"strings"
	"testing"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// capacityOf is an overlay with several resources, written "name=amount".
func capacityOf(name string, weight int64, pairs ...string) snapshot.NodeOverlay {
	set := map[string]string{}
	for _, p := range pairs {
		resource, amount, _ := strings.Cut(p, "=")
		set[resource] = amount
	}
	return snapshot.NodeOverlay{Name: name, Weight: weight, Capacity: snapshot.LabelsOf(set)}
}

func TestNodeOverlay(t *testing.T) {
	for _, row := range []struct {
		reason   string
		version  string
		overlays []snapshot.NodeOverlay
		want     []string
	}{
		{"a resource is added", "", []snapshot.NodeOverlay{capacityOf("a", 0, "smarter-devices/fuse=1")},
			[]string{"smarter-devices/fuse capacity=1", "smarter-devices/fuse allocatable=1", "memory allocatable=6903Mi"}},
		{"a GPU count is replaced", "", []snapshot.NodeOverlay{capacityOf("a", 0, "nvidia.com/gpu=40")},
			[]string{"nvidia.com/gpu capacity=40"}},
		{"the heaviest counts", "", []snapshot.NodeOverlay{capacityOf("light", 1, "x/y=1"), capacityOf("heavy", 10, "x/y=2")},
			[]string{"x/y capacity=2"}},
		{"before v1.9.0 the lightest did (core #2764)", "1.8.2", []snapshot.NodeOverlay{capacityOf("light", 1, "x/y=1"), capacityOf("heavy", 10, "x/y=2")},
			[]string{"x/y capacity=1"}},
		{"what only the lighter one sets is kept", "", []snapshot.NodeOverlay{capacityOf("light", 1, "x/y=1", "x/z=1"), capacityOf("heavy", 10, "x/y=2")},
			[]string{"x/y capacity=2", "x/z capacity=1"}},
		{"of equal weights the later name counts, and the other is refused as a whole", "", []snapshot.NodeOverlay{capacityOf("a", 1, "x/y=1", "x/z=1"), capacityOf("b", 1, "x/y=2")},
			[]string{"x/y capacity=2", "x/z capacity=absent"}},
		{"equal weights without a common resource are no conflict", "", []snapshot.NodeOverlay{capacityOf("a", 1, "x/z=1"), capacityOf("b", 1, "x/y=2")},
			[]string{"x/y capacity=2", "x/z capacity=1"}},
		{"a conflict is looked for with the one before alone, as upstream does", "", []snapshot.NodeOverlay{capacityOf("a", 1, "x/y=1", "x/z=1"), capacityOf("b", 1, "x/q=1"), capacityOf("c", 1, "x/y=2")},
			[]string{"x/y capacity=2", "x/z capacity=1", "x/q capacity=1"}},
		{"no weight is weight 0", "", []snapshot.NodeOverlay{capacityOf("a", 1, "x/y=1"), capacityOf("b", 0, "x/y=2")},
			[]string{"x/y capacity=1"}},
		{"one that sets a fixed resource is refused as a whole", "", []snapshot.NodeOverlay{capacityOf("a", 0, "memory=1Gi", "x/y=1")},
			[]string{"memory capacity=7577Mi", "x/y capacity=absent"}},
		{"efa is fixed too", "", []snapshot.NodeOverlay{capacityOf("a", 0, "vpc.amazonaws.com/efa=1")},
			[]string{"vpc.amazonaws.com/efa capacity=0"}},
		{"one without capacity, which sets a price, is no conflict", "", []snapshot.NodeOverlay{capacityOf("a", 1, "x/y=1"), {Name: "b", Weight: 1}},
			[]string{"x/y capacity=1"}},
		{"v1.6 has no overlays", "1.6.8", []snapshot.NodeOverlay{capacityOf("a", 0, "x/y=1")},
			[]string{"x/y capacity=absent"}},
		{"huge pages come off memory", "", []snapshot.NodeOverlay{capacityOf("a", 0, "hugepages-2Mi=1Gi", "hugepages-1Gi=2Gi")},
			[]string{"hugepages-2Mi capacity=1Gi", "hugepages-2Mi allocatable=1Gi", "memory huge-pages=3Gi", "memory allocatable=3831Mi", "memory capacity=7577Mi"}}, // 6903−3072
		{"down to 0", "", []snapshot.NodeOverlay{capacityOf("a", 0, "hugepages-1Gi=7Gi")},
			[]string{"memory huge-pages=7Gi", "memory allocatable=0"}}, // 6903−7168
		{"exactly 0 is no clamp", "", []snapshot.NodeOverlay{capacityOf("a", 0, "hugepages-2Mi=6903Mi")},
			[]string{"memory allocatable=0"}},
		{"no huge pages", "", []snapshot.NodeOverlay{capacityOf("a", 0, "hugepages-1Gi=0")},
			[]string{"memory allocatable=6903Mi"}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			checkFigures(t, given{version: row.version, settings: overlayGate, overlays: row.overlays}.expect(t, m5Large()), row.want...)
		})
	}
	off := given{overlays: []snapshot.NodeOverlay{capacityOf("a", 0, "hugepages-1Gi=1Gi", "x/y=1")}}
	checkFigures(t, off.expect(t, m5Large()), "x/y capacity=absent", "memory allocatable=6903Mi") // the gate is off by default
}

// TestHugePagesClamp: only the loop over huge pages clamps, and it says so.
func TestHugePagesClamp(t *testing.T) {
	pages := func(amount string) []snapshot.NodeOverlay {
		return []snapshot.NodeOverlay{capacityOf("a", 0, "hugepages-1Gi="+amount)}
	}
	for _, row := range []struct {
		reason   string
		given    given
		instance snapshot.InstanceType
		want     string
		clamped  bool
	}{
		{"a negative memory without huge pages stays", given{family: "Windows2022"}, t3Nano(), "-1092Mi", false},
		{"and is raised by none of them", given{family: "Windows2022", settings: overlayGate, overlays: pages("0")}, t3Nano(), "0", true},
		{"enough memory", given{settings: overlayGate, overlays: pages("1Gi")}, m5Large(), "5879Mi", false},
		{"too little", given{settings: overlayGate, overlays: pages("7Gi")}, m5Large(), "0", true},
		{"a byte too little", given{settings: overlayGate, overlays: pages("7238320129")}, m5Large(), "0", true}, // 6903Mi+1
		{"a fraction too little", given{settings: overlayGate, overlays: pages("6903Mi"), kubelet: `{"systemReserved":{"memory":"1n"}}`}, m5Large(), "0", true},
	} {
		r := row.given.expect(t, row.instance).Get(Memory)
		if got := snapshot.FormatQuantity(Memory, r.Allocatable.Value); got != row.want || r.Clamped != row.clamped {
			t.Errorf("%s: got %s, clamped %v; want %s, %v", row.reason, got, r.Clamped, row.want, row.clamped)
		}
	}
}

func TestNodeOverlayErrors(t *testing.T) {
	for _, row := range []struct{ reason, amount, want string }{
		{"no quantity", "many", `NodeOverlay "a": capacity x/y: "many" is not a quantity`},
		{"beyond 64 bits", "1e30", `NodeOverlay "a": capacity x/y: "1e30": the figures do not fit 64 bits`},
	} {
		g := given{settings: overlayGate, overlays: []snapshot.NodeOverlay{capacityOf("a", 0, "x/y="+row.amount)}}
		if got := g.failure(t, m5Large()); got != row.want {
			t.Errorf("%s: got %q, want %q", row.reason, got, row.want)
		}
	}
}

// requirements reads "key operator value,value; …".
func requirements(text string) (out []snapshot.Requirement) {
	if text == "" {
		return nil
	}
	for part := range strings.SplitSeq(text, "; ") {
		words := strings.Fields(part)
		r := snapshot.Requirement{Key: words[0], Operator: words[1]}
		if len(words) > 2 {
			r.Values = strings.Split(words[2], ",")
		}
		out = append(out, r)
	}
	return out
}

func TestOverlaysFor(t *testing.T) {
	labels := snapshot.LabelsOf(map[string]string{
		"node.kubernetes.io/instance-type": "m5.large",
		"kubernetes.io/arch":               "amd64",
		"karpenter.sh/nodepool":            "default",
		"karpenter.sh/capacity-type":       "spot",
		"topology.kubernetes.io/zone":      "us-west-2a",
		"karpenter.k8s.aws/instance-cpu":   "2",
		"team":                             "blue",
	})
	for _, row := range []struct {
		reason       string
		requirements string // "key operator values; …"
		want         string // "yes", "no", or the error
	}{
		{"none: every node", "", "yes"},
		{"In", "kubernetes.io/arch In arm64,amd64", "yes"},
		{"In, another value", "kubernetes.io/arch In arm64", "no"},
		{"In, no such label", "gpu In yes", "no"},
		{"NotIn", "kubernetes.io/arch NotIn arm64", "yes"},
		{"NotIn, the value", "kubernetes.io/arch NotIn amd64", "no"},
		{"NotIn, no such label", "gpu NotIn yes", "yes"},
		{"Exists", "team Exists", "yes"},
		{"Exists, no such label", "gpu Exists", "no"},
		{"DoesNotExist", "gpu DoesNotExist", "yes"},
		{"DoesNotExist, but it does", "team DoesNotExist", "no"},
		{"Gt", "karpenter.k8s.aws/instance-cpu Gt 1", "yes"},
		{"Gt, equal", "karpenter.k8s.aws/instance-cpu Gt 2", "no"},
		{"Lt", "karpenter.k8s.aws/instance-cpu Lt 3", "yes"},
		{"Lt, equal", "karpenter.k8s.aws/instance-cpu Lt 2", "no"},
		{"Gte, equal", "karpenter.k8s.aws/instance-cpu Gte 2", "yes"},
		{"Gte, below", "karpenter.k8s.aws/instance-cpu Gte 3", "no"},
		{"Lte, equal", "karpenter.k8s.aws/instance-cpu Lte 2", "yes"},
		{"Lte, above", "karpenter.k8s.aws/instance-cpu Lte 1", "no"},
		{"a bound of a label that is no integer", "team Gt 1", "no"},
		{"a bound of no label", "gpu Lt 1", "no"},
		{"all must match", "team Exists; kubernetes.io/arch In arm64", "no"},
		{"an older name of the label", "beta.kubernetes.io/arch In amd64", "yes"},
		{"the node's own offering", "karpenter.sh/capacity-type In spot; topology.kubernetes.io/zone NotIn us-west-2b", "yes"},
		{"another offering may match", "karpenter.sh/capacity-type In on-demand",
			`NodeOverlay "a": it does not match the node by karpenter.sh/capacity-type, but Karpenter applies it to the instance type as soon as another offering of it does, which the node cannot tell`},
		{"by an older name too", "failure-domain.beta.kubernetes.io/zone In us-west-2b",
			`NodeOverlay "a": it does not match the node by topology.kubernetes.io/zone, but Karpenter applies it to the instance type as soon as another offering of it does, which the node cannot tell`},
		{"not where the type does not match", "karpenter.sh/capacity-type In on-demand; kubernetes.io/arch In arm64", "no"},
		{"an unknown operator", "team Matches b*",
			`NodeOverlay "a": requirement team has the operator "Matches", which is none of In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte, Lte`},
		{"a bound of two values", "team Gt 1,2", `NodeOverlay "a": requirement team Gt has 2 values, not 1`},
		{"a bound that is no integer", "team Gt x", `NodeOverlay "a": requirement team Gt: "x" is not an integer of at least 0`},
		{"a negative bound", "team Lt -1", `NodeOverlay "a": requirement team Lt: "-1" is not an integer of at least 0`},
	} {
		got := "no"
		out, err := OverlaysFor([]snapshot.NodeOverlay{{Name: "a", Requirements: requirements(row.requirements)}}, labels)
		switch {
		case err != nil:
			got = err.Error()
		case len(out) == 1:
			got = "yes"
		}
		if got != row.want {
			t.Errorf("%s: got %q, want %q", row.reason, got, row.want)
		}
	}
}
