package snapshot

import (
	"math"
	"slices"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
)

func TestParseQuantity(t *testing.T) {
	const bad = math.MinInt64 + 1 // no legal result of the table
	for _, row := range []struct {
		name, text string
		want       int64
		reason     string
	}{
		{"memory", "7577Mi", 7577 << 20, "what Karpenter writes"},
		{"memory", "7821132Ki", 7821132 << 10, "what a kubelet writes"},
		{"memory", "3Gi", 3 << 30, "binary giga"},
		{"memory", "18242267924", 18242267924, "plain bytes, as allocatable disks are"},
		{"memory", "600G", 600_000_000_000, "decimal giga: a RAID0 total"},
		{"ephemeral-storage", "1930m", 2, "1.93 bytes are rounded up, as Quantity.Value does"},
		{"ephemeral-storage", "100Pi", 100 << 50, "the placeholder of old releases (#1677)"},
		{"memory", "1e3", 1000, "exponent form"},
		{"memory", "12E6", 12_000_000, "exponent form in capitals"},
		{"memory", "12e6", 12_000_000, "exponent form"},
		{"memory", "1.5Gi", 3 << 29, "a fraction of a binary unit"},
		{"memory", "0.5", 1, "half a byte is rounded up"},
		{"memory", "-1.5", -1, "rounded up is toward plus infinity"},
		{"memory", "-5Ki", -5120, "negative: legal, and seen on tiny Windows types"},
		{"memory", "+5Ki", 5120, "a plus sign is legal"},
		{"memory", "7Ei", 7 << 60, "the largest binary unit"},
		{"memory", "9223372036854775807", math.MaxInt64, "the largest amount"},
		{"cpu", "4", 4000, "whole cores"},
		{"cpu", "1930m", 1930, "millicores"},
		{"cpu", "0.5", 500, "half a core"},
		{"cpu", "0.0705", 71, "70.5 millicores are rounded up"},
		{"cpu", "1e3", 1_000_000, "a thousand cores"},
		{"cpu", "2Ki", 2_048_000, "odd, but legal"},
		{"pods", "110", 110, "a count"},
		{"cpu", "100Pi", bad, "1.1e20 millicores do not fit"},
		{"cpu", "9223372036854775807", bad, "fits as cores, not as millicores"},
		{"memory", "8Ei", bad, "2^63 is one too many"},
		{"memory", "100Ei", bad, "the parser itself would cut this down to 2^63-1"},
		{"memory", "9223372036854775808", bad, "one too many"},
		{"memory", "-9223372036854775809", bad, "one too few"},
		{"memory", "1e1.5", bad, "passes the CRD's pattern and is no quantity (model §14.1.3)"},
		{"memory", "", bad, "empty"},
		{"memory", "5KiKi", bad, "two units"},
		{"memory", "five", bad, "no number"},
		{"memory", "5 Gi", bad, "a space"},
		{"memory", "1e1000000000", bad, "the parser would write a gigabyte of zeros"},
		{"memory", "1e-1000000000", bad, "as small"},
		{"memory", "1e99999999999999999999", bad, "an exponent that fits nothing"},
		{"memory", "00009223372036854775807", math.MaxInt64, "leading zeros"},
		{"memory", "1E", 1_000_000_000_000_000_000, "exa, no exponent"},
		{"memory", "10%", bad, "a percentage is no quantity"},
	} {
		got, err := ParseQuantity(row.name, row.text)
		switch {
		case row.want == bad && err == nil:
			t.Errorf("%s %q gave %d, want an error: %s", row.name, row.text, got, row.reason)
		case row.want != bad && err != nil:
			t.Errorf("%s %q: %v, want %d: %s", row.name, row.text, err, row.want, row.reason)
		case row.want != bad && got != row.want:
			t.Errorf("%s %q gave %d, want %d: %s", row.name, row.text, got, row.want, row.reason)
		}
	}
}

func TestFormatQuantity(t *testing.T) {
	for _, row := range []struct {
		name  string
		value int64
		want  string
	}{
		{"cpu", 1930, "1930m"},
		{"cpu", 4000, "4"},
		{"memory", 7577 << 20, "7577Mi"},
		{"memory", 14467465216, "14128384Ki"}, // example 10 of the model
		{"memory", -1092 << 20, "-1092Mi"},    // example 17
		{"ephemeral-storage", 538926258176, "526295174Ki"},
		{"ephemeral-storage", 600_000_000_000, "585937500Ki"},
		{"hugepages-2Mi", 2 << 30, "2Gi"},
		{"pods", 110, "110"},
		{"nvidia.com/gpu", 0, "0"},
	} {
		got := FormatQuantity(row.name, row.value)
		if got != row.want {
			t.Errorf("%s %d prints as %q, want %q", row.name, row.value, got, row.want)
		}
		if back, err := ParseQuantity(row.name, got); err != nil || back != row.value {
			t.Errorf("%s %q reads as %d, %v, want %d", row.name, got, back, err, row.value)
		}
	}
}

func TestResourceListJSON(t *testing.T) {
	for _, row := range []struct {
		reason, in string
		want       ResourceList
		out        string
	}{
		{"order does not matter", `{"pods":"29","cpu":"2","memory":"7577Mi"}`,
			ResourceList{{"cpu", 2000, ""}, {"memory", 7577 << 20, ""}, {"pods", 29, ""}},
			`{"cpu":"2","memory":"7577Mi","pods":"29"}`},
		{"numbers as YAML leaves them", `{"cpu":2,"memory":18242267924}`,
			ResourceList{{"cpu", 2000, ""}, {"memory", 18242267924, ""}}, `{"cpu":"2","memory":"18242267924"}`},
		{"what does not fit keeps its text", `{"cpu":"100Pi","pods":"many"}`,
			ResourceList{{"cpu", 0, "100Pi"}, {"pods", 0, "many"}}, `{"cpu":"100Pi","pods":"many"}`},
		{"empty", `{}`, nil, `{}`},
		{"null", `null`, nil, `{}`},
	} {
		var got ResourceList
		if err := json.Unmarshal([]byte(row.in), &got); err != nil {
			t.Errorf("%s: %v", row.reason, err)
			continue
		}
		if diff := cmp.Diff(row.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.reason, diff)
		}
		out, err := json.Marshal(got)
		if err != nil || string(out) != row.out {
			t.Errorf("%s: written as %s, %v, want %s", row.reason, out, err, row.out)
		}
	}
	for _, in := range []string{`[]`, `"2"`, `{"cpu":{}}`, `{"cpu":["2"]}`, `{"cpu":"2"`} {
		if err := json.Unmarshal([]byte(in), new(ResourceList)); err == nil {
			t.Errorf("%s was read as amounts", in)
		}
	}
}

func TestResourceListLookup(t *testing.T) {
	l := ParseResources(map[string]string{"memory": "1Gi", "cpu": "100Pi"})
	if f := l.Get("memory"); f != (Figure{1 << 30, true}) {
		t.Errorf("memory is %v", f)
	}
	if f := l.Get("cpu"); f.Known {
		t.Errorf("an amount that does not fit is known as %d", f.Value)
	}
	if r, ok := l.Lookup("cpu"); !ok || r.Text != "100Pi" {
		t.Errorf("the text of cpu is %q, %v", r.Text, ok)
	}
	if _, ok := l.Lookup("pods"); ok {
		t.Error("pods were found")
	}
	if got := ParseResources(nil); got != nil {
		t.Errorf("no amounts are %v, not nil", got)
	}
}

func TestLabels(t *testing.T) {
	l := LabelsOf(map[string]string{"b": "2", "a": "1", "c": ""})
	if diff := cmp.Diff(Labels{{"a", "1"}, {"b", "2"}, {"c", ""}}, l); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if v, ok := l.Lookup("c"); v != "" || !ok {
		t.Errorf("c is %q, %v", v, ok)
	}
	if _, ok := l.Lookup("d"); ok || l.Get("d") != "" {
		t.Error("d was found")
	}
	if LabelsOf(nil) != nil {
		t.Error("no labels are not nil")
	}
	var got Labels
	if err := json.Unmarshal([]byte(`{"z":"1","count":4,"on":true,"nothing":null}`), &got); err != nil {
		t.Fatal(err)
	}
	want := Labels{{"count", "4"}, {"nothing", ""}, {"on", "true"}, {"z", "1"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("scalars are kept as they are written (-want +got):\n%s", diff)
	}
	if err := json.Unmarshal([]byte(`{"a":{}}`), &got); err == nil {
		t.Error("an object was read as a label")
	}
}

func TestCacheShares(t *testing.T) {
	var c Cache
	label := func(key, value string) *Label { return c.Label([]byte(key), []byte(value)) }
	if one := label("k", "v"); one != label("k", "v") || one == label("k", "w") || one == label("l", "v") {
		t.Error("equal pairs are not one, or different ones are")
	}
	list := Labels{label("a", "1"), label("k", "v")}
	first, second := c.ShareLabels(list), c.ShareLabels(Labels{label("a", "1"), label("k", "v")})
	if &first[0] != &second[0] {
		t.Error("equal lists do not share memory")
	}
	list[1] = label("k", "w")
	if first[1].Value != "v" {
		t.Error("the shared list changed with the list that it was made from")
	}
	for name, other := range map[string]Labels{"another value": list, "a shorter list": list[:1], "another order": {list[1], list[0]}} {
		if got := c.ShareLabels(other); &got[0] == &first[0] || !slices.Equal(got, other) {
			t.Errorf("%s gives %v, want a list of its own equal to %v", name, got, other)
		}
	}
	if c.ShareLabels(Labels{}) != nil {
		t.Error("an empty list is not nil")
	}
}
