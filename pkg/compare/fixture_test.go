package compare

import (
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// publicNodes is testdata/public-nodes.json: what kubelets of public nodes printed, and the facts of their types.
type publicNodes struct {
	Provenance string                  `json:"provenance"`
	Types      []snapshot.InstanceType `json:"types"`
	Nodes      []publicNode            `json:"nodes"`
}

type publicNode struct {
	Type        string                `json:"type"`
	Image       string                `json:"image"`
	Kubelet     string                `json:"kubelet"`
	Volume      string                `json:"volume"`
	Seen        int                   `json:"seen"`
	Capacity    snapshot.ResourceList `json:"capacity"`
	Allocatable snapshot.ResourceList `json:"allocatable"`
}

// parsePublicNodes reads the file once: scenes ask for types by the thousand.
var parsePublicNodes = sync.OnceValues(func() (publicNodes, error) {
	data, err := os.ReadFile("testdata/public-nodes.json")
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

func (p publicNodes) instanceType(t testing.TB, name string) *snapshot.InstanceType {
	t.Helper()
	for i := range p.Types {
		if p.Types[i].Name == name {
			return &p.Types[i]
		}
	}
	t.Fatalf("testdata/public-nodes.json has no facts of %s", name)
	return nil
}

// scene is a node and what Karpenter knows of it, in as few words as a test needs.
type scene struct {
	version  string // "1.14.1" when empty
	overhead float64
	reserved int64
	cel      bool
	family   string // "AL2023" when empty
	image    string
	kubelet  *snapshot.Kubelet
	class    *snapshot.NodeClass // an empty one when nil
	noClass  bool
	claim    *snapshot.NodeClaim
	drifted  bool
	overlays []snapshot.NodeOverlay
	instance string
	// edit changes a copy of the type's facts.
	edit                  func(*snapshot.InstanceType)
	capacity, allocatable map[string]string
}

func (sc scene) subject(t testing.TB) Subject {
	t.Helper()
	facts := *readPublicNodes(t).instanceType(t, sc.instance)
	if sc.edit != nil {
		facts.GPUs = slices.Clone(facts.GPUs)
		sc.edit(&facts)
	}
	text := sc.version
	if text == "" {
		text = "1.14.1"
	}
	version, err := expect.ParseVersion(text)
	if err != nil {
		t.Fatal(err)
	}
	if sc.family == "" {
		sc.family = "AL2023"
	}
	if sc.class == nil {
		sc.class = &snapshot.NodeClass{}
	}
	class := *sc.class
	class.Name, class.Kind, class.APIVersion, class.AMIFamily = "default", "EC2NodeClass", "karpenter.k8s.aws/v1", &sc.family
	in := expect.Class{NodeClass: &class, Kubelet: sc.kubelet, Family: expect.FamilyNamed(sc.family, version), Overlays: sc.overlays}
	if sc.noClass {
		in.NodeClass = nil
	}
	model, err := expect.New(expect.Settings{Version: version, OverheadPercent: sc.overhead, ReservedENIs: sc.reserved, NodeOverlay: true, NodeClassCEL: sc.cel}, in)
	if err != nil {
		t.Fatal(err)
	}
	e, err := model.Expect(&facts)
	if err != nil {
		t.Fatal(err)
	}
	return Subject{
		Node: &snapshot.Node{
			Name: "node", OSImage: sc.image, Join: snapshot.Join{Drifted: sc.drifted},
			Capacity: snapshot.ParseResources(sc.capacity), Allocatable: snapshot.ParseResources(sc.allocatable),
		},
		Claim: sc.claim, Class: in.NodeClass, Kubelet: sc.kubelet, Type: &facts, Model: model, Expect: e,
	}
}

// rows are the node's rows, explained in words.
func (sc scene) rows(t testing.TB) []Row {
	t.Helper()
	s := sc.subject(t)
	rows := Rows(s)
	for i := range rows {
		Detail(s, &rows[i])
	}
	return rows
}

func rowOf(t testing.TB, rows []Row, resource string, field Field) *Row {
	t.Helper()
	for i := range rows {
		if rows[i].Resource == resource && rows[i].Field == field {
			return &rows[i]
		}
	}
	t.Fatalf("no row %s %s", resource, field)
	return nil
}

// parts are the causes of a row by id.
func parts(causes []Cause) map[string]int64 {
	out := map[string]int64{}
	for _, c := range causes {
		out[c.ID] = c.Part
	}
	return out
}
