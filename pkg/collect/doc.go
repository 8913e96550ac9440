// Package collect answers one question: how does a cluster become a snapshot?
//
// It is the only place with I/O on the way in. Files reads snapshots, run files and kubectl dumps of every API
// generation; the live half reads an API server and EC2. Both end in the same snapshot.Snapshot: objects folded into
// one shape per kind, each node joined to its claim, pool and class (Join), the controller's release and options found
// (karpenter.go), the facts of instance types added from EC2, from recorded describe-instance-types output, or from the
// nodes' own labels (TypesFromLabels).
//
// A dump is decoded object by object straight into small structs of what is kept, so memory grows with the result and
// not with the file. Nothing is interpreted here: what does not parse is kept as text for the step that needs it. An
// object that cannot be read at all is an InputError, which names the file, the line and the object.
package collect
