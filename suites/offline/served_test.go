package offline

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/allocatable-diff/allocatable-diff/pkg/offline"
)

// served is a world: in this process, or behind `allocatable-diff offline`.
type served struct {
	*offline.Environment
	command *serving // nil for one in this process
}

// Kubeconfig is the path of the world's kubeconfig.
func (s *served) Kubeconfig() string {
	if s.command != nil {
		return s.command.exported["KUBECONFIG"]
	}
	return s.Environment.Kubeconfig()
}

// Stop ends the world.
func (s *served) Stop() error {
	if s.command != nil {
		return s.command.stop()
	}
	return s.Environment.Stop()
}

// byCommand is the cluster that the command serves: its specs need no more of their world than a person has of it.
const byCommand = "karpenter-drift"

// serving is `allocatable-diff offline` at work.
type serving struct {
	process *exec.Cmd
	// folder is all that it may write to.
	folder string
	// exported is what its lines give to a shell.
	exported map[string]string
	stderr   strings.Builder
}

// export is an assignment in a line of the command.
var export = regexp.MustCompile(`\b([A-Z_]+)=(\S+)`)

// serveByCommand starts it and waits until it serves. It is interrupted where ctx ends before that.
func serveByCommand(ctx context.Context, cluster string) (*served, error) {
	folder, err := os.MkdirTemp(filepath.Dir(binary), "served-")
	if err != nil {
		return nil, err
	}
	s := &serving{folder: folder, exported: map[string]string{}}
	s.process = exec.Command(binary, "offline", "--from", fixture(cluster), "--instance-types", filepath.Join(root, "fixtures", "ec2"))
	s.process.Env = append(os.Environ(), "TMPDIR="+folder)
	s.process.Stderr = &s.stderr
	out, err := s.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.process.Start(); err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { _ = s.process.Process.Signal(os.Interrupt) })()
	for lines := bufio.NewScanner(out); lines.Scan(); {
		for _, pair := range export.FindAllStringSubmatch(lines.Text(), -1) {
			s.exported[pair[1]] = pair[2]
		}
		if s.exported["AWS_ENDPOINT_URL"] != "" { // in the last line
			config, err := clientcmd.BuildConfigFromFlags("", s.exported["KUBECONFIG"])
			if err != nil {
				return nil, errors.Join(err, s.stop())
			}
			return &served{&offline.Environment{REST: config, EC2URL: s.exported["AWS_ENDPOINT_URL"]}, s}, nil
		}
	}
	err = s.process.Wait()
	if strings.Contains(s.stderr.String(), offline.ErrNoServers.Error()) {
		return nil, offline.ErrNoServers
	}
	return nil, fmt.Errorf("%v: %w: %s", s.process, err, s.stderr.String())
}

// stop interrupts it, as a person does. It has to end well, and to take away all that it wrote.
func (s *serving) stop() error {
	err := s.process.Process.Signal(os.Interrupt)
	if err := errors.Join(err, s.process.Wait()); err != nil {
		return fmt.Errorf("%v, interrupted: %w: %s", s.process, err, s.stderr.String())
	}
	left, err := os.ReadDir(s.folder)
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("%v left behind %v", s.process, left)
	}
	return err
}

var _ = Describe("allocatable-diff offline", func() {
	It("gives a shell all that a client needs, and says how it ends", Label("cluster:"+byCommand), func() {
		s := world(byCommand).command
		Expect(s.stderr.String()).To(Equal("serving until interrupted (Ctrl-C)\n"))
		c := check(byCommand)
		c.env = nil
		for name, value := range s.exported {
			c.env = append(c.env, name+"="+value)
		}
		r := c.run()
		Expect(r.code).To(Equal(1), r.GomegaString)
		Expect(read(r.dir, "run.json")).To(ContainSubstring(`"instanceTypesFrom":"ec2"`), "of the fake one")
	})

	DescribeTable("refuses what it cannot serve", needsNoWorld, func(args []string, text string) {
		Expect(command{args: append([]string{"offline"}, args...)}.run()).To(And(exitWith(2), say(text)))
	},
		Entry("no directory", []string{}, "--from DIR is required"),
		Entry("one that is not there", []string{"--from", "nowhere"}, "nowhere is not a directory that can be read"),
		Entry("types that are not there", []string{"--from", fixture(small), "--instance-types", "nowhere"}, "nowhere is not a directory that can be read"),
		Entry("an argument", []string{"fixtures"}, `unknown command "fixtures"`),
		Entry("an unknown flag", []string{"--form", "x"}, "unknown flag: --form"),
	)

	It("names the program that it runs where that is missing", needsNoWorld, func() {
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
