package offline

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func tree(files map[string]string) fstest.MapFS {
	all := fstest.MapFS{}
	for name, content := range files {
		all[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return all
}

func TestReadDump(t *testing.T) {
	got, err := readDump(tree(map[string]string{
		"a/list.json":       `{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"listed"}},{"apiVersion":"v1","kind":"Pod","metadata":{"name":"pod"}}]}`,
		"b/documents.yaml":  "---\napiVersion: v1\nkind: Node\nmetadata:\n  name: first\n---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata:\n  name: second\n---\n",
		"b/typed-list.yml":  "apiVersion: karpenter.sh/v1\nkind: NodeClaimList\nitems:\n- {apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: typed}, status: {capacity: {pods: 29}}}\n",
		"c/deployment.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: karpenter, namespace: kube-system}\n",
		"c/ec2.json":        `{"InstanceTypes":[{"InstanceType":"m5.large"}],"NextToken":"x"}`,
		"d/policy.yaml":     "memory: {overEstimate: 64Ki}\n",
		"d/run.json":        `{"apiVersion":"allocatable-diff/v1alpha1","kind":"Run","rows":[]}`,
		"d/rows.json":       `[1,2]`,
		"d/other.yaml":      "kind: {a: b}\n",
		"d/nodes.csv":       "a,b\n",
		"d/empty.yaml":      "",
	}))
	if err != nil {
		t.Fatal(err)
	}
	var objects []string
	for _, o := range got.objects {
		objects = append(objects, describe(o))
	}
	want := []string{`Node "listed"`, `Node "first"`, `NodePool "second"`, `NodeClaim "typed"`, `Deployment "kube-system/karpenter"`}
	if diff := cmp.Diff(want, objects); diff != "" {
		t.Error(diff)
	}
	if len(got.instanceTypes) != 1 || got.instanceTypes[0].name != "m5.large" {
		t.Errorf("instance types: %v", got.instanceTypes)
	}
}

func TestReadDumpNamesTheFileThatIsBroken(t *testing.T) {
	for name, test := range map[string]struct{ file, content, want string }{
		"cut off JSON":          {"nodes.json", `{"apiVersion":"v1","kind":"List","items":[`, "reading nodes.json: "},
		"broken YAML":           {"x/nodes.yaml", "a: [", "reading x/nodes.yaml: "},
		"an object, no name":    {"nodes.json", `{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Node"}]}`, "reading nodes.json: item 1: a Node has no name"},
		"an EC2 answer, no EC2": {"ec2.json", `{"InstanceTypes":[{}]}`, "reading ec2.json: element 1 of InstanceTypes has no InstanceType"},
		"no gzip":               {"nodes.json.gz", "\x1f\x8b", "reading nodes.json.gz: gunzipping"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readDump(tree(map[string]string{test.file: test.content}))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
}

func TestCRDsAreThoseOfTheDump(t *testing.T) {
	for name, test := range map[string]struct {
		dump string
		want []string
		err  string
	}{
		"nodes alone need none": {"{apiVersion: v1, kind: Node, metadata: {name: a}}", nil, ""},
		"v1alpha5 by its class": {"{apiVersion: karpenter.k8s.aws/v1alpha1, kind: AWSNodeTemplate, metadata: {name: a}}",
			[]string{"awsnodetemplates.karpenter.k8s.aws", "machines.karpenter.sh", "provisioners.karpenter.sh"}, ""},
		"v1beta1": {"{apiVersion: karpenter.sh/v1beta1, kind: NodeClaim, metadata: {name: a}}",
			[]string{"ec2nodeclasses.karpenter.k8s.aws", "nodeclaims.karpenter.sh", "nodepools.karpenter.sh"}, ""},
		"v1, with what the dump lacks": {"{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}}",
			[]string{"ec2nodeclasses.karpenter.k8s.aws", "nodeclaims.karpenter.sh", "nodeoverlays.karpenter.sh", "nodepools.karpenter.sh"}, ""},
		"v0.32 serves v1alpha5 too": {"{apiVersion: karpenter.sh/v1beta1, kind: NodePool, metadata: {name: a}}\n---\n{apiVersion: karpenter.sh/v1alpha5, kind: Machine, metadata: {name: a}}",
			[]string{"awsnodetemplates.karpenter.k8s.aws", "machines.karpenter.sh", "provisioners.karpenter.sh", "ec2nodeclasses.karpenter.k8s.aws", "nodeclaims.karpenter.sh", "nodepools.karpenter.sh"}, ""},
		"two generations of one kind": {"{apiVersion: karpenter.sh/v1beta1, kind: NodePool, metadata: {name: a}}\n---\n{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: a}}",
			nil, "ec2nodeclasses are dumped in the API generations v1 and v1beta1"},
		"a generation to come": {"{apiVersion: karpenter.sh/v2, kind: NodePool, metadata: {name: a}}", nil,
			`NodePool "a" is of an API version that this release has no definition of: karpenter.sh/v2`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readDump(tree(map[string]string{"a.yaml": test.dump}))
			if err != nil {
				t.Fatal(err)
			}
			definitions, err := crdsFor(got.objects)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("got %v, want an error with %q", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, d := range definitions {
				names = append(names, d.Name)
				// What the loader relies on: cluster scope, a status subresource.
				if d.Spec.Scope != "Cluster" || d.Spec.Versions[0].Subresources == nil || d.Spec.Versions[0].Subresources.Status == nil {
					t.Errorf("%s: not cluster-scoped or without status", d.Name)
				}
			}
			if diff := cmp.Diff(test.want, names); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestGivenCRDsDecideWhichObjectsAreLeft(t *testing.T) {
	got, err := readDump(tree(map[string]string{"a.yaml": "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}}\n---\n{apiVersion: v1, kind: Node, metadata: {name: b}}"}))
	if err != nil {
		t.Fatal(err)
	}
	definitions, objects, err := definitionsFor(got.objects, tree(nil))
	if err != nil || len(definitions) != 0 || len(objects) != 1 || objects[0].GetKind() != "Node" {
		t.Errorf("definitions %v, objects %v, error %v", definitions, objects, err)
	}
	for name, test := range map[string]struct{ content, want string }{
		"another kind":      {"{apiVersion: v1, kind: Node, metadata: {name: b}}", `reading a.yaml: not a CustomResourceDefinition but "Node"`},
		"a mistyped member": {"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, spce: {}}", "reading a.yaml: "},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := definitionsFor(nil, tree(map[string]string{"a.yaml": test.content}))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
}
