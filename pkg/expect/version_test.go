package expect

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

func TestParseVersion(t *testing.T) {
	for _, row := range []struct {
		reason, text string
		want         Version
	}{
		{"an image tag up to v0.34", "v0.34.1", Version{0, 34, 1}},
		{"an image tag from v0.35 on", "1.14.1", Version{1, 14, 1}},
		{"a release line is its first release", "v1.14", Version{1, 14, 0}},
		{"a release candidate counts as what it precedes", "v1.0.0-rc.3", Version{1, 0, 0}},
		{"a patched build as what it extends", "v1.7.3-hash-fix-backport", Version{1, 7, 3}},
		{"build metadata is dropped", "1.14.1+abc", Version{1, 14, 1}},
		{"a suffix behind a release line", "1.14-rc.1", Version{1, 14, 0}},
		{"parts compare as numbers, not as text", "v0.100.99", Version{0, 100, 99}},
		{"zeros", "0.0.0", Version{0, 0, 0}},
	} {
		got, err := ParseVersion(row.text)
		if err != nil || got != row.want {
			t.Errorf("%s: %q is %v, %v; want %v", row.reason, row.text, got, err, row.want)
		}
	}
	for _, row := range []struct{ reason, text string }{
		{"a snapshot build names no release", "0-4f51c3bd8b45a9d4e0ac84a04a2c1e6ae0d2ffe5"},
		{"nothing", ""},
		{"one number", "1"},
		{"a fourth part", "1.2.3.4"},
		{"space around", " 1.2.3"},
		{"two v", "vv1.2.3"},
		{"a sign", "1.-2.3"},
		{"an empty part", "1..3"},
		{"an empty suffix", "1.2.3-"},
		{"a number that is no release", "v1.2.999999"},
		{"latest", "latest"},
		{"a new line behind", "1.2.3\n"},
	} {
		if got, err := ParseVersion(row.text); err == nil {
			t.Errorf("%s: %q is read as %v", row.reason, row.text, got)
		} else if !strings.Contains(err.Error(), "is not a Karpenter release such as v1.15.2") {
			t.Errorf("%s: %q fails with %q, which does not say what a release looks like", row.reason, row.text, err)
		}
	}
}

func TestBefore(t *testing.T) {
	ordered := []Version{{0, 9, 9}, {0, 27, 0}, {0, 27, 3}, {0, 28, 0}, {1, 0, 0}, {1, 9, 3}, {1, 10, 0}, {1, 10, 2}, {2, 0, 0}}
	for i, v := range ordered {
		for j, w := range ordered {
			if got := v.Before(w); got != (i < j) {
				t.Errorf("%v before %v is %v", v, w, got)
			}
		}
	}
}

// change is one input on both sides of a breakpoint: last is the last release without the change, since the first with.
type change struct {
	reason      string
	last, since string
	given       given
	instance    snapshot.InstanceType
	// want are the figures that change, "memory capacity: 15155Mi → 15096Mi"; all others must not.
	want []string
}

// TestBreakpoints: each release that changes numbers changes these, and nothing else.
func TestBreakpoints(t *testing.T) {
	covered := map[string]bool{}
	for _, row := range slices.Concat(breakpointsTo028, breakpointsFrom029, breakpointsFrom10) {
		covered[versionOf(t, row.since).String()] = true
		t.Run("v"+row.since+" "+row.reason, func(t *testing.T) { row.check(t) })
	}
	for _, b := range Breakpoints() {
		if b.Since != Oldest && !covered[b.Since.String()] {
			t.Errorf("no row for v%s: %s", b.Since, b.Why)
		}
	}
}

func (c change) check(t *testing.T) {
	before, after := c.given, c.given
	before.version, after.version = c.last, c.since
	old, fresh := figures(t, before.expect(t, c.instance)), figures(t, after.expect(t, c.instance))
	var got []string
	for name := range old {
		if _, ok := fresh[name]; !ok {
			fresh[name] = "absent"
		}
	}
	for name, value := range fresh {
		was, ok := old[name]
		if !ok {
			was = "absent"
		}
		if was != value {
			got = append(got, name+": "+was+" → "+value)
		}
	}
	slices.Sort(got)
	slices.Sort(c.want)
	if diff := cmp.Diff(c.want, got); diff != "" {
		t.Errorf("v%s → v%s changes (-want +got):\n%s", c.last, c.since, diff)
	}
}

// absent are the figures of a resource of the given count that a release lacks and the next has.
func appears(resource, count string) []string {
	return []string{
		resource + " capacity: absent → " + count, resource + " allocatable: absent → " + count,
		resource + " kube-reserved: absent → 0", resource + " system-reserved: absent → 0",
		resource + " eviction: absent → 0", resource + " huge-pages: absent → 0",
	}
}

var breakpointsTo028 = []change{
	{"default system-reserved dropped, nodefs eviction added", "0.27.0", "0.27.1", given{}, m5Large(), []string{
		"cpu system-reserved: 100m → 0", "cpu allocatable: 1830m → 1930m",
		"memory system-reserved: 100Mi → 0", "memory allocatable: 6803Mi → 6903Mi",
		"ephemeral-storage system-reserved: 1Gi → 0", "ephemeral-storage eviction: 0 → 2Gi", "ephemeral-storage allocatable: 18Gi → 17Gi", // 20−1−2
	}},
	{"a user's system-reserved key replaced its default", "0.27.0", "0.27.1", given{kubelet: `{"systemReserved":{"cpu":"0","memory":"0","ephemeral-storage":"0"},"evictionHard":{"nodefs.available":"0"}}`}, m5Large(), nil},
	{"nodefs.available honoured", "0.27.0", "0.27.1", given{kubelet: `{"systemReserved":{"cpu":"0","memory":"0","ephemeral-storage":"0"},"evictionHard":{"nodefs.available":"15%"}}`}, m5Large(), []string{
		"ephemeral-storage eviction: 0 → 3Gi", "ephemeral-storage allocatable: 19Gi → 16Gi", // 20−1−3
	}},
	{"interfaces of the default card only", "0.27.2", "0.27.3", given{}, p4d24xlarge(), []string{
		"pods capacity: 2942 → 737", "pods allocatable: 2942 → 737", // 60·49+2; 15·49+2
		"memory kube-reserved: 32617Mi → 8362Mi", "memory allocatable: 1058457Mi → 1082712Mi", // 11·2942+255; 11·737+255
	}},
	{"one card: no change", "0.27.2", "0.27.3", given{}, m5Large(), nil},
	{"Graviton CMA", "0.27.8", "0.28.0", given{}, m6gXlarge(), []string{
		"memory capacity: 15155Mi → 15096Mi", "memory allocatable: 14162Mi → 14103Mi", // 16384−1229; 16320−1224
	}},
	{"x86: no CMA", "0.27.8", "0.28.0", given{}, m5Large(), nil},
	{"reserved ENIs", "0.27.8", "0.28.0", given{settings: reserved(1)}, m5Large(), []string{
		"pods capacity: 29 → 20", "pods allocatable: 29 → 20", // 2·9+2
		"memory kube-reserved: 574Mi → 475Mi", "memory allocatable: 6903Mi → 7002Mi", // 11·20+255
	}},
	{"trn1 devices are constants", "0.27.8", "0.28.0", given{}, trn132xlarge(), []string{
		"aws.amazon.com/neuron capacity: 0 → 16", "aws.amazon.com/neuron allocatable: 0 → 16",
	}},
}

var breakpointsFrom029 = []change{
	{"Windows exists: no ENI-limited density, its own disk, addresses", "0.28.1", "0.29.0", given{family: "Windows2022"}, m5Large(), append(appears(PrivateIPv4, "9"),
		"pods capacity: 29 → 110", "pods allocatable: 29 → 110",
		"memory kube-reserved: 574Mi → 1465Mi", "memory allocatable: 6903Mi → 6012Mi", // 11·110+255
		"ephemeral-storage capacity: 20Gi → 50Gi", "ephemeral-storage eviction: 2Gi → 5Gi", "ephemeral-storage allocatable: 17Gi → 44Gi",
	)},
	{"the other families: no change", "0.28.1", "0.29.0", given{family: "Bottlerocket"}, m5Large(), nil},
	{"a root volume wins", "0.30.0", "0.31.0", given{class: `{"blockDeviceMappings":[{"deviceName":"/dev/xvda","ebs":{"volumeSize":"30Gi"}},{"deviceName":"/dev/sdb","rootVolume":true,"ebs":{"volumeSize":"100Gi"}}]}`}, m5Large(), []string{
		"ephemeral-storage capacity: 30Gi → 100Gi", "ephemeral-storage eviction: 3Gi → 10Gi", "ephemeral-storage allocatable: 26Gi → 89Gi",
	}},
	{"pod-eni without aws.enablePodENI", "0.31.5", "0.32.0", given{}, withLimits(m5Large(), 9), []string{
		"vpc.amazonaws.com/pod-eni capacity: 0 → 9", "vpc.amazonaws.com/pod-eni allocatable: 0 → 9",
	}},
	{"pod-eni with it", "0.31.5", "0.32.0", given{settings: func(s *Settings) { s.PodENI = true }}, withLimits(m5Large(), 9), nil},
	{"Windows addresses hang on amd64", "0.31.5", "0.32.0", given{family: "Windows2022"}, m6gXlarge(), []string{
		"vpc.amazonaws.com/PrivateIPv4Address capacity: 14 → 0", "vpc.amazonaws.com/PrivateIPv4Address allocatable: 14 → 0",
	}},
	{"EFA", "0.32.10", "0.33.0", given{}, p4d24xlarge(), appears(EFA, "4")},
	{"aws.enableENILimitedPodDensity gone", "0.32.10", "0.33.0", given{settings: func(s *Settings) { s.UnlimitedPodDensity = true }}, m5Large(), append(appears(EFA, "0"),
		"pods capacity: 110 → 29", "pods allocatable: 110 → 29",
	)},
	{"RAID0", "0.33.12", "0.34.0", given{class: `{"instanceStorePolicy":"RAID0"}`}, m5d4xlarge(), []string{
		"ephemeral-storage capacity: 20Gi → 585937500Ki", "ephemeral-storage eviction: 2Gi → 58593750Ki", // 600G
		"ephemeral-storage allocatable: 17Gi → 526295174Ki", // 600G−1Gi−60G
	}},
	{"AL2023 exists, with the figures of AL2", "0.34.13", "0.35.0", given{family: "AL2023", kubelet: evictionSettings, settings: reserved(1)}, c52xlarge(), nil},
}

var breakpointsFrom10 = []change{
	{"Windows addresses from the limits table", "0.37.8", "1.0.0", given{family: "Windows2022"}, m5Large(), []string{
		"vpc.amazonaws.com/PrivateIPv4Address capacity: 9 → 0", "vpc.amazonaws.com/PrivateIPv4Address allocatable: 9 → 0",
	}},
	{"which has the type", "0.37.8", "1.0.0", given{family: "Windows2022"}, withLimits(m5Large(), 0), nil},
	{"Ubuntu is gone: AL2's device", "0.37.8", "1.0.0", given{family: "Ubuntu", class: `{"blockDeviceMappings":[{"deviceName":"/dev/sda1","ebs":{"volumeSize":"100Gi"}}]}`}, m5Large(), []string{
		"ephemeral-storage capacity: 100Gi → 20Gi", "ephemeral-storage eviction: 10Gi → 2Gi", "ephemeral-storage allocatable: 89Gi → 17Gi",
	}},
	{"Neuron devices and cores from NeuronInfo", "1.0.14", "1.1.0", given{}, inf124xlarge(), appears(NeuronCore, "64")}, // 16·4; the devices are in both lists
	{"trn2 is in NeuronInfo alone", "1.0.14", "1.1.0", given{}, func() snapshot.InstanceType {
		t := x86("trn2.48xlarge", 192, 2097152, 2, 50)
		t.Neurons = []snapshot.Neuron{{Count: 16, Cores: 8}}
		return t
	}(), append(appears(NeuronCore, "128"), "aws.amazon.com/neuron capacity: 0 → 16", "aws.amazon.com/neuron allocatable: 0 → 16")},
	{"kube-reserved ignores reserved ENIs", "1.5.1", "1.5.2", given{family: "AL2023", settings: reserved(2)}, m6gXlarge(), []string{
		"memory kube-reserved: 585Mi → 893Mi", "memory allocatable: 14411Mi → 14103Mi", // 11·30+255; 11·58+255
	}},
	{"not on Bottlerocket", "1.5.1", "1.5.2", given{family: "Bottlerocket", settings: reserved(2)}, m6gXlarge(), nil},
	{"huge pages by NodeOverlay", "1.6.8", "1.7.0", given{settings: overlayGate, overlays: []snapshot.NodeOverlay{overlay("a", 0, "hugepages-2Mi", "1Gi")}}, m5Large(), append(appears("hugepages-2Mi", "1Gi"),
		"memory huge-pages: 0 → 1Gi", "memory allocatable: 6903Mi → 5879Mi", // 6903−1024
	)},
	{"evictionSoft no longer counted", "1.8.8", "1.9.0", given{kubelet: evictionSettings}, c52xlarge(), []string{
		"memory eviction: 1551872Ki → 775936Ki", "memory allocatable: 13052416Ki → 13828352Ki", // 10 % and 5 % of 15155Mi
	}},
	{"Bottlerocket never counted it", "1.8.8", "1.9.0", given{family: "Bottlerocket", kubelet: evictionSettings}, c52xlarge(), nil},
	{"the heaviest overlay counts", "1.8.8", "1.9.0", given{settings: overlayGate, overlays: []snapshot.NodeOverlay{overlay("a", 10, "example.com/x", "1"), overlay("b", 1, "example.com/x", "2")}}, m5Large(), []string{
		"example.com/x capacity: 2 → 1", "example.com/x allocatable: 2 → 1",
	}},
	{"Windows2025 exists", "1.8.8", "1.9.0", given{family: "Windows2025"}, withLimits(m5Large(), 0), append(appears(PrivateIPv4, "9"),
		"pods capacity: 29 → 110", "pods allocatable: 29 → 110",
		"memory kube-reserved: 574Mi → 1465Mi", "memory allocatable: 6903Mi → 6012Mi",
		"ephemeral-storage capacity: 20Gi → 50Gi", "ephemeral-storage eviction: 2Gi → 5Gi", "ephemeral-storage allocatable: 17Gi → 44Gi",
	)},
	{"networkInterfaces", "1.10.2", "1.11.0", given{family: "AL2023", class: twoInterfaces}, p548xlarge(), []string{
		"pods capacity: 100 → 51", "pods allocatable: 100 → 51", // 2·49+2; 1·49+2
		"memory kube-reserved: 1355Mi → 816Mi", "memory allocatable: 1938410Mi → 1938949Mi", // 11·51+255
		"vpc.amazonaws.com/efa capacity: 32 → 1", "vpc.amazonaws.com/efa allocatable: 32 → 1",
	}},
	{"v1.14.0 has overrides that AWS never sets", "1.13.1", "1.14.0", given{family: "AL2023", class: twoInterfaces, kubelet: evictionSettings}, p548xlarge(), nil},
	{"CEL", "1.14.3", "1.15.0", given{settings: celGate}, m5Large(), nil},
	{"Bottlerocket's OS volume grew, which is not counted", "1.14.3", "1.15.0", given{family: "Bottlerocket"}, m5Large(), nil},
}

func overlayGate(s *Settings) { s.NodeOverlay = true }
func celGate(s *Settings)     { s.NodeClassCEL = true }

func overlay(name string, weight int64, resource, amount string) snapshot.NodeOverlay {
	return snapshot.NodeOverlay{Name: name, Weight: weight, Capacity: snapshot.Labels{{Key: resource, Value: amount}}}
}

// TestBreakpointsOfErrors: what a release cannot read at all.
func TestBreakpointsOfErrors(t *testing.T) {
	sizeless := given{class: `{"blockDeviceMappings":[{"deviceName":"/dev/xvda","ebs":{"snapshotID":"snap-1"}}]}`}
	for _, row := range []struct {
		reason  string
		version string
		given   given
		want    string
	}{
		{"a volume without a size", "0.27.8", sizeless, `block device /dev/xvda of EC2NodeClass "default": no volumeSize: Karpenter before v0.28.0 panics on it`},
		{"from v0.28.0 on it has the default size", "0.28.0", sizeless, ""},
		{"maxPods as an expression", "1.14.3", given{kubelet: `{"maxPods":"vcpus * 10"}`}, `maxPods "vcpus * 10" is not a number: expressions are read from Karpenter v1.15.0 on`},
		{"from v1.15.0 on it is not set while the gate is off", "1.15.0", given{kubelet: `{"maxPods":"vcpus * 10"}`}, ""},
		{"a reserved expression", "1.14.3", given{kubelet: `{"kubeReserved":{"cpu":"vcpus * 10"}}`}, `kubeReserved cpu: "vcpus * 10" is not a quantity`},
		{"from v1.15.0 on it is dropped while the gate is off", "1.15.0", given{kubelet: `{"kubeReserved":{"cpu":"vcpus * 10"}}`}, ""},
		{"a soft signal that does not parse", "1.8.8", given{kubelet: `{"evictionSoft":{"memory.available":"x"}}`}, `evictionSoft memory.available: "x" is not a quantity`},
		{"from v1.9.0 on nobody reads it", "1.9.0", given{kubelet: `{"evictionSoft":{"memory.available":"x"}}`}, ""},
		{"nodefs in v0.27.0", "0.27.0", given{kubelet: `{"evictionHard":{"nodefs.available":"x"}}`}, ""},
		{"nodefs from v0.27.1 on", "0.27.1", given{kubelet: `{"evictionHard":{"nodefs.available":"x"}}`}, `evictionHard nodefs.available: "x" is not a quantity`},
	} {
		row.given.version = row.version
		if got := row.given.failure(t, m5Large()); got != row.want {
			t.Errorf("v%s, %s: got %q, want %q", row.version, row.reason, got, row.want)
		}
	}
}

// TestInputRules: what the rules of a release say about where settings are read, for the packages that read them.
func TestInputRules(t *testing.T) {
	type inputs struct{ class, compat, alias, discovered bool }
	for _, row := range []struct {
		version string
		want    inputs
	}{
		{"0.37.8", inputs{}},
		{"1.0.0", inputs{class: true, compat: true, alias: true}},
		{"1.0.14", inputs{class: true, compat: true, alias: true}},
		{"1.1.0", inputs{class: true, alias: true, discovered: true}},
		{"1.15.2", inputs{class: true, alias: true, discovered: true}},
	} {
		r := RulesOf(versionOf(t, row.version))
		if got := (inputs{r.ClassKubelet, r.CompatKubelet, r.Alias, r.DiscoveredMemory}); got != row.want {
			t.Errorf("v%s: got %+v, want %+v", row.version, got, row.want)
		}
	}
}

// TestNewerReleases: a release above the newest known has its rules.
func TestNewerReleases(t *testing.T) {
	if diff := cmp.Diff(RulesOf(Newest), RulesOf(Version{9, 0, 0})); diff != "" {
		t.Error(diff)
	}
}
