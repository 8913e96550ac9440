package expect

import (
	"slices"
	"testing"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

func TestFamilyNamed(t *testing.T) {
	for _, row := range []struct{ reason, name, version, want string }{
		{"a family of all releases", "Bottlerocket", "0.27.0", "Bottlerocket"},
		{"Ubuntu up to v0.37", "Ubuntu", "0.37.8", "Ubuntu"},
		{"Ubuntu from v1.0 on is no family", "Ubuntu", "1.0.0", "AL2"},
		{"AL2023 before v0.35.0", "AL2023", "0.34.13", "AL2"},
		{"AL2023 from v0.35.0 on", "AL2023", "0.35.0", "AL2023"},
		{"Windows before v0.29.0", "Windows2019", "0.28.1", "AL2"},
		{"Windows from v0.29.0 on", "Windows2019", "0.29.0", "Windows2019"},
		{"Windows2025 before v1.9.0", "Windows2025", "1.8.8", "AL2"},
		{"Windows2025 from v1.9.0 on", "Windows2025", "1.9.0", "Windows2025"},
		{"the empty name", "", "1.15.2", "AL2"},
		{"an unknown one", "Flatcar", "1.15.2", "AL2"},
		{"names are compared exactly", "al2023", "1.15.2", "AL2"},
		{"also these", "bottlerocket", "1.15.2", "AL2"},
	} {
		if got := FamilyNamed(row.name, versionOf(t, row.version)).Name; got != row.want {
			t.Errorf("%s: %q in v%s is %s, want %s", row.reason, row.name, row.version, got, row.want)
		}
	}
}

func TestFamilyOf(t *testing.T) {
	text := func(s string) *string { return &s }
	const unknownAlias = ` of EC2NodeClass "default" names no AMI family: Karpenter stops on it`
	for _, row := range []struct {
		reason           string
		kind, apiVersion string
		family, alias    *string
		version          string
		want             string // the family, or the error
	}{
		{"v1alpha5 without a family", "AWSNodeTemplate", "karpenter.k8s.aws/v1alpha1", nil, nil, "0.31.0", "AL2"},
		{"v1alpha5 with one", "AWSNodeTemplate", "karpenter.k8s.aws/v1alpha1", text("Bottlerocket"), nil, "0.31.0", "Bottlerocket"},
		{"an inline provider", "Provisioner", "karpenter.sh/v1alpha5", nil, nil, "0.31.0", "AL2"},
		{"v1beta1", "EC2NodeClass", "karpenter.k8s.aws/v1beta1", text("AL2023"), nil, "0.37.0", "AL2023"},
		{"v1beta1 without the required field", "EC2NodeClass", "karpenter.k8s.aws/v1beta1", nil, nil, "0.37.0", "AL2"},
		{"v1: the family", "EC2NodeClass", "karpenter.k8s.aws/v1", text("Bottlerocket"), nil, "1.15.2", "Bottlerocket"},
		{"before the alias", "EC2NodeClass", "karpenter.k8s.aws/v1", text("Custom"), text("al2023@latest"), "1.15.2", "Custom"},
		{"an empty family is set, so the alias does not count", "EC2NodeClass", "karpenter.k8s.aws/v1", text(""), text("al2023@latest"), "1.15.2", "AL2"},
		{"the alias", "EC2NodeClass", "karpenter.k8s.aws/v1", nil, text("al2023@v20240807"), "1.15.2", "AL2023"},
		{"al2", "EC2NodeClass", "karpenter.k8s.aws/v1", nil, text("al2@latest"), "1.15.2", "AL2"},
		{"bottlerocket", "EC2NodeClass", "karpenter.k8s.aws/v1", nil, text("bottlerocket@v1.20.4"), "1.15.2", "Bottlerocket"},
		{"windows2022", "EC2NodeClass", "karpenter.k8s.aws/v1", nil, text("windows2022@latest"), "1.0.0", "Windows2022"},
		{"windows2025 from v1.9.0 on", "EC2NodeClass", "karpenter.k8s.aws/v1", nil, text("windows2025@latest"), "1.9.0", "Windows2025"},
		{"neither is Custom", "EC2NodeClass", "karpenter.k8s.aws/v1", nil, nil, "1.15.2", "Custom"},

		{"windows2025 before", "EC2NodeClass", "karpenter.k8s.aws/v1", nil, text("windows2025@latest"), "1.8.8", `alias "windows2025@latest"` + unknownAlias},
		{"Custom has no alias", "EC2NodeClass", "karpenter.k8s.aws/v1", nil, text("custom@latest"), "1.15.2", `alias "custom@latest"` + unknownAlias},
		{"nor has Ubuntu", "EC2NodeClass", "karpenter.k8s.aws/v1", nil, text("ubuntu@latest"), "1.15.2", `alias "ubuntu@latest"` + unknownAlias},
		{"an alias is lower case", "EC2NodeClass", "karpenter.k8s.aws/v1", nil, text("AL2023@latest"), "1.15.2", `alias "AL2023@latest"` + unknownAlias},
		{"without a version", "EC2NodeClass", "karpenter.k8s.aws/v1", nil, text("al2023"), "1.15.2", `alias "al2023"` + unknownAlias},
		{"with two", "EC2NodeClass", "karpenter.k8s.aws/v1", nil, text("al2023@v1@v2"), "1.15.2", `alias "al2023@v1@v2"` + unknownAlias},
		{"empty", "EC2NodeClass", "karpenter.k8s.aws/v1", nil, text(""), "1.15.2", `alias ""` + unknownAlias},
		{"only a version", "EC2NodeClass", "karpenter.k8s.aws/v1", nil, text("@latest"), "1.15.2", `alias "@latest"` + unknownAlias},
	} {
		class := &snapshot.NodeClass{Name: "default", Kind: row.kind, APIVersion: row.apiVersion, AMIFamily: row.family, Alias: row.alias}
		family, err := FamilyOf(class, versionOf(t, row.version))
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = family.Name
		}
		if got != row.want {
			t.Errorf("%s: got %q, want %q", row.reason, got, row.want)
		}
		// New takes the same way when no family is given.
		m, err := New(Settings{Version: versionOf(t, row.version)}, Class{NodeClass: class})
		if (err == nil) != (m != nil && m.Family().Name == row.want) || err != nil && err.Error() != row.want {
			t.Errorf("%s: New gives %v, want %s", row.reason, err, row.want)
		}
	}
}

func TestFamilyOfImage(t *testing.T) {
	for _, row := range []struct{ image, version, want string }{
		{"Amazon Linux 2023.6.20250115", "1.15.2", "AL2023"},
		{"Amazon Linux 2", "1.15.2", "AL2"},
		{"Bottlerocket OS 1.30.0 (aws-k8s-1.31)", "1.15.2", "Bottlerocket"},
		{"Windows Server 2019 Datacenter", "1.15.2", "Windows2019"},
		{"Windows Server 2022 Datacenter", "1.15.2", "Windows2022"},
		{"Windows Server 2025 Datacenter", "1.15.2", "Windows2025"},
		{"Ubuntu 22.04.4 LTS", "0.37.8", "Ubuntu"},
		{"Ubuntu 22.04.4 LTS", "1.15.2", "AL2"},
		{"Flatcar Container Linux", "1.15.2", ""},
		{"", "1.15.2", ""},
	} {
		got := ""
		if f, ok := FamilyOfImage(row.image, versionOf(t, row.version)); ok {
			got = f.Name
		}
		if got != row.want {
			t.Errorf("%q in v%s is %q, want %q", row.image, row.version, got, row.want)
		}
	}
}

func TestFamilyNames(t *testing.T) {
	want := []string{"AL2", "AL2023", "Ubuntu", "Bottlerocket", "Custom", "Windows2019", "Windows2022", "Windows2025"}
	if got := FamilyNames(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
