package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// Expected is what `expect` says of one instance type: an expectation, or why there is none.
type Expected struct {
	InstanceType string
	Expectation  *expect.Expectation
	Unknown      string
}

// ExpectationWriter prints expectations.
type ExpectationWriter func(io.Writer, expect.Resolved, []Expected) error

// FindExpectation returns the writer of a format; explain adds every calculation to the table.
func FindExpectation(format string, explain bool) (ExpectationWriter, error) {
	switch {
	case format == "table" && explain:
		return expectationExplained, nil
	case format == "table":
		return expectationTable, nil
	case explain:
		return nil, fmt.Errorf("--explain prints text: it goes with -o table, not with -o %s", format)
	case format == "json":
		return expectationJSON, nil
	case format == "csv":
		return expectationCSV, nil
	}
	return nil, fmt.Errorf("-o %q: it is table, json or csv", format)
}

// quantities is a map of Kubernetes quantities in a fixed order.
type quantities []struct{ name, text string }

func (q *quantities) add(name string, v int64) {
	*q = append(*q, struct{ name, text string }{name, snapshot.FormatQuantity(name, v)})
}

// MarshalJSON writes an object whose members keep the order of the expectation.
func (q quantities) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, e := range q {
		if i > 0 {
			b.WriteByte(',')
		}
		// a NodeOverlay can name a resource anything: Go's quoting is not JSON's
		name, err := json.Marshal(e.name)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteString(":" + strconv.Quote(e.text))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

type expectedJSON struct {
	InstanceType     string        `json:"instanceType"`
	Unknown          string        `json:"unknown,omitempty"`
	AMIFamily        string        `json:"amiFamily,omitempty"`
	KarpenterVersion string        `json:"karpenterVersion,omitempty"`
	Capacity         quantities    `json:"capacity,omitempty"`
	Overhead         *overheadJSON `json:"overhead,omitempty"`
	Allocatable      quantities    `json:"allocatable,omitempty"`
}

type overheadJSON struct {
	KubeReserved      quantities `json:"kubeReserved"`
	SystemReserved    quantities `json:"systemReserved"`
	EvictionThreshold quantities `json:"evictionThreshold"`
}

// expectationJSON prints an array; a type that cannot be computed is an element with its reason.
func expectationJSON(w io.Writer, settings expect.Resolved, all []Expected) error {
	out := make([]expectedJSON, 0, len(all))
	for _, e := range all {
		if e.Expectation == nil {
			out = append(out, expectedJSON{InstanceType: e.InstanceType, Unknown: e.Unknown})
			continue
		}
		item, err := toJSON(e.Expectation, settings)
		if err != nil {
			return err
		}
		out = append(out, item)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

func toJSON(e *expect.Expectation, settings expect.Resolved) (expectedJSON, error) {
	out := expectedJSON{
		InstanceType: e.InstanceType, AMIFamily: e.Family, KarpenterVersion: "v" + settings.Version.String(),
		Overhead: &overheadJSON{},
	}
	for i := range e.Resources {
		r := &e.Resources[i]
		// As in NodeClaim.status, what is zero is left out.
		if r.Capacity.Known && r.Capacity.Value != 0 {
			out.Capacity.add(r.Name, r.Capacity.Value)
		}
		if r.Allocatable.Known && r.Allocatable.Value != 0 {
			out.Allocatable.add(r.Name, r.Allocatable.Value)
		}
		for _, part := range []struct {
			into *quantities
			sum  expect.Sum
		}{{&out.Overhead.KubeReserved, r.KubeReserved}, {&out.Overhead.SystemReserved, r.SystemReserved}, {&out.Overhead.EvictionThreshold, r.Eviction}} {
			if len(part.sum) == 0 {
				continue
			}
			total, err := part.sum.Total()
			if err != nil {
				return out, err
			}
			*part.into = append(*part.into, struct{ name, text string }{r.Name, total.Format(r.Name)})
		}
	}
	return out, nil
}

// expectationColumns are the resources of the table and the CSV.
var expectationColumns = []string{expect.CPU, expect.Memory, expect.EphemeralStorage, expect.Pods}

// expectationCSV prints one row per type and resource, in base units.
func expectationCSV(w io.Writer, settings expect.Resolved, all []Expected) error {
	c := csv.NewWriter(w)
	if err := c.Write([]string{"instance_type", "ami_family", "karpenter_version", "resource", "capacity", "allocatable", "unknown"}); err != nil {
		return err
	}
	for _, e := range all {
		if e.Expectation == nil {
			if err := c.Write([]string{e.InstanceType, "", settings.Version.String(), "", "", "", e.Unknown}); err != nil {
				return err
			}
			continue
		}
		for _, r := range e.Expectation.Resources {
			if r.Unknown == "" && r.Capacity.Value == 0 && r.Allocatable.Value == 0 {
				continue
			}
			if err := c.Write([]string{e.InstanceType, e.Expectation.Family, settings.Version.String(), r.Name, figure(r.Capacity), figure(r.Allocatable), r.Unknown}); err != nil {
				return err
			}
		}
	}
	c.Flush()
	return c.Error()
}

func figure(f snapshot.Figure) string {
	if !f.Known {
		return ""
	}
	return strconv.FormatInt(f.Value, 10)
}

// expectationTable prints a line per type.
func expectationTable(w io.Writer, settings expect.Resolved, all []Expected) error {
	if err := expectationHeading(w, settings); err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "TYPE\tFAMILY\tCPU\tMEMORY\tSTORAGE\tPODS\tALLOCATABLE CPU\tMEMORY\tSTORAGE")
	for _, e := range all {
		if e.Expectation == nil {
			fmt.Fprintf(t, "%s\tunknown: %s\n", e.InstanceType, e.Unknown)
			continue
		}
		cells := []string{e.InstanceType, e.Expectation.Family}
		for _, name := range expectationColumns {
			cells = append(cells, quantity(name, e.Expectation.Get(name).Capacity))
		}
		for _, name := range expectationColumns[:3] {
			cells = append(cells, quantity(name, e.Expectation.Get(name).Allocatable))
		}
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	return t.Flush()
}

func expectationHeading(w io.Writer, s expect.Resolved) error {
	_, err := fmt.Fprintf(w, "Karpenter v%s, overhead %v, reserved ENIs %d\n", s.Version, s.OverheadPercent, s.ReservedENIs)
	return err
}

func quantity(name string, f snapshot.Figure) string {
	if !f.Known {
		return "?"
	}
	return snapshot.FormatQuantity(name, f.Value)
}

// expectationExplained prints every calculation.
func expectationExplained(w io.Writer, settings expect.Resolved, all []Expected) error {
	if err := expectationHeading(w, settings); err != nil {
		return err
	}
	var b strings.Builder
	for _, e := range all {
		if e.Expectation == nil {
			fmt.Fprintf(&b, "\n%s: unknown: %s\n", e.InstanceType, e.Unknown)
			continue
		}
		fmt.Fprintf(&b, "\n%s (%s)\n", e.InstanceType, e.Expectation.Family)
		for i := range e.Expectation.Resources {
			explainResource(&b, &e.Expectation.Resources[i])
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func explainResource(b *strings.Builder, r *expect.Resource) {
	if r.Unknown != "" {
		fmt.Fprintf(b, "  %s: unknown: %s\n", r.Name, r.Unknown)
		return
	}
	if r.Capacity.Value == 0 && r.Allocatable.Value == 0 {
		return
	}
	fmt.Fprintf(b, "  %s\n    capacity         %s\n", r.Name, r.CapacityTerms.Text(r.Name))
	for _, part := range []struct {
		name string
		sum  expect.Sum
	}{{"kube-reserved", r.KubeReserved}, {"system-reserved", r.SystemReserved}, {"eviction", r.Eviction}, {"huge pages", r.HugePages}} {
		if len(part.sum) > 0 {
			fmt.Fprintf(b, "    − %-15s %s\n", part.name, part.sum.Text(r.Name))
		}
	}
	fmt.Fprintf(b, "    allocatable      %s\n", quantity(r.Name, r.Allocatable))
}
