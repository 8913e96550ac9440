package expect

import (
	"testing"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

func TestAccelerators(t *testing.T) {
	gpu := func(devices ...snapshot.Device) snapshot.InstanceType {
		instance := x86("g", 8, 32768, 4, 15)
		instance.GPUs = devices
		return instance
	}
	neuron := func(devices ...snapshot.Neuron) snapshot.InstanceType {
		instance := x86("inf", 8, 32768, 4, 15)
		instance.Neurons = devices
		return instance
	}
	inference := func(instance snapshot.InstanceType, devices ...snapshot.Device) snapshot.InstanceType {
		instance.InferenceAccelerators = devices
		return instance
	}
	named := func(name string) snapshot.InstanceType {
		instance := trn132xlarge()
		instance.Name = name
		return instance
	}
	for _, row := range []struct {
		reason   string
		version  string
		instance snapshot.InstanceType
		want     []string
	}{
		{"NVIDIA", "", gpu(snapshot.Device{Manufacturer: "NVIDIA", Count: 8}), []string{"nvidia.com/gpu capacity=8", "nvidia.com/gpu allocatable=8", "amd.com/gpu capacity=0"}},
		{"AMD", "", gpu(snapshot.Device{Manufacturer: "AMD", Count: 4}), []string{"amd.com/gpu capacity=4", "nvidia.com/gpu capacity=0"}},
		{"Habana", "", gpu(snapshot.Device{Manufacturer: "Habana", Count: 8}), []string{"habana.ai/gaudi capacity=8"}},
		{"entries of one manufacturer add up", "", gpu(snapshot.Device{Manufacturer: "NVIDIA", Count: 8}, snapshot.Device{Manufacturer: "NVIDIA", Count: 2}), []string{"nvidia.com/gpu capacity=10"}},
		{"the manufacturer is compared exactly", "", gpu(snapshot.Device{Manufacturer: "Nvidia", Count: 8}), []string{"nvidia.com/gpu capacity=0"}},
		{"a fractional GPU is counted as 0, as EC2 does", "", gpu(snapshot.Device{Manufacturer: "NVIDIA"}), []string{"nvidia.com/gpu capacity=0"}},

		{"Neuron devices add up, cores are the first entry's", "", neuron(snapshot.Neuron{Count: 2, Cores: 4}, snapshot.Neuron{Count: 3, Cores: 8}), []string{"aws.amazon.com/neuron capacity=5", "aws.amazon.com/neuroncore capacity=8"}}, // 2+3; 2·4
		{"no Neuron devices", "", neuron(), []string{"aws.amazon.com/neuron capacity=0", "aws.amazon.com/neuroncore capacity=0"}},
		{"from v1.1.0 on inference accelerators do not count", "1.1.0", inference(neuron(), snapshot.Device{Manufacturer: "Qualcomm", Count: 8}), []string{"aws.amazon.com/neuron capacity=0"}},
		{"before, they do, whoever made them", "1.0.14", inference(neuron(), snapshot.Device{Manufacturer: "Qualcomm", Count: 8}), []string{"aws.amazon.com/neuron capacity=8", "aws.amazon.com/neuroncore capacity=absent"}},
		{"and NeuronInfo does not", "1.0.14", neuron(snapshot.Neuron{Count: 16, Cores: 2}), []string{"aws.amazon.com/neuron capacity=0"}},

		{"trn1.2xlarge is a constant", "0.28.0", named("trn1.2xlarge"), []string{"aws.amazon.com/neuron capacity=1"}},
		{"trn1.32xlarge", "0.28.0", named("trn1.32xlarge"), []string{"aws.amazon.com/neuron capacity=16"}},
		{"trn1n.32xlarge", "1.0.14", named("trn1n.32xlarge"), []string{"aws.amazon.com/neuron capacity=16"}},
		{"the constant wins over what EC2 says", "0.37.8", inference(named("trn1.32xlarge"), snapshot.Device{Count: 3}), []string{"aws.amazon.com/neuron capacity=16"}},
		{"v0.27 has no constants", "0.27.8", named("trn1.32xlarge"), []string{"aws.amazon.com/neuron capacity=0"}},
		{"v1.1.0 has none either", "1.1.0", inference(neuron(snapshot.Neuron{Count: 4, Cores: 2}), snapshot.Device{Count: 3}), []string{"aws.amazon.com/neuron capacity=4", "aws.amazon.com/neuroncore capacity=8"}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			checkFigures(t, given{version: row.version}.expect(t, row.instance), row.want...)
		})
	}
	lacking := trn132xlarge()
	lacking.Missing = []snapshot.Fact{snapshot.FactNeuron}
	checkFigures(t, given{version: "0.28.0"}.expect(t, lacking), "aws.amazon.com/neuron capacity=16") // a constant needs no facts
}
