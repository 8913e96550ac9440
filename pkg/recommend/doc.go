// Package recommend answers one question: which vmMemoryOverheadPercent fits this fleet, and what does it waste?
//
// Samples takes the nodes that the gate would judge, with their expectation; Compute finds the fraction:
//
//  1. per node, the smallest whole MiB of overhead at which expected ≤ actual, and the smallest fraction of four decimals
//     that Karpenter rounds to so much (search.go);
//  2. the flat fraction is the largest of these, checked by running the whole formulas with it and with the next smaller
//     one: none is over-estimated at the first, one is at the second;
//  3. for information, the same per cluster, architecture, AMI family, pool and type; what other fractions would hide
//     and over-estimate; and the line, so many MiB and a fraction, that is as safe and hides least (line.go).
//
// Only the flat fraction can be set: Karpenter has one per controller. All fractions are Karpenter's own floats, so that
// a figure holds when it is set. The smallest real node of a type decides.
package recommend
