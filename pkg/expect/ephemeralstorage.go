package expect

import (
	"errors"
	"fmt"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// fallbackVolume is what Karpenter assumes for a disk that nothing describes.
const fallbackVolume = 20 * gib

// ephemeralStorage is the size of the one disk that Karpenter takes for the pods' disk, in bytes, first match wins:
// the instance store under RAID0; a root volume; the last mapping (Custom) or the mapping of the family's device; the
// family's default; 20Gi. Several volumes are never summed.
// Source: ephemeralStorage() in pkg/providers/instancetype/types.go; RAID0 since v0.34.0 (571e0fb47), rootVolume since
// v0.31.0 (acba7a9b1).
func (c *calculation) ephemeralStorage() (Sum, error) {
	if c.rules.InstanceStorePolicy && c.class.InstanceStorePolicy == "RAID0" {
		if err := c.need(snapshot.FactInstanceStore); err != nil {
			return nil, err
		}
		if size := c.instance.InstanceStoreGB; size != nil {
			// Decimal gigabytes, whatever the family does with the disks.
			return c.sum(term("instance store (RAID0)", *size*1_000_000_000)), nil
		}
	}
	if c.volumeErr != nil {
		return nil, c.volumeErr
	}
	return c.sum(c.volume), nil
}

// readVolume finds the disk by the block device mappings. It fails where upstream panics: it looks at an entry that
// has no ebs, or no deviceName, and before v0.28.0 at one without a size.
func (m *Model) readVolume() (Term, error) {
	mappings := m.class.BlockDeviceMappings
	if m.rules.RootVolume {
		for i := range mappings {
			if !mappings[i].RootVolume {
				continue
			}
			term, found, err := m.volumeSize(&mappings[i], "root volume")
			if err != nil || found {
				return term, err
			}
			break
		}
	}
	if len(mappings) > 0 {
		mapping, err := m.familyMapping(mappings)
		if err != nil {
			return Term{}, err
		}
		if mapping != nil {
			term, found, err := m.volumeSize(mapping, "volume")
			if err != nil || found {
				return term, err
			}
		}
	}
	if m.rules.DefaultDevices && m.family.EphemeralDevice != "" {
		return term("default size of "+m.family.EphemeralDevice+" on "+m.family.Name, m.family.DefaultVolume), nil
	}
	return term("default volume size", fallbackVolume), nil
}

// familyMapping is the mapping that the family's pods use; nil when there is none.
func (m *Model) familyMapping(mappings []snapshot.BlockDeviceMapping) (*snapshot.BlockDeviceMapping, error) {
	if m.family.LastMapping {
		return &mappings[len(mappings)-1], nil
	}
	for i := range mappings {
		// The search stops at the first entry of the device, sized or not.
		switch name := mappings[i].DeviceName; {
		case name == nil:
			return nil, fmt.Errorf("blockDeviceMappings[%d] of %s %q has no deviceName: Karpenter panics on it", i, m.class.Kind, m.class.Name)
		case *name == m.family.EphemeralDevice:
			return &mappings[i], nil
		}
	}
	return nil, nil
}

// volumeSize reads the size of one mapping; not found when it has none.
func (m *Model) volumeSize(mapping *snapshot.BlockDeviceMapping, label string) (Term, bool, error) {
	device := "without a device name"
	if mapping.DeviceName != nil {
		device = *mapping.DeviceName
	}
	fail := func(err error) (Term, bool, error) {
		return Term{}, false, fmt.Errorf("block device %s of %s %q: %w", device, m.class.Kind, m.class.Name, err)
	}
	if mapping.EBS == nil {
		return fail(errors.New("no ebs: Karpenter panics on it"))
	}
	if mapping.EBS.VolumeSize == nil {
		if !m.rules.SizelessVolumes {
			return fail(errors.New("no volumeSize: Karpenter before v0.28.0 panics on it"))
		}
		return Term{}, false, nil
	}
	amount, err := ParseAmount(EphemeralStorage, *mapping.EBS.VolumeSize)
	if err != nil {
		return fail(fmt.Errorf("volumeSize %w", err))
	}
	return Term{Label: label + " " + device, Amount: amount}, true, nil
}
