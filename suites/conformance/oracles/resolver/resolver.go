// Package resolver asks Karpenter v1.6 … v1.14 what it predicts: the releases whose instancetype.DefaultResolver takes an
// EC2NodeClass as it stands. Its go.mod names the oldest such release that is asked; the module that imports it chooses.
package resolver

import (
	"context"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	v1 "github.com/aws/karpenter-provider-aws/pkg/apis/v1"
	"github.com/aws/karpenter-provider-aws/pkg/operator/options"
	"github.com/aws/karpenter-provider-aws/pkg/providers/instancetype"

	"github.com/allocatable-diff/allocatable-diff/suites/conformance/oracles/oracle"
)

// Main is the whole program of an oracle of one of these releases.
func Main(resolver *instancetype.DefaultResolver) {
	oracle.Program[ec2types.InstanceTypeInfo, v1.EC2NodeClass, *v1.EC2NodeClass]{
		Name: func(info ec2types.InstanceTypeInfo) string { return string(info.InstanceType) },
		Predict: func(c oracle.Case, info ec2types.InstanceTypeInfo, nodeClass *v1.EC2NodeClass) oracle.Prediction {
			ctx := options.ToContext(context.Background(), &options.Options{
				VMMemoryOverheadPercent: c.OverheadPercent,
				ReservedENIs:            c.ReservedENIs,
			})
			it := resolver.Resolve(ctx, info, nil, nodeClass) // zones reach only labels and offerings
			return oracle.Prediction{
				Capacity:          it.Capacity.DeepCopy(), // Allocatable subtracts in place from a quantity held as a big decimal
				Allocatable:       it.Allocatable(),
				KubeReserved:      it.Overhead.KubeReserved,
				SystemReserved:    it.Overhead.SystemReserved,
				EvictionThreshold: it.Overhead.EvictionThreshold,
			}
		},
		Limits: limits(),
	}.Main()
}

func limits() map[string]oracle.Limits {
	all := make(map[string]oracle.Limits, len(instancetype.Limits))
	for name, l := range instancetype.Limits {
		all[name] = oracle.Limits{
			Interfaces: l.Interface, IPv4PerInterface: l.IPv4PerInterface,
			TrunkingCompatible: l.IsTrunkingCompatible, BranchInterfaces: l.BranchInterface,
		}
	}
	return all
}
