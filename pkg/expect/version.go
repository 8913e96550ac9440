package expect

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Version is a Karpenter release.
type Version struct{ Major, Minor, Patch int }

// Oldest and Newest bound the releases whose source was read. Newer releases are judged by the newest rules, with a
// visible note; older ones are not judged.
var (
	Oldest = Version{0, 27, 0}
	Newest = Version{1, 15, 2}
)

var versionPattern = regexp.MustCompile(`^v?(\d{1,5})\.(\d{1,5})(?:\.(\d{1,5}))?(?:[-+].+)?$`)

// ParseVersion reads "v1.14.1", "1.14.1" or "v1.14" (= .0). A suffix after - or + is dropped: a pre-release counts as
// the release that it precedes, a patched build as the one that it extends. A snapshot build ("0-<sha>") names no
// release and is an error.
func ParseVersion(text string) (Version, error) {
	m := versionPattern.FindStringSubmatch(text)
	if m == nil {
		return Version{}, fmt.Errorf("%q is not a Karpenter release such as v%s", text, Newest)
	}
	var v Version
	for i, part := range []*int{&v.Major, &v.Minor, &v.Patch} {
		if m[i+1] == "" {
			continue
		}
		n, err := strconv.Atoi(m[i+1])
		if err != nil {
			return Version{}, fmt.Errorf("%q is not a Karpenter release: %w", text, err)
		}
		*part = n
	}
	return v, nil
}

// String is the release without a leading v.
func (v Version) String() string {
	return strings.Join([]string{strconv.Itoa(v.Major), strconv.Itoa(v.Minor), strconv.Itoa(v.Patch)}, ".")
}

// Before reports whether v is an older release than w.
func (v Version) Before(w Version) bool {
	switch {
	case v.Major != w.Major:
		return v.Major < w.Major
	case v.Minor != w.Minor:
		return v.Minor < w.Minor
	default:
		return v.Patch < w.Patch
	}
}

// Rules are everything in which releases differ. The formulas read a rule by name and never compare versions.
type Rules struct {
	// DefaultSystemReserved: cpu 100m, memory 100Mi and ephemeral-storage 1Gi are reserved for the system.
	DefaultSystemReserved bool
	// NodefsEviction: 10 % of the disk, or the signal nodefs.available, is kept from ephemeral-storage.
	NodefsEviction bool
	// DefaultCardENIs: interfaces of the default network card count, not those of all cards.
	DefaultCardENIs bool
	// GravitonCMA: 64 MiB are taken off arm64 types.
	GravitonCMA bool
	// ReservedENIs: the option reserved-enis exists and lowers ENI-limited pods.
	ReservedENIs bool
	// SizelessVolumes: a block device without volumeSize falls to the default; before, upstream panicked.
	SizelessVolumes bool
	// TrainiumFixed: trn1 and trn1n devices are constants in the source.
	TrainiumFixed bool
	// FamilyDensity: the AMI family decides whether ENI-limited pod density applies.
	FamilyDensity bool
	// DefaultDevices: the family's own default devices give the default disk size.
	DefaultDevices bool
	// RootVolume: a mapping with rootVolume: true wins.
	RootVolume bool
	// GlobalSettings: aws.enableENILimitedPodDensity is read; PodENISetting: aws.enablePodENI is.
	GlobalSettings bool
	PodENISetting  bool
	// PrivateIPv4 is how vpc.amazonaws.com/PrivateIPv4Address is found.
	PrivateIPv4 PrivateIPv4Rule
	// WindowsByOS: that resource is for amd64 alone, since it hangs on the OS requirement.
	WindowsByOS bool
	// EFA: vpc.amazonaws.com/efa is part of capacity.
	EFA bool
	// InstanceStorePolicy: RAID0 counts.
	InstanceStorePolicy bool
	// CompatKubelet: the annotation compatibility.karpenter.sh/v1beta1-kubelet-conversion wins.
	CompatKubelet bool
	// Alias: an EC2NodeClass without amiFamily is of the family that its alias names.
	Alias bool
	// ClassKubelet: the kubelet settings are the NodeClass's; before, the pool's and claim's.
	ClassKubelet bool
	// NeuronInfo: Neuron devices and cores come from NeuronInfo.
	NeuronInfo bool
	// DiscoveredMemory: a claim may carry the memory of an earlier node of its type.
	DiscoveredMemory bool
	// ReserveAllENIs: kube-reserved memory of ENI-limited families ignores reserved ENIs.
	ReserveAllENIs bool
	// HugePages: huge pages in capacity are taken off allocatable memory; NodeOverlays can put them there.
	HugePages bool
	// HeaviestOverlay: of several NodeOverlays that set a resource the heaviest counts; before, the lightest did.
	HeaviestOverlay bool
	// SoftEviction: evictionSoft counts where the family says so.
	SoftEviction bool
	// NetworkInterfaces: EC2NodeClass.spec.networkInterfaces counts.
	NetworkInterfaces bool
	// LateLimits: the VPC limits table has the types that it got between May and August 2026.
	LateLimits bool
	// CEL: kubelet values may be CEL expressions behind the gate NodeClassCEL.
	CEL bool
}

// PrivateIPv4Rule says how a release finds vpc.amazonaws.com/PrivateIPv4Address of Windows nodes.
type PrivateIPv4Rule int

// The rules, in the order in which releases had them.
const (
	NoPrivateIPv4 PrivateIPv4Rule = iota
	PrivateIPv4FromEC2
	PrivateIPv4FromLimits
)

// release is a row of the table: what changed, and why.
type release struct {
	since Version
	why   string
	set   func(*Rules)
}

// releases are the only ones that change numbers, oldest first. A release in between has the rules of the row above it.
// Source: every published tag v0.27.0 … v1.15.2 was compared with its neighbour; the commit or pull request of each
// change is named.
var releases = []release{
	{Version{0, 27, 0}, "first release read", func(r *Rules) {
		r.DefaultSystemReserved, r.SoftEviction, r.GlobalSettings, r.PodENISetting = true, true, true, true
	}},
	{Version{0, 27, 1}, "no invented system-reserved, nodefs eviction counted (ff900f989, #3568)", func(r *Rules) {
		r.DefaultSystemReserved, r.NodefsEviction = false, true
	}},
	{Version{0, 27, 3}, "interfaces of the default network card only (672a83261, #3720)", func(r *Rules) {
		r.DefaultCardENIs = true
	}},
	{Version{0, 28, 0}, "Graviton CMA, reserved ENIs, sizeless volumes, trn1 constants (fb3eb0510, #3940; ef3b72d03, #3516)", func(r *Rules) {
		r.GravitonCMA, r.ReservedENIs, r.SizelessVolumes, r.TrainiumFixed = true, true, true, true
	}},
	{Version{0, 29, 0}, "Windows; density by family; default devices", func(r *Rules) {
		r.FamilyDensity, r.DefaultDevices, r.PrivateIPv4 = true, true, PrivateIPv4FromEC2
	}},
	{Version{0, 31, 0}, "rootVolume wins (acba7a9b1, #4457); the first API with the field is v0.32's", func(r *Rules) {
		r.RootVolume = true
	}},
	{Version{0, 32, 0}, "pod-eni whatever aws.enablePodENI says; Windows addresses by the OS requirement", func(r *Rules) {
		r.PodENISetting, r.WindowsByOS = false, true
	}},
	{Version{0, 33, 0}, "EFA; aws.enableENILimitedPodDensity gone (8eb2991f9, #5068)", func(r *Rules) {
		r.EFA, r.GlobalSettings = true, false
	}},
	{Version{0, 34, 0}, "instanceStorePolicy (571e0fb47, #4735)", func(r *Rules) {
		r.InstanceStorePolicy = true
	}},
	{Version{1, 0, 0}, "kubelet on the NodeClass, with the compatibility annotation (a057ec780, #6415); alias; Windows addresses from the table", func(r *Rules) {
		r.ClassKubelet, r.CompatKubelet, r.Alias, r.PrivateIPv4 = true, true, true, PrivateIPv4FromLimits
	}},
	{Version{1, 1, 0}, "discovered memory (f9b329249, #7004); NeuronInfo (c2f019dda, #6510)", func(r *Rules) {
		r.DiscoveredMemory, r.NeuronInfo, r.TrainiumFixed, r.CompatKubelet = true, true, false, false
	}},
	{Version{1, 5, 2}, "kube-reserved memory ignores reserved ENIs (7ed2a3560, #8205)", func(r *Rules) {
		r.ReserveAllENIs = true
	}},
	{Version{1, 7, 0}, "huge pages taken off allocatable memory, NodeOverlay (core 990572335, #2306)", func(r *Rules) {
		r.HugePages = true
	}},
	{Version{1, 9, 0}, "evictionSoft no longer counted (33f14b4fe, #8565); NodeOverlays by weight (core #2767)", func(r *Rules) {
		r.SoftEviction, r.HeaviestOverlay = false, true
	}},
	{Version{1, 11, 0}, "EC2NodeClass networkInterfaces (1de6d8c60, #9027)", func(r *Rules) {
		r.NetworkInterfaces = true
	}},
	{Version{1, 15, 0}, "CEL in kubelet settings (#9461); a newer VPC limits table", func(r *Rules) {
		r.CEL, r.LateLimits = true, true
	}},
}

// Unread says that v is above Newest, whose rules then stand for its own; empty when it is not.
func (v Version) Unread() string {
	if !Newest.Before(v) {
		return ""
	}
	return fmt.Sprintf("Karpenter v%s is newer than v%s, the newest release known: judged by the rules of v%s", v, Newest, Newest)
}

// RulesOf returns the rules of release v. A release above Newest has the newest rules.
func RulesOf(v Version) Rules {
	var rules Rules
	for _, r := range releases {
		if v.Before(r.since) {
			break
		}
		r.set(&rules)
	}
	return rules
}

// Breakpoint is a release that changed numbers.
type Breakpoint struct {
	Since Version
	Why   string
}

// Breakpoints lists the releases that changed numbers, oldest first.
func Breakpoints() []Breakpoint {
	out := make([]Breakpoint, len(releases))
	for i, r := range releases {
		out[i] = Breakpoint{r.since, r.why}
	}
	return out
}
