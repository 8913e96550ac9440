package gate

import (
	"slices"
	"strings"

	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// notGated heads the reason of a row that is reported and never gated.
const notGated = "not gated: "

// judgedByClaim is the reason of a row for which the claim is the expectation that counts.
const judgedByClaim = "judged against the claim: the NodeClass was edited after launch"

// judge gives each row its severity and the node that of its worst row.
func (e *evaluation) judge(s compare.Subject, rows []compare.Row, node *Node) []*Row {
	out := e.judged[:0]
	for i := range rows {
		out = append(out, Row{Row: rows[i]})
		e.judgeRow(s, &out[i])
	}
	e.judged = out
	for i := range out {
		e.baselineAccepts(node, &out[i])
		e.allowed.apply(node, &out[i])
		out[i].word(s)
		node.Severity = max(node.Severity, out[i].Severity, out[i].ClaimSeverity)
	}
	return e.rows.share(out)
}

// word puts the causes of what matters into words; the others keep their figures.
func (r *Row) word(s compare.Subject) {
	if r.Severity > Info {
		compare.Detail(s, &r.Row)
	}
	if r.ClaimSeverity > Info {
		r.ClaimCauses = compare.ExplainClaim(s, &r.Row)
	}
}

func (e *evaluation) judgeRow(s compare.Subject, r *Row) {
	p := e.options.Policy.of(r.Resource)
	r.Severity = p.severity(r.Status, r.Delta().Value, r.Expected.Value)
	if r.Severity == Pass && (r.Status == compare.OverEstimate || r.Status == compare.UnderEstimate) {
		r.Status = compare.WithinTolerance
	}
	if r.Severity == Fail && r.sharedGPU(s) {
		r.Severity = Warn
	}
	r.judgeClaim(s, p)
	switch {
	case s.Node.Join.Drifted && compare.FedByClass(&r.Row) && r.Severity > Info:
		r.judgeByClaim(p)
	case r.Reason == "":
		r.Reason = e.ungated(s, r)
	}
	if strings.HasPrefix(r.Reason, notGated) {
		r.Severity = min(r.Severity, Info)
	}
	// A capacity row explains; it fails only where the node reports no allocatable. What the node lacks is missing from
	// both, and once is enough.
	if r.Field == compare.Capacity && (r.Status == compare.Missing || s.Node.Allocatable.Get(r.Resource).Known) {
		r.Severity = min(r.Severity, Info)
		r.ClaimSeverity = min(r.ClaimSeverity, Info)
	}
}

// sharedGPU reports whether the GPUs that the node lacks are there under the names of their shares.
func (r *Row) sharedGPU(s compare.Subject) bool {
	return r.Resource == expect.NvidiaGPU && r.Actual.Value == 0 && slices.ContainsFunc(s.Node.Capacity, func(a *snapshot.Resource) bool {
		return compare.IsSharedGPU(a.Name) && a.Value > 0
	})
}

// severity is what the policy makes of a status.
func (p ResourcePolicy) severity(status compare.Status, delta, expected int64) Severity {
	switch status {
	case compare.OverEstimate:
		if delta == minInt64 {
			return p.Over.severity(maxInt64, expected)
		}
		return p.Over.severity(-delta, expected)
	case compare.UnderEstimate:
		return p.Under.severity(delta, expected)
	case compare.Missing:
		return p.Missing
	case compare.Unexpected:
		return Info
	}
	return Pass
}

const (
	maxInt64 = 1<<63 - 1
	minInt64 = -1 << 63
)

// judgeClaim judges what Karpenter believed at launch: a claim above the node is what placed the pod that does not fit.
// It fails where the belief still stands, which is discovered memory under an unedited class, and warns where the claim
// was made under other settings. Where the claim is the formula's figure, the row itself says so already.
func (r *Row) judgeClaim(s compare.Subject, p ResourcePolicy) {
	delta := r.ClaimDelta()
	if r.Field != compare.Allocatable || !delta.Known || delta.Value >= 0 || r.Claim == r.Expected {
		return
	}
	r.ClaimSeverity = p.severity(compare.OverEstimate, delta.Value, r.Claim.Value)
	if s.Node.Join.Drifted || r.Resource != expect.Memory || claimState(s) != Discovered {
		r.ClaimSeverity = min(r.ClaimSeverity, Warn)
	}
}

// judgeByClaim judges a row of a node whose class was edited after launch: today's class is not what it was launched
// from, so the claim is the expectation that counts, and more than a warning it cannot be.
func (r *Row) judgeByClaim(p ResourcePolicy) {
	delta := r.ClaimDelta()
	if !delta.Known {
		r.Reason = notGated + "the NodeClass was edited after launch and there is no claim to judge by"
		return
	}
	status := compare.Match
	switch {
	case delta.Value < 0:
		status = compare.OverEstimate
	case delta.Value > 0:
		status = compare.UnderEstimate
	}
	r.Severity = min(p.severity(status, delta.Value, r.Claim.Value), Warn)
	r.ClaimSeverity = Pass
	r.Reason = judgedByClaim
}

// ungated is why a row hangs on something that the input does not say; empty when it does not.
func (e *evaluation) ungated(s compare.Subject, r *Row) string {
	switch {
	case s.Class == nil && r.Resource == expect.EphemeralStorage:
		return notGated + "no NodeClass in the input, so the family's default disk is assumed"
	case s.Class == nil && r.Resource == expect.Pods:
		return notGated + "no NodeClass in the input, so maxPods is not known"
	case s.Class == nil && r.Resource == expect.Memory && !s.Model.Family().ENILimitedMemoryOverhead:
		return e.reserveNotKnown(s.Model.Family().Name)
	case r.Resource == expect.EphemeralStorage && s.Model.Family().Windows && r.Actual == (snapshot.Figure{Known: true}):
		return notGated + "Windows reports 0: the kubelet does not say how large the disk is"
	case r.Resource == expect.EFA && !compare.AskedForEFA(s):
		return notGated + "neither the claim nor the NodeClass asks for EFA, so Karpenter attached none on purpose"
	case r.Resource == expect.NeuronCore:
		return notGated + "neuroncore follows neuron"
	}
	return ""
}

// reserveNotKnown is the reason of the memory rows of a family: one text, however many nodes it has.
func (e *evaluation) reserveNotKnown(family string) string {
	text, ok := e.reasons[family]
	if !ok {
		text = notGated + "no NodeClass in the input, and kube-reserved of " + family + " follows maxPods, which is not known"
		e.reasons[family] = text
	}
	return text
}
