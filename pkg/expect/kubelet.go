package expect

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// kubelet is the settings of a class, read.
type kubelet struct {
	maxPods     maxPods
	podsPerCore int64
	// kubeReserved and systemReserved are the user's entries in key order.
	kubeReserved, systemReserved []reservation
	// memory and nodefs are the eviction signals that replace a default, from hard and soft maps.
	memory, nodefs []signal
}

// reservation is one entry of kubeReserved or systemReserved: a literal, or an expression to be evaluated per type.
type reservation struct {
	resource   string
	amount     Amount
	expression *expression
	label      string
}

// maxPods is the setting: a number, or from v1.15 an expression.
type maxPods struct {
	set        bool
	number     int64
	expression *expression
}

// value is maxPods for one type; false when it is not set.
func (p maxPods) value(c *calculation) (int64, bool, error) {
	if p.expression == nil {
		return p.number, p.set, nil
	}
	n, err := p.expression.maxPods(c)
	if err != nil {
		return 0, false, fmt.Errorf("maxPods of %s: %w", c.instance.Name, err)
	}
	return n, true, nil
}

// readKubelet parses everything that upstream parses, and nothing else: every reserved value, and the
// signals memory.available and nodefs.available of the maps that the release counts.
func readKubelet(k *snapshot.Kubelet, m *Model) (kubelet, error) {
	if k == nil {
		k = &snapshot.Kubelet{}
	}
	var out kubelet
	if k.Problem != "" {
		return out, fmt.Errorf("kubelet settings: %s", k.Problem)
	}
	var err error
	if out.maxPods, err = readMaxPods(k, m); err != nil {
		return out, err
	}
	if isSet(k.PodsPerCore) {
		if out.podsPerCore, err = jsonInteger(k.PodsPerCore); err != nil {
			return out, fmt.Errorf("podsPerCore: %w", err)
		}
	}
	if out.kubeReserved, err = readReserved("kubeReserved", k.KubeReserved, m); err != nil {
		return out, err
	}
	if out.systemReserved, err = readReserved("systemReserved", k.SystemReserved, m); err != nil {
		return out, err
	}
	maps := []struct {
		name   string
		values snapshot.Labels
	}{{"evictionHard", k.EvictionHard}}
	if m.rules.SoftEviction && m.family.SoftEviction {
		maps = append(maps, struct {
			name   string
			values snapshot.Labels
		}{"evictionSoft", k.EvictionSoft})
	}
	for _, e := range maps {
		if out.memory, err = appendSignal(out.memory, e.name, "memory.available", Memory, e.values); err != nil {
			return out, err
		}
		if !m.rules.NodefsEviction {
			continue
		}
		if out.nodefs, err = appendSignal(out.nodefs, e.name, "nodefs.available", EphemeralStorage, e.values); err != nil {
			return out, err
		}
	}
	return out, nil
}

func readMaxPods(k *snapshot.Kubelet, m *Model) (maxPods, error) {
	if !isSet(k.MaxPods) {
		return maxPods{}, nil
	}
	if k.MaxPods.Kind() == '"' {
		if !m.rules.CEL {
			return maxPods{}, fmt.Errorf("maxPods %s is not a number: expressions are read from Karpenter v1.15.0 on", k.MaxPods)
		}
		if !m.settings.NodeClassCEL {
			return maxPods{}, nil // with the gate off, upstream treats it as not set
		}
		var source string
		if err := json.Unmarshal(k.MaxPods, &source); err != nil {
			return maxPods{}, fmt.Errorf("maxPods: %w", err)
		}
		e, err := compile(source)
		if err != nil {
			return maxPods{}, fmt.Errorf("maxPods %q: %w", source, err)
		}
		return maxPods{set: true, expression: e}, nil
	}
	n, err := jsonInteger(k.MaxPods)
	if err != nil {
		return maxPods{}, fmt.Errorf("maxPods: %w", err)
	}
	return maxPods{set: true, number: n}, nil
}

// isSet tells a value from an absent one; null is absent.
func isSet(v jsontext.Value) bool { return len(v) > 0 && v.Kind() != 'n' }

// jsonInteger reads a JSON number that is a whole number of 32 bits, as the API's fields are.
func jsonInteger(v []byte) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(string(v)), 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%s is not a 32-bit integer", v)
	}
	return n, nil
}

func readReserved(field string, values snapshot.Labels, m *Model) ([]reservation, error) {
	out := make([]reservation, 0, len(values))
	for _, e := range values {
		r := reservation{resource: e.Key, label: field + " " + e.Key + ": " + e.Value}
		var err error
		if r.amount, err = ParseAmount(e.Key, e.Value); err == nil {
			out = append(out, r)
			continue
		}
		if !m.rules.CEL {
			return nil, fmt.Errorf("%s %s: %w", field, e.Key, err)
		}
		if !m.settings.NodeClassCEL {
			continue // with the gate off, upstream drops the entry and its default applies
		}
		if r.expression, err = compile(e.Value); err != nil {
			continue // an expression that does not compile is dropped as well
		}
		out = append(out, r)
	}
	return out, nil
}

// signal is one eviction signal: a percentage of capacity, or an absolute amount.
type signal struct {
	percent  bool
	fraction float64 // per cent
	amount   Amount
	label    string
}

func appendSignal(to []signal, field, name, resource string, values snapshot.Labels) ([]signal, error) {
	text, ok := values.Lookup(name)
	if !ok {
		return to, nil
	}
	s := signal{label: "eviction threshold: " + field + " " + name + ": " + text}
	if !strings.HasSuffix(text, "%") {
		amount, err := ParseAmount(resource, text)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", field, name, err)
		}
		s.amount = amount
		return append(to, s), nil
	}
	// Upstream strips every % at both ends and takes what ParseFloat takes; any spelling of 100 turns the signal off.
	p, err := strconv.ParseFloat(strings.Trim(text, "%"), 64)
	if err != nil || math.IsInf(p, 0) || math.IsNaN(p) {
		return nil, fmt.Errorf("%s %s: %q is not a percentage", field, name, text)
	}
	if p == 100 {
		p = 0
	}
	s.percent, s.fraction = true, p
	return append(to, s), nil
}

// threshold is what the signal keeps of capacity: ceil(capacity/100·p), divided first, as doubles. The order matters:
// at 7.5 % and 15 % the result can be a byte above exact arithmetic.
// Source: computeEvictionSignal() in pkg/providers/instancetype/types.go, all releases.
func (s signal) threshold(capacity int64) (Amount, error) {
	if !s.percent {
		return s.amount, nil
	}
	return percentOf(capacity, s.fraction)
}

func percentOf(capacity int64, percent float64) (Amount, error) {
	f := math.Ceil(float64(capacity) / 100 * percent)
	if math.Abs(f) < 1<<53 {
		return whole(int64(f)), nil
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return Amount{}, errors.New("the percentage gives no number")
	}
	// Upstream prints the double in its shortest form and parses that.
	return ParseAmount(Memory, strconv.FormatFloat(f, 'f', -1, 64))
}
