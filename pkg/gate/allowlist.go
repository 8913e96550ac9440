package gate

import (
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
)

// The findings about the allowlist itself.
const (
	AllowlistExpired = "allowlist-expired"
	AllowlistUnused  = "allowlist-unused"
)

// Allowance is an accepted finding: what it covers, why, whose it is and until when.
type Allowance struct {
	// What it covers: a pattern (path.Match, so * stands for anything) for each field; an empty field covers all.
	Cluster      string `json:"cluster"`
	NodePool     string `json:"nodePool"`
	NodeClass    string `json:"nodeClass"`
	InstanceType string `json:"instanceType"`
	AMIFamily    string `json:"amiFamily"`
	Node         string `json:"node"`
	Resource     string `json:"resource"`
	// Cause is a cause or status: the id of the finding.
	Cause string `json:"cause"`

	Reason string `json:"reason"`
	Owner  string `json:"owner"`
	// Expires is the last day (YYYY-MM-DD, UTC) on which it counts.
	Expires string `json:"expires"`

	expires time.Time
	used    bool
}

// ParseAllowlist reads a list of allowances under the key "allow", YAML or JSON, strictly: each needs a reason, an owner,
// an expiry and at least one field that narrows it. Every problem is reported at once.
func ParseAllowlist(data []byte) ([]Allowance, error) {
	var f struct {
		Allow []Allowance `json:"allow"`
	}
	if err := unmarshal(data, &f); err != nil {
		return nil, err
	}
	var problems []error
	for i := range f.Allow {
		problems = append(problems, each(fmt.Sprintf("allow[%d]", i), f.Allow[i].check())...)
	}
	return f.Allow, errors.Join(problems...)
}

func (a *Allowance) check() []error {
	var problems []error
	if a.Reason == "" {
		problems = append(problems, errors.New("reason is missing: say why this is accepted"))
	}
	if a.Owner == "" {
		problems = append(problems, errors.New("owner is missing: say who will remove it"))
	}
	var err error
	if a.expires, err = time.Parse(time.DateOnly, a.Expires); err != nil {
		problems = append(problems, fmt.Errorf("expires %q: it is a day such as 2027-01-31", a.Expires))
	}
	narrowed := false
	for _, p := range a.patterns(&Node{}, "", "") {
		narrowed = narrowed || p.pattern != ""
		if _, err := path.Match(p.pattern, ""); err != nil {
			problems = append(problems, fmt.Errorf("%q is no pattern: %w", p.pattern, err))
		}
	}
	if !narrowed {
		problems = append(problems, errors.New("it would accept everything: name a node pool, class, type, resource or cause"))
	}
	return problems
}

type pattern struct{ pattern, value string }

func (a *Allowance) patterns(n *Node, resource, cause string) []pattern {
	return []pattern{
		{a.Cluster, n.Cluster}, {a.NodePool, n.NodePool}, {a.NodeClass, n.NodeClass}, {a.InstanceType, n.InstanceType},
		{a.AMIFamily, n.AMIFamily}, {a.Node, n.Name}, {a.Resource, resource}, {a.Cause, cause},
	}
}

func (a *Allowance) covers(n *Node, resource, cause string) bool {
	for _, p := range a.patterns(n, resource, cause) {
		// Resources hold slashes, which * does not match: an equal text always covers.
		if ok, err := path.Match(p.pattern, p.value); p.pattern != "" && p.pattern != p.value && (!ok || err != nil) {
			return false
		}
	}
	return true
}

// expired reports whether the last day is over.
func (a *Allowance) expired(today time.Time) bool { return !today.Before(a.expires.AddDate(0, 0, 1)) }

// allowlist is the allowances of one evaluation, with which of them were used.
type allowlist struct {
	entries []Allowance
	today   time.Time
}

// apply lowers the severities that an unexpired allowance covers.
func (l *allowlist) apply(n *Node, r *Row) {
	for i := range l.entries {
		a := &l.entries[i]
		if a.expired(l.today) {
			continue
		}
		if r.Severity > Info && (a.covers(n, r.Resource, r.findingID()) || a.covers(n, r.Resource, r.Status.String())) {
			r.Severity, r.Allowed, a.used = Info, a.Reason, true
		}
		if r.ClaimSeverity > Info && a.covers(n, r.Resource, ClaimOverEstimate) {
			r.ClaimSeverity, r.Allowed, a.used = Info, a.Reason, true
		}
	}
}

// findings are about the list itself: an expired entry fails, since what it accepted was to be gone by now; an unused
// one warns.
func (l *allowlist) findings() []Finding {
	var out []Finding
	for i := range l.entries {
		a := &l.entries[i]
		f := Finding{Cluster: a.Cluster, Resource: a.Resource, InstanceType: a.InstanceType, NodeClass: a.NodeClass, AMIFamily: a.AMIFamily, Status: compare.Match}
		switch {
		case a.expired(l.today):
			f.ID, f.Severity = AllowlistExpired, Fail
			f.Evidence = fmt.Sprintf("accepted until %s by %s: %s", a.Expires, a.Owner, a.Reason)
			f.Remedy = "fix what was accepted and remove the entry, or renew it with a new date"
		case !a.used:
			f.ID, f.Severity = AllowlistUnused, Warn
			f.Evidence = fmt.Sprintf("covers nothing any more (owner %s): %s", a.Owner, a.Reason)
			f.Remedy = "remove the entry"
		default:
			continue
		}
		out = append(out, f)
	}
	return out
}
