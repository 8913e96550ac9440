package snapshot

import "strings"

// Index finds the objects of one snapshot by name. It is built once and read by many.
type Index struct {
	claims  map[string]*NodeClaim
	pools   map[string]*NodePool
	classes map[string]*NodeClass
	types   map[string]*InstanceType
}

// NewIndex indexes s, which must not change afterwards.
func NewIndex(s *Snapshot) *Index {
	x := &Index{
		claims:  make(map[string]*NodeClaim, len(s.NodeClaims)),
		pools:   make(map[string]*NodePool, len(s.NodePools)),
		classes: make(map[string]*NodeClass, len(s.NodeClasses)),
		types:   make(map[string]*InstanceType, len(s.InstanceTypes)),
	}
	for i := range s.NodeClaims {
		x.claims[s.NodeClaims[i].Name] = &s.NodeClaims[i]
	}
	for i := range s.NodePools {
		x.pools[s.NodePools[i].Name] = &s.NodePools[i]
	}
	for i := range s.NodeClasses {
		x.classes[s.NodeClasses[i].Key()] = &s.NodeClasses[i]
	}
	for i := range s.InstanceTypes {
		x.types[s.InstanceTypes[i].Name] = &s.InstanceTypes[i]
	}
	return x
}

// Claim, Pool, Class and Type return what the node was joined to; nil where the snapshot does not have it.
func (x *Index) Claim(n *Node) *NodeClaim { return x.claims[n.Join.Claim] }

// Pool returns the node's NodePool or Provisioner.
func (x *Index) Pool(n *Node) *NodePool { return x.pools[n.Join.Pool] }

// Class returns the node's NodeClass.
func (x *Index) Class(n *Node) *NodeClass { return x.classes[n.Join.Class] }

// Type returns the facts of an instance type.
func (x *Index) Type(name string) *InstanceType { return x.types[name] }

// Kubelet returns the kubelet settings that count for the node; nil where none are set or known. classKubelet says
// that the release reads them from the NodeClass, compat that the v1.0 compatibility annotation wins over them: the
// claim's at launch, the pool's where there is no claim (model §5.3). In older generations the claim's copy comes
// before the pool's. Objects of another generation than the release's are read all the same.
func (x *Index) Kubelet(n *Node, classKubelet, compat bool) *Kubelet {
	claim, pool, class := x.Claim(n), x.Pool(n), x.Class(n)
	if compat {
		switch {
		case claim != nil && claim.CompatKubelet != nil:
			return claim.CompatKubelet
		case claim == nil && pool != nil && pool.CompatKubelet != nil:
			return pool.CompatKubelet
		}
	}
	var fromClass, fromClaim *Kubelet
	if class != nil {
		fromClass = class.Kubelet
	}
	switch {
	case claim != nil && claim.Kubelet != nil:
		fromClaim = claim.Kubelet
	case claim == nil && pool != nil:
		fromClaim = pool.Kubelet
	}
	if classKubelet && fromClass != nil || fromClaim == nil {
		return fromClass
	}
	return fromClaim
}

// Key is the settings as text: equal keys are equal settings. A nil Kubelet has the empty key.
func (k *Kubelet) Key() string {
	if k == nil {
		return ""
	}
	var b strings.Builder
	write := func(s string) { b.WriteString(s); b.WriteByte(0) }
	write(string(k.MaxPods))
	write(string(k.PodsPerCore))
	for _, l := range []Labels{k.KubeReserved, k.SystemReserved, k.EvictionHard, k.EvictionSoft} {
		for _, e := range l {
			write(e.Key)
			write(e.Value)
		}
		b.WriteByte(1)
	}
	return b.String()
}
