package expect

import (
	"strings"
	"testing"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// podsBy is a class whose maxPods is an expression.
func podsBy(expression string) given {
	return given{kubelet: `{"maxPods":"` + expression + `"}`, settings: celGate}
}

// m5.large has 2 vCPUs, 8192 MiB, 3 interfaces of 10 addresses, 29 pods.
func TestCELMaxPods(t *testing.T) {
	for _, row := range []struct {
		reason string
		given  given
		want   string
	}{
		{"a plain number", podsBy("58"), "58"},
		{"vcpus", podsBy("vcpus * 10"), "20"},                                               // 2·10
		{"memory_mib is EC2's, without CMA and overhead", podsBy("memory_mib / 100"), "81"}, // 8192/100
		{"default_enis", podsBy("default_enis"), "3"},
		{"ips_per_eni", podsBy("ips_per_eni"), "10"},
		{"max_pods is the count with maxPods not set", podsBy("max_pods - 1"), "28"}, // 29−1
		{"instance_type", podsBy("instance_type == 'm5.large' ? 7 : 8"), "7"},
		{"startsWith is in CEL's standard library", podsBy("instance_type.startsWith('m5.') ? 7 : 8"), "7"},
		{"prefix delegation as its documentation writes it", podsBy("min(110, (default_enis - 1) * (ips_per_eni - 1) * 16 + 2)"), "110"}, // min(110, 290)
		{"max of ints", podsBy("max(60, vcpus * 40)"), "80"},
		{"max of doubles", podsBy("max(3.9, 7.9)"), "7"},
		{"max of int and double", podsBy("max(vcpus, 60.5)"), "60"},
		{"max of double and int", podsBy("max(7.9, vcpus)"), "7"},
		{"min of ints", podsBy("min(3, 7)"), "3"},
		{"min of doubles", podsBy("min(3.9, 7.9)"), "3"},
		{"min of int and double", podsBy("min(vcpus, 7.9)"), "2"},
		{"min of double and int", podsBy("min(110.5, max_pods)"), "29"},
		{"ints above 2^53 are not compared as doubles", podsBy("max(9007199254740993, 9007199254740992) - 9007199254740900"), "93"},
		{"a double is cut toward zero", podsBy("double(vcpus) * 7.3"), "14"}, // 14.6
		{"also below zero", podsBy("-0.9"), "0"},
		{"0 is a value", podsBy("0"), "0"},
		{"the largest", podsBy("2147483647"), "2147483647"},
		{"a string that is a number is an expression", podsBy(" 5 + 5 "), "10"},
		{"podsPerCore counts in max_pods", given{kubelet: `{"maxPods":"max_pods","podsPerCore":5}`, settings: celGate}, "10"}, // 2·5
		{"and caps the result", given{kubelet: `{"maxPods":"100","podsPerCore":5}`, settings: celGate}, "10"},
		{"reserved ENIs count in max_pods", given{kubelet: `{"maxPods":"max_pods"}`, settings: func(s *Settings) { s.NodeClassCEL, s.ReservedENIs = true, 1 }}, "20"}, // 2·9+2
		{"not in default_enis", given{kubelet: `{"maxPods":"default_enis"}`, settings: func(s *Settings) { s.NodeClassCEL, s.ReservedENIs = true, 1 }}, "3"},
		{"gate off: not set", given{kubelet: `{"maxPods":"vcpus * 10"}`}, "29"},
		{"gate off: nothing is compiled", given{kubelet: `{"maxPods":"vcpus * 7.3"}`}, "29"},
		{"the gate changes no number", given{kubelet: `{"maxPods":58}`, settings: celGate}, "58"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			checkFigures(t, row.given.expect(t, m5Large()), "pods capacity="+row.want)
		})
	}
}

// TestCELMaxPodsErrors: a maxPods that does not work fails the whole type.
func TestCELMaxPodsErrors(t *testing.T) {
	for _, row := range []struct{ reason, expression, want string }{
		{"no int × double", "vcpus * 7.3", "found no matching overload for '_*_' applied to '(int, double)'"},
		{"nor for memory", "memory_mib * 0.05", "found no matching overload for '_*_' applied to '(int, double)'"},
		{"an unknown variable", "cores * 2", "undeclared reference to 'cores'"},
		{"the extension of strings is not there", "instance_type.charAt(0) == 'm' ? 1 : 2", "undeclared reference to 'charAt'"},
		{"nor that of math", "math.greatest(1, 2)", "undeclared reference to 'math'"},
		{"no syntax", "vcpus *", "Syntax error"},
		{"a string", "instance_type", "the expression gives string, not int or double"},
		{"a bool", "vcpus > 2", "the expression gives bool, not int or double"},
		{"a uint", "uint(vcpus)", "the expression gives uint, not int or double"},
		{"no type at all", "dyn(vcpus)", "the expression gives dyn, not int or double"},
		{"empty", "", "Syntax error"},
		{"below 0", "vcpus - 100", "maxPods of m5.large: the expression gives -98, outside 0 … 2147483647"},
		{"above 32 bits", "2147483648", "maxPods of m5.large: the expression gives 2147483648, outside 0 … 2147483647"},
		{"division by zero", "1 / (vcpus - 2)", "maxPods of m5.large: evaluating the expression: division by zero"},
		{"overflow", "9223372036854775807 + vcpus", "maxPods of m5.large: evaluating the expression: integer overflow"},
		{"infinity", "1.0 / 0.0", "maxPods of m5.large: the expression gives +Inf"},
		{"no number", "0.0 / 0.0", "maxPods of m5.large: the expression gives NaN"},
		{"2^63", "9223372036854775808.0", "maxPods of m5.large: the expression gives 9.223372036854776e+18"},
		{"without end", "[1,2,3,4,5,6,7,8,9].map(a, [1,2,3,4,5,6,7,8,9].map(b, [1,2,3,4,5,6,7,8,9].map(c, [1,2,3,4,5,6,7,8,9].map(d, [1,2,3,4,5,6,7,8,9].map(e, [1,2,3,4,5,6,7,8,9].map(f, 1)))))).size()", "actual cost limit exceeded"},
	} {
		got := podsBy(row.expression).failure(t, m5Large())
		if !strings.Contains(got, row.want) {
			t.Errorf("%s: got %q, want %q in it", row.reason, got, row.want)
		}
	}
}

func TestCELReserved(t *testing.T) {
	kubeReserved := func(name, expression string) given {
		return given{kubelet: `{"kubeReserved":{"` + name + `":"` + expression + `"}}`, settings: celGate}
	}
	for _, row := range []struct {
		reason string
		given  given
		want   []string
	}{
		{"cpu is in millicores, up to a multiple of 10", kubeReserved("cpu", "70 + vcpus"), []string{"cpu kube-reserved=80m"}}, // 72
		{"a multiple stays", kubeReserved("cpu", "max(60, vcpus * 30)"), []string{"cpu kube-reserved=60m"}},
		{"memory is in MiB, up to a multiple of 16", kubeReserved("memory", "11 * max_pods + 255"), []string{"memory kube-reserved=576Mi"}}, // 574
		{"a hundredth of the memory", kubeReserved("memory", "memory_mib / 100"), []string{"memory kube-reserved=96Mi"}},                    // 81
		{"a multiple stays too", kubeReserved("memory", "memory_mib / 64"), []string{"memory kube-reserved=128Mi"}},
		{"disk is in GiB", kubeReserved("ephemeral-storage", "vcpus + 1"), []string{"ephemeral-storage kube-reserved=3Gi"}},
		{"pods are counted", kubeReserved("pods", "vcpus + 1"), []string{"pods kube-reserved=3", "pods allocatable=26"}},
		{"0 is a value", kubeReserved("memory", "vcpus - vcpus"), []string{"memory kube-reserved=0"}},
		{"a double is cut before it is rounded up", kubeReserved("cpu", "double(vcpus) * 5.4"), []string{"cpu kube-reserved=10m"}},                                                            // 10.8 → 10
		{"max_pods is the resolved maxPods", given{kubelet: `{"maxPods":58,"kubeReserved":{"memory":"max_pods * 16"}}`, settings: celGate}, []string{"memory kube-reserved=928Mi"}},           // 58·16
		{"also where that is an expression", given{kubelet: `{"maxPods":"vcpus * 10","kubeReserved":{"memory":"max_pods * 16"}}`, settings: celGate}, []string{"memory kube-reserved=320Mi"}}, // 20·16
		{"a quantity is no expression", kubeReserved("cpu", "4"), []string{"cpu kube-reserved=4"}},
		{"below 0 is dropped: the default applies", kubeReserved("cpu", "vcpus - 100"), []string{"cpu kube-reserved=70m"}},
		{"an expression that fails is dropped", kubeReserved("cpu", "1 / (vcpus - 2)"), []string{"cpu kube-reserved=70m"}},
		{"one that does not compile too", kubeReserved("memory", "memory_mib * 0.05"), []string{"memory kube-reserved=574Mi"}},
		{"or is no number", kubeReserved("cpu", "instance_type"), []string{"cpu kube-reserved=70m"}},
		{"or infinite", kubeReserved("cpu", "1.0 / 0.0"), []string{"cpu kube-reserved=70m"}},
		{"gate off: dropped", given{kubelet: `{"kubeReserved":{"cpu":"vcpus * 100","memory":"1Gi"}}`}, []string{"cpu kube-reserved=70m", "memory kube-reserved=1Gi"}},
		{"system-reserved has no default to fall to", given{kubelet: `{"systemReserved":{"cpu":"vcpus - 100","memory":"vcpus * 16"}}`, settings: celGate}, []string{"cpu system-reserved=0", "memory system-reserved=32Mi"}},
		{"close to 2^63 nothing is rounded", kubeReserved("cpu", "9223372036854775807 - vcpus + 1"), []string{"cpu kube-reserved=9223372036854775806m"}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			checkFigures(t, row.given.expect(t, m5Large()), row.want...)
		})
	}
	want := "memory of m5.large: the figures do not fit 64 bits"
	if got := kubeReserved("memory", "9223372036854775807 - vcpus").failure(t, m5Large()); got != want {
		t.Errorf("2^63 MiB: got %q, want %q", got, want)
	}
}

// TestCELMissingFacts: an expression hangs only on the facts that it names.
func TestCELMissingFacts(t *testing.T) {
	lacking := m5Large()
	lacking.Missing = []snapshot.Fact{snapshot.FactNetwork}
	const unknown = "unknown: the network of m5.large are not known from this source: use --instance-types ec2 or a describe-instance-types file"
	for _, row := range []struct {
		reason, kubelet string
		want            []string
	}{
		{"vcpus alone", `{"maxPods":"vcpus * 10","kubeReserved":{"memory":"max_pods * 16"}}`, []string{"pods capacity=20", "memory kube-reserved=320Mi"}},
		{"default_enis", `{"maxPods":"default_enis"}`, []string{"pods capacity=" + unknown}},
		{"ips_per_eni", `{"maxPods":"min(110, ips_per_eni)"}`, []string{"pods capacity=" + unknown}},
		{"max_pods", `{"maxPods":"max_pods"}`, []string{"pods capacity=" + unknown}},
		{"a branch that is not taken", `{"maxPods":"vcpus == 2 ? 7 : default_enis"}`, []string{"pods capacity=7"}},
		{"a reserved value is unknown, not dropped", `{"maxPods":58,"kubeReserved":{"memory":"ips_per_eni * 16"}}`, []string{"pods capacity=58", "memory allocatable=" + unknown}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			checkFigures(t, given{kubelet: row.kubelet, settings: celGate}.expect(t, lacking), row.want...)
		})
	}
}
