package offline

import (
	"os"
	"os/exec"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// inside is set in the run of this suite that the spec below starts.
const inside = "ALLOCATABLE_DIFF_WITHOUT_NETWORK"

var _ = Describe("Without a network but loopback", Label("no-network"), func() {
	// alone runs a line of shell in a network namespace of its own.
	alone := func(line string) result {
		GinkgoHelper()
		if out, err := exec.Command("unshare", "-rn", "ip", "link", "set", "lo", "up").CombinedOutput(); err != nil {
			Skip("this machine does not let anyone take the network away (unshare -rn, ip link set lo up): " + string(out) + err.Error())
		}
		c := command{program: "unshare", args: []string{"-rn", "sh", "-c", "ip link set lo up && " + line}, dir: root}
		c.env = []string{inside + "=yes", "HOME=" + os.Getenv("HOME"), "GOFLAGS=-mod=mod", "GOPROXY=off"}
		for _, name := range []string{"KUBEBUILDER_ASSETS", "GOCACHE", "GOMODCACHE", "GOPATH", "XDG_CACHE_HOME"} {
			if value, ok := os.LookupEnv(name); ok {
				c.env = append(c.env, name+"="+value)
			}
		}
		session := c.start()
		session.Wait(10 * time.Minute)
		return c.resultOf(session)
	}

	BeforeEach(func() {
		if os.Getenv(inside) != "" {
			Skip("this is the run without a network")
		}
	})

	It("make demo passes", func() {
		Expect(alone("make --no-print-directory demo REPORTS=" + GinkgoT().TempDir())).To(exitWith(0))
	})

	// All of this suite is run so by without-network.sh: here it would take the time of all of it again.
	It("one cluster gives the same live, from files, from kubectl and redacted", func() {
		suite, err := os.Executable()
		Expect(err).NotTo(HaveOccurred())
		r := alone("cd suites/offline && exec " + suite + " -ginkgo.no-color -ginkgo.fail-on-empty -ginkgo.label-filter=cluster:" + small)
		Expect(r).To(exitWith(0))
	})
})
