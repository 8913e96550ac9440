package offline

import (
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("Progress", func() {
	// onTerminal runs a command with a terminal for its standard error, and returns what that showed; its standard output is
	// a file.
	onTerminal := func(c command) (shown, stdout string) {
		GinkgoHelper()
		script := installed("script")
		if out, err := exec.Command(script, "--version").Output(); err != nil || !strings.Contains(string(out), "util-linux") {
			Skip(script + " is not that of util-linux, which can give a command a terminal")
		}
		dir := GinkgoT().TempDir()
		line := "exec '" + binary + "'"
		for _, arg := range c.args {
			line += " '" + arg + "'"
		}
		file := write(dir, "line.sh", line+" >"+filepath.Join(dir, "stdout"))
		c.program, c.args = script, []string{"--quiet", "--return", "--command", "sh " + file, "/dev/null"}
		r := c.run()
		Expect(r.code).To(BeElementOf(0, 1, 4), r.GomegaString)
		return r.stdout, read(dir, "stdout")
	}

	It("shows on a terminal what is read and how many, and nowhere else", func() {
		w := world(small)
		c := check(small, "--kubeconfig", w.Kubeconfig(), "--chunk-size", "2", "--instance-types", "ec2", "--endpoint-url", w.EC2URL, "--no-cache")
		plain := c.run()
		Expect(plain.stdout + plain.stderr).NotTo(ContainSubstring("reading "))

		shown, stdout := onTerminal(c)
		Expect(shown).To(MatchRegexp(`reading nodes: 2\r\n(.*\r\n)*reading nodes: 4\r\n`))
		Expect(shown).To(ContainSubstring("reading nodeclaims: "))
		Expect(shown).To(MatchRegexp(`asking EC2 in us-west-2 for \d+ instance types`))
		Expect(stdout).To(Equal(plain.stdout))

		c.args = append(c.args, "--quiet")
		shown, _ = onTerminal(c)
		Expect(shown).NotTo(ContainSubstring("reading "))
	})
})
