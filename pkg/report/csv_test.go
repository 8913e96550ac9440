package report

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"strings"
	"testing"

	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
)

func TestCSVGolden(t *testing.T) {
	golden(t, "allocatable-diff.csv", written(t, "csv", exampleRun(t), Options{}))
	golden(t, "nodes.csv", written(t, "csv-wide", exampleRun(t), Options{}))
}

// TestCSVHeader: the two layouts differ in the one cell that Karpenter's tool leaves out.
func TestCSVHeader(t *testing.T) {
	const columns = ",Memory (Mi),CPU (m),Storage (Mi),Memory (Mi),CPU (m),Storage (Mi),Memory (Mi),CPU (m),Storage (Mi),Memory (Mi),CPU (m),Storage (Mi)\n"
	const groups = "Instance Type,Expected Capacity,,,Expected Allocatable,,,Actual Capacity,,,Actual Allocatable,"
	upstream := string(written(t, "csv", emptyRun(t), Options{UpstreamCSV: true}))
	if want := groups + "\n" + columns; upstream != want {
		t.Errorf("upstream header\n%q, want\n%q", upstream, want)
	}
	fixed := string(written(t, "csv", emptyRun(t), Options{}))
	if want := groups + ",\n" + columns; fixed != want {
		t.Errorf("fixed header\n%q, want\n%q", fixed, want)
	}
}

// TestCSVRows: every Karpenter node is a row, judged or not, sorted by type, then name; foreign nodes are none.
func TestCSVRows(t *testing.T) {
	run := exampleRun(t)
	records := readCSV(t, written(t, "csv", run, Options{}))
	if len(records) != 2+run.Totals.Karpenter {
		t.Errorf("%d records for %d Karpenter nodes", len(records), run.Totals.Karpenter)
	}
	types := ""
	for _, r := range records[2:] {
		if len(r) != 13 {
			t.Errorf("a row of %d cells: %q", len(r), r)
		}
		types += r[0] + " "
	}
	if want := "c7a.large c7a.large c7a.large g5.xlarge m5.16xlarge m5.16xlarge m5.large m5.large m5.large m6g.large x9.large "; types != want {
		t.Errorf("types in order %q, want %q", types, want)
	}
	if last := records[len(records)-1]; strings.Join(last[1:7], "") != "" || last[7] != "7704" {
		t.Errorf("a node of unknown type is %q: want empty expected cells and actual figures", last) // 7889152 / 1024
	}
}

// TestCSVTruncates: Mi are truncated toward zero on both sides of it, and what is not known is empty, not zero.
func TestCSVTruncates(t *testing.T) {
	for _, c := range []struct {
		bytes int64
		mi    string
	}{{mi - 1, "0"}, {mi, "1"}, {2*mi - 1, "1"}, {-1, "0"}, {-mi, "-1"}, {-2*mi + 1, "-1"}} {
		n := gate.Node{State: gate.Judged, InstanceType: "m5.large", Rows: []*gate.Row{
			{Row: compare.Row{Resource: expect.Memory, Field: compare.Capacity, Expected: known(c.bytes)}},
			{Row: compare.Row{Resource: expect.CPU, Field: compare.Allocatable, Actual: known(1930)}},
		}}
		want := []string{"m5.large", c.mi, "", "", "", "", "", "", "", "", "", "1930", ""}
		if got := csvCells(&n); strings.Join(got, ",") != strings.Join(want, ",") {
			t.Errorf("%d bytes: %q, want %q", c.bytes, got, want)
		}
	}
}

func TestWideCSV(t *testing.T) {
	run := exampleRun(t)
	records := readCSV(t, written(t, "csv-wide", run, Options{}))
	if got := strings.Join(records[0], ","); got != "cluster,node,nodepool,nodeclass,instance_type,arch,ami_family,karpenter_version,resource,field,expected,claim,actual,delta,status,cause,reason" {
		t.Errorf("header %s", got)
	}
	rows := 0
	nodes := map[string]bool{}
	for i := range run.Nodes {
		rows += len(run.Nodes[i].Rows)
	}
	if len(records) != 1+rows {
		t.Errorf("%d records for %d rows", len(records), rows)
	}
	for _, r := range records[1:] {
		nodes[r[1]] = true
		if r[10] != "" && r[12] != "" {
			expected, _ := strconv.ParseInt(r[10], 10, 64)
			actual, _ := strconv.ParseInt(r[12], 10, 64)
			if delta, err := strconv.ParseInt(r[13], 10, 64); err != nil || delta != actual-expected {
				t.Errorf("delta %q of %q (%v)", r[13], r, err)
			}
		}
		if strings.HasSuffix(r[1], "6-3.eu-west-1.compute.internal") && (r[10] != "" || r[14] != "skipped") {
			t.Errorf("a node of EKS Auto Mode is %q: want skipped and no expected figure", r)
		}
	}
	if len(nodes) != len(run.Nodes) {
		t.Errorf("%d of %d nodes have rows", len(nodes), len(run.Nodes))
	}
}

func TestCell(t *testing.T) {
	for _, c := range []struct{ in, out, why string }{
		{"m5.large", "m5.large", "an ordinary text stays as it is"},
		{"=cmd()", "'=cmd()", "a formula"},
		{"+1", "'+1", "a formula"},
		{"-1", "'-1", "a formula"},
		{"@SUM(A1)", "'@SUM(A1)", "a formula"},
		{"\t=1", "'\t=1", "a spreadsheet skips the tab"},
		{"\r=1", "'\r=1", "a spreadsheet skips the return"},
		{"＝1", "'＝1", "the wide sign starts a formula where Japanese is set"},
		{"a=1", "a=1", "in the middle it is harmless"},
		{"a\x00b\x1b[31m", "a\uFFFDb\uFFFD[31m", "what a reader or terminal stumbles over"},
		{"bad\xff", "bad\uFFFD", "no UTF-8"},
		{"", "", "nothing"},
	} {
		if got := cell(c.in); got != c.out {
			t.Errorf("cell(%q) = %q, want %q: %s", c.in, got, c.out, c.why)
		}
	}
}

func TestCSVHostile(t *testing.T) {
	for _, name := range []string{"csv", "csv-wide"} {
		for _, r := range readCSV(t, written(t, name, hostileRun(t), Options{})) {
			for i, c := range r {
				number := false
				if _, err := strconv.ParseInt(c, 10, 64); err == nil {
					number = name == "csv" || i >= 10 && i <= 13
				}
				if c != "" && strings.ContainsRune("=+-@\t\r", rune(c[0])) && !number {
					t.Errorf("%s: the cell %q would be read as a formula", name, c)
				}
				if strings.ContainsAny(c, "\x00\x1b\u202e") {
					t.Errorf("%s: the cell %q holds a control character", name, c)
				}
			}
		}
	}
}

func readCSV(t *testing.T, data []byte) [][]string {
	t.Helper()
	records, err := csv.NewReader(bytes.NewReader(data)).ReadAll() // refuses rows of another length
	if err != nil {
		t.Fatal(err)
	}
	return records
}
