package gate

import (
	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// APIVersion and Kind head every run file.
const (
	APIVersion = snapshot.APIVersion
	Kind       = "Run"
)

// Run is the result of one evaluation: what every report is written from. Order is fixed: clusters by name, nodes by
// cluster and name, findings worst first.
type Run struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Result     Result    `json:"result"`
	Totals     Totals    `json:"totals"`
	Clusters   []Cluster `json:"clusters,omitzero"`
	Findings   []Finding `json:"findings,omitzero"`
	Nodes      []Node    `json:"nodes,omitzero"`
	// Inconclusive says why nothing could be concluded, where Result is "inconclusive"; else empty.
	Inconclusive string `json:"inconclusive,omitzero"`
}

// Result is the run in one word.
type Result string

// The results.
const (
	Passed       Result = "pass"
	Failed       Result = "fail"
	Inconclusive Result = "inconclusive"
)

// Totals count the nodes of a run.
type Totals struct {
	// Karpenter is the nodes that are Karpenter's, whether or not they were judged.
	Karpenter int `json:"karpenter"`
	Judged    int `json:"judged"`
	Failed    int `json:"failed"`
	Warned    int `json:"warned"`
	Passed    int `json:"passed"`
	Unknown   int `json:"unknown"`
	// Skipped is Karpenter's nodes that were not compared; Foreign the ones of EKS Auto Mode or of nobody's.
	Skipped int `json:"skipped"`
	Foreign int `json:"foreign"`
}

// Cluster is what a cluster was judged by.
type Cluster struct {
	Name string `json:"name"`
	// Digest is the snapshot's: equal digests are equal inputs.
	Digest string `json:"digest"`
	// Karpenter, OverheadPercent and ReservedENIs judged; From says where each was found, or that it was assumed.
	Karpenter           string  `json:"karpenterVersion"`
	KarpenterFrom       string  `json:"karpenterVersionFrom"`
	OverheadPercent     float64 `json:"overheadPercent"`
	OverheadPercentFrom string  `json:"overheadPercentFrom"`
	ReservedENIs        int64   `json:"reservedENIs"`
	ReservedENIsFrom    string  `json:"reservedENIsFrom"`
	// InstanceTypesFrom is the source of the instance types' facts: "ec2", "file" or "labels".
	InstanceTypesFrom string `json:"instanceTypesFrom,omitzero"`
	// Assumptions are what was taken for granted since the input does not say, each once.
	Assumptions []Assumption `json:"assumptions,omitzero"`
	// UnmatchedClaims are NodeClaims of which no node ever came: launched, and not registered. They are not compared.
	UnmatchedClaims []string `json:"unmatchedClaims,omitzero"`
	// Ignored counts the objects of the input that nothing here reads; a run file does not keep it.
	Ignored []snapshot.KindCount `json:"-"`
}

// Assumption is something that the input did not say.
type Assumption struct {
	Text string `json:"text"`
	// Nodes is how many nodes it concerns; 0 for one about the whole cluster.
	Nodes int `json:"nodes,omitzero"`
}

// State is whether a node was judged.
type State string

// The states.
const (
	Judged  State = "judged"
	Unknown State = "unknown"
	Skipped State = "skipped"
	// Foreign is a skipped node that is not this Karpenter's: it is no row of most reports.
	Foreign State = "foreign"
)

// ClaimState says how the NodeClaim came by its memory (model §6).
type ClaimState string

// The claim states.
const (
	NoClaim ClaimState = ""
	// Predicted: the formula's figure at today's settings.
	Predicted ClaimState = "predicted"
	// Discovered: no whole MiB, so it came from an earlier node.
	Discovered ClaimState = "discovered"
	// OtherSettings: neither: another release, option or class at launch.
	OtherSettings ClaimState = "other settings at launch"
)

// Node is the verdict on one node.
type Node struct {
	Cluster string `json:"cluster"`
	Name    string `json:"name"`
	State   State  `json:"state"`
	// Severity is that of the worst row; of an unknown node, what the policy makes of nodes that cannot be judged.
	Severity         Severity   `json:"severity"`
	Reason           string     `json:"reason,omitzero"`
	NodePool         string     `json:"nodePool,omitzero"`
	NodeClass        string     `json:"nodeClass,omitzero"`
	InstanceType     string     `json:"instanceType,omitzero"`
	Arch             string     `json:"arch,omitzero"`
	Zone             string     `json:"zone,omitzero"`
	AMIFamily        string     `json:"amiFamily,omitzero"`
	OSImage          string     `json:"osImage,omitzero"`
	KarpenterVersion string     `json:"karpenterVersion,omitzero"`
	Claim            string     `json:"claim,omitzero"`
	ClaimState       ClaimState `json:"claimState,omitzero"`
	// Drifted: the class was edited after launch.
	Drifted bool `json:"drifted,omitzero"`
	// Rows are in the order of the resources. Nodes share equal rows, so none may be changed.
	Rows []*Row `json:"rows,omitzero"`
}

// Row is a compared row with its severity.
type Row struct {
	compare.Row
	// Severity is what the policy makes of the row; Claim, of the claim against the node.
	Severity      Severity
	ClaimSeverity Severity
	// ClaimCauses split ClaimDelta where ClaimSeverity matters; else nil.
	ClaimCauses []compare.Cause
	// Allowed is the reason of the allowlist entry or baseline that lowered the severity; else empty.
	Allowed string
}

// Finding is equal differences of one type, class, AMI and resource, folded.
type Finding struct {
	// ID is the cause, or the status where no cause is named.
	ID       string   `json:"id"`
	Severity Severity `json:"severity"`
	Cluster  string   `json:"cluster"`
	// Resource, InstanceType, NodeClass and OSImage are what the folded rows have in common.
	Resource     string         `json:"resource,omitzero"`
	Field        compare.Field  `json:"field"`
	Status       compare.Status `json:"status"`
	InstanceType string         `json:"instanceType,omitzero"`
	NodeClass    string         `json:"nodeClass,omitzero"`
	AMIFamily    string         `json:"amiFamily,omitzero"`
	OSImage      string         `json:"osImage,omitzero"`
	// Nodes of Of nodes of the same type, class and AMI show it; Names are theirs.
	Nodes int      `json:"nodes"`
	Of    int      `json:"of"`
	Names []string `json:"names,omitzero"`
	// Worst is the delta (actual − expected) of the node that shows most, and its two figures.
	Expected int64 `json:"expected"`
	Actual   int64 `json:"actual"`
	Delta    int64 `json:"delta"`
	// Evidence and Remedy are for a person.
	Evidence string `json:"evidence,omitzero"`
	Remedy   string `json:"remedy,omitzero"`
	Allowed  string `json:"allowed,omitzero"`
}

// Exit codes of the command line, in order of precedence 2 > 3 > 1 > 4 > 0.
const (
	ExitOK           = 0
	ExitFindings     = 1
	ExitUsage        = 2
	ExitError        = 3
	ExitInconclusive = 4
)

// ExitCode is the code that the run ends the command with.
func (r *Run) ExitCode() int {
	switch r.Result {
	case Failed:
		return ExitFindings
	case Inconclusive:
		return ExitInconclusive
	}
	return ExitOK
}
