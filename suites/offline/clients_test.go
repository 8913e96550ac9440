package offline

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/allocatable-diff/allocatable-diff/pkg/offline"
)

// installed is the path of a program that people have; the spec is skipped where it is missing.
func installed(name string) string {
	GinkgoHelper()
	path, err := exec.LookPath(name)
	if err != nil {
		Skip(name + " is not installed on this machine")
	}
	return path
}

// awsCLI is Debian's; what pyenv and the like put before it may be another.
func awsCLI() string {
	GinkgoHelper()
	if path, err := exec.LookPath("/usr/bin/aws"); err == nil {
		return path
	}
	return installed("aws")
}

var _ = Describe("kubectl", func() {
	for _, cluster := range fixtures() {
		It("gives a dump with the result of the live path: "+cluster, Label("cluster:"+cluster), func() {
			kubectl := installed("kubectl")
			w := world(cluster)
			get := func(args ...string) command {
				return command{program: kubectl, args: slices.Concat([]string{"--kubeconfig", w.Kubeconfig(), "get", "-o", "json"}, args)}
			}
			kinds := map[string]string{"v1alpha5": "nodes,machines,provisioners,awsnodetemplates"}[cluster]
			if kinds == "" {
				kinds = "nodes,nodeclaims,nodepools,ec2nodeclasses"
			}
			if cluster != "v1beta1" && cluster != "v1alpha5" {
				kinds += ",nodeoverlays"
			}
			judge := func(args ...string) command {
				return check(cluster, append(args, "--instance-types", "ec2", "--endpoint-url", w.EC2URL)...)
			}
			results := together(get(kinds+",deployments,configmaps", "-A"), get("nodes"), judge("--kubeconfig", w.Kubeconfig()))
			all, nodes, live := results[0], results[1], results[2]
			Expect(all).To(exitWith(0))
			Expect(nodes).To(exitWith(0))

			piped, alone := judge("--from", "-"), judge("--from", "-")
			piped.stdin = strings.NewReader(all.stdout)
			alone.stdin = strings.NewReader(nodes.stdout)
			dumped := together(piped, alone)
			Expect(dumped[0].code).To(Equal(live.code), dumped[0].GomegaString)
			Expect(files(dumped[0])).To(Equal(files(live)))
			// With nothing but the nodes every node is still in the report, with what it has.
			Expect(dumped[1].code).To(BeElementOf(0, 1, 4), dumped[1].GomegaString)
			Expect(actual(dumped[1])).To(Equal(actual(live)))
		})
	}
})

// actual are the node, resource, field and actual amount of each row that has one.
func actual(r result) []string {
	GinkgoHelper()
	var out []string
	for _, row := range strings.Split(files(r)["nodes.csv"], "\n")[1:] {
		cells := strings.Split(row, ",")
		if len(cells) > 12 && cells[12] != "" && cells[12] != "0" {
			out = append(out, strings.Join([]string{cells[1], cells[8], cells[9], cells[12]}, " "))
		}
	}
	slices.Sort(out)
	return out
}

var _ = Describe("The AWS CLI", Ordered, needsNoWorld, func() {
	var (
		fake                      *offline.EC2 // that of paged
		endpoint                  string
		paged, twoTypes, filtered result
	)
	BeforeAll(func() {
		program := awsCLI()
		describe := func(endpoint string, args ...string) command {
			return command{program: program, args: slices.Concat([]string{"ec2", "describe-instance-types", "--output", "json", "--endpoint-url", endpoint}, args), env: credentials}
		}
		fake, endpoint = serveEC2(recordedTypes()...)
		_, other := serveEC2(recordedTypes()...)
		results := together(
			describe(endpoint, "--page-size", "10"),
			describe(other, "--instance-types", "m5.large", "t3.large"),
			describe(other, "--filters", "Name=processor-info.supported-architecture,Values=arm64"),
		)
		Expect(results).To(HaveEach(exitWith(0)))
		paged, twoTypes, filtered = results[0], results[1], results[2]
	})
	names := func(r result) []string {
		GinkgoHelper()
		var document struct {
			InstanceTypes []struct{ InstanceType string }
		}
		Expect(json.Unmarshal([]byte(r.stdout), &document)).To(Succeed())
		var out []string
		for _, t := range document.InstanceTypes {
			out = append(out, t.InstanceType)
		}
		slices.Sort(out)
		return out
	}

	It("pages the fake EC2, and its file gives the result of the live call", func() {
		// 72 types are eight pages of ten.
		Expect(fake.Calls("DescribeInstanceTypes")).To(BeNumerically(">", 2), "pages")
		Expect(names(paged)).To(Equal(fake.InstanceTypes()))

		file := write(GinkgoT().TempDir(), "types.json", paged.stdout)
		for _, cluster := range []string{"karpenter-demo", small} {
			results := together(
				check(cluster, "--from", fixture(cluster), "--instance-types", "ec2", "--endpoint-url", endpoint),
				check(cluster, "--from", fixture(cluster), "--instance-types", file),
			)
			live, r := results[0], results[1]
			Expect(r.code).To(BeElementOf(0, 1, 4), r.GomegaString)
			Expect(files(r)["allocatable-diff.csv"]).To(Equal(files(live)["allocatable-diff.csv"]), cluster)
			Expect(nodeNames(r)).To(Equal(nodeNames(live)))
			// A CLI of before 2024, such as Debian's, drops the Neuron devices: those are then unknown, and said to be.
			theirs := figures(live)
			for i, row := range figures(r) {
				if strings.Contains(paged.stdout, "NeuronInfo") || !strings.Contains(row, ",aws.amazon.com/neuron") {
					Expect(row).To(Equal(theirs[i]), cluster)
				} else {
					Expect(row).To(ContainSubstring(",unknown,"))
				}
			}
		}
	})

	It("asks for named types", func() {
		Expect(names(twoTypes)).To(Equal([]string{"m5.large", "t3.large"}))
	})

	It("filters", func() {
		arm := names(filtered)
		Expect(arm).To(ContainElement("m6g.large"))
		Expect(arm).NotTo(ContainElement("m5.large"))
	})
})
