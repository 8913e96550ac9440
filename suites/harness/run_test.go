package harness

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gcustom"
	"github.com/onsi/gomega/gexec"
	gomega "github.com/onsi/gomega/types"
)

// patience is how long any command may take: long enough for a machine that does other things.
const patience = 5 * time.Minute

// command is one invocation, as a person would type it.
type command struct {
	// program is the path of the binary; empty for allocatable-diff.
	program string
	args    []string
	// dir is the working directory; empty for a new one.
	dir   string
	stdin io.Reader
	// env is added to an environment that holds nothing of the person's who runs this suite.
	env []string
}

// result is what came out.
type result struct {
	line           string
	code           int
	stdout, stderr string
	// dir is where it ran.
	dir string
}

// GomegaString is what a failed expectation prints.
func (r result) GomegaString() string {
	return fmt.Sprintf("$ %s\n%s%s-> exit %d", r.line, r.stdout, r.stderr, r.code)
}

// run runs allocatable-diff in a folder of its own.
func run(args ...string) result {
	GinkgoHelper()
	return command{args: args}.run()
}

// check judges a cluster of these instance types' fixture, named "test".
func check(from string, args ...string) result {
	GinkgoHelper()
	return run(slices.Concat([]string{"check", "--cluster-name", "test", "--from", from, "--instance-types", typesPath()}, args)...)
}

func (c command) run() result {
	GinkgoHelper()
	session := c.start()
	session.Wait(patience)
	return c.resultOf(session)
}

// start starts it and does not wait.
func (c *command) start() *gexec.Session {
	GinkgoHelper()
	c.program, c.dir = cmp.Or(c.program, tool()), cmp.Or(c.dir, GinkgoT().TempDir())
	process := exec.Command(c.program, c.args...)
	process.Dir, process.Stdin = c.dir, c.stdin
	process.Env = slices.Concat(environment(), c.env)
	session, err := gexec.Start(process, nil, nil)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(session.Kill)
	return session
}

func (c *command) resultOf(s *gexec.Session) result {
	line := strings.Join(slices.Concat([]string{filepath.Base(c.program)}, c.args), " ")
	return result{line: line, code: s.ExitCode(), stdout: string(s.Out.Contents()), stderr: string(s.Err.Contents()), dir: c.dir}
}

// environment has a home, a cache and a temporary folder of the spec's own, and what the go command needs to find what
// was compiled before.
func environment() []string {
	home := GinkgoT().TempDir()
	out := []string{"HOME=" + home, "XDG_CACHE_HOME=" + filepath.Join(home, ".cache"), "XDG_CONFIG_HOME=" + filepath.Join(home, ".config"), "TMPDIR=" + home, "AWS_EC2_METADATA_DISABLED=true"}
	for _, name := range []string{"PATH", "LANG"} {
		out = append(out, name+"="+os.Getenv(name))
	}
	return out
}

// exitWith succeeds when a command ended with the code.
func exitWith(code int) gomega.GomegaMatcher {
	return gcustom.MakeMatcher(func(r result) (bool, error) { return r.code == code, nil }).
		WithTemplate("Expected\n{{.FormattedActual}}\n{{.To}} exit with {{.Data}}", code)
}

// say succeeds when both streams together hold every text.
func say(texts ...string) gomega.GomegaMatcher {
	return gcustom.MakeMatcher(func(r result) (bool, error) {
		return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(unwrapped(r.stdout+r.stderr), text) }), nil
	}).WithTemplate("Expected\n{{.FormattedActual}}\n{{.To}} say {{range .Data}}{{printf \"%q \" .}}{{end}}", texts)
}

// unwrapped joins the lines that a terminal of 80 columns needs.
func unwrapped(text string) string { return strings.Join(strings.Fields(text), " ") }

// write writes a file of a folder and returns its path.
func write(dir, name, text string) string {
	GinkgoHelper()
	path := filepath.Join(dir, name)
	Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(Succeed())
	Expect(os.WriteFile(path, []byte(text), 0o644)).To(Succeed())
	return path
}

// read returns what a file holds.
func read(elements ...string) string {
	GinkgoHelper()
	data, err := os.ReadFile(filepath.Join(elements...))
	Expect(err).NotTo(HaveOccurred())
	return string(data)
}

// entries are the names in a folder, hidden ones too.
func entries(dir string) []string {
	GinkgoHelper()
	all, err := os.ReadDir(dir)
	Expect(err).NotTo(HaveOccurred())
	names := make([]string, len(all))
	for i, e := range all {
		names[i] = e.Name()
	}
	return names
}

// lines are the lines of a text, without the one that is empty after the last line break.
func lines(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }

// executable lets a file be run.
func executable(path string) {
	GinkgoHelper()
	Expect(os.Chmod(path, 0o755)).To(Succeed())
}
