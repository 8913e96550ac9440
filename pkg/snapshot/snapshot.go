package snapshot

// APIVersion and Kind head every snapshot file. A change that an older reader would misread changes APIVersion.
const (
	APIVersion = "allocatable-diff/v1alpha1"
	Kind       = "Snapshot"
)

// Snapshot is one cluster as it was seen once. Every slice is in canonical order (see Sort), so equal clusters
// give equal bytes.
type Snapshot struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Cluster    string     `json:"cluster"`
	Controller Controller `json:"controller,omitzero"`
	// InstanceTypesFrom names the source of InstanceTypes: "ec2", "file" or "labels"; empty when there are none.
	InstanceTypesFrom string         `json:"instanceTypesFrom,omitzero"`
	InstanceTypes     []InstanceType `json:"instanceTypes,omitzero"`
	NodeClasses       []NodeClass    `json:"nodeClasses,omitzero"`
	NodePools         []NodePool     `json:"nodePools,omitzero"`
	NodeOverlays      []NodeOverlay  `json:"nodeOverlays,omitzero"`
	NodeClaims        []NodeClaim    `json:"nodeClaims,omitzero"`
	Nodes             []Node         `json:"nodes,omitzero"`
	// Ignored counts the objects of kinds that nothing here reads, by kind. It is about the input, not the cluster: it is
	// neither recorded nor part of the digest.
	Ignored []KindCount `json:"-"`
	// Gaps are the kinds that could not be read although they may exist (a 403, say), each with the reason and
	// what to do. An absent CRD is not a gap.
	Gaps []Gap `json:"gaps,omitzero"`
}

// KindCount is how many objects of one kind were passed over.
type KindCount struct {
	Kind  string `json:"kind"`
	Count int    `json:"count"`
}

// Gap is a kind of object that could not be read.
type Gap struct {
	// Kind is the Kubernetes kind, e.g. "NodeClaim".
	Kind string `json:"kind"`
	// Reason names the verb, the resource and the next step.
	Reason string `json:"reason"`
}

// Controller is what was found of the running Karpenter. The zero value means: no Deployment and no settings
// were found. Sources, in words, are kept so that each output can say where a setting comes from.
type Controller struct {
	// Version is the release as found ("1.14.1", "0.34.0", "0-<sha>"), without a leading v; empty when unknown.
	Version Setting `json:"version,omitzero"`
	// VMMemoryOverheadPercent is the fraction as text, e.g. "0.075".
	VMMemoryOverheadPercent Setting `json:"vmMemoryOverheadPercent,omitzero"`
	ReservedENIs            Setting `json:"reservedENIs,omitzero"`
	FeatureGates            Setting `json:"featureGates,omitzero"`
	AWSFeatureGates         Setting `json:"awsFeatureGates,omitzero"`
	// ENILimitedPodDensity and PodENI are the v0.27–v0.32 settings aws.enableENILimitedPodDensity and
	// aws.enablePodENI ("true" or "false").
	ENILimitedPodDensity Setting `json:"eniLimitedPodDensity,omitzero"`
	PodENI               Setting `json:"podENI,omitzero"`
	// Notes are things a person should know about the detection, e.g. a value that could not be resolved.
	Notes []string `json:"notes,omitzero"`
}

// Setting is one value of the controller as text and where it was found. The zero Setting means: not found.
type Setting struct {
	Value string `json:"value"`
	// From says where in words: "env VM_MEMORY_OVERHEAD_PERCENT of Deployment kube-system/karpenter".
	From string `json:"from"`
}

// Found reports whether the setting was seen anywhere.
func (s Setting) Found() bool { return s.From != "" }
