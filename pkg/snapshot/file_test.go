package snapshot

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// sample has every field set that a snapshot can have, and lists out of order.
func sample() *Snapshot {
	family, alias, device, size, store := "", "al2023@latest", "/dev/xvda", "100Gi", int64(600)
	return &Snapshot{
		APIVersion: APIVersion, Kind: Kind, Cluster: "prod <&> \"eu\"",
		Controller: Controller{
			Version:                 Setting{"1.14.1", "image tag of Deployment kube-system/karpenter"},
			VMMemoryOverheadPercent: Setting{"0.075", "env VM_MEMORY_OVERHEAD_PERCENT"},
			ReservedENIs:            Setting{"1", "flag --reserved-enis"},
			FeatureGates:            Setting{"NodeOverlay=true", "env FEATURE_GATES"},
			AWSFeatureGates:         Setting{"NodeClassCEL=true", "env AWS_FEATURE_GATES"},
			ENILimitedPodDensity:    Setting{"true", "ConfigMap"},
			PodENI:                  Setting{"false", "ConfigMap"},
			Notes:                   []string{"a note"},
		},
		InstanceTypesFrom: "file",
		InstanceTypes: []InstanceType{
			{Name: "m5d.4xlarge", VCPUs: 16, MemoryMiB: 65536, Architectures: []string{"x86_64"}, InstanceStoreGB: &store, ENIs: 8, DefaultCardENIs: 8, IPv4PerENI: 30, Limits: &VPCLimits{30, true, 54}},
			{Name: "inf2.xlarge", BareMetal: true, EFAs: 1, GPUs: []Device{{"NVIDIA", 1}}, InferenceAccelerators: []Device{{"AWS", 1}}, Neurons: []Neuron{{1, 2}}, Missing: []Fact{FactEFA}},
		},
		NodeClasses: []NodeClass{
			{
				Name: "default", Kind: KindEC2NodeClass, APIVersion: "karpenter.k8s.aws/v1", Hash: Hash{"1", "v4"},
				AMIFamily: &family, Alias: &alias, AMIs: []string{"ami-1"}, InstanceStorePolicy: "RAID0", Problem: "none",
				BlockDeviceMappings: []BlockDeviceMapping{{DeviceName: &device, RootVolume: true, EBS: &EBS{VolumeSize: &size, SnapshotID: "snap-1"}}, {}},
				NetworkInterfaces:   &[]NetworkInterface{{0, 1, "efa-only"}},
				Kubelet: &Kubelet{
					MaxPods: jsontext.Value(`"vcpus * 8"`), PodsPerCore: jsontext.Value("10"),
					KubeReserved: Labels{{"cpu", "1"}}, SystemReserved: Labels{{"memory", "100Mi"}},
					EvictionHard: Labels{{"memory.available", "5%"}}, EvictionSoft: Labels{{"nodefs.available", "10%"}},
					ReservedSystemCPUs: "0-1", MergeDefaultEvictionSettings: true, Problem: "none",
				},
			},
			{Name: "default", Kind: KindAWSNodeTemplate, NetworkInterfaces: &[]NetworkInterface{}},
		},
		NodePools: []NodePool{
			{Name: "default", Kind: KindProvisioner, CompatKubelet: &Kubelet{}},
			{Name: "default", Kind: KindNodePool, APIVersion: "karpenter.sh/v1", ClassRef: ClassRef{"karpenter.k8s.aws", KindEC2NodeClass, "default"}, Hash: Hash{"2", "v3"}, Kubelet: &Kubelet{MaxPods: jsontext.Value("0")}},
		},
		NodeOverlays: []NodeOverlay{{Name: "huge", Weight: 10, Requirements: []Requirement{{"a", "In", []string{"b"}}}, Capacity: Labels{{"hugepages-2Mi", "2Gi"}}}},
		NodeClaims: []NodeClaim{{
			Name: "default-x7k2p", Kind: KindNodeClaim, APIVersion: "karpenter.sh/v1", ProviderID: "aws:///a/i-1", NodeName: "node-2", Pool: "default",
			ClassRef: ClassRef{"karpenter.k8s.aws", KindEC2NodeClass, "default"}, ImageID: "ami-1", ClassHash: Hash{"1", "v4"}, PoolHash: Hash{"2", "v3"},
			Kubelet: &Kubelet{}, CompatKubelet: &Kubelet{}, Requests: ResourceList{{"cpu", 100, ""}}, Capacity: ResourceList{{"cpu", 2000, ""}},
			Allocatable: ResourceList{{"cpu", 1930, ""}}, Initialized: "True", Deleting: true,
		}},
		Nodes: []Node{
			{
				Name: "node-2", ProviderID: "aws:///a/i-1", Labels: Labels{{LabelInstanceType, "m5d.4xlarge"}}, OSImage: "Amazon Linux 2023", KubeletVersion: "v1.33.0", KernelVersion: "6.1",
				Ready: "True", Deleting: true, Owner: "default-x7k2p", ClassHash: Hash{"1", "v4"},
				Capacity: ResourceList{{"cpu", 16000, ""}, {"memory", 1 << 35, ""}}, Allocatable: ResourceList{{"cpu", 0, "100Pi"}},
				Join: Join{Claim: "default-x7k2p", Pool: "default", Class: "EC2NodeClass/default", ClassName: "default", Drifted: true, Unknown: "why", Notes: []string{"a"}},
			},
			{Name: "node-1"},
			{Name: "node-10"},
		},
		Gaps: []Gap{{"NodeClaim", "may not be listed"}},
	}
}

func TestRoundTrip(t *testing.T) {
	s := sample()
	var b bytes.Buffer
	if err := Encode(&b, s); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sample(), s); diff != "" {
		t.Errorf("Encode changed the snapshot (-before +after):\n%s", diff)
	}
	got, err := Decode(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatalf("%v\n%s", err, b.Bytes())
	}
	s.Sort()
	if diff := cmp.Diff(s, got); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
	var again bytes.Buffer
	if err := Encode(&again, got); err != nil {
		t.Fatal(err)
	}
	if b.String() != again.String() {
		t.Errorf("the second writing differs:\n%s\n%s", b.String(), again.String())
	}
	for _, line := range strings.Split(b.String(), "\n") {
		if strings.Count(line, `"ready"`)+strings.Count(line, `{"name":"node-`) > 2 {
			t.Errorf("several nodes in one line: %s", line)
		}
	}
}

func TestEmptySnapshot(t *testing.T) {
	var b bytes.Buffer
	if err := Encode(&b, &Snapshot{Cluster: "x", Nodes: []Node{}}); err != nil {
		t.Fatal(err)
	}
	got, err := Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&Snapshot{APIVersion: APIVersion, Kind: Kind, Cluster: "x"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDigest(t *testing.T) {
	want := sample().Digest()
	if !strings.HasPrefix(want, "sha256:") || len(want) != len("sha256:")+64 {
		t.Fatalf("%q is no digest", want)
	}
	for seed := range uint64(20) {
		s, r := sample(), rand.New(rand.NewPCG(seed, 0))
		shuffle(r, s.InstanceTypes)
		shuffle(r, s.NodeClasses)
		shuffle(r, s.NodePools)
		shuffle(r, s.Nodes)
		if got := s.Digest(); got != want {
			t.Errorf("seed %d: the order of the lists changed the digest", seed)
		}
	}
	s := sample()
	s.Nodes[1].Ready = "False"
	if s.Digest() == want {
		t.Error("a changed node left the digest as it was")
	}
}

func shuffle[T any](r *rand.Rand, list []T) {
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

func TestDecodeRefuses(t *testing.T) {
	head := `{"apiVersion":"` + APIVersion + `","kind":"Snapshot"`
	for _, row := range []struct{ reason, in, want string }{
		{"another version: both are named", `{"apiVersion":"allocatable-diff/v2","kind":"Snapshot","new":1}`, `"allocatable-diff/v2", expected "allocatable-diff/v1alpha1"`},
		{"another kind", `{"apiVersion":"` + APIVersion + `","kind":"Run"}`, `kind is "Run", expected "Snapshot"`},
		{"a Kubernetes object", `{"apiVersion":"v1","kind":"NodeList","items":[]}`, `"v1", expected`},
		{"no head at all", `{}`, "it has no apiVersion"},
		{"a misspelt field at the top", head + `,"node":[]}`, `unknown field "node"`},
		{"a misspelt field in a node", head + `,"nodes":[{"name":"a"},{"name":"b","redy":"True"}]}`, "unknown field at /nodes/1/redy"},
		{"a name of the wrong type", head + `,"nodes":[{"name":7}]}`, "/nodes/0/name"},
		{"an amount of the wrong type", head + `,"nodes":[{"name":"a","capacity":[]}]}`, "expected an object"},
		{"a list that is none", head + `,"nodes":{}}`, "/nodes"},
		{"cut off", head + `,"nodes":[{"name":"a"},`, "ends in the middle"},
		{"cut off at the very start", `{"apiVersion":`, "ends in the middle"},
		{"empty", ``, "ends in the middle"},
		{"an array", `[]`, "no JSON object"},
		{"no JSON", `apiVersion: x`, "invalid"},
		{"two snapshots in one file", head + `}` + head + `}`, "one file holds one"},
		{"rubbish behind it", head + `} x`, "invalid"},
	} {
		s, err := Decode(strings.NewReader(row.in))
		if err == nil {
			t.Errorf("%s: read as %+v", row.reason, s)
			continue
		}
		if !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: the error is %q and does not say %q", row.reason, err, row.want)
		}
	}
	_, err := Decode(strings.NewReader(`{"apiVersion":"v1"}`))
	if !errors.Is(err, ErrNotSnapshot) {
		t.Errorf("%v is not ErrNotSnapshot", err)
	}
}

func TestWriteAndRead(t *testing.T) {
	for _, name := range []string{"s.json", "s.json.gz"} {
		path := filepath.Join(t.TempDir(), name)
		if err := Write(path, sample()); err != nil {
			t.Fatal(err)
		}
		first, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if compressed := bytes.HasPrefix(first, []byte{0x1f, 0x8b}); compressed != strings.HasSuffix(name, ".gz") {
			t.Errorf("%s: compressed is %v", name, compressed)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v, %v, want 0600", name, info.Mode(), err)
		}
		got, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		want := sample()
		want.Sort()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if err := Write(path, got); err != nil {
			t.Fatal(err)
		}
		if second, err := os.ReadFile(path); err != nil || !bytes.Equal(first, second) {
			t.Errorf("%s: the second writing has other bytes (%v)", name, err)
		}
	}
}

// A file is recognised by its content, whatever its name.
func TestReadByContent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.json")
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if err := errors.Join(Encode(z, sample()), z.Close()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(path, b.Bytes()[:b.Len()/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "ends in the middle") {
		t.Errorf("half a compressed file: %v", err)
	}
	if _, err := Read(path + ".none"); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), path) {
		t.Errorf("no file: %v", err)
	}
}

// Equal lists of labels and amounts are one list after reading: a large cluster must not cost what its file is long.
func TestDecodeSharesLists(t *testing.T) {
	s := &Snapshot{Cluster: "x"}
	for _, name := range []string{"a", "b"} {
		s.Nodes = append(s.Nodes, Node{Name: name, Labels: Labels{{"k", "v"}}, Capacity: ResourceList{{"cpu", 4000, ""}}})
	}
	var b bytes.Buffer
	if err := Encode(&b, s); err != nil {
		t.Fatal(err)
	}
	got, err := Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	if &got.Nodes[0].Labels[0] != &got.Nodes[1].Labels[0] || &got.Nodes[0].Capacity[0] != &got.Nodes[1].Capacity[0] {
		t.Error("equal lists do not share memory")
	}
}

func FuzzDecode(f *testing.F) {
	var b bytes.Buffer
	if err := Encode(&b, sample()); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte(`{"apiVersion":"allocatable-diff/v1alpha1","kind":"Snapshot","nodes":[{"name":"a","labels":null,"capacity":{"cpu":1e999}}]}`))
	f.Add([]byte(`{"apiVersion":"allocatable-diff/v1alpha1","kind":"Snapshot","nodeClasses":[{"name":"a","kubelet":{"maxPods":null,"kubeReserved":{"cpu":true}}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Decode(bytes.NewReader(data))
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := Encode(&out, s); err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		again, err := Decode(bytes.NewReader(out.Bytes()))
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, out.Bytes())
		}
		if again.Digest() != s.Digest() {
			t.Fatalf("reading what was written gives another digest:\n%s", out.Bytes())
		}
		x := NewIndex(s)
		for i := range s.Nodes {
			x.Claim(&s.Nodes[i])
			x.Class(&s.Nodes[i])
			x.Kubelet(&s.Nodes[i], true, true).Key()
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	s := &Snapshot{Cluster: "x"}
	for i := range 1000 {
		n := sample().Nodes[0]
		n.Name = strings.Repeat("n", i%7) + string(rune('a'+i%26))
		s.Nodes = append(s.Nodes, n)
	}
	var data bytes.Buffer
	if err := Encode(&data, s); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(data.Len()))
	for b.Loop() {
		if _, err := Decode(bytes.NewReader(data.Bytes())); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	s := sample()
	for b.Loop() {
		if err := Encode(io.Discard, s); err != nil {
			b.Fatal(err)
		}
	}
}
