package expect

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// found is a setting of the controller.
func found(value string) snapshot.Setting {
	return snapshot.Setting{Value: value, From: "env X of Deployment karpenter"}
}

func TestResolve(t *testing.T) {
	number := func(p float64) *float64 { return &p }
	count := func(n int64) *int64 { return &n }
	text := func(s string) *string { return &s }
	type outcome struct {
		Settings
		// notes are the words that must stand in assumptions, warnings and the reason not to judge, in this order.
		notes []string
	}
	defaults := func(change func(*Settings)) Settings {
		s := Settings{Version: Newest, OverheadPercent: DefaultOverheadPercent}
		if change != nil {
			change(&s)
		}
		return s
	}
	installed := found("1.14.1")
	at := func(v Version, change func(*Settings)) Settings {
		return defaults(func(s *Settings) {
			s.Version = v
			if change != nil {
				change(s)
			}
		})
	}
	v1141 := Version{1, 14, 1}
	for _, row := range []struct {
		reason     string
		controller snapshot.Controller
		overrides  Overrides
		want       outcome
	}{
		{"nothing known: the newest release and its defaults, said aloud", snapshot.Controller{}, Overrides{},
			outcome{defaults(nil), []string{"no Karpenter Deployment in the input", "vmMemoryOverheadPercent 0.075 and reserved ENIs 0 assumed"}}},
		{"a Deployment that sets nothing", snapshot.Controller{Version: installed}, Overrides{},
			outcome{at(v1141, nil), nil}},
		{"what the controller sets", snapshot.Controller{Version: installed, VMMemoryOverheadPercent: found("0.05"), ReservedENIs: found("2"), FeatureGates: found("NodeOverlay=true"), AWSFeatureGates: found("NodeClassCEL=true")}, Overrides{},
			outcome{at(v1141, func(s *Settings) {
				s.OverheadPercent, s.ReservedENIs, s.NodeOverlay, s.NodeClassCEL = 0.05, 2, true, true
			}), nil}},
		{"what a person gives wins", snapshot.Controller{Version: installed, VMMemoryOverheadPercent: found("0.05"), ReservedENIs: found("2"), FeatureGates: found("NodeOverlay=true")},
			Overrides{KarpenterVersion: "v1.8", OverheadPercent: number(0), ReservedENIs: count(0), FeatureGates: text("")},
			outcome{at(Version{1, 8, 0}, func(s *Settings) { s.OverheadPercent = 0 }), nil}},
		{"settings of v0.27–v0.32", snapshot.Controller{Version: found("v0.30.0"), ENILimitedPodDensity: found("false"), PodENI: found("true")}, Overrides{},
			outcome{at(Version{0, 30, 0}, func(s *Settings) { s.UnlimitedPodDensity, s.PodENI = true, true }), nil}},
		{"a snapshot build names no release", snapshot.Controller{Version: found("0-4f51c3bd")}, Overrides{},
			outcome{defaults(nil), []string{`says "0-4f51c3bd", which names no release`}}},
		{"older than the oldest", snapshot.Controller{Version: found("0.26.1")}, Overrides{},
			outcome{at(Version{0, 26, 1}, nil), []string{"Karpenter v0.26.1 (env X of Deployment karpenter) is older than v0.27.0"}}},
		{"newer than the newest", snapshot.Controller{Version: found("1.16.0")}, Overrides{},
			outcome{at(Version{1, 16, 0}, nil), []string{"Karpenter v1.16.0 is newer than v1.15.2"}}},
		{"a percent that was meant as one is taken as Karpenter takes it", snapshot.Controller{Version: installed, VMMemoryOverheadPercent: found("7.5")}, Overrides{},
			outcome{at(v1141, func(s *Settings) { s.OverheadPercent = 7.5 }), []string{"it is a fraction, so Karpenter takes 750 % of the memory away (did you mean 0.075?)"}}},
		{"an overhead that Karpenter does not take", snapshot.Controller{Version: installed, VMMemoryOverheadPercent: found("-0.1")}, Overrides{},
			outcome{at(v1141, nil), []string{`is "-0.1", which Karpenter does not take: its default 0.075 is assumed`}}},
		{"nor text", snapshot.Controller{Version: installed, VMMemoryOverheadPercent: found("7.5%")}, Overrides{},
			outcome{at(v1141, nil), []string{`is "7.5%", which Karpenter does not take`}}},
		{"reserved ENIs that it does not take", snapshot.Controller{Version: installed, ReservedENIs: found("-1")}, Overrides{},
			outcome{at(v1141, nil), []string{`is "-1", which Karpenter does not take: its default 0 is assumed`}}},
		{"as many as it takes", snapshot.Controller{Version: installed, ReservedENIs: found("9223372036854775807")}, Overrides{},
			outcome{at(v1141, func(s *Settings) { s.ReservedENIs = math.MaxInt64 }), nil}},
		{"the last of two gates counts, spaces do not", snapshot.Controller{Version: installed, FeatureGates: found("NodeOverlay=true, SpotToSpotConsolidation=true, NodeOverlay = false ,"), AWSFeatureGates: found(" NodeClassCEL = 1")}, Overrides{},
			outcome{at(v1141, func(s *Settings) { s.NodeClassCEL = true }), nil}},
		{"a gate that is none", snapshot.Controller{Version: installed, FeatureGates: found("NodeOverlay,NodeRepair=maybe")}, Overrides{},
			outcome{at(v1141, nil), []string{`has the gate "NodeOverlay"`, `has the gate "NodeRepair=maybe"`}}},
		{"notes of the detection are warnings", snapshot.Controller{Version: installed, Notes: []string{"two Deployments"}}, Overrides{},
			outcome{at(v1141, nil), []string{"two Deployments"}}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			got, err := Resolve(row.controller, row.overrides)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.want.Settings, got.Settings); diff != "" {
				t.Error(diff)
			}
			notes := append(append([]string{}, got.Assumptions...), got.Warnings...)
			if got.Unsupported != "" {
				notes = append(notes, got.Unsupported)
			}
			if len(notes) != len(row.want.notes) {
				t.Fatalf("got the notes %q, want %q", notes, row.want.notes)
			}
			for i, want := range row.want.notes {
				if !strings.Contains(notes[i], want) {
					t.Errorf("note %d is %q, want %q in it", i, notes[i], want)
				}
			}
			if row.want.Version.Before(Oldest) != (got.Unsupported != "") {
				t.Errorf("v%s is unsupported: %q", row.want.Version, got.Unsupported)
			}
		})
	}
}

// TestResolveRefuses: what a person gives is used or refused, never passed over.
func TestResolveRefuses(t *testing.T) {
	number := func(p float64) *float64 { return &p }
	count := func(n int64) *int64 { return &n }
	text := func(s string) *string { return &s }
	for _, row := range []struct {
		reason    string
		overrides Overrides
		want      string
	}{
		{"no release", Overrides{KarpenterVersion: "latest"}, `"latest" is not a Karpenter release such as v1.15.2`},
		{"too old a release", Overrides{KarpenterVersion: "0.26.1"}, "karpenter v0.26.1 is older than v0.27.0, the oldest release whose formulas are known"},
		{"a percent", Overrides{OverheadPercent: number(7.5)}, "overhead percent 7.5: it is a fraction despite its name, so it must be below 1; for 7.5 % write 0.075"},
		{"infinite", Overrides{OverheadPercent: number(math.Inf(1))}, "overhead percent +Inf: it must be a fraction of at least 0 and below 1, such as 0.075"},
		{"1", Overrides{OverheadPercent: number(1)}, "overhead percent 1: it is a fraction despite its name, so it must be below 1; for 1 % write 0.01"},
		{"a negative overhead", Overrides{OverheadPercent: number(-0.1)}, "overhead percent -0.1: it must be a fraction of at least 0 and below 1, such as 0.075"},
		{"no number", Overrides{OverheadPercent: number(nan())}, "overhead percent NaN: it must be a fraction of at least 0 and below 1, such as 0.075"},
		{"negative ENIs", Overrides{ReservedENIs: count(-1)}, "reserved ENIs -1: it must be 0 … 2147483647"},
		{"too many", Overrides{ReservedENIs: count(1 << 31)}, "reserved ENIs 2147483648: it must be 0 … 2147483647"},
		{"a gate without a value", Overrides{FeatureGates: text("NodeOverlay")}, `feature gate "NodeOverlay": write it as Name=true or Name=false`},
		{"also behind the one that is asked for", Overrides{AWSFeatureGates: text("NodeClassCEL=true,X=yes")}, `feature gate "X=yes": write it as Name=true or Name=false`},
	} {
		if err := row.overrides.Check(); err == nil || err.Error() != row.want {
			t.Errorf("%s: got %v, want %s", row.reason, err, row.want)
		}
	}
	if err := (Overrides{}).Check(); err != nil {
		t.Errorf("nothing given is refused: %v", err)
	}
}
