package expect

import (
	"cmp"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
)

func TestParseAmount(t *testing.T) {
	for _, row := range []struct {
		reason, resource, text string
		want                   Amount
	}{
		{"binary", Memory, "500Mi", whole(500 << 20)},
		{"decimal", EphemeralStorage, "600G", whole(600_000_000_000)},
		{"plain", Memory, "18242267924", whole(18242267924)},
		{"an exponent", Memory, "1e9", whole(1_000_000_000)},
		{"E is a suffix", Memory, "1E", whole(1_000_000_000_000_000_000)},
		{"and so is Ei", Memory, "1Ei", whole(1 << 60)},
		{"a fraction of a byte", Memory, "0.3Gi", Amount{322122547, 200_000_000}},
		{"a thousandth of a byte", Memory, "500m", Amount{0, 500_000_000}},
		{"the smallest quantity", Memory, "1n", Amount{0, 1}},
		{"anything smaller is rounded away from zero", Memory, "0.1n", Amount{0, 1}},
		{"also below zero", Memory, "-0.1n", Amount{-1, 999_999_999}},
		{"a negative fraction counts up from below", Memory, "-1.5", Amount{-2, 500_000_000}},
		{"cpu in cores", CPU, "4", whole(4000)},
		{"in millicores", CPU, "1930m", whole(1930)},
		{"finer than a millicore", CPU, "0.0705", Amount{70, 500_000_000}},
		{"a nanocore", CPU, "1n", Amount{0, 1000}},
		{"a count", Pods, "110", whole(110)},
		{"a plus sign", Memory, "+5", whole(5)},
		{"zero in any spelling", Memory, "0.000", whole(0)},
		{"zero with an exponent", Memory, "0e99", whole(0)},
		{"the largest", Memory, "9223372036854775807", whole(math.MaxInt64)},
		{"the smallest", Memory, "-9223372036854775808", whole(math.MinInt64)},
		{"binary beyond it is capped, as upstream's parser does", Memory, "100Ei", whole(math.MaxInt64)},
	} {
		got, err := ParseAmount(row.resource, row.text)
		if err != nil || got != row.want {
			t.Errorf("%s: %s %q is %v, %v; want %v", row.reason, row.resource, row.text, got, err, row.want)
		}
	}
	for _, row := range []struct{ reason, resource, text, want string }{
		{"empty", Memory, "", `"" is not a quantity`},
		{"text", Memory, "many", `"many" is not a quantity`},
		{"space", Memory, "1 Gi", `"1 Gi" is not a quantity`},
		{"a percentage", Memory, "5%", `"5%" is not a quantity`},
		{"an unknown suffix", Memory, "1GB", `"1GB" is not a quantity`},
		{"a decimal exponent", Memory, "1e1.5", `"1e1.5" is not a quantity`},
		{"one above the largest", Memory, "9223372036854775808", `"9223372036854775808": the figures do not fit 64 bits`},
		{"a fraction above the largest: it would be rounded up to nothing", Memory, "9223372036854775807.5", `"9223372036854775807.5": the figures do not fit 64 bits`},
		{"cores that do not fit as millicores", CPU, "1e16", `"1e16": the figures do not fit 64 bits`},
		{"binary cores are capped before they are counted", CPU, "100Ei", `"100Ei": the figures do not fit 64 bits`},
		{"an exponent that fills the memory", Memory, "1e2147483647", `"1e2147483647": exponent beyond ±99`},
		{"one that upstream's parser wraps round to 3", Memory, "1e4294967299", `"1e4294967299": exponent beyond ±99`},
		{"one beyond 64 bits", Memory, "1e99999999999999999999", `"1e99999999999999999999": exponent beyond ±99`},
		{"and below zero", Memory, "1111111111111111111e-2147483648", `"1111111111111111111e-2147483648": exponent beyond ±99`},
		{"digits without end", Memory, strings.Repeat("1", 1000), `"1111111111111111"… is not a quantity: longer than 128 characters`},
	} {
		if got, err := ParseAmount(row.resource, row.text); err == nil || err.Error() != row.want {
			t.Errorf("%s: %q is %v, %v; want %s", row.reason, row.text, got, err, row.want)
		}
	}
}

func TestFormatAmount(t *testing.T) {
	for _, row := range []struct {
		amount         Amount
		resource, want string
	}{
		{whole(7577 << 20), Memory, "7577Mi"},
		{whole(1930), CPU, "1930m"},
		{whole(2000), CPU, "2"},
		{Amount{322122547, 200_000_000}, Memory, "322122547.2"},
		{Amount{70, 500_000_000}, CPU, "70.5m"},
		{Amount{0, 1}, Memory, "0.000000001"},
		{Amount{-1, 999_999_999}, Memory, "-0.000000001"},
		{Amount{-2, 500_000_000}, Memory, "-1.5"},
		{Amount{math.MinInt64, 1}, Pods, "-9223372036854775807.999999999"},
		{whole(-1092 << 20), Memory, "-1092Mi"},
	} {
		if got := row.amount.Format(row.resource); got != row.want {
			t.Errorf("%v of %s prints as %s, want %s", row.amount, row.resource, got, row.want)
		}
	}
}

// exact is a in billionths.
func (a Amount) exact() *big.Int {
	n := new(big.Int).Mul(big.NewInt(a.Units), big.NewInt(nanos))
	return n.Add(n, big.NewInt(int64(a.Nano)))
}

// fits reports whether n billionths are an Amount.
func fits(n *big.Int) bool {
	least, most := whole(math.MinInt64).exact(), whole(math.MaxInt64).exact()
	return n.Cmp(least) >= 0 && n.Cmp(most) <= 0
}

// randomAmount is any Amount, those at the ends of the range and with carries more often than by chance.
func randomAmount(r *rand.Rand) Amount {
	ends := []int64{math.MinInt64, math.MinInt64 + 1, -2, -1, 0, 1, 2, math.MaxInt64 - 1, math.MaxInt64, math.MinInt64 / 2, math.MaxInt64 / 2}
	fractions := []int32{0, 0, 1, nanos / 2, nanos - 1}
	a := Amount{ends[r.IntN(len(ends))], fractions[r.IntN(len(fractions))]}
	if r.IntN(2) == 0 {
		a.Units = int64(r.Uint64())
	}
	if r.IntN(4) == 0 {
		a.Nano = r.Int32N(nanos)
	}
	if a.Units == math.MaxInt64 {
		a.Nano = 0
	}
	return a
}

// TestAmountArithmetic compares with arithmetic that cannot overflow: a result is exact, or an error where it does not
// fit, and nothing else.
func TestAmountArithmetic(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	overflows, fitting := 0, 0
	for range 50_000 {
		a, b := randomAmount(r), randomAmount(r)
		sum, err := a.Add(b)
		switch exact := new(big.Int).Add(a.exact(), b.exact()); {
		case fits(exact) != (err == nil):
			t.Fatalf("%v + %v: exactly %v billionths, got %v, %v", a, b, exact, sum, err)
		case err != nil:
			overflows++
		case sum.exact().Cmp(exact) != 0:
			t.Fatalf("%v + %v is %v, exactly %v billionths", a, b, sum, exact)
		default:
			fitting++
		}
		neg, err := a.Neg()
		switch exact := new(big.Int).Neg(a.exact()); {
		case fits(exact) != (err == nil):
			t.Fatalf("−%v: exactly %v billionths, got %v, %v", a, exact, neg, err)
		case err == nil && neg.exact().Cmp(exact) != 0:
			t.Fatalf("−%v is %v, exactly %v billionths", a, neg, exact)
		}
		if got, want := a.Cmp(b), a.exact().Cmp(b.exact()); got != want {
			t.Fatalf("%v compared with %v is %d, want %d", a, b, got, want)
		}
		ceil := new(big.Int).Add(a.exact(), big.NewInt(nanos-1))
		if ceil.Div(ceil, big.NewInt(nanos)); !ceil.IsInt64() || ceil.Int64() != a.Ceil() {
			t.Fatalf("%v rounded up is %d, want %v", a, a.Ceil(), ceil)
		}
	}
	if overflows < 1000 || fitting < 1000 {
		t.Errorf("%d sums overflow and %d fit: the amounts do not try both", overflows, fitting)
	}
}

// FuzzParseAmount compares with the parser's own decimal: the same value to a billionth of the base unit, or an error
// where that does not fit or the text is no quantity.
func FuzzParseAmount(f *testing.F) {
	for _, seed := range []string{"", "0", "1", "-1", "+1", "1n", "0.3Gi", "600G", "1e9", "1E", "1Ei", "-1.5", "0.0705", "9223372036854775807.5", "1e-99", "1e1.5", "00001.500Ki", ".5", "5.", "100Ei", "1e-2147483648"} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, text string, cpu bool) {
		name, scale := Memory, int64(1)
		if cpu {
			name, scale = CPU, 1000
		}
		got, err := ParseAmount(name, text)
		if err != nil && strings.Contains(err.Error(), "exponent beyond") || len(text) > longestQuantity {
			return // not given to the parser, which might not come back
		}
		q, parseErr := resource.ParseQuantity(text)
		if parseErr != nil {
			if err == nil {
				t.Fatalf("%q is %v, but no quantity: %v", text, got, parseErr)
			}
			return
		}
		exact, ok := new(big.Rat).SetString(q.AsDec().String())
		if !ok {
			t.Fatalf("%q is %v, which is no number", text, q.AsDec())
		}
		exact.Mul(exact, new(big.Rat).SetInt64(scale*nanos))
		if !exact.IsInt() {
			t.Fatalf("%q is finer than a billionth: %v", text, exact)
		}
		if want := exact.Num(); fits(want) != (err == nil) || err == nil && got.exact().Cmp(want) != 0 {
			t.Fatalf("%q is %v, %v; exactly %v billionths", text, got, err, want)
		}
		if err == nil && cmp.Compare(got.Units, 0) < 0 && q.Sign() >= 0 {
			t.Fatalf("%q changed its sign: %v", text, got)
		}
	})
}
