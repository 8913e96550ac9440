package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// Severity is how much a difference matters.
type Severity uint8

// The severities, least first.
const (
	// Pass: nothing to say.
	Pass Severity = iota
	// Info: worth knowing, never gated.
	Info
	// Warn: reported, does not fail the run.
	Warn
	// Fail: a finding that fails the run.
	Fail
)

var severityNames = []string{"pass", "info", "warn", "fail"}

func (s Severity) String() string { return severityNames[s] }

// MarshalText writes the severity's name.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the severity's name.
func (s *Severity) UnmarshalText(text []byte) error {
	i := slices.Index(severityNames, string(text))
	if i < 0 {
		return fmt.Errorf("%q is none of %q", text, severityNames)
	}
	*s = Severity(i)
	return nil
}

// Policy says what is tolerated. DefaultPolicy is the built-in one; a policy file changes what it names.
type Policy struct {
	// Unknown is what a node that could not be judged counts as: Fail (the run is inconclusive) or Warn.
	Unknown Severity
	// MinJudged is the least number of nodes that must be judged, MinJudgedShare the least share of Karpenter's nodes
	// (0 … 1). Fewer make the run inconclusive.
	MinJudged      int
	MinJudgedShare float64
	// Resources are by resource name; "*" is every other one.
	Resources map[string]ResourcePolicy
}

// ResourcePolicy is the tolerance of one resource.
type ResourcePolicy struct {
	// Over is for expected above actual, Under for expected below actual, Missing for a resource that the node lacks.
	Over, Under Direction
	Missing     Severity
}

// Direction holds the limits of one direction. A difference above any of Fail fails, else one above any of Warn warns,
// else it is within tolerance. Information makes the direction informational: never more than Info.
type Direction struct {
	Fail, Warn  []Limit
	Information bool
}

// Limit is a tolerated difference: an absolute amount in base units, or a share of what was expected.
type Limit struct {
	Absolute int64
	// Percent is set for a relative limit, in per cent of the expected amount.
	Percent  float64
	Relative bool
}

// ParseLimit reads "64Ki", "0" or "5%" as a limit of the named resource.
func ParseLimit(resource, text string) (Limit, error) {
	if number, ok := strings.CutSuffix(text, "%"); ok {
		var p float64
		if _, err := fmt.Sscanf(number+"\n", "%g\n", &p); err != nil || p < 0 || p > 1e6 {
			return Limit{}, fmt.Errorf("%q is not a percentage", text)
		}
		return Limit{Percent: p, Relative: true}, nil
	}
	v, err := snapshot.ParseQuantity(resource, text)
	if err != nil || v < 0 {
		return Limit{}, fmt.Errorf("%q is neither a quantity nor a percentage", text)
	}
	return Limit{Absolute: v}, nil
}

// exceeded reports whether a difference (its size, never negative) is above the limit.
func (l Limit) exceeded(size, expected int64) bool {
	if !l.Relative {
		return size > l.Absolute
	}
	if expected < 0 {
		expected = -expected
	}
	// Multiplied, not divided: an expectation near zero is common on the smallest types.
	return float64(size)*100 > l.Percent*float64(expected)
}

func (d Direction) severity(size, expected int64) Severity {
	above := func(l Limit) bool { return l.exceeded(size, expected) }
	switch {
	case d.Information:
		return Info
	case slices.ContainsFunc(d.Fail, above):
		return Fail
	case slices.ContainsFunc(d.Warn, above):
		return Warn
	}
	return Pass
}

var (
	aboveZero = []Limit{{}}
	inform    = Direction{Information: true}
)

// DefaultPolicy is the built-in gate. Why each limit is what it is:
//
//   - memory over: identical nodes differ by 4 to 8 KiB; a real over-estimate of half a per cent is enough for nodes to
//     be launched for ever (c7a.medium), so there is no relative limit;
//   - memory under: what the safe default of 7.5 % hides on ordinary types stays below 5 %;
//   - ephemeral-storage: file-system metadata takes 0.06 … 1.7 % (2 … 3 % on ext4) of every volume;
//   - devices: more than expected is time-slicing; none is a device plugin that is not there;
//   - pod-eni and PrivateIPv4Address: expected of every type that could, present where the CNI was told to.
func DefaultPolicy() Policy {
	strict := ResourcePolicy{Over: Direction{Fail: aboveZero}, Under: Direction{Warn: aboveZero}, Missing: Fail}
	optional := ResourcePolicy{Over: Direction{Warn: aboveZero}, Under: Direction{Warn: aboveZero}, Missing: Info}
	return Policy{
		Unknown: Fail,
		Resources: map[string]ResourcePolicy{
			expect.Memory: {
				Over:    Direction{Fail: []Limit{{Absolute: 64 << 10}}},
				Under:   Direction{Warn: []Limit{{Percent: 5, Relative: true}, {Absolute: 4 << 30}}},
				Missing: Fail,
			},
			expect.CPU:  strict,
			expect.Pods: strict,
			expect.EphemeralStorage: {
				Over:    Direction{Fail: []Limit{{Percent: 5, Relative: true}}, Warn: []Limit{{Percent: 2, Relative: true}}},
				Under:   Direction{Warn: []Limit{{Percent: 2, Relative: true}}},
				Missing: Fail,
			},
			expect.EFA:         {Over: Direction{Fail: []Limit{{Absolute: 1}}, Warn: aboveZero}, Under: inform, Missing: Fail},
			expect.NeuronCore:  {Over: inform, Under: inform, Missing: Info},
			expect.PodENI:      optional,
			expect.PrivateIPv4: optional,
			"*":                strict,
		},
	}
}

// of returns the policy of a resource.
func (p *Policy) of(resource string) ResourcePolicy {
	if r, ok := p.Resources[resource]; ok {
		return r
	}
	return p.Resources["*"]
}
