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
}{
	{Memory, nil, (*calculation).memory},
	{CPU, nil, (*calculation).cpu},
	{EphemeralStorage, nil, (*calculation).ephemeralStorage},
	{Pods, nil, (*calculation).podsCapacity},
	{NvidiaGPU, nil, gpus("NVIDIA")},
	{AMDGPU, nil, gpus("AMD")},
	{Gaudi, nil, gpus("Habana")},
	{NeuronDevice, nil, (*calculation).neuronDevices},
	{NeuronCore, func(m *Model) bool { return m.rules.NeuronInfo }, (*calculation).neuronCores},
	{EFA, func(m *Model) bool { return m.rules.EFA }, (*calculation).efaInterfaces},
	{PodENI, nil, (*calculation).podENIs},
	{PrivateIPv4, (*Model).hasPrivateIPv4, (*calculation).privateIPv4},
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
	// terms is one backing array for all sums of the calculation.
	terms []Term
	// memoryBytes and storageBytes are the capacities by formula: percentages of eviction signals are taken of them.
	memoryBytes, storageBytes int64
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
	var m missingFact
	if errors.As(err, &m) {
		return m.text, nil
	}
	return "", err
}
