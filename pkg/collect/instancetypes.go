package collect

import (
	"fmt"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// InstanceTypes reads the output of `aws ec2 describe-instance-types`: one file, several pages, or a directory.
func InstanceTypes(path string) ([]snapshot.InstanceType, error) {
	return nil, fmt.Errorf("reading %s: not built yet", path)
}

// TypesFromLabels is the facts that Karpenter writes on its nodes, and the VPC limits library.
func TypesFromLabels(nodes []snapshot.Node) []snapshot.InstanceType { return nil }
