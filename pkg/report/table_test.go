package report

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
)

func TestTableGolden(t *testing.T) {
	golden(t, "table.txt", written(t, "table", exampleRun(t), Options{}))
	golden(t, "table-clean.txt", written(t, "table", cleanRun(t), Options{}))
	golden(t, "table-empty.txt", written(t, "table", emptyRun(t), Options{}))
	golden(t, "table-large.txt", written(t, "table", largeRun(t, 300), Options{Width: 120}))
}

// TestTableWidth: no line is wider than the terminal, whatever the names are.
func TestTableWidth(t *testing.T) {
	for _, width := range []int{60, 80, 120} {
		for name, run := range map[string]*gate.Run{"example": exampleRun(t), "hostile": hostileRun(t), "empty": emptyRun(t), "large": largeRun(t, 300)} {
			for i, line := range strings.Split(string(written(t, "table", run, Options{Width: width})), "\n") {
				if n := utf8.RuneCountInString(line); n > width {
					t.Errorf("%s run at %d columns: line %d has %d: %s", name, width, i+1, n, line)
				}
			}
		}
	}
}

var escape = regexp.MustCompile("\x1b\\[[0-9;]*m")

// TestTableColor: colours change nothing but colours, and without them no escape sequence is written.
func TestTableColor(t *testing.T) {
	for name, run := range map[string]*gate.Run{"example": exampleRun(t), "hostile": hostileRun(t), "clean": cleanRun(t), "empty": emptyRun(t)} {
		plain, colored := written(t, "table", run, Options{}), written(t, "table", run, Options{Color: true})
		if bytes.Contains(plain, []byte("\x1b")) {
			t.Errorf("%s run: an escape sequence without colours", name)
		}
		if !bytes.Contains(colored, []byte("\x1b[")) {
			t.Errorf("%s run: no colours", name)
		}
		if !bytes.Equal(plain, escape.ReplaceAll(colored, nil)) {
			t.Errorf("%s run: more than the colours differs", name)
		}
	}
}

func TestTableHostile(t *testing.T) {
	for _, r := range string(written(t, "table", hostileRun(t), Options{})) {
		if r != '\n' && (unicode.IsControl(r) || invisible(r)) {
			t.Fatalf("the control character %U reaches the terminal", r)
		}
	}
}

// TestTableSaysWhy: a person can act on what is printed alone.
func TestTableSaysWhy(t *testing.T) {
	text := strings.Join(strings.Fields(string(written(t, "table", exampleRun(t), Options{}))), " ")
	for _, want := range []string{
		"FAIL: prod: 9 nodes judged: 4 fail, 1 warn, 4 pass; 1 could not be judged, 1 skipped, 1 not Karpenter's",
		"c7a.large 3114Mi 3111.6Mi -2.4Mi 2 of 3 default, AL2023", // 3114Mi − 3186284Ki = 2452Ki
		"set VM_MEMORY_OVERHEAD_PERCENT to 0.0757",
		"gpu: expected, and not on the node",
		"m5.16xlarge 240.73Gi 238.11Gi -2688Mi 1 of 2", // 261093020Ki − 258340508Ki
		"not ready: condition Ready is False",
		"by Karpenter v1.14.1 (image of Deployment kube-system/karpenter)",
		"VM memory overhead 0.075 (Karpenter's default: the controller sets none)",
		"list nodeoverlays.karpenter.sh is forbidden",
		"run allocatable-diff explain ip-10-0-1-7.eu-west-1.compute.internal",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the table does not say %q", want)
		}
	}
	if strings.Count(text, "is forbidden") != 1 {
		t.Error("an assumption is named more than once")
	}
}

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		run  *gate.Run
		want string
	}{
		{cleanRun(t), "PASS: prod: 2 nodes judged: 2 pass"},
		{emptyRun(t), "INCONCLUSIVE: prod: no Karpenter node among 1: looked for the labels karpenter.sh/nodepool, karpenter.sh/provisioner-name and karpenter.k8s.aws/ec2nodeclass"},
		{&gate.Run{Result: gate.Passed, Clusters: make([]gate.Cluster, 30), Totals: gate.Totals{Judged: 1, Passed: 1}}, "PASS: 30 clusters: 1 node judged: 1 pass"},
		{&gate.Run{Result: gate.Failed, Clusters: []gate.Cluster{{Name: "a"}, {Name: "b\x1b[2J"}}, Totals: gate.Totals{Judged: 1, Passed: 1}, Findings: []gate.Finding{{ID: gate.AllowlistExpired, Severity: gate.Fail}}}, "FAIL: a, b\\ufffd[2J: 1 node judged: 1 pass; 1 expired in the allowlist"},
	} {
		if got := Verdict(c.run); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestAmount(t *testing.T) {
	for _, c := range []struct {
		resource string
		value    int64
		want     string
	}{
		{"memory", 3106640 * ki, "3033.8Mi"}, // 3106640 / 1024 = 3033.83
		{"memory", 7577 * mi, "7577Mi"},
		{"memory", -4 * ki, "-4Ki"},
		{"memory", -64*ki - 1, "-64Ki"}, // a byte is no tenth of a Ki
		{"memory", 10 * gi, "10Gi"},
		{"memory", 10*gi - 1, "10240Mi"},
		{"memory", 261093020 * ki, "249Gi"}, // 248.997
		{"memory", 32 << 40, "32Ti"},
		{"memory", 1, "1"},
		{"memory", 0, "0"},
		{"memory", 1<<63 - 1, "8388608Ti"},
		{"memory", -1 << 63, "-8388608Ti"},
		{"ephemeral-storage", 18242267924, "16.99Gi"},
		{"hugepages-2Mi", 2 * gi, "2048Mi"},
		{"cpu", 1930, "1930m"},
		{"pods", 29, "29"},
		{"nvidia.com/gpu", 8, "8"},
	} {
		if got := amount(c.resource, c.value); got != c.want {
			t.Errorf("amount(%s, %d) = %q, want %q", c.resource, c.value, got, c.want)
		}
	}
	if got := signed("memory", 5*mi); got != "+5Mi" {
		t.Errorf("signed = %q", got)
	}
}

func TestMiddle(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{
		{"m5.large", 8, "m5.large"},
		{"u7inh-32tb.480xlarge", 12, "u7inh-…large"},
		{"ab", 1, "…"}, {"ab", 0, ""}, {"äöüß€", 4, "äö…€"},
	} {
		if got := middle(c.in, c.width); got != c.want || utf8.RuneCountInString(got) > max(c.width, 0) {
			t.Errorf("middle(%q, %d) = %q, want %q", c.in, c.width, got, c.want)
		}
	}
}

func ExampleVerdict() {
	run := &gate.Run{Result: gate.Passed, Clusters: []gate.Cluster{{Name: "prod"}}, Totals: gate.Totals{Judged: 42, Passed: 40, Warned: 2}}
	fmt.Println(Verdict(run))
	// Output: PASS: prod: 42 nodes judged: 2 warn, 40 pass
}
