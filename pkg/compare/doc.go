// Package compare answers one question: how does a node differ from what was expected of it, and why?
//
// Rows lays the three figures of each resource side by side: expected (the formula), claim (what Karpenter believed at
// launch) and actual (what the kubelet reports). Explain then splits every difference into causes; their parts and the
// unexplained residual add up to the difference exactly. Each cause is one small function in causes.go.
//
// Nothing here decides whether a difference matters: that is the gate's.
package compare
