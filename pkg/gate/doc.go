// Package gate answers one question: is this cluster as Karpenter expects it, and if not, does it matter?
//
// Evaluate is the whole pipeline, pure from a snapshot on:
//
//  1. resolve which release judges, with which settings (expect.Resolve);
//  2. classify each node: judged, skipped (not ready, deleting, not Karpenter's, …) or unknown;
//  3. expect: once per distinct type, class, kubelet settings and overlays, not once per node;
//  4. compare: rows of expected, claim and actual, with their causes;
//  5. judge: each row by the policy, each node by its worst row;
//  6. fold: equal findings of one type, class, AMI and resource become one, with "k of n nodes"; nodes that differ from
//     their siblings, and types with several real capacities, are findings of their own.
//
// The result is a Run, from which every report is written.
package gate
