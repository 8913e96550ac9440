package recommend

import (
	"cmp"
	"slices"
)

// Capacities is a type of which machines with several real memory sizes exist. The smallest decides the overhead.
type Capacities struct {
	InstanceType string         `json:"instanceType"`
	Sizes        []CapacitySize `json:"sizes"`
}

// CapacitySize is nodes whose memory capacity is the same but for jitter, in bytes.
type CapacitySize struct {
	SmallestBytes int64 `json:"smallestBytes"`
	LargestBytes  int64 `json:"largestBytes"`
	Nodes         int   `json:"nodes"`
}

// distinct is the share of EC2's memory by which two sizes differ when they are two: 1/400. Identical nodes are 4 to
// 24 KiB apart, kernels and images move a node by up to a tenth of a per cent, and hardware revisions of m5.16xlarge are
// 1 % apart (2,688 MiB).
const distinct = 400

// severalCapacities are the types of which the nodes' capacities fall into more than one size, by name; sizes ascend.
func (p *problem) severalCapacities() []Capacities {
	byType := map[string][]*node{}
	for i := range p.nodes {
		if n := &p.nodes[i]; n.Capacity.Known {
			byType[n.InstanceType] = append(byType[n.InstanceType], n)
		}
	}
	var out []Capacities
	for name, nodes := range byType {
		slices.SortStableFunc(nodes, func(a, b *node) int { return cmp.Compare(a.Capacity.Value, b.Capacity.Value) })
		c := Capacities{InstanceType: name}
		apart := nodes[0].fit.BaseMiB() * (1 << 20) / distinct
		for _, n := range nodes {
			size := n.Capacity.Value
			if last := len(c.Sizes) - 1; last >= 0 && size-c.Sizes[last].LargestBytes <= apart {
				c.Sizes[last].LargestBytes = size
				c.Sizes[last].Nodes++
				continue
			}
			c.Sizes = append(c.Sizes, CapacitySize{size, size, 1})
		}
		if len(c.Sizes) > 1 {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b Capacities) int { return cmp.Compare(a.InstanceType, b.InstanceType) })
	return out
}
