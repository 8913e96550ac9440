package collect

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// Each state of the chain node → claim → pool → class (model §5.5): what is found, and in what words it is said that
// something is not.
func TestJoin(t *testing.T) {
	const id = "aws:///a/i-1"
	classRef := snapshot.ClassRef{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "c"}
	hash := func(v string) snapshot.Hash { return snapshot.Hash{Value: v, Version: "v4"} }
	node := func(change func(*snapshot.Node), labels ...string) snapshot.Node {
		n := snapshot.Node{Name: "node-1", ProviderID: id}
		m := map[string]string{}
		for i := 0; i < len(labels); i += 2 {
			m[labels[i]] = labels[i+1]
		}
		n.Labels = snapshot.LabelsOf(m)
		if change != nil {
			change(&n)
		}
		return n
	}
	claim := func(name string, change func(*snapshot.NodeClaim)) snapshot.NodeClaim {
		c := snapshot.NodeClaim{Name: name, Kind: "NodeClaim", APIVersion: "karpenter.sh/v1", ProviderID: id, NodeName: "node-1", Pool: "p", ClassRef: classRef, ClassHash: hash("1")}
		if change != nil {
			change(&c)
		}
		return c
	}
	class := snapshot.NodeClass{Name: "c", Kind: "EC2NodeClass", APIVersion: "karpenter.k8s.aws/v1", Hash: hash("1")}
	pool := snapshot.NodePool{Name: "p", Kind: "NodePool", APIVersion: "karpenter.sh/v1", ClassRef: classRef}
	pooled := []string{snapshot.LabelNodePool, "p"}
	const assumed = ": its family is read off the OS image, default disks and no kubelet settings are assumed"
	const noClaim = "no NodeClaim or Machine found: what Karpenter believed at launch is not compared"
	for _, row := range []struct {
		reason  string
		node    snapshot.Node
		claims  []snapshot.NodeClaim
		pools   []snapshot.NodePool
		classes []snapshot.NodeClass
		want    snapshot.Join
	}{
		{"all there, by provider ID", node(nil, pooled...), []snapshot.NodeClaim{claim("n", nil)}, []snapshot.NodePool{pool}, []snapshot.NodeClass{class},
			snapshot.Join{Claim: "n", Pool: "p", Class: "EC2NodeClass/c", ClassName: "c"}},
		{"by owner where the claim has no provider ID yet", node(func(n *snapshot.Node) { n.Owner = "n" }, pooled...),
			[]snapshot.NodeClaim{claim("n", func(c *snapshot.NodeClaim) { c.ProviderID, c.NodeName = "", "" })}, nil, []snapshot.NodeClass{class},
			snapshot.Join{Claim: "n", Pool: "p", Class: "EC2NodeClass/c", ClassName: "c"}},
		{"by the claim's node name", node(func(n *snapshot.Node) { n.ProviderID = "" }, pooled...), []snapshot.NodeClaim{claim("n", nil)}, nil, []snapshot.NodeClass{class},
			snapshot.Join{Claim: "n", Pool: "p", Class: "EC2NodeClass/c", ClassName: "c"}},
		{"provider ID beats owner and node name", node(func(n *snapshot.Node) { n.Owner = "other" }, pooled...),
			[]snapshot.NodeClaim{claim("n", func(c *snapshot.NodeClaim) { c.NodeName = "node-9" }), claim("other", func(c *snapshot.NodeClaim) { c.ProviderID = "" })}, nil, []snapshot.NodeClass{class},
			snapshot.Join{Claim: "n", Pool: "p", Class: "EC2NodeClass/c", ClassName: "c"}},
		{"an empty provider ID matches nothing", node(func(n *snapshot.Node) { n.ProviderID, n.Name = "", "node-2" }, pooled...),
			[]snapshot.NodeClaim{claim("n", func(c *snapshot.NodeClaim) { c.ProviderID = "" })}, []snapshot.NodePool{pool}, []snapshot.NodeClass{class},
			snapshot.Join{Pool: "p", Class: "EC2NodeClass/c", ClassName: "c", Notes: []string{noClaim}}},
		{"two claims with one provider ID", node(nil, pooled...), []snapshot.NodeClaim{claim("a", nil), claim("b", nil)}, nil, []snapshot.NodeClass{class},
			snapshot.Join{Unknown: "2 claims have the provider ID aws:///a/i-1: NodeClaim a and NodeClaim b (Karpenter itself stops on this; delete the one without an instance)"}},
		{"the owner is another instance's claim", node(func(n *snapshot.Node) { n.Owner = "n" }, pooled...),
			[]snapshot.NodeClaim{claim("n", func(c *snapshot.NodeClaim) { c.ProviderID = "aws:///a/i-2" })}, []snapshot.NodePool{pool}, []snapshot.NodeClass{class},
			snapshot.Join{Pool: "p", Class: "EC2NodeClass/c", ClassName: "c", Notes: []string{`NodeClaim "n" owns the node but belongs to another instance: the node is judged without it`}}},
		{"no claim: class by node label (v1.1 and later)", node(nil, snapshot.LabelNodePool, "p", snapshot.LabelNodeClass, "c"), nil, nil, []snapshot.NodeClass{class},
			snapshot.Join{Pool: "p", Class: "EC2NodeClass/c", ClassName: "c", Notes: []string{noClaim}}},
		{"no claim, no label: class by pool", node(nil, pooled...), nil, []snapshot.NodePool{pool}, []snapshot.NodeClass{class},
			snapshot.Join{Pool: "p", Class: "EC2NodeClass/c", ClassName: "c", Notes: []string{noClaim}}},
		{"nodes alone, v1.1", node(nil, snapshot.LabelNodePool, "p", snapshot.LabelNodeClass, "c"), nil, nil, nil,
			snapshot.Join{Pool: "p", ClassName: "c", Notes: []string{noClaim, `EC2NodeClass "c" is not in the input` + assumed}}},
		{"nodes alone, v1.0 and older", node(nil, pooled...), nil, nil, nil,
			snapshot.Join{Pool: "p", Notes: []string{noClaim, `NodePool "p" is not in the input, so the NodeClass is not known` + assumed}}},
		{"nodes alone, v1alpha5", node(nil, snapshot.LabelProvisioner, "p"), nil, nil, nil,
			snapshot.Join{Pool: "p", Notes: []string{noClaim, `Provisioner "p" is not in the input, so the NodeClass is not known` + assumed}}},
		{"missing class", node(nil, pooled...), []snapshot.NodeClaim{claim("n", nil)}, []snapshot.NodePool{pool}, nil,
			snapshot.Join{Claim: "n", Pool: "p", ClassName: "c", Notes: []string{`EC2NodeClass "c" is not in the input` + assumed}}},
		{"standalone claim", node(func(n *snapshot.Node) { n.Owner = "n" }), []snapshot.NodeClaim{claim("n", func(c *snapshot.NodeClaim) { c.Pool = "" })}, nil, []snapshot.NodeClass{class},
			snapshot.Join{Claim: "n", Class: "EC2NodeClass/c", ClassName: "c", Notes: []string{`NodeClaim "n" stands alone: it belongs to no NodePool`}}},
		{"a claim without a class", node(nil, pooled...), []snapshot.NodeClaim{claim("n", func(c *snapshot.NodeClaim) { c.ClassRef = snapshot.ClassRef{} })}, []snapshot.NodePool{{Name: "p", Kind: "NodePool"}}, nil,
			snapshot.Join{Claim: "n", Pool: "p", Notes: []string{"the NodeClass is not known" + assumed}}},
		{"class edited after launch", node(nil, pooled...), []snapshot.NodeClaim{claim("n", func(c *snapshot.NodeClaim) { c.ClassHash = hash("2") })}, nil, []snapshot.NodeClass{class},
			snapshot.Join{Claim: "n", Pool: "p", Class: "EC2NodeClass/c", ClassName: "c", Drifted: true}},
		{"hashes of two hash versions do not compare", node(nil, pooled...), []snapshot.NodeClaim{claim("n", func(c *snapshot.NodeClaim) { c.ClassHash = snapshot.Hash{Value: "2", Version: "v3"} })}, nil, []snapshot.NodeClass{class},
			snapshot.Join{Claim: "n", Pool: "p", Class: "EC2NodeClass/c", ClassName: "c"}},
		{"no hash on the claim", node(nil, pooled...), []snapshot.NodeClaim{claim("n", func(c *snapshot.NodeClaim) { c.ClassHash = snapshot.Hash{} })}, nil, []snapshot.NodeClass{class},
			snapshot.Join{Claim: "n", Pool: "p", Class: "EC2NodeClass/c", ClassName: "c"}},
		{"class edited after launch, told by the node without its claim", node(func(n *snapshot.Node) { n.ClassHash = hash("2") }, snapshot.LabelNodePool, "p", snapshot.LabelNodeClass, "c"), nil, nil, []snapshot.NodeClass{class},
			snapshot.Join{Pool: "p", Class: "EC2NodeClass/c", ClassName: "c", Drifted: true, Notes: []string{noClaim}}},
		{"Machine with its template", node(nil, snapshot.LabelProvisioner, "p"),
			[]snapshot.NodeClaim{{Name: "m", Kind: "Machine", ProviderID: id, Pool: "p", ClassRef: snapshot.ClassRef{Kind: "AWSNodeTemplate", Name: "t"}}},
			nil, []snapshot.NodeClass{{Name: "t", Kind: "AWSNodeTemplate"}, {Name: "t", Kind: "EC2NodeClass"}},
			snapshot.Join{Claim: "m", Pool: "p", Class: "AWSNodeTemplate/t", ClassName: "t"}},
		{"v0.27 has no Machine: the Provisioner's template", node(nil, snapshot.LabelProvisioner, "p"), nil,
			[]snapshot.NodePool{{Name: "p", Kind: "NodePool"}, {Name: "p", Kind: "Provisioner", ClassRef: snapshot.ClassRef{Kind: "AWSNodeTemplate", Name: "t"}}}, []snapshot.NodeClass{{Name: "t", Kind: "AWSNodeTemplate"}},
			snapshot.Join{Pool: "p", Class: "AWSNodeTemplate/t", ClassName: "t", Notes: []string{noClaim}}},
		{"an inline provider is a class by itself", node(nil, snapshot.LabelProvisioner, "p"), nil,
			[]snapshot.NodePool{{Name: "p", Kind: "Provisioner", ClassRef: snapshot.ClassRef{Kind: "Provisioner", Name: "p"}}}, []snapshot.NodeClass{{Name: "p", Kind: "Provisioner"}},
			snapshot.Join{Pool: "p", Class: "Provisioner/p", ClassName: "p", Notes: []string{noClaim}}},
		{"EKS Auto Mode by class label", node(func(n *snapshot.Node) { n.Owner = "n" }, snapshot.LabelNodePool, "p", snapshot.LabelAutoModeClass, "default"), []snapshot.NodeClaim{claim("n", nil)}, nil, nil, snapshot.Join{}},
		{"EKS Auto Mode by compute type", node(nil, snapshot.LabelNodePool, "p", snapshot.LabelComputeType, "auto"), nil, nil, nil, snapshot.Join{}},
		{"not Karpenter's", node(func(n *snapshot.Node) { n.ProviderID = "aws:///a/i-9"; n.Name = "node-9" }, "eks.amazonaws.com/nodegroup", "ng"), []snapshot.NodeClaim{claim("n", nil)}, nil, nil, snapshot.Join{}},
	} {
		s := &snapshot.Snapshot{Nodes: []snapshot.Node{row.node}, NodeClaims: row.claims, NodePools: row.pools, NodeClasses: row.classes}
		s.Sort()
		Join(s)
		if diff := cmp.Diff(row.want, s.Nodes[0].Join); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.reason, diff)
		}
		Join(s) // a second time changes nothing
		if diff := cmp.Diff(row.want, s.Nodes[0].Join); diff != "" {
			t.Errorf("%s, joined twice (-want +got):\n%s", row.reason, diff)
		}
		// What was joined is found again.
		x, n := snapshot.NewIndex(s), &s.Nodes[0]
		if c := x.Claim(n); (c != nil) != (row.want.Claim != "") {
			t.Errorf("%s: the index finds claim %v", row.reason, c)
		}
		if c := x.Class(n); (c != nil) != (row.want.Class != "") {
			t.Errorf("%s: the index finds class %v", row.reason, c)
		}
	}
}

// Nodes of one fleet say the same in the same words: a reader sees each assumption once.
func TestJoinNotesFold(t *testing.T) {
	s := readText(t, nodeJSON("a")+strings.Replace(nodeJSON("b"), "default-x7k2p", "default-other", 1), Options{})
	if diff := cmp.Diff(s.Nodes[0].Join.Notes, s.Nodes[1].Join.Notes); diff != "" || len(s.Nodes[0].Join.Notes) != 2 {
		t.Errorf("%v (-a +b):\n%s", s.Nodes[0].Join.Notes, diff)
	}
}
