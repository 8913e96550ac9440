package offline

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var _ = Describe("A large cluster", Label("large"), func() {
	// Both are read in pages of 500, the default, and judged.
	const few, many = 200, 2000
	It("of 2,000 nodes takes at most 64 MiB more than one of 200", func(ctx SpecContext) {
		w := world(bareWorld)
		there := len(nodesOf(small))
		judge := func(nodes int) (peakMiB int64) {
			GinkgoHelper()
			p := through(w.REST, nil)
			c := check("large", "--kubeconfig", p.kubeconfig(), "--instance-types", "ec2", "--endpoint-url", w.EC2URL)
			session := c.start()
			peakMiB = watch(session)
			r := c.resultOf(session)
			Expect(r.code).To(BeElementOf(0, 1), r.GomegaString)
			Expect(r).To(say(fmt.Sprintf("large: %d nodes judged", nodes)))
			Expect(p.requests("/nodes?")).To(HaveLen((nodes + 499) / 500))
			return peakMiB
		}
		fill(ctx, w, there, few)
		ofFew := judge(few)
		fill(ctx, w, few, many)
		ofMany := judge(many)
		AddReportEntry("peak of 200 and of 2,000 nodes, MiB", []int64{ofFew, ofMany})
		Expect(ofMany-ofFew).To(BeNumerically("<=", 64), "%d MiB with %d nodes, %d MiB with %d", ofFew, few, ofMany, many)
	}, NodeTimeout(patience*2))
})

// watch waits for a process and returns the most memory that it had, in MiB. The rusage of a child would not do: it
// begins with the memory of this process, which fork shared for a moment.
func watch(session *gexec.Session) (peakMiB int64) {
	GinkgoHelper()
	status := filepath.Join("/proc", strconv.Itoa(session.Command.Process.Pid), "status")
	if _, err := os.Stat("/proc/self/status"); err != nil {
		Skip("the memory of another process is read from /proc, which this machine does not have")
	}
	for end := time.Now().Add(patience); session.ExitCode() < 0 && time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		data, err := os.ReadFile(status)
		if err != nil {
			continue // it ended meanwhile
		}
		if _, rest, ok := strings.Cut(string(data), "\nVmHWM:"); ok {
			var kib int64
			_, err := fmt.Sscan(rest, &kib)
			Expect(err).NotTo(HaveOccurred())
			peakMiB = max(peakMiB, kib/1024)
		}
	}
	Expect(session).To(gexec.Exit())
	Expect(peakMiB).To(BeNumerically(">", 0), "it was never seen")
	return peakMiB
}

// fill creates the nodes of these numbers.
func fill(ctx context.Context, w *served, from, to int) {
	GinkgoHelper()
	var models corev1.NodeList
	Expect(json.Unmarshal([]byte(read(fixture(small), "nodes.json")), &models)).To(Succeed())
	c := clientOf(w)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(16)
	for i := from; i < to; i++ {
		node := models.Items[i%len(models.Items)].DeepCopy()
		name := fmt.Sprintf("node-%05d", i)
		node.ObjectMeta = metav1.ObjectMeta{Name: name, Labels: node.Labels}
		node.Labels["large"] = "true"
		node.Spec.ProviderID = "aws:///us-west-2a/" + name
		group.Go(func() error { return c.Create(ctx, node) })
	}
	Expect(group.Wait()).To(Succeed())
}
