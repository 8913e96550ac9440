package expect

// cpu is DefaultVCpus whole cores, in millicores. CPU options and threads per core are not looked at.
// Source: cpu() in pkg/providers/instancetype/types.go, all releases.
func (c *calculation) cpu() (Sum, error) {
	return c.sum(term("EC2 vCPUs", c.instance.VCPUs*1000)), nil
}

// cpuBands are the shares that kube-reserved takes of a node's cores, from the first core on.
var cpuBands = []struct {
	start, end int64 // millicores
	share      float64
	label      string
}{
	{0, 1000, 0.06, "kube-reserved: 6 % of the first core"},
	{1000, 2000, 0.01, "kube-reserved: 1 % of the second core"},
	{2000, 4000, 0.005, "kube-reserved: 0.5 % of cores 3 and 4"},
	{4000, 1 << 31, 0.0025, "kube-reserved: 0.25 % of the others"},
}

// kubeReservedCPU is the sum of the bands, each truncated to a whole millicore by itself, for vcpus whole cores:
// 1→60, 2→70, 4→80, 8→90, 96→310, 192→550.
// Source: kubeReservedResources() in pkg/providers/instancetype/types.go, all releases.
func (c *calculation) kubeReservedCPU() Sum {
	cores := c.instance.VCPUs * 1000
	from := len(c.terms)
	for _, band := range cpuBands {
		if cores < band.start {
			break
		}
		r := float64(cores - band.start)
		if cores >= band.end {
			r = float64(band.end - band.start)
		}
		if part := int64(r * band.share); part > 0 {
			c.terms = append(c.terms, term(band.label, part))
		}
	}
	return Sum(c.terms[from:len(c.terms):len(c.terms)])
}
