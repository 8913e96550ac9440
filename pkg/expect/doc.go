// Package expect answers one question: what does a release of Karpenter expect of a node of this instance type,
// launched from this NodeClass?
//
// Start with New, which reads a NodeClass and its kubelet settings by the rules of one release and returns a Model;
// Model.Expect then gives the Expectation of one instance type: capacity, overhead and allocatable of every resource.
// A formula returns its terms, so the explanation is the calculation:
//
//	8Gi (EC2 memory) -615Mi (VM memory overhead) = 7577Mi
//
// One file per resource holds its formula (memory.go, cpu.go, pods.go, …). Two tables hold everything that depends on
// a release or on an AMI family: version.go and amifamily.go. A formula reads a rule by name and never compares
// versions. The arithmetic, float order included, is upstream's; sources name the commit of
// aws/karpenter-provider-aws or kubernetes-sigs/karpenter that a fact was read at.
//
// Where upstream would panic (a percentage that does not parse, a mapping without a device), Expect returns an error:
// the node is unknown with that reason. Where a fact of the instance type is not known, only the resources that need
// it are unknown.
package expect
