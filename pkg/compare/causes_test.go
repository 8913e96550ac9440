package compare

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

func labels(pairs ...string) snapshot.Labels {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return snapshot.LabelsOf(m)
}

func amounts(pairs ...string) map[string]string {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return m
}

// mapped is a class with block devices, given as device, size, device, size; a device that starts with "root:" has
// rootVolume: true, an empty size is a snapshot's.
func mapped(pairs ...string) *snapshot.NodeClass {
	class := &snapshot.NodeClass{}
	for i := 0; i < len(pairs); i += 2 {
		name, root := strings.CutPrefix(pairs[i], "root:")
		m := snapshot.BlockDeviceMapping{DeviceName: &name, RootVolume: root, EBS: &snapshot.EBS{}}
		if pairs[i+1] != "" {
			m.EBS.VolumeSize = &pairs[i+1]
		}
		class.BlockDeviceMappings = append(class.BlockDeviceMappings, m)
	}
	return class
}

func claimOf(capacity, allocatable map[string]string) *snapshot.NodeClaim {
	return &snapshot.NodeClaim{Name: "claim", Capacity: snapshot.ParseResources(capacity), Allocatable: snapshot.ParseResources(allocatable)}
}

var raid0 = &snapshot.NodeClass{InstanceStorePolicy: "RAID0"}

// causeCases has at least one row for every cause, with all parts of the row that shows it.
var causeCases = []struct {
	name, reason string
	scene        scene
	resource     string
	field        Field
	ofClaim      bool
	want         map[string]int64
	// evidence is a piece of what the first wanted cause by the row's main says.
	evidence string
}{
	{
		name: "graviton-cma", reason: "before v0.28.0 the 64Mi of every arm64 kernel were expected of the node",
		scene:    scene{version: "0.27.8", overhead: 0.075, family: "AL2", instance: "m6g.large", capacity: amounts("memory", "7921660Ki")},
		resource: expect.Memory,
		want:     map[string]int64{"graviton-cma": -64 * mib, "overhead-percent-too-large": 228348 * kib}, // 7921660 − 7577·1024 + 65536
		evidence: "takes off 551Mi",                                                                       // 615 − 64
	},
	{
		name: "hypervisor-gap", reason: "with an overhead of 0, as Karpenter's own tool has it, all that the machine keeps is a difference",
		scene:    scene{instance: "c5.large", capacity: amounts("memory", "3796816Ki")},
		resource: expect.Memory,
		want:     map[string]int64{"hypervisor-gap": -397488 * kib}, // 4194304 − 3796816
		evidence: "a fraction of 0.0948",
	},
	{
		name: "overhead-percent-too-small", reason: "c7a.medium is over-estimated at the default, by half a per cent",
		scene:    scene{overhead: 0.075, instance: "c7a.medium", allocatable: amounts("memory", "1478156Ki")},
		resource: expect.Memory, field: Allocatable,
		want:     map[string]int64{"overhead-percent-too-small": -7668 * kib}, // 1478156 − 1451·1024
		evidence: "a fraction of 0.0787",
	},
	{
		name: "overhead-percent-too-large", reason: "i4i.32xlarge: 961470Mi expected, 1007423Mi real (#6611)",
		scene:    scene{overhead: 0.075, instance: "i4i.32xlarge", allocatable: amounts("memory", "1007423Mi")},
		resource: expect.Memory, field: Allocatable,
		want:     map[string]int64{"overhead-percent-too-large": 45953 * mib},
		evidence: "no capacity",
	},
	{
		name: "threads-per-core", reason: "half the cpus are on, and kube-reserved follows them",
		scene:    scene{instance: "m6i.xlarge", capacity: amounts("cpu", "2"), allocatable: amounts("cpu", "1930m")},
		resource: expect.CPU, field: Allocatable,
		want:     map[string]int64{"threads-per-core": -1990}, // 1930 − 3920
		evidence: "2 of the type's 4 vCPUs",
	},
	{
		name: "threads-per-core with podsPerCore", reason: "the kubelet multiplies the cpus that are on",
		scene:    scene{instance: "m6i.xlarge", kubelet: &snapshot.Kubelet{PodsPerCore: jsontext.Value("10")}, capacity: amounts("cpu", "2", "pods", "20"), allocatable: amounts("cpu", "1930m", "pods", "20")},
		resource: expect.Pods,
		want:     map[string]int64{"threads-per-core": -20}, // 10·2 − 10·4
	},
	{
		name: "cpus-offline", reason: "CPU options can leave any number of cores on",
		scene:    scene{instance: "m5.16xlarge", capacity: amounts("cpu", "48"), allocatable: amounts("cpu", "47810m")},
		resource: expect.CPU, field: Allocatable,
		want: map[string]int64{"cpus-offline": -15960}, // 47810 − 63770
	},
	{
		name: "storage-not-reported", reason: "a Windows kubelet reports 0 bytes of disk",
		scene:    scene{family: "Windows2022", image: "Windows Server 2022 Datacenter", instance: "m5.xlarge", capacity: amounts("ephemeral-storage", "0")},
		resource: expect.EphemeralStorage,
		want:     map[string]int64{"storage-not-reported": -50 * gib},
	},
	{
		name: "raid0-not-used", reason: "a deep-learning AMI mounts the instance store elsewhere, so pods have the root volume",
		scene:    scene{class: &snapshot.NodeClass{InstanceStorePolicy: "RAID0", BlockDeviceMappings: mapped("/dev/xvda", "100Gi").BlockDeviceMappings}, instance: "g6e.48xlarge", capacity: amounts("ephemeral-storage", "104779756Ki")},
		resource: expect.EphemeralStorage,
		want:     map[string]int64{"raid0-not-used": 100*gib - 7600e9, "filesystem-metadata": -77844 * kib}, // 104779756 − 104857600
		evidence: "7600G",
	},
	{
		name: "raid0-not-told", reason: "user data joined the disks, and the class does not say so",
		scene:    scene{instance: "m6id.xlarge", capacity: amounts("ephemeral-storage", "231260000Ki")},
		resource: expect.EphemeralStorage,
		want:     map[string]int64{"raid0-not-told": 237e9 - 20*gib, "filesystem-metadata": 231260000*kib - 237e9},
		evidence: "instance store of 237G",
	},
	{
		name: "bottlerocket-os-volume", reason: "rootVolume: true on the OS volume makes Karpenter count it",
		scene:    scene{family: "Bottlerocket", class: mapped("root:/dev/xvda", "200Gi"), instance: "m6i.xlarge", capacity: amounts("ephemeral-storage", "20414Mi")},
		resource: expect.EphemeralStorage,
		want:     map[string]int64{"bottlerocket-os-volume": -180 * gib, "filesystem-metadata": -66 * mib},
		evidence: "the default of /dev/xvdb",
	},
	{
		name: "volume-other-device", reason: "the AMI's root device is /dev/sda1, the family's /dev/xvda (#7937)",
		scene:    scene{family: "AL2", class: mapped("/dev/sda1", "400Gi"), instance: "m6i.xlarge", capacity: amounts("ephemeral-storage", "419351532Ki")},
		resource: expect.EphemeralStorage,
		want:     map[string]int64{"volume-other-device": 380 * gib, "filesystem-metadata": -78868 * kib}, // 419351532 − 419430400
		evidence: "maps no /dev/xvda",
	},
	{
		name: "volume-other-device, joined", reason: "user data joined two volumes (#8946)",
		scene:    scene{class: mapped("/dev/xvda", "100Gi", "/dev/xvdb", "200Gi"), instance: "m6i.xlarge", capacity: amounts("ephemeral-storage", "300Gi")},
		resource: expect.EphemeralStorage,
		want:     map[string]int64{"volume-other-device": 200 * gib},
		evidence: "all 2 mappings together",
	},
	{
		name: "volume-other-device, from elsewhere", reason: "a launch template gave the node 50Gi, of which the class knows nothing",
		scene:    scene{instance: "m6i.xlarge", capacity: amounts("ephemeral-storage", "52416492Ki")},
		resource: expect.EphemeralStorage,
		want:     map[string]int64{"volume-other-device": 52416492*kib - 20*gib},
		evidence: "no mapping of the class has that size",
	},
	{
		name: "filesystem-metadata, no capacity", reason: "the disk is worked out of allocatable: (18233774458 + 1Gi) / 0.9",
		scene:    scene{instance: "t4g.xlarge", allocatable: amounts("ephemeral-storage", "18233774458")},
		resource: expect.EphemeralStorage, field: Allocatable,
		want: map[string]int64{"filesystem-metadata": 18233774458 - 17*gib},
	},
	{
		name: "volume-without-size", reason: "a snapshot is as large as it is; Karpenter assumes 20Gi",
		scene:    scene{class: mapped("/dev/xvda", ""), instance: "m6i.xlarge", capacity: amounts("ephemeral-storage", "52416492Ki")},
		resource: expect.EphemeralStorage,
		want:     map[string]int64{"volume-without-size": 52416492*kib - 20*gib},
	},
	{
		name: "filesystem-metadata", reason: "0.06 % of every AL2 disk, and 10 % less of that is reserved",
		scene:    scene{family: "AL2", instance: "m5.large", capacity: amounts("ephemeral-storage", "20959212Ki"), allocatable: amounts("ephemeral-storage", "18242267924")},
		resource: expect.EphemeralStorage, field: Allocatable,
		want: map[string]int64{"filesystem-metadata": 18242267924 - 17*gib},
	},
	{
		name: "custom-networking", reason: "the first interface has no pod addresses: 2·9 + 2",
		scene:    scene{instance: "c5.large", capacity: amounts("pods", "20")},
		resource: expect.Pods,
		want:     map[string]int64{"custom-networking": -9},
	},
	{
		name: "all-network-cards", reason: "60 interfaces on four cards gave p4d.24xlarge 2942 pods (#3720)",
		scene:    scene{version: "0.27.2", family: "AL2", instance: "p4d.24xlarge", capacity: amounts("pods", "737")},
		resource: expect.Pods,
		want:     map[string]int64{"all-network-cards": -2205},
	},
	{
		name: "all-network-cards, memory", reason: "and a kube-reserved of 32617Mi, where the node keeps 8362Mi",
		scene:    scene{version: "0.27.2", family: "AL2", instance: "p4d.24xlarge", capacity: amounts("memory", "1179648Mi"), allocatable: amounts("memory", "1171186Mi")}, // − 8462
		resource: expect.Memory, field: Allocatable,
		want: map[string]int64{"all-network-cards": 24255 * mib},
	},
	{
		name: "prefix-delegation", reason: "max-pods-calculator gives 110 on small types",
		scene:    scene{instance: "m5.large", capacity: amounts("pods", "110")},
		resource: expect.Pods,
		want:     map[string]int64{"prefix-delegation": 81},
	},
	{
		name: "nodeclass-unknown", reason: "a dump of nodes alone does not tell the volume",
		scene:    scene{noClass: true, instance: "m5.large", capacity: amounts("ephemeral-storage", "52416492Ki")},
		resource: expect.EphemeralStorage,
		want:     map[string]int64{"nodeclass-unknown": 52416492*kib - 20*gib},
	},
	{
		name: "max-pods-user-data", reason: "a managed node group's cap, which the class does not know",
		scene:    scene{instance: "m5.16xlarge", capacity: amounts("pods", "250")},
		resource: expect.Pods,
		want:     map[string]int64{"max-pods-user-data": -487},
		evidence: "15 network interfaces",
	},
	{
		name: "overlay-not-on-node", reason: "a NodeOverlay promises a resource that nothing advertises",
		scene:    scene{overlays: []snapshot.NodeOverlay{{Name: "fuse", Capacity: labels("smarter-devices/fuse", "20")}}, instance: "m5.large", capacity: amounts("cpu", "2"), allocatable: amounts("cpu", "1930m")},
		resource: "smarter-devices/fuse",
		want:     map[string]int64{"overlay-not-on-node": -20},
		evidence: "NodeOverlay fuse promises 20",
	},
	{
		name: "device-plugin-shared", reason: "time-slicing: one GPU is advertised four times",
		scene:    scene{instance: "g5.2xlarge", capacity: amounts("nvidia.com/gpu", "4"), allocatable: amounts("nvidia.com/gpu", "4")},
		resource: expect.NvidiaGPU, field: Allocatable,
		want:     map[string]int64{"device-plugin-shared": 3},
		evidence: "4 for each",
	},
	{
		name: "device-plugin-shared, renamed", reason: "MIG slices have names of their own, and the whole GPU is gone",
		scene:    scene{instance: "p4d.24xlarge", capacity: amounts("nvidia.com/mig-1g.5gb", "56"), allocatable: amounts("nvidia.com/mig-1g.5gb", "56")},
		resource: expect.NvidiaGPU, field: Allocatable,
		want:     map[string]int64{"device-plugin-shared": -8},
		evidence: "nvidia.com/mig-1g.5gb",
	},
	{
		name: "device-not-in-ec2", reason: "a fractional GPU counts 0 in EC2's facts",
		scene:    scene{instance: "g5.xlarge", edit: func(t *snapshot.InstanceType) { t.GPUs[0].Count = 0 }, capacity: amounts("nvidia.com/gpu", "1")},
		resource: expect.NvidiaGPU,
		want:     map[string]int64{"device-not-in-ec2": 1},
	},
	{
		name: "efa-not-requested", reason: "Karpenter attaches EFA on request only",
		scene:    scene{instance: "p4d.24xlarge", capacity: amounts("cpu", "2"), allocatable: amounts("cpu", "1930m")},
		resource: expect.EFA,
		want:     map[string]int64{"efa-not-requested": -4},
	},
	{
		name: "efa-one-short", reason: "the first card carries the node's own address",
		scene:    scene{instance: "p4d.24xlarge", claim: claimOf(amounts(expect.EFA, "4"), nil), capacity: amounts(expect.EFA, "3")},
		resource: expect.EFA,
		want:     map[string]int64{"efa-one-short": -1},
	},
	{
		name: "pod-eni-off", reason: "expected of every trunking type, advertised with security groups for pods only",
		scene:    scene{instance: "m5.large", capacity: amounts("cpu", "2"), allocatable: amounts("cpu", "1930m")},
		resource: expect.PodENI,
		want:     map[string]int64{"pod-eni-off": -9},
	},
	{
		name: "windows-ipam-off", reason: "expected of every Windows node, advertised with VPC IPAM only",
		scene:    scene{family: "Windows2022", instance: "m5.large", capacity: amounts("cpu", "2"), allocatable: amounts("cpu", "1930m")},
		resource: expect.PrivateIPv4,
		want:     map[string]int64{"windows-ipam-off": -9},
	},
	{
		name: "vpc-limits-table", reason: "another release's table has another number",
		scene:    scene{instance: "m5.large", capacity: amounts(expect.PodENI, "18")},
		resource: expect.PodENI,
		want:     map[string]int64{"vpc-limits-table": 9},
	},
	{
		name: "device-plugin-absent", reason: "no device plugin runs on the node",
		scene:    scene{instance: "g4dn.xlarge", capacity: amounts("cpu", "2"), allocatable: amounts("cpu", "1930m")},
		resource: expect.NvidiaGPU, field: Allocatable,
		want: map[string]int64{"device-plugin-absent": -1},
	},
	{
		name: "device-unhealthy", reason: "an unhealthy device stays in capacity and leaves allocatable",
		scene:    scene{instance: "p4d.24xlarge", capacity: amounts("nvidia.com/gpu", "8"), allocatable: amounts("nvidia.com/gpu", "7")},
		resource: expect.NvidiaGPU, field: Allocatable,
		want: map[string]int64{"device-unhealthy": -1},
	},
	{
		name: "huge-pages", reason: "pages set aside at boot leave capacity and take allocatable",
		scene:    scene{instance: "m5.large", capacity: amounts("memory", "8Gi", "hugepages-1Gi", "3Gi"), allocatable: amounts("memory", "4446Mi")}, // 8192 − 3072 − 674
		resource: expect.Memory, field: Allocatable,
		want: map[string]int64{"huge-pages": -3 * gib},
	},
	{
		name: "huge-pages, overlay", reason: "a NodeOverlay tells Karpenter of 2Gi, the node has 3Gi",
		scene: scene{
			overlays: []snapshot.NodeOverlay{{Name: "pages", Capacity: labels("hugepages-1Gi", "2Gi")}}, instance: "m5.large",
			capacity: amounts("memory", "8Gi", "hugepages-1Gi", "3Gi"), allocatable: amounts("memory", "4446Mi"),
		},
		resource: expect.Memory, field: Allocatable,
		want:     map[string]int64{"huge-pages": -gib},
		evidence: "the NodeOverlays say 2048Mi",
	},
	{
		name: "reserved-enis", reason: "v1.5.1 reserves memory for 20 pods, the AMI for 29: 11·9 (#8205)",
		scene:    scene{version: "1.5.1", reserved: 1, instance: "m8g.large", capacity: amounts("memory", "8128Mi"), allocatable: amounts("memory", "7454Mi")}, // − 674
		resource: expect.Memory, field: Allocatable,
		want:     map[string]int64{"reserved-enis": -99 * mib},
		evidence: "for 20 pods",
	},
	{
		name: "efa-only-interfaces", reason: "nodeadm counts the EFA-only interface of card 0: 11·49",
		scene: scene{
			class:    &snapshot.NodeClass{NetworkInterfaces: &[]snapshot.NetworkInterface{{}, {DeviceIndex: 1, InterfaceType: "efa-only"}}},
			instance: "p5.48xlarge", capacity: amounts("memory", "2Ti"), allocatable: amounts("memory", "2095697Mi"), // − 255 − 11·100 − 100
		},
		resource: expect.Memory, field: Allocatable,
		want: map[string]int64{"efa-only-interfaces": -539 * mib},
	},
	{
		name: "user-map-replaces-defaults", reason: "kubeReserved without memory is a flag on AL2, so nothing is reserved of memory",
		scene: scene{
			family: "AL2", kubelet: &snapshot.Kubelet{KubeReserved: labels("cpu", "200m")}, instance: "m5.large",
			capacity: amounts("memory", "8Gi"), allocatable: amounts("memory", "8092Mi"), // − 100
		},
		resource: expect.Memory, field: Allocatable,
		want:     map[string]int64{"user-map-replaces-defaults": 574 * mib},
		evidence: "kubeReserved without memory",
	},
	{
		name: "user-map-replaces-defaults, disk", reason: "evictionHard without nodefs.available is all of it on Bottlerocket",
		scene: scene{
			family: "Bottlerocket", kubelet: &snapshot.Kubelet{EvictionHard: labels("memory.available", "5%")}, instance: "m5.large",
			capacity: amounts("ephemeral-storage", "20Gi"), allocatable: amounts("ephemeral-storage", "19Gi"),
		},
		resource: expect.EphemeralStorage, field: Allocatable,
		want:     map[string]int64{"user-map-replaces-defaults": 2 * gib},
		evidence: "evictionHard without nodefs.available",
	},
	{
		name: "no-kube-reserved", reason: "an old AL2 AMI keeps 100Mi and nothing else",
		scene:    scene{family: "AL2", instance: "m5.large", capacity: amounts("memory", "8Gi"), allocatable: amounts("memory", "8092Mi")},
		resource: expect.Memory, field: Allocatable,
		want: map[string]int64{"no-kube-reserved": 574 * mib},
	},
	{
		name: "no-kube-reserved, cpu", reason: "and all of its cpu is allocatable",
		scene:    scene{family: "AL2", instance: "m5.large", capacity: amounts("cpu", "2"), allocatable: amounts("cpu", "2")},
		resource: expect.CPU, field: Allocatable,
		want: map[string]int64{"no-kube-reserved": 70},
	},
	{
		name: "no-kube-reserved, disk", reason: "and of its disk only the 10 % are kept",
		scene:    scene{family: "AL2", instance: "m5.large", capacity: amounts("ephemeral-storage", "20959212Ki"), allocatable: amounts("ephemeral-storage", "19316009748")},
		resource: expect.EphemeralStorage, field: Allocatable,
		want: map[string]int64{"no-kube-reserved": gib, "filesystem-metadata": 18242267924 - 17*gib},
	},
	{
		name: "reserved-system-cpus", reason: "two cpus are kept, and kube-reserved cpu dropped: 90 − 2000",
		scene: scene{
			version: "1.15.2", kubelet: &snapshot.Kubelet{ReservedSystemCPUs: "0-1"}, instance: "m6i.2xlarge",
			capacity: amounts("cpu", "8"), allocatable: amounts("cpu", "6"),
		},
		resource: expect.CPU, field: Allocatable,
		want: map[string]int64{"reserved-system-cpus": -1910},
	},
	{
		name: "system-reserved-invented", reason: "v0.27.0 alone expected a system-reserved of 100Mi (#3568)",
		scene:    scene{version: "0.27.0", family: "AL2", instance: "m5.large", capacity: amounts("memory", "8Gi"), allocatable: amounts("memory", "7518Mi")}, // − 674
		resource: expect.Memory, field: Allocatable,
		want: map[string]int64{"system-reserved-invented": 100 * mib},
	},
	{
		name: "eviction-settings", reason: "up to v1.8 evictionSoft counted; the kubelet keeps the hard 100Mi only",
		scene: scene{
			version: "1.8.0", kubelet: &snapshot.Kubelet{EvictionSoft: labels("memory.available", "500Mi")}, instance: "m5.large",
			capacity: amounts("memory", "8Gi"), allocatable: amounts("memory", "7518Mi"),
		},
		resource: expect.Memory, field: Allocatable,
		want:     map[string]int64{"eviction-settings": 400 * mib},
		evidence: "evictionSoft memory.available: 500Mi",
	},
	{
		name: "eviction-settings in user data", reason: "Bottlerocket's own TOML can set a percentage that Karpenter never sees (#5104)",
		scene: scene{
			family: "Bottlerocket", instance: "m5.large",
			// 5 % of 8Gi as a 32-bit fraction is 429496736; 574Mi besides
			capacity: amounts("memory", "8Gi", "pods", "29"), allocatable: amounts("memory", "7558555232"),
		},
		resource: expect.Memory, field: Allocatable,
		want:     map[string]int64{"eviction-settings": 100*mib - 429496736},
		evidence: "5 % of its capacity",
	},
	{
		name: "kube-reserved-mismatch", reason: "the reserve is for 110 pods, Karpenter counts 58 (#1959)",
		scene:    scene{kubelet: &snapshot.Kubelet{MaxPods: jsontext.Value("110")}, instance: "c5n.xlarge", capacity: amounts("memory", "10752Mi", "pods", "110"), allocatable: amounts("memory", "9187Mi")}, // − 1565
		resource: expect.Memory, field: Allocatable,
		want:     map[string]int64{"kube-reserved-mismatch": -572 * mib}, // 11·(58 − 110)
		evidence: "11Mi × 110 + 255Mi",
	},
	{
		name: "kube-reserved-mismatch, set by hand", reason: "a whole number of MiB that no pod count gives was set in user data",
		scene:    scene{instance: "m5.large", capacity: amounts("memory", "8Gi"), allocatable: amounts("memory", "7068Mi")}, // − 1024 − 100
		resource: expect.Memory, field: Allocatable,
		want:     map[string]int64{"kube-reserved-mismatch": -450 * mib}, // 574 − 1024
		evidence: "set in user data",
	},
	{
		name: "floor-at-zero", reason: "t3.nano on Windows: −1092Mi expected, and a kubelet reports nothing below 0",
		scene:    scene{overhead: 0.075, family: "Windows2022", instance: "t3.nano", capacity: amounts("memory", "430Mi"), allocatable: amounts("memory", "0")},
		resource: expect.Memory, field: Allocatable,
		want: map[string]int64{"overhead-percent-too-small": -43 * mib, "no-kube-reserved": 1465 * mib, "eviction-settings": -400 * mib, "floor-at-zero": 70 * mib},
	},
	{
		name: "rounding", reason: "a figure that was printed rounded is 8Ki off, which explains as well as anything",
		scene:    scene{instance: "m5.large", capacity: amounts("memory", "8Gi"), allocatable: amounts("memory", "7698424Ki")}, // 7518Mi − 8Ki
		resource: expect.Memory, field: Allocatable,
		want: map[string]int64{"rounding": -8 * kib},
	},
	{
		name: "nodeclass-changed", reason: "the class gave 20Gi at launch and gives 100Gi today; the node has what it was launched with",
		scene: scene{
			class: mapped("/dev/xvda", "100Gi"), drifted: true, instance: "m5.large", claim: claimOf(amounts("ephemeral-storage", "20Gi"), amounts("ephemeral-storage", "17Gi")),
			capacity: amounts("ephemeral-storage", "20959212Ki"), allocatable: amounts("ephemeral-storage", "18242267924"),
		},
		resource: expect.EphemeralStorage, field: Allocatable,
		want:     map[string]int64{"nodeclass-changed": -72 * gib, "filesystem-metadata": 18242267924 - 17*gib},
		evidence: "the claim has 17Gi",
	},
	{
		name: "nodeclass-changed, reserve", reason: "kubeReserved was 1Gi at launch, and the node still keeps it",
		scene: scene{
			drifted: true, instance: "m5.large", claim: claimOf(amounts("memory", "8Gi"), amounts("memory", "7068Mi")),
			capacity: amounts("memory", "8Gi"), allocatable: amounts("memory", "7068Mi"),
		},
		resource: expect.Memory, field: Allocatable,
		want: map[string]int64{"nodeclass-changed": -450 * mib},
	},
	{
		name: "nodeclass-changed, no claim", reason: "without a claim nothing tells the difference",
		scene:    scene{drifted: true, class: mapped("/dev/xvda", "100Gi"), instance: "m5.large", capacity: amounts("ephemeral-storage", "50Gi")},
		resource: expect.EphemeralStorage,
		want:     map[string]int64{"nodeclass-changed": -50 * gib},
	},
	{
		name: "unexplained", reason: "no pod count, threshold or round figure makes this reserve",
		scene:    scene{instance: "m5.large", capacity: amounts("memory", "8Gi"), allocatable: amounts("memory", "7574976Ki")}, // 7518Mi − 123456Ki
		resource: expect.Memory, field: Allocatable,
		want:     map[string]int64{"unexplained": -123456 * kib},
		evidence: "residual 120.6Mi",
	},
	{
		name: "discovered-memory", reason: "an earlier m5.16xlarge had 2.6Gi more",
		scene: scene{
			overhead: 0.075, instance: "m5.16xlarge", claim: claimOf(amounts("memory", "261093020Ki"), amounts("memory", "252427932Ki")),
			capacity: amounts("memory", "258340508Ki"), allocatable: amounts("memory", "249675420Ki"),
		},
		resource: expect.Memory, field: Allocatable, ofClaim: true,
		want:     map[string]int64{"discovered-memory": -2752512 * kib},
		evidence: "discovered on an earlier node",
	},
	{
		name: "reserved-enis of a discovered claim", reason: "the 99Mi come on top of a capacity that is right",
		scene: scene{
			version: "1.5.1", overhead: 0.075, reserved: 1, instance: "m8g.large", claim: claimOf(amounts("memory", "7948164Ki"), amounts("memory", "7359364Ki")), // − 575Mi
			capacity: amounts("memory", "7948164Ki"), allocatable: amounts("memory", "7257988Ki"),
		},
		resource: expect.Memory, field: Allocatable, ofClaim: true,
		want:     map[string]int64{"reserved-enis": -99 * mib},
		evidence: "for 20 pods",
	},
	{
		name: "eviction-settings of a discovered claim", reason: "the percentage is of the predicted memory, not of the discovered one (#9455)",
		scene: scene{
			overhead: 0.075, kubelet: &snapshot.Kubelet{EvictionHard: labels("memory.available", "5%")}, instance: "m5.large",
			// 5 % of 7577Mi is 397253018 bytes rounded up, of 7951376Ki 407110457 truncated; 574Mi besides
			claim:    claimOf(amounts("memory", "7951376Ki"), amounts("memory", "7143073382")),
			capacity: amounts("memory", "7951376Ki"), allocatable: amounts("memory", "7133215943"),
		},
		resource: expect.Memory, field: Allocatable, ofClaim: true,
		want:     map[string]int64{"eviction-settings": 397253018 - 407110457},
		evidence: "5 % of its capacity",
	},
	{
		name: "other-settings-at-launch", reason: "the overhead was 0.02 when the node was launched",
		scene: scene{
			overhead: 0.075, instance: "m5.large", claim: claimOf(amounts("memory", "8028Mi"), amounts("memory", "7354Mi")), // 8192 − 164, − 674
			capacity: amounts("memory", "7951376Ki"), allocatable: amounts("memory", "7261200Ki"),
		},
		resource: expect.Memory, field: Allocatable, ofClaim: true,
		want:     map[string]int64{"other-settings-at-launch": -269296 * kib}, // 7951376 − 8028·1024
		evidence: "an overhead of 0.02",
	},
}

func TestCauses(t *testing.T) {
	shown := map[string]bool{SeveralCapacities: true} // the gate's, over nodes
	names := map[string]bool{}
	for _, c := range causeCases {
		if names[c.name] || c.reason == "" {
			t.Fatalf("%q needs a name of its own and a reason", c.name)
		}
		names[c.name] = true
		t.Run(c.name, func(t *testing.T) {
			s := c.scene.subject(t)
			rows := Rows(s)
			row := rowOf(t, rows, c.resource, c.field)
			causes, gap := []Cause(nil), row.Gap().Value
			if c.ofClaim {
				causes, gap = ExplainClaim(s, row), row.ClaimDelta().Value
			} else {
				Detail(s, row)
				causes = row.Causes
			}
			checkParts(t, s, c.name, row, gap, causes)
			if diff := cmp.Diff(c.want, parts(causes)); diff != "" {
				t.Fatalf("%s (-want +got):\n%s%+v", c.reason, diff, causes)
			}
			for _, cause := range causes {
				shown[cause.ID] = true
				if cause.ID != "rounding" && cause.Remedy == "" {
					t.Errorf("%s has no remedy", cause.ID)
				}
			}
			if main := Main(causes, gap); !strings.Contains(main.Evidence, c.evidence) {
				t.Errorf("evidence %q lacks %q", main.Evidence, c.evidence)
			}
		})
	}
	for _, id := range CauseIDs() {
		if !shown[id] {
			t.Errorf("no case shows the cause %s", id)
		}
	}
}
