package offline

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/allocatable-diff/allocatable-diff/pkg/offline"
)

func TestOffline(t *testing.T) {
	RegisterFailHandler(Fail)
	if configuration, _ := GinkgoConfiguration(); !configuration.DryRun {
		sever(configuration.ParallelTotal > 1)
	}
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
}, func(ctx SpecContext, path []byte) {
	binary = string(path)
	if suite, _ := GinkgoConfiguration(); suite.ParallelTotal == 1 && len(suite.FocusStrings) == 0 && suite.LabelFilter == "" {
		startAll(ctx)
	}
})

var _ = SynchronizedAfterSuite(func() {
	for _, w := range worlds {
		Expect(w.Stop()).To(Succeed())
	}
}, func() { Expect(os.RemoveAll(filepath.Dir(binary))).To(Succeed()) })

// worlds are those that this process started, by fixture cluster: a start takes seconds, and a world serves many specs,
// which leave it as it was.
var worlds = map[string]*offline.Environment{}

// bareWorld is the one without Karpenter's kinds, with the nodes and the Deployment of the small cluster.
const bareWorld = "bare"

// optionsOf is what a world holds.
func optionsOf(name string) offline.Options {
	if name == bareWorld {
		return offline.Options{Cluster: os.DirFS(fixture(small)), CRDs: fstest.MapFS{}, InstanceTypes: instanceTypes()}
	}
	return offline.Options{Cluster: os.DirFS(fixture(name)), InstanceTypes: instanceTypes()}
}

// startAll starts every world at once, which takes a third of the time that one after the other does. What cannot be
// started is left to the spec that needs it.
func startAll(ctx context.Context) {
	var all sync.WaitGroup
	var mu sync.Mutex
	for _, name := range append(fixtures(), bareWorld) {
		all.Go(func() {
			if w, err := offline.Start(ctx, optionsOf(name)); err == nil {
				mu.Lock()
				defer mu.Unlock()
				worlds[name] = w
			}
		})
	}
	all.Wait()
}

// world is a fixture cluster, or the bare world, served. The spec is skipped where there are no servers.
func world(ctx SpecContext, name string) *offline.Environment {
	GinkgoHelper()
	if worlds[name] == nil {
		w, err := offline.Start(ctx, optionsOf(name))
		if errors.Is(err, offline.ErrNoServers) {
			Skip(offline.ErrNoServers.Error())
		}
		Expect(err).NotTo(HaveOccurred())
		worlds[name] = w
	}
	w := worlds[name]
	DeferCleanup(func() { w.EC2.InjectWhen(nil) })
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
