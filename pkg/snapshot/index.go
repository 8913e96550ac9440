package snapshot

// Index finds the objects that explain a node by the names that Node.Join holds. It is built once for a snapshot, is
// read only afterwards, and is safe for concurrent use.
type Index struct {
	claims  map[string]*NodeClaim
	pools   map[string]*NodePool
	classes map[string]*NodeClass
	types   map[string]*InstanceType
}

// NewIndex indexes s, which must not change as long as the index is used.
func NewIndex(s *Snapshot) *Index {
	x := &Index{
		claims:  make(map[string]*NodeClaim, len(s.NodeClaims)),
		pools:   make(map[string]*NodePool, len(s.NodePools)),
		classes: make(map[string]*NodeClass, len(s.NodeClasses)),
		types:   make(map[string]*InstanceType, len(s.InstanceTypes)),
	}
	for i := range s.NodeClaims {
		c := &s.NodeClaims[i]
		x.claims[c.Key()] = c
	}
	for i := range s.NodePools {
		p := &s.NodePools[i]
		x.pools[p.Key()] = p
	}
	for i := range s.NodeClasses {
		c := &s.NodeClasses[i]
		x.classes[c.Key()] = c
	}
	for i := range s.InstanceTypes {
		t := &s.InstanceTypes[i]
		x.types[t.Name] = t
	}
	return x
}

// Claim is the node's NodeClaim or Machine; nil when none was seen.
func (x *Index) Claim(n *Node) *NodeClaim {
	if n.Join.Claim == "" {
		return nil
	}
	machine, claim := x.claims[KindMachine+"/"+n.Join.Claim], x.claims[KindNodeClaim+"/"+n.Join.Claim]
	if claim == nil || (machine != nil && n.fromProvisioner()) {
		return machine
	}
	return claim
}

// Pool is the node's NodePool or Provisioner; nil when it was not seen.
func (x *Index) Pool(n *Node) *NodePool {
	if n.Join.Pool == "" {
		return nil
	}
	kind := KindNodePool
	if n.fromProvisioner() {
		kind = KindProvisioner
	}
	return x.pools[kind+"/"+n.Join.Pool]
}

// Class is the class that the node was launched from; nil when it was not seen.
func (x *Index) Class(n *Node) *NodeClass { return x.classes[n.Join.Class] }

// Type is the facts of the named instance type; nil when there are none.
func (x *Index) Type(name string) *InstanceType { return x.types[name] }

// Kubelet is the kubelet settings that count for the node in a release; nil when none are set or none are known.
// The release's rules say where it looks: ofClass, that they are the EC2NodeClass's (v1.0.0 and later) and no longer
// the claim's copy of the pool's; compat, that the annotation compatibility.karpenter.sh/v1beta1-kubelet-conversion
// wins (v1.0.x).
//
// The release says which place wins; the API generation of the objects says which places exist. So a v1beta1 cluster
// judged by a v1 release keeps the settings that its NodePools have (as someone who upgrades moves them), and a v1
// cluster judged by an older one those of its classes: comparing two releases then shows the difference of their
// formulas.
// Source: GetKubeletConfigurationWithNodeClaim in pkg/utils/utils.go (v1.0.8), without the annotation since v1.1.0.
func (x *Index) Kubelet(n *Node, ofClass, compat bool) *Kubelet {
	claim, pool, class := x.Claim(n), x.Pool(n), x.Class(n)
	copied := compat || !ofClass // what the claim was given at launch counts, not what its class says now
	switch {
	case copied && claim != nil && claim.CompatKubelet != nil:
		return claim.CompatKubelet
	case copied && claim != nil && claim.Kubelet != nil:
		return claim.Kubelet
	case copied && claim == nil && pool != nil && pool.CompatKubelet != nil:
		return pool.CompatKubelet
	case class != nil && class.APIVersion == karpenterAWSv1:
		return class.Kubelet
	case claim != nil && claim.keepsKubelet():
		return claim.Kubelet
	case pool != nil:
		return pool.Kubelet
	}
	return nil
}

// keepsKubelet reports whether the claim's API generation keeps a copy of the kubelet settings: v1 does not.
func (c *NodeClaim) keepsKubelet() bool { return c.APIVersion != "karpenter.sh/v1" }

const karpenterAWSv1 = "karpenter.k8s.aws/v1"

// Kinds of the objects that a snapshot holds.
const (
	KindNodeClaim       = "NodeClaim"
	KindMachine         = "Machine"
	KindNodePool        = "NodePool"
	KindProvisioner     = "Provisioner"
	KindEC2NodeClass    = "EC2NodeClass"
	KindAWSNodeTemplate = "AWSNodeTemplate"
)

// Key identifies a claim inside one snapshot: v0.32 serves two kinds, which may share a name.
func (c *NodeClaim) Key() string { return c.Kind + "/" + c.Name }

// Key identifies a pool inside one snapshot: v0.32 serves two kinds, which may share a name.
func (p *NodePool) Key() string { return p.Kind + "/" + p.Name }

// fromProvisioner reports whether the node is of the v1alpha5 generation.
func (n *Node) fromProvisioner() bool {
	_, provisioner := n.Labels.Lookup(LabelProvisioner)
	_, pool := n.Labels.Lookup(LabelNodePool)
	return provisioner && !pool
}
