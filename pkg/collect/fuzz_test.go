package collect

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// FuzzDump: whatever is in a dump, reading it ends in a snapshot that can be written and read again, or in an error.
func FuzzDump(f *testing.F) {
	f.Add([]byte(nodeJSON("a")))
	f.Add([]byte(`{"apiVersion":"v1","items":[` + nodeJSON("a") + `],"kind":"List"}`))
	f.Add([]byte(`{"kind":"NodeList","apiVersion":"v1","items":[{"metadata":{"name":"a"}}]}`))
	f.Add([]byte("apiVersion: v1\nitems:\n" + nodeYAML("a") + "kind: List\n---\n- 1\n"))
	f.Add([]byte(`{"apiVersion":"allocatable-diff/v1alpha1","kind":"Snapshot","cluster":"x","nodes":[{"name":"a","labels":{"karpenter.sh/nodepool":"p"}}]}`))
	for _, pattern := range []string{"v1alpha5/*.yaml", "v1beta1/*.yaml", "v1-reserved-enis/*.yaml"} {
		paths, err := filepath.Glob("../../fixtures/clusters/" + pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		in, err := Files([]string{"-"}, bytes.NewReader(data), Options{Cluster: "x", InstanceTypes: "labels"})
		if err != nil {
			return
		}
		for _, s := range in.Snapshots {
			var b bytes.Buffer
			if err := snapshot.Encode(&b, s); err != nil {
				t.Fatalf("the snapshot cannot be written: %v", err)
			}
			again, err := snapshot.Decode(&b)
			if err != nil {
				t.Fatalf("the snapshot cannot be read again: %v", err)
			}
			if again.Digest() != s.Digest() {
				t.Fatal("the snapshot that was read again has another digest")
			}
			x := snapshot.NewIndex(s)
			for i := range s.Nodes {
				x.Kubelet(&s.Nodes[i], i%2 == 0, i%3 == 0).Key()
			}
		}
	})
}

// FuzzInstanceTypes: whatever is in the file, it is read or refused.
func FuzzInstanceTypes(f *testing.F) {
	f.Add([]byte(`{"InstanceTypes":[` + typeJSON("m5.large") + `],"NextToken":"t"}`))
	f.Add([]byte(`[` + typeJSON("trn1.2xlarge") + `]`))
	f.Add([]byte(`{"InstanceTypes":[{"InstanceType":"a","VCpuInfo":{"DefaultVCpus":1},"MemoryInfo":{"SizeInMiB":-1},"ProcessorInfo":{"SupportedArchitectures":["arm64"]},"NetworkInfo":{"DefaultNetworkCardIndex":-1,"MaximumNetworkInterfaces":1,"Ipv4AddressesPerInterface":1,"NetworkCards":[null]},"GpuInfo":{"Gpus":null},"NeuronInfo":{"NeuronDevices":[{"CoreInfo":null}]}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		types, err := decodeInstanceTypes(bytes.NewReader(data), "fuzz")
		if err != nil {
			return
		}
		for i := range types {
			if types[i].Name == "" || len(types[i].Architectures) == 0 {
				t.Fatalf("a type without a name or an architecture was kept: %+v", types[i])
			}
		}
	})
}
