package offline_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/allocatable-diff/allocatable-diff/pkg/offline"
)

// start starts a world for the test, or skips the test where there are no server binaries.
func start(t *testing.T, options offline.Options) *offline.Environment {
	t.Helper()
	world, err := offline.Start(t.Context(), options)
	if errors.Is(err, offline.ErrNoServers) {
		t.Skip(offline.ErrNoServers)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := world.Stop(); err != nil {
			t.Error(err)
		}
	})
	return world
}

func reader(t *testing.T, config *rest.Config) client.Client {
	t.Helper()
	c, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// dumped returns the objects of a folder of dumps as the files hold them.
func dumped(t *testing.T, folder string) []unstructured.Unstructured {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	var all []unstructured.Unstructured
	for _, file := range files {
		data, err := yaml.YAMLToJSON(readFile(t, file))
		if err != nil {
			continue // no dump: a wanted CSV
		}
		var list unstructured.UnstructuredList
		object := unstructured.Unstructured{}
		switch {
		case list.UnmarshalJSON(data) == nil && list.Items != nil:
			all = append(all, list.Items...)
		case object.UnmarshalJSON(data) == nil && strings.HasPrefix(filepath.Base(file), "karpenter"):
			all = append(all, object)
		}
	}
	if len(all) == 0 {
		t.Fatalf("no objects in %s", folder)
	}
	return all
}

// withoutServerFields is an object without what a server assigns. Owners' uids are compared by the test.
func withoutServerFields(object unstructured.Unstructured) map[string]any {
	content := object.DeepCopy()
	for _, field := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "deletionTimestamp", "deletionGracePeriodSeconds"} {
		unstructured.RemoveNestedField(content.Object, "metadata", field)
	}
	owners := content.GetOwnerReferences()
	for i := range owners {
		owners[i].UID = ""
	}
	if owners != nil {
		content.SetOwnerReferences(owners)
	}
	return content.Object
}

// canonicalNode writes a node's quantities as an API server does: 1024Ki is 1Mi.
func canonicalNode(t *testing.T, node unstructured.Unstructured) unstructured.Unstructured {
	t.Helper()
	typed := &corev1.Node{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(node.Object, typed); err != nil {
		t.Fatal(err)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil {
		t.Fatal(err)
	}
	return unstructured.Unstructured{Object: content}
}

// The API server returns what kubectl dumped, for one fixture cluster of each API generation.
func TestFixtureClustersComeBackAsDumped(t *testing.T) {
	for _, cluster := range []string{"karpenter-demo", "v1beta1", "v1alpha5"} {
		folder := filepath.Join("../../fixtures/clusters", cluster)
		t.Run(cluster, func(t *testing.T) {
			world := start(t, offline.Options{Cluster: os.DirFS(folder)})
			c := reader(t, world.REST)
			for _, wanted := range dumped(t, folder) {
				got := unstructured.Unstructured{}
				got.SetGroupVersionKind(wanted.GroupVersionKind())
				if err := c.Get(t.Context(), client.ObjectKeyFromObject(&wanted), &got); err != nil {
					t.Error(err)
					continue
				}
				name := wanted.GetKind() + " " + wanted.GetName()
				if wanted.GetKind() == "Deployment" {
					// The server fills in defaults that kubectl would have dumped; the fixtures are short.
					if diff := cmp.Diff(wanted.Object["status"], got.Object["status"]); diff != "" {
						t.Errorf("%s, status (-dump +server):\n%s", name, diff)
					}
					continue
				}
				if wanted.GetKind() == "Node" {
					wanted, got = canonicalNode(t, wanted), canonicalNode(t, got)
				}
				if diff := cmp.Diff(withoutServerFields(wanted), withoutServerFields(got)); diff != "" {
					t.Errorf("%s (-dump +server):\n%s", name, diff)
				}
				if (wanted.GetDeletionTimestamp() != nil) != (got.GetDeletionTimestamp() != nil) {
					t.Errorf("%s: deletionTimestamp %v, dumped %v", name, got.GetDeletionTimestamp(), wanted.GetDeletionTimestamp())
				}
			}
		})
	}
}

// One world for what does not depend on the fixtures.
func TestEnvironment(t *testing.T) {
	cluster := fstest.MapFS{"dump.yaml": {Data: []byte(`
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {name: claim, uid: 11111111-1111-1111-1111-111111111111, resourceVersion: "7", creationTimestamp: "2026-01-01T00:00:00Z"}
status: {capacity: {memory: 7518Mi}, nodeName: owned}
---
apiVersion: v1
kind: Node
metadata:
  name: owned
  uid: 22222222-2222-2222-2222-222222222222
  ownerReferences: [{apiVersion: karpenter.sh/v1, kind: NodeClaim, name: claim, uid: 11111111-1111-1111-1111-111111111111}]
status: {capacity: {memory: 7836084Ki}, allocatable: {memory: 7146Mi}}
---
apiVersion: v1
kind: Node
metadata: {name: deleting, deletionTimestamp: "2026-01-01T00:00:00Z", deletionGracePeriodSeconds: 0}
spec: {taints: [{key: karpenter.sh/disrupted, effect: NoSchedule}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: karpenter-global-settings, namespace: karpenter}
data: {aws.vmMemoryOverheadPercent: "0.08"}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: karpenter, namespace: kube-system}
spec:
  selector: {matchLabels: {app: karpenter}}
  template: {metadata: {labels: {app: karpenter}}, spec: {containers: [{name: controller, image: "karpenter/controller:1.14.1"}]}}
status: {replicas: 1, readyReplicas: 1}
`)}, "ec2.json": {Data: []byte(`{"InstanceTypes":[{"InstanceType":"m5.large"}]}`)}}
	world := start(t, offline.Options{Cluster: cluster, InstanceTypes: fstest.MapFS{"more.json": {Data: []byte(`{"InstanceTypes":[{"InstanceType":"m6g.large"}]}`)}}})
	c := reader(t, world.REST)

	t.Run("owners are the objects of this server", func(t *testing.T) {
		claim, node := &unstructured.Unstructured{}, &corev1.Node{}
		claim.SetAPIVersion("karpenter.sh/v1")
		claim.SetKind("NodeClaim")
		get(t, c, "claim", claim)
		get(t, c, "owned", node)
		if node.OwnerReferences[0].UID != claim.GetUID() {
			t.Errorf("owner %s, claim %s", node.OwnerReferences[0].UID, claim.GetUID())
		}
		memory, _, err := unstructured.NestedString(claim.Object, "status", "capacity", "memory")
		if err != nil || memory != "7518Mi" {
			t.Errorf("the claim's status is lost: %q, %v", memory, err)
		}
		if node.Status.Allocatable.Memory().String() != "7146Mi" || len(node.Spec.Taints) != 0 {
			t.Errorf("allocatable %v, taints %v", node.Status.Allocatable, node.Spec.Taints)
		}
	})
	t.Run("a deleting node without finalizer is deleting", func(t *testing.T) {
		node := &corev1.Node{}
		get(t, c, "deleting", node)
		if node.DeletionTimestamp == nil || len(node.Finalizers) != 1 {
			t.Errorf("deletionTimestamp %v, finalizers %v", node.DeletionTimestamp, node.Finalizers)
		}
	})
	t.Run("namespaces are made", func(t *testing.T) {
		settings, deployment := &corev1.ConfigMap{}, &appsv1.Deployment{}
		get(t, c, "karpenter/karpenter-global-settings", settings)
		get(t, c, "kube-system/karpenter", deployment)
		if settings.Data["aws.vmMemoryOverheadPercent"] != "0.08" || deployment.Status.ReadyReplicas != 1 {
			t.Errorf("%v, %v", settings.Data, deployment.Status)
		}
	})
	t.Run("a kind whose CRD is not installed is not served", func(t *testing.T) {
		provisioner := &unstructured.Unstructured{}
		provisioner.SetAPIVersion("karpenter.sh/v1alpha5")
		provisioner.SetKind("Provisioner")
		if err := c.Get(t.Context(), client.ObjectKey{Name: "x"}, provisioner); !meta.IsNoMatchError(err) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("EC2 serves the types of both trees", func(t *testing.T) {
		output, err := ec2Client(world.EC2URL).DescribeInstanceTypes(t.Context(), &ec2.DescribeInstanceTypesInput{InstanceTypes: []types.InstanceType{"m6g.large", "m5.large"}})
		if err != nil || len(output.InstanceTypes) != 2 || world.EC2.Calls("DescribeInstanceTypes") != 1 {
			t.Errorf("%v, %v", output, err)
		}
	})
	t.Run("the kubeconfig is for its owner only and works", func(t *testing.T) {
		info, err := os.Stat(world.Kubeconfig())
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Fatalf("%v, %v", info, err)
		}
		get(t, reader(t, configOf(t, world.Kubeconfig())), "owned", &corev1.Node{})
	})
	t.Run("a user may what RBAC grants", func(t *testing.T) {
		kubeconfig, err := world.AddUser("reader")
		if err != nil {
			t.Fatal(err)
		}
		user := reader(t, configOf(t, kubeconfig))
		if err := user.List(t.Context(), &corev1.NodeList{}); !apierrors.IsForbidden(err) {
			t.Errorf("before the grant: %v", err)
		}
		for _, grant := range []client.Object{
			&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "read"}, Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"list"}}}},
			&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "read"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "read"}, Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, Name: "reader"}}},
		} {
			if err := c.Create(t.Context(), grant); err != nil {
				t.Fatal(err)
			}
		}
		// The authorizer learns of a binding from a watch.
		deadline := time.Now().Add(30 * time.Second)
		for err = user.List(t.Context(), &corev1.NodeList{}); err != nil && time.Now().Before(deadline); err = user.List(t.Context(), &corev1.NodeList{}) {
			time.Sleep(50 * time.Millisecond)
		}
		if err != nil {
			t.Errorf("after the grant: %v", err)
		}
	})
	t.Run("more can be loaded, and what is there already is named", func(t *testing.T) {
		more := fstest.MapFS{"node.json": {Data: []byte(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"later"}}`)}}
		if err := world.Load(t.Context(), more); err != nil {
			t.Fatal(err)
		}
		get(t, c, "later", &corev1.Node{})
		if err := world.Load(t.Context(), more); err == nil || !strings.Contains(err.Error(), `creating Node "later"`) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a large cluster is loaded at once and listed in pages", func(t *testing.T) {
		if err := world.Load(t.Context(), nodes(1000)); err != nil {
			t.Fatal(err)
		}
		page := &corev1.NodeList{}
		if err := c.List(t.Context(), page, client.Limit(500)); err != nil {
			t.Fatal(err)
		}
		if len(page.Items) != 500 || page.Continue == "" {
			t.Errorf("%d nodes, continue %q", len(page.Items), page.Continue)
		}
		node := &corev1.Node{}
		get(t, c, "node-0999", node)
		if node.Status.Capacity.Cpu().Value() != 2 {
			t.Errorf("status %v", node.Status)
		}
	})
	t.Run("nothing is left behind", func(t *testing.T) {
		if err := world.Stop(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Dir(world.Kubeconfig())); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("files: %v", err)
		}
		if _, err := http.Get(world.EC2URL); err == nil { //nolint:noctx // refused at once
			t.Error("EC2 still answers")
		}
		if err := c.Get(t.Context(), client.ObjectKey{Name: "owned"}, &corev1.Node{}); err == nil {
			t.Error("the API server still answers")
		}
	})
}

func get(t *testing.T, c client.Client, name string, object client.Object) {
	t.Helper()
	key := client.ObjectKey{Name: name}
	if namespace, name, ok := strings.Cut(name, "/"); ok {
		key = client.ObjectKey{Namespace: namespace, Name: name}
	}
	if err := c.Get(t.Context(), key, object); err != nil {
		t.Fatal(err)
	}
}

func configOf(t *testing.T, kubeconfig string) *rest.Config {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// nodes dumps a List of n nodes.
func nodes(n int) fstest.MapFS {
	var list strings.Builder
	list.WriteString(`{"apiVersion":"v1","kind":"List","items":[`)
	for i := range n {
		if i > 0 {
			list.WriteString(",")
		}
		fmt.Fprintf(&list, `{"apiVersion":"v1","kind":"Node","metadata":{"name":"node-%04d"},"status":{"capacity":{"cpu":"2"}}}`, i)
	}
	list.WriteString(`]}`)
	return fstest.MapFS{"nodes.json": {Data: []byte(list.String())}}
}

func TestStartFailures(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, test := range map[string]struct {
		ctx     context.Context
		options offline.Options
		want    string
		is      error
	}{
		"no server binaries":       {t.Context(), offline.Options{Assets: t.TempDir()}, "run make envtest", offline.ErrNoServers},
		"given up before it began": {cancelled, offline.Options{}, "starting the API server: context canceled", context.Canceled},
		"a broken dump":            {t.Context(), offline.Options{Cluster: fstest.MapFS{"nodes.json": {Data: []byte("{")}}}, "reading the cluster: reading nodes.json", nil},
		"a broken EC2 answer":      {t.Context(), offline.Options{InstanceTypes: fstest.MapFS{"ec2.json": {Data: []byte("{")}}}, "reading the instance types: reading ec2.json", nil},
		"a broken CRD":             {t.Context(), offline.Options{CRDs: fstest.MapFS{"crd.yaml": {Data: []byte("kind: Node")}}}, "reading the CRDs: reading crd.yaml", nil},
	} {
		t.Run(name, func(t *testing.T) {
			world, err := offline.Start(test.ctx, test.options)
			if err == nil {
				t.Error("started", world.Stop())
				return
			}
			if !strings.Contains(err.Error(), test.want) || (test.is != nil && !errors.Is(err, test.is)) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
}
