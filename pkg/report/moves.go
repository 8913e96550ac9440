package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
)

// MovesJSON and ChangesJSON write the result of `compare` for scripts.
func MovesJSON(w io.Writer, m *gate.Moves) error { return indented(w, m) }

// ChangesJSON writes an array of changes.
func ChangesJSON(w io.Writer, c []gate.Change) error { return indented(w, c) }

func indented(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// Moves writes what moved between two runs, for a terminal of 80 columns: falls of capacity first, as they are what
// breaks pods.
func Moves(w io.Writer, m *gate.Moves, from, to string) error {
	t := &table{w: bufio.NewWriter(w), width: 80}
	head := fmt.Sprintf("%s to %s: nothing moved beyond the spread of its type", ascii(from), ascii(to))
	if len(m.Moves) > 0 {
		head = fmt.Sprintf("%s to %s: %s moved beyond the spread of its type", ascii(from), ascii(to), gate.Plural(len(m.Moves), "figure"))
	}
	t.paragraph(fmt.Sprintf("%s (%s compared)", head, gate.Plural(m.Compared, "instance type")))
	for i := 0; i < len(m.Moves); {
		first := m.Moves[i]
		end := i
		for end < len(m.Moves) && m.Moves[end].Resource == first.Resource && m.Moves[end].Measure == first.Measure {
			end++
		}
		t.line("")
		t.line(fmt.Sprintf("%s of %s", strings.ToUpper(string(first.Measure)[:1])+string(first.Measure)[1:], ascii(first.Resource)))
		t.moves(m.Moves[i:end])
		i = end
	}
	t.onlyOneSide("Gone", m.Vanished)
	t.onlyOneSide("New", m.New)
	return t.w.Flush()
}

// moves is the table of one figure.
func (t *table) moves(all []gate.Move) {
	rows := make([][]string, 0, len(all))
	for _, m := range all {
		rows = append(rows, []string{
			ascii(m.InstanceType), spread(m.Resource, m.From), spread(m.Resource, m.To), signed(m.Resource, m.Delta),
			fmt.Sprintf("%d, %d", m.FromNodes, m.ToNodes), ascii(m.AMIFamily),
		})
	}
	t.columns([]string{"TYPE", "FROM", "TO", "BEYOND BY", "NODES", "AMI"}, rows)
	if a, b := strings.Join(all[0].FromAMIs, ", "), strings.Join(all[0].ToAMIs, ", "); a != b && a != "" && b != "" {
		t.sub("image", visible(a)+" to "+visible(b))
	}
}

func spread(resource string, r gate.Range) string {
	if r.Min == r.Max {
		return amount(resource, r.Min)
	}
	return amount(resource, r.Min) + " … " + amount(resource, r.Max)
}

// onlyOneSide lists types that only one side has.
func (t *table) onlyOneSide(name string, types []string) {
	if len(types) == 0 {
		return
	}
	t.line("")
	t.item(name, "", some(types, 10, 400)+" (a changed mix of types is no finding)")
}

// Changes writes whose expectation an upgrade or migration changes, for a terminal of 80 columns: what would be
// over-estimated first.
func Changes(w io.Writer, all []gate.Change, what string) error {
	t := &table{w: bufio.NewWriter(w), width: 80}
	over, nodes := 0, 0
	for _, c := range all {
		over += c.OverEstimates
		nodes = max(nodes, c.Nodes)
	}
	switch {
	case len(all) == 0:
		t.paragraph(ascii(what) + " changes no expectation")
	default:
		t.paragraph(fmt.Sprintf("%s changes %s", ascii(what), gate.Plural(len(all), "expectation")))
	}
	rows := map[string][][]string{}
	var order []string
	for _, c := range all {
		key := c.Resource + " " + c.Field.String()
		if _, ok := rows[key]; !ok {
			order = append(order, key)
		}
		rows[key] = append(rows[key], changeRow(c))
	}
	for _, key := range order {
		t.line("")
		t.line(ascii(key))
		t.columns([]string{"TYPE", "FROM", "TO", "LEAST ACTUAL", "NODES", "CLASS"}, rows[key])
	}
	if over > 0 {
		t.line("")
		t.item("!", "", "more than the nodes have: such a row is an over-estimate after the change, on nodes that look like today's")
	}
	return t.w.Flush()
}

func changeRow(c gate.Change) []string {
	figure := func(v *int64) string {
		if v == nil {
			return "none"
		}
		return amount(c.Resource, *v)
	}
	to := figure(c.To)
	if c.OverEstimates > 0 {
		to = "! " + to
	}
	return []string{ascii(c.InstanceType), figure(c.From), to, figure(c.Least), fmt.Sprint(c.Nodes), ascii(c.NodeClass)}
}
