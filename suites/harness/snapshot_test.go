package harness

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// record records a cluster into a new folder and returns the file's path.
func record(from, name string, args ...string) string {
	GinkgoHelper()
	r := run(slices.Concat([]string{"snapshot", "--cluster-name", name, "--from", from, "--instance-types", typesPath(), "-o", "snapshot.json"}, args)...)
	Expect(r).To(exitWith(0))
	return filepath.Join(r.dir, "snapshot.json")
}

// reports writes every file format of a check of these inputs, and returns each file's text.
func reports(args ...string) map[string]string {
	GinkgoHelper()
	args = append([]string{"check"}, args...)
	for _, f := range fileFormats {
		args = append(args, "--output", f+"="+f)
	}
	r := run(args...)
	Expect(r.code).To(BeElementOf(0, 1, 4), r.GomegaString())
	out := map[string]string{"stdout": r.stdout}
	for _, f := range fileFormats {
		out[f] = read(r.dir, f)
	}
	return out
}

// shuffled writes the objects of a cluster in another order.
func shuffled(c *cluster) string {
	GinkgoHelper()
	objects := c.objects()
	random := rand.New(rand.NewPCG(uint64(GinkgoRandomSeed()), 1))
	random.Shuffle(len(objects), func(i, j int) { objects[i], objects[j] = objects[j], objects[i] })
	return dumpOf(objects)
}

var _ = Describe("A snapshot", func() {
	It("has the same bytes each time, whatever the order of the dump, and is for its owner's eyes", func() {
		c := red()
		first := record(c.dump(), "test")
		Expect(read(record(c.dump(), "test"))).To(Equal(read(first)))
		Expect(read(record(shuffled(c), "test"))).To(Equal(read(first)))
		info, err := os.Stat(first)
		Expect(err).NotTo(HaveOccurred())
		Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o600)))
		r := run("snapshot", "--from", first, "-o", "again.json")
		Expect(r).To(exitWith(0))
		Expect(r.stderr).To(ContainSubstring("again.json"))
		Expect(read(r.dir, "again.json")).To(Equal(read(first)), "a snapshot of a snapshot")
		Expect(run("snapshot", "--from", first, "-o", "-").stdout).To(Equal(read(first)))
	})

	It("compressed has the same bytes each time and reads as the other", func() {
		from := clean().dump()
		var all []string
		for range 2 {
			r := run("snapshot", "--cluster-name", "test", "--from", from, "--instance-types", typesPath(), "-o", "s.json.gz")
			Expect(r).To(exitWith(0))
			all = append(all, filepath.Join(r.dir, "s.json.gz"))
		}
		Expect(read(all[0])).To(Equal(read(all[1])))
		Expect(read(all[0])).To(HavePrefix("\x1f\x8b"))
		Expect(reports("--from", all[0])).To(Equal(reports("--from", record(from, "test"))))
	})

	DescribeTable("gives the reports of the dump, byte for byte", func(name string) {
		dump := reports("--cluster-name", name, "--from", fixture(name), "--instance-types", typesPath())
		replay := reports("--from", record(fixture(name), name))
		for format, text := range dump {
			Expect(replay[format]).To(Equal(text), format)
		}
	},
		Entry(nil, "karpenter-demo"), Entry(nil, "karpenter-drift"), Entry(nil, "v1-reserved-enis"), Entry(nil, "v1beta1"), Entry(nil, "v1alpha5"),
	)

	It("that is given with another makes a fleet, each under its own name", func() {
		a, b := record(fixture("v1beta1"), "beta"), record(fixture("v1alpha5"), "alpha")
		fleet := reports("--from", a, "--from", b)
		Expect(fleet["stdout"]).To(HavePrefix("PASS: alpha, beta: 11 nodes judged"))
		Expect(fleet["csv-wide"]).To(And(ContainSubstring("\nalpha,ip-"), ContainSubstring("\nbeta,ip-")))
		Expect(reports("--from", b, "--from", a)).To(Equal(fleet), "whatever the order")
		Expect(reports("--from", a, "--from", b, "--from", a)).To(Equal(fleet), "one that is given twice counts once")
	})

	It("does not hide one cluster of a fleet that has no Karpenter node", func() {
		a, b := record(red().dump(), "red"), record(foreign().dump(), "none")
		r := run("check", "--from", a, "--from", b)
		Expect(r).To(exitWith(1))
		Expect(r.stdout).To(HavePrefix("FAIL: none, red: 8 nodes judged"))
	})

	It("and raw dumps: all dumps together are one cluster", func() {
		c := red()
		dir := GinkgoT().TempDir()
		var args []string
		for i, o := range c.objects() {
			data, err := json.Marshal(o)
			Expect(err).NotTo(HaveOccurred())
			name, text := fmt.Sprintf("%03d.json", i), string(data)
			switch i % 3 {
			case 1: // YAML is a superset of JSON, and a stream of documents
				name, text = fmt.Sprintf("%03d.yaml", i), "---\n"+text+"\n---\n"
			case 2:
				name, text = name+".gz", zipped(text)
			}
			args = append(args, "--from", write(dir, name, text))
		}
		whole := reports("--cluster-name", "test", "--from", c.dump(), "--instance-types", typesPath())
		Expect(reports(append(args, "--cluster-name", "test", "--instance-types", typesPath())...)).To(Equal(whole))
		Expect(reports("--from", dir, "--cluster-name", "test", "--instance-types", typesPath())).To(Equal(whole))
		Expect(reports("--from", shuffled(c), "--cluster-name", "test", "--instance-types", typesPath())).To(Equal(whole))
	})

	It("of two clusters is refused: it holds one", func() {
		a, b := record(fixture("v1beta1"), "beta"), record(fixture("v1alpha5"), "alpha")
		r := run("snapshot", "--from", a, "--from", b, "-o", "both.json")
		Expect(r).To(exitWith(2))
		Expect(r).To(say("2 clusters"))
	})
})

var _ = Describe("Run files", func() {
	It("of two clusters merge into the fleet", func() {
		a, b := record(fixture("karpenter-drift"), "drift"), record(fixture("v1alpha5"), "alpha")
		dir := GinkgoT().TempDir()
		runA, runB := write(dir, "a.json", reports("--from", a)["json"]), write(dir, "b.json", reports("--from", b)["json"])
		fleet := reports("--from", a, "--from", b)
		Expect(reports("--from", runA, "--from", runB)).To(Equal(fleet))
		Expect(reports("--from", runA, "--from", b)).To(Equal(fleet), "a run file beside a snapshot")
		r := run("check", "--from", runA, "--from", runB)
		Expect(r).To(exitWith(1))
	})

	It("of the shards of one cluster merge into the bytes of one run", func() {
		source := record(fixture("karpenter-drift"), "drift")
		whole := specs{source: source, env: []string{"CLUSTER_NAME="}}.run()
		Expect(whole.result).To(exitWith(1))
		args, specsRun := []string{}, 0
		for i := range 3 {
			// An Indexed Job numbers its pods by itself.
			variable := "SHARD_INDEX"
			if i == 1 {
				variable = "JOB_COMPLETION_INDEX"
			}
			shard := specs{source: source, env: []string{"CLUSTER_NAME=", "SHARD_TOTAL=3", fmt.Sprintf("%s=%d", variable, i)}}.run()
			Expect(shard.reports).To(BeADirectory())
			specsRun += len(shard.failed()) + len(shard.passed()) - 1 // less the one about the run
			args = append(args, "--from", filepath.Join(shard.reports, "run.json"))
		}
		Expect(specsRun).To(Equal(12))
		merged := reports(args...)
		for format, file := range map[string]string{"json": "run.json", "csv": "allocatable-diff.csv", "csv-wide": "nodes.csv", "junit": "junit.xml"} {
			Expect(merged[format]).To(Equal(read(whole.reports, file)), format)
		}
	})

	DescribeTable("that do not belong together are refused", func(edit func(string) string, says ...string) {
		text := reports("--cluster-name", "test", "--from", clean().dump(), "--instance-types", typesPath())["json"]
		dir := GinkgoT().TempDir()
		r := run("check", "--from", write(dir, "a.json", text), "--from", write(dir, "b.json", edit(text)))
		Expect(r).To(exitWith(2))
		Expect(r).To(say(says...))
	},
		Entry("the same one twice", func(s string) string { return s }, "is in two of the runs"),
		Entry("two inputs of one name", func(s string) string { return strings.Replace(s, `"digest":"sha256:`, `"digest":"sha256:0`, 1) }, "different snapshots"),
		Entry("judged by different settings", func(s string) string { return strings.Replace(s, `"reservedENIs":0`, `"reservedENIs":1`, 1) }, "different settings"),
		Entry("a figure that was edited", func(s string) string { return strings.Replace(s, `"expected":2000`, `"expected":2001`, 1) }, "b.json", "delta"),
		Entry("cut off", func(s string) string { return s[:len(s)/2] }, "b.json"),
		Entry("of a later version", func(s string) string { return strings.Replace(s, "v1alpha1", "v9", 1) }, "b.json", "v9"),
	)
})
