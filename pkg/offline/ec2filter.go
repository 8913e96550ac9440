package offline

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// filterMembers maps each filter of DescribeInstanceTypes to the member that it looks at, dots between names;
// lists on the way are searched. The whole list of the action's reference page, so that a filter the fake calls
// invalid is invalid in EC2 too.
var filterMembers = map[string]string{
	"auto-recovery-supported":                                 "AutoRecoverySupported",
	"bare-metal":                                              "BareMetal",
	"burstable-performance-supported":                         "BurstablePerformanceSupported",
	"current-generation":                                      "CurrentGeneration",
	"dedicated-hosts-supported":                               "DedicatedHostsSupported",
	"ebs-info.attachment-limit-type":                          "EbsInfo.AttachmentLimitType",
	"ebs-info.maximum-ebs-attachments":                        "EbsInfo.MaximumEbsAttachments",
	"ebs-info.ebs-optimized-info.baseline-bandwidth-in-mbps":  "EbsInfo.EbsOptimizedInfo.BaselineBandwidthInMbps",
	"ebs-info.ebs-optimized-info.baseline-iops":               "EbsInfo.EbsOptimizedInfo.BaselineIops",
	"ebs-info.ebs-optimized-info.baseline-throughput-in-mbps": "EbsInfo.EbsOptimizedInfo.BaselineThroughputInMBps",
	"ebs-info.ebs-optimized-info.maximum-bandwidth-in-mbps":   "EbsInfo.EbsOptimizedInfo.MaximumBandwidthInMbps",
	"ebs-info.ebs-optimized-info.maximum-iops":                "EbsInfo.EbsOptimizedInfo.MaximumIops",
	"ebs-info.ebs-optimized-info.maximum-throughput-in-mbps":  "EbsInfo.EbsOptimizedInfo.MaximumThroughputInMBps",
	"ebs-info.ebs-optimized-support":                          "EbsInfo.EbsOptimizedSupport",
	"ebs-info.encryption-support":                             "EbsInfo.EncryptionSupport",
	"ebs-info.nvme-support":                                   "EbsInfo.NvmeSupport",
	"free-tier-eligible":                                      "FreeTierEligible",
	"hibernation-supported":                                   "HibernationSupported",
	"hypervisor":                                              "Hypervisor",
	"instance-storage-info.disk.count":                        "InstanceStorageInfo.Disks.Count",
	"instance-storage-info.disk.size-in-gb":                   "InstanceStorageInfo.Disks.SizeInGB",
	"instance-storage-info.disk.type":                         "InstanceStorageInfo.Disks.Type",
	"instance-storage-info.encryption-support":                "InstanceStorageInfo.EncryptionSupport",
	"instance-storage-info.nvme-support":                      "InstanceStorageInfo.NvmeSupport",
	"instance-storage-info.total-size-in-gb":                  "InstanceStorageInfo.TotalSizeInGB",
	"instance-storage-supported":                              "InstanceStorageSupported",
	"instance-type":                                           "InstanceType",
	"memory-info.size-in-mib":                                 "MemoryInfo.SizeInMiB",
	"network-info.bandwidth-weightings":                       "NetworkInfo.BandwidthWeightings",
	"network-info.efa-info.maximum-efa-interfaces":            "NetworkInfo.EfaInfo.MaximumEfaInterfaces",
	"network-info.efa-supported":                              "NetworkInfo.EfaSupported",
	"network-info.ena-support":                                "NetworkInfo.EnaSupport",
	"network-info.encryption-in-transit-supported":            "NetworkInfo.EncryptionInTransitSupported",
	"network-info.flexible-ena-queues-support":                "NetworkInfo.FlexibleEnaQueuesSupport",
	"network-info.ipv4-addresses-per-interface":               "NetworkInfo.Ipv4AddressesPerInterface",
	"network-info.ipv6-addresses-per-interface":               "NetworkInfo.Ipv6AddressesPerInterface",
	"network-info.ipv6-supported":                             "NetworkInfo.Ipv6Supported",
	"network-info.maximum-network-cards":                      "NetworkInfo.MaximumNetworkCards",
	"network-info.maximum-network-interfaces":                 "NetworkInfo.MaximumNetworkInterfaces",
	"network-info.network-performance":                        "NetworkInfo.NetworkPerformance",
	"nitro-enclaves-support":                                  "NitroEnclavesSupport",
	"nitro-tpm-info.supported-versions":                       "NitroTpmInfo.SupportedVersions",
	"nitro-tpm-support":                                       "NitroTpmSupport",
	"processor-info.supported-architecture":                   "ProcessorInfo.SupportedArchitectures",
	"processor-info.supported-features":                       "ProcessorInfo.SupportedFeatures",
	"processor-info.sustained-clock-speed-in-ghz":             "ProcessorInfo.SustainedClockSpeedInGhz",
	"reboot-migration-support":                                "RebootMigrationSupport",
	"supported-boot-mode":                                     "SupportedBootModes",
	"supported-root-device-type":                              "SupportedRootDeviceTypes",
	"supported-usage-class":                                   "SupportedUsageClasses",
	"supported-virtualization-type":                           "SupportedVirtualizationTypes",
	"vcpu-info.default-cores":                                 "VCpuInfo.DefaultCores",
	"vcpu-info.default-threads-per-core":                      "VCpuInfo.DefaultThreadsPerCore",
	"vcpu-info.default-vcpus":                                 "VCpuInfo.DefaultVCpus",
	"vcpu-info.valid-cores":                                   "VCpuInfo.ValidCores",
	"vcpu-info.valid-threads-per-core":                        "VCpuInfo.ValidThreadsPerCore",
}

// filter keeps the types whose member has one of the values; values may hold the wildcards * and ?, and a
// backslash takes either literally. Names and values are case-sensitive. A type whose description lacks the
// member is not kept.
type filter struct {
	name   string
	values []string
}

// filters keep the types that every one of them keeps.
type filters []filter

// parseFilters reads Filter.N.Name and Filter.N.Value.M, ordered by N.
func parseFilters(parameters []indexedParameter) (filters, *apiError) {
	byIndex := map[int]*filter{}
	var order []int
	values := 0
	for _, p := range parameters {
		f := byIndex[p.index]
		if f == nil {
			f = &filter{}
			byIndex[p.index] = f
			order = append(order, p.index)
		}
		index, isValue := strings.CutPrefix(p.rest, "Value.")
		_, err := strconv.Atoi(index)
		switch {
		case p.rest == "Name":
			f.name = p.value
		case isValue && err == nil:
			f.values = append(f.values, p.value)
			values++
		default:
			return nil, refuse(http.StatusBadRequest, "UnknownParameter", fmt.Sprintf("The parameter %s is not recognized", p.name))
		}
	}
	if values > maxFilterValues {
		return nil, refuse(http.StatusBadRequest, "FilterLimitExceeded", fmt.Sprintf("The maximum number of filter values specified on a single call is %d", maxFilterValues))
	}

	var all filters
	for _, index := range order {
		f := *byIndex[index]
		if f.name == "" {
			return nil, refuse(http.StatusBadRequest, "InvalidParameterValue", "The filter 'null' is invalid")
		}
		if _, ok := filterMembers[f.name]; !ok {
			return nil, refuse(http.StatusBadRequest, "InvalidParameterValue", fmt.Sprintf("The filter '%s' is invalid", f.name))
		}
		if len(f.values) == 0 {
			return nil, refuse(http.StatusBadRequest, "MissingParameter", fmt.Sprintf("The request must contain the parameter Filter.%d.Value", index))
		}
		all = append(all, f)
	}
	return all, nil
}

func (f filters) match(facts map[string]any) bool {
	for _, one := range f {
		actual := memberValues(facts, strings.Split(filterMembers[one.name], "."))
		if !slices.ContainsFunc(actual, func(value string) bool {
			return slices.ContainsFunc(one.values, func(pattern string) bool { return wildcardMatch(pattern, value) })
		}) {
			return false
		}
	}
	return true
}

func (f filters) String() string {
	return fmt.Sprintf("%q", []filter(f))
}

// memberValues collects the values at a path as text: every element of a list, a number without trailing zeros.
func memberValues(value any, path []string) []string {
	switch value := value.(type) {
	case nil:
		return nil
	case []any:
		var all []string
		for _, v := range value {
			all = append(all, memberValues(v, path)...)
		}
		return all
	case map[string]any:
		if len(path) == 0 {
			return nil
		}
		return memberValues(value[path[0]], path[1:])
	case json.Number:
		number, err := value.Float64()
		if err != nil {
			return []string{value.String()}
		}
		return []string{strconv.FormatFloat(number, 'f', -1, 64)}
	default:
		return []string{fmt.Sprint(value)}
	}
}

// wildcardMatch compares as EC2's filters do: * is any text, ? one character, a backslash makes either literal.
func wildcardMatch(pattern, text string) bool {
	if pattern == "" {
		return text == ""
	}
	switch head := pattern[0]; {
	case head == '*':
		for i := 0; i <= len(text); i++ {
			if wildcardMatch(pattern[1:], text[i:]) {
				return true
			}
		}
		return false
	case text == "":
		return false
	case head == '?':
		return wildcardMatch(pattern[1:], text[1:])
	case head == '\\' && len(pattern) > 1:
		return pattern[1] == text[0] && wildcardMatch(pattern[2:], text[1:])
	default:
		return head == text[0] && wildcardMatch(pattern[1:], text[1:])
	}
}
