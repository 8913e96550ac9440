package compare

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// TestPartsAddUp explains random nodes of every family and of releases around every breakpoint, half of them near what
// was expected and half with figures out of nowhere: the parts of every row's causes add up to its difference, and no
// cause is there twice or empty.
func TestPartsAddUp(t *testing.T) {
	const nodes = 6_000
	r := rand.New(rand.NewPCG(5, 1))
	rows, explained := 0, 0
	for range nodes {
		s, ok := randomSubject(r)
		if !ok {
			continue
		}
		all := Rows(s)
		Explain(s, all)
		for i := range all {
			row := &all[i]
			rows++
			checkParts(t, s, "row", row, row.Gap().Value, row.Causes)
			bare := row.Causes
			Detail(s, row)
			for j := range row.Causes {
				if row.Causes[j].ID != bare[j].ID || row.Causes[j].Part != bare[j].Part || row.Causes[j].Evidence == "" {
					t.Fatalf("Detail made %+v of %+v", row.Causes[j], bare[j])
				}
			}
			checkParts(t, s, "claim", row, row.ClaimDelta().Value, ExplainClaim(s, row))
			if len(bare) > 0 && bare[len(bare)-1].ID != Unexplained {
				explained++
			}
		}
	}
	if rows < nodes || explained < nodes {
		t.Errorf("only %d rows and %d explained ones of %d nodes: the generator makes too little", rows, explained, nodes)
	}
}

func checkParts(t *testing.T, s Subject, what string, row *Row, gap int64, causes []Cause) {
	t.Helper()
	var sum int64
	seen := map[string]bool{}
	for _, c := range causes {
		sum += c.Part
		if c.Part == 0 || seen[c.ID] {
			t.Fatalf("%s of %s %s: cause %q is empty or there twice: %+v", what, row.Resource, row.Field, c.ID, causes)
		}
		seen[c.ID] = true
	}
	if sum != gap {
		t.Fatalf("%s of %s %s on %s: parts add up to %d, the difference is %d: %+v\n%+v", what, row.Resource, row.Field, s.Model.Family().Name, sum, gap, causes, row)
	}
}

var someVersions = []string{"0.27.0", "0.27.2", "0.27.8", "0.32.0", "0.37.0", "1.0.8", "1.5.1", "1.5.2", "1.8.0", "1.11.0", "1.14.1", "1.15.2"}

var someImages = []string{"", "Amazon Linux 2", "Amazon Linux 2023.7", "Bottlerocket OS 1.40.0", "Ubuntu 22.04 LTS", "Windows Server 2022 Datacenter"}

func randomSubject(r *rand.Rand) (Subject, bool) {
	pick := func(all []string) string { return all[r.IntN(len(all))] }
	chance := func(n int) bool { return r.IntN(n) == 0 }
	version, err := expect.ParseVersion(pick(someVersions))
	if err != nil {
		return Subject{}, false
	}
	instance := randomType(r)
	class := &snapshot.NodeClass{Name: "c", Kind: "EC2NodeClass", APIVersion: "karpenter.k8s.aws/v1"}
	for range r.IntN(3) {
		device, size := pick([]string{"/dev/xvda", "/dev/xvdb", "/dev/sda1"}), strconv.Itoa(8+r.IntN(500))+"Gi"
		mapping := snapshot.BlockDeviceMapping{DeviceName: &device, EBS: &snapshot.EBS{VolumeSize: &size}, RootVolume: chance(4)}
		if chance(6) {
			mapping.EBS.VolumeSize = nil
		}
		class.BlockDeviceMappings = append(class.BlockDeviceMappings, mapping)
	}
	if chance(3) {
		class.InstanceStorePolicy = "RAID0"
	}
	if chance(4) {
		class.NetworkInterfaces = &[]snapshot.NetworkInterface{{}, {DeviceIndex: 1, InterfaceType: "efa-only"}}
	}
	kubelet := randomKubelet(r)
	settings := expect.Settings{Version: version, OverheadPercent: []float64{0, 0.05, 0.075, 0.2}[r.IntN(4)], ReservedENIs: int64(r.IntN(3)), NodeOverlay: true}
	in := expect.Class{NodeClass: class, Kubelet: kubelet, Family: expect.FamilyNamed(pick(expect.FamilyNames()), version)}
	if chance(6) {
		in.Overlays = []snapshot.NodeOverlay{{Name: "o", Capacity: snapshot.LabelsOf(map[string]string{"hugepages-2Mi": "1Gi", "example.com/thing": "2"})}}
	}
	model, err := expect.New(settings, in)
	if err != nil {
		return Subject{}, false
	}
	e, err := model.Expect(instance)
	if err != nil {
		return Subject{}, false
	}
	node := &snapshot.Node{Name: "n", OSImage: pick(someImages), Join: snapshot.Join{Drifted: chance(4)}}
	s := Subject{Node: node, Class: class, Kubelet: kubelet, Type: instance, Model: model, Expect: e}
	if chance(5) {
		s.Class = nil
	}
	node.Capacity, node.Allocatable = randomFigures(r, e)
	if chance(2) {
		claim := &snapshot.NodeClaim{Name: "n"}
		claim.Capacity, claim.Allocatable = randomFigures(r, e)
		s.Claim = claim
	}
	return s, true
}

func randomType(r *rand.Rand) *snapshot.InstanceType {
	cores := []int64{1, 2, 4, 8, 48, 96, 192}[r.IntN(7)]
	t := &snapshot.InstanceType{
		Name: "r1.large", VCPUs: cores, MemoryMiB: cores * int64(512*(1+r.IntN(16))), Architectures: []string{"x86_64"},
		DefaultCardENIs: int64(2 + r.IntN(14)), IPv4PerENI: int64(2 + r.IntN(49)),
		Limits: &snapshot.VPCLimits{IPv4PerENI: 10, Trunking: true, BranchInterfaces: 9},
	}
	t.ENIs = t.DefaultCardENIs * int64(1+r.IntN(2))
	if r.IntN(3) == 0 {
		t.Architectures[0] = "arm64"
	}
	if r.IntN(2) == 0 {
		t.GPUs = []snapshot.Device{{Manufacturer: "NVIDIA", Count: int64(r.IntN(9))}}
		store := int64(1 + r.IntN(8000))
		t.InstanceStoreGB = &store
		t.EFAs = int64(r.IntN(5))
		t.Neurons = []snapshot.Neuron{{Count: 1, Cores: 2}}
	}
	return t
}

func randomKubelet(r *rand.Rand) *snapshot.Kubelet {
	if r.IntN(2) == 0 {
		return nil
	}
	some := func(values map[string]string) snapshot.Labels {
		out := map[string]string{}
		for _, l := range snapshot.LabelsOf(values) { // in order, so that the seed decides
			if r.IntN(3) == 0 {
				out[l.Key] = l.Value
			}
		}
		return snapshot.LabelsOf(out)
	}
	k := &snapshot.Kubelet{
		KubeReserved:   some(map[string]string{"cpu": "0.0705", "memory": "0.3Gi", "ephemeral-storage": "3Gi", "pid": "9"}),
		SystemReserved: some(map[string]string{"cpu": "300m", "memory": "300Mi", "ephemeral-storage": "1G"}),
		EvictionHard:   some(map[string]string{"memory.available": "7.5%", "nodefs.available": "15%"}),
		EvictionSoft:   some(map[string]string{"memory.available": "1Gi", "nodefs.available": "20%"}),
	}
	if r.IntN(3) == 0 {
		k.MaxPods = jsontext.Value(strconv.Itoa(r.IntN(250)))
	}
	if r.IntN(6) == 0 {
		k.ReservedSystemCPUs = "0-1,3"
	}
	return k
}

// randomFigures are a node's or a claim's: what was expected, a little off, or anything.
func randomFigures(r *rand.Rand, e *expect.Expectation) (capacity, allocatable snapshot.ResourceList) {
	c, a := map[string]int64{"hugepages-2Mi": int64(r.IntN(2)) << 30}, map[string]int64{}
	for _, name := range expect.ResourceNames() {
		x := e.Get(name)
		if x == nil || r.IntN(12) == 0 {
			continue
		}
		bend := func(v int64) int64 {
			switch r.IntN(8) {
			case 0:
				return r.Int64() // up to the largest of 64 bits
			case 1:
				return 0
			case 2:
				return v - v/100 + int64(r.IntN(5))
			case 3:
				return v / 2
			case 4:
				return v + int64(r.IntN(1<<30))
			}
			return v
		}
		c[name] = bend(x.Capacity.Value)
		if r.IntN(20) != 0 {
			a[name] = c[name] - bend(x.Capacity.Value-x.Allocatable.Value)
		}
		if r.IntN(20) == 0 {
			delete(c, name)
		}
	}
	return resources(c), resources(a)
}

func resources(figures map[string]int64) snapshot.ResourceList {
	texts := map[string]string{}
	for name, v := range figures {
		text := strconv.FormatInt(v, 10)
		if name == expect.CPU {
			text += "m"
		}
		texts[name] = text
	}
	return snapshot.ParseResources(texts)
}
