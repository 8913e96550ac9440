package offline

import (
	"net/url"
	"os/exec"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// asInAPod runs a command where the files of a pod's service account are, which client-go looks for at this one place:
// in a mount namespace, the first argument is a folder of them.
const asInAPod = `run=$(readlink -f /var/run) && mount -t tmpfs tmpfs "$run" &&
	mkdir -p /var/run/secrets/kubernetes.io && cp -r "$0" /var/run/secrets/kubernetes.io/serviceaccount && exec "$@"`

var _ = Describe("Without a kubeconfig", func() {
	It("in a pod, the cluster is that of the pod, and the account the pod's", func(ctx SpecContext) {
		account := GinkgoT().TempDir()
		if out, err := exec.CommandContext(ctx, "unshare", "-rm", "sh", "-c", asInAPod, account, "true").CombinedOutput(); err != nil {
			Skip("this machine does not let anyone mount a service account (unshare -rm): " + string(out) + err.Error())
		}
		w := world(small)
		install(ctx, w, small)
		token := &authenticationv1.TokenRequest{}
		owner := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "allocatable-diff", Name: "allocatable-diff"}}
		Expect(clientOf(w).SubResource("token").Create(ctx, owner, token)).To(Succeed())
		write(account, "token", token.Status.Token)
		write(account, "ca.crt", string(w.REST.CAData))
		write(account, "namespace", owner.Namespace)
		server, err := url.Parse(w.REST.Host)
		Expect(err).NotTo(HaveOccurred())

		c := check(small, "--instance-types", root+"/fixtures/ec2")
		c.program, c.args = "unshare", slices.Concat([]string{"-rm", "sh", "-c", asInAPod, account, binary}, c.args)
		c.env = append(c.env, "KUBERNETES_SERVICE_HOST="+server.Hostname(), "KUBERNETES_SERVICE_PORT="+server.Port())
		r := c.run()
		Expect(r.code).To(Equal(healthy(small).code), r.GomegaString)
		Expect(files(r)).To(Equal(files(healthy(small))))

		// A token that nobody issued is refused: it was the account that counted.
		write(account, "token", "nobody's")
		r = loses(c)
		Expect(r).To(exitWith(3))
		Expect(r).To(say("401"))
	})

	It("and in no pod, the run ends and says how to name a cluster", func() {
		r := loses(check(small, "--instance-types", root+"/fixtures/ec2"))
		Expect(r).To(exitWith(3))
		Expect(r).To(say("finding the cluster", "set --kubeconfig or KUBECONFIG", "--from"))
	})
})
