package report

import (
	"cmp"
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// The two header rows of Karpenter's hack/tools/allocatable_diff. The first names the groups; upstream it has one cell
// less than the rows below it, which strict readers refuse.
var (
	csvGroups  = []string{"Instance Type", "Expected Capacity", "", "", "Expected Allocatable", "", "", "Actual Capacity", "", "", "Actual Allocatable", "", ""}
	csvColumns = []string{"", "Memory (Mi)", "CPU (m)", "Storage (Mi)", "Memory (Mi)", "CPU (m)", "Storage (Mi)", "Memory (Mi)", "CPU (m)", "Storage (Mi)", "Memory (Mi)", "CPU (m)", "Storage (Mi)"}
)

// csvResources are the resources of a group of three cells, and what a cell counts.
var csvResources = []struct {
	name string
	unit int64
}{
	{expect.Memory, 1 << 20},
	{expect.CPU, 1},
	{expect.EphemeralStorage, 1 << 20},
}

// writeCSV writes one row of 13 cells per Karpenter node, judged or not, in the order of type, then node name. Memory
// and storage are whole Mi, truncated toward zero; cpu is in millicores. What is not known is an empty cell.
func writeCSV(w io.Writer, run *gate.Run, o Options) error {
	out := csv.NewWriter(w)
	groups := csvGroups
	if o.UpstreamCSV {
		groups = csvGroups[:len(csvGroups)-1]
	}
	out.Write(groups)
	out.Write(csvColumns)
	nodes := make([]*gate.Node, 0, len(run.Nodes))
	for i := range run.Nodes {
		if run.Nodes[i].State != gate.Foreign {
			nodes = append(nodes, &run.Nodes[i])
		}
	}
	slices.SortStableFunc(nodes, func(a, b *gate.Node) int {
		return cmp.Or(cmp.Compare(a.InstanceType, b.InstanceType), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Cluster, b.Cluster))
	})
	for _, n := range nodes {
		out.Write(csvCells(n))
	}
	out.Flush()
	return out.Error()
}

func csvCells(n *gate.Node) []string {
	cells := make([]string, 1, len(csvColumns))
	cells[0] = cell(n.InstanceType)
	for _, of := range []func(*gate.Row) snapshot.Figure{expectedFigure, actualFigure} {
		for _, field := range []compare.Field{compare.Capacity, compare.Allocatable} {
			for _, r := range csvResources {
				text := ""
				if row := find(n, r.name, field); row != nil {
					if f := of(row); f.Known {
						text = strconv.FormatInt(f.Value/r.unit, 10)
					}
				}
				cells = append(cells, text)
			}
		}
	}
	return cells
}

func expectedFigure(r *gate.Row) snapshot.Figure { return r.Expected }
func actualFigure(r *gate.Row) snapshot.Figure   { return r.Actual }

// find returns the row of a node; nil where it has none.
func find(n *gate.Node, resource string, field compare.Field) *gate.Row {
	for _, r := range n.Rows {
		if r.Resource == resource && r.Field == field {
			return r
		}
	}
	return nil
}

// cell makes a text harmless in a spreadsheet: one that would be read as a formula gets an apostrophe in front, which a
// spreadsheet shows as text. The wide forms of = + - @ start a formula where Japanese is set. What a CSV reader
// stumbles over (NUL, escape characters, broken UTF-8) is replaced.
func cell(s string) string {
	if s == "" || clean(s) && !strings.ContainsRune("=+-@", rune(s[0])) {
		return s
	}
	first, _ := utf8.DecodeRuneInString(s)
	s = strings.Map(func(r rune) rune {
		if r != '\t' && r != '\n' && r != '\r' && invisible(r) {
			return utf8.RuneError
		}
		return r
	}, s)
	if strings.ContainsRune("=+-@\t\r\n＝＋－＠", first) {
		return "'" + s
	}
	return s
}
