package offline

import (
	"net"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// severed is set where this suite has started itself anew without a network, or holds why it could not.
const severed = "ALLOCATABLE_DIFF_SEVERED"

const isSevered = "yes"

// sever starts this process anew where there is no network but a loopback of its own, so that whatever passes in this
// suite has called nobody. Where that cannot be, it returns, and a spec is skipped with the reason: parallel processes
// would not reach the one that they report to.
func sever(parallel bool) {
	if os.Getenv(severed) != "" {
		return
	}
	reason := "processes that run in parallel share the machine's network: run the suite in one"
	if !parallel {
		out, err := exec.Command("unshare", "-rn", "ip", "link", "set", "lo", "up").CombinedOutput()
		if err == nil {
			var self, unshare string
			self, err = os.Executable()
			if err == nil {
				unshare, err = exec.LookPath("unshare")
			}
			if err == nil {
				line := slices.Concat([]string{"unshare", "-rn", "sh", "-c", `ip link set lo up && exec "$0" "$@"`, self}, os.Args[1:])
				err = syscall.Exec(unshare, line, append(os.Environ(), severed+"="+isSevered))
			}
		}
		reason = "this machine does not let anyone take the network away (unshare -rn ip link set lo up): " + string(out) + err.Error()
	}
	Expect(os.Setenv(severed, reason)).To(Succeed())
}

var _ = Describe("Without a network but loopback", needsNoWorld, func() {
	BeforeEach(func() {
		if reason := os.Getenv(severed); reason != isSevered {
			Skip(reason)
		}
	})

	It("every spec of this run was run", func() {
		// An address that is set aside for documentation.
		_, err := net.DialTimeout("tcp", "192.0.2.1:443", time.Second)
		Expect(err).To(MatchError(syscall.ENETUNREACH))
	})

	It("make demo passes", func() {
		demo := command{program: "make", args: []string{"--no-print-directory", "demo", "REPORTS=" + GinkgoT().TempDir()}, dir: root}
		for _, name := range []string{"HOME", "GOCACHE", "GOMODCACHE", "GOPATH", "XDG_CACHE_HOME"} { // where modules and builds are
			if value, ok := os.LookupEnv(name); ok {
				demo.env = append(demo.env, name+"="+value)
			}
		}
		Expect(demo.run()).To(exitWith(0))
	})
})
