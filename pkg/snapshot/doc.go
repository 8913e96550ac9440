// Package snapshot answers one question: what was seen?
//
// A Snapshot holds everything that the rest of the program needs to know of a cluster: its nodes, the objects
// that explain them (claims, pools, classes, overlays), the facts of their instance types, and what was found
// of the Karpenter controller. Live clusters, dumps and recorded files all end in the same Snapshot, and
// everything after it is pure: two runs over one snapshot give the same bytes.
//
// The types keep only what a later step reads. Objects of every API generation are folded into one shape each
// (a v1alpha5 Machine is a NodeClaim, a Provisioner a NodePool, an AWSNodeTemplate a NodeClass); Kind and
// APIVersion say what the object was. Nothing here is interpreted: a value that does not parse is kept as text,
// so that the step that needs it can name it.
package snapshot
