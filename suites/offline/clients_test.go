package offline

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
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
		It("gives a dump with the result of the live path: "+cluster, Label("cluster:"+cluster), func(ctx SpecContext) {
			kubectl := installed("kubectl")
			w := world(ctx, cluster)
			get := func(args ...string) string {
				GinkgoHelper()
				r := command{program: kubectl, args: slices.Concat([]string{"--kubeconfig", w.Kubeconfig(), "get", "-o", "json"}, args)}.run()
				Expect(r).To(exitWith(0))
				return r.stdout
			}
			kinds := map[string]string{"v1alpha5": "nodes,machines,provisioners,awsnodetemplates"}[cluster]
			if kinds == "" {
				kinds = "nodes,nodeclaims,nodepools,ec2nodeclasses"
			}
			if cluster != "v1beta1" && cluster != "v1alpha5" {
				kinds += ",nodeoverlays"
			}
			types := []string{"--instance-types", "ec2", "--endpoint-url", w.EC2URL}
			live := check(cluster, append(types, "--kubeconfig", w.Kubeconfig())...).run()

			all := get(kinds) + get("deployments,configmaps", "-A")
			piped := check(cluster, append(types, "--from", "-")...)
			piped.stdin = strings.NewReader(all)
			r := piped.run()
			Expect(r.code).To(Equal(live.code), r.GomegaString)
			Expect(files(r)).To(Equal(files(live)))

			// With nothing but the nodes every node is still in the report, with what it has.
			alone := check(cluster, append(types, "--from", "-")...)
			alone.stdin = strings.NewReader(get("nodes"))
			r = alone.run()
			Expect(r.code).To(BeElementOf(0, 1, 4), r.GomegaString)
			Expect(actual(r)).To(Equal(actual(live)))
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

var _ = Describe("The AWS CLI", func() {
	// aws runs `aws ec2 describe-instance-types` against an EC2.
	aws := func(endpoint string, args ...string) result {
		GinkgoHelper()
		c := command{program: awsCLI(), args: slices.Concat([]string{"ec2", "describe-instance-types", "--output", "json", "--endpoint-url", endpoint}, args), env: credentials}
		r := c.run()
		Expect(r).To(exitWith(0))
		return r
	}
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
		fake, endpoint := serveEC2(recordedTypes()...)
		// 72 types are eight pages of ten.
		paged := aws(endpoint, "--page-size", "10")
		Expect(fake.Calls("DescribeInstanceTypes")).To(BeNumerically(">", 2), "pages")
		Expect(names(paged)).To(Equal(fake.InstanceTypes()))

		file := write(GinkgoT().TempDir(), "types.json", paged.stdout)
		for _, cluster := range []string{"karpenter-demo", small} {
			live := check(cluster, "--from", fixture(cluster), "--instance-types", "ec2", "--endpoint-url", endpoint).run()
			r := check(cluster, "--from", fixture(cluster), "--instance-types", file).run()
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
		_, endpoint := serveEC2(recordedTypes()...)
		Expect(names(aws(endpoint, "--instance-types", "m5.large", "t3.large"))).To(Equal([]string{"m5.large", "t3.large"}))
	})

	It("filters", func() {
		_, endpoint := serveEC2(recordedTypes()...)
		arm := names(aws(endpoint, "--filters", "Name=processor-info.supported-architecture,Values=arm64"))
		Expect(arm).To(ContainElement("m6g.large"))
		Expect(arm).NotTo(ContainElement("m5.large"))
	})
})
