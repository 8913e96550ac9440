package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

func runSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(RunSchema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("run.schema.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("run.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func validate(t *testing.T, schema *jsonschema.Schema, data []byte) error {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return schema.Validate(document)
}

func TestRunJSON(t *testing.T) {
	golden(t, "run.json", written(t, "json", exampleRun(t), Options{}))
	schema := runSchema(t)
	for name, run := range map[string]*gate.Run{
		"example": exampleRun(t), "clean": cleanRun(t), "empty": emptyRun(t), "hostile": hostileRun(t), "large": largeRun(t, 300),
	} {
		data := written(t, "json", run, Options{})
		if err := validate(t, schema, data); err != nil {
			t.Errorf("the %s run breaks its schema: %v", name, err)
		}
		back, err := ReadRun(bytes.NewReader(data))
		if err != nil {
			t.Errorf("reading the %s run back: %v", name, err)
			continue
		}
		if name == "hostile" { // one of its names is no UTF-8, which JSON cannot hold: once replaced, it is stable
			if again := written(t, "json", back, Options{}); !bytes.Equal(data, again) {
				t.Errorf("the hostile run changes when it is read back")
			}
			continue
		}
		if diff := cmp.Diff(run, back); diff != "" {
			t.Errorf("the %s run comes back changed (-written +read):\n%s", name, diff)
		}
	}
}

// TestReadRunRefuses: what is not a whole run of this version is refused, with a reason that helps.
func TestReadRunRefuses(t *testing.T) {
	whole := string(written(t, "json", exampleRun(t), Options{}))
	for _, c := range []struct{ name, data, reason string }{
		{"nothing", "", "ends in the middle"},
		{"an array", "[]", "no JSON object"},
		{"cut off", whole[:len(whole)/2], "ends in the middle"},
		{"two runs", whole + whole, "more after the run"},
		{"no head", "{}", "no apiVersion"},
		{"another version", strings.Replace(whole, "/v1alpha1", "/v9", 1), `"allocatable-diff/v9"`},
		{"a snapshot", strings.Replace(whole, `"Run"`, `"Snapshot"`, 1), `"Snapshot"`},
		{"a misspelt field", strings.Replace(whole, `"totals"`, `"total"`, 1), `unknown field "total"`},
		{"a misspelt field of a node", strings.Replace(whole, `"nodePool"`, `"nodepool"`, 1), "nodepool"},
		{"a misspelt field of a row", strings.Replace(whole, `"expected":3972005888`, `"excepted":1`, 1), "excepted"},
		{"an edited figure", strings.Replace(whole, `"expected":3972005888`, `"expected":1`, 1), "delta"},
		{"an unknown result", strings.Replace(whole, `"result":"fail"`, `"result":"passed"`, 1), `"passed"`},
		{"an unknown state", strings.Replace(whole, `"state":"judged"`, `"state":"ok"`, 1), `"ok"`},
		{"an unknown severity", strings.Replace(whole, `"severity":"fail"`, `"severity":"green"`, 1), "green"},
		{"an unknown status", strings.Replace(whole, `"status":"over-estimate"`, `"status":"fine"`, 1), "fine"},
		{"a null where a row should be", strings.Replace(whole, `"rows":[`, `"rows":[null,`, 1), "null"},
		{"a figure that is too large", strings.Replace(whole, `"expected":3972005888`, `"expected":1e30`, 1), "expected"},
	} {
		_, err := ReadRun(strings.NewReader(c.data))
		if err == nil || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%s: %v, want an error with %q", c.name, err, c.reason)
		}
	}
	if _, err := ReadRun(strings.NewReader(`{"apiVersion":"v1","kind":"List"}`)); !errors.Is(err, ErrNotRun) {
		t.Errorf("a kubectl dump: %v, want ErrNotRun", err)
	}
	if _, err := ReadRun(io.MultiReader(strings.NewReader(whole[:100]), errReader{})); !errors.Is(err, errFull) {
		t.Errorf("a disk error: %v", err)
	}
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errFull }

// TestSchemaNamesEveryField: the published schema and the types cannot drift apart, in either direction.
func TestSchemaNamesEveryField(t *testing.T) {
	type object struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	var schema struct {
		object
		Defs map[string]object `json:"$defs"`
	}
	if err := json.Unmarshal(RunSchema, &schema); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		object object
		value  any
	}{
		{schema.object, gate.Run{}},
		{schema.Defs["cluster"], gate.Cluster{}},
		{schema.Defs["finding"], gate.Finding{}},
		{schema.Defs["node"], gate.Node{}},
	} {
		typ := reflect.TypeOf(c.value)
		tags := map[string]bool{}
		for i := range typ.NumField() {
			name, options, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			if name == "-" {
				continue
			}
			tags[name] = true
			if _, ok := c.object.Properties[name]; !ok {
				t.Errorf("the schema lacks %s of %s", name, typ)
			}
			if required := strings.Contains(","+strings.Join(c.object.Required, ",")+",", ","+name+","); required == strings.Contains(options, "omitzero") {
				t.Errorf("%s of %s: required is %v in the schema, its options are %q", name, typ, required, options)
			}
		}
		for name := range c.object.Properties {
			if !tags[name] {
				t.Errorf("the schema has %q, which %s has not", name, typ)
			}
		}
	}
	full := &gate.Row{
		Row: compare.Row{
			Resource: "memory", Field: compare.Allocatable, Status: compare.OverEstimate, Expected: known(3), Claim: known(2), Actual: known(1), Reason: "r",
			Causes: []compare.Cause{{ID: "a", Part: -2, Evidence: "e", Remedy: "m"}},
		},
		Severity: gate.Warn, ClaimSeverity: gate.Fail, Allowed: "a",
		ClaimCauses: []compare.Cause{{ID: "a", Part: -1}},
	}
	run := &gate.Run{APIVersion: gate.APIVersion, Kind: gate.Kind, Result: gate.Passed, Nodes: []gate.Node{{Name: "n", State: gate.Judged, Rows: []*gate.Row{full}}}}
	var got struct {
		Nodes []struct {
			Rows []map[string]any `json:"rows"`
		} `json:"nodes"`
	}
	if err := json.Unmarshal(written(t, "json", run, Options{}), &got); err != nil {
		t.Fatal(err)
	}
	for name := range schema.Defs["row"].Properties {
		if _, ok := got.Nodes[0].Rows[0][name]; !ok {
			t.Errorf("a row with everything set has no %q, which the schema has", name)
		}
	}
	if len(got.Nodes[0].Rows[0]) != len(schema.Defs["row"].Properties) {
		t.Errorf("a row with everything set has %v", got.Nodes[0].Rows[0])
	}
}

// TestRunJSONExtremes: figures at the ends of int64 and absent ones come back as they were.
func TestRunJSONExtremes(t *testing.T) {
	var rows []*gate.Row
	for _, f := range []snapshot.Figure{{}, known(0), known(1<<63 - 1), known(-1 << 63)} {
		for _, g := range []snapshot.Figure{{}, known(0), known(1<<63 - 1), known(-1 << 63)} {
			rows = append(rows, &gate.Row{Row: compare.Row{Resource: "r", Expected: f, Actual: g, Claim: f}})
		}
	}
	run := &gate.Run{APIVersion: gate.APIVersion, Kind: gate.Kind, Result: gate.Passed, Nodes: []gate.Node{{Name: "n", State: gate.Judged, Rows: rows}}}
	back, err := ReadRun(bytes.NewReader(written(t, "json", run, Options{})))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(run, back); diff != "" {
		t.Error(diff)
	}
}

func FuzzReadRun(f *testing.F) {
	for _, seed := range []string{"", "{}", "[", `{"apiVersion":"allocatable-diff/v1alpha1","kind":"Run","result":"pass","totals":{},"nodes":[{"name":"a","state":"judged","rows":[{"resource":"cpu","field":"capacity","status":"match","delta":1}]}]}`} {
		f.Add([]byte(seed))
	}
	f.Add(written(f, "json", exampleRun(f), Options{}))
	f.Fuzz(func(t *testing.T, data []byte) {
		run, err := ReadRun(bytes.NewReader(data))
		if err != nil {
			return
		}
		for _, format := range Formats { // whatever is read can be written in every format
			if err := format.Write(io.Discard, run, Options{}); err != nil {
				t.Errorf("%s: %v", format.Name, err)
			}
		}
	})
}

func BenchmarkWriteJSON(b *testing.B) {
	run := largeRun(b, 10000)
	b.ResetTimer()
	for b.Loop() {
		if err := writeJSON(io.Discard, run, Options{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(written(b, "json", run, Options{}))), "bytes/run")
}

func BenchmarkReadRun(b *testing.B) {
	data := written(b, "json", largeRun(b, 10000), Options{})
	b.ReportAllocs()
	b.ResetTimer()
	for b.Loop() {
		if _, err := ReadRun(bytes.NewReader(data)); err != nil {
			b.Fatal(err)
		}
	}
}
