package expect

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// Settings are the options of the controller that move a formula, resolved: which release judges, and with what.
type Settings struct {
	// Version is the release whose formulas judge.
	Version Version
	// OverheadPercent is vmMemoryOverheadPercent: a fraction, despite the name (#6611).
	OverheadPercent float64
	// ReservedENIs is reserved-enis: interfaces that pods cannot use.
	ReservedENIs int64
	// NodeOverlay and NodeClassCEL are feature gates; both are off by default in every release.
	NodeOverlay, NodeClassCEL bool
	// UnlimitedPodDensity is aws.enableENILimitedPodDensity: false (v0.27–v0.32).
	UnlimitedPodDensity bool
	// PodENI is aws.enablePodENI (v0.27–v0.31; off by default).
	PodENI bool
}

// The defaults of every release v0.27.0 … v1.15.2. Source: pkg/apis/settings and pkg/operator/options.
const (
	DefaultOverheadPercent = 0.075
	DefaultReservedENIs    = 0
)

// Overrides are settings that a person gave; nil or empty means: as the controller has them.
type Overrides struct {
	KarpenterVersion              string
	OverheadPercent               *float64
	ReservedENIs                  *int64
	FeatureGates, AWSFeatureGates *string
}

// Resolved is Settings with where each came from.
type Resolved struct {
	Settings
	VersionFrom, OverheadPercentFrom, ReservedENIsFrom string
	// Assumptions are what was taken for granted, in words.
	Assumptions []string
	// Warnings are settings of the controller that a person should look at.
	Warnings []string
	// Unsupported is why no node can be judged: the detected release is older than Oldest; else empty.
	Unsupported string
}

const (
	fromOverride = "given"
	fromDefault  = "assumed: Karpenter's default"
)

// Resolve decides which release judges, with which settings: what a person gave, else what was found of the
// controller, else Karpenter's defaults. It fails only on overrides that cannot be used.
func Resolve(c snapshot.Controller, o Overrides) (Resolved, error) {
	var r Resolved
	if err := r.resolveVersion(c, o); err != nil {
		return r, err
	}
	if err := r.resolveOverhead(c, o); err != nil {
		return r, err
	}
	if err := r.resolveReservedENIs(c, o); err != nil {
		return r, err
	}
	gates, err := gateValue(c.FeatureGates, o.FeatureGates, "NodeOverlay", &r)
	if err != nil {
		return r, err
	}
	r.NodeOverlay = gates
	if r.NodeClassCEL, err = gateValue(c.AWSFeatureGates, o.AWSFeatureGates, "NodeClassCEL", &r); err != nil {
		return r, err
	}
	r.UnlimitedPodDensity = c.ENILimitedPodDensity.Value == "false"
	r.PodENI = c.PodENI.Value == "true"
	r.Warnings = append(r.Warnings, c.Notes...)
	return r, nil
}

func (r *Resolved) resolveVersion(c snapshot.Controller, o Overrides) error {
	switch {
	case o.KarpenterVersion != "":
		v, err := ParseVersion(o.KarpenterVersion)
		if err != nil {
			return err
		}
		if v.Before(Oldest) {
			return fmt.Errorf("karpenter v%s is older than v%s, the oldest release whose formulas are known", v, Oldest)
		}
		r.Version, r.VersionFrom = v, fromOverride
	case !c.Version.Found():
		r.Version, r.VersionFrom = Newest, "assumed: the newest release known"
		r.Assumptions = append(r.Assumptions, fmt.Sprintf("no Karpenter Deployment in the input: judged by the rules of v%s (set --karpenter-version)", Newest))
		return nil
	default:
		v, err := ParseVersion(c.Version.Value)
		if err != nil {
			r.Version, r.VersionFrom = Newest, "assumed: the newest release known"
			r.Assumptions = append(r.Assumptions, fmt.Sprintf("%s says %q, which names no release: judged by the rules of v%s (set --karpenter-version)", c.Version.From, c.Version.Value, Newest))
			return nil //nolint:nilerr // a build that names no release is judged, with the assumption above
		}
		r.Version, r.VersionFrom = v, c.Version.From
		if v.Before(Oldest) {
			r.Unsupported = fmt.Sprintf("Karpenter v%s (%s) is older than v%s, the oldest release whose formulas are known", v, c.Version.From, Oldest)
		}
	}
	if note := r.Version.Unread(); note != "" {
		r.Assumptions = append(r.Assumptions, note)
	}
	return nil
}

func (r *Resolved) resolveOverhead(c snapshot.Controller, o Overrides) error {
	r.OverheadPercent, r.OverheadPercentFrom = DefaultOverheadPercent, fromDefault
	found := c.VMMemoryOverheadPercent
	switch {
	case o.OverheadPercent != nil:
		p := *o.OverheadPercent
		if err := CheckOverheadPercent(p); err != nil {
			return err
		}
		r.OverheadPercent, r.OverheadPercentFrom = p, fromOverride
	case found.Found():
		p, err := strconv.ParseFloat(found.Value, 64)
		switch {
		case err != nil || math.IsNaN(p) || math.IsInf(p, 0) || p < 0:
			// The controller refuses a bad flag and falls to its default on a bad environment variable.
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s is %q, which Karpenter does not take: its default %v is assumed", found.From, found.Value, DefaultOverheadPercent))
		default:
			r.OverheadPercent, r.OverheadPercentFrom = p, found.From
			if p >= 1 {
				r.Warnings = append(r.Warnings, fmt.Sprintf("%s is %q: it is a fraction, so Karpenter takes %v %% of the memory away (did you mean %v?)", found.From, found.Value, p*100, p/100))
			}
		}
	case c.Version.Found():
		r.OverheadPercentFrom = "Karpenter's default: the controller sets none"
	default:
		r.Assumptions = append(r.Assumptions, fmt.Sprintf("vmMemoryOverheadPercent %v and reserved ENIs %d assumed, Karpenter's defaults (set --overhead-percent, --reserved-enis)", DefaultOverheadPercent, DefaultReservedENIs))
	}
	return nil
}

// CheckOverheadPercent refuses an overhead that a person cannot mean.
func CheckOverheadPercent(p float64) error {
	switch {
	case math.IsNaN(p) || math.IsInf(p, 0) || p < 0:
		return fmt.Errorf("overhead percent %v: it must be a fraction of at least 0 and below 1, such as 0.075", p)
	case p >= 1:
		return fmt.Errorf("overhead percent %v: it is a fraction despite its name, so it must be below 1; for %v %% write %v", p, p, p/100)
	}
	return nil
}

func (r *Resolved) resolveReservedENIs(c snapshot.Controller, o Overrides) error {
	r.ReservedENIs, r.ReservedENIsFrom = DefaultReservedENIs, fromDefault
	found := c.ReservedENIs
	switch {
	case o.ReservedENIs != nil:
		if *o.ReservedENIs < 0 || *o.ReservedENIs > math.MaxInt32 {
			return fmt.Errorf("reserved ENIs %d: it must be 0 … %d", *o.ReservedENIs, math.MaxInt32)
		}
		r.ReservedENIs, r.ReservedENIsFrom = *o.ReservedENIs, fromOverride
	case found.Found():
		n, err := strconv.ParseInt(found.Value, 10, 64)
		if err != nil || n < 0 {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s is %q, which Karpenter does not take: its default %d is assumed", found.From, found.Value, DefaultReservedENIs))
			break
		}
		r.ReservedENIs, r.ReservedENIsFrom = n, found.From
	case c.Version.Found():
		r.ReservedENIsFrom = "Karpenter's default: the controller sets none"
	}
	return nil
}

// gateValue reads one gate out of "A=true,B=false"; off when it is not named, and the last where it is named twice, as
// upstream reads it.
func gateValue(found snapshot.Setting, override *string, name string, r *Resolved) (bool, error) {
	text := found.Value
	if override != nil {
		text = *override
	}
	value := false
	for pair := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		key, setting, ok := strings.Cut(pair, "=")
		on, err := strconv.ParseBool(strings.TrimSpace(setting))
		switch {
		case ok && err == nil:
			if strings.TrimSpace(key) == name {
				value = on
			}
		case override != nil:
			return false, fmt.Errorf("feature gate %q: write it as Name=true or Name=false", pair)
		default:
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s has the gate %q, which is no Name=true or Name=false: taken as off", found.From, pair))
		}
	}
	return value, nil
}

// Check refuses overrides that cannot be used.
func (o Overrides) Check() error {
	_, err := Resolve(snapshot.Controller{}, o)
	return err
}
