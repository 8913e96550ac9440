package offline

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/allocatable-diff/allocatable-diff/pkg/offline"
)

func TestOffline(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Offline")
}

// root is the top folder of the repository, binary what process 1 built for all processes.
var (
	root, _ = filepath.Abs("../..")
	binary  string
)

var _ = SynchronizedBeforeSuite(func() []byte {
	folder, err := os.MkdirTemp("", "allocatable-diff-suite-")
	Expect(err).NotTo(HaveOccurred())
	binary = filepath.Join(folder, "allocatable-diff")
	// Debug information is half of the time to link, and nobody steps through this.
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", binary, "./pkg/cmd/allocatable-diff")
	build.Dir = root
	out, err := build.CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), "%s", out)
	return []byte(binary)
}, func(path []byte) { binary = string(path) })

var _ = SynchronizedAfterSuite(func() {
	for _, w := range worlds {
		Expect(w.Stop()).To(Succeed())
	}
}, func() { Expect(os.RemoveAll(filepath.Dir(binary))).To(Succeed()) })

// worlds are those that this process started, by fixture cluster: a start takes seconds, and a world serves many specs,
// which leave it as it was.
var worlds = map[string]*offline.Environment{}

// world is the fixture cluster, served.
func world(ctx SpecContext, cluster string) *offline.Environment {
	GinkgoHelper()
	if worlds[cluster] == nil {
		worlds[cluster] = start(ctx, offline.Options{Cluster: os.DirFS(fixture(cluster)), InstanceTypes: instanceTypes()})
	}
	w := worlds[cluster]
	DeferCleanup(func() { w.EC2.InjectWhen(nil) })
	return w
}

// start starts a world, or skips the spec where there are no servers.
func start(ctx SpecContext, options offline.Options) *offline.Environment {
	GinkgoHelper()
	w, err := offline.Start(ctx, options)
	if errors.Is(err, offline.ErrNoServers) {
		Skip(offline.ErrNoServers.Error())
	}
	Expect(err).NotTo(HaveOccurred())
	return w
}

// fixture is the folder of a cluster that the repository keeps.
func fixture(cluster string) string { return filepath.Join(root, "fixtures", "clusters", cluster) }

// fixtures are the names of all of them.
func fixtures() []string {
	entries, err := os.ReadDir(filepath.Join(root, "fixtures", "clusters"))
	if err != nil {
		return nil // the specs over them are then none, which the suite refuses
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}

func instanceTypes() fs.FS { return os.DirFS(filepath.Join(root, "fixtures", "ec2")) }
