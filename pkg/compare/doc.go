// Package compare answers one question: how does a node differ from what was expected of it, and why?
//
//  1. Rows lays the three figures of each resource side by side: expected (the formula), claim (what Karpenter believed
//     at launch) and actual (what the kubelet reports).
//  2. nodeside.go is what the node's own start-up keeps from the pods, per AMI family, as expect is what Karpenter
//     expects it to keep; reserve.go finds what explains the reserve that a node really has, to within 1Mi.
//  3. Explain splits every difference into causes; their parts add up to it exactly, and what none carries is the cause
//     "unexplained". The table in causes.go lists them in the order in which they are tried; each is one small function.
//     Detail puts the causes of one row into words, ExplainClaim those of a claim.
//  4. Derive lays out both calculations term by term.
//
// Nothing here decides whether a difference matters: that is the gate's.
package compare
