package snapshot

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// NodeClass is an EC2NodeClass, an AWSNodeTemplate, or a Provisioner's inline provider. Values are verbatim:
// whether they parse, and what they mean in a release, is for expect.
type NodeClass struct {
	Name string `json:"name"`
	// Kind is "EC2NodeClass", "AWSNodeTemplate" or "Provisioner" (inline .spec.provider).
	Kind       string `json:"kind"`
	APIVersion string `json:"apiVersion"`
	Hash       Hash   `json:"hash,omitzero"`
	// AMIFamily is .spec.amiFamily; nil when absent, which an empty string is not (model §14.1.10).
	AMIFamily *string `json:"amiFamily,omitzero"`
	// Alias is the first amiSelectorTerms[].alias that is set; nil when no term has one.
	Alias *string `json:"alias,omitzero"`
	// AMIs are the image ids of .status.amis in order: with the type they key the discovered memory (model §6).
	AMIs                []string             `json:"amis,omitzero"`
	BlockDeviceMappings []BlockDeviceMapping `json:"blockDeviceMappings,omitzero"`
	InstanceStorePolicy string               `json:"instanceStorePolicy,omitzero"`
	// NetworkInterfaces is nil when absent or null; an explicit empty list is not nil (model §14.1.11).
	NetworkInterfaces *[]NetworkInterface `json:"networkInterfaces,omitzero"`
	// Kubelet is .spec.kubelet of v1; nil where the generation has none or it is not set.
	Kubelet *Kubelet `json:"kubelet,omitzero"`
	// Problem is why the class could not be read, e.g. a mapping that is not an object; else empty.
	Problem string `json:"problem,omitzero"`
}

// Key identifies a class inside one snapshot: two kinds may share a name.
func (c *NodeClass) Key() string { return c.Kind + "/" + c.Name }

// BlockDeviceMapping is one entry of blockDeviceMappings.
type BlockDeviceMapping struct {
	DeviceName *string `json:"deviceName,omitzero"`
	RootVolume bool    `json:"rootVolume,omitzero"`
	EBS        *EBS    `json:"ebs,omitzero"`
}

// EBS is the part of a block device that decides its size.
type EBS struct {
	// VolumeSize is the quantity as written, e.g. "100Gi"; nil for a snapshot-sized volume.
	VolumeSize *string `json:"volumeSize,omitzero"`
	SnapshotID string  `json:"snapshotID,omitzero"`
}

// NetworkInterface is one entry of networkInterfaces (EC2NodeClass, v1.11.0 and later).
type NetworkInterface struct {
	NetworkCardIndex int64  `json:"networkCardIndex"`
	DeviceIndex      int64  `json:"deviceIndex"`
	InterfaceType    string `json:"interfaceType,omitzero"`
}

// Kubelet is the part of the kubelet settings that moves capacity or allocatable, as written.
type Kubelet struct {
	// MaxPods is the JSON value as written: a number, or from v1.15 a string with a CEL expression; nil when unset.
	MaxPods jsontext.Value `json:"maxPods,omitzero"`
	// PodsPerCore is the JSON value as written; nil when unset.
	PodsPerCore jsontext.Value `json:"podsPerCore,omitzero"`
	// The maps hold quantities, percentages or (from v1.15) CEL expressions, as written, in key order.
	KubeReserved   Labels `json:"kubeReserved,omitzero"`
	SystemReserved Labels `json:"systemReserved,omitzero"`
	EvictionHard   Labels `json:"evictionHard,omitzero"`
	EvictionSoft   Labels `json:"evictionSoft,omitzero"`
	// ReservedSystemCPUs and MergeDefaultEvictionSettings reach only the node, never Karpenter's model (v1.15):
	// they explain differences.
	ReservedSystemCPUs           string `json:"reservedSystemCPUs,omitzero"`
	MergeDefaultEvictionSettings bool   `json:"mergeDefaultEvictionSettings,omitzero"`
	// Problem is why the settings could not be read, e.g. an annotation that is no JSON; else empty.
	Problem string `json:"problem,omitzero"`
}

// Key tells settings apart: equal settings have equal keys, and no settings the empty one.
func (k *Kubelet) Key() string {
	if k == nil {
		return ""
	}
	var b []byte
	for _, text := range []string{string(k.MaxPods), string(k.PodsPerCore), k.ReservedSystemCPUs, strconv.FormatBool(k.MergeDefaultEvictionSettings), k.Problem} {
		b = strconv.AppendQuote(b, text) // quoted, so that no text can look like two
	}
	for _, list := range []Labels{k.KubeReserved, k.SystemReserved, k.EvictionHard, k.EvictionSoft} {
		b = append(b, '{')
		for _, e := range list {
			b = strconv.AppendQuote(strconv.AppendQuote(b, e.Key), e.Value)
		}
	}
	return string(b)
}

// NodeOverlay is a NodeOverlay (karpenter.sh/v1alpha1, gate NodeOverlay, v1.7.0 and later) with a capacity.
type NodeOverlay struct {
	Name string `json:"name"`
	// Weight decides between overlays that set the same key: the larger wins.
	Weight       int64         `json:"weight,omitzero"`
	Requirements []Requirement `json:"requirements,omitzero"`
	// Capacity is verbatim, in key order.
	Capacity Labels `json:"capacity,omitzero"`
}

// Requirement is one node selector requirement.
type Requirement struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values,omitzero"`
}
