package offline

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("snapshot --redact", func() {
	for _, cluster := range fixtures() {
		It("leaves none of the names, and reports that are equal but for them: "+cluster, Label("cluster:"+cluster), func() {
			w := world(cluster)
			record := func(args ...string) command {
				return command{args: slices.Concat([]string{"snapshot", "--cluster-name", "acme-" + cluster, "--kubeconfig", w.Kubeconfig(), "--instance-types", "ec2", "--endpoint-url", w.EC2URL, "-o", "snapshot.json"}, args), env: credentials}
			}
			var paths []string
			for _, r := range together(record(), record("--redact")) {
				Expect(r).To(exitWith(0))
				paths = append(paths, filepath.Join(r.dir, "snapshot.json"))
			}
			original, redacted := paths[0], paths[1]
			for _, path := range paths {
				info, err := os.Stat(path)
				Expect(err).NotTo(HaveOccurred())
				Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o600)))
				// Nodes have annotations and a list of images, classes user data: none of it is recorded.
				Expect(read(path)).NotTo(MatchRegexp(`(?i)userdata|annotations|"images"|sizeBytes`))
			}
			pairs := identities(original, redacted)
			Expect(pairs).NotTo(BeEmpty())

			judge := func(snapshot string) command {
				return command{args: []string{"check", "--from", snapshot, "--output", "csv=allocatable-diff.csv", "--output", "csv-wide=nodes.csv", "--output", "junit=junit.xml", "--output", "json=run.json",
					"--output", "markdown=summary.md", "--output", "html=report.html", "--output", "prometheus=metrics.prom"}}
			}
			judged := together(judge(original), judge(redacted))
			before, after := judged[0], judged[1]
			Expect(after.code).To(Equal(before.code), after.GomegaString)

			outputs := map[string]string{"the snapshot": read(redacted), "the table": after.stdout, "stderr": after.stderr}
			for _, name := range entries(after.dir) {
				outputs[name] = read(after.dir, name)
			}
			for name, text := range outputs {
				for _, p := range pairs {
					if p.distinct() {
						Expect(text).NotTo(ContainSubstring(p.original), name)
					}
				}
				Expect(text).NotTo(MatchRegexp(`arn:aws|\b10(\.\d{1,3}){3}\b|\bip-10-`), name)
			}
			// Names that are words are in cells of their own: node, pool and class.
			for _, row := range strings.Split(strings.TrimSpace(read(after.dir, "nodes.csv")), "\n")[1:] {
				Expect(strings.Join(strings.Split(row, ",")[:4], ",")).To(MatchRegexp(`^cluster-1,node-\d+,(pool-\d+)?,(class-\d+)?$`))
			}
			// Every row of figures is the same, in the same order.
			Expect(figures(after)).To(Equal(figures(before)))
			// And with the names put back, so is the list of nodes.
			Expect(named(pairs, nodeNames(after))).To(Equal(nodeNames(before)))
		})
	}
})

// identity is one name and what it was replaced by.
type identity struct{ original, pseudonym string }

// ours are names of fixture classes that are also words of a label, of EC2 and of a cause.
var ours = []string{"local-nvme", "efa-only", "huge-pages"}

// distinct reports whether the name can be told from the words of a report, which "default" and "al2" cannot either.
func (i identity) distinct() bool {
	return strings.ContainsAny(i.original, "-.:/") && !slices.Contains(ours, i.original)
}

// identities are the names of two snapshots of one cluster, one of them redacted. Both are in one order.
func identities(original, redacted string) []identity {
	GinkgoHelper()
	type object struct{ Name, ProviderID string }
	type snapshot struct {
		Cluster                                                 string
		Nodes, NodeClaims, NodePools, NodeClasses, NodeOverlays []object
	}
	var a, b snapshot
	Expect(json.Unmarshal([]byte(read(original)), &a)).To(Succeed())
	Expect(json.Unmarshal([]byte(read(redacted)), &b)).To(Succeed())
	out := []identity{{a.Cluster, b.Cluster}}
	for i, list := range [][]object{a.Nodes, a.NodeClaims, a.NodePools, a.NodeClasses, a.NodeOverlays} {
		other := [][]object{b.Nodes, b.NodeClaims, b.NodePools, b.NodeClasses, b.NodeOverlays}[i]
		Expect(other).To(HaveLen(len(list)))
		for j := range list {
			out = append(out, identity{list[j].Name, other[j].Name})
			if list[j].ProviderID != "" {
				out = append(out, identity{list[j].ProviderID, other[j].ProviderID})
			}
		}
	}
	return out
}

func named(pairs []identity, names []string) []string {
	back := map[string]string{}
	for _, p := range pairs {
		back[p.pseudonym] = p.original
	}
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = back[n]
	}
	return out
}

// nodeNames are the second cell of every row of nodes.csv.
func nodeNames(r result) []string {
	GinkgoHelper()
	var out []string
	for _, row := range strings.Split(strings.TrimSpace(read(r.dir, "nodes.csv")), "\n")[1:] {
		out = append(out, strings.Split(row, ",")[1])
	}
	return out
}

// figures are the cells of nodes.csv that hold no name: from the instance type to the cause. The last, the reason, may.
func figures(r result) []string {
	GinkgoHelper()
	var out []string
	for _, row := range strings.Split(strings.TrimSpace(read(r.dir, "nodes.csv")), "\n")[1:] {
		cells := strings.Split(row, ",")
		out = append(out, strings.Join(cells[4:16], ","))
	}
	return out
}
