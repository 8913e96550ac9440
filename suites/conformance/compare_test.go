package conformance

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// fakeOracle is a program that answers with the lines given, whatever it is asked.
func fakeOracle(t *testing.T, answers, limits, ending string) Oracle {
	t.Helper()
	folder := t.TempDir()
	write(t, filepath.Join(folder, "answers"), answers)
	write(t, filepath.Join(folder, "limits"), limits)
	program := filepath.Join(folder, "oracle")
	script := "#!/bin/sh\nif [ \"$1\" = -limits ]; then cat '" + folder + "/limits'; exit; fi\ncat >/dev/null\ncat '" + folder + "/answers'\n" + ending + "\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return Oracle{Release: "v1.14.1", Program: program}
}

// fakeOurs answers each type of each case with figures, or with why there are none.
func fakeOurs(unknown string, capacity, allocatable, kubeReserved Amounts) Ours {
	return func(_ string, c Case) func(*snapshot.InstanceType) Answer {
		return func(t *snapshot.InstanceType) Answer {
			a := Answer{Case: c.ID, InstanceType: t.Name, Unknown: unknown, Resources: []string{"cpu", "memory"}}
			a.Amounts[Capacity], a.Amounts[Allocatable], a.Amounts[KubeReserved] = capacity, allocatable, kubeReserved
			return a
		}
	}
}

const (
	limitsOfM5 = "m5.large\t3\t10\ttrue\t9\n"
	okOfM5     = "a\tm5.large\tok\tcpu=2000,memory=8\tcpu=1930,memory=7\tcpu=70,memory=1\t\t\n"
	panicOfM5  = "a\tm5.large\tpanic\t\"panic: nil pointer\"\n"
)

func TestCompare(t *testing.T) {
	equal := fakeOurs("", "cpu=2000,memory=8", "cpu=1930,memory=7", "cpu=70,memory=1")
	for _, tc := range []struct {
		name, reason        string
		answers             string
		ours                Ours
		mismatches, unknown int
		kinds               []string
		err, limits, ending string
	}{
		{
			name: "equal", reason: "the plain case", answers: okOfM5, ours: equal,
		},
		{
			name: "an amount", reason: "each resource and field that differs is a kind of its own", answers: okOfM5,
			ours: fakeOurs("", "cpu=2000,memory=8", "cpu=1930,memory=6", "cpu=70,memory=2"), mismatches: 1,
			kinds: []string{
				"m5.large, allocatable of memory: Karpenter 7, pkg/expect 6",
				"m5.large, kube-reserved of memory: Karpenter 1, pkg/expect 2",
			},
		},
		{
			name: "a resource that one side lacks", reason: "zeros are left out, so what is missing is zero", answers: okOfM5,
			ours: fakeOurs("", "cpu=2000,example.com/x=1", "cpu=1930,memory=7", "cpu=70,memory=1"), mismatches: 1,
			kinds: []string{
				"m5.large, capacity of example.com/x: Karpenter 0, pkg/expect 1",
				"m5.large, capacity of memory: Karpenter 8, pkg/expect 0",
			},
		},
		{
			name: "overhead of no resource", reason: "pid is reserved, but no capacity has it: it moves nothing",
			answers: strings.Replace(okOfM5, "cpu=70,memory=1", "cpu=70,memory=1,pid=100", 1), ours: equal,
		},
		{
			name: "both unknown", reason: "where upstream panics we must not know", answers: panicOfM5, ours: fakeOurs("no device name", "", "", ""), unknown: 1,
		},
		{
			name: "a panic with figures of ours", reason: "a guess where upstream panics", answers: panicOfM5, ours: equal, unknown: 1, mismatches: 1,
			kinds: []string{"m5.large, figures at all: Karpenter panic: nil pointer, pkg/expect has figures"},
		},
		{
			name: "unknown with figures of upstream", reason: "the other way round", answers: okOfM5, ours: fakeOurs("bad value", "", "", ""), mismatches: 1,
			kinds: []string{"m5.large, figures at all: Karpenter has figures, pkg/expect bad value"},
		},
		{
			name: "figures beyond 64 bits", reason: "our figures have 64 bits, so we have to say unknown",
			answers: strings.Replace(okOfM5, "memory=7", "memory=-18446744073709551616", 1), ours: fakeOurs("does not fit", "", "", ""), unknown: 1,
		},
		{
			name: "the largest figure of 64 bits", reason: "it fits",
			answers: strings.Replace(okOfM5, "memory=7", "memory=9223372036854775807", 1),
			ours:    fakeOurs("", "cpu=2000,memory=8", "cpu=1930,memory=9223372036854775807", "cpu=70,memory=1"),
		},
		{
			name: "the release's own limits", reason: "pod-eni and PrivateIPv4Address are computed from them, and the type is listed apart",
			answers: okOfM5, limits: "m5.large\t3\t10\tfalse\t0\n",
			ours: func(release string, c Case) func(*snapshot.InstanceType) Answer {
				return func(it *snapshot.InstanceType) Answer {
					if it.Limits.Trunking {
						return Answer{Unknown: "got the limits of our library"}
					}
					return equal(release, c)(it)
				}
			},
		},
		{name: "too few answers", reason: "an oracle that stops early has not agreed", answers: "", ours: equal, err: "gave 0 answers, not 1 cases × 1 types"},
		{name: "too many answers", reason: "which case they belong to is not known", answers: okOfM5 + okOfM5, ours: equal, err: "an answer too many"},
		{name: "another type", reason: "the two sides must speak of the same row", answers: strings.Replace(okOfM5, "m5", "m6", 1), ours: equal, err: "want the answer to case a for m5.large"},
		{name: "another case", reason: "likewise", answers: strings.Replace(okOfM5, "a", "b", 1), ours: equal, err: "want the answer to case a for m5.large"},
		{name: "a list too few", reason: "an oracle of another form", answers: "a\tm5.large\tok\tcpu=2000\n", ours: equal, err: "neither ok with 5 lists nor a panic"},
		{name: "the oracle dies", reason: "it says why on standard error", answers: "", ours: equal, ending: "echo 'cannot read' >&2; exit 3", err: "exit status 3: cannot read"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			limits := tc.limits
			if limits == "" {
				limits = limitsOfM5
			}
			o := fakeOracle(t, tc.answers, limits, tc.ending)
			catalogue := &Catalogue{InstanceTypes: []snapshot.InstanceType{m5Large}}
			got, err := Compare(t.Context(), o, tc.ours, catalogue, []Case{{ID: "a", NodeClass: nodeClass(object{})}})
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("%s: got error %v, want %q", tc.reason, err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			var kinds []string
			for _, k := range got.Kinds {
				kinds = append(kinds, k.First.String())
			}
			if got.Rows != 1 || got.Mismatches != tc.mismatches || got.Unknown != tc.unknown || !slices.Equal(kinds, tc.kinds) {
				t.Errorf("%s: got %s\n%q, want %q", tc.reason, got, kinds, tc.kinds)
			}
			if apart := got.LimitsApart(); (apart == "m5: large") != (tc.limits != "") {
				t.Errorf("%s: limits apart: %q", tc.reason, apart)
			}
		})
	}
}

func TestResultCountsRowsOfAKind(t *testing.T) {
	rows := okOfM5 + strings.Replace(okOfM5, "a\t", "b\t", 1)
	o := fakeOracle(t, rows, limitsOfM5, "")
	catalogue := &Catalogue{InstanceTypes: []snapshot.InstanceType{m5Large}}
	got, err := Compare(t.Context(), o, fakeOurs("", "cpu=2000,memory=8", "cpu=1,memory=7", "cpu=70,memory=1"), catalogue,
		[]Case{{ID: "a", NodeClass: nodeClass(object{})}, {ID: "b", NodeClass: nodeClass(object{})}})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Kinds) != 1 || got.Kinds[0].Rows != 2 || got.Kinds[0].First.Case != "a" || got.Mismatches != 2 {
		t.Errorf("got %s, %+v", got, got.Kinds)
	}
}

// A difference that hangs on one setting of a large NodeClass comes out as that setting alone, with what to type.
func TestExplain(t *testing.T) {
	folder := t.TempDir()
	program := filepath.Join(folder, "oracle")
	// It says 8 pods where the question sets maxPods, else 29: an oracle that pkg/expect, deaf to maxPods, differs from.
	script := `#!/bin/sh
if [ "$1" = -limits ]; then printf 'm5.large\t3\t10\ttrue\t9\n'; exit; fi
awk -F'"' '{ pods = /maxPods/ ? 8 : 29; print $4 "\tm5.large\tok\tpods=" pods "\tpods=" pods "\t\t\t" }'
`
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	types := filepath.Join(folder, "types.json")
	write(t, types, `{"InstanceTypes":[{"InstanceType":"m5.large","VCpuInfo":{"DefaultVCpus":2},"MemoryInfo":{"SizeInMiB":8192},"ProcessorInfo":{"SupportedArchitectures":["x86_64"]},
		"NetworkInfo":{"MaximumNetworkInterfaces":3,"Ipv4AddressesPerInterface":10,"DefaultNetworkCardIndex":0,"NetworkCards":[{"MaximumNetworkInterfaces":3}]}}]}`)
	catalogue := &Catalogue{Files: []string{types}}
	if err := catalogue.read(); err != nil {
		t.Fatal(err)
	}
	cases := []Case{
		{ID: "plain", NodeClass: nodeClass(object{"amiFamily": "AL2"}), OverheadPercent: 0.02},
		{ID: "large", OverheadPercent: 0.02, ReservedENIs: 1, Why: "a reason", NodeClass: nodeClass(object{
			"amiFamily": "AL2023", "blockDeviceMappings": list{device("/dev/xvda", "20Gi")}, "kubelet": object{"maxPods": 8, "podsPerCore": 3},
		})},
	}
	o, ours := Oracle{Release: "v1.14.1", Program: program}, fakeOurs("", "pods=29", "pods=29", "")
	result, err := Compare(t.Context(), o, ours, catalogue, cases)
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Kinds) != 2 || result.Kinds[0].First.Case != "large" {
		t.Fatalf("got %s, %+v", result, result.Kinds)
	}
	got, err := Explain(t.Context(), o, ours, catalogue, cases, result.Kinds[0].First)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Karpenter v1.14.1, case large (a reason): m5.large, capacity of pods: Karpenter 8, pkg/expect 29\n",
		`smallest case: {"id":"large","nodeClass":{"apiVersion":"karpenter.k8s.aws/v1","kind":"EC2NodeClass","metadata":{"name":"default"},"spec":{"kubelet":{"maxPods":8}}},"overheadPercent":0.075,"reservedENIs":0}` + "\n",
		"allocatable-diff expect m5.large --explain --karpenter-version v1.14.1 --overhead-percent 0.075 --reserved-enis 0 --node-class FILE",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwithout\n%s", got, want)
		}
	}
}
