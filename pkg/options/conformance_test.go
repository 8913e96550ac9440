package options

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadConformance(t *testing.T) {
	for _, tc := range []struct {
		name, reason string
		environment  map[string]string
		want         *Conformance
		problems     []string
	}{
		{
			name:   "nothing is set",
			reason: "plain go test must run without data and without minutes of building",
			want:   &Conformance{Seed: 1, Cases: 200},
		},
		{
			name:   "everything is set",
			reason: "make conformance passes its variables on, empty ones too",
			environment: map[string]string{
				"INSTANCE_TYPE_DATA": "/data", "CONFORMANCE_ORACLES": "1", "CONFORMANCE_SEED": "42", "CONFORMANCE_CASES": "7", "CONFORMANCE_VERSIONS": "v1.0.8, v1.14.1",
			},
			want: &Conformance{InstanceTypeData: "/data", Oracles: true, Seed: 42, Cases: 7, Versions: []string{"v1.0.8", "v1.14.1"}},
		},
		{
			name:        "a run that compares nothing",
			reason:      "zero cases would pass without having shown anything",
			environment: map[string]string{"CONFORMANCE_CASES": "0"},
			problems:    []string{"CONFORMANCE_CASES"},
		},
		{
			name:        "values that do not parse",
			reason:      "a default in their place would not be what was asked for; all are named at once",
			environment: map[string]string{"CONFORMANCE_ORACLES": "maybe", "CONFORMANCE_SEED": "-1", "CONFORMANCE_CASES": "many"},
			problems:    []string{"CONFORMANCE_ORACLES", "CONFORMANCE_SEED", "CONFORMANCE_CASES"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := ReadConformance(func(name string) (string, bool) { v, ok := tc.environment[name]; return v, ok })
			if (err != nil) != (len(tc.problems) > 0) {
				t.Fatalf("error %v, want problems with %v: %s", err, tc.problems, tc.reason)
			}
			for _, name := range tc.problems {
				if !strings.Contains(err.Error(), name) {
					t.Errorf("error %q does not name %s: %s", err, name, tc.reason)
				}
			}
			if err != nil {
				return
			}
			if len(got.Versions) == 0 {
				got.Versions = nil
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
		})
	}
}
