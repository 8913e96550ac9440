package expect

import "github.com/allocatable-diff/allocatable-diff/pkg/snapshot"

// readNetworkInterfaces counts the EFA-only entries. A missing networkCardIndex is 0; the type is compared exactly.
func (m *Model) readNetworkInterfaces() {
	if !m.rules.NetworkInterfaces || m.class.NetworkInterfaces == nil {
		return
	}
	for _, i := range *m.class.NetworkInterfaces {
		if i.InterfaceType != "efa-only" {
			continue
		}
		m.efas++
		if i.NetworkCardIndex == 0 {
			m.efaOnly++
		}
	}
}

// efaInterfaces is EC2's maximum, or the EFA-only entries of networkInterfaces where the class has that list, an empty
// one included.
// Source: efas() in pkg/providers/instancetype/types.go, since v0.33.0; networkInterfaces since v1.11.0 (1de6d8c60).
func (c *calculation) efaInterfaces() (Sum, error) {
	if c.rules.NetworkInterfaces && c.class.NetworkInterfaces != nil {
		return c.sum(term("EFA-only network interfaces of the class", c.efas)), nil
	}
	if err := c.need(snapshot.FactEFA); err != nil {
		return nil, err
	}
	return c.sum(term("EFA interfaces of EC2", c.instance.EFAs)), nil
}

// podENIs is the branch interfaces of a trunking-compatible type; 0 for a type that the limits table does not have.
// Source: awsPodENI() in pkg/providers/instancetype/types.go. The table is generated anew for each release: ours is
// that of amazon-vpc-resource-controller-k8s, so a type can differ by release.
func (c *calculation) podENIs() (Sum, error) {
	limits := c.limits()
	if limits == nil || !limits.Trunking || (c.rules.PodENISetting && !c.settings.PodENI) {
		return c.sum(term("no branch interfaces", 0)), nil
	}
	return c.sum(term("branch interfaces of the VPC limits table", limits.BranchInterfaces)), nil
}

// hasPrivateIPv4: Windows families only. Since v0.32.0 upstream asks for the OS requirement, which a Windows family has
// on amd64; see privateIPv4 for the architecture.
func (m *Model) hasPrivateIPv4() bool {
	return m.rules.PrivateIPv4 != NoPrivateIPv4 && m.family.Windows
}

// privateIPv4 is one interface's addresses but its own: from EC2 up to v0.37, from the limits table since v1.0.0 (0 for
// a type that is not in it). The architecture is the first listed that is x86_64 or arm64.
// Source: privateIPv4Address() and getOS() in pkg/providers/instancetype/types.go, since v0.29.0.
func (c *calculation) privateIPv4() (Sum, error) {
	if c.rules.WindowsByOS && firstArchitecture(c.instance) != "x86_64" {
		return c.sum(term("not an amd64 type", 0)), nil
	}
	if c.rules.PrivateIPv4 == PrivateIPv4FromLimits {
		if c.limits() == nil {
			return c.sum(term("not in the VPC limits table", 0)), nil
		}
		return c.sum(term("IPv4 addresses of an interface − 1", c.limits().IPv4PerENI-1)), nil
	}
	if err := c.need(snapshot.FactNetwork); err != nil {
		return nil, err
	}
	return c.sum(term("IPv4 addresses of an interface − 1", c.instance.IPv4PerENI-1)), nil
}

func firstArchitecture(t *snapshot.InstanceType) string {
	for _, a := range t.Architectures {
		if a == "x86_64" || a == "arm64" {
			return a
		}
	}
	return ""
}
