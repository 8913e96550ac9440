package gate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// Explanation is all that is known of why one node is as it is.
type Explanation struct {
	Cluster Cluster
	// Node is the verdict, as Evaluate gives it.
	Node Node
	// Facts, Settings, Claim and Class say in words what the calculation was fed with: the instance type's facts, the
	// kubelet settings of the class, how the claim came about, and whether the class is still the one of the launch. They
	// are empty for a node that is not Karpenter's.
	Facts, Settings, Claim, Class string
	// Derivations are the resources, expected and real, term by term; nil where nothing can be expected of the node.
	Derivations []compare.Derivation
}

// Explain derives everything about the named node. It fails where no snapshot has the node, or more than one has.
func Explain(snapshots []*snapshot.Snapshot, o Options, name string) (*Explanation, error) {
	var in *snapshot.Snapshot
	var node *snapshot.Node
	clusters, nodes := []string{}, 0
	for _, s := range snapshots {
		nodes += len(s.Nodes)
		for i := range s.Nodes {
			if s.Nodes[i].Name == name {
				in, node = s, &s.Nodes[i]
				clusters = append(clusters, strconv.Quote(s.Cluster))
			}
		}
	}
	switch len(clusters) {
	case 0:
		return nil, fmt.Errorf("no node %q among the %s of the input: the name is that of kubectl get nodes", name, Plural(nodes, "node"))
	case 1:
	default:
		return nil, fmt.Errorf("node %q is in the clusters %s: give one of them with --from", name, strings.Join(clusters, " and "))
	}
	e, err := newEvaluation(in, o)
	if err != nil {
		return nil, err
	}
	e.allowed = &allowlist{entries: slices.Clone(o.Allowlist), today: o.Today}
	e.baseline = o.Baseline.index()
	x := &Explanation{Cluster: clusterOf(in, e.settings), Node: e.node(node)}
	x.Cluster.Digest = in.Digest()
	x.Cluster.Assumptions = e.assumptions.list()
	_, s := e.classified(node)
	if x.Node.State == Foreign {
		return x, nil
	}
	x.Claim, x.Class = claimInWords(s), classInWords(s)
	x.Settings = settingsInWords(s.Kubelet)
	if s.Type != nil {
		x.Facts = factsInWords(s.Type)
	}
	if s.Expect != nil {
		rows := compare.Rows(s)
		for i := range rows {
			compare.Detail(s, &rows[i])
		}
		x.Derivations = compare.Derive(s, rows)
	}
	return x, nil
}

func factsInWords(t *snapshot.InstanceType) string {
	text := fmt.Sprintf("%s: %d vCPUs, %d MiB, %s, %s of %d IPv4 addresses", t.Name, t.VCPUs, t.MemoryMiB, strings.Join(t.Architectures, "+"), Plural(int(t.DefaultCardENIs), "network interface"), t.IPv4PerENI)
	if t.ENIs != t.DefaultCardENIs {
		text += fmt.Sprintf(" (%d on all cards)", t.ENIs)
	}
	if t.InstanceStoreGB != nil {
		text += fmt.Sprintf(", instance store of %dG", *t.InstanceStoreGB)
	}
	return text
}

func settingsInWords(k *snapshot.Kubelet) string {
	if k == nil {
		return "no kubelet settings"
	}
	var out []string
	for _, v := range []struct{ name, value string }{{"maxPods", string(k.MaxPods)}, {"podsPerCore", string(k.PodsPerCore)}, {"reservedSystemCPUs", k.ReservedSystemCPUs}} {
		if v.value != "" {
			out = append(out, v.name+": "+v.value)
		}
	}
	for _, m := range []struct {
		name   string
		values snapshot.Labels
	}{{"kubeReserved", k.KubeReserved}, {"systemReserved", k.SystemReserved}, {"evictionHard", k.EvictionHard}, {"evictionSoft", k.EvictionSoft}} {
		if len(m.values) == 0 {
			continue
		}
		entries := make([]string, len(m.values))
		for i, e := range m.values {
			entries[i] = e.Key + ": " + e.Value
		}
		out = append(out, m.name+": {"+strings.Join(entries, ", ")+"}")
	}
	if len(out) == 0 {
		return "no kubelet settings that move a figure"
	}
	return strings.Join(out, ", ")
}

// claimInWords says how the claim came by its memory (model §6).
func claimInWords(s compare.Subject) string {
	if s.Claim == nil {
		return "no NodeClaim in the input"
	}
	claimed := s.Claim.Capacity.Get(expect.Memory)
	if !claimed.Known {
		return s.Claim.Name + ": its status has no capacity, so what Karpenter believed at launch is not known"
	}
	text := s.Claim.Name + ": memory " + snapshot.FormatQuantity(expect.Memory, claimed.Value)
	if s.Expect == nil {
		return text
	}
	formula := ""
	if r := s.Expect.Get(expect.Memory); r != nil && r.Capacity.Known {
		formula = "; the formula gives " + snapshot.FormatQuantity(expect.Memory, r.Capacity.Value)
	}
	switch claimState(s) {
	case Predicted:
		return text + ", predicted by the formula at today's settings"
	case Discovered:
		return text + ", discovered on an earlier node of the type (no whole MiB)" + formula
	}
	text += ", made under other settings at launch" + formula
	if f, ok := compare.ClaimedOverhead(s); ok {
		text += ", an overhead of " + strconv.FormatFloat(f, 'f', -1, 64) + " the claim's"
	}
	return text
}

// classInWords says whether today's class is the one that the node was launched from.
func classInWords(s compare.Subject) string {
	if s.Class == nil {
		return "no NodeClass in the input: the family is told by the image, the disk is the family's default, no kubelet settings are known"
	}
	text := s.Class.Kind + " " + s.Class.Name
	atLaunch, today := s.Node.ClassHash, s.Class.Hash
	if s.Claim != nil {
		atLaunch = s.Claim.ClassHash
	}
	switch {
	case atLaunch.Value == "" || today.Value == "":
		return text + ": no hashes to tell whether it was edited after launch"
	case atLaunch.Version != today.Version:
		return text + ": hashes of different versions do not tell whether it was edited after launch"
	case s.Node.Join.Drifted:
		return text + ": edited after launch (hash " + atLaunch.Value + " at launch, " + today.Value + " today)"
	}
	return text + ": unchanged since launch"
}
