package expect

import (
	"fmt"
	"math"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// The largest facts that the formulas take. Counts are 32 bits wide in EC2's own API, so that no product of two of them
// wraps; memory (MiB) and disks (GB) are bounded so that their bytes do not. Facts can come from any file.
const (
	largestCount  = math.MaxInt32
	largestMemory = 1 << 42
	largestDisk   = 1 << 33
)

// checkFacts fails on a fact that is negative or too large.
func checkFacts(t *snapshot.InstanceType) error {
	for _, f := range []struct {
		name           string
		value, largest int64
	}{
		{"vCPUs", t.VCPUs, largestCount},
		{"MiB of memory", t.MemoryMiB, largestMemory},
		{"network interfaces", t.ENIs, largestCount},
		{"network interfaces of the default card", t.DefaultCardENIs, largestCount},
		{"IPv4 addresses of an interface", t.IPv4PerENI, largestCount},
		{"EFA interfaces", t.EFAs, largestCount},
	} {
		if err := checkFact(t, f.name, f.value, f.largest); err != nil {
			return err
		}
	}
	if t.InstanceStoreGB != nil {
		if err := checkFact(t, "GB of instance store", *t.InstanceStoreGB, largestDisk); err != nil {
			return err
		}
	}
	if l := t.Limits; l != nil {
		if err := checkFact(t, "IPv4 addresses in the VPC limits table", l.IPv4PerENI, largestCount); err != nil {
			return err
		}
		if err := checkFact(t, "branch interfaces in the VPC limits table", l.BranchInterfaces, largestCount); err != nil {
			return err
		}
	}
	return checkDevices(t)
}

func checkDevices(t *snapshot.InstanceType) error {
	for _, list := range [][]snapshot.Device{t.GPUs, t.InferenceAccelerators} {
		for _, d := range list {
			if err := checkFact(t, "accelerators", d.Count, largestCount); err != nil {
				return err
			}
		}
	}
	for _, d := range t.Neurons {
		if err := checkFact(t, "Neuron devices", d.Count, largestCount); err != nil {
			return err
		}
		if err := checkFact(t, "cores of a Neuron device", d.Cores, largestCount); err != nil {
			return err
		}
	}
	return nil
}

func checkFact(t *snapshot.InstanceType, name string, value, largest int64) error {
	if value < 0 || value > largest {
		return fmt.Errorf("instance type %q has %d %s, which is not between 0 and %d: look at the file that it comes from", t.Name, value, name, largest)
	}
	return nil
}
