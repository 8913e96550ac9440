package conformance

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func lines(cases []Case) []string {
	all := make([]string, len(cases))
	for i, c := range cases {
		all[i] = c.String()
	}
	return all
}

func TestGenerateIsReproducible(t *testing.T) {
	a, b := lines(Generate(7, 300, "v1.14.1")), lines(Generate(7, 300, "v1.14.1"))
	if !slices.Equal(a, b) {
		t.Error("the same seed gave other cases")
	}
	if short := lines(Generate(7, 20, "v1.14.1")); !slices.Equal(a[:20], short) {
		t.Error("the number of cases changed the cases: a mismatch of a long run cannot be found again in a short one")
	}
	if other := lines(Generate(8, 300, "v1.14.1")); slices.Equal(a, other) {
		t.Error("another seed gave the same cases")
	}
	// A run that someone reports by its seed must mean the same cases on every machine and Go release.
	const want = "262cbd4ed18cb23ea2fc1dfe4c4d5eb6b3bd3e8d4f9223a81e26773bcc051710"
	if got := fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(a, "\n")))); got != want {
		t.Errorf("seed 7 no longer gives the cases that it gave: digest %s, want %s; change the digest only with the generator", got, want)
	}
}

// Each value that the generator is there to try must come up in a run of the usual size.
func TestGenerateDrawsEverything(t *testing.T) {
	text := strings.Join(lines(Generate(1, 200, "v1.14.1")), "\n")
	var wanted []string
	quoted := func(values ...string) {
		for _, v := range values {
			wanted = append(wanted, fmt.Sprintf("%q", v))
		}
	}
	for _, f := range families {
		if name, ok := f.spec["amiFamily"].(string); ok {
			quoted(name)
		}
		if alias, ok := f.spec["amiSelectorTerms"].(list)[0].(object)["alias"].(string); ok {
			quoted(alias)
		}
	}
	quoted(reservedCPU...)
	quoted(reservedMemory...)
	quoted(reservedStorage...)
	quoted(reservedPID...)
	quoted(thresholds...)
	quoted(signals...)
	quoted(devices...)
	quoted("RAID0", "evictionSoft", "evictionHard", "kubeReserved", "systemReserved", "rootVolume", "snapshotID", "efa-only", "interface")
	for _, v := range volumeSizes {
		wanted = append(wanted, fmt.Sprintf(`"volumeSize":%#v`, v))
	}
	for _, v := range overheadPercents {
		wanted = append(wanted, fmt.Sprintf(`"overheadPercent":%v,`, v))
	}
	for _, v := range reservedENIs {
		wanted = append(wanted, fmt.Sprintf(`"reservedENIs":%d}`, v))
	}
	for _, v := range maxPods {
		wanted = append(wanted, fmt.Sprintf(`"maxPods":%d`, v))
	}
	for _, v := range podsPerCore {
		wanted = append(wanted, fmt.Sprintf(`"podsPerCore":%d`, v))
	}
	wanted = append(wanted, `"networkInterfaces":[]`, `"networkCardIndex":3`, `"kubeReserved":{}`, `"ebs":{"snapshotID":"snap-0123456789abcdef0","volumeType":"gp3"}`, `{"deviceName":"/dev/xvda"}`, `{"ebs":`)
	for _, w := range wanted {
		if !strings.Contains(text, w) {
			t.Errorf("200 cases of seed 1 never have %s", w)
		}
	}
}

func TestGenerateKeepsToTheRelease(t *testing.T) {
	for _, tc := range []struct {
		release string
		want    bool
	}{
		{"v1.8.2", false}, // an alias of no family ends the controller
		{"v1.10.2", true}, // Windows2025 exists since v1.9
	} {
		if got := strings.Contains(strings.Join(lines(Generate(1, 200, tc.release)), "\n"), "windows2025@latest"); got != tc.want {
			t.Errorf("%s: alias windows2025: %t, want %t", tc.release, got, tc.want)
		}
	}
}

func TestTrapsAreDistinct(t *testing.T) {
	seen := map[string]string{}
	for _, c := range Traps() {
		if c.Why == "" {
			t.Errorf("%s has no reason", c)
		}
		anonymous := c
		anonymous.ID = ""
		if why, ok := seen[anonymous.String()]; ok {
			t.Errorf("%q and %q are the same case: %s", why, c.Why, c)
		}
		seen[anonymous.String()] = c.Why
	}
	// Nothing and null are told apart by upstream, so the table must hold both.
	text := strings.Join(lines(Traps()), "\n")
	for _, want := range []string{`"networkInterfaces":[]`, `"networkInterfaces":null`, `"blockDeviceMappings":[]`, `"kubelet":null`, `"kubelet":{}`, `"amiFamily":""`, `"amiFamily":null`} {
		if !strings.Contains(text, want) {
			t.Errorf("no trap has %s", want)
		}
	}
}
