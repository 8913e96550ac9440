package expect

import "github.com/allocatable-diff/allocatable-diff/pkg/snapshot"

// lateLimits are the types that entered the VPC limits table between May and August 2026, after the one that is
// compiled into v1.14.x was generated: to those releases and all before, they have no branch interfaces.
// Source: pod-eni of the instance types page of v1.14.0, against the tables of amazon-vpc-resource-controller-k8s v1.8.0
// (2026-05-18) and v1.8.2 (2026-09-02), and of karpenter-provider-aws in August 2026.
var lateLimits = func() map[string]bool {
	out := map[string]bool{"hpc7g.4xlarge": true, "hpc7g.8xlarge": true, "hpc7g.16xlarge": true, "i4i.large": true}
	for _, group := range []struct{ families, sizes []string }{
		{[]string{"c9g", "c9gd"}, []string{"medium", "large", "xlarge", "2xlarge", "4xlarge", "8xlarge", "12xlarge", "16xlarge", "24xlarge", "48xlarge", "metal-48xl"}},
		{[]string{"c8gb", "c8gn", "m8gb", "m8gn", "r8gb", "r8gn"}, []string{"metal-24xl", "metal-48xl"}},
		{[]string{"c8ib", "m8ib", "m8idb", "m8idn", "m8in", "r8ib", "r8idb", "r8idn", "r8in"}, []string{"metal-48xl", "metal-96xl"}},
	} {
		for _, family := range group.families {
			for _, size := range group.sizes {
				out[family+"."+size] = true
			}
		}
	}
	return out
}()

// limits is the type's row of the limits table that the release has; nil where that has none.
func (c *calculation) limits() *snapshot.VPCLimits {
	if !c.rules.LateLimits && lateLimits[c.instance.Name] {
		return nil
	}
	return c.instance.Limits
}
