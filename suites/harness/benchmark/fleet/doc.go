// Package fleet answers one question: what would kubectl print of a cluster of so many nodes?
//
// A Fleet is made of a seed and a catalogue of instance types. Each node is what Karpenter expects of its type and class,
// but for what real machines differ in: the memory that hypervisor, firmware and kernel keep, the blocks of the file
// system, a few pages from node to node. Claims were predicted or discovered, some nodes are not ready or belong to a
// managed node group, and of one type in sixty the machines keep more than the overhead allows. Node i is the same in
// fleets of every size of one seed and catalogue, and is made when it is printed: a fleet of any size needs no memory.
//
//	f, err := fleet.New(fleet.Options{Nodes: 20_000, Seed: 1}, types)
//	err = f.WriteNodes(w)   // kubectl get nodes -o json --show-managed-fields
//	err = f.WriteCluster(w) // with claims, pools, classes and Karpenter's Deployment
package fleet
