package fleet

import (
	"cmp"
	"errors"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// The controller of every fleet.
const (
	karpenterVersion = "1.14.1"
	overheadPercent  = "0.075"
)

// Options say how large a fleet is.
type Options struct {
	Nodes int
	// Seed chooses the nodes.
	Seed uint64
	// Types bounds how many instance types the nodes are of; 0 for all that Karpenter can launch.
	Types int
}

// Fleet is a generated cluster.
type Fleet struct {
	nodes int
	seed  uint64
	types []machineType
}

// class is an EC2NodeClass.
type class struct {
	name, alias, device, volume, osImage, kernel string
}

var classes = []class{
	{name: "default", alias: "al2023@v20250609", osImage: "Amazon Linux 2023.7.20250609", kernel: "6.1.140-154.222.amzn2023"},
	{name: "large-disk", alias: "al2023@v20250609", device: "/dev/xvda", volume: "100Gi", osImage: "Amazon Linux 2023.7.20250609", kernel: "6.1.140-154.222.amzn2023"},
	{name: "bottlerocket", alias: "bottlerocket@1.42.0", osImage: "Bottlerocket OS 1.42.0 (aws-k8s-1.32)", kernel: "6.1.134"},
}

// pools is the number of NodePools; pool i uses class i modulo their number.
const pools = 20

// machineType is an instance type of the fleet, with what decides what its nodes report.
type machineType struct {
	snapshot.InstanceType
	// arch is Kubernetes' name, family and size the halves of the type's name.
	arch, family, size string
	// gap is the share of EC2's memory that the machine itself keeps.
	gap float64
	// expected is what Karpenter expects under each of the classes.
	expected []*expect.Expectation
}

// architectures are Kubernetes' names for those of EC2. A Mac has neither, and Karpenter launches none.
var architectures = map[string]string{"x86_64": "amd64", "arm64": "arm64"}

// New makes a fleet of types of the catalogue. It fails where Karpenter could launch none of them, or would not expect
// anything of one.
func New(o Options, catalogue []snapshot.InstanceType) (*Fleet, error) {
	models, err := newModels()
	if err != nil {
		return nil, err
	}
	f := &Fleet{nodes: o.Nodes, seed: o.Seed}
	for i := range catalogue {
		t := machineType{InstanceType: catalogue[i]}
		for _, a := range t.Architectures {
			t.arch = cmp.Or(t.arch, architectures[a])
		}
		if t.arch == "" {
			continue
		}
		t.family, t.size, _ = strings.Cut(t.Name, ".")
		for _, m := range models {
			e, err := m.Expect(&t.InstanceType)
			if err != nil {
				return nil, err
			}
			t.expected = append(t.expected, e)
		}
		f.types = append(f.types, t)
	}
	if len(f.types) == 0 {
		return nil, errors.New("the catalogue has no instance type that Karpenter launches")
	}
	// Which types are common does not depend on their names: families stand together in the catalogue.
	slices.SortFunc(f.types, func(a, b machineType) int {
		return cmp.Or(cmp.Compare(hashOf(a.Name), hashOf(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	if o.Types > 0 && o.Types < len(f.types) {
		f.types = f.types[:o.Types]
	}
	for i := range f.types {
		f.types[i].gap = gapOf(f.types[i].Name, i)
	}
	return f, nil
}

// newModels reads each class as Karpenter does.
func newModels() ([]*expect.Model, error) {
	version, err := expect.ParseVersion(karpenterVersion)
	if err != nil {
		return nil, err
	}
	models := make([]*expect.Model, len(classes))
	for i := range classes {
		c := &classes[i]
		nodeClass := &snapshot.NodeClass{Name: c.name, Kind: snapshot.KindEC2NodeClass, APIVersion: "karpenter.k8s.aws/v1", Alias: &c.alias}
		if c.device != "" {
			nodeClass.BlockDeviceMappings = []snapshot.BlockDeviceMapping{{DeviceName: &c.device, EBS: &snapshot.EBS{VolumeSize: &c.volume}}}
		}
		settings := expect.Settings{Version: version, OverheadPercent: expect.DefaultOverheadPercent}
		if models[i], err = expect.New(settings, expect.Class{NodeClass: nodeClass}); err != nil {
			return nil, err
		}
	}
	return models, nil
}

func hashOf(text string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(text)) // a hash takes every write
	return h.Sum32()
}

// gapOf is between 1.8 and 6.5 per cent, as on public nodes; of one type in sixty, and of the ninth in any case, more
// than the overhead allows, so that a check has something to find.
func gapOf(name string, position int) float64 {
	if position%60 == 8 {
		return 0.081
	}
	return 0.018 + 0.047*float64(hashOf("gap of "+name)%1000)/1000
}
