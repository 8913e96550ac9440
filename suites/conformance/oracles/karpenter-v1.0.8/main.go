// An oracle: what Karpenter v1.0.8 predicts. This release has no resolver, and speaks AWS SDK v1.
package main

import (
	"context"

	"github.com/aws/aws-sdk-go/aws"
	"github.com/aws/aws-sdk-go/service/ec2"
	v1 "github.com/aws/karpenter-provider-aws/pkg/apis/v1"
	"github.com/aws/karpenter-provider-aws/pkg/operator/options"
	"github.com/aws/karpenter-provider-aws/pkg/providers/amifamily"
	"github.com/aws/karpenter-provider-aws/pkg/providers/instancetype"
	"github.com/aws/karpenter-provider-aws/pkg/utils"

	"github.com/allocatable-diff/allocatable-diff/suites/conformance/oracles/oracle"
)

func main() {
	oracle.Program[*ec2.InstanceTypeInfo, v1.EC2NodeClass, *v1.EC2NodeClass]{
		Name:    func(info *ec2.InstanceTypeInfo) string { return aws.StringValue(info.InstanceType) },
		Predict: predict,
		Limits:  limits(),
	}.Main()
}

// predict calls NewInstanceType with what DefaultProvider.List of this release hands to it.
func predict(c oracle.Case, info *ec2.InstanceTypeInfo, nodeClass *v1.EC2NodeClass) oracle.Prediction {
	ctx := options.ToContext(context.Background(), &options.Options{
		VMMemoryOverheadPercent: c.OverheadPercent,
		ReservedENIs:            c.ReservedENIs,
	})
	kubelet, err := utils.GetKubletConfigurationWithNodePool(nil, nodeClass)
	if err != nil {
		panic(err)
	}
	if kubelet == nil {
		kubelet = &v1.KubeletConfiguration{}
	}
	// Region and offerings reach only labels and prices.
	it := instancetype.NewInstanceType(ctx, info, "us-east-1", nodeClass.Spec.BlockDeviceMappings, nodeClass.Spec.InstanceStorePolicy,
		kubelet.MaxPods, kubelet.PodsPerCore, kubelet.KubeReserved, kubelet.SystemReserved, kubelet.EvictionHard, kubelet.EvictionSoft,
		amifamily.GetAMIFamily(nodeClass.AMIFamily(), &amifamily.Options{}), nil)
	return oracle.Prediction{
		Capacity:          it.Capacity.DeepCopy(), // Allocatable subtracts in place from a quantity held as a big decimal
		Allocatable:       it.Allocatable(),
		KubeReserved:      it.Overhead.KubeReserved,
		SystemReserved:    it.Overhead.SystemReserved,
		EvictionThreshold: it.Overhead.EvictionThreshold,
	}
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
