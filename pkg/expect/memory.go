package expect

import (
	"fmt"
	"math"
)

const mib = 1 << 20

// gravitonCMA is the contiguous memory area that the kernel of every Graviton machine keeps for itself.
const gravitonCMA = 64

// memory is EC2's MiB, less 64 MiB on Graviton, less the VM memory overhead in whole MiB:
//
//	m = mib − 64 if arm64;  capacity = m − ceil(m·2^20 · percent / 1024 / 1024)
//
// in bytes. The product and both divisions are IEEE doubles in this order: at 0.07 the overhead is 1 MiB above exact
// arithmetic for one size in 32. The percentage has no upper bound, so the result can be negative.
// Source: memory() in pkg/providers/instancetype/types.go; CMA since v0.28.0 (fb3eb0510, #3940): only where arm64 is
// the first architecture listed.
func (c *calculation) memory() (Sum, error) {
	size := c.instance.MemoryMiB
	from := len(c.terms)
	c.terms = append(c.terms, term("EC2 memory", size*mib))
	if c.rules.GravitonCMA && len(c.instance.Architectures) > 0 && c.instance.Architectures[0] == "arm64" {
		size -= gravitonCMA
		c.terms = append(c.terms, term("Graviton CMA", -gravitonCMA*mib))
	}
	overhead := math.Ceil(float64(size*mib) * c.settings.OverheadPercent / 1024 / 1024)
	if math.Abs(overhead) > largestMemory {
		return nil, fmt.Errorf("memory of %s at overhead %v: %w", c.instance.Name, c.settings.OverheadPercent, errOverflow)
	}
	c.terms = append(c.terms, term("VM memory overhead", -int64(overhead)*mib))
	return Sum(c.terms[from:len(c.terms):len(c.terms)]), nil
}
