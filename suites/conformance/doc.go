// Package conformance answers: does pkg/expect predict what Karpenter predicts, for every instance type?
//
// It has two witnesses. The tables that Karpenter publishes for each release say the allocatable of every type under the
// defaults (tables.go); where the folder INSTANCE_TYPE_DATA holds such tables, each of their rows is recomputed. And
// Karpenter's own code, one program for each of four releases (oracles/, nested modules that are never shipped),
// answers for EC2NodeClasses that it is hard to be right about: random ones from a seed (generate.go), and one for each
// trap that is known (traps.go). `make conformance` runs both; a difference is printed as the smallest NodeClass that
// still shows it (shrink.go).
package conformance
