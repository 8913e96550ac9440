package harness

import (
	"encoding/csv"
	"os"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

const (
	groups12 = "Instance Type,Expected Capacity,,,Expected Allocatable,,,Actual Capacity,,,Actual Allocatable,"
	columns  = ",Memory (Mi),CPU (m),Storage (Mi),Memory (Mi),CPU (m),Storage (Mi),Memory (Mi),CPU (m),Storage (Mi),Memory (Mi),CPU (m),Storage (Mi)"
)

var _ = Describe("The root command", func() {
	gather := func(from string, args ...string) result {
		GinkgoHelper()
		return run(append([]string{"--cluster-name", "test", "--from", from, "--instance-types", typesPath()}, args...)...)
	}

	It("writes 13 columns to allocatable-diff.csv, with no overhead, and says both", func() {
		r := gather(red().dump())
		Expect(r).To(exitWith(0)) // it gathers and never judges
		Expect(r).To(say("wrote 8 nodes of 1 cluster to allocatable-diff.csv", "overhead 0 (this command's default", "allocatable-diff check"))
		Expect(entries(r.dir)).To(ConsistOf("allocatable-diff.csv"))
		text := read(r.dir, "allocatable-diff.csv")
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll() // refuses rows of unequal length
		Expect(err).NotTo(HaveOccurred())
		Expect(rows).To(HaveLen(2 + 8))
		Expect(rows).To(HaveEach(HaveLen(13)))
		Expect(lines(text)[:2]).To(Equal([]string{groups12 + ",", columns}))
		// Expected: 8Gi; less 574Mi kube-reserved and 100Mi eviction; 20Gi, less 1Gi and 2Gi. Actual: as at 0.075.
		Expect(text).To(ContainSubstring("\nm5.large,8192,2000,20480,7518,1930,17408,7577,2000,20480,6903,1930,17408\n"))
		var order []string
		for _, row := range rows[2:] {
			order = append(order, row[0])
		}
		Expect(order).To(Equal([]string{"dl1.24xlarge", "g4ad.xlarge", "g5.xlarge", "inf2.xlarge", "m5.large", "m6g.large", "p4d.24xlarge", "t4g.large"}))
	})

	It("takes --out-file and --overhead-percent", func() {
		r := gather(clean().dump(), "--out-file", "prod.csv", "--overhead-percent", overhead)
		Expect(r).To(exitWith(0))
		Expect(r).To(say("to prod.csv", "overhead 0.075"))
		Expect(entries(r.dir)).To(ConsistOf("prod.csv"))
		Expect(read(r.dir, "prod.csv")).To(ContainSubstring("\nm5.large,7577,2000,20480,6903,1930,17408,7577,2000,20480,6903,1930,17408\n"))
		long := gather(clean().dump(), "--vm-memory-overhead-percent=0.075")
		Expect(read(long.dir, "allocatable-diff.csv")).To(Equal(read(r.dir, "prod.csv")))
		auto := gather(clean().dump(), "--overhead-percent", "auto")
		Expect(auto).To(say("overhead 0.075 (env VM_MEMORY_OVERHEAD_PERCENT of Deployment kube-system/karpenter)"))
	})

	It("has one cell less in its first row with --csv-format=upstream, and nothing else differs", func() {
		from := clean().dump()
		fixed, upstream := gather(from), gather(from, "--csv-format", "upstream")
		text := read(upstream.dir, "allocatable-diff.csv")
		Expect(lines(text)[0]).To(Equal(groups12))
		Expect(strings.Split(lines(text)[0], ",")).To(HaveLen(12))
		Expect(lines(text)[1:]).To(Equal(lines(read(fixed.dir, "allocatable-diff.csv"))[1:]))
	})

	It("prints the CSV alone for --out-file -", func() {
		from := clean().dump()
		r := gather(from, "--out-file", "-")
		Expect(r.stdout).To(Equal(read(gather(from).dir, "allocatable-diff.csv")))
		Expect(r.stderr).To(BeEmpty())
	})

	DescribeTable("refuses", func(args []string, says ...string) {
		r := run(args...)
		Expect(r).To(exitWith(2))
		Expect(r).To(say(says...))
		Expect(entries(r.dir)).To(BeEmpty())
	},
		Entry("no cluster name", []string{}, "--cluster-name is required", "CLUSTER_NAME"),
		Entry("an empty one", []string{"--cluster-name", ""}, "--cluster-name is required"),
		Entry("no file to write to", []string{"--cluster-name", "x", "--out-file", ""}, "--out-file"),
		Entry("flags of check", []string{"--cluster-name", "x", "--policy", "p.yaml"}, "unknown flag: --policy"),
	)

	It("asks for the name even where a snapshot has one, as upstream's does", func() {
		dir := GinkgoT().TempDir()
		Expect(command{dir: dir, args: []string{"snapshot", "--cluster-name", "prod", "--from", clean().dump(), "--instance-types", typesPath(), "-o", "s.json"}}.run()).To(exitWith(0))
		Expect(command{dir: dir, args: []string{"--from", "s.json"}}.run()).To(exitWith(2))
		Expect(command{dir: dir, args: []string{"--from", "s.json"}, env: []string{"CLUSTER_NAME=prod"}}.run()).To(exitWith(0))
	})

	It("writes its header rows and exits 4 when there is no Karpenter node", func() {
		r := gather(foreign().dump())
		Expect(r).To(exitWith(4))
		Expect(r).To(say("no Karpenter node among 8", "karpenter.sh/nodepool", "karpenter.sh/provisioner-name"))
		Expect(read(r.dir, "allocatable-diff.csv")).To(Equal(groups12 + ",\n" + columns + "\n"))
	})

	It("writes a node of unknown type with empty expected cells, and counts it", func() {
		r := gather(doubtful().dump())
		Expect(r).To(exitWith(0))
		Expect(r).To(say("1 node could not be computed"))
		Expect(read(r.dir, "allocatable-diff.csv")).To(ContainSubstring("\nx9.large,,,,,,,7577,2000,20480,6903,1930,17408\n"))
	})

	It("runs as a kubectl plugin under the plugin's name", func() {
		plugin := GinkgoT().TempDir() + "/kubectl-allocatable_diff"
		Expect(os.Symlink(tool(), plugin)).To(Succeed())
		r := command{program: plugin, args: []string{"--help"}}.run()
		Expect(r).To(exitWith(0))
		Expect(r).To(say("kubectl allocatable-diff [flags]"))
	})
})
