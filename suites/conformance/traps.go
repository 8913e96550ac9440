package conformance

import "fmt"

// object and list keep the table below readable: they are JSON objects and lists.
type (
	object = map[string]any
	list   = []any
)

// trap is a NodeClass that a person who reads the formulas gets wrong.
type trap struct {
	why  string
	spec object
}

// device is a block device mapping with a size; sizeless is one of a snapshot.
func device(name, size string) object {
	return object{"deviceName": name, "ebs": object{"volumeSize": size}}
}

func sizeless(name string) object {
	return object{"deviceName": name, "ebs": object{"snapshotID": "snap-0123456789abcdef0"}}
}

func root(mapping object) object {
	mapping["rootVolume"] = true
	return mapping
}

// disks and interfaces without any are an empty list, which is not null.
func disks(family string, mappings ...any) object {
	return object{"amiFamily": family, "blockDeviceMappings": append(list{}, mappings...)}
}

func kubelet(family string, settings object) object {
	return object{"amiFamily": family, "kubelet": settings}
}

func hard(signal, value string) object {
	return kubelet("AL2023", object{"evictionHard": object{signal: value}})
}

func soft(family, signal, value string) object {
	return kubelet(family, object{"evictionSoft": object{signal: value}, "evictionSoftGracePeriod": object{signal: "1m"}})
}

func reserved(name, value string) object {
	return kubelet("AL2023", object{"kubeReserved": object{name: value}})
}

func interfaces(entries ...any) object {
	return object{"amiFamily": "AL2023", "networkInterfaces": append(list{}, entries...)}
}

// traps are asked at 0.075 and no reserved ENIs. Where the CRD would refuse the NodeClass, the reason says so: such a
// class can still stand in a dump, a CRD that was loosened, or a cluster whose CRDs are older.
var traps = []trap{
	{"no kubelet, no disks: the defaults", object{"amiFamily": "AL2023"}},
	{"kubelet null is none", object{"amiFamily": "AL2023", "kubelet": nil}},
	{"kubelet empty is none", kubelet("AL2023", object{})},

	// Which mapping sizes the ephemeral storage.
	{"the first entry of the device counts, though only a later one has a size", disks("Bottlerocket", sizeless("/dev/xvdb"), device("/dev/xvdb", "60Gi"))},
	{"Custom looks at the last entry only", disks("Custom", device("/dev/xvda", "60Gi"), sizeless("/dev/xvdb"))},
	{"a sizeless root volume goes on to the device", disks("AL2", root(sizeless("/dev/sdb")), device("/dev/xvda", "60Gi"))},
	{"a sizeless root volume goes on to the last entry of Custom", disks("Custom", root(sizeless("/dev/sdb")), device("/dev/xvda", "60Gi"))},
	{"the root volume wins over the device", disks("AL2", device("/dev/xvda", "60Gi"), root(device("/dev/sdb", "70Gi")))},
	{"two root volumes: the first (CRD refuses)", disks("AL2", root(sizeless("/dev/sdb")), root(device("/dev/sdc", "70Gi")), device("/dev/xvda", "60Gi"))},
	{"an empty list is none", disks("Windows2022")},
	{"no entry of the Windows device", disks("Windows2019", device("/dev/xvda", "60Gi"))},
	{"Bottlerocket's OS volume does not count", disks("Bottlerocket", device("/dev/xvda", "60Gi"))},
	{"a decimal unit stays decimal", disks("AL2", device("/dev/xvda", "100G"))},
	{"a size of nothing (CRD refuses)", disks("AL2", device("/dev/xvda", "0"))},
	{"a size finer than a byte (CRD refuses)", disks("AL2", device("/dev/xvda", "0.3Gi"))},
	{"a size held as a big decimal, which upstream changes as it subtracts (CRD refuses)", disks("AL2", device("/dev/xvda", "1.5Ti"))},
	{"likewise, of three digits of Ti (CRD refuses)", disks("Custom", device("/dev/xvda", "100Ti"))},
	{"likewise, of six digits of Gi (CRD refuses)", disks("AL2023", root(device("/dev/xvda", "100000Gi")))},
	{"a size as a number (CRD refuses)", disks("AL2", object{"deviceName": "/dev/xvda", "ebs": object{"volumeSize": 64424509440}})},

	// Incomplete mappings: upstream panics where it looks at what is missing.
	{"a root volume without ebs, though the device has a size", disks("AL2", root(object{"deviceName": "/dev/sdb"}), device("/dev/xvda", "60Gi"))},
	{"Custom's last entry without ebs", disks("Custom", device("/dev/xvda", "60Gi"), object{"deviceName": "/dev/sdb"})},
	{"Custom's other entries without ebs", disks("Custom", object{"deviceName": "/dev/sdb"}, device("/dev/xvda", "60Gi"))},
	{"the device without ebs", disks("AL2", object{"deviceName": "/dev/xvda"}, device("/dev/xvda", "60Gi"))},
	{"a later entry of the device without ebs", disks("AL2", device("/dev/xvda", "60Gi"), object{"deviceName": "/dev/xvda"})},
	{"another device without ebs", disks("AL2", object{"deviceName": "/dev/sdb"}, device("/dev/xvda", "60Gi"))},
	{"no device name before the device", disks("AL2", object{"ebs": object{"volumeSize": "60Gi"}}, device("/dev/xvda", "60Gi"))},
	{"no device name after the device", disks("AL2", device("/dev/xvda", "60Gi"), object{"ebs": object{"volumeSize": "70Gi"}})},
	{"no device name and no such device", disks("AL2", object{"ebs": object{"volumeSize": "70Gi"}})},
	{"no device name in a sized root volume", disks("AL2", root(object{"ebs": object{"volumeSize": "70Gi"}}), device("/dev/xvda", "60Gi"))},
	{"no device name in a sizeless root volume", disks("AL2", root(object{"ebs": object{"snapshotID": "snap-1"}}), device("/dev/xvda", "60Gi"))},
	{"no device name under Custom", disks("Custom", object{"ebs": object{"volumeSize": "60Gi"}}, object{"ebs": object{"volumeSize": "70Gi"}})},
	{"an entry that says nothing", disks("AL2", object{})},
	{"RAID0 hides a broken mapping from types with instance store only", object{"amiFamily": "AL2", "instanceStorePolicy": "RAID0", "blockDeviceMappings": list{object{}}}},

	// Instance store.
	{"RAID0 goes before the root volume", object{"amiFamily": "AL2023", "instanceStorePolicy": "RAID0", "blockDeviceMappings": list{root(device("/dev/xvda", "60Gi"))}}},
	{"RAID0 is credited to Windows", object{"amiFamily": "Windows2022", "instanceStorePolicy": "RAID0"}},
	{"RAID0 in small letters is nothing (CRD refuses)", object{"amiFamily": "AL2023", "instanceStorePolicy": "raid0"}},

	// Reserved: which values are read, and how finely.
	{"kube-reserved finer than a byte", reserved("memory", "0.3Gi")},
	{"kube-reserved finer than a millicore", reserved("cpu", "0.0705")},
	{"a billionth of a byte", reserved("memory", "1n")},
	{"finer than a billionth is rounded away from zero when it is parsed", reserved("memory", "1e-10")},
	{"a negative fraction of a byte on the smallest types", kubelet("AL2", object{"systemReserved": object{"memory": "512000000000.3"}})},
	{"a negative fraction of a millicore", kubelet("AL2", object{"systemReserved": object{"cpu": "1000.0005"}})},
	{"fractions that sum to whole bytes", kubelet("AL2", object{"kubeReserved": object{"memory": "0.5"}, "systemReserved": object{"memory": "0.5"}})},
	{"a plus sign", reserved("memory", "+1Gi")},
	{"no digits before the point", reserved("memory", ".5Gi")},
	{"no digits after the point", reserved("memory", "1.Gi")},
	{"a decimal exponent", reserved("memory", "1e9")},
	{"a decimal exponent of minus", reserved("cpu", "1500e-3")},
	{"an exponent with a point, which the CRD lets through", reserved("memory", "1e1.5")},
	{"the same of pid, which capacity does not have", reserved("pid", "1e1.5")},
	{"the same of system-reserved", kubelet("Bottlerocket", object{"systemReserved": object{"pid": "1e1.5"}})},
	{"the empty string (CRD refuses)", reserved("memory", "")},
	{"not a quantity (CRD refuses)", reserved("cpu", "two")},
	{"a negative reservation (CRD refuses)", reserved("memory", "-1Gi")},
	{"more than any machine has", reserved("memory", "9E")},
	{"more than 64 bits of bytes: the parser caps it", reserved("memory", "16Ei")},
	{"more than 64 bits of millicores, which has to be unknown", reserved("cpu", "1E")},
	{"pods and an absent GPU (CRD refuses)", kubelet("AL2023", object{"kubeReserved": object{"pods": "5", "nvidia.com/gpu": "1"}})},
	{"a resource that no type has (CRD refuses)", kubelet("AL2023", object{"kubeReserved": object{"example.com/thing": "1"}})},
	{"hugepages reserved (CRD refuses)", kubelet("AL2023", object{"systemReserved": object{"hugepages-2Mi": "1Gi"}})},
	{"a user's key replaces its default only", reserved("cpu", "0")},

	// Eviction.
	{"7.5 % is a byte above exact arithmetic for some sizes", hard("memory.available", "7.5%")},
	{"15 % likewise", hard("nodefs.available", "15%")},
	{"0 % is zero, not the default", hard("memory.available", "0%")},
	{"100 % is zero, not the default", hard("memory.available", "100%")},
	{"100.00 % likewise", hard("nodefs.available", "100.00%")},
	{"a small threshold replaces the larger default", hard("memory.available", "1")},
	{"a negative threshold raises allocatable", hard("memory.available", "-100Mi")},
	{"a threshold finer than a byte", hard("memory.available", "0.3Gi")},
	{"the empty string, which the CRD lets through", hard("memory.available", "")},
	{"the empty string of a signal that is not read", hard("imagefs.available", "")},
	{"an exponent with a point", hard("nodefs.available", "1e1.5")},
	{"an exponent with a point in a signal that is not read", hard("pid.available", "1e1.5")},
	{"soft alone replaces the default, until v1.8", soft("AL2023", "memory.available", "1Gi")},
	{"soft below the default, until v1.8", soft("AL2023", "memory.available", "1Mi")},
	{"soft is not counted for Bottlerocket", soft("Bottlerocket", "memory.available", "1Gi")},
	{"a broken soft threshold, until v1.8", soft("AL2023", "nodefs.available", "1e1.5")},
	{"a broken soft threshold of Bottlerocket", soft("Bottlerocket", "nodefs.available", "1e1.5")},
	{"a broken soft threshold of a signal that is not read", soft("AL2", "imagefs.available", "")},
	{"an empty soft threshold of Windows, until v1.8", soft("Windows2022", "memory.available", "")},
	{"the larger of soft and hard, until v1.8", kubelet("AL2", object{"evictionHard": object{"memory.available": "5%", "nodefs.available": "20%"}, "evictionSoft": object{"memory.available": "10%", "nodefs.available": "15%"}})},
	{"soft 100 % is zero and loses", kubelet("AL2", object{"evictionHard": object{"memory.available": "5%"}, "evictionSoft": object{"memory.available": "100%"}})},
	{"a percentage of RAID0's decimal total", object{"amiFamily": "AL2023", "instanceStorePolicy": "RAID0", "kubelet": object{"evictionHard": object{"nodefs.available": "7.5%"}}}},
	{"a percentage with an exponent (CRD refuses)", hard("memory.available", "1e2%")},
	{"a percentage in hexadecimal (CRD refuses)", hard("memory.available", "0x1p3%")},
	{"a percentage with an underscore (CRD refuses)", hard("memory.available", "1_0%")},
	{"a percentage without leading digits (CRD refuses)", hard("memory.available", ".5%")},
	{"a negative percentage (CRD refuses)", hard("memory.available", "-5%")},
	{"a percentage above 100 (CRD refuses)", hard("memory.available", "250%")},
	{"signs at both ends (CRD refuses)", hard("memory.available", "%%5%%")},
	{"a percent sign in front only is no percentage (CRD refuses)", hard("memory.available", "%5")},
	{"a space before the percentage (CRD refuses)", hard("memory.available", " 5%")},
	{"the sign alone (CRD refuses)", hard("memory.available", "%")},
	{"an infinite percentage (CRD refuses)", hard("memory.available", "inf%")},
	{"no number (CRD refuses)", hard("memory.available", "nan%")},
	{"a percentage beyond a double (CRD refuses)", hard("memory.available", "1e999%")},
	{"a percentage whose bytes a double does not hold exactly (CRD refuses)", hard("memory.available", "123456789%")},

	// Pods.
	{"maxPods 0 is set", kubelet("AL2023", object{"maxPods": 0})},
	{"maxPods 0 of a family that reserves by pods", kubelet("Bottlerocket", object{"maxPods": 0})},
	{"podsPerCore 0 is not set", kubelet("AL2023", object{"podsPerCore": 0})},
	{"podsPerCore below maxPods", kubelet("AL2", object{"maxPods": 110, "podsPerCore": 1})},
	{"podsPerCore is ignored by Bottlerocket", kubelet("Bottlerocket", object{"podsPerCore": 1})},
	{"podsPerCore lowers what Windows reserves", kubelet("Windows2022", object{"podsPerCore": 1})},
	{"the largest maxPods", kubelet("Bottlerocket", object{"maxPods": 2147483647})},

	// Family.
	{"an empty amiFamily is set: AL2 rules (CRD refuses)", object{"amiFamily": "", "amiSelectorTerms": list{object{"alias": "bottlerocket@latest"}}}},
	{"amiFamily null is not set", object{"amiFamily": nil, "amiSelectorTerms": list{object{"alias": "bottlerocket@latest"}}}},
	{"a family in small letters: AL2 rules (CRD refuses)", object{"amiFamily": "bottlerocket"}},
	{"Ubuntu is gone: AL2 rules (CRD refuses)", object{"amiFamily": "Ubuntu"}},
	{"Windows2025 before v1.9: AL2 rules (CRD refuses)", object{"amiFamily": "Windows2025"}},
	{"the first term that has an alias", object{"amiSelectorTerms": list{object{"id": "ami-1"}, object{"alias": "windows2022@latest"}}}},
	{"no family and no alias: Custom (CRD refuses)", object{}},

	// Network interfaces, from v1.11; before, the field does not exist.
	{"null is absent", object{"amiFamily": "AL2023", "networkInterfaces": nil}},
	{"an empty list is not: no EFA", interfaces()},
	{"EFA-only interfaces of card 0 cost pods", interfaces(object{"networkCardIndex": 0, "deviceIndex": 1, "interfaceType": "efa-only"})},
	{"those of other cards do not", interfaces(object{"networkCardIndex": 1, "deviceIndex": 1, "interfaceType": "efa-only"})},
	{"a missing card index is card 0 (CRD refuses)", interfaces(object{"deviceIndex": 1, "interfaceType": "efa-only"})},
	{"the type is compared exactly (CRD refuses)", interfaces(object{"networkCardIndex": 0, "deviceIndex": 1, "interfaceType": "EFA-only"})},
	{"more EFA-only interfaces than ENIs (CRD refuses)", interfaces(
		object{"networkCardIndex": 0, "deviceIndex": 1, "interfaceType": "efa-only"}, object{"networkCardIndex": 0, "deviceIndex": 2, "interfaceType": "efa-only"},
		object{"networkCardIndex": 0, "deviceIndex": 3, "interfaceType": "efa-only"}, object{"networkCardIndex": 0, "deviceIndex": 4, "interfaceType": "efa-only"})},
}

// Traps are the hand-made cases: the table above, and options that are traps by themselves.
func Traps() []Case {
	var cases []Case
	add := func(why string, spec object, overheadPercent float64, reservedENIs int) {
		cases = append(cases, Case{
			ID: fmt.Sprintf("trap-%d", len(cases)), Why: why, NodeClass: nodeClass(spec),
			OverheadPercent: overheadPercent, ReservedENIs: reservedENIs,
		})
	}
	for _, t := range traps {
		add(t.why, t.spec, 0.075, 0)
	}
	al2023, bottlerocket := object{"amiFamily": "AL2023"}, object{"amiFamily": "Bottlerocket"}
	add("0.07, where a double is 1 MiB above exact arithmetic", al2023, 0.07, 0)
	add("an overhead of everything", al2023, 1, 0)
	add("an overhead above everything: negative memory", al2023, 1.5, 0)
	add("reserved ENIs do not lower kube-reserved of AL2023 from v1.5.2", al2023, 0.075, 2)
	add("reserved ENIs lower that of Bottlerocket", bottlerocket, 0.075, 2)
	add("more reserved ENIs than a type has: no pods", al2023, 0.075, 20)
	add("likewise with Bottlerocket", bottlerocket, 0.075, 20)
	return cases
}
