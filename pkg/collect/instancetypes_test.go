package collect

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// typeJSON is an instance type as the AWS CLI prints it, with members that are passed over.
func typeJSON(name string) string {
	return `{"InstanceType": "` + name + `", "CurrentGeneration": true, "BareMetal": false, "Hypervisor": "nitro",
	"ProcessorInfo": {"SupportedArchitectures": ["x86_64"], "SustainedClockSpeedInGhz": 3.1},
	"VCpuInfo": {"DefaultVCpus": 2, "DefaultCores": 1}, "MemoryInfo": {"SizeInMiB": 8192}, "InstanceStorageSupported": false,
	"NetworkInfo": {"MaximumNetworkInterfaces": 3, "Ipv4AddressesPerInterface": 10, "DefaultNetworkCardIndex": 0, "EfaSupported": false,
		"NetworkCards": [{"NetworkCardIndex": 0, "MaximumNetworkInterfaces": 3}]}}`
}

func m5Large() snapshot.InstanceType {
	return snapshot.InstanceType{
		Name: "m5.large", VCPUs: 2, MemoryMiB: 8192, Architectures: []string{"x86_64"}, ENIs: 3, DefaultCardENIs: 3, IPv4PerENI: 10,
		Limits: &snapshot.VPCLimits{IPv4PerENI: 10, Trunking: true, BranchInterfaces: 9},
	}
}

func typeNames(types []snapshot.InstanceType) string {
	var out []string
	for _, t := range types {
		out = append(out, t.Name)
	}
	return strings.Join(out, " ")
}

func TestFormsOfInstanceTypes(t *testing.T) {
	a, b := typeJSON("m5.large"), typeJSON("c5.large")
	for _, row := range []struct {
		reason string
		files  map[string]string
		want   string
	}{
		{"the CLI's output", map[string]string{"x.json": `{"InstanceTypes":[` + a + `,` + b + `]}`}, "c5.large m5.large"},
		{"pages one behind the other", map[string]string{"x.json": `{"InstanceTypes":[` + a + `],"NextToken":"t"}` + "\n" + `{"InstanceTypes":[` + b + `]}`}, "c5.large m5.large"},
		{"an empty page with a token, as EC2 may answer", map[string]string{"x.json": `{"InstanceTypes":[],"NextToken":"t"}{"InstanceTypes":[` + b + `]}`}, "c5.large"},
		{"--query InstanceTypes", map[string]string{"x.json": `[` + a + `,` + b + `]`}, "c5.large m5.large"},
		{"pages in files, among others", map[string]string{
			"1.json": `{"InstanceTypes":[` + a + `]}`, "deep/2.json": `{"InstanceTypes":[` + b + `,` + a + `]}`,
			"limits.json": `{"m5.large":{"interface":3}}`, "cases.json": `[{"id":1}, 7]`, "notes.yaml": "a: b\n", "README.md": "x",
		}, "c5.large m5.large"},
	} {
		dir := files(t, row.files)
		path := dir
		if len(row.files) == 1 {
			path = filepath.Join(dir, "x.json")
		}
		types, err := InstanceTypes(path)
		if err != nil {
			t.Errorf("%s: %v", row.reason, err)
			continue
		}
		if got := typeNames(types); got != row.want {
			t.Errorf("%s: %q, want %q", row.reason, got, row.want)
		}
	}
}

func TestInstanceTypeFacts(t *testing.T) {
	store := int64(600)
	replace := func(old, with string) string { return strings.Replace(typeJSON("m5.large"), old, with, 1) }
	for _, row := range []struct {
		reason, json string
		change       func(*snapshot.InstanceType)
	}{
		{"as it is", typeJSON("m5.large"), func(*snapshot.InstanceType) {}},
		{"bare metal", replace(`"BareMetal": false`, `"BareMetal": true`), func(i *snapshot.InstanceType) { i.BareMetal = true }},
		{"instance store", replace(`"InstanceStorageSupported": false`, `"InstanceStorageSupported": true, "InstanceStorageInfo": {"TotalSizeInGB": 600}`), func(i *snapshot.InstanceType) { i.InstanceStoreGB = &store }},
		{"instance store of unknown size", replace(`"InstanceStorageSupported": false`, `"InstanceStorageSupported": true, "InstanceStorageInfo": {}`), func(*snapshot.InstanceType) {}},
		{"instance store cut off by --query", replace(`"InstanceStorageSupported": false`, `"InstanceStorageSupported": true`), func(i *snapshot.InstanceType) { i.Missing = []snapshot.Fact{snapshot.FactInstanceStore} }},
		{"the default card is the second in the list", replace(`"DefaultNetworkCardIndex": 0`, `"DefaultNetworkCardIndex": 1`)[:len(typeJSON("m5.large"))-3] + `,{"MaximumNetworkInterfaces": 7}]}}`, func(i *snapshot.InstanceType) { i.DefaultCardENIs = 7 }},
		{"no such card: upstream would panic", replace(`"DefaultNetworkCardIndex": 0`, `"DefaultNetworkCardIndex": 1`), func(i *snapshot.InstanceType) {
			i.DefaultCardENIs, i.Missing = 0, []snapshot.Fact{snapshot.FactNetwork}
		}},
		{"EFA", replace(`"EfaSupported": false`, `"EfaSupported": true, "EfaInfo": {"MaximumEfaInterfaces": 2}`), func(i *snapshot.InstanceType) { i.EFAs = 2 }},
		{"EFA without its number", replace(`"EfaSupported": false`, `"EfaSupported": true`), func(i *snapshot.InstanceType) { i.Missing = []snapshot.Fact{snapshot.FactEFA} }},
		{"GPUs, one kind with a count of 0 (g6f)", replace(`"BareMetal"`, `"GpuInfo": {"Gpus": [{"Manufacturer": "NVIDIA", "Count": 0}, {"Manufacturer": "AMD", "Count": 4}]}, "BareMetal"`), func(i *snapshot.InstanceType) {
			i.GPUs = []snapshot.Device{{Manufacturer: "NVIDIA"}, {Manufacturer: "AMD", Count: 4}}
		}},
		{"inference accelerators and Neuron devices, one without cores", replace(`"BareMetal"`, `"InferenceAcceleratorInfo": {"Accelerators": [{"Manufacturer": "AWS", "Count": 1}]}, "NeuronInfo": {"NeuronDevices": [{"Count": 1, "CoreInfo": {"Count": 2}}, {"Count": 3}]}, "BareMetal"`), func(i *snapshot.InstanceType) {
			i.InferenceAccelerators = []snapshot.Device{{Manufacturer: "AWS", Count: 1}}
			i.Neurons = []snapshot.Neuron{{Count: 1, Cores: 2}, {Count: 3}}
		}},
		{"a type that the limits table does not have", strings.Replace(typeJSON("m5.large"), "m5.large", "x9.large", 1), func(i *snapshot.InstanceType) { i.Name, i.Limits = "x9.large", nil }},
		{"an answer of a CLI older than NeuronInfo", strings.Replace(typeJSON("m5.large"), "m5.large", "trn9.large", 1), func(i *snapshot.InstanceType) {
			i.Name, i.Limits, i.Missing = "trn9.large", nil, []snapshot.Fact{snapshot.FactNeuron}
		}},
		{"no network at all", `{"InstanceType":"m5.large","ProcessorInfo":{"SupportedArchitectures":["x86_64"]},"VCpuInfo":{"DefaultVCpus":2},"MemoryInfo":{"SizeInMiB":8192}}`, func(i *snapshot.InstanceType) {
			i.ENIs, i.DefaultCardENIs, i.IPv4PerENI = 0, 0, 0
			i.Missing = []snapshot.Fact{snapshot.FactNetwork, snapshot.FactEFA}
		}},
	} {
		want := m5Large()
		row.change(&want)
		got, err := decodeInstanceTypes(strings.NewReader(`{"InstanceTypes":[`+row.json+`]}`), "x")
		if err != nil {
			t.Errorf("%s: %v", row.reason, err)
			continue
		}
		if diff := cmp.Diff([]snapshot.InstanceType{want}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.reason, diff)
		}
	}
}

func TestBrokenInstanceTypes(t *testing.T) {
	a := typeJSON("m5.large")
	for _, row := range []struct{ reason, text, want string }{
		{"empty", "", "it is empty"},
		{"YAML", "InstanceTypes: []\n", "it is no JSON: write it with aws ec2 describe-instance-types --output json"},
		{"no type", `{"InstanceTypes":[]}`, "no instance type in it"},
		{"a kubectl dump", `{"apiVersion":"v1","items":[],"kind":"List"}`, "no instance type in it"},
		{"cut off", `{"InstanceTypes":[` + a + `,`, "the file ends in the middle"},
		{"no name", `{"InstanceTypes":[{}]}`, "an instance type has no InstanceType"},
		{"no vCPUs", `{"InstanceTypes":[` + strings.Replace(a, "DefaultVCpus", "X", 1) + `]}`, "m5.large has no VCpuInfo.DefaultVCpus"},
		{"no memory", `{"InstanceTypes":[` + strings.Replace(a, "SizeInMiB", "X", 1) + `]}`, "m5.large has no MemoryInfo.SizeInMiB"},
		{"no architecture", `{"InstanceTypes":[` + strings.Replace(a, `["x86_64"]`, `[]`, 1) + `]}`, "m5.large has no ProcessorInfo.SupportedArchitectures"},
		{"a number that is none", `{"InstanceTypes":[` + strings.Replace(a, `8192`, `"8 GB"`, 1) + `]}`, "m5.large: wrong value at /InstanceTypes/0/MemoryInfo/SizeInMiB: a string cannot stand there"},
		{"a number that does not fit", `{"InstanceTypes":[` + strings.Replace(a, `8192`, `1e99`, 1) + `]}`, "/InstanceTypes/0/MemoryInfo/SizeInMiB"},
		{"a list that is none", `{"InstanceTypes":{}}`, "InstanceTypes: expected a list, found an object"},
		{"one type with two sets of facts", `{"InstanceTypes":[` + a + `,` + strings.Replace(a, "8192", "4096", 1) + `]}`, "m5.large is also in "},
	} {
		path := filepath.Join(files(t, map[string]string{"types.json": row.text}), "types.json")
		types, err := InstanceTypes(path)
		var broken *InputError
		if !errors.As(err, &broken) || !strings.Contains(err.Error(), row.want) || !strings.Contains(err.Error(), "types.json") {
			t.Errorf("%s: %d types, the error is %v and does not say %q", row.reason, len(types), err, row.want)
		}
	}
	if _, err := InstanceTypes("-"); err == nil || !strings.Contains(err.Error(), "not read from stdin") {
		t.Errorf("stdin: %v", err)
	}
}

// The whole catalogue, where there is one: every type is read with all its facts.
func TestCatalogue(t *testing.T) {
	dir := os.Getenv("INSTANCE_TYPE_DATA")
	if dir == "" {
		t.Skip("INSTANCE_TYPE_DATA is not set: a folder of aws ec2 describe-instance-types output")
	}
	types, err := InstanceTypes(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(types) < 1000 {
		t.Errorf("only %d types were read", len(types))
	}
	for _, i := range types {
		if len(i.Missing) > 0 {
			t.Errorf("%s lacks %v", i.Name, i.Missing)
		}
	}
}

func node(labels map[string]string) snapshot.Node {
	return snapshot.Node{Labels: snapshot.LabelsOf(labels)}
}

func TestTypesFromLabels(t *testing.T) {
	store := int64(600)
	label := func(more ...string) map[string]string {
		m := map[string]string{
			snapshot.LabelInstanceType: "m5.large", snapshot.LabelArch: "amd64", labelCPU: "2", labelMemory: "8192", labelSize: "large", labelHypervisor: "nitro",
		}
		for i := 0; i < len(more); i += 2 {
			m[more[i]] = more[i+1]
			if more[i+1] == "" {
				delete(m, more[i])
			}
		}
		return m
	}
	for _, row := range []struct {
		reason string
		labels map[string]string
		change func(*snapshot.InstanceType)
	}{
		{"as Karpenter labels it; EFA is on no label", label(), func(*snapshot.InstanceType) {}},
		{"the old name of the type label", label(snapshot.LabelInstanceType, "", snapshot.LabelInstanceTypeOld, "m5.large"), func(*snapshot.InstanceType) {}},
		{"arm64 is called alike by both", label(snapshot.LabelArch, "arm64"), func(i *snapshot.InstanceType) { i.Architectures = []string{"arm64"} }},
		{"NVMe disks", label(labelLocalNVMe, "600"), func(i *snapshot.InstanceType) { i.InstanceStoreGB = &store }},
		{"disks of unknown size, labelled 0 before v1.1.0", label(labelLocalNVMe, "0"), func(*snapshot.InstanceType) {}},
		{"no NVMe label on Xen: there may be other disks", label(labelHypervisor, "xen"), func(i *snapshot.InstanceType) {
			i.Missing = []snapshot.Fact{snapshot.FactInstanceStore, snapshot.FactEFA}
		}},
		{"an NVMe label on Xen tells", label(labelHypervisor, "xen", labelLocalNVMe, "600"), func(i *snapshot.InstanceType) { i.InstanceStoreGB = &store }},
		{"GPUs, spelled as EC2 does", label(labelGPUManufacturer, "nvidia", labelGPUCount, "4"), func(i *snapshot.InstanceType) {
			i.GPUs = []snapshot.Device{{Manufacturer: "NVIDIA", Count: 4}}
		}},
		{"bare metal", label(labelSize, "metal-24xl", labelHypervisor, ""), func(i *snapshot.InstanceType) { i.BareMetal = true }},
		{"Neuron devices: their cores are on no label", label(snapshot.LabelInstanceType, "inf9.xlarge", labelAcceleratorCount, "1"), func(i *snapshot.InstanceType) {
			*i = snapshot.InstanceType{
				Name: "inf9.xlarge", VCPUs: 2, MemoryMiB: 8192, Architectures: []string{"x86_64"}, InferenceAccelerators: []snapshot.Device{{Manufacturer: "AWS", Count: 1}},
				Missing: []snapshot.Fact{snapshot.FactNetwork, snapshot.FactEFA, snapshot.FactNeuron},
			}
		}},
		{"a type that the limits library does not know", label(snapshot.LabelInstanceType, "x9.large"), func(i *snapshot.InstanceType) {
			*i = snapshot.InstanceType{Name: "x9.large", VCPUs: 2, MemoryMiB: 8192, Architectures: []string{"x86_64"}, Missing: []snapshot.Fact{snapshot.FactNetwork, snapshot.FactEFA}}
		}},
		{"several network cards: the default one apart from the sum", label(snapshot.LabelInstanceType, "p4d.24xlarge"), func(i *snapshot.InstanceType) {
			i.Name, i.ENIs, i.DefaultCardENIs, i.IPv4PerENI = "p4d.24xlarge", 60, 15, 50
			i.Limits = &snapshot.VPCLimits{IPv4PerENI: 50, Trunking: true, BranchInterfaces: 62}
		}},
	} {
		want := m5Large()
		want.Missing = []snapshot.Fact{snapshot.FactEFA}
		row.change(&want)
		if diff := cmp.Diff([]snapshot.InstanceType{want}, TypesFromLabels([]snapshot.Node{node(row.labels)})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.reason, diff)
		}
	}
	for _, row := range []struct {
		reason string
		labels map[string]string
	}{
		{"not Karpenter's: no facts on labels", map[string]string{snapshot.LabelInstanceType: "m5.large", snapshot.LabelArch: "amd64"}},
		{"no memory", label(labelMemory, "")},
		{"no vCPUs", label(labelCPU, "")},
		{"vCPUs that are no number", label(labelCPU, "two")},
		{"a negative amount", label(labelMemory, "-1")},
		{"no architecture", label(snapshot.LabelArch, "")},
		{"no type", label(snapshot.LabelInstanceType, "")},
	} {
		if got := TypesFromLabels([]snapshot.Node{node(row.labels)}); got != nil {
			t.Errorf("%s: %+v", row.reason, got)
		}
	}
	// A type is known as soon as one of its nodes tells; types come in name order.
	got := TypesFromLabels([]snapshot.Node{node(label(labelCPU, "")), node(label()), node(label(snapshot.LabelInstanceType, "c5.large")), node(label())})
	if typeNames(got) != "c5.large m5.large" {
		t.Errorf("types %q", typeNames(got))
	}
}

// --instance-types: what the snapshot holds, labels, or a file, of which only the types of the nodes are kept.
func TestSourceOfFacts(t *testing.T) {
	dir := files(t, map[string]string{"types.json": `{"InstanceTypes":[` + typeJSON("m5.large") + `,` + typeJSON("c5.large") + `]}`})
	dump := strings.Replace(nodeJSON("a"), `"team": "a"`, `"kubernetes.io/arch": "amd64", "karpenter.k8s.aws/instance-cpu": "2", "karpenter.k8s.aws/instance-memory": "8192"`, 1)
	recorded := filepath.Join(t.TempDir(), "s.json")
	if err := snapshot.Write(recorded, &snapshot.Snapshot{Cluster: "x", InstanceTypesFrom: "ec2", InstanceTypes: []snapshot.InstanceType{m5Large()}}); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ reason, path, source, from, types string }{
		{"a dump has labels alone", "-", "auto", "labels", "m5.large"},
		{"nothing said is auto", "-", "", "labels", "m5.large"},
		{"labels", "-", "labels", "labels", "m5.large"},
		{"a file, cut down to the nodes' types", "-", filepath.Join(dir, "types.json"), "file", "m5.large"},
		{"a directory", "-", dir, "file", "m5.large"},
		{"ec2 is the caller's", "-", "ec2", "", ""},
		{"a snapshot keeps its own", recorded, "auto", "ec2", "m5.large"},
		{"labels replace a snapshot's own", recorded, "labels", "labels", ""},
		{"a file replaces a snapshot's own", recorded, dir, "file", ""},
	} {
		in, err := Files([]string{row.path}, strings.NewReader(dump), Options{InstanceTypes: row.source})
		if err != nil {
			t.Errorf("%s: %v", row.reason, err)
			continue
		}
		s := in.Snapshots[0]
		if s.InstanceTypesFrom != row.from || typeNames(s.InstanceTypes) != row.types {
			t.Errorf("%s: %q from %q, want %q from %q", row.reason, typeNames(s.InstanceTypes), s.InstanceTypesFrom, row.types, row.from)
		}
	}
	if _, err := Files([]string{"-"}, strings.NewReader(dump), Options{InstanceTypes: filepath.Join(dir, "none")}); err == nil {
		t.Error("a missing file of instance types went unnoticed")
	}
}
