package fleet

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// machine is one node with its claim.
type machine struct {
	*machineType
	number int
	random *rand.Rand
	// class and pool are indices; a node of a managed node group has a pool of -1 and no claim.
	class, pool int
	// zone is an index of zones.
	zone  int
	ready bool
	// What the node reports, and what its claim says.
	capacity, allocatable, claimCapacity, claimAllocatable []amount
	instance, name, claim                                  string
}

// amount is a resource as Kubernetes prints it.
type amount struct{ name, text string }

// zones are the last letters of the zones' names.
const zones = "abc"

// machine makes node i.
func (f *Fleet) machine(i int) *machine {
	r := rand.New(rand.NewPCG(f.seed, uint64(i)))
	// Most nodes of a cluster are of few types.
	share := r.Float64()
	m := &machine{machineType: &f.types[int(share*share*float64(len(f.types)))], number: i, random: r, ready: r.IntN(100) > 0}
	m.pool = r.IntN(pools)
	m.class = m.pool % len(classes)
	m.claim = fmt.Sprintf("%s-%05x", poolName(m.pool), i)
	if r.IntN(100) == 0 {
		m.pool = -1
	}
	m.zone = r.IntN(len(zones))
	m.instance = fmt.Sprintf("i-0%016x", r.Uint64())
	m.name = fmt.Sprintf("ip-10-%d-%d-%d.us-west-2.compute.internal", i>>16&0xff, i>>8&0xff, i&0xff)
	m.report()
	return m
}

func (m *machine) address() string {
	return fmt.Sprintf("10.%d.%d.%d", m.number>>16&0xff, m.number>>8&0xff, m.number&0xff)
}

func (m *machine) zoneName() string { return "us-west-2" + zones[m.zone:m.zone+1] }

func (m *machine) providerID() string { return "aws:///" + m.zoneName() + "/" + m.instance }

func (m *machine) uid() string {
	a, b := m.random.Uint64(), m.random.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", a>>32, a>>16&0xffff, a&0xfff, b>>52, b&0xffffffffffff)
}

const gib = 1 << 30

// report fills in the amounts: the expectation, but for the memory and the disk that the machine really has.
func (m *machine) report() {
	e := m.expected[m.class]
	discovered := m.random.IntN(3) > 0
	for i := range e.Resources {
		r := &e.Resources[i]
		if !r.Capacity.Known || !r.Allocatable.Known || r.Capacity.Value == 0 || r.Name == expect.EFA || r.Name == expect.PodENI {
			continue // EFA and interfaces of pods are there for those who ask
		}
		capacity, allocatable := r.Capacity.Value, r.Allocatable.Value
		claim := [2]int64{capacity, allocatable}
		switch r.Name {
		case expect.Memory:
			capacity = int64(float64(m.MemoryMiB<<20-m.contiguous())*(1-m.gap)) &^ 4095
			if discovered {
				claim = [2]int64{capacity, capacity - (r.Capacity.Value - allocatable)}
			}
			allocatable += capacity - r.Capacity.Value
			jitter := int64(m.random.IntN(3)) << 12
			capacity, allocatable = capacity+jitter, allocatable+jitter
		case expect.EphemeralStorage:
			capacity -= capacity / 300 &^ 1023 // the file system's own blocks
			allocatable = capacity - capacity/10 - gib
		}
		m.capacity = append(m.capacity, amount{r.Name, quantity(r.Name, capacity)})
		m.allocatable = append(m.allocatable, amount{r.Name, quantity(r.Name, allocatable)})
		m.claimCapacity = append(m.claimCapacity, amount{r.Name, snapshot.FormatQuantity(r.Name, claim[0])})
		m.claimAllocatable = append(m.claimAllocatable, amount{r.Name, snapshot.FormatQuantity(r.Name, claim[1])})
	}
	for _, name := range []string{"hugepages-1Gi", "hugepages-2Mi"} {
		m.capacity = append(m.capacity, amount{name, "0"})
		m.allocatable = append(m.allocatable, amount{name, "0"})
	}
	for _, list := range [][]amount{m.capacity, m.allocatable, m.claimCapacity, m.claimAllocatable} {
		slices.SortFunc(list, func(a, b amount) int { return cmp.Compare(a.name, b.name) })
	}
}

// contiguous is the bytes that a Graviton's kernel keeps for contiguous allocations.
func (m *machine) contiguous() int64 {
	if m.arch == "arm64" {
		return 64 << 20
	}
	return 0
}

// quantity prints an amount as the kubelet does: memory and disks in Ki where they are whole Ki.
func quantity(name string, v int64) string {
	if snapshot.InBytes(name) {
		if v%1024 == 0 {
			return fmt.Sprintf("%dKi", v/1024)
		}
		return fmt.Sprint(v)
	}
	return snapshot.FormatQuantity(name, v)
}
