package recommend

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// largeFleet is n nodes of so many types. No two nodes of a type need have the same figures: that is the hardest case.
func largeFleet(n, types int) *fleet {
	random := rand.New(rand.NewPCG(9, 10))
	f := newFleet("large", "1.14.1", "0.075")
	family := "AL2023"
	for i := range 3 {
		f.NodeClasses = append(f.NodeClasses, snapshot.NodeClass{
			Name: fmt.Sprint("class-", i), Kind: "EC2NodeClass", APIVersion: "karpenter.k8s.aws/v1", AMIFamily: &family,
			Kubelet: &snapshot.Kubelet{EvictionHard: snapshot.Labels{{Key: "memory.available", Value: fmt.Sprint(i+1, "%")}}},
		})
	}
	for i := range n {
		typ := i % types
		ec2 := int64(4096) << (typ % 8)
		real := int64(float64(ec2<<10)*(0.93+0.04*random.Float64())) &^ 3
		f.add(machine{
			typ: fmt.Sprintf("m%d.size%d", typ/8, typ%8), arch: "amd64", ec2MiB: ec2, pool: fmt.Sprint("pool-", i%20),
			class: fmt.Sprint("EC2NodeClass/class-", i%3), capacity: fmt.Sprint(real, "Ki"), allocatable: fmt.Sprint(real*9/10, "Ki"),
		})
	}
	return f
}

// BenchmarkRecommendAgainstCheck times a recommendation and a check of the same snapshot in turn, and reports how many
// times a check the recommendation takes, the fastest of each; more than 2 fails.
func BenchmarkRecommendAgainstCheck(b *testing.B) {
	for _, size := range []struct{ nodes, types int }{{50, 25}, {1000, 1000}, {10000, 300}, {100000, 300}} {
		for _, field := range []compare.Field{compare.Capacity, compare.Allocatable} {
			b.Run(fmt.Sprintf("%s/nodes=%d/types=%d", field, size.nodes, size.types), func(b *testing.B) {
				in := snapshots([]*fleet{largeFleet(size.nodes, size.types)})
				o := gate.Options{Policy: gate.DefaultPolicy()}
				check, recommend := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
				for b.Loop() {
					start := time.Now()
					if _, err := gate.Evaluate(in, o); err != nil {
						b.Fatal(err)
					}
					check = min(check, time.Since(start))
					start = time.Now()
					samples, err := Samples(in, o)
					if err != nil {
						b.Fatal(err)
					}
					if r := Compute(samples, Options{Field: field}); r.Samples != size.nodes {
						b.Fatalf("%d samples of %d nodes: %v", r.Samples, size.nodes, r.Excluded)
					}
					recommend = min(recommend, time.Since(start))
				}
				b.ReportMetric(float64(recommend)/float64(check), "recommend/check")
				b.ReportMetric(float64(recommend.Nanoseconds())/float64(size.nodes), "recommend-ns/node")
				if recommend > 2*check {
					b.Errorf("a recommendation takes %v, more than twice the %v of a check", recommend, check)
				}
			})
		}
	}
}
