package snapshot

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
)

// Redact returns s with names and identities replaced: of the cluster, nodes, claims, pools, classes, overlays, node
// groups, zones, instances (provider IDs), images and volume snapshots; and without account numbers, ARNs and network
// addresses wherever they stand in a text. Amounts, settings, labels that describe the machine and drift hashes stay.
//
// One name has one pseudonym everywhere, and pseudonyms are numbered in the order of the names, so that what refers to
// each other still does, everything sorts as before, and equal snapshots give equal ones. Node.Join is left empty:
// collect.Join finds the same objects again, and words its notes with the new names. s is not changed.
func Redact(s *Snapshot) *Snapshot {
	out := *s.canonical()
	r := newRedaction(&out)
	out.Cluster = r.clusters.of(out.Cluster)
	out.Controller = r.controller(out.Controller)
	out.NodeClasses = each(out.NodeClasses, r.class)
	out.NodePools = each(out.NodePools, r.pool)
	out.NodeOverlays = each(out.NodeOverlays, r.overlay)
	out.NodeClaims = each(out.NodeClaims, r.claim)
	out.Nodes = each(out.Nodes, r.node)
	out.Gaps = each(out.Gaps, func(g *Gap) { g.Reason = redactText(g.Reason) })
	out.Ignored = slices.Clone(out.Ignored)
	return &out
}

// each is a copy of list in which change has seen every item.
func each[T any](list []T, change func(*T)) []T {
	list = slices.Clone(list)
	for i := range list {
		change(&list[i])
	}
	return list
}

// pseudonyms are the new names of one sort of thing: "node-007". An empty name stays empty.
type pseudonyms struct {
	format string // with %s for the number
	known  map[string]string
}

func pseudonymsOf(format string) pseudonyms { return pseudonyms{format, map[string]string{}} }

func (p pseudonyms) add(names ...string) {
	for _, name := range names {
		if name != "" {
			p.known[name] = ""
		}
	}
}

// number gives out the pseudonyms, with as many digits as keep them in the order of the names.
func (p pseudonyms) number() {
	digits := len(strconv.Itoa(len(p.known)))
	for i, name := range slices.Sorted(maps.Keys(p.known)) {
		p.known[name] = fmt.Sprintf(p.format, fmt.Sprintf("%0*d", digits, i+1))
	}
}

func (p pseudonyms) of(name string) string { return p.known[name] }

// redaction is the pseudonyms of everything in a snapshot.
type redaction struct {
	clusters, nodes, claims, pools, classes, overlays, groups, zones, zoneIDs, instances, images, volumes pseudonyms
}

// Labels whose values are names or places.
const (
	labelZoneID    = "topology.k8s.aws/zone-id"
	labelNodeGroup = "eks.amazonaws.com/nodegroup"
)

func newRedaction(s *Snapshot) *redaction {
	r := &redaction{
		clusters: pseudonymsOf("cluster-%s"), nodes: pseudonymsOf("node-%s"), claims: pseudonymsOf("claim-%s"), pools: pseudonymsOf("pool-%s"),
		classes: pseudonymsOf("class-%s"), overlays: pseudonymsOf("overlay-%s"), groups: pseudonymsOf("group-%s"), zones: pseudonymsOf("zone-%s"),
		zoneIDs: pseudonymsOf("zone-id-%s"), instances: pseudonymsOf("aws:///zone/i-%s"), images: pseudonymsOf("ami-%s"), volumes: pseudonymsOf("snap-%s"),
	}
	r.clusters.add(s.Cluster)
	for i := range s.NodeClasses {
		c := &s.NodeClasses[i]
		r.classes.add(c.Name)
		r.images.add(c.AMIs...)
		for _, m := range c.BlockDeviceMappings {
			if m.EBS != nil {
				r.volumes.add(m.EBS.SnapshotID)
			}
		}
	}
	for i := range s.NodePools {
		r.pools.add(s.NodePools[i].Name)
		r.classes.add(s.NodePools[i].ClassRef.Name)
	}
	for i := range s.NodeOverlays {
		r.overlays.add(s.NodeOverlays[i].Name)
		for _, q := range s.NodeOverlays[i].Requirements {
			if p, ok := r.byLabel(q.Key); ok {
				p.add(q.Values...)
			}
		}
	}
	for i := range s.NodeClaims {
		c := &s.NodeClaims[i]
		r.claims.add(c.Name)
		r.nodes.add(c.NodeName)
		r.pools.add(c.Pool)
		r.classes.add(c.ClassRef.Name)
		r.instances.add(c.ProviderID)
		r.images.add(c.ImageID)
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		r.nodes.add(n.Name)
		r.claims.add(n.Owner)
		r.instances.add(n.ProviderID)
		for _, l := range n.Labels {
			if p, ok := r.byLabel(l.Key); ok {
				p.add(l.Value)
			}
		}
	}
	for _, p := range []pseudonyms{r.clusters, r.nodes, r.claims, r.pools, r.classes, r.overlays, r.groups, r.zones, r.zoneIDs, r.instances, r.images, r.volumes} {
		p.number()
	}
	return r
}

// byLabel is what the values of a label name.
func (r *redaction) byLabel(key string) (pseudonyms, bool) {
	switch key {
	case LabelNodePool, LabelProvisioner:
		return r.pools, true
	case LabelNodeClass, LabelAutoModeClass:
		return r.classes, true
	case LabelZone:
		return r.zones, true
	case labelZoneID:
		return r.zoneIDs, true
	case labelNodeGroup:
		return r.groups, true
	}
	return pseudonyms{}, false
}

// labelValue is the value of a label as it may be shown.
func (r *redaction) labelValue(key, value string) string {
	if p, ok := r.byLabel(key); ok {
		return p.of(value)
	}
	return redactText(value)
}

func (r *redaction) node(n *Node) {
	n.Name, n.Owner, n.ProviderID = r.nodes.of(n.Name), r.claims.of(n.Owner), r.instances.of(n.ProviderID)
	n.Labels = slices.Clone(n.Labels)
	for i, l := range n.Labels {
		n.Labels[i] = &Label{l.Key, r.labelValue(l.Key, l.Value)}
	}
	n.Join = Join{}
}

func (r *redaction) claim(c *NodeClaim) {
	c.Name, c.NodeName, c.Pool = r.claims.of(c.Name), r.nodes.of(c.NodeName), r.pools.of(c.Pool)
	c.ClassRef.Name, c.ProviderID, c.ImageID = r.classes.of(c.ClassRef.Name), r.instances.of(c.ProviderID), r.images.of(c.ImageID)
	c.Kubelet, c.CompatKubelet = redactKubelet(c.Kubelet), redactKubelet(c.CompatKubelet)
}

func (r *redaction) pool(p *NodePool) {
	p.Name, p.ClassRef.Name = r.pools.of(p.Name), r.classes.of(p.ClassRef.Name)
	p.Kubelet, p.CompatKubelet = redactKubelet(p.Kubelet), redactKubelet(p.CompatKubelet)
}

func (r *redaction) class(c *NodeClass) {
	c.Name = r.classes.of(c.Name)
	c.AMIs = each(c.AMIs, func(id *string) { *id = r.images.of(*id) })
	c.BlockDeviceMappings = each(c.BlockDeviceMappings, func(m *BlockDeviceMapping) {
		if m.EBS != nil {
			ebs := *m.EBS
			ebs.SnapshotID = r.volumes.of(ebs.SnapshotID)
			m.EBS = &ebs
		}
	})
	c.Kubelet = redactKubelet(c.Kubelet)
	c.Problem = redactText(c.Problem)
}

func (r *redaction) overlay(o *NodeOverlay) {
	o.Name = r.overlays.of(o.Name)
	o.Requirements = each(o.Requirements, func(q *Requirement) {
		q.Values = each(q.Values, func(v *string) { *v = r.labelValue(q.Key, *v) })
	})
}

func (r *redaction) controller(c Controller) Controller {
	for _, s := range []*Setting{&c.Version, &c.VMMemoryOverheadPercent, &c.ReservedENIs, &c.FeatureGates, &c.AWSFeatureGates, &c.ENILimitedPodDensity, &c.PodENI} {
		s.From = redactText(s.From)
	}
	c.Notes = each(c.Notes, func(n *string) { *n = redactText(*n) })
	return c
}

// redactKubelet leaves the settings, which are amounts, and cleans what an error quotes of them.
func redactKubelet(k *Kubelet) *Kubelet {
	if k == nil || k.Problem == "" {
		return k
	}
	out := *k
	out.Problem = redactText(out.Problem)
	return &out
}

// identities are what a text may hold besides names: first what contains others.
var identities = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`arn:[a-z-]+:[^\s,"')]+`), "<arn>"},
	{regexp.MustCompile(`\b\d{12}\b`), "<account>"},
	{regexp.MustCompile(`\b\d{1,3}(\.\d{1,3}){3}\b`), "<address>"},
	{regexp.MustCompile(`\bip-\d{1,3}(-\d{1,3}){3}[a-z0-9.-]*`), "<address>"},
	{regexp.MustCompile(`\baws:///[^\s,"')]+`), "<instance>"},
}

func redactText(text string) string {
	for _, id := range identities {
		text = id.pattern.ReplaceAllString(text, id.instead)
	}
	return text
}
