package report

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// wideColumns is the header of nodes.csv. Figures are integers in base units: bytes, millicores of cpu, else counts.
var wideColumns = []string{
	"cluster", "node", "nodepool", "nodeclass", "instance_type", "arch", "ami_family", "karpenter_version",
	"resource", "field", "expected", "claim", "actual", "delta", "status", "cause", "reason",
}

// writeWideCSV writes one row per node × resource × field, every node of the cluster included: those that are not
// Karpenter's have the status skipped and no expected figures.
func writeWideCSV(w io.Writer, run *gate.Run, _ Options) error {
	out := csv.NewWriter(w)
	out.Write(wideColumns)
	cells := make([]string, len(wideColumns))
	for i := range run.Nodes {
		n := &run.Nodes[i]
		for j, s := range []string{n.Cluster, n.Name, n.NodePool, n.NodeClass, n.InstanceType, n.Arch, n.AMIFamily, n.KarpenterVersion} {
			cells[j] = cell(s)
		}
		for _, r := range n.Rows {
			delta := r.Delta()
			cause := ""
			if main := compare.Main(r.Causes, delta.Value); main != nil {
				cause = main.ID
			}
			for k, s := range []string{
				cell(r.Resource), r.Field.String(), integer(r.Expected), integer(r.Claim), integer(r.Actual), integer(delta),
				r.Status.String(), cell(cause), cell(reason(n, r)),
			} {
				cells[8+k] = s
			}
			out.Write(cells)
		}
	}
	out.Flush()
	return out.Error()
}

func integer(f snapshot.Figure) string {
	if !f.Known {
		return ""
	}
	return strconv.FormatInt(f.Value, 10)
}

// reason is why the row is as it is: the node's, where the node was not judged; else its own, and the allowlist's.
func reason(n *gate.Node, r *gate.Row) string {
	text := join("; ", n.Reason, r.Reason)
	if r.Allowed != "" {
		text = join("; ", text, "allowed: "+r.Allowed)
	}
	return text
}

// join puts sep between the texts that are not empty.
func join(sep string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(t string) bool { return t == "" }), sep)
}
