package snapshot

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// named is a snapshot in which every identity is a text that stands nowhere else.
func named() *Snapshot {
	size := "20Gi"
	s := &Snapshot{
		Cluster:    "arn:aws:eks:us-west-2:123456789012:cluster/acme",
		Controller: Controller{Version: Setting{"1.14.1", "image of 123456789012.dkr.ecr"}, Notes: []string{"role arn:aws:iam::123456789012:role/acme at 10.1.2.3"}},
		NodeClasses: []NodeClass{{
			Name: "acme-class", Kind: KindEC2NodeClass, AMIs: []string{"ami-acme"}, Problem: "user arn:aws:iam::123456789012:user/acme",
			BlockDeviceMappings: []BlockDeviceMapping{{EBS: &EBS{VolumeSize: &size, SnapshotID: "snap-acme"}}},
			Kubelet:             &Kubelet{Problem: "ip-10-1-2-3.ec2.internal"},
		}},
		NodePools:    []NodePool{{Name: "acme-pool", Kind: KindNodePool, ClassRef: ClassRef{Kind: KindEC2NodeClass, Name: "acme-class"}}},
		NodeOverlays: []NodeOverlay{{Name: "acme-overlay", Requirements: []Requirement{{Key: LabelNodePool, Operator: "In", Values: []string{"acme-pool"}}, {Key: LabelZone, Operator: "In", Values: []string{"us-west-2a"}}}}},
		NodeClaims: []NodeClaim{{
			Name: "acme-claim", Kind: KindNodeClaim, Pool: "acme-pool", NodeName: "ip-10-1-2-3.ec2.internal", ProviderID: "aws:///us-west-2a/i-acme",
			ImageID: "ami-acme", ClassRef: ClassRef{Kind: KindEC2NodeClass, Name: "acme-class"},
		}},
		Nodes: []Node{
			{
				Name: "ip-10-1-2-3.ec2.internal", ProviderID: "aws:///us-west-2a/i-acme", Owner: "acme-claim",
				Labels: LabelsOf(map[string]string{LabelNodePool: "acme-pool", LabelNodeClass: "acme-class", LabelZone: "us-west-2a", labelZoneID: "usw2-az1", LabelInstanceType: "m5.large"}),
				Join:   Join{Claim: "acme-claim", Notes: []string{`NodePool "acme-pool"`}},
			},
			{Name: "ip-10-1-2-4.ec2.internal", Labels: LabelsOf(map[string]string{labelNodeGroup: "acme-group"})},
		},
		Gaps: []Gap{{Kind: "ConfigMap", Reason: "of arn:aws:iam::123456789012:role/acme"}},
	}
	s.Sort()
	return s
}

func encoded(t *testing.T, s *Snapshot) string {
	t.Helper()
	var b bytes.Buffer
	if err := Encode(&b, s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestRedactLeavesNoIdentity(t *testing.T) {
	s := named()
	before := encoded(t, s)
	text := encoded(t, Redact(s))
	for _, identity := range []string{"acme", "123456789012", "10.1.2.3", "10-1-2-3", "10-1-2-4", "us-west-2a", "usw2-az1", "arn:"} {
		if strings.Contains(text, identity) {
			t.Errorf("%q is left in\n%s", identity, text)
		}
	}
	if after := encoded(t, s); after != before {
		t.Errorf("the original changed:\n%s", cmp.Diff(before, after))
	}
}

func TestRedactKeepsWhatRefersToEachOther(t *testing.T) {
	got := Redact(named())
	node, claim, pool, class := got.Nodes[0], got.NodeClaims[0], got.NodePools[0], got.NodeClasses[0]
	for _, row := range []struct{ what, a, b string }{
		{"the claim's node", claim.NodeName, node.Name},
		{"the node's owner", node.Owner, claim.Name},
		{"the instance", node.ProviderID, claim.ProviderID},
		{"the node's pool", node.Labels.Get(LabelNodePool), pool.Name},
		{"the claim's pool", claim.Pool, pool.Name},
		{"the node's class", node.Labels.Get(LabelNodeClass), class.Name},
		{"the pool's class", pool.ClassRef.Name, class.Name},
		{"the claim's class", claim.ClassRef.Name, class.Name},
		{"the claim's image", claim.ImageID, class.AMIs[0]},
		{"the overlay's pool", got.NodeOverlays[0].Requirements[0].Values[0], pool.Name},
		{"the overlay's zone", got.NodeOverlays[0].Requirements[1].Values[0], node.Labels.Get(LabelZone)},
	} {
		if row.a != row.b || row.a == "" {
			t.Errorf("%s: %q and %q", row.what, row.a, row.b)
		}
	}
	if got, want := node.InstanceType(), "m5.large"; got != want {
		t.Errorf("instance type %q, want %q", got, want)
	}
	if again := encoded(t, Redact(named())); again != encoded(t, got) {
		t.Error("the same snapshot was redacted in two ways")
	}
}

// Twelve nodes take two digits: with one, node-10 would sort before node-2.
func TestRedactKeepsTheOrder(t *testing.T) {
	s := &Snapshot{}
	for c := 'a'; c < 'a'+12; c++ {
		s.Nodes = append(s.Nodes, Node{Name: string(c), OSImage: string(c)})
	}
	got := Redact(s)
	got.Sort()
	for i, n := range got.Nodes {
		if n.OSImage != s.Nodes[i].OSImage {
			t.Errorf("node %d is now %s, was %s", i, n.OSImage, s.Nodes[i].OSImage)
		}
	}
	if got.Nodes[0].Name != "node-01" {
		t.Errorf("the first is %q, want node-01", got.Nodes[0].Name)
	}
}
