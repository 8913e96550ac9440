package snapshot

// Labels that decide what a node is. Karpenter's own are named as in its API packages.
const (
	LabelInstanceType    = "node.kubernetes.io/instance-type"
	LabelInstanceTypeOld = "beta.kubernetes.io/instance-type"
	LabelArch            = "kubernetes.io/arch"
	LabelOS              = "kubernetes.io/os"
	LabelZone            = "topology.kubernetes.io/zone"
	LabelNodePool        = "karpenter.sh/nodepool"
	LabelProvisioner     = "karpenter.sh/provisioner-name"
	LabelNodeClass       = "karpenter.k8s.aws/ec2nodeclass"
	LabelRegistered      = "karpenter.sh/registered"
	LabelInitialized     = "karpenter.sh/initialized"
	LabelAutoModeClass   = "eks.amazonaws.com/nodeclass"
	LabelComputeType     = "eks.amazonaws.com/compute-type"
)

// Node is one Kubernetes Node, with the objects that explain it already joined to it (see collect.Join).
type Node struct {
	Name       string `json:"name"`
	ProviderID string `json:"providerID,omitzero"`
	// Labels are the ones that later steps read, in key order.
	Labels Labels `json:"labels,omitzero"`
	// OSImage, KubeletVersion and KernelVersion are status.nodeInfo's.
	OSImage        string `json:"osImage,omitzero"`
	KubeletVersion string `json:"kubeletVersion,omitzero"`
	KernelVersion  string `json:"kernelVersion,omitzero"`
	// Ready is the Ready condition: "True", "False", "Unknown", or empty when the node has none.
	Ready    string `json:"ready,omitzero"`
	Deleting bool   `json:"deleting,omitzero"`
	// Owner is the name of the NodeClaim or Machine in ownerReferences; empty without one.
	Owner string `json:"owner,omitzero"`
	// ClassHash is the claim's hash of its class, which registration copies to the node: it tells a class that was
	// edited after launch where the claim itself was not seen.
	ClassHash   Hash         `json:"classHash,omitzero"`
	Capacity    ResourceList `json:"capacity,omitzero"`
	Allocatable ResourceList `json:"allocatable,omitzero"`
	Join        Join         `json:"join,omitzero"`
}

// Join is what the node was found to belong to. An empty name means that there is no such object in the snapshot.
type Join struct {
	// Claim is the name of the NodeClaim or Machine.
	Claim string `json:"claim,omitzero"`
	// Pool is the name of the NodePool or Provisioner, from the claim or from the node's label, whether or not
	// the object itself was seen.
	Pool string `json:"pool,omitzero"`
	// Class is the key (NodeClass.Key) of the class that the node was launched from.
	Class string `json:"class,omitzero"`
	// ClassName is its name as referred to, also when the object itself was not seen.
	ClassName string `json:"className,omitzero"`
	// Drifted is set when the class's hash differs from the claim's at the same hash-version: the class was
	// edited after launch.
	Drifted bool `json:"drifted,omitzero"`
	// Unknown is why the node cannot be judged at all, e.g. two claims with its provider ID; else empty.
	Unknown string `json:"unknown,omitzero"`
	// Notes are visible assumptions made while walking the chain, e.g. "no NodeClaim found".
	Notes []string `json:"notes,omitzero"`
}

// InstanceType is the node's instance type by label; empty when it has none.
func (n *Node) InstanceType() string {
	if t := n.Labels.Get(LabelInstanceType); t != "" {
		return t
	}
	return n.Labels.Get(LabelInstanceTypeOld)
}

// NodeClaim is a NodeClaim, or the Machine of v1alpha5.
type NodeClaim struct {
	Name       string `json:"name"`
	Kind       string `json:"kind"`
	APIVersion string `json:"apiVersion"`
	ProviderID string `json:"providerID,omitzero"`
	NodeName   string `json:"nodeName,omitzero"`
	// Pool is the label karpenter.sh/nodepool or karpenter.sh/provisioner-name; empty on a standalone claim.
	Pool      string   `json:"pool,omitzero"`
	ClassRef  ClassRef `json:"classRef,omitzero"`
	ImageID   string   `json:"imageID,omitzero"`
	ClassHash Hash     `json:"classHash,omitzero"`
	// PoolHash is karpenter.sh/nodepool-hash (or provisioner-hash): it covers the v1beta1 kubelet settings.
	PoolHash Hash `json:"poolHash,omitzero"`
	// Kubelet is the copy that v1alpha5 and v1beta1 keep on the claim; nil in v1 and where none is set.
	Kubelet *Kubelet `json:"kubelet,omitzero"`
	// CompatKubelet is the v1.0 annotation compatibility.karpenter.sh/v1beta1-kubelet-conversion, decoded.
	CompatKubelet *Kubelet `json:"compatKubelet,omitzero"`
	// Requests are spec.resources.requests: a claim that requests EFA was launched with EFA.
	Requests    ResourceList `json:"requests,omitzero"`
	Capacity    ResourceList `json:"capacity,omitzero"`
	Allocatable ResourceList `json:"allocatable,omitzero"`
	// Initialized is the Initialized condition: "True", "False", "Unknown", or empty when the claim has none.
	Initialized string `json:"initialized,omitzero"`
	Deleting    bool   `json:"deleting,omitzero"`
}

// NodePool is a NodePool, or the Provisioner of v1alpha5.
type NodePool struct {
	Name       string   `json:"name"`
	Kind       string   `json:"kind"`
	APIVersion string   `json:"apiVersion"`
	ClassRef   ClassRef `json:"classRef,omitzero"`
	Hash       Hash     `json:"hash,omitzero"`
	// Kubelet is .spec.kubeletConfiguration (v1alpha5) or .spec.template.spec.kubelet (v1beta1).
	Kubelet       *Kubelet `json:"kubelet,omitzero"`
	CompatKubelet *Kubelet `json:"compatKubelet,omitzero"`
}

// ClassRef points to a NodeClass. Group and Kind are empty where the generation has none.
type ClassRef struct {
	Group string `json:"group,omitzero"`
	Kind  string `json:"kind,omitzero"`
	Name  string `json:"name,omitzero"`
}

// Hash is a drift hash annotation with its version annotation; hashes compare only at equal versions.
type Hash struct {
	Value   string `json:"value,omitzero"`
	Version string `json:"version,omitzero"`
}

// DiffersFrom reports whether both hashes are known, of the same version, and different.
func (h Hash) DiffersFrom(other Hash) bool {
	return h.Value != "" && other.Value != "" && h.Version == other.Version && h.Value != other.Value
}
