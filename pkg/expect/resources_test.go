package expect

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestSource: `explain` names the file of a formula; the file is there and says where it comes from.
func TestSource(t *testing.T) {
	for _, name := range append(ResourceNames(), "hugepages-2Mi") {
		source := Source(name)
		here, upstream, _ := strings.Cut(source, "; ")
		text, err := os.ReadFile(strings.TrimPrefix(here, "pkg/expect/"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		words := strings.Fields(upstream)
		if function := words[len(words)-1]; !strings.Contains(string(text), function) && !strings.Contains(string(text), "pkg/controllers/nodeoverlay") {
			t.Errorf("%s does not name %s of %s", here, function, upstream)
		}
	}
	if got, want := Source(Memory), "pkg/expect/memory.go; karpenter-provider-aws pkg/providers/instancetype/types.go memory()"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestResourceOrder: the order of every report.
func TestResourceOrder(t *testing.T) {
	want := []string{Memory, CPU, EphemeralStorage, Pods, NvidiaGPU, AMDGPU, Gaudi, NeuronDevice, NeuronCore, EFA, PodENI, PrivateIPv4}
	if got := ResourceNames(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
