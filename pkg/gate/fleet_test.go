package gate

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// publicNodes is what kubelets of public nodes printed, and the facts of their types.
type publicNodes struct {
	Provenance string                  `json:"provenance"`
	Types      []snapshot.InstanceType `json:"types"`
	Nodes      []struct {
		Type        string                `json:"type"`
		Image       string                `json:"image"`
		Kubelet     string                `json:"kubelet"`
		Volume      string                `json:"volume"`
		Seen        int                   `json:"seen"`
		Capacity    snapshot.ResourceList `json:"capacity"`
		Allocatable snapshot.ResourceList `json:"allocatable"`
	} `json:"nodes"`
}

var parsePublicNodes = sync.OnceValues(func() (publicNodes, error) {
	data, err := os.ReadFile("../compare/testdata/public-nodes.json")
	if err != nil {
		return publicNodes{}, err
	}
	var out publicNodes
	return out, json.Unmarshal(data, &out, json.RejectUnknownMembers(true))
})

func readPublicNodes(t testing.TB) publicNodes {
	t.Helper()
	out, err := parsePublicNodes()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// fleet is a cluster under construction.
type fleet struct {
	t testing.TB
	*snapshot.Snapshot
}

// newFleet is a cluster of the release at the default overhead, with every type of the public nodes.
func newFleet(t testing.TB, version string) *fleet {
	t.Helper()
	found := func(value string) snapshot.Setting { return snapshot.Setting{Value: value, From: "the test"} }
	return &fleet{t, &snapshot.Snapshot{
		APIVersion: snapshot.APIVersion, Kind: snapshot.Kind, Cluster: "c",
		Controller:    snapshot.Controller{Version: found(version), VMMemoryOverheadPercent: found("0.075")},
		InstanceTypes: readPublicNodes(t).Types, InstanceTypesFrom: "file",
	}}
}

// class adds an EC2NodeClass of the family; device and size map one volume where they are given.
func (f *fleet) class(name, family string, deviceAndSize ...string) *snapshot.NodeClass {
	c := snapshot.NodeClass{Name: name, Kind: "EC2NodeClass", APIVersion: "karpenter.k8s.aws/v1", AMIFamily: &family, Hash: snapshot.Hash{Value: "1", Version: "v4"}}
	if len(deviceAndSize) == 2 {
		c.BlockDeviceMappings = []snapshot.BlockDeviceMapping{{DeviceName: &deviceAndSize[0], EBS: &snapshot.EBS{VolumeSize: &deviceAndSize[1]}}}
	}
	f.NodeClasses = append(f.NodeClasses, c)
	return &f.NodeClasses[len(f.NodeClasses)-1]
}

// node adds an initialized node of the class, and returns it for changes.
func (f *fleet) node(class, instance string, capacity, allocatable map[string]string) *snapshot.Node {
	n := snapshot.Node{
		Name: fmt.Sprintf("node-%02d", len(f.Nodes)), Ready: "True",
		Labels:      snapshot.LabelsOf(map[string]string{snapshot.LabelNodePool: "default", snapshot.LabelInitialized: "true", snapshot.LabelInstanceType: instance}),
		OSImage:     "Amazon Linux 2023.7",
		Capacity:    snapshot.ParseResources(capacity),
		Allocatable: snapshot.ParseResources(allocatable),
		Join:        snapshot.Join{Pool: "default", ClassName: class},
	}
	if class != "" {
		n.Join.Class = "EC2NodeClass/" + class
	}
	f.Nodes = append(f.Nodes, n)
	return &f.Nodes[len(f.Nodes)-1]
}

// claim gives the last node a claim.
func (f *fleet) claim(capacity, allocatable map[string]string) *snapshot.NodeClaim {
	n := &f.Nodes[len(f.Nodes)-1]
	n.Join.Claim = "claim-" + n.Name
	f.NodeClaims = append(f.NodeClaims, snapshot.NodeClaim{
		Name: n.Join.Claim, Kind: snapshot.KindNodeClaim, APIVersion: "karpenter.sh/v1", NodeName: n.Name,
		Capacity: snapshot.ParseResources(capacity), Allocatable: snapshot.ParseResources(allocatable),
	})
	return &f.NodeClaims[len(f.NodeClaims)-1]
}

// evaluate judges the fleet by the default policy.
func (f *fleet) evaluate() *Run {
	f.t.Helper()
	run, err := Evaluate([]*snapshot.Snapshot{f.Snapshot}, Options{Policy: DefaultPolicy()})
	if err != nil {
		f.t.Fatal(err)
	}
	return run
}

// finding is the one with the id about the resource; nil where there is none.
func finding(run *Run, id, resource string) *Finding {
	for i := range run.Findings {
		if f := &run.Findings[i]; f.ID == id && f.Resource == resource {
			return f
		}
	}
	return nil
}

// amounts is a resource list by name and quantity.
func amounts(pairs ...string) map[string]string {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return m
}

// healthy are the figures of an m5.large on AL2023 with 20Gi, as its kubelet prints them.
func healthy() (capacity, allocatable map[string]string) {
	return amounts("cpu", "2", "memory", "7845568Ki", "pods", "29", "ephemeral-storage", "20893676Ki"),
		amounts("cpu", "1930m", "memory", "7155392Ki", "pods", "29", "ephemeral-storage", "18181869946")
}

// publicFleet is every public node with complete memory figures, each under a class of its family with its volume and no
// settings.
func publicFleet(t testing.TB) *fleet {
	f := newFleet(t, "1.14.1")
	for _, n := range readPublicNodes(t).Nodes {
		family := "AL2023"
		if found, ok := expect.FamilyOfImage(n.Image, expect.Newest); ok {
			family = found.Name
		}
		device := "/dev/xvda"
		if family == "Bottlerocket" {
			device = "/dev/xvdb"
		}
		name := family + n.Volume
		if !f.hasClass(name) {
			switch n.Volume {
			case "":
				f.class(name, family)
			case "RAID0":
				f.class(name, family).InstanceStorePolicy = "RAID0"
			default:
				f.class(name, family, device, n.Volume)
			}
		}
		node := f.node(name, n.Type, nil, nil)
		node.OSImage, node.Capacity, node.Allocatable = n.Image, n.Capacity, n.Allocatable
	}
	return f
}

func (f *fleet) hasClass(name string) bool {
	for i := range f.NodeClasses {
		if f.NodeClasses[i].Name == name {
			return true
		}
	}
	return false
}
