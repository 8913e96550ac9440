package recommend

import (
	"fmt"
	"strconv"

	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
)

// Patch sets the fraction on controllers of some releases, in two ways.
type Patch struct {
	// Releases says for which.
	Releases string `json:"releases"`
	// Helm is the value for the chart. It is a string: the chart drops the number 0, and the default 0.075 then applies.
	Helm string `json:"helm"`
	// Command does the same without Helm, until the next helm upgrade.
	Command string `json:"command"`
}

// settingStyle is how releases are configured. Source: the charts and pkg/operator/options (before v0.32.0
// pkg/apis/settings) of v0.27.0 … v1.15.2: a ConfigMap, then both with the ConfigMap's key rendered but ignored, then
// the environment.
type settingStyle struct {
	until    expect.Version // the first release that is configured otherwise
	releases string
	helm     string
	command  string
}

// configMap is how the ConfigMap is set; the controller reads it when it starts.
const configMap = `kubectl -n %[1]s patch configmap karpenter-global-settings --type merge -p '{"data":{"aws.vmMemoryOverheadPercent":"%[2]s"}}' && kubectl -n %[1]s rollout restart deployment/karpenter`

const environment = "kubectl -n %[1]s set env deployment/karpenter VM_MEMORY_OVERHEAD_PERCENT=%[2]s"

var settingStyles = []settingStyle{
	{expect.Version{Major: 0, Minor: 32}, "up to v0.31", "settings:\n  aws:\n    vmMemoryOverheadPercent: %q\n", configMap},
	{expect.Version{Major: 0, Minor: 33}, "v0.32", "settings:\n  aws:\n    vmMemoryOverheadPercent: %q\n", environment},
	{expect.Version{Major: 1 << 30}, "v0.33 and newer", "settings:\n  vmMemoryOverheadPercent: %q\n", environment},
}

// patches are the ways to set the fraction on the sampled controllers, oldest releases first.
func (p *problem) patches(flat float64, namespace string) []Patch {
	used := make([]bool, len(settingStyles))
	for _, c := range p.curves {
		for i, s := range settingStyles {
			if c.model.Settings().Version.Before(s.until) {
				used[i] = true
				break
			}
		}
	}
	var out []Patch
	for i, s := range settingStyles {
		if used[i] {
			text := Format(flat)
			out = append(out, Patch{s.releases, fmt.Sprintf(s.helm, text), fmt.Sprintf(s.command, namespace, text)})
		}
	}
	return out
}

// Format writes a fraction as it is set: "0.0757".
func Format(fraction float64) string { return strconv.FormatFloat(fraction, 'f', -1, 64) }
