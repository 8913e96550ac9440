package expect

import "github.com/allocatable-diff/allocatable-diff/pkg/snapshot"

// gpus is the sum of GpuInfo.Gpus[].Count of one manufacturer, spelled exactly so.
// Source: nvidiaGPUs(), amdGPUs(), habanaGaudis() in pkg/providers/instancetype/types.go, all releases.
func gpus(manufacturer string) func(*calculation) (Sum, error) {
	label := manufacturer + " devices of EC2"
	return func(c *calculation) (Sum, error) {
		if err := c.need(snapshot.FactGPU); err != nil {
			return nil, err
		}
		var n int64
		for _, gpu := range c.instance.GPUs {
			if gpu.Manufacturer == manufacturer {
				n += gpu.Count
			}
		}
		return c.sum(term(label, n)), nil
	}
}

// trainium are the devices that v0.28.0 … v1.0.x have as constants, since DescribeInstanceTypes did not list them.
// Source: awsNeurons() in pkg/providers/instancetype/types.go (v0.28.0).
var trainium = map[string]int64{"trn1.2xlarge": 1, "trn1.32xlarge": 16, "trn1n.32xlarge": 16}

// neuronDevices is the sum of NeuronInfo.NeuronDevices[].Count, and before v1.1.0 (c2f019dda) that of
// InferenceAcceleratorInfo.Accelerators[].Count.
// Source: awsNeuronDevices() in pkg/providers/instancetype/types.go, awsNeurons() before v1.1.0.
func (c *calculation) neuronDevices() (Sum, error) {
	if n, ok := trainium[c.instance.Name]; ok && c.rules.TrainiumFixed {
		return c.sum(term("constant of this release", n)), nil
	}
	if err := c.need(snapshot.FactNeuron); err != nil {
		return nil, err
	}
	var n int64
	if !c.rules.NeuronInfo {
		for _, a := range c.instance.InferenceAccelerators {
			n += a.Count
		}
		return c.sum(term("inference accelerators of EC2", n)), nil
	}
	for _, d := range c.instance.Neurons {
		n += d.Count
	}
	return c.sum(term("Neuron devices of EC2", n)), nil
}

// neuronCores is devices × cores of the first NeuronDevices entry alone.
// Source: awsNeuronCores() in pkg/providers/instancetype/types.go, since v1.1.0 (c2f019dda).
func (c *calculation) neuronCores() (Sum, error) {
	if err := c.need(snapshot.FactNeuron); err != nil {
		return nil, err
	}
	var n int64
	if len(c.instance.Neurons) > 0 {
		n = c.instance.Neurons[0].Count * c.instance.Neurons[0].Cores
	}
	return c.sum(term("Neuron cores of EC2", n)), nil
}
