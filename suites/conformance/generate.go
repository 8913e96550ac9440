package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"golang.org/x/mod/semver"
)

// Case is one question to an oracle and to pkg/expect: an EC2NodeClass (v1, as JSON would decode it) and the two options
// of the controller that the prediction reads. It holds plain JSON, so that neither side's types shape what is asked.
type Case struct {
	ID        string         `json:"id"`
	NodeClass map[string]any `json:"nodeClass"`
	// OverheadPercent is vmMemoryOverheadPercent: a fraction, 0.075 is 7.5 %.
	OverheadPercent float64 `json:"overheadPercent"`
	ReservedENIs    int     `json:"reservedENIs"`
	// Why is the trap that a hand-made case is about; a generated one has none.
	Why string `json:"-"`
}

// String is the case as the oracles read it: one line of JSON, keys in order.
func (c Case) String() string {
	line, err := json.Marshal(c)
	if err != nil {
		return fmt.Sprintf("case %s cannot be encoded: %v", c.ID, err)
	}
	return string(line)
}

func nodeClass(spec map[string]any) map[string]any {
	return map[string]any{
		"apiVersion": "karpenter.k8s.aws/v1",
		"kind":       "EC2NodeClass",
		"metadata":   map[string]any{"name": "default"},
		"spec":       spec,
	}
}

// family is one way to say which AMI family a NodeClass has.
type family struct {
	since string // first release that knows the alias: an unknown one ends the controller, and with it the oracle
	spec  map[string]any
}

// families: an alias goes with its own selector term, amiFamily with an AMI by its ID. A family that a release does not
// know (Windows2025 before v1.9) is treated as AL2, so amiFamily has no first release.
var families = func() []family {
	var all []family
	for _, name := range []string{"AL2", "AL2023", "Bottlerocket", "Custom", "Windows2019", "Windows2022", "Windows2025"} {
		all = append(all, family{"v1.0.0", map[string]any{"amiFamily": name, "amiSelectorTerms": []any{map[string]any{"id": "ami-0123456789abcdef0"}}}})
	}
	for _, alias := range []struct{ since, alias string }{
		{"v1.0.0", "al2@latest"},
		{"v1.0.0", "al2023@v20260724"},
		{"v1.0.0", "bottlerocket@1.26.1"},
		{"v1.0.0", "windows2019@latest"},
		{"v1.0.0", "windows2022@latest"},
		{"v1.9.0", "windows2025@latest"},
	} {
		all = append(all, family{alias.since, map[string]any{"amiSelectorTerms": []any{map[string]any{"alias": alias.alias}}}})
	}
	// Custom beside an alias is legal, and amiFamily wins.
	return append(all, family{"v1.0.0", map[string]any{"amiFamily": "Custom", "amiSelectorTerms": []any{map[string]any{"alias": "bottlerocket@latest"}}}})
}()

// The values to draw from. 0.07 is where a double is 1 MiB above exact arithmetic for many sizes; 7.5 % and 15 % are
// where eviction is one byte above; 20 reserved ENIs are more than any type has on its default card.
var (
	overheadPercents = []float64{0, .02, .05, .06, .07, .075, .1, .115, .2}
	reservedENIs     = []int{0, 1, 2, 20}
	maxPods          = []int{0, 8, 110, 737}
	podsPerCore      = []int{0, 1, 3, 10, 58}

	reservedCPU     = []string{"0", "1", "2", "80m", "100m", "1500m", "0.5", "0.0705", "1e1", "2k", "100000u"}
	reservedMemory  = []string{"0", "1", "100Mi", "574Mi", "1Gi", "1.5Gi", "0.3Gi", "300M", "1073741824", "1e9", "12345m", "1n", "64Gi"}
	reservedStorage = []string{"0", "1Gi", "1.5Gi", "2Gi", "5G", "2147483648", "500Mi", "0.3Gi", "30Gi"}
	reservedPID     = []string{"1000", "100m"}

	thresholds = []string{"0", "0%", "5%", "7.5%", "10%", "12.25%", "15%", "100%", "100.00%", "50Mi", "100Mi", "500Mi", "1Gi", "1.5Gi", "1e9", "209715200", "250M", "-100Mi", "0.3Gi"}
	signals    = []string{"memory.available", "nodefs.available", "nodefs.inodesFree", "imagefs.available", "imagefs.inodesFree", "pid.available"}

	devices     = []string{"/dev/xvda", "/dev/xvdb", "/dev/sda1", "/dev/sdb"}
	volumeSizes = []any{"8Gi", "20Gi", "100Gi", "120Gi", "59000Gi", "1Ti", "58Ti", "100G", "64000G", "2T", "107374182400", 53687091200}
)

// Generate makes n cases for one release. The bytes of a case depend on the seed, its number and the release only, so
// that case 17 of a long run is case 17 of a short one.
func Generate(seed uint64, n int, release string) []Case {
	cases := make([]Case, n)
	for i := range cases {
		d := draw{rand.New(rand.NewPCG(seed, uint64(i)))}
		cases[i] = Case{
			ID:              fmt.Sprintf("%d-%d", seed, i),
			NodeClass:       nodeClass(d.spec(release)),
			OverheadPercent: pick(d, overheadPercents),
			ReservedENIs:    pick(d, reservedENIs),
		}
	}
	return cases
}

// draw is the random source of one case.
type draw struct{ *rand.Rand }

func pick[T any](d draw, from []T) T { return from[d.IntN(len(from))] }

// in is true once in n times.
func (d draw) in(n int) bool { return d.IntN(n) == 0 }

func (d draw) spec(release string) map[string]any {
	known := slices.DeleteFunc(slices.Clone(families), func(f family) bool { return semver.Compare(release, f.since) < 0 })
	spec := map[string]any{"role": "KarpenterNodeRole"}
	maps.Copy(spec, pick(d, known).spec)
	if !d.in(6) {
		if kubelet := d.kubelet(); len(kubelet) > 0 {
			spec["kubelet"] = kubelet
		}
	}
	if !d.in(3) {
		spec["blockDeviceMappings"] = d.blockDeviceMappings()
	}
	if d.in(4) {
		spec["instanceStorePolicy"] = "RAID0"
	}
	switch d.IntN(8) { // older releases do not have the field, and the API server drops it: so must we
	case 0:
		spec["networkInterfaces"] = []any{}
	case 1, 2, 3:
		spec["networkInterfaces"] = d.networkInterfaces()
	}
	return spec
}

func (d draw) kubelet() map[string]any {
	kubelet := map[string]any{}
	if d.in(3) {
		kubelet["maxPods"] = pick(d, maxPods)
	}
	if d.in(3) {
		kubelet["podsPerCore"] = pick(d, podsPerCore)
	}
	for _, field := range []string{"kubeReserved", "systemReserved"} {
		if d.in(2) {
			kubelet[field] = d.reserved()
		}
	}
	if d.in(2) {
		kubelet["evictionHard"] = d.eviction()
	}
	if d.in(3) {
		soft := d.eviction()
		grace := map[string]any{}
		for signal := range soft {
			grace[signal] = "1m0s"
		}
		kubelet["evictionSoft"], kubelet["evictionSoftGracePeriod"] = soft, grace
	}
	return kubelet
}

// reserved may be empty: a map that is there and says nothing.
func (d draw) reserved() map[string]any {
	reserved := map[string]any{}
	for _, r := range []struct {
		name   string
		values []string
	}{
		{"cpu", reservedCPU}, {"memory", reservedMemory}, {"ephemeral-storage", reservedStorage}, {"pid", reservedPID},
	} {
		if d.in(2) {
			reserved[r.name] = pick(d, r.values)
		}
	}
	return reserved
}

func (d draw) eviction() map[string]any {
	eviction := map[string]any{}
	for i, signal := range signals {
		if i < 2 && !d.in(3) || d.in(6) { // the model reads the first two only
			eviction[signal] = pick(d, thresholds)
		}
	}
	return eviction
}

// blockDeviceMappings are one to four. One entry in twenty lacks what the CRD leaves optional: what upstream then panics
// about depends on whether it looks there.
func (d draw) blockDeviceMappings() []any {
	mappings := make([]any, 1+d.IntN(4))
	root := -1
	if d.in(3) {
		root = d.IntN(len(mappings))
	}
	for i := range mappings {
		mapping := map[string]any{}
		if !d.in(20) {
			mapping["deviceName"] = pick(d, devices)
		}
		if i == root {
			mapping["rootVolume"] = true
		}
		if !d.in(20) {
			ebs := map[string]any{"volumeType": "gp3"}
			if d.in(4) {
				ebs["snapshotID"] = "snap-0123456789abcdef0"
			}
			if ebs["snapshotID"] == nil || d.in(3) {
				ebs["volumeSize"] = pick(d, volumeSizes)
			}
			mapping["ebs"] = ebs
		}
		mappings[i] = mapping
	}
	return mappings
}

// networkInterfaces are the primary one and up to five more, EFA-only ones on card 0 and on others.
func (d draw) networkInterfaces() []any {
	interfaces := []any{map[string]any{"networkCardIndex": 0, "deviceIndex": 0, "interfaceType": "interface"}}
	for i := range d.IntN(6) {
		interfaces = append(interfaces, map[string]any{
			"networkCardIndex": pick(d, []int{0, 0, 1, 3}),
			"deviceIndex":      1 + i,
			"interfaceType":    pick(d, []string{"interface", "efa-only", "efa-only"}),
		})
	}
	return interfaces
}
