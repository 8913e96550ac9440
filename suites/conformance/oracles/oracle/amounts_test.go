package oracle

import (
	"bytes"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestAmount(t *testing.T) {
	for _, tc := range []struct {
		reason   string
		name     corev1.ResourceName
		quantity string
		want     string
	}{
		{"cpu is in millicores", "cpu", "2", "2000"},
		{"and finer values go up", "cpu", "0.0705", "71"},
		{"toward plus infinity, so a negative one goes to zero's side", "cpu", "-1000.5m", "-1000"},
		{"memory is in bytes", "memory", "6903Mi", "7238320128"},
		{"a fraction goes up", "memory", "0.3Gi", "322122548"},
		{"Quantity.Value would give -2", "memory", "-1500m", "-1"},
		{"Quantity.Value would give 0, held as a big decimal", "memory", "-1.5000000000", "-1"},
		{"a billionth counts", "memory", "1n", "1"},
		{"a negative billionth is above -1", "memory", "-1n", "0"},
		{"the parser caps what does not fit 64 bits", "memory", "16Ei", "9223372036854775807"},
		{"the cap counts cores, so millicores can be more", "cpu", "1E", "1000000000000000000000"},
		{"a decimal unit", "ephemeral-storage", "600G", "600000000000"},
		{"an exponent", "ephemeral-storage", "1e10", "10000000000"},
	} {
		if got := amount(tc.name, resource.MustParse(tc.quantity)); got != tc.want {
			t.Errorf("%s: %s %s is %s, want %s", tc.reason, tc.name, tc.quantity, got, tc.want)
		}
	}
}

func TestAmountOfADifference(t *testing.T) {
	// As Allocatable does it: an exact fraction that came out of a subtraction.
	q := resource.MustParse("1Gi")
	q.Sub(resource.MustParse("1.3Gi"))
	before := q.DeepCopy()
	if got := amount("memory", q); got != "-322122547" { // -322122547.2
		t.Errorf("got %s", got)
	}
	if q.Cmp(before) != 0 {
		t.Errorf("the quantity changed to %s", q.String())
	}
}

func TestWriteAmounts(t *testing.T) {
	var b bytes.Buffer
	writeAmounts(&b, corev1.ResourceList{
		"pods": resource.MustParse("29"), "cpu": resource.MustParse("70m"), "nvidia.com/gpu": resource.MustParse("0"), "memory": resource.MustParse("-500u"),
	})
	if got, want := b.String(), "cpu=70,pods=29"; got != want { // zeros are left out, rounded ones too
		t.Errorf("got %q, want %q", got, want)
	}
}
