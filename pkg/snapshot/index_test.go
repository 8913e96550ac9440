package snapshot

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func maxPods(n string) *Kubelet { return &Kubelet{MaxPods: jsontext.Value(n)} }

// Which object's kubelet settings count, by release and by the API generation of the objects. The figures are maxPods:
// 1 the class's, 2 the pool's, 3 the claim's copy, 4 the pool's annotation, 5 the claim's.
func TestIndexKubelet(t *testing.T) {
	type release struct{ class, compat bool }
	v037, v10, v11 := release{false, false}, release{true, true}, release{true, false}
	classV1 := &NodeClass{Name: "c", Kind: KindEC2NodeClass, APIVersion: "karpenter.k8s.aws/v1", Kubelet: maxPods("1")}
	classBeta := &NodeClass{Name: "c", Kind: KindEC2NodeClass, APIVersion: "karpenter.k8s.aws/v1beta1"}
	poolV1 := &NodePool{Name: "p", Kind: KindNodePool, APIVersion: "karpenter.sh/v1"}
	poolCompat := &NodePool{Name: "p", Kind: KindNodePool, APIVersion: "karpenter.sh/v1", CompatKubelet: maxPods("4")}
	poolBeta := &NodePool{Name: "p", Kind: KindNodePool, APIVersion: "karpenter.sh/v1beta1", Kubelet: maxPods("2")}
	claimV1 := &NodeClaim{Name: "n", Kind: KindNodeClaim, APIVersion: "karpenter.sh/v1"}
	claimCompat := &NodeClaim{Name: "n", Kind: KindNodeClaim, APIVersion: "karpenter.sh/v1", CompatKubelet: maxPods("5")}
	claimBeta := &NodeClaim{Name: "n", Kind: KindNodeClaim, APIVersion: "karpenter.sh/v1beta1", Kubelet: maxPods("3")}
	claimBare := &NodeClaim{Name: "n", Kind: KindNodeClaim, APIVersion: "karpenter.sh/v1beta1"}
	for _, row := range []struct {
		reason  string
		release release
		class   *NodeClass
		pool    *NodePool
		claim   *NodeClaim
		want    string
	}{
		{"v1beta1: the copy on the claim is preferred to the pool, which may have been edited", v037, classBeta, poolBeta, claimBeta, "3"},
		{"v1beta1: a claim without settings was launched without", v037, classBeta, poolBeta, claimBare, ""},
		{"v1beta1: without a claim the pool tells", v037, classBeta, poolBeta, nil, "2"},
		{"v0.27: no Machine objects exist", v037, nil, poolBeta, nil, "2"},
		{"v1.0: the claim's annotation wins over the class", v10, classV1, poolCompat, claimCompat, "5"},
		{"v1.0: a claim without it was launched with the class's, whatever the pool says now", v10, classV1, poolCompat, claimV1, "1"},
		{"v1.0: without a claim the pool's annotation tells", v10, classV1, poolCompat, nil, "4"},
		{"v1.0: a claim read through v1beta1 shows the annotation as its spec", v10, classV1, poolV1, claimBeta, "3"},
		{"v1.1: annotations are inert", v11, classV1, poolCompat, claimCompat, "1"},
		{"v1.1: the class alone counts", v11, classV1, poolV1, claimV1, "1"},
		{"v1.1: nothing is known without the class", v11, nil, poolV1, claimV1, ""},
		{"an upgrade judged in advance: v1beta1 settings count until they are moved", v11, classBeta, poolBeta, claimBeta, "3"},
		{"the same without a claim", v11, classBeta, poolBeta, nil, "2"},
		{"a v1 cluster judged by an older release keeps its classes' settings", v037, classV1, poolV1, claimV1, "1"},
	} {
		s := &Snapshot{Nodes: []Node{{Name: "node", Labels: Labels{{LabelNodePool, "p"}}}}}
		n := &s.Nodes[0]
		if row.class != nil {
			s.NodeClasses, n.Join.Class = []NodeClass{*row.class}, row.class.Key()
		}
		if row.pool != nil {
			s.NodePools, n.Join.Pool = []NodePool{*row.pool}, row.pool.Name
		}
		if row.claim != nil {
			s.NodeClaims, n.Join.Claim = []NodeClaim{*row.claim}, row.claim.Name
		}
		got := ""
		if k := NewIndex(s).Kubelet(n, row.release.class, row.release.compat); k != nil {
			got = string(k.MaxPods)
		}
		if got != row.want {
			t.Errorf("%s: settings of %q, want %q", row.reason, got, row.want)
		}
	}
}

// v0.32 serves two generations: a Provisioner and a NodePool, or a Machine and a NodeClaim, may share a name.
func TestIndexSharedNames(t *testing.T) {
	s := &Snapshot{
		NodePools:  []NodePool{{Name: "default", Kind: KindNodePool}, {Name: "default", Kind: KindProvisioner}},
		NodeClaims: []NodeClaim{{Name: "default-a", Kind: KindMachine}, {Name: "default-a", Kind: KindNodeClaim}},
	}
	x := NewIndex(s)
	join := Join{Claim: "default-a", Pool: "default"}
	old := &Node{Name: "old", Labels: Labels{{LabelProvisioner, "default"}}, Join: join}
	young := &Node{Name: "young", Labels: Labels{{LabelNodePool, "default"}}, Join: join}
	if p := x.Pool(old); p == nil || p.Kind != KindProvisioner {
		t.Errorf("the pool of a v1alpha5 node is %v", p)
	}
	if p := x.Pool(young); p == nil || p.Kind != KindNodePool {
		t.Errorf("the pool of a v1beta1 node is %v", p)
	}
	if c := x.Claim(old); c == nil || c.Kind != KindMachine {
		t.Errorf("the claim of a v1alpha5 node is %v", c)
	}
	if c := x.Claim(young); c == nil || c.Kind != KindNodeClaim {
		t.Errorf("the claim of a v1beta1 node is %v", c)
	}
	foreign := &Node{Name: "foreign"}
	if x.Claim(foreign) != nil || x.Pool(foreign) != nil || x.Class(foreign) != nil || x.Type("m5.large") != nil {
		t.Error("a node without a Join has objects")
	}
}

func TestKubeletKey(t *testing.T) {
	a := &Kubelet{MaxPods: jsontext.Value("110"), KubeReserved: Labels{{"cpu", "1"}}}
	b := &Kubelet{MaxPods: jsontext.Value("110"), KubeReserved: Labels{{"cpu", "1"}}}
	if a.Key() != b.Key() {
		t.Error("equal settings have different keys")
	}
	for _, other := range []*Kubelet{
		nil, {}, {MaxPods: jsontext.Value("110")}, {PodsPerCore: jsontext.Value("110"), KubeReserved: a.KubeReserved},
		{MaxPods: a.MaxPods, SystemReserved: a.KubeReserved}, {MaxPods: a.MaxPods, KubeReserved: a.KubeReserved, Problem: "x"},
		{MaxPods: a.MaxPods, KubeReserved: Labels{{`cpu""1`, ""}}},
	} {
		if other.Key() == a.Key() {
			t.Errorf("%+v has the key of other settings", other)
		}
	}
}
