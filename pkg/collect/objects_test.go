package collect

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

func text(s string) *string { return &s }

// Every API generation's objects fold into one shape (model §5.1 … §5.4).
func TestGenerations(t *testing.T) {
	for _, row := range []struct {
		reason string
		yaml   string
		want   snapshot.Snapshot
	}{
		{
			reason: "v1alpha5: Machine, Provisioner with providerRef, AWSNodeTemplate; reserved values may be numbers",
			yaml: `
apiVersion: karpenter.sh/v1alpha5
kind: Machine
metadata:
  name: default-abcde
  labels: {karpenter.sh/provisioner-name: default}
  annotations: {karpenter.sh/provisioner-hash: "11", karpenter.k8s.aws/nodetemplate-hash: "22"}
spec:
  kubelet: {maxPods: 50, kubeReserved: {cpu: 1, memory: 500Mi}, evictionHard: {memory.available: 5%}}
  machineTemplateRef: {apiVersion: karpenter.k8s.aws/v1alpha1, kind: AWSNodeTemplate, name: template}
  resources: {requests: {cpu: 1250m}}
status:
  providerID: aws:///a/i-1
  nodeName: node-1
  capacity: {cpu: "8", ephemeral-storage: 100Pi}
  allocatable: {cpu: 7910m}
  conditions: [{type: Initialized, status: "True"}]
---
apiVersion: karpenter.sh/v1alpha5
kind: Provisioner
metadata:
  name: default
  annotations: {karpenter.sh/provisioner-hash: "11"}
spec:
  kubeletConfiguration: {maxPods: 60, podsPerCore: 10}
  providerRef: {name: template}
---
apiVersion: karpenter.k8s.aws/v1alpha1
kind: AWSNodeTemplate
metadata:
  name: template
  annotations: {karpenter.k8s.aws/nodetemplate-hash: "22"}
spec:
  amiFamily: AL2
  blockDeviceMappings:
  - {deviceName: /dev/xvda, ebs: {volumeSize: 80Gi}}
  - {deviceName: /dev/xvdb, ebs: {snapshotID: snap-1}}
`,
			want: snapshot.Snapshot{
				NodeClaims: []snapshot.NodeClaim{{
					Name: "default-abcde", Kind: "Machine", APIVersion: "karpenter.sh/v1alpha5", ProviderID: "aws:///a/i-1", NodeName: "node-1", Pool: "default",
					ClassRef:  snapshot.ClassRef{Group: "karpenter.k8s.aws", Kind: "AWSNodeTemplate", Name: "template"},
					ClassHash: snapshot.Hash{Value: "22"}, PoolHash: snapshot.Hash{Value: "11"},
					Kubelet: &snapshot.Kubelet{
						MaxPods:      jsontext.Value("50"),
						KubeReserved: snapshot.Labels{{Key: "cpu", Value: "1"}, {Key: "memory", Value: "500Mi"}},
						EvictionHard: snapshot.Labels{{Key: "memory.available", Value: "5%"}},
					},
					Requests:    snapshot.ResourceList{{Name: "cpu", Value: 1250}},
					Capacity:    snapshot.ResourceList{{Name: "cpu", Value: 8000}, {Name: "ephemeral-storage", Value: 100 << 50}},
					Allocatable: snapshot.ResourceList{{Name: "cpu", Value: 7910}},
					Initialized: "True",
				}},
				NodePools: []snapshot.NodePool{{
					Name: "default", Kind: "Provisioner", APIVersion: "karpenter.sh/v1alpha5", Hash: snapshot.Hash{Value: "11"},
					ClassRef: snapshot.ClassRef{Kind: "AWSNodeTemplate", Name: "template"},
					Kubelet:  &snapshot.Kubelet{MaxPods: jsontext.Value("60"), PodsPerCore: jsontext.Value("10")},
				}},
				NodeClasses: []snapshot.NodeClass{{
					Name: "template", Kind: "AWSNodeTemplate", APIVersion: "karpenter.k8s.aws/v1alpha1", Hash: snapshot.Hash{Value: "22"}, AMIFamily: text("AL2"),
					BlockDeviceMappings: []snapshot.BlockDeviceMapping{
						{DeviceName: text("/dev/xvda"), EBS: &snapshot.EBS{VolumeSize: text("80Gi")}},
						{DeviceName: text("/dev/xvdb"), EBS: &snapshot.EBS{SnapshotID: "snap-1"}},
					},
				}},
			},
		},
		{
			reason: "v1alpha5: an inline provider is a class of its own; an unmanaged launch template has no devices",
			yaml: `
apiVersion: karpenter.sh/v1alpha5
kind: Provisioner
metadata: {name: inline}
spec:
  provider: {amiFamily: Bottlerocket, launchTemplate: my-template, blockDeviceMappings: null}
`,
			want: snapshot.Snapshot{
				NodePools: []snapshot.NodePool{{
					Name: "inline", Kind: "Provisioner", APIVersion: "karpenter.sh/v1alpha5",
					ClassRef: snapshot.ClassRef{Group: "karpenter.sh", Kind: "Provisioner", Name: "inline"},
				}},
				NodeClasses: []snapshot.NodeClass{{Name: "inline", Kind: "Provisioner", APIVersion: "karpenter.sh/v1alpha5", AMIFamily: text("Bottlerocket")}},
			},
		},
		{
			reason: "v1beta1: the kubelet settings of the pool and their copy on the claim; no status.nodeName yet; being deleted",
			yaml: `
apiVersion: karpenter.sh/v1beta1
kind: NodeClaim
metadata:
  name: default-x
  deletionTimestamp: "2024-09-05T03:43:18Z"
  labels: {karpenter.sh/nodepool: default}
  annotations: {karpenter.k8s.aws/ec2nodeclass-hash: "1", karpenter.k8s.aws/ec2nodeclass-hash-version: v2, karpenter.sh/nodepool-hash: "2", karpenter.sh/nodepool-hash-version: v2}
spec:
  kubelet: {evictionSoft: {memory.available: 10%}, systemReserved: {memory: 100Mi}}
  nodeClassRef: {apiVersion: karpenter.k8s.aws/v1beta1, name: default}
status: {imageID: ami-1}
---
apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata:
  name: default
  annotations: {karpenter.sh/nodepool-hash: "2", karpenter.sh/nodepool-hash-version: v2}
spec: {template: {spec: {kubelet: {maxPods: null}, nodeClassRef: {kind: EC2NodeClass, name: default}}}}
---
apiVersion: karpenter.k8s.aws/v1beta1
kind: EC2NodeClass
metadata: {name: default, annotations: {karpenter.k8s.aws/ec2nodeclass-hash: "1", karpenter.k8s.aws/ec2nodeclass-hash-version: v2}}
spec:
  amiFamily: Custom
  instanceStorePolicy: RAID0
  blockDeviceMappings: [{rootVolume: true, ebs: {volumeSize: 100}}]
status: {amis: [{id: ami-1}, {id: ami-2}]}
`,
			want: snapshot.Snapshot{
				NodeClaims: []snapshot.NodeClaim{{
					Name: "default-x", Kind: "NodeClaim", APIVersion: "karpenter.sh/v1beta1", Pool: "default", ImageID: "ami-1", Deleting: true,
					ClassRef:  snapshot.ClassRef{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"},
					ClassHash: snapshot.Hash{Value: "1", Version: "v2"}, PoolHash: snapshot.Hash{Value: "2", Version: "v2"},
					Kubelet: &snapshot.Kubelet{
						SystemReserved: snapshot.Labels{{Key: "memory", Value: "100Mi"}},
						EvictionSoft:   snapshot.Labels{{Key: "memory.available", Value: "10%"}},
					},
				}},
				NodePools: []snapshot.NodePool{{
					Name: "default", Kind: "NodePool", APIVersion: "karpenter.sh/v1beta1", Hash: snapshot.Hash{Value: "2", Version: "v2"},
					ClassRef: snapshot.ClassRef{Kind: "EC2NodeClass", Name: "default"}, Kubelet: &snapshot.Kubelet{},
				}},
				NodeClasses: []snapshot.NodeClass{{
					Name: "default", Kind: "EC2NodeClass", APIVersion: "karpenter.k8s.aws/v1beta1", Hash: snapshot.Hash{Value: "1", Version: "v2"},
					AMIFamily: text("Custom"), AMIs: []string{"ami-1", "ami-2"}, InstanceStorePolicy: "RAID0",
					BlockDeviceMappings: []snapshot.BlockDeviceMapping{{RootVolume: true, EBS: &snapshot.EBS{VolumeSize: text("100")}}},
				}},
			},
		},
		{
			reason: "v1.0: the conversion annotation, on pool and claim; it wins also when it sets nothing",
			yaml: `
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata:
  name: a
  annotations: {compatibility.karpenter.sh/v1beta1-kubelet-conversion: '{"maxPods":42,"kubeReserved":{"cpu":"1"}}'}
spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: p
  annotations: {compatibility.karpenter.sh/v1beta1-kubelet-conversion: 'null'}
spec: {template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}}}}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: q
  annotations: {compatibility.karpenter.sh/v1beta1-kubelet-conversion: '{"maxPods":'}
`,
			want: snapshot.Snapshot{
				NodeClaims: []snapshot.NodeClaim{{
					Name: "a", Kind: "NodeClaim", APIVersion: "karpenter.sh/v1", ClassRef: snapshot.ClassRef{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"},
					CompatKubelet: &snapshot.Kubelet{MaxPods: jsontext.Value("42"), KubeReserved: snapshot.Labels{{Key: "cpu", Value: "1"}}},
				}},
				NodePools: []snapshot.NodePool{
					{Name: "p", Kind: "NodePool", APIVersion: "karpenter.sh/v1", ClassRef: snapshot.ClassRef{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}, CompatKubelet: &snapshot.Kubelet{}},
					{Name: "q", Kind: "NodePool", APIVersion: "karpenter.sh/v1", CompatKubelet: &snapshot.Kubelet{
						Problem: "annotation compatibility.karpenter.sh/v1beta1-kubelet-conversion: broken JSON: unexpected EOF",
					}},
				},
			},
		},
		{
			reason: "v1: alias of the first term that has one, an empty family is set, an empty list of interfaces is not absent",
			yaml: `
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: a}
spec:
  amiFamily: ""
  amiSelectorTerms: [{id: ami-1}, {alias: ""}, {alias: al2023@latest}, {alias: bottlerocket@latest}]
  networkInterfaces: []
  kubelet: {maxPods: 110, podsPerCore: null, evictionHard: {memory.available: 100Mi}}
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: b}
spec:
  amiFamily: null
  networkInterfaces: null
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: c}
spec:
  networkInterfaces: [{interfaceType: efa-only}, {networkCardIndex: 1, deviceIndex: 1, interfaceType: interface}]
`,
			want: snapshot.Snapshot{NodeClasses: []snapshot.NodeClass{
				{
					Name: "a", Kind: "EC2NodeClass", APIVersion: "karpenter.k8s.aws/v1", AMIFamily: text(""), Alias: text("al2023@latest"), NetworkInterfaces: &[]snapshot.NetworkInterface{},
					Kubelet: &snapshot.Kubelet{MaxPods: jsontext.Value("110"), EvictionHard: snapshot.Labels{{Key: "memory.available", Value: "100Mi"}}},
				},
				{Name: "b", Kind: "EC2NodeClass", APIVersion: "karpenter.k8s.aws/v1"},
				{Name: "c", Kind: "EC2NodeClass", APIVersion: "karpenter.k8s.aws/v1", NetworkInterfaces: &[]snapshot.NetworkInterface{
					{NetworkCardIndex: 0, InterfaceType: "efa-only"}, {NetworkCardIndex: 1, DeviceIndex: 1, InterfaceType: "interface"},
				}},
			}},
		},
		{
			reason: "v1.15: any kubelet field, CEL expressions, and settings that only the node sees",
			yaml: `
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: a}
spec:
  kubelet:
    maxPods: default_enis * (ips_per_eni - 1) + 2
    kubeReserved: {cpu: "vcpus * 10", memory: "4"}
    reservedSystemCPUs: 0-1
    mergeDefaultEvictionSettings: true
    topologyManagerPolicy: single-numa-node
`,
			want: snapshot.Snapshot{NodeClasses: []snapshot.NodeClass{{
				Name: "a", Kind: "EC2NodeClass", APIVersion: "karpenter.k8s.aws/v1",
				Kubelet: &snapshot.Kubelet{
					MaxPods:            jsontext.Value(`"default_enis * (ips_per_eni - 1) + 2"`),
					KubeReserved:       snapshot.Labels{{Key: "cpu", Value: "vcpus * 10"}, {Key: "memory", Value: "4"}},
					ReservedSystemCPUs: "0-1", MergeDefaultEvictionSettings: true,
				},
			}}},
		},
		{
			reason: "a wrong shape inside a class is a problem of that class: v1.15's API takes any object, and others are to be judged",
			yaml: `
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: a}
spec:
  blockDeviceMappings: {}
  networkInterfaces: [7]
  kubelet: {evictionHard: [1]}
`,
			want: snapshot.Snapshot{NodeClasses: []snapshot.NodeClass{{
				Name: "a", Kind: "EC2NodeClass", APIVersion: "karpenter.k8s.aws/v1",
				Problem: "spec.blockDeviceMappings: wrong value: an object cannot stand there; spec.networkInterfaces: wrong value at /0: a number cannot stand there",
				Kubelet: &snapshot.Kubelet{Problem: "spec.kubelet: wrong value at /evictionHard: expected an object, found a list"},
			}}},
		},
		{
			reason: "a NodeOverlay with a capacity",
			yaml: `
apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata: {name: huge}
spec:
  weight: 10
  requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [m5, m6i]}, {key: karpenter.k8s.aws/instance-cpu, operator: Gt, values: ["4"]}]
  capacity: {hugepages-2Mi: 2Gi, smarter-devices/fuse: 1}
`,
			want: snapshot.Snapshot{NodeOverlays: []snapshot.NodeOverlay{{
				Name: "huge", Weight: 10,
				Requirements: []snapshot.Requirement{
					{Key: "karpenter.k8s.aws/instance-family", Operator: "In", Values: []string{"m5", "m6i"}},
					{Key: "karpenter.k8s.aws/instance-cpu", Operator: "Gt", Values: []string{"4"}},
				},
				Capacity: snapshot.Labels{{Key: "hugepages-2Mi", Value: "2Gi"}, {Key: "smarter-devices/fuse", Value: "1"}},
			}}},
		},
		{
			reason: "one object in two API versions of v1.0: the newer counts, in whatever order",
			yaml: `
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a}
---
apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata: {name: a}
---
apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata: {name: b}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: b}
`,
			want: snapshot.Snapshot{NodePools: []snapshot.NodePool{
				{Name: "a", Kind: "NodePool", APIVersion: "karpenter.sh/v1"},
				{Name: "b", Kind: "NodePool", APIVersion: "karpenter.sh/v1"},
			}},
		},
	} {
		t.Run(strings.Fields(row.reason)[0], func(t *testing.T) {
			got := readText(t, row.yaml, Options{})
			kept := snapshot.Snapshot{NodeClaims: got.NodeClaims, NodePools: got.NodePools, NodeClasses: got.NodeClasses, NodeOverlays: got.NodeOverlays}
			if diff := cmp.Diff(row.want, kept); diff != "" {
				t.Errorf("%s (-want +got):\n%s", row.reason, diff)
			}
		})
	}
}
