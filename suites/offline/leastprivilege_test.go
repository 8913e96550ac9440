package offline

import (
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// serviceAccount is that of the manifests, as the API server calls it.
const serviceAccount = "system:serviceaccount:allocatable-diff:allocatable-diff"

// controllerIn is the namespace of a fixture cluster's Karpenter.
func controllerIn(cluster string) string {
	if cluster == "v1alpha5" {
		return "karpenter"
	}
	return "kube-system"
}

// manifests are the objects that `allocatable-diff manifests` prints for a fixture cluster.
func manifests(cluster string) []*unstructured.Unstructured {
	GinkgoHelper()
	r := once("the manifests of "+cluster, func() command {
		return command{args: []string{"manifests", "--cluster-name", cluster, "--karpenter-namespace", controllerIn(cluster)}}
	})
	Expect(r).To(exitWith(0))
	var all []*unstructured.Unstructured
	decoder := utilyaml.NewYAMLOrJSONDecoder(strings.NewReader(r.stdout), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if err == io.EOF {
			return all
		}
		Expect(err).NotTo(HaveOccurred())
		if len(object.Object) > 0 { // the IAM policy is a comment
			all = append(all, object)
		}
	}
}

// rules are those of the manifests' role of a kind, taken apart to one resource in each.
func rules(kind string) []rbacv1.PolicyRule {
	GinkgoHelper()
	var out []rbacv1.PolicyRule
	for _, object := range manifests(small) { // they are the same for all
		if object.GetKind() != kind {
			continue
		}
		var role rbacv1.ClusterRole // a Role has the same rules
		Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &role)).To(Succeed())
		for _, rule := range role.Rules {
			for _, resource := range rule.Resources {
				out = append(out, rbacv1.PolicyRule{APIGroups: rule.APIGroups, Resources: []string{resource}, Verbs: rule.Verbs})
			}
		}
	}
	Expect(out).NotTo(BeEmpty())
	return out
}

// grant gives a user the manifests' rights but for some verbs, and returns its kubeconfig once they count.
func grant(ctx context.Context, w *served, name, namespace string, without func(resource, verb string) bool) string {
	GinkgoHelper()
	kubeconfig, err := w.AddUser(name)
	Expect(err).NotTo(HaveOccurred())
	left := func(kind string) []rbacv1.PolicyRule {
		var out []rbacv1.PolicyRule
		for _, rule := range rules(kind) {
			rule.Verbs = slices.DeleteFunc(slices.Clone(rule.Verbs), func(verb string) bool { return without(rule.Resources[0], verb) })
			out = append(out, rule)
		}
		return slices.DeleteFunc(out, func(rule rbacv1.PolicyRule) bool { return len(rule.Verbs) == 0 }) // which is no rule
	}
	c := clientOf(w)
	meta := metav1.ObjectMeta{Name: name}
	local := metav1.ObjectMeta{Name: name, Namespace: namespace}
	subjects := []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: name}}
	for _, object := range []client.Object{
		&rbacv1.ClusterRole{ObjectMeta: meta, Rules: left("ClusterRole")},
		&rbacv1.ClusterRoleBinding{ObjectMeta: meta, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name}},
		&rbacv1.Role{ObjectMeta: local, Rules: left("Role")},
		&rbacv1.RoleBinding{ObjectMeta: local, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name}},
	} {
		Expect(c.Create(ctx, object)).To(Succeed())
		DeferCleanup(func() { Expect(c.Delete(context.WithoutCancel(ctx), object)).To(Succeed()) })
	}
	for _, rule := range left("ClusterRole") {
		await(ctx, c, name, nil, rule, "")
	}
	for _, rule := range left("Role") {
		await(ctx, c, name, nil, rule, namespace)
	}
	return kubeconfig
}

// await waits until the API server, which learns of roles by watching, allows what the rule allows.
func await(ctx context.Context, c client.Client, user string, groups []string, rule rbacv1.PolicyRule, namespace string) {
	GinkgoHelper()
	for _, verb := range rule.Verbs {
		Eventually(func(g Gomega) {
			review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: user, Groups: groups, ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: namespace, Verb: verb, Group: rule.APIGroups[0], Resource: rule.Resources[0],
			}}}
			g.Expect(c.Create(ctx, review)).To(Succeed())
			g.Expect(review.Status.Allowed).To(BeTrue(), "%s %v", verb, rule)
		}, patience).Should(Succeed())
	}
}

// install applies the manifests of a cluster to its world until the spec ends, and returns once their rights count.
func install(ctx context.Context, w *served, cluster string) {
	GinkgoHelper()
	c := clientOf(w)
	for _, object := range manifests(cluster) {
		Expect(c.Create(ctx, object)).To(Succeed(), "%s %s", object.GetKind(), object.GetName())
		DeferCleanup(func() {
			if object.GetKind() != "Namespace" { // no controller runs that would empty it
				Expect(client.IgnoreNotFound(c.Delete(context.WithoutCancel(ctx), object))).To(Succeed())
			}
		})
	}
	groups := []string{"system:serviceaccounts", "system:authenticated"}
	for _, rule := range rules("ClusterRole") {
		await(ctx, c, serviceAccount, groups, rule, "")
	}
	for _, rule := range rules("Role") {
		await(ctx, c, serviceAccount, groups, rule, controllerIn(cluster))
	}
}

var _ = Describe("The rights of `allocatable-diff manifests`", func() {
	for _, cluster := range []string{"karpenter-demo", "v1alpha5", "v1beta1"} {
		It("are enough, and the tool does nothing but read: "+cluster, func(ctx SpecContext) {
			w := world(cluster)
			install(ctx, w, cluster)
			p := through(w.REST, nil)
			r := liveCheck(cluster, p.kubeconfig(), "--as", serviceAccount, "--as-group", "system:serviceaccounts", "--as-group", "system:authenticated", "--karpenter-namespace", controllerIn(cluster)).run()
			expected := healthy(cluster)
			Expect(r.code).To(Equal(expected.code), r.GomegaString)
			Expect(files(r)).To(Equal(files(expected)))
			Expect(p.requests("")).NotTo(BeEmpty())
			Expect(p.requests("")).To(HaveEach(HavePrefix("GET ")), "only reads reach the server")
		})
	}

	It("also hold a CronJob that the API server takes, and one AWS action", func() {
		var kinds []string
		for _, object := range manifests(small) {
			kinds = append(kinds, object.GetKind())
		}
		Expect(kinds).To(ConsistOf("Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "CronJob"))
		printed := command{args: []string{"manifests", "--cluster-name", "prod"}}.run().stdout
		Expect(strings.Count(printed, `"Action"`)).To(Equal(1))
		Expect(printed).To(ContainSubstring(`"Action": "ec2:DescribeInstanceTypes"`))
	})

	// What becomes of a run without one verb on one resource.
	const (
		ends    = "ends the run"
		unknown = "leaves the nodes unknown"
		assumed = "is a visible assumption"
	)
	DescribeTable("are the least: without", func(ctx SpecContext, verb, resource, cluster, effect string) {
		w := world(cluster)
		kubeconfig := grant(ctx, w, "without-"+resource, controllerIn(cluster), func(r, v string) bool { return r == resource && v == verb })
		c := liveCheck(cluster, kubeconfig, "--karpenter-namespace", controllerIn(cluster))
		if effect == ends {
			r := loses(c)
			Expect(r).To(exitWith(3))
			Expect(r).To(say("may not "+verb+" "+resource, "allocatable-diff manifests"))
			return
		}
		r := c.run()
		Expect(r).To(say("may not "+verb+" "+resource), "%v", effect)
		Expect(read(r.dir, "run.json")).To(ContainSubstring("may not " + verb + " " + resource))
		switch effect {
		case unknown:
			Expect(r).To(exitWith(4))
		case assumed:
			Expect(r.code).To(Equal(withoutKind(cluster, resource).code), r.GomegaString)
		}
	},
		Entry(nil, "list", "nodes", "v1beta1", ends),
		Entry(nil, "list", "nodeclaims", "v1beta1", unknown),
		Entry(nil, "list", "ec2nodeclasses", "v1beta1", unknown),
		Entry(nil, "list", "machines", "v1alpha5", unknown),
		Entry(nil, "list", "awsnodetemplates", "v1alpha5", unknown),
		Entry(nil, "list", "nodepools", "v1beta1", assumed),
		Entry(nil, "list", "provisioners", "v1alpha5", assumed),
		Entry(nil, "list", "nodeoverlays", "karpenter-demo", assumed),
		Entry(nil, "list", "deployments", "v1beta1", assumed),
		Entry(nil, "get", "configmaps", "v1alpha5", assumed),
	)

	It("need no other verb than those of that table", func(ctx SpecContext) {
		for _, cluster := range []string{"v1alpha5", small} {
			used := func(resource, verb string) bool { return (verb == "get") == (resource == "configmaps") }
			kubeconfig := grant(ctx, world(cluster), "with-the-least", controllerIn(cluster), func(r, v string) bool { return !used(r, v) })
			r := liveCheck(cluster, kubeconfig, "--karpenter-namespace", controllerIn(cluster)).run()
			Expect(r.code).To(Equal(healthy(cluster).code), r.GomegaString)
			Expect(files(r)).To(Equal(files(healthy(cluster))))
		}
	})

	It("say nothing of a namespace that they do not reach, where Karpenter is found in the other", func(ctx SpecContext) {
		all := func(string, string) bool { return false }
		r := liveCheck("v1alpha5", grant(ctx, world("v1alpha5"), "with-all", "karpenter", all)).run()
		Expect(r).To(exitWith(0))
		Expect(files(r)).To(Equal(files(healthy("v1alpha5"))))
	})

	It("are all in that table", func() {
		var named []string
		for _, rule := range slices.Concat(rules("ClusterRole"), rules("Role")) {
			named = append(named, rule.Resources[0])
			Expect(rule.Verbs).To(ConsistOf("get", "list"))
		}
		Expect(named).To(ConsistOf("nodes", "nodeclaims", "nodepools", "nodeoverlays", "machines", "provisioners", "ec2nodeclasses", "awsnodetemplates", "deployments", "configmaps"))
	})
})

// withoutKind judges the files of a cluster but for those of one resource: what a person sees who could not dump it.
func withoutKind(cluster, resource string) result {
	GinkgoHelper()
	named := map[string]string{"deployments": "deployment", "configmaps": "global-settings"}
	part := resource
	if other, ok := named[resource]; ok {
		part = other
	}
	paths, err := filepath.Glob(filepath.Join(fixture(cluster), "*"))
	Expect(err).NotTo(HaveOccurred())
	var args []string
	left := 0
	for _, path := range paths {
		if strings.Contains(filepath.Base(path), part) {
			left++
		} else if filepath.Base(path) != "policy.yaml" {
			args = append(args, "--from", path)
		}
	}
	Expect(left).To(Equal(1), "the file of %s", resource)
	return check(cluster, append(args, "--instance-types", root+"/fixtures/ec2")...).run()
}
