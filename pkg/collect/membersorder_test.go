package collect

import "testing"

// kubectl and every YAML reader sort members by name, so a ConfigMap's data comes between its apiVersion and its kind:
// the settings of v0.31 must not be lost to that order.
func TestConfigMapDataBeforeKind(t *testing.T) {
	in, err := Files([]string{"../../fixtures/clusters/v1alpha5"}, nil, Options{Cluster: "v1alpha5", InstanceTypes: "labels"})
	if err != nil {
		t.Fatal(err)
	}
	c := in.Snapshots[0].Controller
	for _, row := range []struct{ setting, value, want string }{
		{"aws.vmMemoryOverheadPercent", c.VMMemoryOverheadPercent.Value, "0.08"},
		{"aws.reservedENIs", c.ReservedENIs.Value, "0"},
		{"aws.enableENILimitedPodDensity", c.ENILimitedPodDensity.Value, "true"},
	} {
		if row.value != row.want {
			t.Errorf("%s of ConfigMap karpenter/karpenter-global-settings: %q, want %q", row.setting, row.value, row.want)
		}
	}
}
