package expect

import (
	"math"
	"testing"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

func TestPods(t *testing.T) {
	for _, row := range []struct {
		reason   string
		given    given
		instance snapshot.InstanceType
		want     []string
	}{
		{"interfaces × (addresses − 1) + 2", given{}, m5Large(), []string{"pods capacity=29"}}, // 3·9+2
		{"of the default card alone", given{}, trn132xlarge(), []string{"pods capacity=247"}},  // 5·49+2
		{"maxPods wins", given{kubelet: `{"maxPods":58}`}, m5Large(), []string{"pods capacity=58"}},
		{"0 is a value", given{kubelet: `{"maxPods":0}`}, m5Large(), []string{"pods capacity=0", "memory kube-reserved=574Mi"}},
		{"and 0 pods on Bottlerocket leave 255Mi", given{family: "Bottlerocket", kubelet: `{"maxPods":0}`}, m5Large(), []string{"memory kube-reserved=255Mi"}}, // 11·0+255
		{"podsPerCore lowers maxPods", given{kubelet: `{"maxPods":58,"podsPerCore":10}`}, m5Large(), []string{"pods capacity=20"}},                             // 2·10
		{"podsPerCore lowers the interfaces' count", given{kubelet: `{"podsPerCore":3}`}, m5Large(), []string{"pods capacity=6"}},                              // 2·3
		{"and raises nothing", given{kubelet: `{"podsPerCore":100}`}, m5Large(), []string{"pods capacity=29"}},
		{"0 is not set", given{kubelet: `{"podsPerCore":0}`}, m5Large(), []string{"pods capacity=29"}},
		{"negative neither", given{kubelet: `{"podsPerCore":-1}`}, m5Large(), []string{"pods capacity=29"}},
		{"podsPerCore does not touch kube-reserved memory", given{kubelet: `{"podsPerCore":3}`}, m5Large(), []string{"memory kube-reserved=574Mi"}},
		{"but on Windows", given{family: "Windows2022", kubelet: `{"podsPerCore":3}`}, m5Large(), []string{"pods capacity=6", "memory kube-reserved=321Mi"}}, // 11·6+255
		{"Bottlerocket ignores it", given{family: "Bottlerocket", kubelet: `{"podsPerCore":3}`}, m5Large(), []string{"pods capacity=29"}},
		{"reserved ENIs", given{settings: reserved(1)}, m5Large(), []string{"pods capacity=20"}}, // 2·9+2
		{"all ENIs reserved: no pods, not two", given{settings: reserved(3)}, m5Large(), []string{"pods capacity=0", "memory kube-reserved=574Mi"}},
		{"more than all", given{settings: reserved(math.MaxInt64)}, m5Large(), []string{"pods capacity=0"}},
		{"all reserved, v1.5.1: kube-reserved is the base", given{version: "1.5.1", settings: reserved(3)}, m5Large(), []string{"pods capacity=0", "memory kube-reserved=255Mi"}},
		{"reserved ENIs do not touch maxPods", given{settings: reserved(3), kubelet: `{"maxPods":58}`}, m5Large(), []string{"pods capacity=58"}},
		{"nor Windows", given{family: "Windows2022", settings: reserved(3)}, m5Large(), []string{"pods capacity=110"}},
		{"v0.27 has no such option", given{version: "0.27.8", settings: reserved(3)}, m5Large(), []string{"pods capacity=29"}},
		{"no interfaces", given{}, x86("x", 2, 8192, 0, 10), []string{"pods capacity=0"}},
		{"v0.27 does not know an end", given{version: "0.27.8"}, x86("x", 2, 8192, 0, 10), []string{"pods capacity=2"}}, // 0·9+2
		{"density off by the setting", given{version: "0.32.10", settings: func(s *Settings) { s.UnlimitedPodDensity = true }}, m5Large(), []string{"pods capacity=110", "memory kube-reserved=574Mi"}},
		{"in v0.28 for any family", given{version: "0.28.1", family: "Bottlerocket", settings: func(s *Settings) { s.UnlimitedPodDensity = true }}, m5Large(), []string{"pods capacity=110", "memory kube-reserved=1465Mi"}}, // 11·110+255
	} {
		t.Run(row.reason, func(t *testing.T) {
			checkFigures(t, row.given.expect(t, row.instance), row.want...)
		})
	}
}

func TestEFAOnlyInterfaces(t *testing.T) {
	list := func(entries string) string { return `{"networkInterfaces":[` + entries + `]}` }
	const (
		plain     = `{"networkCardIndex":0,"deviceIndex":0,"interfaceType":"interface"}`
		card0     = `{"networkCardIndex":0,"deviceIndex":1,"interfaceType":"efa-only"}`
		card1     = `{"networkCardIndex":1,"deviceIndex":0,"interfaceType":"efa-only"}`
		noCard    = `{"deviceIndex":1,"interfaceType":"efa-only"}`
		wrongCase = `{"networkCardIndex":0,"deviceIndex":1,"interfaceType":"EFA-only"}`
	)
	for _, row := range []struct {
		reason string
		given  given
		want   []string
	}{
		{"no list: what EC2 says", given{}, []string{"pods capacity=100", "vpc.amazonaws.com/efa capacity=32"}}, // 2·49+2
		{"null is no list", given{class: `{"networkInterfaces":null}`}, []string{"pods capacity=100", "vpc.amazonaws.com/efa capacity=32"}},
		{"an empty list is one", given{class: list("")}, []string{"pods capacity=100", "vpc.amazonaws.com/efa capacity=0"}},
		{"on card 0 it takes pods", given{class: list(plain + "," + card0)}, []string{"pods capacity=51", "vpc.amazonaws.com/efa capacity=1", "memory kube-reserved=816Mi"}}, // 1·49+2; 11·51+255
		{"on another card it does not", given{class: list(plain + "," + card1)}, []string{"pods capacity=100", "vpc.amazonaws.com/efa capacity=1", "memory kube-reserved=1355Mi"}},
		{"a missing index is 0", given{class: list(noCard)}, []string{"pods capacity=51", "vpc.amazonaws.com/efa capacity=1"}},
		{"the type is compared exactly", given{class: list(wrongCase)}, []string{"pods capacity=100", "vpc.amazonaws.com/efa capacity=0"}},
		{"as many as interfaces", given{class: list(card0 + "," + card0)}, []string{"pods capacity=0", "vpc.amazonaws.com/efa capacity=2", "memory kube-reserved=255Mi"}}, // 11·0+255
		{"with reserved ENIs", given{settings: reserved(1), class: list(card0)}, []string{"pods capacity=0", "memory kube-reserved=816Mi"}},                               // 2−1−1; 11·51+255
		{"maxPods stands", given{kubelet: `{"maxPods":58}`, class: list(card0)}, []string{"pods capacity=58", "memory kube-reserved=816Mi"}},
		{"v1.10.2 does not know the list", given{version: "1.10.2", class: list(card0)}, []string{"pods capacity=100", "vpc.amazonaws.com/efa capacity=32"}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			checkFigures(t, row.given.expect(t, p548xlarge()), row.want...)
		})
	}
}

// TestPodsTerms: the terms that take pods away are told apart.
func TestPodsTerms(t *testing.T) {
	g := given{settings: reserved(2), class: twoInterfaces}
	got := g.expect(t, p4d24xlarge()).Get(Pods).CapacityTerms.Text(Pods)
	want := "735 (pod addresses of an interface × 15) -98 (pod addresses of a reserved ENI × 2) -49 (pod addresses of an EFA-only interface on card 0 × 1) +2 (pods on the host network) = 590" // 15·49−2·49−49+2
	if got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	got = given{kubelet: `{"podsPerCore":3}`}.expect(t, m5Large()).Get(Pods).CapacityTerms.Text(Pods)
	if want := "6 (podsPerCore × 2)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
