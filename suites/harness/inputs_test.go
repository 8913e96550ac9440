package harness

import (
	"bytes"
	"compress/gzip"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// zipped is a text compressed with gzip.
func zipped(text string) string {
	GinkgoHelper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(text))
	Expect(err).NotTo(HaveOccurred())
	Expect(z.Close()).To(Succeed())
	return b.String()
}

var _ = Describe("A broken input", func() {
	nodes := func() string { return read(fixture("v1beta1"), "nodes.json") }
	// half ends in the middle of a node, after its name.
	half := func() string {
		text := nodes()
		return text[:strings.LastIndex(text, `"providerID"`)]
	}
	const name = "the file ends in the middle: was it copied whole?"

	DescribeTable("is exit 2, names the file and the place, and writes nothing", func(file string, content func() string, says ...string) {
		dir := GinkgoT().TempDir()
		write(dir, file, content())
		for _, args := range [][]string{
			{"check", "--output", "json=run.json"},
			{"snapshot", "-o", "run.json"},
		} {
			r := command{dir: dir, args: append(args, "--cluster-name", "test", "--from", file, "--instance-types", typesPath())}.run()
			Expect(r).To(exitWith(2))
			Expect(r.stdout).To(BeEmpty())
			Expect(r).To(say(append(says, filepath.Base(file))...))
			Expect(filepath.Join(dir, "run.json")).NotTo(BeAnExistingFile())
		}
	},
		Entry("JSON that ends in the middle of a node", "nodes.json", half, "line ", `Node "ip-10-0-`, name),
		Entry("JSON with a comma too many", "nodes.json", func() string { return "{\n\"kind\": \"List\",,\n" }, "line 2", "broken JSON"),
		Entry("YAML with a tab", "node.yaml", func() string { return "apiVersion: v1\nkind: Node\nmetadata:\n\tname: x\n" }, "line 4", "broken YAML"),
		Entry("YAML whose second document is broken", "node.yaml", func() string {
			return "apiVersion: v1\nkind: Node\nmetadata: {name: x}\n---\napiVersion: v1\nkind: [\n"
		}, "line ", "broken YAML"),
		Entry("gzip that was cut off", "nodes.json.gz", func() string {
			text := zipped(nodes())
			return text[:len(text)/2]
		}, "Node \"ip-10-0-", name),
		Entry("no gzip, though it begins like it", "nodes.json.gz", func() string { return "\x1f\x8bnothing" }, "gzip"),
		Entry("an empty file", "nodes.json", func() string { return "" }, "it is empty: did the command that wrote it fail?"),
		Entry("a file of blanks", "nodes.json", func() string { return " \n\n" }, "it is empty"),
		Entry("an object of no kind", "other.yaml", func() string { return "hello: world\n" }, "line 1", "object 1 has no kind", "kubectl get -o json"),
		Entry("no object at all", "text.json", func() string { return `"text"` }, "value 1 is no Kubernetes object"),
		Entry("a list where an object should be", "node.json", func() string {
			return `{"apiVersion":"v1","kind":"Node","metadata":{"name":"odd"},"status":{"capacity":[1]}}`
		}, `Node "odd"`, "/status/capacity", "expected an object, found a list"),
		Entry("a snapshot of a later version", "s.json", func() string { return `{"apiVersion":"allocatable-diff/v9","kind":"Snapshot"}` }, "allocatable-diff/v9", "expected \"allocatable-diff/v1alpha1\""),
		Entry("a snapshot with a misspelt field", "s.json", func() string { return `{"apiVersion":"allocatable-diff/v1alpha1","kind":"Snapshot","clustr":"x"}` }, `unknown field "clustr"`),
		Entry("a folder without dumps", "dump/readme.txt", func() string { return "text" }, ""),
	)

	It("in a folder names the file of the folder", func() {
		dir := GinkgoT().TempDir()
		write(dir, "dump/a.json", nodes())
		write(dir, "dump/b/c.json", half())
		r := command{dir: dir, args: []string{"check", "--cluster-name", "test", "--from", "dump", "--instance-types", typesPath()}}.run()
		Expect(r).To(exitWith(2))
		Expect(r).To(say(filepath.Join("dump", "b", "c.json") + ": line "))
	})

	It("on stdin is called so", func() {
		r := command{stdin: strings.NewReader(half()), args: []string{"check", "--cluster-name", "test", "--from", "-", "--instance-types", typesPath()}}.run()
		Expect(r).To(exitWith(2))
		Expect(r).To(say("stdin: line ", `Node "ip-10-0-`))
	})

	It("of instance types is exit 2 too", func() {
		dir := GinkgoT().TempDir()
		for file, content := range map[string]string{"empty.json": "", "cut.json": `{"InstanceTypes": [{"InstanceType": "m5.large",`, "text.json": "m5.large"} {
			write(dir, file, content)
			for _, args := range [][]string{{"check", "--cluster-name", "test", "--from", clean().dump()}, {"expect", "m5.large"}} {
				r := command{dir: dir, args: append(args, "--instance-types", file)}.run()
				Expect(r).To(exitWith(2))
				Expect(r.stdout).To(BeEmpty())
				Expect(r).To(say(file))
			}
		}
		r := command{dir: dir, args: []string{"expect", "--instance-types", "missing.json"}}.run()
		Expect(r).To(exitWith(2))
		Expect(r).To(say("missing.json: no such file or directory"))
	})

	It("that is not there is exit 2", func() {
		for _, args := range [][]string{{"check"}, {"snapshot", "-o", "s.json"}, {"recommend"}, {}} {
			r := run(append(args, "--cluster-name", "test", "--from", "missing.json")...)
			Expect(r).To(exitWith(2))
			Expect(r).To(say("missing.json: no such file or directory"))
		}
	})

	DescribeTable("of the gate is exit 2, with every problem at once", func(flag, content string, says ...string) {
		dir := GinkgoT().TempDir()
		file := write(dir, "gate.yaml", content)
		r := command{dir: dir, args: []string{"check", "--cluster-name", "test", "--from", clean().dump(), "--instance-types", typesPath(), flag, file, "--output", "json=run.json"}}.run()
		Expect(r).To(exitWith(2))
		Expect(r.stdout).To(BeEmpty())
		Expect(r).To(say(append(says, strings.TrimPrefix(flag, "--")+" "+file)...))
		Expect(entries(dir)).To(ConsistOf("gate.yaml"))
	},
		Entry(nil, "--policy", "memroy: 1\n", `"memroy"`),
		Entry("a misspelt key further down", "--policy", "resources:\n  memory:\n    overEstimate: {fial: [1Ki]}\n", `"fial"`),
		Entry("a key twice", "--policy", "strict: true\nstrict: false\n", "strict"),
		Entry("several wrong values", "--policy", "unknown: maybe\nminJudged: -1\nminJudgedShare: 2\nresources: {memory: {overEstimate: {fail: [much]}, missing: perhaps}}\n",
			`"maybe"`, "fail or warn", "minJudged: -1", "minJudgedShare: 2", "resources: memory: overEstimate", `"much"`, `"perhaps"`),
		Entry(nil, "--policy", "- list\n"),
		Entry(nil, "--allowlist", "allow:\n- {node: x, resaon: y}\n", `"resaon"`),
		Entry("an entry without reason, owner and expiry", "--allowlist", "allow:\n- {node: x}\n", "allow[0]", "reason is missing", "owner is missing", "expires"),
		Entry("an expiry that is no day", "--allowlist", "allow:\n- {node: x, reason: r, owner: o, expires: soon}\n", `expires "soon"`, "2027-01-31"),
		Entry("an entry that accepts everything", "--allowlist", "allow:\n- {reason: r, owner: o, expires: 2999-01-01}\n", "it would accept everything"),
		Entry("a pattern that is none", "--allowlist", "allow:\n- {node: '[', reason: r, owner: o, expires: 2999-01-01}\n", "no pattern"),
		Entry(nil, "--baseline", `{"apiVersion":"allocatable-diff/v1alpha1","kind":"Baseline","fnidings":[]}`, `"fnidings"`),
		Entry("another kind of file", "--baseline", `{"apiVersion":"v1","kind":"List"}`, "--baseline FILE --ratchet"),
		Entry("cut off", "--baseline", `{"apiVersion"`),
	)

	DescribeTable("of the gate that is not there is exit 2", func(flag string) {
		r := check(clean().dump(), flag, "missing.yaml")
		Expect(r).To(exitWith(2))
		Expect(r).To(say("missing.yaml: no such file or directory"))
	},
		Entry(nil, "--policy"), Entry(nil, "--allowlist"), Entry(nil, "--baseline"),
	)
})
