package expect

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// input is everything that an expectation hangs on.
type input struct {
	settings Settings
	class    Class
	instance snapshot.InstanceType
}

func (in input) expect() (*Expectation, error) {
	m, err := New(in.settings, in.class)
	if err != nil {
		return nil, err
	}
	return m.Expect(&in.instance)
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// sometimes is v in one of n cases.
func sometimes[T any](r *rand.Rand, n int, v T) (out T) {
	if r.IntN(n) == 0 {
		return v
	}
	return out
}

// randomInput is any instance type and any class that the CRDs let through, and some that they do not.
func randomInput(r *rand.Rand) input {
	class := &snapshot.NodeClass{
		Name: "default", Kind: "EC2NodeClass", APIVersion: "karpenter.k8s.aws/v1",
		InstanceStorePolicy: pick(r, "", "", "RAID0"),
	}
	for range r.IntN(4) {
		class.BlockDeviceMappings = append(class.BlockDeviceMappings, randomMapping(r))
	}
	if r.IntN(2) == 0 {
		class.NetworkInterfaces = &[]snapshot.NetworkInterface{}
		for range r.IntN(4) {
			*class.NetworkInterfaces = append(*class.NetworkInterfaces, snapshot.NetworkInterface{NetworkCardIndex: r.Int64N(2), InterfaceType: pick(r, "interface", "efa-only")})
		}
	}
	version := pick(r, releases...).since
	settings := Settings{
		Version:             version,
		OverheadPercent:     pick(r, 0, 0.05, 0.07, 0.075, 0.2, 1.5),
		ReservedENIs:        r.Int64N(3),
		NodeOverlay:         r.IntN(2) == 0,
		NodeClassCEL:        r.IntN(2) == 0,
		UnlimitedPodDensity: r.IntN(4) == 0,
		PodENI:              r.IntN(2) == 0,
	}
	return input{settings, Class{
		NodeClass: class,
		Kubelet:   randomKubelet(r),
		Family:    FamilyNamed(pick(r, FamilyNames()...), version),
		Overlays:  randomOverlays(r),
	}, randomInstance(r)}
}

func randomMapping(r *rand.Rand) snapshot.BlockDeviceMapping {
	m := snapshot.BlockDeviceMapping{RootVolume: r.IntN(6) == 0}
	if r.IntN(20) > 0 {
		name := pick(r, "/dev/xvda", "/dev/xvdb", "/dev/sda1", "/dev/sdf")
		m.DeviceName = &name
	}
	if r.IntN(20) > 0 {
		m.EBS = &snapshot.EBS{SnapshotID: "snap-1"}
		if r.IntN(10) > 0 {
			size := pick(r, "20Gi", "100G", "1Ti", "415Gi", "0.3Gi", "20.5Gi")
			m.EBS.VolumeSize = &size
		}
	}
	return m
}

func randomKubelet(r *rand.Rand) *snapshot.Kubelet {
	if r.IntN(4) == 0 {
		return nil
	}
	reserved := func() snapshot.Labels {
		return snapshot.LabelsOf(map[string]string{
			pick(r, CPU, Memory):                           pick(r, "0", "100m", "0.0705", "1n", "4", "vcpus * 30"),
			pick(r, Memory, EphemeralStorage, "pid", Pods): pick(r, "1Gi", "0.3Gi", "600M", "5", "max_pods * 11"),
		})
	}
	eviction := func() snapshot.Labels {
		return snapshot.LabelsOf(map[string]string{
			"memory.available": pick(r, "5%", "7.5%", "100%", "0%", "500Mi", "-1Gi", "0.3Gi"),
			"nodefs.available": pick(r, "10%", "15%", "1Gi"),
			"pid.available":    "x",
		})
	}
	return &snapshot.Kubelet{
		MaxPods:        jsontext.Value(pick(r, "", "", "0", "58", "110", `"min(110, max_pods)"`)),
		PodsPerCore:    jsontext.Value(pick(r, "", "", "0", "2", "10")),
		KubeReserved:   sometimes(r, 2, reserved()),
		SystemReserved: sometimes(r, 2, reserved()),
		EvictionHard:   sometimes(r, 2, eviction()),
		EvictionSoft:   sometimes(r, 2, eviction()),
	}
}

func randomOverlays(r *rand.Rand) (out []snapshot.NodeOverlay) {
	for i := range r.IntN(4) {
		out = append(out, snapshot.NodeOverlay{
			Name: fmt.Sprint("overlay-", i), Weight: r.Int64N(3),
			Capacity: snapshot.LabelsOf(map[string]string{
				pick(r, "hugepages-2Mi", "hugepages-1Gi", "example.com/x"): pick(r, "0", "1Gi", "64Gi", "0.3Gi"),
				pick(r, "example.com/x", "example.com/y", NvidiaGPU):       pick(r, "1", "40"),
			}),
		})
	}
	return out
}

func randomInstance(r *rand.Rand) snapshot.InstanceType {
	instance := snapshot.InstanceType{
		Name:            pick(r, "x.large", "trn1.32xlarge"),
		VCPUs:           r.Int64N(449),
		MemoryMiB:       r.Int64N(1 << pick(r, 9, 14, 22)),
		Architectures:   pick(r, []string{"x86_64"}, []string{"arm64"}, []string{"i386", "x86_64"}),
		ENIs:            r.Int64N(65),
		DefaultCardENIs: r.Int64N(16),
		IPv4PerENI:      r.Int64N(51),
		EFAs:            r.Int64N(33),
		Missing:         sometimes(r, 10, []snapshot.Fact{pick(r, snapshot.FactNetwork, snapshot.FactInstanceStore, snapshot.FactEFA, snapshot.FactNeuron, snapshot.FactGPU)}),
	}
	for range r.IntN(3) {
		instance.GPUs = append(instance.GPUs, snapshot.Device{Manufacturer: pick(r, "NVIDIA", "AMD", "Habana"), Count: r.Int64N(17)})
		instance.InferenceAccelerators = append(instance.InferenceAccelerators, snapshot.Device{Count: r.Int64N(17)})
		instance.Neurons = append(instance.Neurons, snapshot.Neuron{Count: r.Int64N(17), Cores: r.Int64N(9)})
	}
	if r.IntN(2) == 0 {
		instance = withDisk(instance, r.Int64N(60000))
	}
	if r.IntN(2) == 0 {
		instance.Limits = &snapshot.VPCLimits{IPv4PerENI: r.Int64N(51), Trunking: r.IntN(2) == 0, BranchInterfaces: r.Int64N(110)}
	}
	return instance
}

// checkSums fails unless every figure of an expectation is exactly what its terms add up to, in arithmetic that cannot
// overflow.
func checkSums(t *testing.T, e *Expectation) {
	t.Helper()
	total := func(sums ...Sum) *big.Int {
		n := new(big.Int)
		for _, s := range sums {
			for _, term := range s {
				n.Add(n, term.Amount.exact())
			}
		}
		return n
	}
	ceil := func(n *big.Int) *big.Int {
		up := new(big.Int).Add(n, big.NewInt(nanos-1))
		return up.Div(up, big.NewInt(nanos))
	}
	for i := range e.Resources {
		r := &e.Resources[i]
		if !r.Capacity.Known {
			if r.Unknown == "" || r.Allocatable.Known {
				t.Errorf("%s: no capacity, reason %q, allocatable %v", r.Name, r.Unknown, r.Allocatable)
			}
			continue
		}
		capacity := total(r.CapacityTerms)
		if up := ceil(capacity); !up.IsInt64() || up.Int64() != r.Capacity.Value {
			t.Errorf("%s: capacity %d is not %s", r.Name, r.Capacity.Value, r.CapacityTerms.Text(r.Name))
		}
		if r.Allocatable.Known != (r.Unknown == "") {
			t.Errorf("%s: allocatable %v, reason %q", r.Name, r.Allocatable, r.Unknown)
		}
		if !r.Allocatable.Known {
			continue
		}
		left := new(big.Int).Sub(capacity, total(r.KubeReserved, r.SystemReserved, r.Eviction, r.HugePages))
		want := ceil(left)
		if r.Clamped {
			want = new(big.Int)
		}
		if !want.IsInt64() || want.Int64() != r.Allocatable.Value {
			t.Errorf("%s: allocatable %d, but capacity less overhead is %v", r.Name, r.Allocatable.Value, want)
		}
		if sum := total(r.AllocatableSum()); sum.Cmp(whole(r.Allocatable.Value).exact()) != 0 {
			t.Errorf("%s: allocatable %d is not %s", r.Name, r.Allocatable.Value, r.AllocatableSum().Text(r.Name))
		}
	}
}

// TestSums: allocatable and overhead are capacity, for every resource of any input.
func TestSums(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	computed, failed, clamped := 0, 0, 0
	for range 10_000 {
		in := randomInput(r)
		e, err := in.expect()
		if err != nil {
			failed++
			continue
		}
		computed++
		if e.Get(Memory).Clamped {
			clamped++
		}
		if checkSums(t, e); t.Failed() {
			t.Fatalf("of %+v", in)
		}
	}
	if computed < 5_000 || failed < 100 || clamped < 100 {
		t.Errorf("%d computed, %d failed, %d clamped: the inputs do not try all", computed, failed, clamped)
	}
}

// TestOrderOfInputs: lists without an order of their own may come in any.
func TestOrderOfInputs(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 2_000 {
		in := randomInput(r)
		before, errBefore := in.expect()
		shuffled := in
		shuffled.class.Overlays = shuffle(r, in.class.Overlays)
		class := *in.class.NodeClass
		if class.NetworkInterfaces != nil {
			list := shuffle(r, *class.NetworkInterfaces)
			class.NetworkInterfaces = &list
		}
		shuffled.class.NodeClass = &class
		shuffled.instance.GPUs = shuffle(r, in.instance.GPUs)
		shuffled.instance.InferenceAccelerators = shuffle(r, in.instance.InferenceAccelerators)
		after, errAfter := shuffled.expect()
		if diff := cmp.Diff(before, after); diff != "" || fmt.Sprint(errBefore) != fmt.Sprint(errAfter) {
			t.Fatalf("%v, %v: %s\nof %+v", errBefore, errAfter, diff, in)
		}
	}
}

func shuffle[T any](r *rand.Rand, list []T) []T {
	list = slices.Clone(list)
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// documented are the figures that each release may change, by resource; "error" where it may change what can be read.
// Huge pages of an overlay reach memory wherever the overlay's own change does.
var documented = []struct{ since, figures string }{
	{"0.27.1", "cpu:system-reserved,allocatable memory:system-reserved,allocatable ephemeral-storage:system-reserved,eviction,allocatable error"},
	{"0.27.3", "pods:capacity,allocatable memory:kube-reserved,allocatable"},
	{"0.28.0", "memory:capacity,kube-reserved,eviction,allocatable pods:capacity,allocatable ephemeral-storage:capacity,eviction,allocatable aws.amazon.com/neuron:capacity,allocatable error"},
	{"0.29.0", ""},
	{"0.31.0", "ephemeral-storage:capacity,eviction,allocatable error"},
	{"0.32.0", "vpc.amazonaws.com/pod-eni:capacity,allocatable vpc.amazonaws.com/PrivateIPv4Address:capacity,allocatable"},
	{"0.33.0", "pods:capacity,allocatable memory:kube-reserved,allocatable vpc.amazonaws.com/efa:all"},
	{"0.34.0", "ephemeral-storage:capacity,eviction,allocatable error"},
	{"0.35.0", ""},
	{"1.0.0", "vpc.amazonaws.com/PrivateIPv4Address:capacity,allocatable"},
	{"1.1.0", "aws.amazon.com/neuron:capacity,allocatable aws.amazon.com/neuroncore:all"},
	{"1.5.2", "memory:kube-reserved,allocatable"},
	{"1.7.0", "memory:huge-pages,allocatable hugepages-2Mi:all hugepages-1Gi:all example.com/x:all example.com/y:all nvidia.com/gpu:capacity,allocatable"},
	{"1.9.0", "memory:huge-pages,eviction,allocatable ephemeral-storage:eviction,allocatable hugepages-2Mi:all hugepages-1Gi:all example.com/x:all example.com/y:all nvidia.com/gpu:capacity,allocatable error"},
	{"1.11.0", "pods:capacity,allocatable memory:kube-reserved,allocatable vpc.amazonaws.com/efa:capacity,allocatable"},
	{"1.14.0", ""},
	{"1.15.0", "error"},
}

// TestReleasesAreContinuous: between neighbouring releases any one input differs in the documented figures alone. The
// families that a release adds or drops are left to TestBreakpoints.
func TestReleasesAreContinuous(t *testing.T) {
	var rows []string
	for _, row := range documented {
		rows = append(rows, row.since)
	}
	for _, b := range Breakpoints()[1:] {
		if !slices.Contains(rows, b.Since.String()) {
			t.Errorf("v%s is not documented: %s", b.Since, b.Why)
		}
	}
	r := rand.New(rand.NewPCG(7, 8))
	inputs := make([]input, 600)
	for i := range inputs {
		inputs[i] = randomInput(r)
		inputs[i].instance.Missing = nil // a release that no longer asks for a fact makes every figure of a resource known
	}
	for _, row := range documented {
		t.Run("v"+row.since, func(t *testing.T) {
			since := versionOf(t, row.since)
			last := Version{since.Major, since.Minor, since.Patch - 1}
			switch {
			case since.Patch > 0:
			case since.Minor > 0:
				last = Version{since.Major, since.Minor - 1, 99}
			default:
				last = Version{since.Major - 1, 99, 99}
			}
			changed := 0
			for _, in := range inputs {
				if family := in.class.Family.Name; FamilyNamed(family, last) == FamilyNamed(family, since) {
					changed += compareReleases(t, in, last, since, row.figures)
				}
			}
			if (changed > 0) != (row.figures != "") {
				t.Errorf("%d of %d inputs change, documented are %q", changed, len(inputs), row.figures)
			}
		})
	}
}

func compareReleases(t *testing.T, in input, last, since Version, changes string) (changed int) {
	expect := func(v Version) (map[string]string, error) {
		in.settings.Version = v
		in.class.Family = FamilyNamed(in.class.Family.Name, v)
		e, err := in.expect()
		if err != nil {
			return nil, err
		}
		return figures(t, e), nil
	}
	before, errBefore := expect(last)
	after, errAfter := expect(since)
	if errBefore != nil || errAfter != nil {
		if fmt.Sprint(errBefore) == fmt.Sprint(errAfter) {
			return 0
		}
		if !strings.Contains(changes, "error") {
			t.Fatalf("v%s: %v, v%s: %v, of %+v", last, errBefore, since, errAfter, in)
		}
		return 1
	}
	for _, m := range []map[string]string{before, after} {
		for name := range m {
			if before[name] == after[name] {
				continue
			}
			changed = 1
			if !isDocumented(changes, name) {
				t.Fatalf("%s: v%s %q, v%s %q, of %+v", name, last, before[name], since, after[name], in)
			}
		}
	}
	return changed
}

func isDocumented(changes, name string) bool {
	resource, field, _ := strings.Cut(name, " ")
	for part := range strings.FieldsSeq(changes) {
		of, fields, _ := strings.Cut(part, ":")
		if of == resource && (fields == "all" || slices.Contains(strings.Split(fields, ","), field)) {
			return true
		}
	}
	return false
}

// TestReleasesBetweenRows: a release that is not in the table has the figures of the row above it.
func TestReleasesBetweenRows(t *testing.T) {
	for _, row := range []struct{ release, row string }{
		{"0.27.2", "0.27.1"}, {"0.27.8", "0.27.3"}, {"0.28.1", "0.28.0"}, {"0.30.0", "0.29.0"}, {"0.31.5", "0.31.0"},
		{"0.37.8", "0.34.0"}, {"1.0.14", "1.0.0"}, {"1.5.1", "1.1.0"}, {"1.6.8", "1.5.2"}, {"1.8.8", "1.7.0"},
		{"1.10.2", "1.9.0"}, {"1.14.3", "1.11.0"}, {"1.15.2", "1.15.0"}, {"1.99.0", "1.15.0"},
	} {
		if diff := cmp.Diff(RulesOf(versionOf(t, row.row)), RulesOf(versionOf(t, row.release))); diff != "" {
			t.Errorf("v%s has other rules than v%s:\n%s", row.release, row.row, diff)
		}
	}
	if !strings.HasPrefix(Newest.String(), "1.15.") || Oldest != releases[0].since {
		t.Errorf("the table reaches from v%s to v%s, the bounds say v%s and v%s", releases[0].since, releases[len(releases)-1].since, Oldest, Newest)
	}
}
