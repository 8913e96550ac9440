package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/allocatable-diff/allocatable-diff/pkg/collect"
	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
	"github.com/allocatable-diff/allocatable-diff/pkg/recommend"
	"github.com/allocatable-diff/allocatable-diff/pkg/report"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
	"github.com/allocatable-diff/allocatable-diff/suites/harness/benchmark/fleet"
)

// benchmarkNodes is the size of the cluster that every step of the flow is measured with.
const benchmarkNodes = 1000

// typesPath is where the types of the cluster come from.
func typesPath() string {
	if folder := os.Getenv("INSTANCE_TYPE_DATA"); folder != "" {
		return filepath.Join(folder, catalogue)
	}
	return "../../../fixtures/ec2"
}

func instanceTypes(b *testing.B) []snapshot.InstanceType {
	b.Helper()
	types, err := collect.InstanceTypes(typesPath())
	if err != nil {
		b.Fatal(err)
	}
	return types
}

// printed is what kubectl prints of the cluster: its nodes, or every object.
func printed(b *testing.B, write func(*fleet.Fleet, io.Writer) error) []byte {
	b.Helper()
	f, err := fleet.New(fleet.Options{Nodes: benchmarkNodes, Seed: 1, Types: usualTypes}, instanceTypes(b))
	if err != nil {
		b.Fatal(err)
	}
	var out bytes.Buffer
	if err := write(f, &out); err != nil {
		b.Fatal(err)
	}
	return out.Bytes()
}

func read(b *testing.B, data []byte, types string) []*snapshot.Snapshot {
	b.Helper()
	in, err := collect.Files([]string{"-"}, bytes.NewReader(data), collect.Options{Cluster: "benchmark", InstanceTypes: types})
	if err != nil {
		b.Fatal(err)
	}
	return in.Snapshots
}

// cluster is the whole cluster, as a dump and as it was read.
func cluster(b *testing.B) ([]byte, []*snapshot.Snapshot) {
	b.Helper()
	dump := printed(b, (*fleet.Fleet).WriteCluster)
	return dump, read(b, dump, typesPath())
}

func encoded(b *testing.B, s *snapshot.Snapshot) []byte {
	b.Helper()
	var out bytes.Buffer
	if err := snapshot.Encode(&out, s); err != nil {
		b.Fatal(err)
	}
	return out.Bytes()
}

func judged(b *testing.B, in []*snapshot.Snapshot, how gate.Options) *gate.Run {
	b.Helper()
	how.Policy = gate.DefaultPolicy()
	run, err := gate.Evaluate(in, how)
	if err != nil {
		b.Fatal(err)
	}
	return run
}

// perNode reports the time of one node beside that of the whole cluster.
func perNode(b *testing.B) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*benchmarkNodes), "ns/node")
}

func BenchmarkReadDump(b *testing.B) {
	for _, row := range []struct {
		name  string
		write func(*fleet.Fleet, io.Writer) error
	}{
		{"nodes", (*fleet.Fleet).WriteNodes},
		{"cluster", (*fleet.Fleet).WriteCluster},
	} {
		b.Run(row.name, func(b *testing.B) {
			dump := printed(b, row.write)
			b.SetBytes(int64(len(dump)))
			b.ReportAllocs()
			for b.Loop() {
				read(b, dump, "labels")
			}
			perNode(b)
		})
	}
}

func BenchmarkReadSnapshot(b *testing.B) {
	_, in := cluster(b)
	file := encoded(b, in[0])
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		read(b, file, "auto")
	}
	perNode(b)
}

func BenchmarkWriteSnapshot(b *testing.B) {
	_, in := cluster(b)
	b.SetBytes(int64(len(encoded(b, in[0]))))
	b.ReportAllocs()
	for b.Loop() {
		if err := snapshot.Encode(io.Discard, in[0]); err != nil {
			b.Fatal(err)
		}
	}
	perNode(b)
}

// BenchmarkCatalogue is the expectation of every instance type for one EC2NodeClass. The table sets it against the
// benchmark of the same name of Karpenter's own code, in suites/conformance/oracles/karpenter-v1.14.1.
func BenchmarkCatalogue(b *testing.B) {
	types := instanceTypes(b)
	version, err := expect.ParseVersion("1.14.1")
	if err != nil {
		b.Fatal(err)
	}
	alias := "al2023@latest"
	class := expect.Class{NodeClass: &snapshot.NodeClass{Name: "default", Kind: snapshot.KindEC2NodeClass, APIVersion: "karpenter.k8s.aws/v1", Alias: &alias}}
	b.ReportAllocs()
	for b.Loop() {
		m, err := expect.New(expect.Settings{Version: version, OverheadPercent: expect.DefaultOverheadPercent}, class)
		if err != nil {
			b.Fatal(err)
		}
		for e, err := range m.Expectations(types) {
			if err != nil || len(e.Resources) == 0 {
				b.Fatalf("nothing is expected: %v", err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(types)), "ns/type")
	b.ReportMetric(float64(len(types)), "types")
}

func BenchmarkEvaluate(b *testing.B) {
	_, in := cluster(b)
	b.ReportAllocs()
	for b.Loop() {
		judged(b, in, gate.Options{})
	}
	perNode(b)
}

func BenchmarkRecommend(b *testing.B) {
	_, in := cluster(b)
	b.ReportAllocs()
	for b.Loop() {
		samples, err := recommend.Samples(in, gate.Options{Policy: gate.DefaultPolicy()})
		if err != nil {
			b.Fatal(err)
		}
		if r := recommend.Compute(samples, recommend.Options{}); r.Samples < benchmarkNodes/2 {
			b.Fatalf("%d samples of %d nodes", r.Samples, benchmarkNodes)
		}
	}
	perNode(b)
}

// BenchmarkCompare compares the cluster with itself under another release, and under another AMI family.
func BenchmarkCompare(b *testing.B) {
	_, in := cluster(b)
	before, after := judged(b, in, gate.Options{}), judged(b, in, gate.Options{AMIFamily: "Bottlerocket"})
	for _, row := range []struct {
		name    string
		compare func(from, to *gate.Run) int
	}{
		{"moves", func(from, to *gate.Run) int { return gate.Compare(from, to).Compared }},
		{"changes", func(from, to *gate.Run) int { return len(gate.Changes(from, to)) }},
	} {
		b.Run(row.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if row.compare(before, after) == 0 {
					b.Fatal("nothing was compared")
				}
			}
			perNode(b)
		})
	}
}

func BenchmarkWriteReport(b *testing.B) {
	_, in := cluster(b)
	run := judged(b, in, gate.Options{})
	samples, err := recommend.Samples(in, gate.Options{Policy: gate.DefaultPolicy()})
	if err != nil {
		b.Fatal(err)
	}
	o := report.Options{Recommendation: recommend.Compute(samples, recommend.Options{})}
	for _, f := range report.Formats {
		b.Run(f.Name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := f.Write(io.Discard, run, o); err != nil {
					b.Fatal(err)
				}
			}
			perNode(b)
		})
	}
}

func BenchmarkReadRun(b *testing.B) {
	_, in := cluster(b)
	json, err := report.Find("json")
	if err != nil {
		b.Fatal(err)
	}
	var file bytes.Buffer
	if err := json.Write(&file, judged(b, in, gate.Options{}), report.Options{}); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(file.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := report.ReadRun(bytes.NewReader(file.Bytes())); err != nil {
			b.Fatal(err)
		}
	}
	perNode(b)
}
