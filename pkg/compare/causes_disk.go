package compare

import (
	"strings"

	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// metadataShare is what partition table, boot partitions and file-system metadata take of a volume at most: 0.06 to
// 1.7 % on AL2, AL2023 and Bottlerocket, 2 to 4 % on ext4 (core#3253, model §8.6).
const metadataShare = 0.05

// madeOf reports whether the node's disk can have been made of a volume or array of so many bytes.
func (g *gap) madeOf(volume int64) bool {
	return g.capacity <= volume && float64(volume-g.capacity) <= metadataShare*float64(volume)
}

// takeVolume takes the difference between the volume that was expected and the one that the disk was made of. What is
// left is file-system metadata.
func (g *gap) takeVolume(volume int64) {
	moved := volume - g.disk
	if g.shared > 0 {
		moved -= percentKept(volume, g.shared) - percentKept(g.disk, g.shared)
	}
	g.take(moved, 0)
	g.disk = volume
}

// storageNotReported: a Windows kubelet says 0 (containers-roadmap#481).
func storageNotReported(g *gap) evidence {
	if !strings.HasPrefix(g.side.os, "Windows") || g.row.Actual.Value != 0 {
		return nil
	}
	g.take(g.capacityLeft, g.reserveLeft)
	return func() string {
		return "the kubelet reports 0, so the disk is not known; Karpenter expects " + amount(g.row.Resource, g.row.Expected.Value)
	}
}

// raid0NotUsed: Karpenter counts the instance store under instanceStorePolicy: RAID0, whatever the image does with the
// disks: Windows, Custom, Bottlerocket before v1.1.0, hard disks, a deep-learning AMI that mounts them elsewhere
// (model §1.3, §9.11).
func raid0NotUsed(g *gap) evidence {
	if !g.expectsInstanceStore() || g.madeOf(g.disk) || g.capacity > g.disk {
		return nil
	}
	expected := g.disk
	volume, name := g.volumeOf()
	if volume == 0 {
		g.take(g.capacityLeft, 0)
	} else {
		g.takeVolume(volume)
	}
	return func() string {
		text := "Karpenter counts the instance store of " + amount(g.row.Resource, expected) + " as one array, the node's disk is " + amount(g.row.Resource, g.capacity)
		if name != "" {
			text += ", made of " + name
		}
		return text
	}
}

// expectsInstanceStore reports whether the expectation is the instance store, by RAID0.
func (g *gap) expectsInstanceStore() bool {
	store := g.Type.InstanceStoreGB
	return g.rules().InstanceStorePolicy && g.Class != nil && g.Class.InstanceStorePolicy == "RAID0" && store != nil && g.disk == *store*1e9
}

// raid0NotTold: the node's disk is the type's whole instance store, and the class does not say RAID0: user data built the
// array. The policy exists since v0.34.0 (571e0fb47, #4735).
func raid0NotTold(g *gap) evidence {
	store := g.Type.InstanceStoreGB
	if store == nil || *store <= 0 || g.expectsInstanceStore() || g.madeOf(g.disk) || !g.madeOf(*store*1e9) {
		return nil
	}
	expected := g.disk
	g.takeVolume(*store * 1e9)
	return func() string {
		return "the node's disk is " + amount(g.row.Resource, g.capacity) + ", the instance store of " + number(*store) + "G; Karpenter expects " +
			amount(g.row.Resource, expected) + ", since the class does not say instanceStorePolicy: RAID0"
	}
}

// volume is a disk that a class maps.
type volume struct {
	bytes int64
	name  string
}

// volumes are the sized mappings of the class, the devices that a family has by default, and all mappings together, as
// user data can join them (#8946).
func (g *gap) volumes() []volume {
	var out []volume
	var sum int64
	if g.Class != nil {
		for i := range g.Class.BlockDeviceMappings {
			if v := volumeIn(&g.Class.BlockDeviceMappings[i]); v.bytes > 0 {
				out = append(out, v)
				sum += v.bytes
			}
		}
	}
	if len(out) > 1 {
		out = append(out, volume{sum, "all " + number(int64(len(out))) + " mappings together"})
	}
	if family := g.Model.Family(); family.DefaultVolume > 0 {
		out = append(out, volume{family.DefaultVolume, "the default volume"})
	}
	return out
}

func volumeIn(m *snapshot.BlockDeviceMapping) volume {
	if m.EBS == nil || m.EBS.VolumeSize == nil {
		return volume{}
	}
	v, err := snapshot.ParseQuantity(expect.EphemeralStorage, *m.EBS.VolumeSize)
	if err != nil || v > largest/8 {
		return volume{}
	}
	return volume{v, deviceOf(m)}
}

func deviceOf(m *snapshot.BlockDeviceMapping) string {
	if m.DeviceName == nil {
		return "a device without a name"
	}
	return *m.DeviceName
}

// volumeOf is the volume that the node's disk was made of; 0 where it is none that is known.
func (g *gap) volumeOf() (int64, string) {
	for _, v := range g.volumes() {
		if g.madeOf(v.bytes) {
			return v.bytes, v.name
		}
	}
	return 0, ""
}

// The two volumes of Bottlerocket.
const (
	bottlerocketOS   = "/dev/xvda"
	bottlerocketData = "/dev/xvdb"
)

// bottlerocketOSVolume: the size of the OS volume was expected (by rootVolume: true, or as the last mapping of a Custom
// class); Bottlerocket's pods live on the data volume. bottlerocket#4663, eksctl#4434, terraform-aws-eks#2005.
func bottlerocketOSVolume(g *gap) evidence {
	if g.side.os != "Bottlerocket" || g.Class == nil || g.madeOf(g.disk) {
		return nil
	}
	var expected int64
	data := volume{20 * gib, "the default of " + bottlerocketData}
	for i := range g.Class.BlockDeviceMappings {
		switch v := volumeIn(&g.Class.BlockDeviceMappings[i]); v.name {
		case bottlerocketOS:
			expected = v.bytes
		case bottlerocketData:
			data = v
		}
	}
	if expected != g.disk || !g.madeOf(data.bytes) {
		return nil
	}
	g.takeVolume(data.bytes)
	return func() string {
		return "Karpenter expects the OS volume " + bottlerocketOS + " (" + amount(g.row.Resource, expected) + "), pods have " + data.name + " (" + amount(g.row.Resource, data.bytes) + ")"
	}
}

// volumeOtherDevice: the kubelet's disk is not the volume that Karpenter reads. It is another mapping, or several joined:
// an AMI whose root device has another name (#7937), a second disk for /var/lib/kubelet (#3962), disks joined by user
// data (#8946). Or it is none of the class's at all: a launch template, user data that mounts a disk of its own, an AMI
// with a larger disk (core#1106, #4448).
func volumeOtherDevice(g *gap) evidence {
	if g.Class == nil || g.expectsInstanceStore() || g.madeOf(g.disk) {
		return nil
	}
	volume, name := g.volumeOf()
	expected := g.disk
	switch {
	case volume > 0:
		g.takeVolume(volume)
	case !g.Node.Join.Drifted && g.capacity > 0 && float64(size(g.capacity-g.disk)) > metadataShare*float64(g.disk):
		g.take(g.capacityLeft, 0)
	default:
		return nil
	}
	return func() string {
		text := "the node's disk is " + amount(g.row.Resource, g.capacity)
		if volume > 0 {
			text += ", made of " + name
		} else {
			text += ", and no mapping of the class has that size"
		}
		text += "; Karpenter expects " + amount(g.row.Resource, expected)
		if terms := g.Expect.Get(g.row.Resource).CapacityTerms; len(terms) > 0 {
			text += " (" + terms[0].Text() + ")"
		}
		if device := g.Model.Family().EphemeralDevice; device != "" && len(g.Class.BlockDeviceMappings) > 0 && !g.maps(device) {
			text += ": the class maps no " + device + ", the device of " + g.Model.Family().Name
		}
		return text
	}
}

func (g *gap) maps(device string) bool {
	for i := range g.Class.BlockDeviceMappings {
		if name := g.Class.BlockDeviceMappings[i].DeviceName; name != nil && *name == device {
			return true
		}
	}
	return false
}

// volumeWithoutSize: the mapping that Karpenter reads has no volumeSize, so it takes the default; the volume is as large
// as its snapshot. A Custom class without mappings is the same with the AMI's own snapshot. Model §1.3, §14.1.
func volumeWithoutSize(g *gap) evidence {
	if g.Class == nil || g.madeOf(g.disk) || g.expectsInstanceStore() {
		return nil
	}
	device := ""
	family := g.Model.Family()
	mappings := g.Class.BlockDeviceMappings
	for i := range mappings {
		m := &mappings[i]
		read := m.RootVolume || (family.LastMapping && i == len(mappings)-1) || (m.DeviceName != nil && *m.DeviceName == family.EphemeralDevice)
		if read && m.EBS != nil && m.EBS.VolumeSize == nil {
			device = deviceOf(m)
		}
	}
	if len(mappings) == 0 && family.LastMapping {
		device = "the AMI's root device"
	}
	if device == "" {
		return nil
	}
	expected := g.disk
	g.take(g.capacityLeft, 0)
	return func() string {
		return device + " has no volumeSize, so Karpenter assumes " + amount(g.row.Resource, expected) + "; the disk is " + amount(g.row.Resource, g.capacity)
	}
}

// filesystemMetadata: the partition table, boot partitions and the file system's own blocks. Structural: on every node.
// core#3253; 20Gi of AL2 is 20959212Ki (0.06 %), of Bottlerocket 20624592Ki (1.65 %).
func filesystemMetadata(g *gap) evidence {
	if g.capacityLeft > 0 || !g.madeOf(g.disk) {
		return nil
	}
	volume := g.disk
	g.take(g.capacityLeft, 0)
	return func() string {
		text := "of a disk of " + amount(g.row.Resource, volume) + " the file system has " + amount(g.row.Resource, g.capacity) + ": " +
			share(volume-g.capacity, volume) + " are partitions and metadata"
		if os, ok := g.osVolume(); ok {
			text += "; the OS volume " + os.name + " (" + amount(g.row.Resource, os.bytes) + ") does not count, pods have " + bottlerocketData
		}
		return text
	}
}

// osVolume is the sized OS volume of a Bottlerocket class, which people take for the pods' disk.
func (g *gap) osVolume() (volume, bool) {
	if g.side.os != "Bottlerocket" || g.Class == nil {
		return volume{}, false
	}
	for i := range g.Class.BlockDeviceMappings {
		if v := volumeIn(&g.Class.BlockDeviceMappings[i]); v.name == bottlerocketOS {
			return v, true
		}
	}
	return volume{}, false
}
