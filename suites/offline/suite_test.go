package offline

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/fstest"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"

	"github.com/allocatable-diff/allocatable-diff/pkg/offline"
)

func TestOffline(t *testing.T) {
	RegisterFailHandler(Fail)
	suite, _ := GinkgoConfiguration()
	if !suite.DryRun {
		// Once severed, go could fetch no module any more.
		if suite.ParallelProcess == 1 && os.Getenv(severed) == "" {
			build(t)
		}
		sever(suite.ParallelTotal > 1)
	}
	RunSpecs(t, "Offline")
}

// root is the top folder of the repository, built where make puts the binary, and binary the copy that the specs run, with
// the program beside it that serves.
var (
	root, _ = filepath.Abs("../..")
	built   = filepath.Join(root, "bin", "allocatable-diff")
	binary  string
)

// build builds the binary as make always does, which links nothing when it is up to date.
func build(t *testing.T) {
	line := exec.Command("make", "--no-print-directory", "build", "BIN="+built)
	line.Dir = root
	if out, err := line.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", line, err, out)
	}
}

var _ = SynchronizedBeforeSuite(func() []byte {
	folder, err := os.MkdirTemp("", "allocatable-diff-suite-")
	Expect(err).NotTo(HaveOccurred())
	binary = filepath.Join(folder, "allocatable-diff")
	// Somebody may build another meanwhile.
	out, err := exec.Command("cp", built, built+"-offline", folder).CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), "%s", out)
	return []byte(binary)
}, func(path []byte) {
	binary = string(path)
	beginUnanswered()
	if suite, _ := GinkgoConfiguration(); suite.ParallelTotal == 1 && len(suite.FocusStrings) == 0 && suite.LabelFilter == "" {
		startAll()
	}
})

var _ = SynchronizedAfterSuite(func() {
	hurry()
	starting.Wait()
	var stopping errgroup.Group
	for _, w := range started {
		stopping.Go(w.Stop)
	}
	Expect(stopping.Wait()).To(Succeed())
}, func() { Expect(os.RemoveAll(filepath.Dir(binary))).To(Succeed()) })

// bareWorld is the one without Karpenter's kinds, with the nodes and the Deployment of the small cluster.
const bareWorld = "bare"

// optionsOf is what a world holds.
func optionsOf(name string) offline.Options {
	if name == bareWorld {
		return offline.Options{Cluster: os.DirFS(fixture(small)), CRDs: fstest.MapFS{}, InstanceTypes: instanceTypes()}
	}
	return offline.Options{Cluster: os.DirFS(fixture(name)), InstanceTypes: instanceTypes()}
}

// worlds start the worlds of this process, by fixture cluster. A start takes seconds, and a world serves many specs, which
// leave it as it was: each is started once.
var worlds = onDemand(append(fixtures(), bareWorld))

var (
	mu      sync.Mutex
	started []*served

	// starting are the starts in the background, which hurry ends.
	starting         sync.WaitGroup
	meanwhile, hurry = context.WithCancel(context.Background())
)

func onDemand(names []string) map[string]func() (*served, error) {
	starts := map[string]func() (*served, error){}
	for _, name := range names {
		starts[name] = sync.OnceValues(func() (*served, error) {
			w, err := start(name)
			if err == nil {
				mu.Lock()
				defer mu.Unlock()
				started = append(started, w)
			}
			return w, err
		})
	}
	return starts
}

func start(name string) (*served, error) {
	if name == byCommand {
		return serveByCommand(meanwhile, name)
	}
	e, err := offline.Start(meanwhile, optionsOf(name))
	return &served{Environment: e}, err
}

// The worlds start meanwhile, so first come the specs that wait for seconds, for retries and timeouts of the tool: those
// that need no world, then those that need the one which is started first. Then what else needs no world.
const (
	waits        = SpecPriority(3)
	waitsInSmall = SpecPriority(2)
	needsNoWorld = SpecPriority(1)
	// inPeace is for what must be over within some time: no server starts any more.
	inPeace = SpecPriority(0)
)

// startAll starts the worlds in the background: three at once keep two cores busy, and the small one first, because most
// specs need it. What cannot be started is an error of the specs that need it.
func startAll() {
	starting.Go(func() {
		var some errgroup.Group
		some.SetLimit(3)
		for _, name := range slices.Concat([]string{small}, fixtures(), []string{bareWorld}) {
			some.Go(func() error {
				_, err := worlds[name]()
				return err
			})
		}
		_ = some.Wait()
	})
}

// world is a fixture cluster, or the bare world, served. The spec is skipped where there are no servers.
func world(name string) *served {
	GinkgoHelper()
	w, err := worlds[name]()
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
