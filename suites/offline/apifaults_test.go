package offline

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing/fstest"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// small is a cluster whose runs are short.
const small = "v1-reserved-enis"

// liveCheck judges the cluster behind a kubeconfig with the facts of files, so that nothing but the API server can fail.
func liveCheck(cluster, kubeconfig string, args ...string) command {
	return check(cluster, append(args, "--kubeconfig", kubeconfig, "--instance-types", root+"/fixtures/ec2")...)
}

// healthy is what the reports of a fixture cluster hold when nothing fails.
func healthy(cluster string) result {
	GinkgoHelper()
	return once("the files of "+cluster, func() command {
		return check(cluster, "--from", fixture(cluster), "--instance-types", root+"/fixtures/ec2")
	})
}

var _ = Describe("An API server", func() {
	Context("that cannot be talked to ends the run with 3, says why, and loses nothing", func() {
		It("refuses the connection", func() {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			Expect(err).NotTo(HaveOccurred())
			address := listener.Addr().String()
			Expect(listener.Close()).To(Succeed())
			r := loses(liveCheck(small, kubeconfigFor("http://"+address)))
			Expect(r).To(exitWith(3))
			Expect(r).To(say(address, "connection refused", "is the API server up, and the kubeconfig right?"))
		})

		It("shows a certificate that nobody signed", func() {
			server := httptest.NewTLSServer(http.NotFoundHandler())
			server.Config.ErrorLog = log.New(io.Discard, "", 0) // it would tell of the caller that hung up
			DeferCleanup(server.Close)
			r := loses(liveCheck(small, kubeconfigFor(server.URL)))
			Expect(r).To(exitWith(3))
			Expect(r).To(say("certificate", "is the API server up, and the kubeconfig right?"))
		})

		It("speaks no Kubernetes", func() {
			server := serve(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>sign in</html>")) }))
			r := loses(liveCheck(small, kubeconfigFor(server)))
			Expect(r).To(exitWith(3))
			Expect(r).To(say("is the API server up, and the kubeconfig right?"))
		})

		DescribeTable("within --request-timeout answers", waitsInSmall, func(answer http.HandlerFunc, says ...string) {
			r := loses(liveCheck(small, through(world(small).REST, always(listing("nodes"), answer)).kubeconfig(), "--request-timeout", "2s"))
			Expect(r).To(exitWith(3))
			Expect(r).To(say(says...))
		},
			Entry("nothing", http.HandlerFunc(never), "--request-timeout"),
			Entry("nothing, and drops the connection, which is tried again", http.HandlerFunc(dropped), "listing nodes", "EOF"),
		)

		DescribeTable("answers", func(answer fault, says ...string) {
			r := loses(liveCheck(small, through(world(small).REST, answer).kubeconfig(), "--chunk-size", "2"))
			Expect(r).To(exitWith(3))
			Expect(r).To(say(says...))
			Expect(r.stderr).NotTo(MatchRegexp(`(?m)^[IWE]\d{4} `), "client-go's own log")
		},
			Entry("401 to everything", always(everything, refusal(http.StatusUnauthorized, metav1.StatusReasonUnauthorized, "Unauthorized")),
				"401", "log in again"),
			Entry("403 to the nodes, naming verb, resource and remedy", always(listing("nodes"), refusal(http.StatusForbidden, metav1.StatusReasonForbidden, "nodes is forbidden")),
				"may not list nodes", "allocatable-diff manifests"),
			Entry("429 for ever, with Retry-After", always(listing("nodes"), tooMany("0")), "429", "try again later"),
			Entry("500 for ever", always(listing("nodeclaims"), refusal(http.StatusInternalServerError, metav1.StatusReasonInternalError, "etcd is gone")),
				"listing nodeclaims", "etcd is gone"),
			Entry("half a page, and drops the connection", always(listing("nodes"), half), "listing nodes"),
			Entry("410 to a second list too, which has no token", always(listing("nodes"), refusal(http.StatusGone, metav1.StatusReasonExpired, "gone")), "listing nodes", "gone"),
		)

		DescribeTable("answers what is JSON and of no use:", func(resource, answer string, says ...string) {
			p := through(world(small).REST, always(listing(resource), func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(answer))
			}))
			r := loses(liveCheck(small, p.kubeconfig()))
			Expect(r).To(exitWith(3))
			Expect(r).To(say(append(says, "listing "+resource+": ")...))
		},
			Entry("a node whose metadata is a text", "nodes", `{"kind":"NodeList","apiVersion":"v1","items":[{"metadata":"text"}]}`,
				"Node: wrong value at /items/0/metadata: a string cannot stand there"),
			Entry("a node whose capacity is a list", "nodes", `{"kind":"NodeList","apiVersion":"v1","items":[{"metadata":{"name":"n1"},"status":{"capacity":["cpu"]}}]}`,
				`Node "n1": wrong value at /items/0/status/capacity: expected an object, found a list`),
			Entry("a claim whose spec is a text", "nodeclaims", `{"apiVersion":"karpenter.sh/v1","kind":"NodeClaimList","items":[{"metadata":{"name":"c1"},"spec":"text"}]}`,
				`NodeClaim "c1": wrong value at /items/0/spec: a string cannot stand there`),
			Entry("a class without a name", "ec2nodeclasses", `{"apiVersion":"karpenter.k8s.aws/v1","kind":"EC2NodeClassList","items":[{"metadata":{}}]}`,
				"is a EC2NodeClass without metadata.name"),
			Entry("a Deployment whose containers are one", "deployments", `{"apiVersion":"apps/v1","kind":"DeploymentList","items":[{"metadata":{"name":"karpenter","labels":{"app.kubernetes.io/name":"karpenter"}},"spec":{"template":{"spec":{"containers":{}}}}}]}`,
				`Deployment "karpenter": wrong value at /items/0/spec/template/spec/containers`),
			// These would pass for an empty list, and the nodes be judged without their claims.
			Entry("claims that are no array", "nodeclaims", `{"apiVersion":"karpenter.sh/v1","kind":"NodeClaimList","items":{"c1":{}}}`, "the items of the NodeClaimList are no array"),
			Entry("claims that are not there", "nodeclaims", `{"apiVersion":"karpenter.sh/v1","kind":"NodeClaimList","metadata":{}}`, "the answer is no NodeClaimList"),
			Entry("a Status in their place", "nodeclaims", `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"try again"}`, "the answer is no NodeClaimList"),
			Entry("a list of something else", "nodeclaims", `{"kind":"PodList","apiVersion":"v1","items":[]}`, "the answer is no NodeClaimList"),
		)
	})

	Context("that fails for a moment gives what a healthy one gives", func() {
		DescribeTable("when it answers", func(answer fault, retried string, times int) {
			p := through(world(small).REST, answer)
			r := liveCheck(small, p.kubeconfig(), "--chunk-size", "2").run()
			expected := healthy(small)
			Expect(r.code).To(Equal(expected.code), r.GomegaString)
			Expect(files(r)).To(Equal(files(expected)))
			Expect(p.requests(retried)).To(HaveLen(times), "%v", p.seen)
		},
			// Four nodes are two pages of two: the first, the refused second, and all of them anew without a limit.
			Entry("410 Gone to a continue token", first(1, continues("nodes"), refusal(http.StatusGone, metav1.StatusReasonExpired, "The provided continue parameter is too old")), "/nodes?", 3),
			Entry("429 with Retry-After to the first list", waitsInSmall, first(1, listing("nodes"), tooMany("1")), "/nodes?", 3),
		)
	})

	It("that loses a node between two pages is believed in the end", func(ctx SpecContext) {
		w := world(small)
		gone := nodesOf(small)[0].named("aaa-gone", "m5.large") // the first by name, so that the first page has it
		loadNode(ctx, w, gone)
		expired := refusal(http.StatusGone, metav1.StatusReasonExpired, "The provided continue parameter is too old")
		// The node goes after the first page was given, whose token expires with it.
		p := through(w.REST, first(1, continues("nodes"), func(answer http.ResponseWriter, r *http.Request) {
			deleteNode(ctx, w, "aaa-gone")
			expired(answer, r)
		}))
		r := liveCheck(small, p.kubeconfig(), "--chunk-size", "2").run()
		Expect(files(r)["nodes.csv"]).To(Equal(files(healthy(small))["nodes.csv"]))
	})

	It("whose node goes between two pages of one list still gives a whole report", func(ctx SpecContext) {
		w := world(small)
		loadNode(ctx, w, nodesOf(small)[0].named("zzz-gone", "m5.large")) // the last by name
		p := through(w.REST, before(continues("nodes"), func() { deleteNode(ctx, w, "zzz-gone") }))
		r := liveCheck(small, p.kubeconfig(), "--chunk-size", "2").run()
		// The later page is of the moment of the first one: a list is consistent, so the node may still be there.
		Expect(r.code).To(BeNumerically("<=", 1), r.GomegaString)
		others := slices.DeleteFunc(strings.SplitAfter(files(r)["nodes.csv"], "\n"), func(row string) bool { return strings.HasPrefix(row, small+",zzz-gone,") })
		Expect(strings.Join(others, "")).To(Equal(files(healthy(small))["nodes.csv"]))
	})

	It("whose objects change between two lists of them is read as it was last", func(ctx SpecContext) {
		w := world(small)
		name := nodesOf(small)[0]["metadata"].(map[string]any)["name"].(string)
		c := clientOf(w)
		node := &corev1.Node{}
		Expect(c.Get(ctx, client.ObjectKey{Name: name}, node)).To(Succeed())
		pods := func(n string) {
			GinkgoHelper()
			patch := client.RawPatch(types.MergePatchType, []byte(`{"status":{"capacity":{"pods":"`+n+`"}}}`))
			Expect(c.Status().Patch(context.WithoutCancel(ctx), node, patch)).To(Succeed())
		}
		original := node.Status.Capacity.Pods().String()
		DeferCleanup(func() { pods(original) })
		expired := refusal(http.StatusGone, metav1.StatusReasonExpired, "The provided continue parameter is too old")
		p := through(w.REST, first(1, continues("nodes"), func(answer http.ResponseWriter, r *http.Request) {
			pods("7")
			expired(answer, r)
		}))
		r := liveCheck(small, p.kubeconfig(), "--chunk-size", "2").run()
		Expect(files(r)["nodes.csv"]).To(MatchRegexp(`(?m)^`+small+`,`+name+`,.*,pods,capacity,[^,]*,[^,]*,7,`), r.GomegaString)
	})

	It("without Karpenter's kinds has no Karpenter's objects, which is no error", func() {
		r := liveCheck(small, world(bareWorld).Kubeconfig(), "-l", "!large").run() // another spec's nodes are large's
		nodes := check(small, "--from", fixture(small)+"/nodes.json", "--from", fixture(small)+"/karpenter-deployment.yaml", "--instance-types", root+"/fixtures/ec2").run()
		Expect(r.code).To(Equal(nodes.code), r.GomegaString)
		Expect(files(r)["allocatable-diff.csv"]).To(Equal(files(nodes)["allocatable-diff.csv"]))
		Expect(r).To(say("no NodeClaim or Machine found"))
	})

	It("that does not answer is left within a second of Ctrl-C, and no file is half-written", func() {
		asked := make(chan struct{}, 10)
		p := through(world(small).REST, always(listing("nodes"), func(w http.ResponseWriter, r *http.Request) {
			asked <- struct{}{}
			never(w, r)
		}))
		c := liveCheck(small, p.kubeconfig())
		session := c.start()
		Eventually(asked, patience).Should(Receive())
		began := time.Now()
		session.Interrupt().Wait(patience)
		r := c.resultOf(session)
		Expect(time.Since(began)).To(BeNumerically("<", time.Second))
		Expect(r).To(exitWith(3))
		Expect(r).To(say("interrupted"))
		Expect(entries(r.dir)).To(BeEmpty())
	})
})

func everything(*http.Request) bool { return true }

// listing matches the lists of a resource.
func listing(resource string) func(*http.Request) bool {
	return func(r *http.Request) bool { return lists(r, resource) }
}

// continues matches the later pages of a list.
func continues(resource string) func(*http.Request) bool {
	return func(r *http.Request) bool { return lists(r, resource) && r.URL.Query().Get("continue") != "" }
}

func tooMany(retryAfter string) http.HandlerFunc {
	refuse := refusal(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, "the server is busy")
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", retryAfter)
		refuse(w, r)
	}
}

// never does not answer before the caller hangs up.
func never(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// half is an answer that ends in the middle.
func half(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", "1000")
	_, _ = w.Write([]byte(`{"kind":"NodeList","apiVersion":"v1","items":[`))
	_ = http.NewResponseController(w).Flush() // a caller who hung up does not matter
	dropped(w, nil)
}

// dropped ends the connection.
func dropped(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// before acts before the first request that matches is let through.
func before(match func(*http.Request) bool, act func()) fault {
	once := first(1, match, func(http.ResponseWriter, *http.Request) { act() })
	return func(w http.ResponseWriter, r *http.Request) bool {
		once(w, r)
		return false
	}
}

func clientOf(w *served) client.Client {
	GinkgoHelper()
	c, err := client.New(w.REST, client.Options{})
	Expect(err).NotTo(HaveOccurred())
	return c
}

// loadNode adds a node until the spec ends.
func loadNode(ctx context.Context, w *served, n nodeObject) {
	GinkgoHelper()
	Expect(w.Load(ctx, fstest.MapFS{"node.json": {Data: []byte(encode(n))}})).To(Succeed())
	name := n["metadata"].(map[string]any)["name"].(string)
	DeferCleanup(func() { deleteNode(context.WithoutCancel(ctx), w, name) })
}

// deleteNode takes a node away, at once: nothing waits for a finalizer of Karpenter's.
func deleteNode(ctx context.Context, w *served, name string) {
	GinkgoHelper()
	defer GinkgoRecover() // a proxy's goroutine
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	c := clientOf(w)
	noFinalizers := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
	Expect(client.IgnoreNotFound(c.Patch(ctx, node, noFinalizers))).To(Succeed())
	Expect(client.IgnoreNotFound(c.Delete(ctx, node))).To(Succeed())
}
