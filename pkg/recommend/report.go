package recommend

import (
	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
)

// Report is the recommendation. Order is fixed. Money is nil where no prices were given; it is then absent from JSON.
// Every fraction is one of the memory, as the setting is despite its name; memory is in bytes where the name says so.
type Report struct {
	// Field is what was held against the nodes: the capacity of memory, or by choice its allocatable.
	Field compare.Field `json:"field"`
	// Samples is the number of nodes that the figures rest on. Without any there is nothing but Excluded and Notes.
	Samples int `json:"samples"`
	// Flat is the smallest fraction of four decimals that over-estimates no sampled node; nil without samples.
	Flat *float64 `json:"flat"`
	// Line is the safe base and slope that hides least. Karpenter cannot be set to it.
	Line *Line `json:"line"`
	// Current is what is set today, AtFlat what setting Flat gives.
	Current *Outcome `json:"current"`
	AtFlat  *Outcome `json:"atFlat"`
	// ControllersDiffer: the nodes are under several fractions. Current is then what each one's own does, and its Percent
	// the smallest.
	ControllersDiffer bool      `json:"controllersDiffer,omitzero"`
	Sweep             []Outcome `json:"sweep"`
	Groups            []Group   `json:"groups"`
	// Needs is how the smallest fitting fraction spreads over the nodes.
	Needs *Spread `json:"needs,omitzero"`
	// Decisive is the nodes of the type that needs Flat.
	Decisive *Decisive `json:"decisive,omitzero"`
	// Wasteful are the types that hide most today, Tight those that need the largest fraction; at most ten each.
	Wasteful []TypeUse `json:"wasteful,omitzero"`
	Tight    []TypeUse `json:"tight,omitzero"`
	// OverEstimatedTypes are the types with nodes that are over-estimated today, by name.
	OverEstimatedTypes []TypeCount `json:"overEstimatedTypes,omitzero"`
	// SeveralCapacities are the types whose nodes come with several real memory sizes, by name.
	SeveralCapacities []Capacities `json:"severalCapacities,omitzero"`
	// Patches set Flat, one for each way in which the sampled controllers are configured.
	Patches []Patch `json:"patches,omitzero"`
	// Excluded counts the nodes that are not sampled, by reason.
	Excluded []Excluded `json:"excluded,omitzero"`
	// Unpriced is the number of sampled nodes that no price was given for: their memory is in no sum of money.
	Unpriced int `json:"unpriced,omitzero"`
	// Notes are for a person.
	Notes []string `json:"notes,omitzero"`
}

// Outcome is what a fraction does to the sampled nodes.
type Outcome struct {
	Percent float64 `json:"percent"`
	// OverEstimated is the nodes of which more is expected than they have.
	OverEstimated int `json:"overEstimated"`
	// HiddenBytes is the sum of what the others have and are not expected to.
	HiddenBytes int64    `json:"hiddenBytes"`
	MonthlyUSD  *float64 `json:"monthlyUSD,omitzero"`
}

// Line is an overhead of Mebibytes plus a Fraction of the memory (after the Graviton CMA), the second rounded up to
// whole MiB as Karpenter rounds.
type Line struct {
	Mebibytes   int64    `json:"mebibytes"`
	Fraction    float64  `json:"fraction"`
	HiddenBytes int64    `json:"hiddenBytes"`
	MonthlyUSD  *float64 `json:"monthlyUSD,omitzero"`
}

// Group is the recommendation for a part of the nodes, for information.
type Group struct {
	Kind GroupKind `json:"kind"`
	Name string    `json:"name"`
	// Samples of the group's Nodes were sampled; they are of so many Types.
	Samples int `json:"samples"`
	Nodes   int `json:"nodes"`
	Types   int `json:"types"`
	// Flat is the smallest safe fraction of the group; nil where the samples are too few (Inconclusive).
	Flat         *float64 `json:"flat"`
	Inconclusive bool     `json:"inconclusive,omitzero"`
	// OverEstimated, HiddenBytes and MonthlyUSD are today's; HiddenBytesAtFlat what the fleet's flat fraction would hide.
	OverEstimated     int      `json:"overEstimated"`
	HiddenBytes       int64    `json:"hiddenBytes"`
	HiddenBytesAtFlat int64    `json:"hiddenBytesAtFlat"`
	MonthlyUSD        *float64 `json:"monthlyUSD,omitzero"`
}

// GroupKind is what the nodes of a group have in common.
type GroupKind string

// The kinds, in the order of the report. Clusters are groups only where there are several: each has a controller of its
// own, so theirs is the one group fraction that can be set.
const (
	ByCluster      GroupKind = "cluster"
	ByArch         GroupKind = "arch"
	ByAMIFamily    GroupKind = "amiFamily"
	ByNodePool     GroupKind = "nodePool"
	ByInstanceType GroupKind = "instanceType"
)

// Spread is a distribution: half of the nodes are at P50 or below, 95 % at P95 or below.
type Spread struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
}

// Decisive says whose node makes the flat fraction what it is, and what it would be without that type.
type Decisive struct {
	InstanceType string   `json:"instanceType"`
	Cluster      string   `json:"cluster"`
	Node         string   `json:"node"`
	FlatWithout  *float64 `json:"flatWithout,omitzero"`
}

// TypeUse is one instance type in a ranking.
type TypeUse struct {
	InstanceType      string   `json:"instanceType"`
	Samples           int      `json:"samples"`
	Flat              float64  `json:"flat"`
	HiddenBytes       int64    `json:"hiddenBytes"`
	HiddenBytesAtFlat int64    `json:"hiddenBytesAtFlat"`
	MonthlyUSD        *float64 `json:"monthlyUSD,omitzero"`
}

// TypeCount is a number of nodes of one type.
type TypeCount struct {
	InstanceType string `json:"instanceType"`
	Nodes        int    `json:"nodes"`
}

// Excluded is a number of nodes that are not sampled for one reason.
type Excluded struct {
	Reason string `json:"reason"`
	Nodes  int    `json:"nodes"`
}

// ExitCode is the code that the command ends with: without samples nothing can be recommended.
func (r *Report) ExitCode() int {
	if r.Samples == 0 {
		return gate.ExitInconclusive
	}
	return gate.ExitOK
}
