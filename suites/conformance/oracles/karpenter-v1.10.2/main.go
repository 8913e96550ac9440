// An oracle: what Karpenter v1.10.2 predicts.
package main

import (
	"github.com/aws/karpenter-provider-aws/pkg/providers/instancetype"

	"github.com/allocatable-diff/allocatable-diff/suites/conformance/oracles/resolver"
)

// The region reaches only labels and prices.
func main() { resolver.Main(instancetype.NewDefaultResolver("us-east-1")) }
