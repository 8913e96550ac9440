package gate

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// Options say how to evaluate.
type Options struct {
	// Overrides are settings that replace those of the controller.
	Overrides expect.Overrides
	Policy    Policy
	// Allowlist are accepted findings, Baseline what a fleet was adopted with; nil for none. Today decides which
	// allowances have expired.
	Allowlist []Allowance
	Baseline  *Baseline
	Today     time.Time
	// AMIFamily, when set, replaces the family of every node, as a migration would.
	AMIFamily string
	// InFocus, when set, says which nodes a suite was asked for; the others are skipped as "not in focus".
	InFocus func(Node) bool
	// Shard narrows the run to a part of each cluster's nodes.
	Shard Shard
}

// Evaluate judges every node of the snapshots. It fails only on overrides that cannot be used; everything that is wrong
// with a node is in the Run.
func Evaluate(snapshots []*snapshot.Snapshot, o Options) (*Run, error) {
	run := &Run{APIVersion: APIVersion, Kind: Kind}
	allowed := &allowlist{entries: slices.Clone(o.Allowlist), today: o.Today}
	baseline := o.Baseline.index()
	for _, s := range snapshots {
		e, err := newEvaluation(s, o)
		if err != nil {
			return nil, err
		}
		e.allowed, e.baseline = allowed, baseline
		cluster := clusterOf(s, e.settings)
		var digest sync.WaitGroup // of a large cluster it takes as long as its verdict
		digest.Go(func() { cluster.Digest = s.Digest() })
		nodes := e.nodes()
		digest.Wait()
		cluster.Assumptions = e.assumptions.list()
		run.Clusters = append(run.Clusters, cluster)
		if run.Nodes == nil {
			run.Nodes = nodes
			continue
		}
		run.Nodes = append(run.Nodes, nodes...)
	}
	run.conclude(o.Policy, allowed.findings())
	return run, nil
}

func newEvaluation(s *snapshot.Snapshot, o Options) (*evaluation, error) {
	settings, err := expect.Resolve(s.Controller, o.Overrides)
	if err != nil {
		return nil, err
	}
	return &evaluation{
		snapshot: s, index: snapshot.NewIndex(s), settings: settings, options: o,
		models: map[modelKey]modelResult{}, expected: map[expectKey]expectResult{}, rows: newRowPool(), reasons: map[string]string{},
	}, nil
}

// clusterOf is what the nodes are judged by; the digest, which takes time, is left to the caller.
func clusterOf(s *snapshot.Snapshot, r expect.Resolved) Cluster {
	return Cluster{
		Name:      s.Cluster,
		Karpenter: r.Version.String(), KarpenterFrom: r.VersionFrom,
		OverheadPercent: r.OverheadPercent, OverheadPercentFrom: r.OverheadPercentFrom,
		ReservedENIs: r.ReservedENIs, ReservedENIsFrom: r.ReservedENIsFrom,
		InstanceTypesFrom: s.InstanceTypesFrom, Ignored: s.Ignored, UnmatchedClaims: unmatchedClaims(s),
	}
}

// unmatchedClaims are the claims that no node was joined to and that never had one: a claim whose node was left out by
// a selector names it.
func unmatchedClaims(s *snapshot.Snapshot) []string {
	joined := make(map[string]bool, len(s.Nodes))
	for i := range s.Nodes {
		joined[s.Nodes[i].Join.Claim] = true
	}
	var out []string
	for i := range s.NodeClaims {
		if c := &s.NodeClaims[i]; !joined[c.Name] && c.NodeName == "" {
			out = append(out, c.Name)
		}
	}
	return out
}

// evaluation is the working state of one snapshot.
type evaluation struct {
	snapshot    *snapshot.Snapshot
	index       *snapshot.Index
	settings    expect.Resolved
	options     Options
	assumptions tally
	allowed     *allowlist
	baseline    map[acceptedKey]*Accepted
	models      map[modelKey]modelResult
	expected    map[expectKey]expectResult
	rows        *rowPool
	reasons     map[string]string // of reserveNotKnown
	// compared and judged are the rows of the node at hand, causes what explains them.
	compared []compare.Row
	judged   []Row
	causes   []compare.Cause
}

// modelKey is what decides a model: nodes that agree in it share one.
type modelKey struct {
	class, family, kubelet, overlays string
}

type modelResult struct {
	model *expect.Model
	err   error
}

type expectKey struct {
	model *expect.Model
	typ   string
}

type expectResult struct {
	expectation *expect.Expectation
	err         error
}

// typeless says that no facts of an instance type were found, and where there may be some.
func (e *evaluation) typeless(name string) error {
	from := cmp.Or(e.snapshot.InstanceTypesFrom, "none")
	if from == "ec2" {
		return fmt.Errorf("instance type %q is not known to EC2 in the region that was asked: is it (--region) that of the cluster, and the account the cluster's?", name)
	}
	return fmt.Errorf("instance type %q is not known to the source of instance types (%s): use --instance-types with a newer describe-instance-types file, or ec2", name, from)
}

func (e *evaluation) nodes() []Node {
	for _, text := range slices.Concat(e.settings.Assumptions, e.settings.Warnings) {
		e.assumptions.add(text, 0)
	}
	for _, g := range e.snapshot.Gaps {
		e.assumptions.add(g.Reason, 0)
	}
	if e.settings.NodeOverlay && len(e.snapshot.NodeOverlays) == 0 {
		e.assumptions.add("the feature gate NodeOverlay is on and the input has no NodeOverlay: none is assumed (kubectl get nodeoverlays -o json)", 0)
	}
	var all []*snapshot.Node
	for i := range e.snapshot.Nodes {
		if e.options.Shard.has(i) {
			all = append(all, &e.snapshot.Nodes[i])
		}
	}
	// Type by type: what is expected of one is then forgotten before the next.
	types, order := make([]string, len(all)), make([]int, len(all))
	for i := range all {
		types[i], order[i] = all[i].InstanceType(), i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(types[i], types[j]) })
	out := make([]Node, len(all))
	for i, at := range order {
		if i > 0 && types[at] != types[order[i-1]] {
			clear(e.expected)
		}
		out[at] = e.node(all[at])
	}
	return out
}

// classified is the node with its state, and what was expected of it where that can be worked out.
func (e *evaluation) classified(n *snapshot.Node) (Node, compare.Subject) {
	result := Node{
		Cluster: e.snapshot.Cluster, Name: n.Name,
		NodePool: n.Join.Pool, NodeClass: n.Join.ClassName,
		InstanceType: n.InstanceType(), Arch: n.Labels.Get(snapshot.LabelArch), Zone: n.Labels.Get(snapshot.LabelZone),
		OSImage: n.OSImage, KarpenterVersion: e.settings.Version.String(), Claim: n.Join.Claim, Drifted: n.Join.Drifted,
	}
	subject, family, err := e.subject(n)
	if family != nil {
		result.AMIFamily = family.Name
	}
	result.State, result.Reason = classify(n, subject.Claim)
	if result.State == "" && e.options.InFocus != nil && !e.options.InFocus(result) {
		result.State, result.Reason = Skipped, "not in focus"
	}
	if result.State == Foreign {
		return result, compare.Subject{Node: n}
	}
	if err == nil {
		err = e.expect(n, &subject)
	}
	switch {
	case result.State == Skipped: // what was expected is shown where it can be computed
	case err != nil:
		result.State, result.Reason = Unknown, err.Error()
	default:
		result.State = Judged
		result.ClaimState = claimState(subject)
	}
	return result, subject
}

// node judges one node.
func (e *evaluation) node(n *snapshot.Node) Node {
	result, subject := e.classified(n)
	switch result.State {
	case Foreign, Skipped:
		result.Rows = e.unjudged(subject, compare.Skipped)
		return result
	case Unknown:
		result.Severity = e.options.Policy.Unknown
		result.Rows = e.unjudged(subject, compare.Unknown)
		return result
	}
	for _, note := range n.Join.Notes {
		e.assumptions.add(note, 1)
	}
	e.compared = compare.AppendRows(e.compared[:0], subject)
	e.causes = compare.AppendCauses(e.causes[:0], subject, e.compared)
	result.Rows = e.judge(subject, e.compared, &result)
	return result
}

// unjudged is the rows of a node that is not judged: figures without a severity.
func (e *evaluation) unjudged(s compare.Subject, status compare.Status) []*Row {
	e.judged = e.judged[:0]
	for _, r := range compare.Unjudged(s, status) {
		e.judged = append(e.judged, Row{Row: r})
	}
	return e.rows.share(e.judged)
}

// subject finds what explains a node; it fails where the node cannot be judged whatever its instance type is.
func (e *evaluation) subject(n *snapshot.Node) (compare.Subject, *expect.AMIFamily, error) {
	s := compare.Subject{Node: n, Claim: e.index.Claim(n), Class: e.index.Class(n)}
	rules := expect.RulesOf(e.settings.Version)
	s.Kubelet = e.index.Kubelet(n, rules.ClassKubelet, rules.CompatKubelet)
	family, err := e.family(n, s.Class)
	switch {
	case err != nil:
		return s, nil, err
	case e.settings.Unsupported != "":
		return s, family, fmt.Errorf("%s", e.settings.Unsupported)
	case n.Join.Unknown != "":
		return s, family, fmt.Errorf("%s", n.Join.Unknown)
	case e.blind() != "":
		return s, family, fmt.Errorf("%s", e.blind())
	case n.InstanceType() == "":
		return s, family, fmt.Errorf("node %q has no label %s", n.Name, snapshot.LabelInstanceType)
	}
	if s.Type = e.index.Type(n.InstanceType()); s.Type == nil {
		return s, family, e.typeless(n.InstanceType())
	}
	return s, family, nil
}

// blind is why no node can be explained: its claims or classes exist and may not be read. Without them any difference
// could be one that they explain.
func (e *evaluation) blind() string {
	for _, g := range e.snapshot.Gaps {
		switch g.Kind {
		case "NodeClaim", "Machine", "EC2NodeClass", "AWSNodeTemplate":
			return g.Reason
		}
	}
	return ""
}

func (e *evaluation) family(n *snapshot.Node, class *snapshot.NodeClass) (*expect.AMIFamily, error) {
	switch {
	case e.options.AMIFamily != "":
		return expect.FamilyNamed(e.options.AMIFamily, e.settings.Version), nil
	case class != nil:
		return expect.FamilyOf(class, e.settings.Version)
	}
	if f, ok := expect.FamilyOfImage(n.OSImage, e.settings.Version); ok {
		return f, nil
	}
	return expect.FamilyNamed("AL2023", e.settings.Version), nil
}

// expect fills in model and expectation, each computed once per distinct key.
func (e *evaluation) expect(n *snapshot.Node, s *compare.Subject) error {
	family, err := e.family(n, s.Class)
	if err != nil {
		return err
	}
	var overlays []snapshot.NodeOverlay
	if e.settings.NodeOverlay { // with the gate off, an overlay that the labels cannot decide makes no node unknown
		if overlays, err = expect.OverlaysFor(e.snapshot.NodeOverlays, n.Labels); err != nil {
			return err
		}
	}
	key := modelKey{class: n.Join.Class, family: family.Name, kubelet: s.Kubelet.Key()}
	for _, o := range overlays {
		key.overlays += o.Name + "\n"
	}
	m, ok := e.models[key]
	if !ok {
		m.model, m.err = expect.New(e.settings.Settings, expect.Class{NodeClass: s.Class, Kubelet: s.Kubelet, Family: family, Overlays: overlays})
		e.models[key] = m
	}
	if m.err != nil {
		return m.err
	}
	x, ok := e.expected[expectKey{m.model, s.Type.Name}]
	if !ok {
		x.expectation, x.err = m.model.Expect(s.Type)
		e.expected[expectKey{m.model, s.Type.Name}] = x
	}
	s.Model, s.Expect = m.model, x.expectation
	return x.err
}

// classify says why a node is not compared; an empty state means that it is.
func classify(n *snapshot.Node, claim *snapshot.NodeClaim) (State, string) {
	has := func(label string) bool { _, ok := n.Labels.Lookup(label); return ok }
	switch {
	case has(snapshot.LabelAutoModeClass) || n.Labels.Get(snapshot.LabelComputeType) == "auto":
		return Foreign, "EKS Auto Mode: its NodeClass is another kind, run by AWS"
	case !has(snapshot.LabelNodePool) && !has(snapshot.LabelProvisioner) && !has(snapshot.LabelNodeClass) && claim == nil:
		return Foreign, "not Karpenter's: none of the labels " + snapshot.LabelNodePool + ", " + snapshot.LabelProvisioner + ", " + snapshot.LabelNodeClass
	case n.Deleting:
		return Skipped, "being deleted"
	case n.Ready != "" && n.Ready != "True":
		return Skipped, "not ready: condition Ready is " + n.Ready
	case !initialized(n, claim):
		return Skipped, "not initialized: no label " + snapshot.LabelInitialized + "=true, so device plugins may not have registered yet"
	}
	return "", ""
}

// initialized is the label that Karpenter sets once every expected resource has registered. Where neither it nor the
// label registered is there, the node was labelled by hand or by a dump that dropped them: the claim decides, and
// without one the node is compared.
func initialized(n *snapshot.Node, claim *snapshot.NodeClaim) bool {
	if v, ok := n.Labels.Lookup(snapshot.LabelInitialized); ok {
		return v == "true"
	}
	if _, ok := n.Labels.Lookup(snapshot.LabelRegistered); ok {
		return false
	}
	return claim == nil || claim.Initialized == "" || claim.Initialized == "True"
}

// claimState says how the claim came by its memory: a prediction is a whole MiB, a kubelet's figure hardly ever is.
func claimState(s compare.Subject) ClaimState {
	if s.Claim == nil {
		return NoClaim
	}
	memory := s.Claim.Capacity.Get(expect.Memory)
	expected := s.Expect.Get(expect.Memory)
	switch {
	case !memory.Known:
		return NoClaim
	case memory.Value%(1<<20) != 0:
		return Discovered
	case expected != nil && expected.Capacity == memory:
		return Predicted
	}
	return OtherSettings
}

// tally collects assumptions, each text once, with the number of nodes.
type tally struct {
	order []string
	nodes map[string]int
}

func (t *tally) add(text string, nodes int) {
	if t.nodes == nil {
		t.nodes = map[string]int{}
	}
	if _, ok := t.nodes[text]; !ok {
		t.order = append(t.order, text)
	}
	t.nodes[text] += nodes
}

func (t *tally) list() []Assumption {
	out := make([]Assumption, len(t.order))
	for i, text := range t.order {
		out[i] = Assumption{text, t.nodes[text]}
	}
	sortAssumptions(out)
	return out
}

// sortAssumptions puts those about the whole cluster first, as they were found, then the others by text: shards of a
// run meet them in another order.
func sortAssumptions(all []Assumption) {
	slices.SortStableFunc(all, func(a, b Assumption) int {
		if a.Nodes == 0 || b.Nodes == 0 {
			return cmp.Compare(min(a.Nodes, 1), min(b.Nodes, 1))
		}
		return cmp.Compare(a.Text, b.Text)
	})
}
