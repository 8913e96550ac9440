package conformance

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

const header = "instanceType,label:kubernetes.io/arch,label:karpenter.k8s.aws/instance-cpu,label:karpenter.k8s.aws/instance-memory,allocatable:cpu,allocatable:memory,allocatable:ephemeral-storage,allocatable:pods,allocatable:vpc.amazonaws.com/pod-eni,allocatable:aws.amazon.com/neuroncore"

// m5.large with 3 interfaces of 10 addresses: pods 3*9+2 = 29, memory 8192-615 (7.5 %) -574 (11*29+255) -100.
var m5Large = snapshot.InstanceType{
	Name: "m5.large", VCPUs: 2, MemoryMiB: 8192, Architectures: []string{"x86_64"}, ENIs: 3, DefaultCardENIs: 3, IPv4PerENI: 10,
	Limits: &snapshot.VPCLimits{IPv4PerENI: 10, Trunking: true, BranchInterfaces: 9},
}

// h1.16xlarge had 15 interfaces when v0.33.0 was published: pods 15*49+2 = 737 of 50 addresses each.
var h116xlarge = snapshot.InstanceType{
	Name: "h1.16xlarge", VCPUs: 64, MemoryMiB: 262144, Architectures: []string{"x86_64"}, ENIs: 8, DefaultCardENIs: 8, IPv4PerENI: 50,
}

func TestTableCompare(t *testing.T) {
	for _, tc := range []struct {
		name, reason  string
		release, rows string
		equal         int
		explained     int
		differences   []string
	}{
		{
			name: "equal", reason: "an empty cell is zero",
			release: "v1.14.0", rows: "m5.large,amd64,2,8192,1930m,6903Mi,17Gi,29,9,",
			equal: 1,
		},
		{
			name: "one byte off", reason: "quantities are compared as numbers, exactly",
			release: "v1.14.0", rows: "m5.large,amd64,2,8192,1930m,7238320129,17Gi,29,9,",
			differences: []string{"m5.large, allocatable:memory: Karpenter published 7238320129, pkg/expect 7238320128"},
		},
		{
			name: "a resource that we do not have", reason: "it must not pass because nobody looked",
			release: "v1.0.0", rows: "m5.large,amd64,2,8192,1930m,6903Mi,17Gi,29,,1",
			differences: []string{"m5.large, allocatable:aws.amazon.com/neuroncore: Karpenter published 1, pkg/expect 0"},
		},
		{
			name: "pod-eni of another release", reason: "its limits are compiled into the release: only v1.14.0 is compared",
			release: "v1.13.0", rows: "m5.large,amd64,2,8192,1930m,6903Mi,17Gi,29,3,",
			equal: 1,
		},
		{
			name: "pod-eni of v1.14.0", reason: "there it is compared",
			release: "v1.14.0", rows: "m5.large,amd64,2,8192,1930m,6903Mi,17Gi,29,3,",
			differences: []string{"m5.large, allocatable:vpc.amazonaws.com/pod-eni: Karpenter published 3, pkg/expect 9"},
		},
		{
			name: "a label", reason: "another machine under the same name explains the rest of the row",
			release: "v1.14.0", rows: "m5.large,arm64,2,8192,1930m,6903Mi,17Gi,29,9,",
			differences: []string{"m5.large, label:kubernetes.io/arch: Karpenter published arm64, pkg/expect amd64"},
		},
		{
			name: "a type that is not in the catalogue", reason: "a row that cannot be recomputed is a mismatch, not a pass",
			release: "v1.14.0", rows: "m99.large,amd64,2,8192,1930m,6903Mi,17Gi,29,9,",
			differences: []string{"m99.large: not in describe-instance-types"},
		},
		{
			name: "a fact of the day", reason: "put back, every column must be equal",
			// 262144-19661 = 242483; 11*737+255 = 8362; cpu 64000-230
			release: "v0.33.0", rows: "h1.16xlarge,amd64,64,262144,63770m,234021Mi,17Gi,737,,",
			explained: 1,
		},
		{
			name: "a fact of the day that does not explain the row", reason: "the list tolerates facts, not rows",
			release: "v0.33.0", rows: "h1.16xlarge,amd64,64,262144,63770m,234021Mi,17Gi,738,,",
			differences: []string{"h1.16xlarge, allocatable:pods: Karpenter published 738, pkg/expect 737"},
		},
		{
			name: "a fact of the day that is not needed", reason: "an entry that explains nothing would hide the next difference",
			// 11*394+255 = 4589
			release: "v0.33.0", rows: "h1.16xlarge,amd64,64,262144,63770m,237794Mi,17Gi,394,,",
			differences: []string{"h1.16xlarge: equal as it is; remove it from the list of facts"},
		},
		{
			name: "a cell that is no quantity", reason: "the table is broken, and says where",
			release: "v1.14.0", rows: "m5.large,amd64,2,8192,two,6903Mi,17Gi,29,9,",
			differences: []string{`m5.large, allocatable:cpu: "two": quantities must match`},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			folder := t.TempDir()
			write(t, filepath.Join(folder, "karpenter-docs-"+tc.release+".csv"), header+"\n"+tc.rows+"\n")
			tables, err := Tables(folder)
			if err != nil {
				t.Fatal(err)
			}
			got, err := tables[0].Compare([]snapshot.InstanceType{h116xlarge, m5Large})
			if err != nil {
				t.Fatal(err)
			}
			if got.Rows != 1 || got.Equal != tc.equal || got.Explained != tc.explained {
				t.Errorf("%s: got %s", tc.reason, got)
			}
			if !slices.EqualFunc(got.Differences, tc.differences, strings.HasPrefix) {
				t.Errorf("%s: got %q, want %q", tc.reason, got.Differences, tc.differences)
			}
		})
	}
}

func TestTablesPicksUpWhatIsThere(t *testing.T) {
	folder := t.TempDir()
	row := header + "\nm5.large,amd64,2,8192,1930m,6903Mi,17Gi,29,9,\n"
	for _, name := range []string{"karpenter-docs-v1.9.0.csv", "karpenter-docs-v1.10.0.csv", "karpenter-docs-v0.33.0.csv", "other.csv"} {
		write(t, filepath.Join(folder, name), row)
	}
	tables, err := Tables(folder)
	if err != nil {
		t.Fatal(err)
	}
	var releases []string
	for _, table := range tables {
		releases = append(releases, table.Release)
	}
	if want := []string{"v0.33.0", "v1.9.0", "v1.10.0"}; !slices.Equal(releases, want) {
		t.Errorf("got %v, want %v: releases in order, other files left alone", releases, want)
	}
	for name, content := range map[string]string{
		"karpenter-docs-latest.csv": row,
		"karpenter-docs-v1.0.0.csv": "instance,cpu\nm5.large,2\n",
		"karpenter-docs-v1.0.1.csv": header + "\n",
		"karpenter-docs-v1.0.2.csv": header + "\nm5.large,amd64\n",
	} {
		broken := filepath.Join(folder, name)
		write(t, broken, content)
		if _, err := Tables(folder); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got error %v, want one that names the file", name, err)
		}
		if err := os.Remove(broken); err != nil {
			t.Fatal(err)
		}
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
