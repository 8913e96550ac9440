package oracle

import (
	"bytes"
	"slices"
	"strconv"

	"gopkg.in/inf.v0"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// writeAmounts writes a list as `name=amount,…` in name order, without zeros: upstream keeps them in an instance type
// and drops them in NodeClaim.status, so they carry nothing.
func writeAmounts(b *bytes.Buffer, list corev1.ResourceList) {
	names := make([]string, 0, len(list))
	for name := range list {
		names = append(names, string(name))
	}
	slices.Sort(names)
	separator := ""
	for _, name := range names {
		whole := amount(corev1.ResourceName(name), list[corev1.ResourceName(name)])
		if whole == "0" {
			continue
		}
		b.WriteString(separator)
		b.WriteString(name)
		b.WriteByte('=')
		b.WriteString(whole)
		separator = ","
	}
}

// amount is a quantity in millicores for cpu, else in whole units, a fraction rounded towards plus infinity.
// Quantity.Value and MilliValue round a negative fraction away from zero or one too high (-1.5 gives -2 or 0, as it is
// held), so a fraction is rounded here, from the exact decimal.
func amount(name corev1.ResourceName, q resource.Quantity) string {
	shift := inf.Scale(0)
	if name == corev1.ResourceCPU {
		shift = 3
	} else if whole, ok := q.AsInt64(); ok {
		return strconv.FormatInt(whole, 10)
	}
	exact := q.DeepCopy() // AsDec changes the quantity that it is called on
	units := new(inf.Dec).Set(exact.AsDec())
	units.SetScale(units.Scale() - shift)
	return units.Round(units, 0, inf.RoundCeil).String()
}
