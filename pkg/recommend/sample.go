package recommend

import (
	"cmp"

	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// Sample is one node: what it is, what it has, and how its expectation follows the overhead.
type Sample struct {
	Cluster, Node, NodePool, AMIFamily, Arch, InstanceType string
	// State and Reason are the gate's: only a judged node is sampled.
	State  gate.State
	Reason string
	// Capacity and Allocatable are the memory that the node reports, Claim the memory capacity that its NodeClaim
	// carries, in bytes.
	Capacity, Allocatable, Claim snapshot.Figure
	// Discovered: the claim's memory was measured on an earlier node, not predicted.
	Discovered bool
	// ReserveUnknown is why the expected allocatable cannot be trusted although the node was judged; else empty.
	ReserveUnknown string

	curve *curve
}

// curve is the expected memory of one instance type in one class: the nodes that agree in both share it.
type curve struct {
	*expect.VMOverhead
	model        *expect.Model
	instanceType *snapshot.InstanceType
	// percent is the fraction that is set today.
	percent float64
}

// Samples returns every node of the snapshots, classified by the gate's own rules; State says which are judged. It fails
// only on overrides that cannot be used.
func Samples(snapshots []*snapshot.Snapshot, o gate.Options) ([]Sample, error) {
	subjects, err := gate.Subjects(snapshots, o)
	if err != nil {
		return nil, err
	}
	n := 0
	for _, s := range snapshots {
		n += len(s.Nodes)
	}
	samples := make([]Sample, 0, n)
	curves := map[*expect.Expectation]*curve{}
	for node, subject := range subjects {
		samples = append(samples, sample(node, subject, curves))
	}
	return samples, nil
}

func sample(node gate.Node, subject compare.Subject, curves map[*expect.Expectation]*curve) Sample {
	s := Sample{
		Cluster: node.Cluster, Node: node.Name, NodePool: node.NodePool, AMIFamily: node.AMIFamily,
		Arch: node.Arch, InstanceType: node.InstanceType,
		State: node.State, Reason: node.Reason, Discovered: node.ClaimState == gate.Discovered,
	}
	if node.State != gate.Judged {
		return s
	}
	c, ok := curves[subject.Expect]
	if !ok {
		overhead, err := subject.Model.VMOverhead(subject.Type, subject.Expect)
		if err != nil {
			s.State, s.Reason = gate.Unknown, err.Error()
			return s
		}
		c = &curve{overhead, subject.Model, subject.Type, subject.Model.Settings().OverheadPercent}
		curves[subject.Expect] = c
	}
	s.curve = c
	s.Arch = cmp.Or(s.Arch, arch(subject.Type))
	s.Capacity = subject.Node.Capacity.Get(expect.Memory)
	s.Allocatable = subject.Node.Allocatable.Get(expect.Memory)
	if subject.Claim != nil {
		s.Claim = subject.Claim.Capacity.Get(expect.Memory)
	}
	switch {
	case c.Unknown() != "":
		s.ReserveUnknown = c.Unknown()
	case node.Drifted:
		s.ReserveUnknown = "the NodeClass was edited after launch, so its reserves are not the node's"
	case subject.Class == nil && !subject.Model.Family().ENILimitedMemoryOverhead:
		s.ReserveUnknown = "no NodeClass in the input, and kube-reserved of " + s.AMIFamily + " follows maxPods"
	}
	return s
}

// arch is the architecture in Kubernetes' words, for nodes without the label.
func arch(t *snapshot.InstanceType) string {
	if len(t.Architectures) > 0 && t.Architectures[0] == "arm64" {
		return "arm64"
	}
	return "amd64"
}

// usable says why the sample cannot be used for the field; empty when it can.
func (s *Sample) usable(field compare.Field) string {
	figure := s.figure(field)
	switch {
	case s.State != gate.Judged:
		return s.Reason
	case !figure.Known || figure.Value <= 0:
		return "the node reports no " + field.String() + " of memory"
	case field == compare.Allocatable && s.ReserveUnknown != "":
		return s.ReserveUnknown
	}
	return ""
}

func (s *Sample) figure(field compare.Field) snapshot.Figure {
	if field == compare.Allocatable {
		return s.Allocatable
	}
	return s.Capacity
}

// expected is the expected figure of field in bytes at an overhead of so many MiB.
func (c *curve) expected(field compare.Field, overheadMiB int64) (int64, error) {
	if field == compare.Allocatable {
		return c.Allocatable(overheadMiB)
	}
	return c.Capacity(overheadMiB), nil
}
