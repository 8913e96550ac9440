package report

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
)

// contract is reports/README.md, by section: the cells of its tables, without their headers, and its text.
func contract(t *testing.T) (tables map[string][][]string, text map[string]string) {
	t.Helper()
	data, err := os.ReadFile("../../reports/README.md")
	if err != nil {
		t.Fatal(err)
	}
	tables, text = map[string][][]string{}, map[string]string{}
	for _, section := range strings.Split(string(data), "\n## ")[1:] {
		title, body, _ := strings.Cut(section, "\n")
		text[title] = body
		ruled := false
		for _, line := range strings.Split(body, "\n") {
			if strings.HasPrefix(line, "|---") {
				ruled = true
				continue
			}
			if !strings.HasPrefix(line, "|") {
				ruled = false
				continue
			}
			if ruled {
				var cells []string
				for _, c := range strings.Split(strings.Trim(line, "|"), "|") {
					cells = append(cells, strings.Trim(strings.TrimSpace(c), "`"))
				}
				tables[title] = append(tables[title], cells)
			}
		}
	}
	return tables, text
}

// TestContract: what reports/README.md promises is what the code writes, in the same order.
func TestContract(t *testing.T) {
	tables, text := contract(t)

	var formats [][]string
	for _, f := range Formats {
		formats = append(formats, []string{f.Name, f.File})
	}
	if got := columnsOf(tables["Formats"], 2); fmt.Sprint(got) != fmt.Sprint(formats) {
		t.Errorf("formats %v, want %v", got, formats)
	}

	group := ""
	var narrow [][]string
	for i := range csvColumns {
		if csvGroups[i] != "" {
			group = csvGroups[i]
		}
		narrow = append(narrow, []string{fmt.Sprint(i + 1), group, csvColumns[i]})
	}
	if got := tables["allocatable-diff.csv"]; fmt.Sprint(got) != fmt.Sprint(narrow) {
		t.Errorf("columns of allocatable-diff.csv\n%v, want\n%v", got, narrow)
	}

	var wide []string
	for _, row := range tables["nodes.csv"] {
		wide = append(wide, row[0])
	}
	if !slices.Equal(wide, wideColumns) {
		t.Errorf("columns of nodes.csv %q, want %q", wide, wideColumns)
	}

	var statuses []string
	for s := compare.Match; s <= compare.Skipped; s++ {
		statuses = append(statuses, s.String())
	}
	var described []string
	for _, row := range tables["Words"] {
		described = append(described, row[0])
	}
	if !slices.Equal(described, statuses) {
		t.Errorf("statuses %q, want %q", described, statuses)
	}
	for s := gate.Pass; s <= gate.Fail; s++ {
		if !strings.Contains(text["Words"], "`"+s.String()+"`") {
			t.Errorf("the severity %s is not named", s)
		}
	}

	for _, want := range []string{gate.APIVersion, "`" + gate.Kind + "`"} {
		if !strings.Contains(text["run.json"], want) {
			t.Errorf("the section on run.json does not name %s", want)
		}
	}
}

func columnsOf(rows [][]string, n int) [][]string {
	var out [][]string
	for _, r := range rows {
		out = append(out, r[:min(n, len(r))])
	}
	return out
}

// TestContractMetrics: every metric is in the contract with its labels, and no other.
func TestContractMetrics(t *testing.T) {
	tables, _ := contract(t)
	promised := map[string][]string{}
	for _, row := range tables["metrics.prom"] {
		labels := regexp.MustCompile("[a-z_]+").FindAllString(strings.ReplaceAll(row[1], "(no cluster)", ""), -1)
		if !strings.Contains(row[1], "(no cluster)") {
			labels = append(labels, "cluster")
		}
		slices.Sort(labels)
		promised[row[0]] = labels
	}
	p := expfmt.NewTextParser(model.LegacyValidation)
	families, err := p.TextToMetricFamilies(bytes.NewReader(written(t, "prometheus", exampleRun(t), Options{MetricsPerNode: true})))
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range families {
		var labels []string
		for _, l := range f.GetMetric()[0].GetLabel() {
			labels = append(labels, l.GetName())
		}
		slices.Sort(labels)
		if !slices.Equal(promised[name], labels) {
			t.Errorf("%s has the labels %q, the contract says %q", name, labels, promised[name])
		}
		delete(promised, name)
	}
	for name := range promised {
		t.Errorf("the contract promises %s, which is not written", name)
	}
}

// TestContractGitHubOutput: every result is named.
func TestContractGitHubOutput(t *testing.T) {
	_, text := contract(t)
	var b bytes.Buffer
	if err := GitHubOutput(&b, exampleRun(t)); err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`(?m)^([a-z-]+)(?:=|<<)`).FindAllStringSubmatch(b.String(), -1)
	if len(names) != 12 {
		t.Errorf("%d results", len(names))
	}
	for _, n := range names {
		if !strings.Contains(text["GITHUB_OUTPUT"], "`"+n[1]+"`") {
			t.Errorf("the result %s is not named", n[1])
		}
	}
}
