package collect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// Join walks from each node to its claim, pool and class, and writes what it found to Node.Join (capacity model §5.5).
// A node that is not Karpenter's gets an empty Join. s must be in canonical order.
//
// The claim is found by provider ID, else by the node's ownerReference, else by the claim's status.nodeName; two claims
// for one node leave it unknown. The pool is the claim's, else the node's label; the class is the one that the claim
// refers to, else the node's label karpenter.k8s.aws/ec2nodeclass (v1.1.0 and later), else the pool's. What is missing
// is a note, an assumption for all to see, and no reason not to judge the node.
func Join(s *snapshot.Snapshot) {
	j := newJoiner(s)
	for i := range s.Nodes {
		n := &s.Nodes[i]
		n.Join = snapshot.Join{}
		if j.karpenters(n) {
			n.Join = j.join(n)
			j.scratch = n.Join.Notes
			n.Join.Notes = j.share(j.scratch)
		}
	}
}

// joiner has the maps that the walk needs.
type joiner struct {
	byProvider map[string][]*snapshot.NodeClaim
	byName     map[string][]*snapshot.NodeClaim // Machine and NodeClaim may share a name
	byNode     map[string][]*snapshot.NodeClaim
	pools      map[string]*snapshot.NodePool
	classes    map[string]keyedClass
	notes      map[string][]string
	// key and scratch are memory for what is said of the node at hand.
	key     []byte
	scratch []string
}

// keyedClass is a class with its key, which all of its nodes share.
type keyedClass struct {
	*snapshot.NodeClass
	key string
}

// share returns one copy of equal notes: those of a fleet say the same of every node.
func (j *joiner) share(notes []string) []string {
	if len(notes) == 0 {
		return nil
	}
	j.key = j.key[:0]
	for _, note := range notes {
		j.key = append(append(j.key, note...), '\n')
	}
	if known, ok := j.notes[string(j.key)]; ok {
		return known
	}
	notes = slices.Clone(notes)
	j.notes[string(j.key)] = notes
	return notes
}

func newJoiner(s *snapshot.Snapshot) *joiner {
	j := &joiner{
		byProvider: make(map[string][]*snapshot.NodeClaim, len(s.NodeClaims)),
		byName:     make(map[string][]*snapshot.NodeClaim, len(s.NodeClaims)),
		byNode:     make(map[string][]*snapshot.NodeClaim, len(s.NodeClaims)),
		pools:      make(map[string]*snapshot.NodePool, len(s.NodePools)),
		classes:    make(map[string]keyedClass, len(s.NodeClasses)),
		notes:      map[string][]string{},
	}
	for i := range s.NodeClaims {
		c := &s.NodeClaims[i]
		j.byName[c.Name] = append(j.byName[c.Name], c)
		if c.ProviderID != "" { // an empty one never matches
			j.byProvider[c.ProviderID] = append(j.byProvider[c.ProviderID], c)
		}
		if c.NodeName != "" {
			j.byNode[c.NodeName] = append(j.byNode[c.NodeName], c)
		}
	}
	for i := range s.NodePools {
		j.pools[s.NodePools[i].Key()] = &s.NodePools[i]
	}
	for i := range s.NodeClasses {
		key := s.NodeClasses[i].Key()
		j.classes[key] = keyedClass{&s.NodeClasses[i], key}
	}
	return j
}

// karpenters reports whether Karpenter launched the node; a node of EKS Auto Mode has Karpenter's labels too, but its
// class is another kind that no snapshot holds.
func (j *joiner) karpenters(n *snapshot.Node) bool {
	has := func(label string) bool { _, ok := n.Labels.Lookup(label); return ok }
	if has(snapshot.LabelAutoModeClass) || n.Labels.Get(snapshot.LabelComputeType) == "auto" {
		return false
	}
	return has(snapshot.LabelNodePool) || has(snapshot.LabelProvisioner) || has(snapshot.LabelNodeClass) ||
		n.Owner != "" || len(j.byProvider[n.ProviderID]) > 0 || len(j.byNode[n.Name]) > 0
}

func (j *joiner) join(n *snapshot.Node) snapshot.Join {
	out := snapshot.Join{Notes: j.scratch[:0]}
	claim, unknown := j.claim(n, &out)
	if unknown != "" {
		out.Unknown = unknown
		return out
	}
	pool := j.pool(n, claim, &out)
	ref := classOf(n, claim, pool)
	out.ClassName = ref.Name
	class, found := j.classes[ref.Kind+"/"+ref.Name]
	switch {
	case found:
		out.Class = class.key
		hash := n.ClassHash
		if claim != nil {
			hash = claim.ClassHash
		}
		out.Drifted = class.Hash.DiffersFrom(hash)
	case ref.Name != "":
		out.Notes = append(out.Notes, fmt.Sprintf("%s %q is not in the input: its family is read off the OS image, default disks and no kubelet settings are assumed", ref.Kind, ref.Name))
	case pool == nil && out.Pool != "":
		out.Notes = append(out.Notes, fmt.Sprintf("%s %q is not in the input, so the NodeClass is not known: its family is read off the OS image, default disks and no kubelet settings are assumed", poolKind(n, claim), out.Pool))
	default:
		out.Notes = append(out.Notes, "the NodeClass is not known: its family is read off the OS image, default disks and no kubelet settings are assumed")
	}
	return out
}

// claim finds the node's claim. unknown says why it cannot be told; a missing one is a note.
func (j *joiner) claim(n *snapshot.Node, out *snapshot.Join) (claim *snapshot.NodeClaim, unknown string) {
	ways := [...]struct {
		found      []*snapshot.NodeClaim
		what, name string
	}{
		{j.byProvider[n.ProviderID], "the provider ID ", n.ProviderID},
		{elsewhere(j.byName[n.Owner], n), "the owner of the node", ""},
		{elsewhere(j.byNode[n.Name], n), "the node name ", n.Name},
	}
	for _, way := range ways {
		switch len(way.found) {
		case 0:
			continue
		case 1:
			out.Claim = way.found[0].Name
			return way.found[0], ""
		}
		return nil, fmt.Sprintf("%d claims have %s%s: %s (Karpenter itself stops on this; delete the one without an instance)", len(way.found), way.what, way.name, claimNames(way.found))
	}
	if n.Owner != "" && len(j.byName[n.Owner]) > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("%s %q owns the node but belongs to another instance: the node is judged without it", j.byName[n.Owner][0].Kind, n.Owner))
		return nil, ""
	}
	out.Notes = append(out.Notes, "no NodeClaim or Machine found: what Karpenter believed at launch is not compared")
	return nil, ""
}

// elsewhere drops the claims that name another instance than the node's: a name can be used again, an instance cannot.
func elsewhere(claims []*snapshot.NodeClaim, n *snapshot.Node) []*snapshot.NodeClaim {
	differs := func(c *snapshot.NodeClaim) bool {
		return c.ProviderID != "" && n.ProviderID != "" && c.ProviderID != n.ProviderID
	}
	if !slices.ContainsFunc(claims, differs) { // as nearly always
		return claims
	}
	return slices.DeleteFunc(slices.Clone(claims), differs)
}

func claimNames(claims []*snapshot.NodeClaim) string {
	names := make([]string, len(claims))
	for i, c := range claims {
		names[i] = c.Kind + " " + c.Name
	}
	return strings.Join(names, " and ")
}

// pool finds the node's pool, and notes where there is none. A standalone claim has no pool.
func (j *joiner) pool(n *snapshot.Node, claim *snapshot.NodeClaim, out *snapshot.Join) *snapshot.NodePool {
	out.Pool = n.Labels.Get(snapshot.LabelNodePool)
	if out.Pool == "" {
		out.Pool = n.Labels.Get(snapshot.LabelProvisioner)
	}
	if claim != nil && claim.Pool != "" {
		out.Pool = claim.Pool
	}
	if out.Pool == "" {
		if claim != nil {
			out.Notes = append(out.Notes, fmt.Sprintf("%s %q stands alone: it belongs to no NodePool", claim.Kind, claim.Name))
		}
		return nil
	}
	return j.pools[poolKind(n, claim)+"/"+out.Pool]
}

// poolKind is the kind of the node's pool: v0.32 serves Provisioners and NodePools side by side.
func poolKind(n *snapshot.Node, claim *snapshot.NodeClaim) string {
	_, pool := n.Labels.Lookup(snapshot.LabelNodePool)
	_, provisioner := n.Labels.Lookup(snapshot.LabelProvisioner)
	if (claim != nil && claim.Kind == snapshot.KindMachine) || (provisioner && !pool) {
		return snapshot.KindProvisioner
	}
	return snapshot.KindNodePool
}

// classOf is the class that the node was launched from, as the nearest object to the node names it.
func classOf(n *snapshot.Node, claim *snapshot.NodeClaim, pool *snapshot.NodePool) snapshot.ClassRef {
	if claim != nil && claim.ClassRef.Name != "" {
		return claim.ClassRef
	}
	if name := n.Labels.Get(snapshot.LabelNodeClass); name != "" {
		return snapshot.ClassRef{Kind: snapshot.KindEC2NodeClass, Name: name}
	}
	if pool != nil {
		return pool.ClassRef
	}
	return snapshot.ClassRef{}
}
