package offline

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/allocatable-diff/allocatable-diff/pkg/offline"
)

var _ = Describe("A cluster read live", func() {
	for _, cluster := range fixtures() {
		It("gives the bytes that its files and its snapshot give: "+cluster, Label("cluster:"+cluster), func() {
			w := world(cluster)
			types := []string{"--instance-types", "ec2", "--endpoint-url", w.EC2URL, "--no-cache"}
			// Pages of two: every fixture cluster has more nodes and claims than that.
			p := through(w.REST, nil)
			results := together(
				command{args: slices.Concat([]string{"snapshot", "--cluster-name", cluster, "--kubeconfig", p.kubeconfig(), "--chunk-size", "2", "-o", "s.json"}, types), env: credentials},
				check(cluster, slices.Concat(types, []string{"--from", fixture(cluster)})...),
				check(cluster, slices.Concat(types, []string{"--kubeconfig", w.Kubeconfig()})...),
				// The data-gathering command is a way of its own to the 13-column CSV.
				command{args: slices.Concat([]string{"--cluster-name", cluster, "--kubeconfig", w.Kubeconfig(), "--overhead-percent", "auto"}, types), env: credentials},
			)
			recorded, fromFiles, live, gathered := results[0], results[1], results[2], results[3]
			Expect(recorded).To(exitWith(0))
			Expect(len(p.requests("/nodes?continue="))).To(BeNumerically(">=", 1), "the nodes came in one page")
			Expect(fromFiles.code).To(BeElementOf(0, 1, 4), fromFiles.GomegaString)
			replayed := check(cluster, "--from", filepath.Join(recorded.dir, "s.json")).run()
			for way, r := range map[string]result{"live": live, "replayed": replayed} {
				Expect(r.code).To(Equal(fromFiles.code), r.GomegaString)
				Expect(r.stdout).To(Equal(fromFiles.stdout), way)
				for name, text := range files(fromFiles) {
					Expect(files(r)[name]).To(Equal(text), "%s, %s", name, way)
				}
			}
			Expect(read(live.dir, "run.json")).To(ContainSubstring(digestOf(recorded)), "run.json names the snapshot")

			Expect(gathered).To(exitWith(0))
			Expect(read(gathered.dir, "allocatable-diff.csv")).To(Equal(files(fromFiles)["allocatable-diff.csv"]))
		})
	}

	It("finds the cluster by KUBECONFIG and EC2 by the SDK's own environment", func() {
		w := world("v1beta1")
		c := check("v1beta1")
		c.env = append(c.env, "KUBECONFIG="+w.Kubeconfig(), "AWS_ENDPOINT_URL_EC2="+w.EC2URL)
		before := w.EC2.Calls("DescribeInstanceTypes")
		r := c.run()
		Expect(r.code).To(BeNumerically("<=", 1), r.GomegaString)
		Expect(w.EC2.Calls("DescribeInstanceTypes")).To(Equal(before+1), "one call for one batch of types")
	})
})

var _ = Describe("The cluster", func() {
	It("is that of --context, not of the current one", func() {
		p := through(world(small).REST, nil)
		both := write(GinkgoT().TempDir(), "kubeconfig", `{"apiVersion":"v1","kind":"Config","current-context":"other",
"contexts":[{"name":"other","context":{"cluster":"other","user":"u"}},{"name":"mine","context":{"cluster":"mine","user":"u"}}],"users":[{"name":"u","user":{}}],
"clusters":[{"name":"other","cluster":{"server":"http://127.0.0.1:1"}},{"name":"mine","cluster":{"server":"`+p.url+`"}}]}`)
		Expect(files(liveCheck(small, both, "--context", "mine").run())).To(Equal(files(healthy(small))))
		r := liveCheck(small, both, "--context", "nobody").run()
		Expect(r).To(exitWith(3))
		Expect(r).To(say(`context "nobody" does not exist`))
	})
})

// digestOf is the digest that `snapshot` printed.
func digestOf(recorded result) string {
	_, rest, _ := strings.Cut(recorded.stderr, "(")
	digest, _, _ := strings.Cut(rest, ")")
	return digest
}

var _ = Describe("More types than EC2 gives in one call", needsNoWorld, func() {
	// 150 types: two batches when they are named, two pages when all are asked for.
	const many = 150
	It("come in two batches, and in two pages", func() {
		document, nodes := manyTypes(many)
		fake, endpoint := serveEC2(document)
		from := write(GinkgoT().TempDir(), "nodes.json", nodes)
		file := write(GinkgoT().TempDir(), "types.json", document)
		cache := GinkgoT().TempDir()
		asked := func() result {
			c := check("many", "--from", from, "--instance-types", "ec2", "--endpoint-url", endpoint)
			c.env = append(c.env, "XDG_CACHE_HOME="+cache)
			return c.run()
		}
		live, named := asked(), check("many", "--from", from, "--instance-types", file).run()
		Expect(fake.Calls("DescribeInstanceTypes")).To(Equal(2), live.GomegaString)
		Expect(live.code).To(Equal(named.code), live.GomegaString)
		Expect(files(live)["allocatable-diff.csv"]).To(Equal(files(named)["allocatable-diff.csv"]))
		Expect(strings.Count(files(live)["allocatable-diff.csv"], "\n")).To(Equal(2 + many))

		Expect(files(asked())).To(Equal(files(live)))
		Expect(fake.Calls("DescribeInstanceTypes")).To(Equal(2), "the second run reads the cache")

		all := command{args: []string{"expect", "-o", "json", "--instance-types", "ec2", "--endpoint-url", endpoint}, env: credentials}.run()
		Expect(all).To(exitWith(0))
		Expect(fake.Calls("DescribeInstanceTypes")).To(Equal(4), "two pages")
		Expect(all.stdout).To(Equal(command{args: []string{"expect", "-o", "json", "--instance-types", file}}.run().stdout))
		Expect(strings.Count(all.stdout, `"instanceType"`)).To(Equal(many))
	})
})

// manyTypes are n instance types that EC2 would describe as m5.large, and a node of each.
func manyTypes(n int) (types, nodes string) {
	GinkgoHelper()
	node, model := nodesOf(small)[0], typeNamed("m5.large")
	catalogue := struct{ InstanceTypes []map[string]any }{}
	list := map[string]any{"apiVersion": "v1", "kind": "List"}
	var items []map[string]any
	for i := range n {
		name := "z" + string(rune('a'+i/26)) + string(rune('a'+i%26)) + ".large"
		described := maps.Clone(model)
		described["InstanceType"] = name
		catalogue.InstanceTypes = append(catalogue.InstanceTypes, described)
		items = append(items, node.named("node-"+name, name))
	}
	list["items"] = items
	return encode(catalogue), encode(list)
}

func encode(v any) string {
	GinkgoHelper()
	data, err := json.Marshal(v)
	Expect(err).NotTo(HaveOccurred())
	return string(data)
}

// typeNamed is a recorded description of an instance type.
func typeNamed(name string) map[string]any {
	GinkgoHelper()
	paths, err := filepath.Glob(filepath.Join(root, "fixtures", "ec2", "*.json"))
	Expect(err).NotTo(HaveOccurred())
	for _, path := range paths {
		var document struct{ InstanceTypes []map[string]any }
		Expect(json.Unmarshal([]byte(read(path)), &document)).To(Succeed())
		for _, described := range document.InstanceTypes {
			if described["InstanceType"] == name {
				return described
			}
		}
	}
	Fail(name + " is not recorded")
	return nil
}

// nodeObject is a Node as kubectl prints it.
type nodeObject map[string]any

// nodesOf are the nodes of a fixture cluster.
func nodesOf(cluster string) []nodeObject {
	GinkgoHelper()
	var list struct{ Items []nodeObject }
	Expect(json.Unmarshal([]byte(read(fixture(cluster), "nodes.json")), &list)).To(Succeed())
	return list.Items
}

// named is a copy of another name and instance type that nothing owns.
func (n nodeObject) named(name, instanceType string) nodeObject {
	GinkgoHelper()
	var out nodeObject
	Expect(json.Unmarshal([]byte(encode(n)), &out)).To(Succeed())
	metadata := out["metadata"].(map[string]any)
	metadata["name"] = name
	delete(metadata, "ownerReferences")
	metadata["labels"].(map[string]any)["node.kubernetes.io/instance-type"] = instanceType
	out["spec"].(map[string]any)["providerID"] = "aws:///us-west-2a/" + name
	return out
}

// serveEC2 serves documents of instance types until the spec ends.
func serveEC2(documents ...string) (*offline.EC2, string) {
	GinkgoHelper()
	var data [][]byte
	for _, d := range documents {
		data = append(data, []byte(d))
	}
	fake, err := offline.NewEC2(data...)
	Expect(err).NotTo(HaveOccurred())
	return fake, serve(fake)
}

// recordedTypes are the documents of fixtures/ec2.
func recordedTypes() []string {
	GinkgoHelper()
	paths, err := filepath.Glob(filepath.Join(root, "fixtures", "ec2", "*.json"))
	Expect(err).NotTo(HaveOccurred())
	var out []string
	for _, path := range paths {
		data, err := os.ReadFile(path)
		Expect(err).NotTo(HaveOccurred())
		out = append(out, string(data))
	}
	return out
}
