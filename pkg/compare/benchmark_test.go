package compare

import "testing"

// BenchmarkExplain is one healthy node as a large fleet has them: memory and disk differ a little, the rest is equal.
func BenchmarkExplain(b *testing.B) {
	s := scene{
		overhead: 0.075, instance: "m5.large", image: "Amazon Linux 2023.7",
		capacity:    amounts("cpu", "2", "memory", "7845568Ki", "pods", "29", "ephemeral-storage", "20893676Ki"),
		allocatable: amounts("cpu", "1930m", "memory", "7155392Ki", "pods", "29", "ephemeral-storage", "18181869946"),
	}.subject(b)
	rows := Rows(s)
	b.ReportAllocs()
	for b.Loop() {
		Explain(s, rows)
	}
}
