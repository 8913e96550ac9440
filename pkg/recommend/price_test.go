package recommend

import (
	"math"
	"strings"
	"testing"
)

func TestParsePrices(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		err        string // part of the error; empty: none
	}{
		{"per GiB", "perGiBHour: 0.005", ""},
		{"per type", "perType: {m5.large: 0.096}", ""},
		{"both, as JSON", `{"perGiBHour": 0.005, "perType": {"m5.large": 0.096}}`, ""},
		{"free", "perGiBHour: 0", ""},
		{"empty", "", "names no price"},
		{"only null", "perGiBHour:", "names no price"},
		{"another key", "perGibHour: 0.005", "perGibHour"},
		{"twice", "perGiBHour: 0.005\nperGiBHour: 0.006", "already set"},
		{"a type without a price", "perType: {m5.large: }", "m5.large has no price"},
		{"text", "perGiBHour: cheap", "perGiBHour"},
		{"currency", "perType: {m5.large: $0.096}", "perType"},
		{"negative", "perType: {m5.large: -0.1}", "-0.1 is not a price"},
		{"not a number", "perGiBHour: .nan", "price file"},
		{"too much", "perGiBHour: 1e300", "is not a price"},
		{"a list", "- 1", "price file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ParsePrices([]byte(tt.text))
			switch {
			case tt.err == "" && err != nil:
				t.Error(err)
			case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
				t.Errorf("error %v, not one with %q", err, tt.err)
			}
		})
	}
}

// TestMoney: a share of an instance's memory costs that share of its price; what has no price is in no sum, and counted.
func TestMoney(t *testing.T) {
	f := newFleet("x", "1.14.1", "0.5")
	f.add(machine{typ: "m5.large", arch: "amd64", ec2MiB: 8192, capacity: "8Gi"})        // hides 4 GiB, half the machine
	f.add(machine{typ: "m5.xlarge", arch: "amd64", ec2MiB: 16384, capacity: "16Gi"})     // hides 8 GiB
	f.add(machine{typ: "m5.2xlarge", arch: "amd64", ec2MiB: 32768, capacity: "32768Mi"}) // hides 16 GiB
	gib := 0.01
	for _, tt := range []struct {
		name     string
		prices   Prices
		want     float64
		unpriced int
	}{
		{"per GiB", Prices{PerGiBHour: &gib}, 28 * 0.01 * 730, 0},
		{"per type", Prices{PerType: map[string]float64{"m5.large": 0.096, "m5.xlarge": 0.192}}, (0.048 + 0.096) * 730, 1},
		{"the type's own price goes first", Prices{PerGiBHour: &gib, PerType: map[string]float64{"m5.large": 0.096}}, (0.048 + 24*0.01) * 730, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := recommend(t, Options{Prices: &tt.prices}, f)
			if got := *r.Current.MonthlyUSD; math.Abs(got-tt.want) > 1e-9 {
				t.Errorf("%v USD a month, not %v", got, tt.want)
			}
			if r.Unpriced != tt.unpriced {
				t.Errorf("%d unpriced, not %d", r.Unpriced, tt.unpriced)
			}
			pools := 0.0
			for _, g := range r.Groups {
				if g.Kind == ByNodePool {
					pools += *g.MonthlyUSD
				}
			}
			if math.Abs(pools-tt.want) > 1e-9 {
				t.Errorf("the pools add up to %v, not %v", pools, tt.want)
			}
		})
	}
	r := recommend(t, Options{}, f)
	if r.Current.MonthlyUSD != nil || r.Line.MonthlyUSD != nil || r.Groups[0].MonthlyUSD != nil || r.Unpriced != 0 {
		t.Error("money without prices")
	}
}
