package expect

import (
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// given is a class and the controller's settings as a test writes them. The zero value is an AL2 class without kubelet
// settings and default disks, under the newest release with its defaults.
type given struct {
	version string
	family  string
	// kubelet is spec.kubelet, class the rest of the spec as package snapshot names it; both JSON.
	kubelet, class string
	// settings changes the controller's defaults.
	settings func(*Settings)
	overlays []snapshot.NodeOverlay
}

func (g given) model(t testing.TB) (*Model, error) {
	t.Helper()
	settings := Settings{Version: Newest, OverheadPercent: DefaultOverheadPercent}
	if g.version != "" {
		settings.Version = versionOf(t, g.version)
	}
	if g.settings != nil {
		g.settings(&settings)
	}
	family := g.family
	if family == "" {
		family = "AL2"
	}
	class := Class{
		NodeClass: &snapshot.NodeClass{Name: "default", Kind: "EC2NodeClass", APIVersion: "karpenter.k8s.aws/v1"},
		Family:    FamilyNamed(family, settings.Version),
		Overlays:  g.overlays,
	}
	if g.class != "" {
		decode(t, g.class, class.NodeClass)
	}
	if g.kubelet != "" {
		class.Kubelet = &snapshot.Kubelet{}
		decode(t, g.kubelet, class.Kubelet)
	}
	return New(settings, class)
}

func (g given) expect(t testing.TB, instance snapshot.InstanceType) *Expectation {
	t.Helper()
	m, err := g.model(t)
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.Expect(&instance)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// failure is the error of New or of Expect; empty when there is none.
func (g given) failure(t testing.TB, instance snapshot.InstanceType) string {
	t.Helper()
	m, err := g.model(t)
	if err == nil {
		_, err = m.Expect(&instance)
	}
	if err == nil {
		return ""
	}
	return err.Error()
}

func versionOf(t testing.TB, text string) Version {
	t.Helper()
	v, err := ParseVersion(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func decode(t testing.TB, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into, json.RejectUnknownMembers(true)); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// quantity reads text in the base unit of the resource.
func quantity(t testing.TB, name, text string) int64 {
	t.Helper()
	v, err := snapshot.ParseQuantity(name, text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// sumOf is the total of a calculation, rounded up.
func sumOf(t testing.TB, s Sum) int64 {
	t.Helper()
	total, err := s.Total()
	if err != nil {
		t.Fatal(err)
	}
	return total.Ceil()
}

// figure reads one figure of an expectation by name, e.g. "memory allocatable" or "cpu kube-reserved"; "absent" where
// the release does not have the resource, and the reason where it is unknown.
func figure(t testing.TB, e *Expectation, name string) string {
	t.Helper()
	resource, field, _ := strings.Cut(name, " ")
	r := e.Get(resource)
	if r == nil {
		return "absent"
	}
	if r.Unknown != "" {
		return "unknown: " + r.Unknown
	}
	switch field {
	case "capacity":
		return snapshot.FormatQuantity(resource, r.Capacity.Value)
	case "allocatable":
		return snapshot.FormatQuantity(resource, r.Allocatable.Value)
	case "kube-reserved":
		return snapshot.FormatQuantity(resource, sumOf(t, r.KubeReserved))
	case "system-reserved":
		return snapshot.FormatQuantity(resource, sumOf(t, r.SystemReserved))
	case "eviction":
		return snapshot.FormatQuantity(resource, sumOf(t, r.Eviction))
	case "huge-pages":
		return snapshot.FormatQuantity(resource, sumOf(t, r.HugePages))
	}
	t.Fatalf("no figure %q", name)
	return ""
}

// figures are all that an expectation says, by the names of figure.
func figures(t testing.TB, e *Expectation) map[string]string {
	t.Helper()
	out := map[string]string{}
	for i := range e.Resources {
		name := e.Resources[i].Name
		for _, field := range []string{"capacity", "allocatable", "kube-reserved", "system-reserved", "eviction", "huge-pages"} {
			out[name+" "+field] = figure(t, e, name+" "+field)
		}
	}
	return out
}

// checkFigures compares single figures, in the order of want: "memory capacity=7577Mi".
func checkFigures(t *testing.T, e *Expectation, want ...string) {
	t.Helper()
	for _, w := range want {
		name, value, _ := strings.Cut(w, "=")
		if got := figure(t, e, name); got != value {
			t.Errorf("%s is %s, want %s", name, got, value)
		}
	}
}

// TestText is the form in which an explanation is printed.
func TestText(t *testing.T) {
	m6g := given{}.expect(t, m6gXlarge())
	for _, row := range []struct {
		reason string
		sum    Sum
		name   string
		want   string
	}{
		{"signs stand before the terms and the result behind", m6g.Get(Memory).CapacityTerms, Memory,
			"16Gi (EC2 memory) -64Mi (Graviton CMA) -1224Mi (VM memory overhead) = 15096Mi"},
		{"one term is its own result", m6g.Get(EphemeralStorage).CapacityTerms, EphemeralStorage,
			"20Gi (default size of /dev/xvda on AL2)"},
		{"a product says how often", m6g.Get(Pods).CapacityTerms, Pods,
			"56 (pod addresses of an interface × 4) +2 (pods on the host network) = 58"},
		{"nothing is 0", m6g.Get(Memory).SystemReserved, Memory, "0"},
		{"a negative fraction keeps its own sign", Sum{term("a", 1), {Label: "b", Amount: Amount{-2, 500_000_000}}}, Memory,
			"1 (a) -1.5 (b) = -0.5"},
		{"a sum that does not fit says so", Sum{term("a", 1<<62), term("b", 1<<62)}, "x",
			"4611686018427387904 (a) +4611686018427387904 (b): the figures do not fit 64 bits"},
	} {
		if got := row.sum.Text(row.name); got != row.want {
			t.Errorf("%s:\n got %s\nwant %s", row.reason, got, row.want)
		}
	}
}

// TestAllocatableSum is what `explain` prints of a node's expectation.
func TestAllocatableSum(t *testing.T) {
	gate := func(s *Settings) { s.NodeOverlay = true }
	pages := []snapshot.NodeOverlay{{Name: "pages", Capacity: snapshot.Labels{{Key: "hugepages-2Mi", Value: "512Mi"}}}}
	for _, row := range []struct {
		reason   string
		given    given
		instance snapshot.InstanceType
		resource string
		want     string
	}{
		{"what is taken off is negative", given{}, m5Large(), Memory,
			"8Gi (EC2 memory) -615Mi (VM memory overhead) -319Mi (kube-reserved: 11Mi a pod × 29) -255Mi (kube-reserved: base) -100Mi (eviction threshold: default) = 6903Mi"},
		{"a fraction is rounded up once, at the end", given{kubelet: `{"systemReserved":{"memory":"0.3Gi"}}`}, m5Large(), Memory,
			"8Gi (EC2 memory) -615Mi (VM memory overhead) -319Mi (kube-reserved: 11Mi a pod × 29) -255Mi (kube-reserved: base) -322122547.2 (systemReserved memory: 0.3Gi) -100Mi (eviction threshold: default) +0.2 (rounded up to a whole byte) = 6916197581"},
		{"huge pages are taken off memory", given{settings: gate, overlays: pages}, m5Large(), Memory,
			"8Gi (EC2 memory) -615Mi (VM memory overhead) -319Mi (kube-reserved: 11Mi a pod × 29) -255Mi (kube-reserved: base) -100Mi (eviction threshold: default) -512Mi (hugepages-2Mi) = 6391Mi"},
		{"and never below 0", given{settings: gate, overlays: pages}, t3Nano(), Memory,
			"512Mi (EC2 memory) -39Mi (VM memory overhead) -44Mi (kube-reserved: 11Mi a pod × 4) -255Mi (kube-reserved: base) -100Mi (eviction threshold: default) -512Mi (hugepages-2Mi) +438Mi (raised to 0 where huge pages take more than there is) = 0"},
		{"cpu in millicores", given{kubelet: `{"systemReserved":{"cpu":"0.0705"}}`}, m5Large(), CPU,
			"2 (EC2 vCPUs) -60m (kube-reserved: 6 % of the first core) -10m (kube-reserved: 1 % of the second core) -70.5m (systemReserved cpu: 0.0705) +0.5m (rounded up to a whole millicore) = 1860m"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			r := row.given.expect(t, row.instance).Get(row.resource)
			if got := r.AllocatableSum().Text(row.resource); got != row.want {
				t.Errorf("\n got %s\nwant %s", got, row.want)
			}
		})
	}
	lacking := m5Large()
	lacking.Missing = []snapshot.Fact{snapshot.FactNetwork}
	if sum := (given{}).expect(t, lacking).Get(Pods).AllocatableSum(); sum != nil {
		t.Errorf("pods that are not known have the calculation %v", sum)
	}
}

// TestNewRefusesSettings: Karpenter does not start with these.
func TestNewRefusesSettings(t *testing.T) {
	for _, row := range []struct {
		reason   string
		settings func(*Settings)
		want     string
	}{
		{"a negative overhead", func(s *Settings) { s.OverheadPercent = -0.01 }, "overhead percent -0.01: Karpenter wants a fraction of at least 0, such as 0.075"},
		{"no number", func(s *Settings) { s.OverheadPercent = nan() }, "overhead percent NaN: Karpenter wants a fraction of at least 0, such as 0.075"},
		{"infinity", func(s *Settings) { s.OverheadPercent = 1 / zero() }, "overhead percent +Inf: Karpenter wants a fraction of at least 0, such as 0.075"},
		{"negative reserved ENIs", func(s *Settings) { s.ReservedENIs = -1 }, "reserved ENIs -1: Karpenter wants at least 0"},
	} {
		if got := (given{settings: row.settings}).failure(t, m5Large()); got != row.want {
			t.Errorf("%s: got %q, want %q", row.reason, got, row.want)
		}
	}
}

func zero() float64 { return 0 }
func nan() float64  { return zero() / zero() }

// TestNewRefusesAClassWithAProblem keeps what could not be read of a class from being taken for its defaults.
func TestNewRefusesAClassWithAProblem(t *testing.T) {
	_, err := New(Settings{Version: Newest}, Class{NodeClass: &snapshot.NodeClass{Name: "gpu", Kind: "EC2NodeClass", Problem: "blockDeviceMappings[0] is a string"}})
	if want := `EC2NodeClass "gpu": blockDeviceMappings[0] is a string`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestConcurrentUse: one model serves every node of a class at once, expressions included.
func TestConcurrentUse(t *testing.T) {
	m, err := given{settings: celGate, kubelet: `{"maxPods":"min(110, max_pods)","kubeReserved":{"memory":"11 * max_pods + 255"}}`}.model(t)
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for _, instance := range benchmarkTypes() {
				e, err := m.Expect(&instance)
				if err != nil {
					t.Error(err)
					return
				}
				checkSums(t, e)
			}
		})
	}
	group.Wait()
}
