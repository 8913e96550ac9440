package harness

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func TestHarness(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Harness")
}

// built is what process 1 made once for all processes.
type built struct {
	// Folder holds the three binaries.
	Folder string
	// Expected is what `expect -o json` prints of the instance types of the clean cluster.
	Expected json.RawMessage
}

// root is the top folder of the repository, at what was built.
var (
	root, _ = filepath.Abs("../..")
	at      built
)

func tool() string   { return filepath.Join(at.Folder, "allocatable-diff") }
func suite() string  { return filepath.Join(at.Folder, "allocatable.test") }
func ginkgo() string { return filepath.Join(at.Folder, "ginkgo") }

var _ = SynchronizedBeforeSuite(func() []byte {
	folder, err := os.MkdirTemp("", "allocatable-diff-harness-")
	Expect(err).NotTo(HaveOccurred())
	at.Folder = folder
	var all sync.WaitGroup
	for _, args := range [][]string{
		{"build", "-o", tool(), "./pkg/cmd/allocatable-diff"},
		{"test", "-c", "-o", suite(), "./suites/allocatable"},
	} {
		all.Go(func() {
			defer GinkgoRecover()
			compile(args...)
		})
	}
	all.Wait()
	compiled, err := exec.Command("go", "tool", "-n", "ginkgo").Output()
	Expect(err).NotTo(HaveOccurred())
	Expect(os.Symlink(strings.TrimSpace(string(compiled)), ginkgo())).To(Succeed())
	at.Expected = json.RawMessage(expectations())
	out, err := json.Marshal(at)
	Expect(err).NotTo(HaveOccurred())
	return out
}, func(made []byte) {
	Expect(json.Unmarshal(made, &at)).To(Succeed())
})

var _ = SynchronizedAfterSuite(func() {}, func() {
	Expect(os.RemoveAll(at.Folder)).To(Succeed())
})

// compile runs the go command in the repository. Debug information is left out: it is half of the time to link, and
// nobody steps through these.
func compile(args ...string) {
	GinkgoHelper()
	c := exec.Command("go", slices.Insert(args, 1, "-ldflags=-s -w")...)
	c.Dir = root
	out, err := c.CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), "go %s\n%s", strings.Join(args, " "), out)
}

// fixture is the path of a cluster that the repository keeps.
func fixture(cluster string) string { return filepath.Join(root, "fixtures", "clusters", cluster) }

// typesPath is the path of the recorded instance types.
func typesPath() string { return filepath.Join(root, "fixtures", "ec2") }
