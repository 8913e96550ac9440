package recommend

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestPatches: each generation of releases has its own place for the setting, and the chart drops a number 0.
func TestPatches(t *testing.T) {
	node := machine{typ: "m5.large", arch: "amd64", ec2MiB: 8192, capacity: "7951376Ki"}
	full := machine{typ: "m5.large", arch: "amd64", ec2MiB: 8192, capacity: "8Gi"}
	for _, tt := range []struct {
		version   string
		machine   machine
		namespace string
		releases  string
		helm      string // the value by path
		command   string
	}{
		{"0.31.0", node, "karpenter", "up to v0.31", "settings.aws.vmMemoryOverheadPercent=0.0521", `kubectl -n karpenter patch configmap karpenter-global-settings --type merge -p '{"data":{"aws.vmMemoryOverheadPercent":"0.0521"}}' && kubectl -n karpenter rollout restart deployment/karpenter`},
		{"0.32.10", node, "karpenter", "v0.32", "settings.aws.vmMemoryOverheadPercent=0.0521", "kubectl -n karpenter set env deployment/karpenter VM_MEMORY_OVERHEAD_PERCENT=0.0521"},
		{"0.33.0", node, "", "v0.33 and newer", "settings.vmMemoryOverheadPercent=0.0521", "kubectl -n kube-system set env deployment/karpenter VM_MEMORY_OVERHEAD_PERCENT=0.0521"},
		{"1.15.2", full, "", "v0.33 and newer", "settings.vmMemoryOverheadPercent=0", "kubectl -n kube-system set env deployment/karpenter VM_MEMORY_OVERHEAD_PERCENT=0"},
	} {
		t.Run(tt.version, func(t *testing.T) {
			r := recommend(t, Options{Namespace: tt.namespace}, newFleetWith(tt.version, tt.machine))
			if len(r.Patches) != 1 {
				t.Fatalf("patches %+v", r.Patches)
			}
			p := r.Patches[0]
			if p.Releases != tt.releases || p.Command != tt.command {
				t.Errorf("%+v", p)
			}
			var values map[string]any
			if err := yaml.UnmarshalStrict([]byte(p.Helm), &values); err != nil {
				t.Fatalf("%v in\n%s", err, p.Helm)
			}
			path, want, _ := strings.Cut(tt.helm, "=")
			var at any = values
			for _, key := range strings.Split(path, ".") {
				at = at.(map[string]any)[key]
			}
			if text, ok := at.(string); !ok || text != want {
				t.Errorf("%s is %#v, not the string %q", path, at, want)
			}
		})
	}
	mixed := recommend(t, Options{}, newFleetWith("1.15.2", node), newFleetWith("0.31.0", node))
	if len(mixed.Patches) != 2 || mixed.Patches[0].Releases != "up to v0.31" {
		t.Errorf("a mixed fleet gets %+v", mixed.Patches)
	}
}
