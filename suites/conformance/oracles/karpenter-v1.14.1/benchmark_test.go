package main

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	v1 "github.com/aws/karpenter-provider-aws/pkg/apis/v1"
	"github.com/aws/karpenter-provider-aws/pkg/operator/options"
	"github.com/aws/karpenter-provider-aws/pkg/providers/instancetype"
)

// BenchmarkCatalogue is Karpenter's own expectation of every instance type for one EC2NodeClass: NewInstanceType, to
// which the resolver hands the class, and Allocatable. `make benchmark` sets it against the benchmark of the same name in
// suites/harness/benchmark.
func BenchmarkCatalogue(b *testing.B) {
	folder := os.Getenv("INSTANCE_TYPE_DATA")
	if folder == "" {
		b.Skip("INSTANCE_TYPE_DATA is not set: point it to a folder with describe-instance-types.json.gz")
	}
	types := catalogue(b, filepath.Join(folder, "describe-instance-types.json.gz"))
	resolver := instancetype.NewDefaultResolver("us-east-1")
	nodeClass := &v1.EC2NodeClass{Spec: v1.EC2NodeClassSpec{AMISelectorTerms: []v1.AMISelectorTerm{{Alias: "al2023@latest"}}}}
	ctx := options.ToContext(context.Background(), &options.Options{VMMemoryOverheadPercent: 0.075})
	b.ReportAllocs()
	for b.Loop() {
		for _, t := range types {
			if allocatable := resolver.Resolve(ctx, t, nil, nodeClass).Allocatable(); len(allocatable) == 0 {
				b.Fatalf("nothing is allocatable of %s", t.InstanceType)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(types)), "ns/type")
	b.ReportMetric(float64(len(types)), "types")
}

func catalogue(b *testing.B, path string) []ec2types.InstanceTypeInfo {
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		b.Fatal(err)
	}
	var page struct{ InstanceTypes []ec2types.InstanceTypeInfo }
	if err := json.NewDecoder(unpacked).Decode(&page); err != nil {
		b.Fatalf("%s: %v", path, err)
	}
	return page.InstanceTypes
}
