package report

import (
	"io"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// The labels of what is counted by groups of like nodes, and, by choice, of each node.
var (
	groupLabels = []string{"cluster", "nodepool", "instance_type", "ami_family"}
	nodeLabels  = []string{"cluster", "node", "nodepool", "instance_type"}
)

// metrics is every metric of a run.
type metrics struct {
	info, overhead, reservedENIs, result, findings, foreign *prometheus.GaugeVec
	nodes, over, under, missing, hidden                     *prometheus.GaugeVec
	leastBytes, mostBytes, leastRatio, mostRatio            *prometheus.GaugeVec
	nodeBytes, nodeRatio                                    *prometheus.GaugeVec
	// What is counted by groups is counted here first: to find a series by its labels takes longer than to judge a row.
	groups    map[group]*groupCount
	resources map[groupResource]*resourceCount
}

// group is like nodes: the values of groupLabels.
type group struct{ cluster, pool, typ, family string }

func (g group) labels(more ...string) []string {
	return append([]string{g.cluster, g.pool, g.typ, g.family}, more...)
}

type groupResource struct {
	group
	resource string
}

// groupCount is the nodes of a group by verdict, and whether any of them was judged.
type groupCount struct {
	verdicts map[string]float64
	judged   bool
	hidden   float64
}

// resourceCount is what the judged nodes of a group show of one resource.
type resourceCount struct {
	over, under, missing float64
	bytes, ratio         extremes
}

// extremes are the smallest and the largest of what was added.
type extremes struct {
	least, most float64
	known       bool
}

func (e *extremes) add(v float64) {
	if !e.known {
		*e = extremes{v, v, true}
	}
	e.least, e.most = min(e.least, v), max(e.most, v)
}

func newMetrics(registry *prometheus.Registry) *metrics {
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "allocatable_diff", Name: name, Help: help}, labels)
		registry.MustRegister(g) //nolint:forbidigo // fails only on two metrics of one name
		return g
	}
	extreme := func(name, help string) *prometheus.GaugeVec {
		return gauge(name, help, append(groupLabels, "resource")...)
	}
	return &metrics{
		groups: map[group]*groupCount{}, resources: map[groupResource]*resourceCount{},
		result:       gauge("run_result", "1 for the result of the run (pass, fail or inconclusive), 0 for the others.", "result"),
		info:         gauge("cluster_info", "1; the labels say which release of Karpenter judged, and where the facts of the instance types come from.", "cluster", "karpenter_version", "instance_types_from"),
		overhead:     gauge("vm_memory_overhead_ratio", "The vmMemoryOverheadPercent that judged, a fraction of the memory of an instance.", "cluster"),
		reservedENIs: gauge("reserved_enis", "The reserved network interfaces that judged.", "cluster"),
		findings:     gauge("findings", "Findings, equal ones of one instance type, NodeClass and AMI counted once.", "cluster", "severity"),
		foreign:      gauge("foreign_nodes", "Nodes of EKS Auto Mode, and nodes that are not of Karpenter.", "cluster"),
		nodes:        gauge("nodes", "Nodes of Karpenter by verdict: pass, warn, fail, unknown (could not be judged) or skipped (not compared).", append(groupLabels, "verdict")...),
		over:         gauge("over_estimated_nodes", "Judged nodes of which more is expected than they have, beyond the tolerance: pods that Karpenter places may not fit.", append(groupLabels, "resource")...),
		under:        gauge("under_estimated_nodes", "Judged nodes that have more than is expected of them, beyond the tolerance: the difference is not used.", append(groupLabels, "resource")...),
		missing:      gauge("missing_resource_nodes", "Judged nodes that lack a resource which is expected of them.", append(groupLabels, "resource")...),
		hidden:       gauge("hidden_memory_bytes", "Allocatable memory that judged nodes have and are not expected to have, summed.", groupLabels...),
		leastBytes:   extreme("delta_min_bytes", "The least of actual minus expected allocatable among the judged nodes; negative where more is expected than is there."),
		mostBytes:    extreme("delta_max_bytes", "The most of actual minus expected allocatable among the judged nodes."),
		leastRatio:   extreme("delta_min_ratio", "The least of actual minus expected allocatable, as a share of the expected; negative where more is expected than is there."),
		mostRatio:    extreme("delta_max_ratio", "The most of actual minus expected allocatable, as a share of the expected."),
		nodeBytes:    gauge("node_delta_bytes", "Actual minus expected allocatable of a judged node.", append(nodeLabels, "resource")...),
		nodeRatio:    gauge("node_delta_ratio", "Actual minus expected allocatable of a judged node, as a share of the expected.", append(nodeLabels, "resource")...),
	}
}

// writeMetrics writes OpenMetrics, which node_exporter's textfile collector reads as well: it holds gauges only, no
// timestamps, and the lines that the older text format does not know (# EOF) are comments in it. By default there is a
// series per cluster, NodePool, instance type, AMI family and resource; Options.MetricsPerNode adds those of each node.
func writeMetrics(w io.Writer, run *gate.Run, o Options) error {
	registry := prometheus.NewRegistry()
	m := newMetrics(registry)
	m.run(run)
	for i := range run.Nodes {
		m.node(&run.Nodes[i], o.MetricsPerNode)
	}
	m.setGroups()
	families, err := registry.Gather()
	if err != nil {
		return err
	}
	e := expfmt.NewEncoder(w, expfmt.NewFormat(expfmt.TypeOpenMetrics))
	for _, f := range families {
		if err := e.Encode(f); err != nil {
			return err
		}
	}
	_, err = expfmt.FinalizeOpenMetrics(w)
	return err
}

func (m *metrics) run(run *gate.Run) {
	for _, r := range []gate.Result{gate.Passed, gate.Failed, gate.Inconclusive} {
		g := m.result.WithLabelValues(string(r))
		if r == run.Result {
			g.Set(1)
		}
	}
	for i := range run.Clusters {
		c := &run.Clusters[i]
		name := visible(c.Name)
		m.info.WithLabelValues(name, visible(c.Karpenter), visible(c.InstanceTypesFrom)).Set(1)
		m.overhead.WithLabelValues(name).Set(c.OverheadPercent)
		m.reservedENIs.WithLabelValues(name).Set(float64(c.ReservedENIs))
		m.foreign.WithLabelValues(name)
		for _, s := range []gate.Severity{gate.Warn, gate.Fail} { // 0, not absent, so that an alert can tell "none" from "not run"
			m.findings.WithLabelValues(name, s.String())
		}
	}
	for i := range run.Findings {
		if f := &run.Findings[i]; f.Severity > gate.Info {
			m.findings.WithLabelValues(visible(f.Cluster), f.Severity.String()).Inc()
		}
	}
}

func (m *metrics) node(n *gate.Node, perNode bool) {
	in := group{visible(n.Cluster), visible(n.NodePool), visible(n.InstanceType), visible(n.AMIFamily)}
	if n.State == gate.Foreign {
		m.foreign.WithLabelValues(in.cluster).Inc()
		return
	}
	count := m.groups[in]
	if count == nil {
		count = &groupCount{verdicts: map[string]float64{}}
		m.groups[in] = count
	}
	count.verdicts[verdictOf(n)]++
	if n.State != gate.Judged {
		return
	}
	count.judged = true
	for _, r := range n.Rows {
		if r.Field == compare.Allocatable && r.Expected.Known {
			count.hidden += m.row(in, n, r, perNode)
		}
	}
}

// row counts a judged row, and returns the memory that it hides.
func (m *metrics) row(in group, n *gate.Node, r *gate.Row, perNode bool) (hidden float64) {
	key := groupResource{in, visible(r.Resource)}
	count := m.resources[key]
	if count == nil {
		count = &resourceCount{}
		m.resources[key] = count
	}
	switch r.Status {
	case compare.OverEstimate:
		count.over++
	case compare.UnderEstimate:
		count.under++
	case compare.Missing:
		count.missing++
	}
	delta := r.Delta()
	if !delta.Known {
		return 0
	}
	d := float64(delta.Value)
	inBytes, ratio := snapshot.InBytes(r.Resource), d/float64(r.Expected.Value)
	if inBytes {
		count.bytes.add(d)
	}
	if r.Expected.Value != 0 {
		count.ratio.add(ratio)
	}
	if perNode {
		node := []string{in.cluster, visible(n.Name), in.pool, in.typ, key.resource}
		if inBytes {
			m.nodeBytes.WithLabelValues(node...).Set(d)
		}
		if r.Expected.Value != 0 {
			m.nodeRatio.WithLabelValues(node...).Set(ratio)
		}
	}
	if r.Resource == expect.Memory && d > 0 {
		return d
	}
	return 0
}

// setGroups makes series of what was counted. The registry puts them in order.
func (m *metrics) setGroups() {
	for in, count := range m.groups {
		for verdict, nodes := range count.verdicts {
			m.nodes.WithLabelValues(in.labels(verdict)...).Set(nodes)
		}
		if count.judged {
			m.hidden.WithLabelValues(in.labels()...).Set(count.hidden)
		}
	}
	for in, count := range m.resources {
		labels := in.labels(in.resource)
		m.over.WithLabelValues(labels...).Set(count.over)
		m.under.WithLabelValues(labels...).Set(count.under)
		m.missing.WithLabelValues(labels...).Set(count.missing)
		if count.bytes.known {
			m.leastBytes.WithLabelValues(labels...).Set(count.bytes.least)
			m.mostBytes.WithLabelValues(labels...).Set(count.bytes.most)
		}
		if count.ratio.known {
			m.leastRatio.WithLabelValues(labels...).Set(count.ratio.least)
			m.mostRatio.WithLabelValues(labels...).Set(count.ratio.most)
		}
	}
}

// verdictOf is a Karpenter node in one word. A pass with information is a pass.
func verdictOf(n *gate.Node) string {
	switch {
	case n.State != gate.Judged:
		return string(n.State)
	case n.Severity <= gate.Info:
		return gate.Pass.String()
	}
	return n.Severity.String()
}
