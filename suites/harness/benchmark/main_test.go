package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestMedian(t *testing.T) {
	for _, row := range []struct {
		name    string
		samples []float64
		want    float64
	}{
		{"one", []float64{3}, 3},
		{"odd, not in order", []float64{9, 1, 4}, 4},
		{"even", []float64{4, 1, 2, 9}, 3},
	} {
		if got := median(row.samples); got != row.want {
			t.Errorf("%s: %v, want %v", row.name, got, row.want)
		}
	}
}

// TestRatios: the ratio of a pair is that of two runs that followed each other, not of two medians.
func TestRatios(t *testing.T) {
	a := []usage{{wall: time.Second}, {wall: 8 * time.Second}}
	b := []usage{{wall: 2 * time.Second}, {wall: 4 * time.Second}}
	if got := ratios(a, b, seconds); got[0] != 0.5 || got[1] != 2 {
		t.Errorf("%v, want 0.5 and 2", got)
	}
}

// printedTable is a table of the rows, and whether every goal was reached.
func printedTable(t *testing.T, rows ...measured) (string, bool) {
	t.Helper()
	var out bytes.Buffer
	tab := table{out: &out}
	tab.head([]string{"5 pairs"})
	for _, m := range rows {
		tab.row(row{name: "dump", title: "check of 20,000 nodes as kubectl prints them, with csv, csv-wide, junit and json, against jq"}, m)
	}
	reached, err := tab.foot()
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), reached
}

func TestTable(t *testing.T) {
	good := measured{
		figures: []figure{
			{"wall, of jq's", []float64{0.3, 0.2, 0.4}, atMost(0.35), times},
			{"times faster", []float64{123.4}, atLeast(20), times},
			{"peak memory", []float64{399e6}, atMost(400e6), megabytes},
			{"allocatable-diff version", []float64{0.0123}, atMost(0.05), duration},
			{"make demo (built)", []float64{1.25}, atMost(2), duration},
			{"DescribeInstanceTypes", []float64{1}, atMost(1), count},
		},
		notes: []string{side("check", []usage{{time.Second, 1500 * time.Millisecond, 50e6}}) + " and so many more words that they do not fit a line"},
	}
	slow := measured{figures: []figure{{"wall, of jq's", []float64{0.36}, atMost(0.35), times}}}
	few := measured{figures: []figure{{"times faster", []float64{19.9}, atLeast(20), times}}}
	failed := measured{failed: errors.New("no snapshot\n")}
	lacking := measured{lacks: "jq is not installed here"}
	for _, row := range []struct {
		name, why string
		rows      []measured
		reached   bool
		says      []string
	}{
		{"all reached", "", []measured{good}, true, []string{
			"  wall, of jq's                   0.30×  0.20× … 0.40×           ≤ 0.35×  yes\n", "    123×  ", "≥ 20.0×  yes", "399 MB", "12 ms", "1.25 s", "peak 50 MB", "6 goals reached\n",
		}},
		{"too slow", "a missed goal fails the command", []measured{good, slow}, false, []string{"≤ 0.35×  NO\n", "1 of 7 goals missed: dump\n"}},
		{"not fast enough", "", []measured{few}, false, []string{"≥ 20.0×  NO\n", "1 of 1 goal missed: dump\n"}},
		{"lacking", "what cannot be measured here counts neither way", []measured{good, lacking}, true, []string{"  not measured: jq is not installed here\n", "\nnot measured: dump\n"}},
		{"nothing", "no figure is no success", []measured{lacking}, false, []string{"0 goals reached\n"}},
		{"failed", "the other rows are measured all the same", []measured{failed, good}, false, []string{"  failed: no snapshot\n", "\n6 goals reached\ncould not be measured: dump\n"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			text, reached := printedTable(t, row.rows...)
			if reached != row.reached {
				t.Errorf("reached %v, want %v: %s", reached, row.reached, row.why)
			}
			for _, want := range row.says {
				if !strings.Contains(text, want) {
					t.Errorf("it does not say %q:\n%s", want, text)
				}
			}
			for line := range strings.Lines(text) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
					t.Errorf("%d columns: %q", n, line)
				}
			}
		})
	}
}

func TestTableError(t *testing.T) {
	broken := errors.New("broken pipe")
	tab := table{out: failing{broken}}
	tab.head(nil)
	if _, err := tab.foot(); !errors.Is(err, broken) {
		t.Errorf("error %v, want the writer's", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// holding, in the environment, makes this program hold so many bytes for a moment and end with 1.
const holding = "BENCHMARK_TEST_HOLDS"

func TestMain(m *testing.M) {
	if n, err := strconv.Atoi(os.Getenv(holding)); err == nil {
		held := make([]byte, n)
		for i := 0; i < n; i += os.Getpagesize() {
			held[i] = 1
		}
		time.Sleep(100 * time.Millisecond)
		os.Exit(int(held[0]))
	}
	os.Exit(m.Run())
}

func TestUsage(t *testing.T) {
	const bytes = 150e6 // far more than this program has
	itself := command{program: os.Args[0], env: []string{holding + "=" + strconv.Itoa(bytes)}, codes: []int{1}}
	u, _, err := itself.run(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	if u.wall < 100*time.Millisecond || u.cpu <= 0 || u.peak < bytes || u.peak > 2*bytes {
		t.Errorf("%+v: it slept 100 ms and held %.0f MB", u, bytes/1e6)
	}
	itself.codes = nil
	if _, _, err := itself.run(t.Context(), false); err == nil {
		t.Error("an exit code of 1 passed for success")
	}
	_, out, err := command{program: "sh", args: []string{"-c", "echo $A"}, env: []string{"A=b"}}.run(t.Context(), true)
	if err != nil || out != "b\n" {
		t.Errorf("%q, %v: want what it printed in the environment given", out, err)
	}
	_, _, err = command{program: "sh", args: []string{"-c", "echo no such file >&2; exit 3"}}.run(t.Context(), false)
	if err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("error %v does not say what the process complained of", err)
	}
}

// TestSmall: the memory of this program is counted to what it starts, so it must stay as small as it is.
func TestSmall(t *testing.T) {
	_, out, err := command{program: "go", args: []string{"list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "."}}.run(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	if others := strings.Fields(out); len(others) != 1 {
		t.Errorf("it imports %v, want the standard library alone", others)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, stop)
	start := time.Now()
	if _, _, err := (command{program: "sleep", args: []string{"60"}}).run(ctx, false); err == nil || time.Since(start) > 30*time.Second {
		t.Errorf("error %v after %v: want it ended with the context", err, time.Since(start))
	}
}

func TestMetric(t *testing.T) {
	out := "BenchmarkCatalogue-2   	      25	  51704782 ns/op	     37658 ns/type	      1373 types\nPASS\n"
	if v, err := metric(out, "ns/type"); err != nil || v != 37658 {
		t.Errorf("%v, %v, want 37658", v, err)
	}
	if _, err := metric("PASS\n", "ns/type"); err == nil {
		t.Error("a benchmark that was skipped has no figure")
	}
}

func TestParse(t *testing.T) {
	for _, row := range []struct {
		args string
		ok   bool
	}{
		{"", true},
		{"-pairs 9 -seed 7 -rows dump|e2e -instance-type-data /data", true},
		{"-pairs 0", false},
		{"-rows (", false},
		{"-rows dump,e2e", false},
		{"-pairs many", false},
		{"dump", false},
	} {
		o, err := parse(strings.Fields(row.args))
		if (err == nil) != row.ok {
			t.Errorf("%q: %+v, %v", row.args, o, err)
		}
	}
	o, err := parse([]string{"-pairs", "9", "-rows", "dump|e2e"})
	if err != nil || o.pairs != 9 || o.seed != 1 || !o.rows.MatchString("e2e") || o.rows.MatchString("ec2") || o.root == "" {
		t.Errorf("%+v, %v", o, err)
	}
}

// TestStage: what is measured with is temporary, and a benchmark started elsewhere says where it belongs.
func TestStage(t *testing.T) {
	if _, err := newStage(t.Context(), options{root: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "top folder") {
		t.Errorf("error %v, want one that says where to run it", err)
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	s, err := newStage(t.Context(), options{root: root})
	if err != nil {
		t.Skip(err)
	}
	if err := s.clear(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(s.folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there: %v", s.folder, err)
	}
	for _, pair := range append(s.clean(), s.building()...) {
		if strings.HasPrefix(pair, "CLUSTER_NAME=") || strings.HasPrefix(pair, "MAKEFLAGS=") {
			t.Errorf("%s reaches what is measured", pair)
		}
	}
}
