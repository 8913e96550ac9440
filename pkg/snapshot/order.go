package snapshot

import (
	"cmp"
	"slices"
)

// Sort puts every list of the snapshot into canonical order and turns empty lists into nil, so that equal clusters are
// equal values whatever the order in which they were read.
func (s *Snapshot) Sort() {
	s.InstanceTypes = sorted(s.InstanceTypes, instanceTypeOrder)
	s.NodeClasses = sorted(s.NodeClasses, nodeClassOrder)
	s.NodePools = sorted(s.NodePools, nodePoolOrder)
	s.NodeOverlays = sorted(s.NodeOverlays, nodeOverlayOrder)
	s.NodeClaims = sorted(s.NodeClaims, nodeClaimOrder)
	s.Nodes = sorted(s.Nodes, nodeOrder)
	s.Ignored = sorted(s.Ignored, kindCountOrder)
	s.Gaps = sorted(s.Gaps, gapOrder)
	if len(s.Controller.Notes) == 0 {
		s.Controller.Notes = nil
	}
}

// canonical returns s in canonical order without touching it: s itself where it is sorted already, else a copy.
func (s *Snapshot) canonical() *Snapshot {
	c := *s
	c.InstanceTypes = sortedCopy(c.InstanceTypes, instanceTypeOrder)
	c.NodeClasses = sortedCopy(c.NodeClasses, nodeClassOrder)
	c.NodePools = sortedCopy(c.NodePools, nodePoolOrder)
	c.NodeOverlays = sortedCopy(c.NodeOverlays, nodeOverlayOrder)
	c.NodeClaims = sortedCopy(c.NodeClaims, nodeClaimOrder)
	c.Nodes = sortedCopy(c.Nodes, nodeOrder)
	c.Ignored = sortedCopy(c.Ignored, kindCountOrder)
	c.Gaps = sortedCopy(c.Gaps, gapOrder)
	return &c
}

// Orders compare through pointers: a Node is some hundred bytes, and a large cluster compares them often.
func instanceTypeOrder(a, b *InstanceType) int { return cmp.Compare(a.Name, b.Name) }
func nodeClassOrder(a, b *NodeClass) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
}
func nodePoolOrder(a, b *NodePool) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind))
}
func nodeOverlayOrder(a, b *NodeOverlay) int { return cmp.Compare(a.Name, b.Name) }
func nodeClaimOrder(a, b *NodeClaim) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind))
}
func nodeOrder(a, b *Node) int           { return cmp.Compare(a.Name, b.Name) }
func kindCountOrder(a, b *KindCount) int { return cmp.Compare(a.Kind, b.Kind) }
func gapOrder(a, b *Gap) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Reason, b.Reason))
}

func isSorted[T any](list []T, order func(a, b *T) int) bool {
	for i := 1; i < len(list); i++ {
		if order(&list[i-1], &list[i]) > 0 {
			return false
		}
	}
	return true
}

// sorted sorts list in place; nil for an empty one.
func sorted[T any](list []T, order func(a, b *T) int) []T {
	if len(list) == 0 {
		return nil
	}
	if !isSorted(list, order) {
		from := make([]int, len(list))
		for i := range from {
			from[i] = i
		}
		slices.SortStableFunc(from, func(i, j int) int { return order(&list[i], &list[j]) })
		arrange(list, from)
	}
	return list
}

// arrange moves each element once: list[i] becomes what list[from[i]] was. It uses from up.
func arrange[T any](list []T, from []int) {
	const moved = -1
	for i := range from {
		if from[i] == moved {
			continue
		}
		first, at := list[i], i
		for from[at] != i {
			next := from[at]
			list[at], from[at] = list[next], moved
			at = next
		}
		list[at], from[at] = first, moved
	}
}

func sortedCopy[T any](list []T, order func(a, b *T) int) []T {
	if !isSorted(list, order) {
		list = slices.Clone(list)
	}
	return sorted(list, order)
}
