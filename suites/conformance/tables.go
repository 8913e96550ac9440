package conformance

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// Table is what Karpenter publishes for one release: the labels and the allocatable of every instance type that it knew,
// for its default family, without kubelet settings and block device mappings, at 0.075 and no reserved ENIs.
type Table struct {
	Path, Release string
	header        []string
	rows          [][]string
}

// Tables reads every karpenter-docs-VERSION.csv of a folder, oldest release first.
func Tables(folder string) ([]Table, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "karpenter-docs-*.csv"))
	if err != nil {
		return nil, err
	}
	var tables []Table
	for _, path := range paths {
		t, err := readTable(path)
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", path, err)
		}
		tables = append(tables, t)
	}
	slices.SortFunc(tables, func(a, b Table) int { return semver.Compare(a.Release, b.Release) })
	return tables, nil
}

func readTable(path string) (Table, error) {
	t := Table{Path: path, Release: strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "karpenter-docs-"), ".csv")}
	if !semver.IsValid(t.Release) {
		return t, errors.New("the name must be karpenter-docs-VERSION.csv, with a VERSION such as v1.14.0")
	}
	file, err := os.Open(path)
	if err != nil {
		return t, err
	}
	defer file.Close()
	records, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return t, err
	}
	if len(records) < 2 || records[0][0] != "instanceType" {
		return t, errors.New("want a header that starts with instanceType, and a row for each type")
	}
	t.header, t.rows = records[0], records[1:]
	return t, nil
}

// fact is something that AWS said otherwise on the day of a table. With it put back, the row must be equal in every column;
// without it, it must not be, else the entry is out of date.
type fact struct {
	release       string
	instanceTypes []string
	then          string
	putBack       func(*snapshot.InstanceType)
}

func defaultCardENIs(n int64) func(*snapshot.InstanceType) {
	return func(t *snapshot.InstanceType) { t.DefaultCardENIs = n }
}

func memoryMiB(n int64) func(*snapshot.InstanceType) {
	return func(t *snapshot.InstanceType) { t.MemoryMiB = n }
}

// facts are the only differences between the tables and what AWS says today that are tolerated.
var facts = []fact{
	{"v0.33.0", []string{
		"c6in.32xlarge", "c6in.metal", "m6in.32xlarge", "m6in.metal", "m6idn.32xlarge", "m6idn.metal",
		"r6in.32xlarge", "r6in.metal", "r6idn.32xlarge", "r6idn.metal",
	}, "7 interfaces on the default card, now 8", defaultCardENIs(7)},
	{"v0.33.0", []string{"h1.16xlarge"}, "15 interfaces, now 8", defaultCardENIs(15)},
	{"v0.33.0", []string{"r7gd.8xlarge"}, "196608 MiB, now 262144", memoryMiB(196608)},
	{"v0.33.0", []string{"r7gd.12xlarge"}, "262144 MiB, now 393216", memoryMiB(262144)},
}

// podENIRelease is the one release whose pod-eni can be compared: the limits that it comes from are compiled into each
// release, and pages and limits are generated on different days.
const podENIRelease = "v1.14.0"

// Published is the outcome of one table.
type Published struct {
	Release string
	// Rows are the instance types compared, Equal those without a difference in any column, Explained those that are equal
	// once a fact of the day is put back.
	Rows, Equal, Explained int
	// Facts are the facts put back, each with its types.
	Facts []string
	// Differences say which cells are not equal, and what is wrong with the list of facts.
	Differences []string
}

func (p Published) String() string {
	return fmt.Sprintf("%s: %d rows compared, %d equal, %d equal with the facts of the day, %d mismatches", p.Release, p.Rows, p.Equal, p.Explained, p.Rows-p.Equal-p.Explained)
}

// Compare recomputes every row of the table from the catalogue.
func (t Table) Compare(types []snapshot.InstanceType) (Published, error) {
	p := Published{Release: t.Release}
	model, err := t.model()
	if err != nil {
		return p, err
	}
	putBack := make([][]string, len(facts))
	for _, row := range t.rows {
		p.Rows++
		at, ok := slices.BinarySearchFunc(types, row[0], func(it snapshot.InstanceType, name string) int { return strings.Compare(it.Name, name) })
		if !ok {
			p.Differences = append(p.Differences, row[0]+": not in describe-instance-types")
			continue
		}
		it := types[at]
		today := t.differences(model, &it, row)
		explanation := slices.IndexFunc(facts, func(f fact) bool { return f.release == t.Release && slices.Contains(f.instanceTypes, it.Name) })
		switch {
		case explanation < 0 && len(today) == 0:
			p.Equal++
		case explanation < 0:
			p.Differences = append(p.Differences, today...)
		case len(today) == 0:
			p.Differences = append(p.Differences, it.Name+": equal as it is; remove it from the list of facts")
		default:
			f := facts[explanation]
			f.putBack(&it)
			if then := t.differences(model, &it, row); len(then) > 0 {
				p.Differences = append(p.Differences, then...)
				continue
			}
			p.Explained++
			putBack[explanation] = append(putBack[explanation], it.Name)
		}
	}
	for i, names := range putBack {
		if len(names) > 0 {
			p.Facts = append(p.Facts, facts[i].then+": "+strings.Join(names, " "))
		}
	}
	return p, nil
}

func (t Table) model() (*expect.Model, error) {
	version, err := expect.ParseVersion(t.Release)
	if err != nil {
		return nil, err
	}
	family := "AL2023"
	if semver.Compare(t.Release, "v0.35.0") < 0 { // the family came then
		family = "AL2"
	}
	settings := expect.Settings{Version: version, OverheadPercent: expect.DefaultOverheadPercent}
	return expect.New(settings, expect.Class{Family: expect.FamilyNamed(family, version)})
}

// differences compares one row in every column.
func (t Table) differences(model *expect.Model, it *snapshot.InstanceType, row []string) []string {
	e, err := model.Expect(it)
	if err != nil {
		return []string{fmt.Sprintf("%s: %v", it.Name, err)}
	}
	var found []string
	for i, column := range t.header[1:] {
		published := row[i+1]
		ours, compared, err := cell(column, t.Release, e, it)
		if err == nil && compared {
			published, err = canonical(column, published)
		}
		if err != nil {
			found = append(found, fmt.Sprintf("%s, %s: %v", it.Name, column, err))
		} else if compared && published != ours {
			found = append(found, fmt.Sprintf("%s, %s: Karpenter published %s, pkg/expect %s", it.Name, column, published, ours))
		}
	}
	return found
}

// cell is what we put into a column; false when the column cannot be compared at this release.
func cell(column, release string, e *expect.Expectation, it *snapshot.InstanceType) (string, bool, error) {
	switch column {
	case "label:kubernetes.io/arch":
		return architecture(it), true, nil
	case "label:karpenter.k8s.aws/instance-cpu":
		return fmt.Sprint(it.VCPUs), true, nil
	case "label:karpenter.k8s.aws/instance-memory":
		return fmt.Sprint(it.MemoryMiB), true, nil
	}
	name, ok := strings.CutPrefix(column, "allocatable:")
	if !ok {
		return "", false, errors.New("unknown column")
	}
	if name == expect.PodENI && release != podENIRelease {
		return "", false, nil
	}
	r := e.Get(name)
	if r == nil {
		return "0", true, nil // the release does not have the resource
	}
	if r.Unknown != "" {
		return "", false, errors.New(r.Unknown)
	}
	return fmt.Sprint(r.Allocatable.Value), true, nil
}

// architecture is the label kubernetes.io/arch: of the first architecture that Kubernetes has a word for.
func architecture(it *snapshot.InstanceType) string {
	for _, a := range it.Architectures {
		switch a {
		case "x86_64":
			return "amd64"
		case "arm64":
			return "arm64"
		}
	}
	return ""
}

// canonical is a published cell in the unit of ours: millicores for cpu, else bytes or a count; an empty one is zero.
func canonical(column, published string) (string, error) {
	name, ok := strings.CutPrefix(column, "allocatable:")
	if !ok {
		return published, nil
	}
	if published == "" {
		return "0", nil
	}
	q, err := resource.ParseQuantity(published)
	if err != nil {
		return "", fmt.Errorf("%q: %w", published, err)
	}
	if name == expect.CPU {
		return fmt.Sprint(q.MilliValue()), nil
	}
	return fmt.Sprint(q.Value()), nil
}
