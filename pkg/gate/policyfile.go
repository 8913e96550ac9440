package gate

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
)

// policyFile is a policy as written. What it does not name stays as in the built-in policy.
type policyFile struct {
	// Unknown is fail or warn.
	Unknown        string   `json:"unknown"`
	MinJudged      *int     `json:"minJudged"`
	MinJudgedShare *float64 `json:"minJudgedShare"`
	// Strict makes any over-estimate of ephemeral-storage fail.
	Strict    bool                    `json:"strict"`
	Resources map[string]resourceFile `json:"resources"`
}

type resourceFile struct {
	OverEstimate  *directionFile `json:"overEstimate"`
	UnderEstimate *directionFile `json:"underEstimate"`
	// Missing is fail, warn or info.
	Missing string `json:"missing"`
	Strict  bool   `json:"strict"`
}

// directionFile holds limits such as "64Ki" or "5%": above any of fail fails, above any of warn warns.
type directionFile struct {
	Fail []string `json:"fail"`
	Warn []string `json:"warn"`
	// Information makes the direction informational.
	Information bool `json:"information"`
}

// ParsePolicy reads a policy, YAML or JSON, over the built-in one. A key that it does not know is an error: a typo must
// not weaken the gate in silence. Every problem is reported at once.
func ParsePolicy(data []byte) (Policy, error) {
	p := DefaultPolicy()
	var f policyFile
	if err := unmarshal(data, &f); err != nil {
		return p, err
	}
	var problems []error
	switch f.Unknown {
	case "", "fail":
	case "warn":
		p.Unknown = Warn
	default:
		problems = append(problems, fmt.Errorf("unknown: %q: it is fail or warn", f.Unknown))
	}
	if f.MinJudged != nil {
		if p.MinJudged = *f.MinJudged; p.MinJudged < 0 {
			problems = append(problems, fmt.Errorf("minJudged: %d: it is a count of at least 0", p.MinJudged))
		}
	}
	if f.MinJudgedShare != nil {
		if p.MinJudgedShare = *f.MinJudgedShare; !(p.MinJudgedShare >= 0 && p.MinJudgedShare <= 1) {
			problems = append(problems, fmt.Errorf("minJudgedShare: %v: it is a share from 0 to 1", p.MinJudgedShare))
		}
	}
	if f.Strict {
		p.Resources[expect.EphemeralStorage] = p.Resources[expect.EphemeralStorage].strict()
	}
	for _, name := range slices.Sorted(maps.Keys(f.Resources)) {
		if !isResource(name) {
			problems = append(problems, fmt.Errorf("resources: %s: no node has such a resource: it is cpu, memory, ephemeral-storage, pods, hugepages-SIZE, or one with a domain, such as nvidia.com/gpu", name))
			continue
		}
		r, wrong := f.Resources[name].over(name, p.of(name))
		problems = append(problems, each("resources: "+name, wrong)...)
		p.Resources[name] = r
	}
	return p, errors.Join(problems...)
}

// unmarshal reads a file of one YAML document, strictly. Of several, yaml would take the first and leave the rest unread.
func unmarshal(data []byte, into any) error {
	first := true
	for i, line := range bytes.Split(data, []byte("\n")) {
		if separates := bytes.HasPrefix(line, []byte("---")) || bytes.HasPrefix(line, []byte("...")); separates && !first {
			return fmt.Errorf("line %d: a second YAML document begins: one file holds one", i+1)
		}
		if text := bytes.TrimSpace(line); len(text) > 0 && text[0] != '#' {
			first = false
		}
	}
	return yaml.UnmarshalStrict(data, into)
}

// each says of every problem where it is: a person reads them as lines of their own.
func each(place string, problems []error) []error {
	var out []error
	for _, p := range problems {
		out = append(out, fmt.Errorf("%s: %w", place, p))
	}
	return out
}

// isResource reports whether a node can have a resource of the name: those without a domain are Kubernetes' own.
func isResource(name string) bool {
	switch name {
	case expect.CPU, expect.Memory, expect.EphemeralStorage, expect.Pods:
		return true
	}
	return strings.HasPrefix(name, "hugepages-") || strings.Contains(name, "/")
}

// strict fails on any over-estimate.
func (p ResourcePolicy) strict() ResourcePolicy {
	p.Over = Direction{Fail: aboveZero}
	return p
}

// over applies what the file says to the policy that was there.
func (f resourceFile) over(name string, p ResourcePolicy) (ResourcePolicy, []error) {
	var problems []error
	if f.Strict {
		p = p.strict()
	}
	for _, d := range []struct {
		key  string
		file *directionFile
		into *Direction
	}{{"overEstimate", f.OverEstimate, &p.Over}, {"underEstimate", f.UnderEstimate, &p.Under}} {
		if d.file == nil {
			continue
		}
		direction, wrong := d.file.direction(name)
		problems = append(problems, each(d.key, wrong)...)
		*d.into = direction
	}
	switch f.Missing {
	case "":
	case Info.String(), Warn.String(), Fail.String():
		if err := p.Missing.UnmarshalText([]byte(f.Missing)); err != nil {
			problems = append(problems, fmt.Errorf("missing: %w", err))
		}
	default:
		problems = append(problems, fmt.Errorf("missing: %q: it is fail, warn or info", f.Missing))
	}
	return p, problems
}

func (f *directionFile) direction(resource string) (Direction, []error) {
	d := Direction{Information: f.Information}
	var problems []error
	for _, l := range []struct {
		texts []string
		into  *[]Limit
	}{{f.Fail, &d.Fail}, {f.Warn, &d.Warn}} {
		for _, text := range l.texts {
			limit, err := ParseLimit(resource, text)
			if err != nil {
				problems = append(problems, err)
			}
			*l.into = append(*l.into, limit)
		}
	}
	return d, problems
}
