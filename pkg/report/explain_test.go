package report

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// explained is a snapshot of three nodes: one that keeps another reserve than Karpenter expects and was claimed with the
// memory of an earlier one, one of a type that nobody knows, and one of EKS Auto Mode.
func explained() *snapshot.Snapshot {
	list := func(pairs ...string) snapshot.ResourceList {
		m := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = pairs[i+1]
		}
		return snapshot.ParseResources(m)
	}
	family := "AL2"
	labels := func(instance string, more ...string) snapshot.Labels {
		m := map[string]string{snapshot.LabelNodePool: "default", snapshot.LabelInitialized: "true", snapshot.LabelInstanceType: instance}
		for i := 0; i < len(more); i += 2 {
			m[more[i]] = more[i+1]
		}
		return snapshot.LabelsOf(m)
	}
	return &snapshot.Snapshot{
		APIVersion: snapshot.APIVersion, Kind: snapshot.Kind, Cluster: "prod", InstanceTypesFrom: "file",
		Controller: snapshot.Controller{Version: snapshot.Setting{Value: "1.8.0", From: "image tag of Deployment kube-system/karpenter"}},
		InstanceTypes: []snapshot.InstanceType{{
			Name: "m6g.large", VCPUs: 2, MemoryMiB: 8192, Architectures: []string{"arm64"}, ENIs: 3, DefaultCardENIs: 3, IPv4PerENI: 10,
		}},
		NodeClasses: []snapshot.NodeClass{{
			Name: "default", Kind: snapshot.KindEC2NodeClass, APIVersion: "karpenter.k8s.aws/v1", AMIFamily: &family, Hash: snapshot.Hash{Value: "1", Version: "v4"},
			Kubelet: &snapshot.Kubelet{
				KubeReserved: snapshot.LabelsOf(map[string]string{"cpu": "0.0705"}),
				EvictionHard: snapshot.LabelsOf(map[string]string{"memory.available": "5%"}),
				EvictionSoft: snapshot.LabelsOf(map[string]string{"memory.available": "1Gi"}),
			},
		}},
		NodeClaims: []snapshot.NodeClaim{{
			Name: "default-x7k2p", Kind: snapshot.KindNodeClaim, APIVersion: "karpenter.sh/v1", ClassHash: snapshot.Hash{Value: "1", Version: "v4"},
			Capacity: list("memory", "8001660Ki"), Allocatable: list("memory", "6365308Ki"),
		}},
		Nodes: []snapshot.Node{
			{
				Name: "ip-10-0-1-7.eu-west-1.compute.internal", Ready: "True", OSImage: "Amazon Linux 2", Labels: labels("m6g.large"),
				Capacity:    list("cpu", "2", "memory", "7921660Ki", "pods", "29", "ephemeral-storage", "20959212Ki", "hugepages-2Mi", "512Mi"),
				Allocatable: list("cpu", "1929500u", "memory", "7169319930", "pods", "29", "ephemeral-storage", "20388491264"),
				Join:        snapshot.Join{Claim: "default-x7k2p", Pool: "default", Class: "EC2NodeClass/default", ClassName: "default"},
			},
			{Name: "unknown", Labels: labels("x9.large")},
			{Name: "auto", Labels: labels("m6g.large", snapshot.LabelComputeType, "auto")},
		},
	}
}

func TestExplain(t *testing.T) {
	for _, c := range []struct{ node, golden string }{
		{"ip-10-0-1-7.eu-west-1.compute.internal", "explain.txt"},
		{"unknown", "explain-unknown.txt"},
		{"auto", "explain-auto.txt"},
	} {
		x, err := gate.Explain([]*snapshot.Snapshot{explained()}, gate.Options{Policy: gate.DefaultPolicy()}, c.node)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := Explain(&b, x); err != nil {
			t.Fatal(err)
		}
		golden(t, c.golden, b.Bytes())
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
				t.Errorf("%s: a line of %d characters: %q", c.golden, n, line)
			}
		}
	}
}

func TestExplainNoSuchNode(t *testing.T) {
	one, two := explained(), explained()
	two.Cluster = "staging"
	for _, c := range []struct {
		name      string
		snapshots []*snapshot.Snapshot
		want      string
	}{
		{"nobody", []*snapshot.Snapshot{one}, `no node "nobody" among the 3 nodes of the input`},
		{"auto", []*snapshot.Snapshot{one, two}, `node "auto" is in the clusters "prod" and "staging"`},
	} {
		_, err := gate.Explain(c.snapshots, gate.Options{Policy: gate.DefaultPolicy()}, c.name)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, not %q", c.name, err, c.want)
		}
	}
}

func TestExplainWriteError(t *testing.T) {
	x, err := gate.Explain([]*snapshot.Snapshot{explained()}, gate.Options{Policy: gate.DefaultPolicy()}, "auto")
	if err != nil {
		t.Fatal(err)
	}
	if err := Explain(&failing{}, x); !errors.Is(err, errFull) {
		t.Errorf("a full disk is %v", err)
	}
}
