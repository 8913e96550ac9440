package harness

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
)

// fileFormats are the formats that every release wrote to a file.
var fileFormats = []string{"csv", "csv-wide", "junit", "json"}

var _ = Describe("An output", func() {
	It("replaces a longer one whole", func() {
		large, small := clean(), bare()
		small.add("m5.large")
		dir := GinkgoT().TempDir()
		var args []string
		for _, f := range fileFormats {
			args = append(args, "--output", f+"="+f)
		}
		judge := func(c *cluster, dir string) {
			Expect(command{dir: dir, args: append([]string{"check", "--cluster-name", "test", "--from", c.dump(), "--instance-types", typesPath()}, args...)}.run()).To(exitWith(0))
		}
		judge(large, dir)
		judge(small, dir)
		fresh := GinkgoT().TempDir()
		judge(small, fresh)
		for _, f := range fileFormats {
			Expect(read(dir, f)).To(Equal(read(fresh, f)), f)
		}
		Expect(entries(dir)).To(ConsistOf(fileFormats), "and nothing else is left")
	})

	DescribeTable("that cannot be written is exit 3 and names the path; what was there stays", func(path string) {
		dir := GinkgoT().TempDir()
		write(dir, "file", "old")
		write(dir, "folder/x", "")
		for _, format := range fileFormats {
			r := command{dir: dir, args: []string{"check", "--cluster-name", "test", "--from", clean().dump(), "--instance-types", typesPath(), "--output", format + "=" + path}}.run()
			Expect(r).To(exitWith(3))
			Expect(r.stderr).To(And(HavePrefix("error: writing "), ContainSubstring(path)))
		}
		for _, args := range [][]string{{"--out-file", path}, {"snapshot", "-o", path}} {
			r := command{dir: dir, args: append(args, "--cluster-name", "test", "--from", clean().dump(), "--instance-types", typesPath())}.run()
			Expect(r).To(exitWith(3))
			Expect(r.stderr).To(ContainSubstring(path))
		}
		Expect(read(dir, "file")).To(Equal("old"))
		Expect(entries(dir)).To(ConsistOf("file", "folder"))
		Expect(entries(filepath.Join(dir, "folder"))).To(ConsistOf("x"))
	},
		Entry("below a file", "file/out"),
		Entry("in a folder that is not there", "nowhere/out"),
		Entry("where a folder is", "folder"),
		Entry("on a device that is full", "/dev/full"),
	)

	It("of the baseline that cannot be written is exit 3", func() {
		r := check(red().dump(), "--baseline", "nowhere/baseline.json", "--ratchet")
		Expect(r).To(exitWith(3))
		Expect(r).To(say("nowhere/baseline.json"))
	})

	It("on a full disk is exit 3, and the old file is whole", func() {
		mount := exec.Command("unshare", "-rm", "/bin/sh", "-c", "mount -t tmpfs -o size=64k none /tmp")
		if out, err := mount.CombinedOutput(); err != nil {
			Skip(fmt.Sprintf("a small file system cannot be mounted here: %v %s", err, out))
		}
		dir := GinkgoT().TempDir()
		script := `mount -t tmpfs -o size=64k none "$1" && echo old >"$1/out" && "$0" check --cluster-name test --from "$2" --instance-types "$3" --quiet --output csv-wide="$1/out"
code=$?; cat "$1/out"; ls -A "$1"; exit $code`
		r := command{program: "unshare", args: []string{"-rm", "/bin/sh", "-c", script, tool(), dir, many(400), typesPath()}}.run()
		Expect(r).To(exitWith(3))
		Expect(r).To(say("no space left on device"))
		Expect(r.stdout).To(Equal("old\nout\n"))
	})
})

// many writes a cluster of n nodes.
func many(n int) string {
	GinkgoHelper()
	c := bare()
	c.add("m5.large")
	template := c.machines[0].node
	objects := []*object{c.controller, c.class}
	for i := range n {
		node := *template
		node.Metadata.Name, node.Metadata.OwnerReferences = fmt.Sprintf("node-%05d", i), nil
		node.Spec = map[string]any{"providerID": fmt.Sprintf("aws:///us-east-1a/i-%017x", i)}
		objects = append(objects, &node)
	}
	return dumpOf(objects)
}

var _ = Describe("A run that is", func() {
	const nodes, old = 4000, "the old file\n"
	var source string
	BeforeEach(func() { source = many(nodes) })

	arguments := func(outputs ...string) []string {
		args := []string{"check", "--cluster-name", "test", "--from", source, "--instance-types", typesPath(), "--quiet"}
		for _, o := range outputs {
			args = append(args, "--output", o)
		}
		return args
	}
	temporary := func(dir string) []string {
		return slices.DeleteFunc(entries(dir), func(name string) bool { return !strings.HasSuffix(name, ".tmp") })
	}
	// writing waits until a file is being written.
	writing := func(dir string, s *gexec.Session) {
		GinkgoHelper()
		for deadline := time.Now().Add(patience); len(temporary(dir)) == 0 && s.ExitCode() < 0; time.Sleep(200 * time.Microsecond) {
			Expect(time.Now()).To(BeTemporally("<", deadline), "nothing is written")
		}
	}

	It("killed leaves the old file or the new one, whole", func() {
		complete := command{args: arguments("csv-wide=out")}
		began := time.Now()
		r := complete.run()
		took := time.Since(began)
		Expect(r).To(exitWith(0))
		whole := read(r.dir, "out")
		Expect(lines(whole)).To(HaveLen(1 + nodes*10)) // five resources, capacity and allocatable

		random := rand.New(rand.NewPCG(uint64(GinkgoRandomSeed()), 0))
		inTheMiddle := 0
		for i := range 8 {
			dir := GinkgoT().TempDir()
			write(dir, "out", old)
			c := command{args: arguments("csv-wide=out"), dir: dir}
			s := c.start()
			if i%2 == 0 {
				writing(dir, s)
			} else {
				time.Sleep(time.Duration(random.Int64N(int64(took))))
			}
			s.Kill().Wait(patience)
			if content := read(dir, "out"); content != old && content != whole {
				Fail(fmt.Sprintf("attempt %d: %d bytes, neither old nor new: %.200q…", i, len(content), content))
			}
			inTheMiddle += len(temporary(dir))
		}
		Expect(inTheMiddle).To(BeNumerically(">", 0), "no run was killed while it wrote")
	})

	DescribeTable("interrupted ends within a second with 3, and leaves no half-written file", func(signal os.Signal, when string) {
		dir := GinkgoT().TempDir()
		write(dir, "out", old)
		// A named pipe that nobody reads: the run cannot end by itself.
		Expect(syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600)).To(Succeed())
		c := command{args: arguments("csv-wide=out", "json=pipe"), dir: dir}
		if when == "reading" {
			in, out, err := os.Pipe()
			Expect(err).NotTo(HaveOccurred())
			defer in.Close()
			defer out.Close()
			c.stdin = in
			c.args[slices.Index(c.args, source)] = "-"
			s := c.start()
			// More than a pipe holds: once it is written, the run reads, and waits for the rest that never comes.
			half := read(source)
			_, err = out.Write([]byte(half[:len(half)/2]))
			Expect(err).NotTo(HaveOccurred())
			interrupted(&c, s, signal)
			Expect(read(dir, "out")).To(Equal(old))
			return
		}
		s := c.start()
		if when == "writing" {
			writing(dir, s)
		} else {
			Eventually(func() string { return read(dir, "out") }).WithTimeout(patience).ShouldNot(Equal(old))
		}
		interrupted(&c, s, signal)
		Expect(entries(dir)).To(ConsistOf("out", "pipe"))
		content := read(dir, "out")
		if content != old {
			Expect(lines(content)).To(HaveLen(1 + nodes*10))
		}
	},
		Entry("while it reads", os.Interrupt, "reading"),
		Entry("while it writes", os.Interrupt, "writing"),
		Entry("while a writer is blocked", os.Interrupt, "blocked"),
		Entry("by the SIGTERM of a pod that is deleted", syscall.SIGTERM, "blocked"),
	)
})

// interrupted sends the signal and expects the end that a person does.
func interrupted(c *command, s *gexec.Session, signal os.Signal) {
	GinkgoHelper()
	// What a second is on this machine, which may be busy: a command that does nothing takes a few hundredths of one.
	began := time.Now()
	Expect(run("version")).To(exitWith(0))
	limit := time.Second + 10*time.Since(began)
	s.Signal(signal)
	Eventually(s).WithTimeout(limit).WithPolling(time.Millisecond).Should(gexec.Exit())
	r := c.resultOf(s)
	Expect(r).To(exitWith(3))
	Expect(r.stdout).To(BeEmpty())
	Expect(r).To(say("error: interrupted"))
	Expect(bytes.Count(s.Err.Contents(), []byte("\n"))).To(Equal(1))
}
