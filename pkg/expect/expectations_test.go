package expect

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// TestExpectationsAreExpect: in shared memory nothing of one type is left in the next, whatever the order, and a type
// that cannot be worked out does not disturb those after it.
func TestExpectationsAreExpect(t *testing.T) {
	broken := m5Large()
	broken.VCPUs = -1
	types := append(benchmarkTypes(), broken)
	types = append(types, benchmarkTypes()[3:]...)
	for _, row := range benchmarkClasses {
		m, err := row.given.model(t)
		if err != nil {
			t.Fatal(err)
		}
		i := 0
		for got, gotErr := range m.Expectations(types) {
			want, wantErr := m.Expect(&types[i])
			if (gotErr == nil) != (wantErr == nil) {
				t.Fatalf("%s: %s fails with %v, alone with %v", row.name, types[i].Name, gotErr, wantErr)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s is another than alone (-alone +here):\n%s", row.name, types[i].Name, diff)
			}
			i++
		}
		if i != len(types) {
			t.Errorf("%s: %d expectations of %d types", row.name, i, len(types))
		}
		for range m.Expectations(types) { // stops when it is told to
			break
		}
	}
}

// BenchmarkExpectations is one expectation of a model over many types.
func BenchmarkExpectations(b *testing.B) {
	for _, row := range benchmarkClasses {
		b.Run(row.name, func(b *testing.B) {
			m, err := row.given.model(b)
			if err != nil {
				b.Fatal(err)
			}
			var types []snapshot.InstanceType
			for range 100 {
				types = append(types, benchmarkTypes()...)
			}
			b.ReportAllocs()
			for b.Loop() {
				for _, err := range m.Expectations(types) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(types)), "ns/type")
		})
	}
}
