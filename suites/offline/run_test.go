package offline

import (
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
const patience = 3 * time.Minute

// command is one invocation of allocatable-diff, or of another program.
type command struct {
	// program is the path of another program.
	program string
	args    []string
	stdin   io.Reader
	// env is added to an environment that holds nothing of the person's who runs this suite.
	env []string
	// dir is the working directory; empty for a new one.
	dir string
}

// result is what came out.
type result struct {
	line           string
	code           int
	stdout, stderr string
	dir            string
}

// GomegaString is what a failed expectation prints.
func (r result) GomegaString() string {
	return fmt.Sprintf("$ %s\n%s%s-> exit %d", r.line, r.stdout, r.stderr, r.code)
}

// start starts it and does not wait.
func (c *command) start() *gexec.Session {
	GinkgoHelper()
	if c.program == "" {
		c.program = binary
	}
	if c.dir == "" {
		c.dir = GinkgoT().TempDir()
	}
	process := exec.Command(c.program, c.args...)
	process.Dir, process.Stdin, process.Env = c.dir, c.stdin, slices.Concat(environment(), c.env)
	session, err := gexec.Start(process, nil, nil)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(session.Kill)
	return session
}

func (c command) run() result {
	GinkgoHelper()
	session := c.start()
	session.Wait(patience)
	return c.resultOf(session)
}

// begun is a command that runs while the specs do something else.
type begun struct {
	command
	session *gexec.Session
	took    chan time.Duration
}

// begin starts a command and measures how long it takes.
func (c command) begin() *begun {
	GinkgoHelper()
	began := time.Now()
	b := &begun{command: c, took: make(chan time.Duration, 1)}
	b.session = b.start()
	go func() {
		<-b.session.Exited
		b.took <- time.Since(began)
	}()
	return b
}

// end waits for the end. It can be asked once.
func (b *begun) end() (result, time.Duration) {
	GinkgoHelper()
	b.session.Wait(patience)
	return b.resultOf(b.session), <-b.took
}

// together runs commands at once: a second core would otherwise wait.
func together(commands ...command) []result {
	GinkgoHelper()
	sessions := make([]*gexec.Session, len(commands))
	for i := range commands {
		sessions[i] = commands[i].start()
	}
	results := make([]result, len(commands))
	for i, session := range sessions {
		session.Wait(patience)
		results[i] = commands[i].resultOf(session)
	}
	return results
}

func (c *command) resultOf(s *gexec.Session) result {
	line := strings.Join(slices.Concat([]string{filepath.Base(c.program)}, c.args), " ")
	return result{line: line, code: s.ExitCode(), stdout: string(s.Out.Contents()), stderr: string(s.Err.Contents()), dir: c.dir}
}

// known are the results of once.
var known = map[string]result{}

// once runs a command, which says the same whenever it runs, for the first spec that needs its result, and gives it to
// the others, which leave its files alone.
func once(name string, get func() command) result {
	GinkgoHelper()
	if _, ok := known[name]; !ok {
		c := get()
		var err error
		c.dir, err = os.MkdirTemp(filepath.Dir(binary), "once-")
		Expect(err).NotTo(HaveOccurred())
		known[name] = c.run()
	}
	return known[name]
}

// environment has a home and a cache of the spec's own, and no AWS but what a spec gives.
func environment() []string {
	home := GinkgoT().TempDir()
	return []string{"HOME=" + home, "TMPDIR=" + home, "PATH=" + os.Getenv("PATH"), "AWS_EC2_METADATA_DISABLED=true"}
}

// credentials do for every fake EC2.
var credentials = []string{"AWS_REGION=us-west-2", "AWS_ACCESS_KEY_ID=AKIAOFFLINE", "AWS_SECRET_ACCESS_KEY=offline"}

// reports are the outputs that must be equal whatever way a cluster was read.
var reports = []string{"csv=allocatable-diff.csv", "csv-wide=nodes.csv", "junit=junit.xml", "json=run.json"}

// check judges a cluster, with every report.
func check(cluster string, args ...string) command {
	all := []string{"check", "--cluster-name", cluster}
	for _, out := range reports {
		all = append(all, "--output", out)
	}
	return command{args: append(all, args...), env: credentials}
}

// files returns what the reports hold, by name.
func files(r result) map[string]string {
	GinkgoHelper()
	out := map[string]string{}
	for _, report := range reports {
		_, name, _ := strings.Cut(report, "=")
		out[name] = read(r.dir, name)
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
		all := strings.Join(strings.Fields(r.stdout+r.stderr), " ") // lines that a terminal of 80 columns needs
		return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(all, text) }), nil
	}).WithTemplate("Expected\n{{.FormattedActual}}\n{{.To}} say {{range .Data}}{{printf \"%q \" .}}{{end}}", texts)
}

// read returns what a file holds.
func read(elements ...string) string {
	GinkgoHelper()
	data, err := os.ReadFile(filepath.Join(elements...))
	Expect(err).NotTo(HaveOccurred())
	return string(data)
}

// write writes a file of a folder and returns its path.
func write(dir, name, text string) string {
	GinkgoHelper()
	path := filepath.Join(dir, name)
	Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())
	return path
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

// loses runs a check that cannot finish over reports of an earlier one: each is as it was, and nothing lies beside them.
func loses(nothing command) result {
	GinkgoHelper()
	nothing.dir = yesterday()
	r := nothing.run()
	r.lostNothing()
	return r
}

// yesterday is a folder with the reports of an earlier run.
func yesterday() string {
	GinkgoHelper()
	dir := GinkgoT().TempDir()
	for _, report := range reports {
		_, name, _ := strings.Cut(report, "=")
		write(dir, name, "of yesterday")
	}
	return dir
}

// lostNothing expects the reports of yesterday.
func (r result) lostNothing() {
	GinkgoHelper()
	Expect(entries(r.dir)).To(HaveLen(len(reports)), r.GomegaString)
	for name, text := range files(r) {
		Expect(text).To(Equal("of yesterday"), "%s of\n%s", name, r.GomegaString)
	}
}
