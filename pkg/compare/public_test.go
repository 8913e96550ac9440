package compare

import (
	"testing"

	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// TestPublicNodes explains every public node whose memory figures are complete: what it keeps is its AMI's own formula
// for the ENI-limited pods, whatever its max pods are, in all but two old AMIs that keep nothing but the eviction
// threshold. Nothing is left unexplained, not even of other resources.
func TestPublicNodes(t *testing.T) {
	all := readPublicNodes(t)
	byFormula, withoutReserve := 0, 0
	for i, n := range all.Nodes {
		s := n.subject(t)
		rows := Rows(s)
		for j := range rows {
			row := &rows[j]
			Detail(s, row)
			checkParts(t, s, n.Type, row, row.Gap().Value, row.Causes)
			if c := row.Causes; len(c) > 0 && c[len(c)-1].ID == Unexplained {
				t.Errorf("node %d, %s: %s %s is left unexplained: %+v", i, n.Type, row.Resource, row.Field, c)
			}
		}
		capacity, allocatable := n.Capacity.Get(expect.Memory).Value, n.Allocatable.Get(expect.Memory).Value
		keeps := capacity - allocatable - hugePages(n.Capacity)
		found, fits := nodeSideOf(&s).explain(expect.Memory, capacity, keeps)
		pods := eniPods(s.Type, s.Type.DefaultCardENIs)
		switch {
		case fits && found.kubeBy == byDefault && found.pods == pods && size(keeps-(11*pods+255+100)*mib) <= mib:
			byFormula++
		case fits && found.kubeBy == byNothing && keeps == 100*mib:
			withoutReserve++
			if _, ok := parts(rowOf(t, rows, expect.Memory, Allocatable).Causes)["no-kube-reserved"]; !ok {
				t.Errorf("node %d, %s: keeps 100Mi, and the cause is not no-kube-reserved", i, n.Type)
			}
		default:
			t.Errorf("node %d, %s: keeps %d, explained as %+v", i, n.Type, keeps, found)
		}
	}
	if byFormula != 59 || withoutReserve != 2 {
		t.Errorf("%d nodes by the formula and %d without a reserve, not 59 and 2", byFormula, withoutReserve)
	}
}

// subject is the public node under a class that has its family and its volume, and no settings.
func (n publicNode) subject(t *testing.T) Subject {
	t.Helper()
	sc := scene{overhead: 0.075, image: n.Image, instance: n.Type, class: &snapshot.NodeClass{}}
	if family, ok := expect.FamilyOfImage(n.Image, expect.Newest); ok {
		sc.family = family.Name
	}
	device := "/dev/xvda"
	if sc.family == "Bottlerocket" {
		device = "/dev/xvdb"
	}
	if n.Volume != "" && n.Volume != "RAID0" {
		sc.class.BlockDeviceMappings = []snapshot.BlockDeviceMapping{{DeviceName: &device, EBS: &snapshot.EBS{VolumeSize: &n.Volume}}}
	}
	if n.Volume == "RAID0" {
		sc.class.InstanceStorePolicy = n.Volume
	}
	s := sc.subject(t)
	s.Node.Capacity, s.Node.Allocatable = n.Capacity, n.Allocatable
	return s
}
