package report

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
)

func TestMetricsGolden(t *testing.T) {
	golden(t, "metrics.prom", written(t, "prometheus", exampleRun(t), Options{}))
	golden(t, "metrics-per-node.prom", written(t, "prometheus", exampleRun(t), Options{MetricsPerNode: true}))
}

// parsed reads the metrics as node_exporter's textfile collector does.
func parsed(t *testing.T, data []byte) map[string]*dto.MetricFamily {
	t.Helper()
	p := expfmt.NewTextParser(model.LegacyValidation)
	families, err := p.TextToMetricFamilies(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return families
}

func TestMetricsReaders(t *testing.T) {
	for name, run := range map[string]*gate.Run{
		"example": exampleRun(t), "clean": cleanRun(t), "empty": emptyRun(t), "hostile": hostileRun(t), "large": largeRun(t, 300),
	} {
		for _, perNode := range []bool{false, true} {
			data := written(t, "prometheus", run, Options{MetricsPerNode: perNode})
			if !bytes.HasSuffix(data, []byte("\n# EOF\n")) {
				t.Errorf("%s: OpenMetrics ends in # EOF", name)
			}
			problems, err := promlint.New(bytes.NewReader(data)).Lint()
			if err != nil || len(problems) > 0 {
				t.Errorf("%s: promlint says %v %v", name, problems, err)
			}
			for _, f := range parsed(t, data) {
				if f.GetHelp() == "" || f.GetType() != dto.MetricType_GAUGE {
					t.Errorf("%s: %s is of type %s, its help is %q", name, f.GetName(), f.GetType(), f.GetHelp())
				}
				for _, m := range f.GetMetric() {
					if m.TimestampMs != nil {
						t.Errorf("%s: %s has a timestamp, which the textfile collector refuses", name, f.GetName())
					}
					if v := m.GetGauge().GetValue(); math.IsNaN(v) || math.IsInf(v, 0) {
						t.Errorf("%s: %s is %v", name, f.GetName(), v)
					}
				}
			}
		}
	}
}

// value is the value of the one series of name whose labels contain all of labels ("name=value"); NaN without one.
func value(families map[string]*dto.MetricFamily, name string, labels ...string) float64 {
	v := math.NaN()
	for _, m := range families["allocatable_diff_"+name].GetMetric() {
		var all []string
		for _, l := range m.GetLabel() {
			all = append(all, l.GetName()+"="+l.GetValue())
		}
		text, match := ","+strings.Join(all, ",")+",", true
		for _, l := range labels {
			match = match && strings.Contains(text, ","+l+",")
		}
		if match {
			v = m.GetGauge().GetValue()
		}
	}
	return v
}

func TestMetricsValues(t *testing.T) {
	families := parsed(t, written(t, "prometheus", exampleRun(t), Options{}))
	for _, c := range []struct {
		name   string
		labels []string
		want   float64
		why    string
	}{
		{"run_result", []string{"result=fail"}, 1, "the result"},
		{"run_result", []string{"result=pass"}, 0, "the others are there, and 0"},
		{"vm_memory_overhead_ratio", []string{"cluster=prod"}, 0.075, "the setting that judged"},
		{"nodes", []string{"instance_type=c7a.large", "verdict=fail"}, 2, "two of three"},
		{"nodes", []string{"instance_type=c7a.large", "verdict=pass"}, 1, "the allowed one"},
		{"nodes", []string{"instance_type=x9.large", "verdict=unknown"}, 1, "could not be judged"},
		{"foreign_nodes", []string{"cluster=prod"}, 1, "EKS Auto Mode"},
		{"findings", []string{"severity=fail"}, 3, "c7a.large, the GPU, the claim"},
		{"findings", []string{"severity=warn"}, 1, "m5.16xlarge"},
		{"over_estimated_nodes", []string{"instance_type=c7a.large", "resource=memory"}, 3, "the allowed one as well: an allowance does not change the status"},
		{"over_estimated_nodes", []string{"instance_type=m5.large", "resource=memory"}, 0, "0, not absent"},
		{"missing_resource_nodes", []string{"resource=nvidia.com/gpu"}, 1, "the GPU"},
		{"delta_min_bytes", []string{"instance_type=c7a.large", "resource=memory"}, -80 * mi, "3034Mi − 3114Mi"},
		{"delta_max_bytes", []string{"instance_type=c7a.large", "resource=memory"}, -2452 * ki, "3186284Ki − 3114Mi"},
		{"delta_min_ratio", []string{"instance_type=c7a.large", "resource=memory"}, -80.0 / 3114, "of what was expected"},
		{"hidden_memory_bytes", []string{"instance_type=m5.large"}, 2 * (7199000*ki - 6903*mi), "two nodes"},
	} {
		if got := value(families, c.name, c.labels...); math.Abs(got-c.want) > 1e-9 || math.IsNaN(got) {
			t.Errorf("%s%v = %v, want %v: %s", c.name, c.labels, got, c.want, c.why)
		}
	}
}

// TestMetricsCardinality: by default the number of series does not grow with the nodes of a type.
func TestMetricsCardinality(t *testing.T) {
	series := func(nodes int, o Options) int {
		n := 0
		for _, f := range parsed(t, written(t, "prometheus", largeRun(t, nodes), o)) {
			n += len(f.GetMetric())
		}
		return n
	}
	small, large := series(960, Options{}), series(1920, Options{})
	if large > small+small/10 { // a rarely seen verdict may show up for the first time
		t.Errorf("%d series for 960 nodes, %d for 1920", small, large)
	}
	if n := series(960, Options{MetricsPerNode: true}); n < small+960 {
		t.Errorf("%d series with those of each of 960 nodes", n)
	}
}
