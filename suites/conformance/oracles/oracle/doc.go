// Package oracle turns one release of Karpenter's own code into a program: what does that release predict for each
// instance type under each EC2NodeClass?
//
// In: instance types in the shape of `aws ec2 describe-instance-types --output json` (files, -instance-types, repeatable)
// and cases on standard input, one JSON object a line (Case). Out: one line for each case and type, cases in the order
// given, types in name order, tab-separated:
//
//	case  type  ok     capacity  allocatable  kubeReserved  systemReserved  evictionThreshold
//	case  type  panic  message (quoted as Go quotes)
//
// A list is `name=amount,…` in name order without zeros. Amounts are integers: millicores for cpu, bytes for memory,
// ephemeral-storage and hugepages, counts for everything else; a fraction is rounded towards plus infinity.
//
// With -limits the program prints, instead, the VPC limits compiled into the release: type, interfaces, IPv4 addresses
// per interface, trunking compatible, branch interfaces.
//
// The package knows nothing of Karpenter. A release brings its decoding and its call (Program), since one Go module can
// hold only one version of Karpenter and the AWS SDK changed from v1 to v2 between the releases.
package oracle
