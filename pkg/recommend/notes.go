package recommend

import (
	"fmt"
	"math"
	"strings"

	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// notes are what a person should know before setting the fraction.
func (p *problem) notes(r *Report) []string {
	var out []string
	for _, note := range []string{p.discovered(), controllers(r), p.implied(r), p.reserves()} {
		if note != "" {
			out = append(out, note)
		}
	}
	return out
}

// discovered says where the fraction hardly matters (model of v1.1.0, #7004): the memory that was seen replaces it.
func (p *problem) discovered() string {
	discovered, since := 0, false
	for i := range p.nodes {
		n := &p.nodes[i]
		since = since || expect.RulesOf(n.fit.model.Settings().Version).DiscoveredMemory
		if n.Discovered {
			discovered++
		}
	}
	if !since {
		return ""
	}
	note := "from Karpenter v1.1.0 on the overhead counts only until the first node of an instance type and AMI set has registered: " +
		"its real memory then replaces the prediction, until the controller restarts or the AMIs change"
	if discovered > 0 {
		note += fmt.Sprintf(" (so it is for %d of %s here)", discovered, gate.Plural(len(p.nodes), "sampled node"))
	}
	return note
}

// controllers says that the nodes are judged under several fractions.
func controllers(r *Report) string {
	if !r.ControllersDiffer {
		return ""
	}
	return "the controllers differ: today's figures are each node's under its own; each controller can be set by itself, see the groups by cluster"
}

// implied says when the NodeClaims agree in a fraction that is not the one assumed: expectations made at launch tell
// what was set then (#7590).
func (p *problem) implied(r *Report) string {
	type prediction struct {
		fit   *fitted
		claim snapshot.Figure
	}
	if r.ControllersDiffer {
		return ""
	}
	seen := map[prediction]bool{}
	low, high, claims, agrees := 0, steps-1, 0, true
	for i := range p.nodes {
		n := &p.nodes[i]
		if !n.Claim.Known || n.Claim.Value <= 0 || n.Claim.Value%(1<<20) != 0 {
			continue
		}
		claims++
		key := prediction{n.fit, n.Claim}
		if seen[key] {
			continue
		}
		seen[key] = true
		overhead := n.fit.BaseMiB() - n.Claim.Value>>20
		from, err := n.fit.firstStep(overhead)
		if err != nil {
			return ""
		}
		to, err := n.fit.firstStep(overhead + 1)
		if err != nil {
			return ""
		}
		low, high = max(low, from), min(high, to-1)
		today, err := n.fit.MiB(n.fit.percent)
		agrees = agrees && err == nil && today == overhead
	}
	if claims == 0 || agrees || low > high {
		return ""
	}
	return fmt.Sprintf("every predicted NodeClaim (%d) fits an overhead of %s, not of %s: if that is what is set, say so with --overhead-percent %[2]s",
		claims, Format(roundest(low, high)), Format(r.Current.Percent))
}

// roundest is the fraction of the fewest decimals between two steps, both included.
func roundest(low, high int) float64 {
	for unit := steps; unit > 1; unit /= 10 {
		if step := (low + unit - 1) / unit * unit; step <= high {
			return fraction(step)
		}
	}
	return fraction(low)
}

// reserves warns where allocatable asks for more than capacity does: an overhead is then set to make up for a reserve.
func (p *problem) reserves() string {
	if p.Field != compare.Allocatable {
		return ""
	}
	affected := 0
	var types []string
	seen := map[string]bool{}
	for i := range p.nodes {
		n := &p.nodes[i]
		if !n.Capacity.Known || n.Capacity.Value <= 0 {
			continue
		}
		// Allocatable falls with the overhead MiB by MiB, so one MiB more is rounding.
		if float64(n.mib) <= math.Ceil(float64(n.fit.Capacity(0)-n.Capacity.Value)/(1<<20))+1 {
			continue
		}
		affected++
		if !seen[n.InstanceType] {
			seen[n.InstanceType] = true
			types = append(types, n.InstanceType)
		}
	}
	if affected == 0 {
		return ""
	}
	const shown = 3
	more := ""
	if len(types) > shown {
		more = fmt.Sprintf(" and %d more", len(types)-shown)
		types = types[:shown]
	}
	return fmt.Sprintf("%s (%s%s) need more for allocatable than for capacity: their reserves differ from Karpenter's (max pods, huge pages, user data); find out why with check before paying for it with the overhead",
		gate.Plural(affected, "node"), strings.Join(types, ", "), more)
}
