package offline

import (
	"context"
	"fmt"
	"syscall"
	"testing/fstest"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/allocatable-diff/allocatable-diff/pkg/offline"
)

var _ = Describe("A large cluster", Label("large"), func() {
	// Both are read in pages of 500, the default, and judged.
	const few, many = 200, 2000
	It("of 2,000 nodes takes at most 64 MiB more than one of 200", func(ctx SpecContext) {
		w := start(ctx, offline.Options{InstanceTypes: instanceTypes()})
		DeferCleanup(w.Stop)
		judge := func(nodes int) (peakMiB int64) {
			GinkgoHelper()
			p := through(w.REST, nil)
			r := check("large", "--kubeconfig", p.kubeconfig(), "--instance-types", "ec2", "--endpoint-url", w.EC2URL).run()
			Expect(r.code).To(BeElementOf(0, 1), r.GomegaString)
			Expect(r).To(say(fmt.Sprintf("large: %d nodes judged", nodes)))
			Expect(p.requests("/nodes?")).To(HaveLen((nodes + 499) / 500))
			usage, ok := r.state.SysUsage().(*syscall.Rusage)
			Expect(ok).To(BeTrue())
			return usage.Maxrss / 1024 // Linux counts in KiB
		}
		fill(ctx, w, 0, few)
		small := judge(few)
		fill(ctx, w, few, many)
		large := judge(many)
		AddReportEntry("peak of 200 and of 2,000 nodes, MiB", []int64{small, large})
		Expect(large-small).To(BeNumerically("<=", 64), "%d MiB with %d nodes, %d MiB with %d", small, few, large, many)
	}, NodeTimeout(patience*2))
})

// fill creates the nodes of these numbers.
func fill(ctx context.Context, w *offline.Environment, from, to int) {
	GinkgoHelper()
	models := nodesOf(small)
	items := make([]nodeObject, 0, to-from)
	for i := from; i < to; i++ {
		model := models[i%len(models)]
		items = append(items, model.named(fmt.Sprintf("node-%05d", i), model.instanceType()))
	}
	Expect(w.Load(ctx, fstest.MapFS{"nodes.json": {Data: []byte(encode(map[string]any{"apiVersion": "v1", "kind": "List", "items": items}))}})).To(Succeed())
}
