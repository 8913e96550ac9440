package collect

import (
	"strings"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// reset forgets the last object's metadata, but for the memory of its labels.
func (m *objectMeta) reset() {
	*m = objectMeta{Labels: labelSet{list: m.Labels.list[:0], all: m.Labels.all, cache: m.Labels.cache, name: m.Labels.name}}
}

func (o *nodeObject) reset() {
	o.Metadata.reset()
	*o = nodeObject{Metadata: o.Metadata}
}

func (o *nodeObject) parts() parts {
	return parts{metadata: &o.Metadata, spec: &o.Spec, status: &o.Status}
}

func (o *nodeObject) keep(d *dump, h header, s *source) error {
	m := &o.Metadata
	if d.options.Selector != nil && !d.options.Selector.Matches(selectable(m.Labels.list)) {
		return nil
	}
	info := &o.Status.NodeInfo
	n := snapshot.Node{
		Name:           m.Name,
		ProviderID:     o.Spec.ProviderID,
		Labels:         d.cache.ShareLabels(m.Labels.list),
		OSImage:        info.OSImage,
		KubeletVersion: info.KubeletVersion,
		KernelVersion:  info.KernelVersion,
		Ready:          statusOf(o.Status.Conditions, "Ready"),
		Deleting:       m.DeletionTimestamp != "",
		Owner:          m.owner(),
		ClassHash:      m.Annotations.hashOfClass(),
		Capacity:       o.Status.Capacity,
		Allocatable:    o.Status.Allocatable,
	}
	n.ShareTexts(d.cache)
	return d.nodes.add(m.Name, m.Name, h, s, n)
}

// owner is the name of the NodeClaim or Machine that the node belongs to; empty when it has none.
func (m *objectMeta) owner() string {
	for _, r := range m.OwnerReferences {
		group, _, _ := strings.Cut(r.APIVersion, "/")
		if group == groupKarpenter && (r.Kind == snapshot.KindNodeClaim || r.Kind == snapshot.KindMachine) {
			return r.Name
		}
	}
	return ""
}

// pool is the name of the NodePool or Provisioner by label; empty on a standalone claim.
func (m *objectMeta) pool() string {
	if pool := m.Labels.list.Get(snapshot.LabelNodePool); pool != "" {
		return pool
	}
	return m.Labels.list.Get(snapshot.LabelProvisioner)
}

func (o *claimObject) reset() {
	o.Metadata.reset()
	*o = claimObject{Metadata: o.Metadata}
}

func (o *claimObject) parts() parts {
	return parts{metadata: &o.Metadata, spec: &o.Spec, status: &o.Status}
}

func (o *claimObject) keep(d *dump, h header, s *source) error {
	m := &o.Metadata
	c := snapshot.NodeClaim{
		Name: m.Name, Kind: h.kind, APIVersion: h.apiVersion,
		ProviderID:    o.Status.ProviderID,
		NodeName:      o.Status.NodeName,
		Pool:          m.pool(),
		ClassRef:      o.Spec.NodeClassRef.classRef(snapshot.KindEC2NodeClass),
		ImageID:       o.Status.ImageID,
		ClassHash:     m.Annotations.hashOfClass(),
		PoolHash:      m.Annotations.hashOfPool(),
		Kubelet:       kubeletOf(o.Spec.Kubelet, "spec.kubelet"),
		CompatKubelet: m.Annotations.kubelet(),
		Requests:      o.Spec.Resources.Requests,
		Capacity:      o.Status.Capacity,
		Allocatable:   o.Status.Allocatable,
		Initialized:   statusOf(o.Status.Conditions, "Initialized"),
		Deleting:      m.DeletionTimestamp != "",
	}
	if h.kind == snapshot.KindMachine {
		c.ClassRef = o.Spec.MachineTemplateRef.classRef(snapshot.KindAWSNodeTemplate)
	}
	c.ShareTexts(d.cache)
	return d.claims.add(c.Key(), c.Name, h, s, c)
}

// kubelet is the settings of the v1.0 conversion annotation; nil without it.
func (a *annotations) kubelet() *snapshot.Kubelet {
	if a.compatKubelet == nil {
		return nil
	}
	var l lenient[*snapshot.Kubelet]
	l.decode([]byte(*a.compatKubelet))
	k := kubeletOf(l, "annotation "+annotationCompatKubelet)
	if k == nil { // the annotation wins even when it sets nothing
		return &snapshot.Kubelet{}
	}
	return k
}

func (o *poolObject) reset() {
	o.Metadata.reset()
	*o = poolObject{Metadata: o.Metadata}
}

func (o *poolObject) parts() parts { return parts{metadata: &o.Metadata, spec: &o.Spec} }

func (o *poolObject) keep(d *dump, h header, s *source) error {
	m := &o.Metadata
	p := snapshot.NodePool{
		Name: m.Name, Kind: h.kind, APIVersion: h.apiVersion,
		ClassRef:      o.Spec.Template.Spec.NodeClassRef.classRef(snapshot.KindEC2NodeClass),
		Hash:          m.Annotations.hashOfPool(),
		Kubelet:       kubeletOf(o.Spec.Template.Spec.Kubelet, "spec.template.spec.kubelet"),
		CompatKubelet: m.Annotations.kubelet(),
	}
	if h.kind != snapshot.KindProvisioner {
		return d.pools.add(p.Key(), p.Name, h, s, p)
	}
	p.ClassRef = o.Spec.ProviderRef.classRef(snapshot.KindAWSNodeTemplate)
	p.Kubelet = kubeletOf(o.Spec.KubeletConfiguration, "spec.kubeletConfiguration")
	if p.ClassRef.Name == "" && o.Spec.Provider != nil { // the inline provider is a class of its own
		c := o.Spec.Provider.class()
		c.Name, c.Kind, c.APIVersion = m.Name, snapshot.KindProvisioner, h.apiVersion
		p.ClassRef = snapshot.ClassRef{Group: groupKarpenter, Kind: c.Kind, Name: c.Name}
		if err := d.classes.add(c.Key(), c.Name, h, s, c); err != nil {
			return err
		}
	}
	return d.pools.add(p.Key(), p.Name, h, s, p)
}

func (o *classObject) reset() {
	o.Metadata.reset()
	*o = classObject{Metadata: o.Metadata}
}

func (o *classObject) parts() parts {
	return parts{metadata: &o.Metadata, spec: &o.Spec, status: &o.Status}
}

func (o *classObject) keep(d *dump, h header, s *source) error {
	c := o.Spec.class()
	c.Name, c.Kind, c.APIVersion = o.Metadata.Name, h.kind, h.apiVersion
	c.Hash = o.Metadata.Annotations.hashOfClass()
	for _, ami := range o.Status.AMIs {
		c.AMIs = append(c.AMIs, ami.ID)
	}
	return d.classes.add(c.Key(), c.Name, h, s, c)
}

// class is the spec in the snapshot's shape, without name and kind.
func (o *classSpec) class() snapshot.NodeClass {
	c := snapshot.NodeClass{
		AMIFamily:           o.AMIFamily,
		InstanceStorePolicy: o.InstanceStorePolicy,
		NetworkInterfaces:   o.NetworkInterfaces.value,
		Kubelet:             kubeletOf(o.Kubelet, "spec.kubelet"),
	}
	for _, term := range o.AMISelectorTerms {
		if term.Alias != "" {
			c.Alias = &term.Alias
			break
		}
	}
	for _, m := range o.BlockDeviceMappings.value {
		mapping := snapshot.BlockDeviceMapping{DeviceName: m.DeviceName, RootVolume: m.RootVolume}
		if m.EBS != nil {
			mapping.EBS = &snapshot.EBS{VolumeSize: (*string)(m.EBS.VolumeSize), SnapshotID: m.EBS.SnapshotID}
		}
		c.BlockDeviceMappings = append(c.BlockDeviceMappings, mapping)
	}
	var problems []string
	if err := o.BlockDeviceMappings.err; err != nil {
		problems = append(problems, "spec.blockDeviceMappings: "+err.Error())
	}
	if err := o.NetworkInterfaces.err; err != nil {
		problems = append(problems, "spec.networkInterfaces: "+err.Error())
	}
	c.Problem = strings.Join(problems, "; ")
	return c
}

func (o *overlayObject) reset() {
	o.Metadata.reset()
	*o = overlayObject{Metadata: o.Metadata}
}

func (o *overlayObject) parts() parts { return parts{metadata: &o.Metadata, spec: &o.Spec} }

// keep drops overlays without a capacity: they change prices alone.
func (o *overlayObject) keep(d *dump, h header, s *source) error {
	if len(o.Spec.Capacity) == 0 {
		return nil
	}
	return d.overlays.add(o.Metadata.Name, o.Metadata.Name, h, s, snapshot.NodeOverlay{
		Name: o.Metadata.Name, Weight: o.Spec.Weight, Requirements: o.Spec.Requirements, Capacity: o.Spec.Capacity,
	})
}

func (o *deploymentObject) reset() {
	o.Metadata.reset()
	*o = deploymentObject{Metadata: o.Metadata}
}

func (o *deploymentObject) parts() parts { return parts{metadata: &o.Metadata, spec: &o.Spec} }

func (o *deploymentObject) keep(d *dump, h header, s *source) error {
	m := &o.Metadata
	deployment := Deployment{
		Namespace: m.Namespace, Name: m.Name,
		Labels:     append(snapshot.Labels(nil), m.Labels.list...),
		Containers: o.Spec.Template.Spec.Containers,
	}
	if !deployment.isKarpenter() {
		d.ignored[h.kind]++
		return nil
	}
	return d.deployments.add(m.Namespace+"/"+m.Name, m.Name, h, s, deployment)
}

func (o *configMapObject) reset() {
	o.Metadata.reset()
	*o = configMapObject{Metadata: o.Metadata}
}

func (o *configMapObject) parts() parts { return parts{metadata: &o.Metadata, data: &o.Data} }

func (o *configMapObject) keep(d *dump, h header, s *source) error {
	m := &o.Metadata
	err := d.configMaps.add(m.Namespace+"/"+m.Name, m.Name, h, s, ConfigMap{m.Namespace, m.Name, o.Data})
	if m.Name != globalSettings {
		return nil // two versions of a ConfigMap that is hardly Karpenter's are no reason to stop
	}
	return err
}
