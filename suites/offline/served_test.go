package offline

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"

	"github.com/allocatable-diff/allocatable-diff/pkg/offline"
)

// export is an assignment in a line that the command gives to a shell.
var export = regexp.MustCompile(`\b([A-Z_]+=\S+)`)

var _ = Describe("allocatable-diff offline", needsNoWorld, func() {
	It("serves a directory to the live path, and leaves nothing behind when it is interrupted", func() {
		serve := command{
			args: []string{"offline", "--from", fixture(small), "--instance-types", filepath.Join(root, "fixtures", "ec2")},
			env:  []string{"KUBEBUILDER_ASSETS=" + os.Getenv("KUBEBUILDER_ASSETS"), "XDG_DATA_HOME=" + os.Getenv("XDG_DATA_HOME")},
		}
		session := serve.start()
		Eventually(func() bool {
			return session.ExitCode() >= 0 || strings.Contains(string(session.Err.Contents()), "serving until interrupted")
		}, patience).Should(BeTrue())
		if strings.Contains(string(session.Err.Contents()), offline.ErrNoServers.Error()) {
			Skip(offline.ErrNoServers.Error())
		}
		Expect(session).To(gbytes.Say("export KUBECONFIG="), "%s", session.Err.Contents())

		world := export.FindAllString(string(session.Out.Contents()), -1)
		live := check(small)
		live.env = world
		results := together(live, check(small, "--from", fixture(small), "--instance-types", filepath.Join(root, "fixtures", "ec2")))
		Expect(results[0].code).To(BeElementOf(0, 1), results[0].GomegaString)
		// The one difference is where the types are said to come from.
		Expect(files(results[0])["allocatable-diff.csv"]).To(Equal(files(results[1])["allocatable-diff.csv"]))

		session.Interrupt()
		session.Wait(patience)
		Expect(serve.resultOf(session)).To(exitWith(0))
		at := slices.IndexFunc(world, func(v string) bool { return strings.HasPrefix(v, "KUBECONFIG=") })
		Expect(filepath.Dir(strings.TrimPrefix(world[at], "KUBECONFIG="))).NotTo(BeAnExistingFile())
	})

	DescribeTable("refuses what it cannot serve", func(args []string, text string) {
		Expect(command{args: append([]string{"offline"}, args...)}.run()).To(And(exitWith(2), say(text)))
	},
		Entry("no directory", []string{}, "--from DIR is required"),
		Entry("one that is not there", []string{"--from", "nowhere"}, "nowhere is not a directory that can be read"),
		Entry("types that are not there", []string{"--from", fixture(small), "--instance-types", "nowhere"}, "nowhere is not a directory that can be read"),
		Entry("an argument", []string{"fixtures"}, `unknown command "fixtures"`),
		Entry("an unknown flag", []string{"--form", "x"}, "unknown flag: --form"),
	)

	It("names the program that it runs where that is missing", func() {
		alone := GinkgoT().TempDir()
		Expect(os.Symlink(binary, filepath.Join(alone, "linked"))).To(Succeed())
		Expect(command{program: filepath.Join(alone, "linked"), args: []string{"offline", "--from", "nowhere"}}.run()).
			To(And(exitWith(2), say("nowhere is not")), "a link to the binary finds what lies beside that")

		data := read(binary)
		Expect(os.WriteFile(filepath.Join(alone, "copied"), []byte(data), 0o700)).To(Succeed())
		Expect(command{program: filepath.Join(alone, "copied"), args: []string{"offline", "--from", "nowhere"}, env: []string{"PATH=" + alone}}.run()).
			To(And(exitWith(3), say("the program allocatable-diff-offline is neither beside this one nor on PATH", "make build", "go install")))
	})
})
