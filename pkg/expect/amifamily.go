package expect

import (
	"fmt"
	"strings"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// AMIFamily is a row of the family table: the flags and disks by which families differ.
type AMIFamily struct {
	Name string
	// since and until bound the releases that know the name; in others it is an unknown name, and AL2 rules apply.
	since, until Version
	// ENILimitedMemoryOverhead: kube-reserved memory follows ENI-limited pods, whatever maxPods says.
	ENILimitedMemoryOverhead bool
	// PodsPerCore: podsPerCore counts.
	PodsPerCore bool
	// SoftEviction: evictionSoft counts (in releases whose rules count it).
	SoftEviction bool
	// ENILimitedPodDensity: pods follow the interfaces; else 110.
	ENILimitedPodDensity bool
	// EphemeralDevice is the device whose size is the pods' disk; empty when the family has none (Custom).
	EphemeralDevice string
	// DefaultVolume is the size of EphemeralDevice without mappings, in bytes.
	DefaultVolume int64
	// Windows families carry vpc.amazonaws.com/PrivateIPv4Address.
	Windows bool
	// LastMapping: the last block device mapping is the pods' disk (Custom).
	LastMapping bool
}

const gib = 1 << 30

// anyRelease leaves the bound of a family open.
var anyRelease = Version{}

// families is the table. Source: pkg/providers/amifamily, FeatureFlags and DefaultBlockDeviceMappings of each family
// (read v0.27.0 … v1.15.2); the first row is what an unknown name gets.
var families = []AMIFamily{
	{Name: "AL2", ENILimitedMemoryOverhead: true, PodsPerCore: true, SoftEviction: true, ENILimitedPodDensity: true, EphemeralDevice: "/dev/xvda", DefaultVolume: 20 * gib},
	{Name: "AL2023", since: Version{0, 35, 0}, ENILimitedMemoryOverhead: true, PodsPerCore: true, SoftEviction: true, ENILimitedPodDensity: true, EphemeralDevice: "/dev/xvda", DefaultVolume: 20 * gib},
	{Name: "Ubuntu", until: Version{1, 0, 0}, ENILimitedMemoryOverhead: true, PodsPerCore: true, SoftEviction: true, ENILimitedPodDensity: true, EphemeralDevice: "/dev/sda1", DefaultVolume: 20 * gib},
	// The data volume; the OS volume /dev/xvda is never counted.
	{Name: "Bottlerocket", ENILimitedPodDensity: true, EphemeralDevice: "/dev/xvdb", DefaultVolume: 20 * gib},
	{Name: "Custom", ENILimitedMemoryOverhead: true, PodsPerCore: true, SoftEviction: true, ENILimitedPodDensity: true, DefaultVolume: 20 * gib, LastMapping: true},
	{Name: "Windows2019", since: Version{0, 29, 0}, PodsPerCore: true, SoftEviction: true, EphemeralDevice: "/dev/sda1", DefaultVolume: 50 * gib, Windows: true},
	{Name: "Windows2022", since: Version{0, 29, 0}, PodsPerCore: true, SoftEviction: true, EphemeralDevice: "/dev/sda1", DefaultVolume: 50 * gib, Windows: true},
	{Name: "Windows2025", since: Version{1, 9, 0}, PodsPerCore: true, EphemeralDevice: "/dev/sda1", DefaultVolume: 50 * gib, Windows: true},
}

// FamilyNames lists the families in the table's order.
func FamilyNames() []string {
	out := make([]string, len(families))
	for i := range families {
		out[i] = families[i].Name
	}
	return out
}

// FamilyNamed returns the family that release v gives to name; AL2 for a name that v does not know, as upstream does
// for an unknown or empty string. Names are compared exactly: "al2023" is unknown.
func FamilyNamed(name string, v Version) *AMIFamily {
	for i := range families {
		f := &families[i]
		if f.Name == name && !v.Before(f.since) && (f.until == anyRelease || v.Before(f.until)) {
			return f
		}
	}
	return &families[0]
}

// FamilyOf returns the family of class in release v, by the rules of the class's own API generation: amiFamily when it
// is set (an empty string is); else, in an EC2NodeClass, the first alias, and without one Custom; else AL2. An alias
// of no family, or without exactly one @, is an error: upstream ends the controller on it.
func FamilyOf(class *snapshot.NodeClass, v Version) (*AMIFamily, error) {
	switch {
	case class.AMIFamily != nil:
		return FamilyNamed(*class.AMIFamily, v), nil
	case class.Alias != nil:
		if name, version, ok := strings.Cut(*class.Alias, "@"); ok && name != "" && !strings.Contains(version, "@") {
			for i := range families {
				if f := &families[i]; f.alias() == name && !(RulesOf(v).Alias && v.Before(f.since)) {
					return FamilyNamed(f.Name, v), nil
				}
			}
		}
		return nil, fmt.Errorf("alias %q of %s %q names no AMI family: Karpenter stops on it", *class.Alias, class.Kind, class.Name)
	case class.Kind == "EC2NodeClass" && class.APIVersion == "karpenter.k8s.aws/v1":
		return FamilyNamed("Custom", v), nil
	default:
		return &families[0], nil
	}
}

// alias is the family's name in amiSelectorTerms[].alias; empty for the families that have none.
func (f *AMIFamily) alias() string {
	if f.LastMapping || f.until != anyRelease {
		return ""
	}
	return strings.ToLower(f.Name)
}

// osImages tell the family of a running node, first match wins. Ubuntu runs as Custom from v1.0 on, and as its own
// family before.
var osImages = []struct{ contains, family string }{
	{"Amazon Linux 2023", "AL2023"},
	{"Amazon Linux 2", "AL2"},
	{"Bottlerocket", "Bottlerocket"},
	{"Ubuntu", "Ubuntu"},
	{"Windows Server 2019", "Windows2019"},
	{"Windows Server 2022", "Windows2022"},
	{"Windows Server 2025", "Windows2025"},
}

// FamilyOfImage guesses the family from a node's status.nodeInfo.osImage, for nodes whose class is not at hand; false
// when the image tells nothing.
func FamilyOfImage(osImage string, v Version) (*AMIFamily, bool) {
	for _, row := range osImages {
		if strings.Contains(osImage, row.contains) {
			return FamilyNamed(row.family, v), true
		}
	}
	return nil, false
}
