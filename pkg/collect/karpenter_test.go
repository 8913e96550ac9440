package collect

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

const at = "Deployment kube-system/karpenter"

// deployment is a Deployment of Karpenter with one container, whose fields are given as JSON members.
func deployment(t *testing.T, container string, labels ...string) Deployment {
	t.Helper()
	d := Deployment{Namespace: "kube-system", Name: "karpenter", Containers: make([]Container, 1)}
	if err := json.Unmarshal([]byte(`{"name":"controller",`+container+`}`), &d.Containers[0]); err != nil {
		t.Fatal(err)
	}
	m := map[string]string{labelAppName: "karpenter"}
	for i := 0; i < len(labels); i += 2 {
		m[labels[i]] = labels[i+1]
	}
	d.Labels = snapshot.LabelsOf(m)
	return d
}

// Where the release comes from, best first: image tag, version label, chart label, API versions served (model §7).
func TestRelease(t *testing.T) {
	served := func(v ...string) []string {
		for i := range v {
			v[i] = "karpenter.sh/" + v[i]
		}
		return v
	}
	both := []string{labelAppVersion, "1.2.3", labelHelmChart, "karpenter-1.2.4"}
	for _, row := range []struct {
		reason, image string
		labels        []string
		served        []string
		value, from   string
		note          string
	}{
		{"tag with v, as up to v0.34", "karpenter/controller:v0.34.1", both, nil, "0.34.1", "image tag of " + at, ""},
		{"tag without v, as from v0.35.0, with a digest", "karpenter/controller:1.14.1@sha256:0123", both, nil, "1.14.1", "image tag of " + at, ""},
		{"a mirror with a port", "mirror.example:5000/karpenter/controller:1.5.2", nil, nil, "1.5.2", "image tag of " + at, ""},
		{"a pre-release", "karpenter/controller:1.0.0-rc.1", nil, nil, "1.0.0-rc.1", "image tag of " + at, ""},
		{"a patched build", "karpenter/controller:v1.7.3-hash-fix-backport", nil, nil, "1.7.3-hash-fix-backport", "image tag of " + at, ""},
		{"two numbers", "karpenter/controller:1.7", nil, nil, "1.7", "image tag of " + at, ""},
		{"a build of a commit is unknown, whatever the chart says", "karpenter/controller:0-6a4b1c2", both, nil, "0-6a4b1c2", "image tag of " + at, ""},
		{"a bare commit", "karpenter/controller:1d927085d1d927085d1d927085d1d927085d1d92", both, nil, "1d927085d1d927085d1d927085d1d927085d1d92", "image tag of " + at, ""},
		{"a build of a commit, and v1beta1 alone served", "karpenter/controller:0-6a4b1c2", nil, served("v1beta1"), "0.37", "the API versions karpenter.sh/v1beta1 (Karpenter v0.33 to v0.37)", ""},
		{"a digest alone needs the label", "karpenter/controller@sha256:0123", both, nil, "1.2.3", "label app.kubernetes.io/version of " + at, ""},
		{"a tag of another kind: the label, with a note", "mirror/karpenter:prod", both, nil, "1.2.3", "label app.kubernetes.io/version of " + at, `the image tag "prod" of ` + at + " names no release: the label app.kubernetes.io/version is taken"},
		{"no version label: the chart's", "karpenter/controller@sha256:0123", []string{labelHelmChart, "karpenter-v0.31.0"}, nil, "0.31.0", "label helm.sh/chart of " + at, ""},
		{"a chart version with build metadata", "karpenter/controller@sha256:0123", []string{labelHelmChart, "karpenter-1.1.0_build5"}, nil, "1.1.0+build5", "label helm.sh/chart of " + at, ""},
		{"a port is no tag", "mirror.example:5000/karpenter/controller", []string{labelAppVersion, "v1.3.0"}, nil, "1.3.0", "label app.kubernetes.io/version of " + at, ""},
		{"latest and no label: what was found is said", "karpenter/controller:latest", nil, served("v1"), "latest", "image of " + at, ""},
		{"a digest and no label", "karpenter/controller@sha256:0123", nil, nil, "sha256:0123", "image of " + at, ""},
		{"no tag at all", "karpenter/controller", nil, nil, "no tag", "image of " + at, ""},
		{"latest, Provisioners alone served", "karpenter/controller:latest", nil, served("v1alpha5"), "0.31", "the API versions karpenter.sh/v1alpha5 (Karpenter v0.31 or older)", ""},
		{"latest, Provisioners and NodePools served", "karpenter/controller:latest", nil, served("v1beta1", "v1alpha5"), "0.32", "the API versions karpenter.sh/v1alpha5 and karpenter.sh/v1beta1 (Karpenter v0.32)", ""},
		{"latest, v1 and v1beta1 served", "karpenter/controller:latest", nil, served("v1", "v1beta1"), "1.0", "the API versions karpenter.sh/v1 and karpenter.sh/v1beta1 (Karpenter v1.0)", ""},
		{"an overlay's API version says nothing", "karpenter/controller:latest", nil, served("v1alpha1", "v1beta1"), "0.37", "the API versions karpenter.sh/v1beta1 (Karpenter v0.33 to v0.37)", ""},
	} {
		c := detect([]Deployment{deployment(t, `"image":"`+row.image+`"`, row.labels...)}, nil, row.served, "").controller
		if want := (snapshot.Setting{Value: row.value, From: row.from}); c.Version != want {
			t.Errorf("%s: %+v, want %+v", row.reason, c.Version, want)
		}
		notes := strings.Join(c.Notes, "\n")
		if row.note == "" && strings.Contains(notes, "names no release") || !strings.Contains(notes, row.note) {
			t.Errorf("%s: notes %q, want %q", row.reason, notes, row.note)
		}
	}
	// Without a Deployment the API versions are all there is.
	if c := detect(nil, nil, served("v1beta1"), "").controller; c.Version.Value != "0.37" {
		t.Errorf("without a Deployment: %+v", c.Version)
	}
	if c := detect(nil, nil, served("v1"), "").controller; c.Version.Found() {
		t.Errorf("v1 alone is every release since v1.1: %+v", c.Version)
	}
}

// Where a setting comes from, by release and precedence; the Helm zero trap.
func TestSettings(t *testing.T) {
	settings := func(data map[string]string) ConfigMap {
		return ConfigMap{Namespace: "kube-system", Name: globalSettings, Data: data}
	}
	const overhead, enis = "VM_MEMORY_OVERHEAD_PERCENT", "RESERVED_ENIS"
	env := func(pairs ...string) string {
		var entries []string
		for i := 0; i < len(pairs); i += 2 {
			entries = append(entries, fmt.Sprintf(`{"name":%q,"value":%q}`, pairs[i], pairs[i+1]))
		}
		return `"env":[` + strings.Join(entries, ",") + `]`
	}
	v1, v032, v031 := `"image":"k:1.14.1",`, `"image":"k:v0.32.1",`, `"image":"k:v0.31.0",`
	old := settings(map[string]string{"aws.vmMemoryOverheadPercent": "0.08", "aws.reservedENIs": "2", "aws.enableENILimitedPodDensity": "False", "aws.enablePodENI": "1"})
	type s = snapshot.Setting
	for _, row := range []struct {
		reason     string
		container  string
		configMaps []ConfigMap
		labels     []string
		want       snapshot.Controller
	}{
		{"env", v1 + env(overhead, "0.06", enis, "1"), nil, nil, snapshot.Controller{
			VMMemoryOverheadPercent: s{Value: "0.06", From: "env VM_MEMORY_OVERHEAD_PERCENT of " + at},
			ReservedENIs:            s{Value: "1", From: "env RESERVED_ENIS of " + at},
		}},
		{"a flag wins over env, in every spelling; the last one counts", v1 + env(overhead, "0.06", enis, "1") + `,"args":["--reserved-enis","3","-vm-memory-overhead-percent=0.05","--vm-memory-overhead-percent=0.04"]`, nil, nil, snapshot.Controller{
			VMMemoryOverheadPercent: s{Value: "0.04", From: "flag --vm-memory-overhead-percent of " + at},
			ReservedENIs:            s{Value: "3", From: "flag --reserved-enis of " + at},
		}},
		{"flags in the command", v1 + `"command":["/app/controller","--reserved-enis=4"]`, nil, nil, snapshot.Controller{
			ReservedENIs: s{Value: "4", From: "flag --reserved-enis of " + at},
		}},
		{"a flag whose name only begins alike", v1 + `"args":["--reserved-enis-else=9","reserved-enis=8"]`, nil, nil, snapshot.Controller{}},
		{"feature gates of both sides", v1 + env("FEATURE_GATES", "NodeOverlay=true") + `,"args":["--aws-feature-gates=NodeClassCEL=true"]`, nil, nil, snapshot.Controller{
			FeatureGates:    s{Value: "NodeOverlay=true", From: "env FEATURE_GATES of " + at},
			AWSFeatureGates: s{Value: "NodeClassCEL=true", From: "flag --aws-feature-gates of " + at},
		}},
		{"what does not parse is kept as written", v1 + env(overhead, "7,5%", enis, ""), nil, nil, snapshot.Controller{
			VMMemoryOverheadPercent: s{Value: "7,5%", From: "env VM_MEMORY_OVERHEAD_PERCENT of " + at},
			ReservedENIs:            s{Value: "", From: "env RESERVED_ENIS of " + at},
		}},
		{"a name twice: the later one counts", v1 + env(enis, "1", enis, "2"), nil, nil, snapshot.Controller{
			ReservedENIs: s{Value: "2", From: "env RESERVED_ENIS of " + at},
		}},
		{"variables in values and flags", v1 + env("A", "0.0", "B", "$(A)5$$$(NONE)", overhead, "$(B)") + `,"args":["--reserved-enis=$(A)"]`, nil, nil, snapshot.Controller{
			VMMemoryOverheadPercent: s{Value: "0.05$$(NONE)", From: "env VM_MEMORY_OVERHEAD_PERCENT of " + at},
			ReservedENIs:            s{Value: "0.0", From: "flag --reserved-enis of " + at},
		}},
		{"envFrom a ConfigMap, with a prefix; env wins over it", v1 + env(overhead, "0.06") + `,"envFrom":[{"prefix":"RESERVED_","configMapRef":{"name":"extra"}},{"configMapRef":{"name":"extra"}}]`,
			[]ConfigMap{{"kube-system", "extra", map[string]string{"ENIS": "2", overhead: "0.2"}}, {"default", "extra", map[string]string{"ENIS": "7"}}}, nil, snapshot.Controller{
				VMMemoryOverheadPercent: s{Value: "0.06", From: "env VM_MEMORY_OVERHEAD_PERCENT of " + at},
				ReservedENIs:            s{Value: "2", From: "env RESERVED_ENIS of " + at + ", from ConfigMap kube-system/extra"},
			}},
		{"valueFrom a ConfigMap", v1 + `"env":[{"name":"RESERVED_ENIS","valueFrom":{"configMapKeyRef":{"name":"extra","key":"n"}}}]`,
			[]ConfigMap{{"kube-system", "extra", map[string]string{"n": "5"}}}, nil, snapshot.Controller{
				ReservedENIs: s{Value: "5", From: "env RESERVED_ENIS of " + at + ", from key n of ConfigMap extra"},
			}},
		{"valueFrom a ConfigMap that was not dumped", v1 + `"env":[{"name":"RESERVED_ENIS","valueFrom":{"configMapKeyRef":{"name":"extra","key":"n"}}}]`, nil, nil, snapshot.Controller{
			Notes: []string{"env RESERVED_ENIS of " + at + " comes from key n of ConfigMap extra, which is not in the input: give --reserved-enis"},
		}},
		{"valueFrom a Secret, and a flag that uses it", v1 + `"env":[{"name":"VM_MEMORY_OVERHEAD_PERCENT","valueFrom":{"secretKeyRef":{"name":"s","key":"n"}}}],"args":["--reserved-enis=$(VM_MEMORY_OVERHEAD_PERCENT)"]`, nil, nil, snapshot.Controller{
			Notes: []string{
				"env VM_MEMORY_OVERHEAD_PERCENT of " + at + " comes from key n of Secret s, which is not in the input: give --overhead-percent",
				"flag --reserved-enis=$(VM_MEMORY_OVERHEAD_PERCENT) of " + at + " cannot be resolved: give --reserved-enis",
			},
		}},
		{"valueFrom a field of the pod", v1 + `"env":[{"name":"RESERVED_ENIS","valueFrom":{"fieldRef":{"fieldPath":"x"}}}]`, nil, nil, snapshot.Controller{
			Notes: []string{"env RESERVED_ENIS of " + at + " comes from a field of the pod, which is not in the input: give --reserved-enis"},
		}},
		{"envFrom what cannot be read: said once, and only where it may matter", v1 + env(overhead, "0.06") + `,"envFrom":[{"secretRef":{"name":"s"}},{"configMapRef":{"name":"gone"}}]`, nil, nil, snapshot.Controller{
			VMMemoryOverheadPercent: s{Value: "0.06", From: "env VM_MEMORY_OVERHEAD_PERCENT of " + at},
			Notes:                   []string{at + " takes its environment also from Secret s, ConfigMap gone, which is not in the input: what that sets is not seen"},
		}},
		{"Helm drops a numeric zero", v1 + env(enis, "1"), nil, []string{labelHelmChart, "karpenter-1.14.1"}, snapshot.Controller{
			ReservedENIs: s{Value: "1", From: "env RESERVED_ENIS of " + at},
			Notes:        []string{at + ` comes from Helm chart karpenter-1.14.1 and sets no VM_MEMORY_OVERHEAD_PERCENT, so Karpenter's default applies: the chart drops a settings.vmMemoryOverheadPercent of 0 (write "0" for zero)`},
		}},
		{"Helm renders a zero that is a string", v1 + env(overhead, "0"), nil, []string{labelHelmChart, "karpenter-1.14.1"}, snapshot.Controller{
			VMMemoryOverheadPercent: s{Value: "0", From: "env VM_MEMORY_OVERHEAD_PERCENT of " + at},
		}},
		{"v0.33 and newer do not read the ConfigMap", v1 + env(enis, "1"), []ConfigMap{old}, nil, snapshot.Controller{
			ReservedENIs: s{Value: "1", From: "env RESERVED_ENIS of " + at},
			Notes:        []string{"ConfigMap kube-system/karpenter-global-settings is not used: Karpenter v0.33 and newer do not read it"},
		}},
		{"v0.32: flag, then env, then ConfigMap, option by option", v032 + env(overhead, "0.075"), []ConfigMap{old}, nil, snapshot.Controller{
			VMMemoryOverheadPercent: s{Value: "0.075", From: "env VM_MEMORY_OVERHEAD_PERCENT of " + at},
			ReservedENIs:            s{Value: "2", From: "aws.reservedENIs of ConfigMap kube-system/karpenter-global-settings"},
			ENILimitedPodDensity:    s{Value: "false", From: "aws.enableENILimitedPodDensity of ConfigMap kube-system/karpenter-global-settings"},
			PodENI:                  s{Value: "true", From: "aws.enablePodENI of ConfigMap kube-system/karpenter-global-settings"},
		}},
		{"v0.31 and older: the ConfigMap alone", v031 + env(overhead, "0.2", enis, "9") + `,"args":["--reserved-enis=8"]`, []ConfigMap{old}, nil, snapshot.Controller{
			VMMemoryOverheadPercent: s{Value: "0.08", From: "aws.vmMemoryOverheadPercent of ConfigMap kube-system/karpenter-global-settings"},
			ReservedENIs:            s{Value: "2", From: "aws.reservedENIs of ConfigMap kube-system/karpenter-global-settings"},
			ENILimitedPodDensity:    s{Value: "false", From: "aws.enableENILimitedPodDensity of ConfigMap kube-system/karpenter-global-settings"},
			PodENI:                  s{Value: "true", From: "aws.enablePodENI of ConfigMap kube-system/karpenter-global-settings"},
		}},
		{"v0.31 whose ConfigMap was not dumped", v031 + env(overhead, "0.2"), nil, nil, snapshot.Controller{
			Notes: []string{"ConfigMap kube-system/karpenter-global-settings is not in the input: what it may set is not seen"},
		}},
		{"a pre-release of v0.33 is v0.33", `"image":"k:v0.33.0-rc.1",` + env(enis, "1"), []ConfigMap{old}, nil, snapshot.Controller{
			ReservedENIs: s{Value: "1", From: "env RESERVED_ENIS of " + at},
			Notes:        []string{"ConfigMap kube-system/karpenter-global-settings is not used: Karpenter v0.33 and newer do not read it"},
		}},
	} {
		got := detect([]Deployment{deployment(t, row.container, row.labels...)}, row.configMaps, nil, "").controller
		got.Version = snapshot.Setting{}
		if diff := cmp.Diff(row.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.reason, diff)
		}
	}
	// A v1alpha5 dump without the Deployment: the ConfigMap counts, since the API versions say how old Karpenter is.
	got := detect(nil, []ConfigMap{old}, []string{"karpenter.sh/v1alpha5"}, "").controller
	if got.VMMemoryOverheadPercent.Value != "0.08" || len(got.Notes) > 0 {
		t.Errorf("without a Deployment: %+v", got)
	}
}

// Which Deployment, which container, which ConfigMap where there are several.
func TestWhichKarpenter(t *testing.T) {
	d := func(namespace, name, version string) string {
		return fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: %s, name: %s, labels: {app.kubernetes.io/name: karpenter}}
spec: {template: {spec: {containers: [{name: sidecar, image: "proxy:9.9.9"}, {name: controller, image: "k:%s"}]}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {namespace: %s, name: karpenter-global-settings}
data: {aws.reservedENIs: "%d"}
`, namespace, name, version, namespace, len(namespace))
	}
	for _, row := range []struct {
		reason, namespace string
		dumps             []string
		version, enis     string
		note              string
	}{
		{"kube-system before karpenter", "", []string{d("karpenter", "karpenter", "0.31.1"), d("kube-system", "karpenter", "0.31.2")}, "0.31.2", "11",
			"there are 2 Deployments of Karpenter (kube-system/karpenter, karpenter/karpenter): kube-system/karpenter is taken for the running one (see --karpenter-namespace)"},
		{"karpenter before others", "", []string{d("a", "karpenter", "0.31.1"), d("karpenter", "karpenter", "0.31.2")}, "0.31.2", "9", "karpenter/karpenter is taken"},
		{"else by name", "", []string{d("b", "karpenter", "0.31.1"), d("a", "two", "0.31.2"), d("a", "one", "0.31.3")}, "0.31.3", "1", "a/one is taken"},
		{"the namespace that was asked for", "karpenter", []string{d("karpenter", "karpenter", "0.31.1"), d("kube-system", "karpenter", "0.31.2")}, "0.31.1", "9", ""},
		{"none in the namespace that was asked for", "x", []string{d("kube-system", "karpenter", "0.31.2")}, "", "", "no Deployment of Karpenter in namespace x, but there is kube-system/karpenter (see --karpenter-namespace)"},
	} {
		for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}} {
			var parts []string
			for _, i := range order {
				if i < len(row.dumps) {
					parts = append(parts, row.dumps[i])
				}
			}
			c := readText(t, strings.Join(parts, "\n---\n"), Options{KarpenterNamespace: row.namespace}).Controller
			if c.Version.Value != row.version || c.ReservedENIs.Value != row.enis {
				t.Errorf("%s: release %q and %q reserved ENIs, want %q and %q", row.reason, c.Version.Value, c.ReservedENIs.Value, row.version, row.enis)
			}
			if notes := strings.Join(c.Notes, "\n"); !strings.Contains(notes, row.note) || (row.note == "" && notes != "") {
				t.Errorf("%s: notes %q, want %q", row.reason, notes, row.note)
			}
		}
	}
}

func TestContainer(t *testing.T) {
	for _, row := range []struct {
		reason     string
		containers []Container
		want       string
	}{
		{"by its name", []Container{{Name: "a", Image: "karpenter:1"}, {Name: "controller", Image: "x:2"}}, "x:2"},
		{"the only one, under a name of one's own", []Container{{Name: "karp", Image: "mirror/x:3"}}, "mirror/x:3"},
		{"else by its image", []Container{{Name: "proxy", Image: "proxy:1"}, {Name: "karp", Image: "mirror/karpenter/controller:4"}}, "mirror/karpenter/controller:4"},
		{"none of them", []Container{{Name: "a", Image: "a:1"}, {Name: "b", Image: "b:1"}}, ""},
		{"no container", nil, ""},
	} {
		d := Deployment{Containers: row.containers}
		if got := d.container().Image; got != row.want {
			t.Errorf("%s: %q, want %q", row.reason, got, row.want)
		}
	}
}

// A Deployment is Karpenter's by its label, or without one by the image; another product's never is.
func TestIsKarpenter(t *testing.T) {
	for _, row := range []struct {
		reason, label, image string
		want                 bool
	}{
		{"by label", "karpenter", "mirror/x:1", true},
		{"by image, without a label", "", "mirror.example:5000/karpenter/controller:1.0.0", true},
		{"an image whose name only ends alike", "", "mirror/notkarpenter/controller:1.0.0", false},
		{"another name by label", "karpenter-dashboard", "karpenter/controller:1.0.0", false},
		{"neither", "", "nginx", false},
	} {
		d := Deployment{Containers: []Container{{Image: row.image}}}
		if row.label != "" {
			d.Labels = snapshot.Labels{{Key: labelAppName, Value: row.label}}
		}
		if got := d.isKarpenter(); got != row.want {
			t.Errorf("%s: %v, want %v", row.reason, got, row.want)
		}
	}
}
