package snapshot

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"k8s.io/apimachinery/pkg/api/resource"
)

// CPU is the one resource whose base unit is not 1: it is counted in millicores.
const CPU = "cpu"

// ResourceList is the amounts of a node or claim in name order. In JSON it is an object of Kubernetes quantities. Amounts
// are shared between the objects that have them (see Cache) and must not be changed.
type ResourceList []*Resource

// Resource is one amount in its base unit: millicores for cpu, else bytes or a count.
type Resource struct {
	Name  string
	Value int64
	// Text is the amount as written when it is no quantity that fits an int64; Value is then meaningless.
	Text string
}

// Figure is an amount that may be absent.
type Figure struct {
	Value int64
	Known bool
}

// Get returns the amount of name; not Known when it is absent or unreadable.
func (l ResourceList) Get(name string) Figure {
	if r, ok := l.Lookup(name); ok && r.Text == "" {
		return Figure{r.Value, true}
	}
	return Figure{}
}

// Lookup returns the entry of name and whether it is there; nil where it is not.
func (l ResourceList) Lookup(name string) (*Resource, bool) {
	i, ok := slices.BinarySearchFunc(l, name, func(r *Resource, n string) int { return cmp.Compare(r.Name, n) })
	if !ok {
		return nil, false
	}
	return l[i], true
}

// ParseResources returns quantities by name as a list. A text that is no quantity is kept, see Resource.Text.
func ParseResources(m map[string]string) ResourceList {
	if len(m) == 0 {
		return nil
	}
	out := make(ResourceList, 0, len(m))
	for name, text := range m {
		out = append(out, parseResource(name, text))
	}
	slices.SortFunc(out, resourceOrder)
	return out
}

func resourceOrder(a, b *Resource) int { return cmp.Compare(a.Name, b.Name) }

func parseResource(name, text string) *Resource {
	v, err := ParseQuantity(name, text)
	if err != nil {
		return &Resource{Name: name, Text: text}
	}
	return &Resource{Name: name, Value: v}
}

// ParseQuantity reads text, any legal Kubernetes quantity, in the base unit of the resource (millicores for cpu, else
// bytes or a count); a fraction of the base unit is rounded up, toward plus infinity. It fails on what is no quantity or
// does not fit an int64.
func ParseQuantity(name, text string) (int64, error) {
	if v, ok := parsePlain(name, text); ok {
		return v, nil
	}
	q, err := ReadQuantity(text)
	if err != nil {
		return 0, fmt.Errorf("%s %w", name, err)
	}
	// Quantity.ScaledValue wraps round silently and rounds some negative fractions down, so this is done exactly.
	dec := q.AsDec()
	exponent := -int64(dec.Scale())
	if name == CPU {
		exponent += 3
	}
	n := new(big.Int).Set(dec.UnscaledBig())
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(max(exponent, -exponent)), nil)
	if exponent >= 0 {
		n.Mul(n, power)
	} else {
		rest := new(big.Int)
		n.DivMod(n, power, rest) // the rest is never negative
		if rest.Sign() > 0 {
			n.Add(n, big.NewInt(1))
		}
	}
	if !n.IsInt64() {
		return 0, fmt.Errorf("%s %q does not fit 64 bits", name, text)
	}
	return n.Int64(), nil
}

// The longest quantity and the largest exponent that are read: far more than fits 64 bits, and little enough that the
// parser, which writes an exponent of 10^9 out in digits, cannot be made to fill the memory.
const (
	longestQuantity = 128
	largestExponent = 99
)

// ReadQuantity parses a Kubernetes quantity, and refuses what Kubernetes' own parser would take a gigabyte for (1e1000000000)
// or cut down to the largest int64 without a word (8Ei).
func ReadQuantity(text string) (resource.Quantity, error) {
	if len(text) > longestQuantity {
		return resource.Quantity{}, fmt.Errorf("%q… is not a quantity: longer than %d characters", text[:16], longestQuantity)
	}
	// "1E" and "1Ei" have a suffix, not an exponent.
	if i := strings.IndexAny(text, "eE"); i >= 0 && i+1 < len(text) {
		n, err := strconv.ParseInt(text[i+1:], 10, 64)
		if errors.Is(err, strconv.ErrRange) || (err == nil && (n > largestExponent || n < -largestExponent)) {
			return resource.Quantity{}, fmt.Errorf("%q is not a quantity: its exponent is beyond ±%d", text, largestExponent)
		}
	}
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return q, fmt.Errorf("%q is not a quantity", text)
	}
	if q.Cmp(largestQuantity) >= 0 && strings.TrimLeft(text, "+0") != largestDigits {
		return q, fmt.Errorf("%q does not fit 64 bits", text)
	}
	return q, nil
}

// largestQuantity is what the parser cuts larger ones down to.
var largestQuantity = *resource.NewQuantity(math.MaxInt64, resource.DecimalSI)

const largestDigits = "9223372036854775807"

// parsePlain is the fast way for what kubelets and Karpenter print: digits with Ki, Mi, Gi or m, or with nothing.
func parsePlain(name, text string) (int64, bool) {
	digits := strings.TrimRight(text, "KMGim")
	v, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || digits == "" || digits[0] == '+' {
		return 0, false
	}
	var factor int64
	switch text[len(digits):] {
	case "":
		factor = 1
	case "Ki":
		factor = 1 << 10
	case "Mi":
		factor = 1 << 20
	case "Gi":
		factor = 1 << 30
	case "m":
		return v, name == CPU
	default:
		return 0, false
	}
	if name == CPU {
		factor *= 1000
	}
	if v > math.MaxInt64/factor || v < math.MinInt64/factor {
		return 0, false
	}
	return v * factor, true
}

// FormatQuantity prints an amount in the base unit of the resource as a canonical Kubernetes quantity: "1930m",
// "7577Mi", "110".
func FormatQuantity(name string, v int64) string {
	if name == CPU {
		return resource.NewMilliQuantity(v, resource.DecimalSI).String()
	}
	if InBytes(name) {
		return resource.NewQuantity(v, resource.BinarySI).String()
	}
	return strconv.FormatInt(v, 10)
}

// InBytes reports whether the resource is counted in bytes.
func InBytes(name string) bool {
	return name == "memory" || name == "ephemeral-storage" || strings.HasPrefix(name, "hugepages-")
}

// MarshalJSONTo writes l as an object of quantities.
func (l ResourceList) MarshalJSONTo(enc *jsontext.Encoder) error {
	if err := enc.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, r := range l {
		text := r.Text
		if text == "" {
			text = FormatQuantity(r.Name, r.Value)
		}
		if err := enc.WriteToken(jsontext.String(r.Name)); err != nil {
			return err
		}
		if err := enc.WriteToken(jsontext.String(text)); err != nil {
			return err
		}
	}
	return enc.WriteToken(jsontext.EndObject)
}

// UnmarshalJSONFrom reads an object of quantities, written as strings or plain numbers.
func (l *ResourceList) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return new(Cache).DecodeResources(dec, l)
}

// readObject calls visit for each member of an object of scalars (null is an empty object). What visit is given is only
// good until it returns.
func readObject(dec *jsontext.Decoder, visit func(name, value []byte)) error {
	tok, err := dec.ReadToken()
	if err != nil {
		return err
	}
	if tok.Kind() == 'n' {
		return nil
	}
	if tok.Kind() != '{' {
		return fmt.Errorf("expected an object, found %s", KindName(tok.Kind()))
	}
	var own []byte
	for dec.PeekKind() != '}' {
		raw, err := dec.ReadValue()
		if err != nil {
			return err
		}
		name, err := unquote(raw)
		if err != nil {
			return err
		}
		own = append(own[:0], name...) // dec uses the memory of raw again
		if raw, err = dec.ReadValue(); err != nil {
			return err
		}
		switch raw.Kind() {
		case '"', '0', 't', 'f':
			text, err := unquote(raw)
			if err != nil {
				return err
			}
			visit(own, text)
		case 'n':
			visit(own, nil)
		default:
			return fmt.Errorf("%q: expected a string, found %s", own, KindName(raw.Kind()))
		}
	}
	_, err = dec.ReadToken()
	return err
}

// unquote is the text of a JSON string, or of another scalar as it stands. It does not copy where nothing is escaped.
func unquote(raw jsontext.Value) ([]byte, error) {
	if raw.Kind() != '"' {
		return raw, nil
	}
	if !bytes.ContainsRune(raw, '\\') {
		return raw[1 : len(raw)-1], nil
	}
	return jsontext.AppendUnquote(nil, raw)
}
