package expect

import (
	"testing"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

func TestSmoke(t *testing.T) {
	m, err := New(Settings{Version: Newest, OverheadPercent: 0.075}, Class{Family: FamilyNamed("AL2023", Newest)})
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.Expect(&snapshot.InstanceType{Name: "m5.large", VCPUs: 2, MemoryMiB: 8192, Architectures: []string{"x86_64"}, DefaultCardENIs: 3, ENIs: 3, IPv4PerENI: 10})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range e.Resources {
		t.Log(r.Name, r.CapacityTerms.Text(r.Name), r.Allocatable, r.KubeReserved.Text(r.Name), r.Eviction.Text(r.Name))
	}
}
