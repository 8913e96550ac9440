package expect

import (
	"errors"
	"fmt"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// Resource names as they stand in a node's status.
const (
	CPU              = "cpu"
	Memory           = "memory"
	EphemeralStorage = "ephemeral-storage"
	Pods             = "pods"
	NvidiaGPU        = "nvidia.com/gpu"
	AMDGPU           = "amd.com/gpu"
	Gaudi            = "habana.ai/gaudi"
	NeuronDevice     = "aws.amazon.com/neuron"
	NeuronCore       = "aws.amazon.com/neuroncore"
	EFA              = "vpc.amazonaws.com/efa"
	PodENI           = "vpc.amazonaws.com/pod-eni"
	PrivateIPv4      = "vpc.amazonaws.com/PrivateIPv4Address"
)

// resources is the table of what Karpenter puts into capacity; its order is the order of every report. pods stands
// before the overhead is worked out, which needs it.
var resources = []struct {
	name string
	// has tells whether the release and family have the resource at all; nil means always.
	has      func(*Model) bool
	capacity func(*calculation) (Sum, error)
	// file is the formula's file here, upstream its function in types.go of pkg/providers/instancetype.
	file, upstream string
	// fixed: a NodeOverlay that sets it is refused as a whole.
	fixed bool
}{
	{Memory, nil, (*calculation).memory, "memory.go", "memory()", true},
	{CPU, nil, (*calculation).cpu, "cpu.go", "cpu()", true},
	{EphemeralStorage, nil, (*calculation).ephemeralStorage, "ephemeralstorage.go", "ephemeralStorage()", true},
	{Pods, nil, (*calculation).pods, "pods.go", "pods()", true},
	{NvidiaGPU, nil, gpus("NVIDIA"), "accelerators.go", "nvidiaGPUs()", false},
	{AMDGPU, nil, gpus("AMD"), "accelerators.go", "amdGPUs()", false},
	{Gaudi, nil, gpus("Habana"), "accelerators.go", "habanaGaudis()", true},
	{NeuronDevice, nil, (*calculation).neuronDevices, "accelerators.go", "awsNeuronDevices()", true},
	{NeuronCore, func(m *Model) bool { return m.rules.NeuronInfo }, (*calculation).neuronCores, "accelerators.go", "awsNeuronCores()", true},
	{EFA, func(m *Model) bool { return m.rules.EFA }, (*calculation).efaInterfaces, "network.go", "efas()", true},
	{PodENI, nil, (*calculation).podENIs, "network.go", "awsPodENI()", true},
	{PrivateIPv4, (*Model).hasPrivateIPv4, (*calculation).privateIPv4, "network.go", "privateIPv4Address()", false},
}

// Source names the formula of a resource's capacity, here and in Karpenter. What is not in the table can only come
// from a NodeOverlay.
func Source(name string) string {
	for i := range resources {
		if r := &resources[i]; r.name == name {
			return "pkg/expect/" + r.file + "; karpenter-provider-aws pkg/providers/instancetype/types.go " + r.upstream
		}
	}
	return "pkg/expect/nodeoverlay.go; sigs.k8s.io/karpenter pkg/controllers/nodeoverlay/store.go"
}

// ResourceNames lists the resources in the order of every report.
func ResourceNames() []string {
	out := make([]string, len(resources))
	for i := range resources {
		out[i] = resources[i].name
	}
	return out
}

// calculation is the working out of one instance type.
type calculation struct {
	*Model
	instance *snapshot.InstanceType
	result   Expectation
	// terms is one backing array for all sums of the calculation.
	terms []Term
	// podsSum and podsErr are the pods of the node, once podsKnown.
	podsSum   Sum
	podsErr   error
	podsKnown bool
	// memoryBytes and storageBytes are the capacities by formula: percentages of eviction signals are taken of them.
	memoryBytes, storageBytes int64
}

// begin forgets the last type, but for the memory that it took.
func (c *calculation) begin(m *Model, t *snapshot.InstanceType) {
	terms, list := c.terms[:0], c.result.Resources[:0]
	if terms == nil {
		terms, list = make([]Term, 0, 32), make([]Resource, 0, len(resources)+len(m.overlay))
	}
	*c = calculation{Model: m, instance: t, terms: terms, result: Expectation{InstanceType: t.Name, Family: m.family.Name, Resources: list}}
}

// sum returns the terms as a Sum in the shared backing array.
func (c *calculation) sum(terms ...Term) Sum {
	from := len(c.terms)
	c.terms = append(c.terms, terms...)
	return Sum(c.terms[from:len(c.terms):len(c.terms)])
}

func (c *calculation) remember(name string, value int64) {
	switch name {
	case Memory:
		c.memoryBytes = value
	case EphemeralStorage:
		c.storageBytes = value
	}
}

// missingFact is an error that makes single resources unknown, not the node.
type missingFact struct{ text string }

func (e missingFact) Error() string { return e.text }

// need fails when the source of the instance type's facts could not tell f.
func (c *calculation) need(f snapshot.Fact) error {
	if c.instance.Lacks(f) {
		return missingFact{fmt.Sprintf("the %s of %s are not known from this source: use --instance-types ec2 or a describe-instance-types file", f, c.instance.Name)}
	}
	return nil
}

// missing splits a formula's error: a missing fact becomes the reason of one resource, anything else stays an error.
func missing(err error) (string, error) {
	if err == nil {
		return "", nil // before m, which errors.As moves to the heap
	}
	var m missingFact
	if errors.As(err, &m) {
		return m.text, nil
	}
	return "", err
}
