package collect

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// nodeJSON is a Node as kubectl prints it, with an image list and managed fields to be passed over.
func nodeJSON(name string) string {
	return fmt.Sprintf(`{
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {
        "annotations": {"csi.volume.kubernetes.io/nodeid": "{\"ebs.csi.aws.com\":\"i-1\"}", "karpenter.k8s.aws/ec2nodeclass-hash": "123", "karpenter.k8s.aws/ec2nodeclass-hash-version": "v4"},
        "labels": {"kubernetes.io/hostname": %[1]q, "karpenter.sh/nodepool": "default", "node.kubernetes.io/instance-type": "m5.large", "team": "a"},
        "managedFields": [{"manager": "kubelet", "fieldsV1": {"f:status": {"f:capacity": {}}}}],
        "name": %[1]q,
        "ownerReferences": [{"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "name": "default-x7k2p"}]
    },
    "spec": {"providerID": "aws:///us-west-2a/i-%[1]s"},
    "status": {
        "addresses": [{"address": "10.0.0.1", "type": "InternalIP"}],
        "allocatable": {"cpu": "1930m", "memory": "7067Mi"},
        "capacity": {"cpu": "2", "memory": "7821132Ki"},
        "conditions": [{"type": "MemoryPressure", "status": "False"}, {"type": "Ready", "status": "True"}],
        "images": [{"names": ["a", "b"], "sizeBytes": 1}],
        "nodeInfo": {"osImage": "Amazon Linux 2023.7", "kubeletVersion": "v1.33.0", "kernelVersion": "6.1.140"}
    }
}`, name)
}

// nodeYAML is the same as an item of a list in YAML.
func nodeYAML(name string) string {
	return fmt.Sprintf(`- apiVersion: v1
  kind: Node
  metadata:
    annotations:
      note: |
        a text of several lines

        - with a dash
        items:
    labels:
      karpenter.sh/nodepool: default
      node.kubernetes.io/instance-type: m5.large
    name: %s
  status:
    capacity: {cpu: 2, memory: 7821132Ki}
`, name)
}

func names(s *snapshot.Snapshot) string {
	var out []string
	for i := range s.Nodes {
		out = append(out, s.Nodes[i].Name)
	}
	return strings.Join(out, " ")
}

// readText reads one stream as stdin.
func readText(t *testing.T, text string, o Options) *snapshot.Snapshot {
	t.Helper()
	in, err := Files([]string{"-"}, strings.NewReader(text), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(in.Snapshots) != 1 {
		t.Fatalf("%d snapshots were read", len(in.Snapshots))
	}
	return in.Snapshots[0]
}

// A node is a node in whatever form kubectl, an API server or a person wrote it down.
func TestFormsOfDumps(t *testing.T) {
	a, b := nodeJSON("a"), nodeJSON("b")
	bare := func(name string) string { // as an API server's list has them: without apiVersion and kind
		return strings.Replace(nodeJSON(name), `"apiVersion": "v1",
    "kind": "Node",`, "", 1)
	}
	late := func(name string) string { // apiVersion and kind behind the rest
		return strings.TrimSuffix(bare(name), "}") + `, "apiVersion": "v1", "kind": "Node"}`
	}
	compressed := func(text string) string {
		var buf bytes.Buffer
		z := gzip.NewWriter(&buf)
		if _, err := z.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return buf.String()
	}
	for _, row := range []struct{ reason, text, want string }{
		{"one object", a, "a"},
		{"kubectl get -o json: items before kind", `{"apiVersion":"v1","items":[` + a + `,` + b + `],"kind":"List","metadata":{"resourceVersion":""}}`, "a b"},
		{"an API server's answer: kind first, items without", `{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[` + bare("a") + `,` + bare("b") + `]}`, "a b"},
		{"the same sorted by name: kind last, items without", `{"apiVersion":"v1","items":[` + bare("a") + `,` + bare("b") + `],"kind":"NodeList"}`, "a b"},
		{"the same with apiVersion last, too", `{"items":[` + bare("a") + `],"kind":"NodeList","apiVersion":"v1"}`, "a"},
		{"objects that say late what they are", `{"items":[` + late("a") + `,` + late("b") + `],"apiVersion":"v1","kind":"List"}`, "a b"},
		{"a list without a kind, as jq makes it", `{"items":[` + a + `]}`, "a"},
		{"an array, as jq -s makes it", `[` + a + `,` + b + `]`, "a b"},
		{"objects one behind the other", a + "\n" + b, "a b"},
		{"lists one behind the other, without a space", `{"apiVersion":"v1","items":[` + a + `],"kind":"List"}{"apiVersion":"v1","items":[` + b + `],"kind":"List"}`, "a b"},
		{"an empty list", `{"apiVersion":"v1","items":[],"kind":"List"}`, ""},
		{"items null", `{"apiVersion":"v1","items":null,"kind":"List"}`, ""},
		{"a list in a list", `{"apiVersion":"v1","items":[{"apiVersion":"v1","items":[` + a + `],"kind":"List"}],"kind":"List"}`, "a"},
		{"compressed", compressed(a), "a"},
		{"a byte order mark, as some editors write it", "\ufeff" + a, "a"},
		{"the same node twice", a + a, "a"},
		{"leading space", strings.Repeat(" \n", 5000) + a, "a"},
		{"YAML list of kubectl", "apiVersion: v1\nitems:\n" + nodeYAML("a") + nodeYAML("b") + "kind: List\nmetadata:\n  resourceVersion: \"\"\n", "a b"},
		{"YAML list, indented", "apiVersion: v1\nkind: List\nitems:\n" + indented(nodeYAML("a")+nodeYAML("b")), "a b"},
		{"YAML list with comments between", "apiVersion: v1\nkind: List\nitems: # two\n# the first\n\n" + nodeYAML("a") + "# the second\n" + nodeYAML("b"), "a b"},
		{"YAML list with Windows line ends", strings.ReplaceAll("apiVersion: v1\nkind: List\nitems:\n"+nodeYAML("a")+"---\napiVersion: v1\nkind: List\nitems:\n"+nodeYAML("b"), "\n", "\r\n"), "a b"},
		{"YAML typed list, items without kind, kind last", "apiVersion: v1\nitems:\n- metadata:\n    name: a\n- metadata:\n    name: b\nkind: NodeList\n", "a b"},
		{"YAML items in flow style", "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Node, metadata: {name: a}}]\n", "a"},
		{"YAML empty items", "apiVersion: v1\nitems: []\nkind: List\n", ""},
		{"YAML items without a value", "apiVersion: v1\nitems:\nkind: List\n", ""},
		{"YAML documents", "---\n# first\napiVersion: v1\nkind: Node\nmetadata: {name: a}\n---\n---\n# nothing but this\n...\n---\napiVersion: v1\nkind: Node\nmetadata: {name: b}\n", "a b"},
		{"a YAML document behind its marker", "--- {apiVersion: v1, kind: Node, metadata: {name: a}}\n", "a"},
		{"a YAML sequence of objects", nodeYAML("a") + nodeYAML("b"), "a b"},
		{"JSON as a YAML document", "---\n" + a + "\n---\n" + b, "a b"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			s := readText(t, row.text, Options{})
			if got := names(s); got != row.want {
				t.Errorf("nodes %q, want %q", got, row.want)
			}
			if len(s.Ignored) > 0 {
				t.Errorf("ignored: %v", s.Ignored)
			}
		})
	}
}

func indented(text string) string {
	return "  " + strings.TrimSuffix(strings.ReplaceAll(text, "\n", "\n  "), "  ")
}

func TestNode(t *testing.T) {
	s := readText(t, nodeJSON("a"), Options{Cluster: "prod"})
	want := []snapshot.Node{{
		Name: "a", ProviderID: "aws:///us-west-2a/i-a",
		Labels:  snapshot.Labels{{Key: "karpenter.sh/nodepool", Value: "default"}, {Key: "node.kubernetes.io/instance-type", Value: "m5.large"}},
		OSImage: "Amazon Linux 2023.7", KubeletVersion: "v1.33.0", KernelVersion: "6.1.140", Ready: "True", Owner: "default-x7k2p",
		ClassHash:   snapshot.Hash{Value: "123", Version: "v4"},
		Capacity:    snapshot.ResourceList{{Name: "cpu", Value: 2000}, {Name: "memory", Value: 7821132 << 10}},
		Allocatable: snapshot.ResourceList{{Name: "cpu", Value: 1930}, {Name: "memory", Value: 7067 << 20}},
		Join:        snapshot.Join{Pool: "default", Notes: s.Nodes[0].Join.Notes},
	}}
	if diff := cmp.Diff(want, s.Nodes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if s.Cluster != "prod" || s.APIVersion != snapshot.APIVersion || s.Kind != snapshot.Kind {
		t.Errorf("the head is %s %s %q", s.APIVersion, s.Kind, s.Cluster)
	}
}

// Kinds that are not read are counted, whatever they look like inside.
func TestIgnored(t *testing.T) {
	s := readText(t, `
apiVersion: v1
kind: Pod
metadata: {name: a}
spec: a string where other kinds have an object
---
apiVersion: example.com/v1
kind: Odd
metadata: [1, 2]
items: [1, {}]
---
apiVersion: v1
kind: PodList
items:
- metadata: {name: b}
- metadata: {name: c}
---
apiVersion: eks.amazonaws.com/v1
kind: NodeClass
metadata: {name: default}
---
apiVersion: example.com/v1
kind: Node
metadata: {name: not-the-core-node}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default, labels: {app.kubernetes.io/name: web}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: files, namespace: default}
data: {a: b}
---
apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata: {name: price-only}
spec: {priceAdjustment: "+10%"}
`, Options{})
	want := []snapshot.KindCount{{Kind: "ConfigMap", Count: 1}, {Kind: "Deployment", Count: 1}, {Kind: "Node", Count: 1}, {Kind: "NodeClass", Count: 1}, {Kind: "Odd", Count: 1}, {Kind: "Pod", Count: 3}}
	if diff := cmp.Diff(want, s.Ignored); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(s.Nodes)+len(s.NodeOverlays) > 0 {
		t.Errorf("read: %v %v", s.Nodes, s.NodeOverlays)
	}
}

// files writes a tree and returns its root.
func files(t *testing.T, content map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range content {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestDirectory(t *testing.T) {
	dir := files(t, map[string]string{
		"nodes.json":           nodeJSON("a"),
		"deep/er/more.YAML":    "apiVersion: v1\nkind: Node\nmetadata: {name: b}\n",
		"deep/list.yml":        "apiVersion: v1\nkind: List\nitems:\n" + nodeYAML("c"),
		"policy.yaml":          "unknown: warn\n",
		"types.json":           `{"InstanceTypes": []}`,
		"values.yaml":          "items:\n- a\n- b\n",
		"numbers.json":         `[1, 2]`,
		"README.md":            "# what this is\n",
		".git/config.json":     "not read",
		".hidden.json":         "not read either",
		"..2024_01/nodes.json": "an old generation of a mounted ConfigMap",
	})
	if err := os.Symlink(filepath.Join(dir, "deep", "er"), filepath.Join(dir, "circle")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "nodes.json"), filepath.Join(dir, "linked.json")); err != nil {
		t.Fatal(err)
	}
	// A link that is named is followed, as every command follows one: dumps/latest, say.
	link := filepath.Join(t.TempDir(), "latest")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	linked, err := Files([]string{link}, nil, Options{Cluster: "x"})
	if err != nil || names(linked.Snapshots[0]) != "a b c" {
		t.Errorf("by way of a link: %v", err)
	}
	in, err := Files([]string{dir}, nil, Options{Cluster: "x"})
	if err != nil {
		t.Fatal(err)
	}
	s := in.Snapshots[0]
	if got := names(s); got != "a b c" {
		t.Errorf("nodes %q, want a b c", got)
	}
	want := []snapshot.KindCount{
		{Kind: "describe-instance-types output (see --instance-types)", Count: 1},
		{Kind: "file of another type", Count: 3}, // README.md, .hidden.json, the linked folder
		{Kind: "no Kubernetes object", Count: 5}, // policy, two items of values, two numbers
	}
	if diff := cmp.Diff(want, s.Ignored); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Order of the paths changes nothing, and all raw dumps together are one cluster.
func TestDumpsTogether(t *testing.T) {
	dir := files(t, map[string]string{"a.json": nodeJSON("a"), "b.json": nodeJSON("b") + nodeJSON("c"), "all.json": nodeJSON("c") + nodeJSON("a")})
	paths := []string{filepath.Join(dir, "a.json"), filepath.Join(dir, "b.json"), filepath.Join(dir, "all.json")}
	first, err := Files(paths, nil, Options{Cluster: "x"})
	if err != nil {
		t.Fatal(err)
	}
	second, err := Files([]string{paths[2], paths[1], paths[0]}, nil, Options{Cluster: "x"})
	if err != nil {
		t.Fatal(err)
	}
	if len(first.Snapshots) != 1 || names(first.Snapshots[0]) != "a b c" {
		t.Errorf("%d snapshots, nodes %q", len(first.Snapshots), names(first.Snapshots[0]))
	}
	if first.Snapshots[0].Digest() != second.Snapshots[0].Digest() {
		t.Error("the order of the paths changed the digest")
	}
}

func TestSnapshotsAndRuns(t *testing.T) {
	dir := t.TempDir()
	write := func(name, cluster string, nodes ...string) string {
		s := &snapshot.Snapshot{Cluster: cluster}
		for _, n := range nodes {
			s.Nodes = append(s.Nodes, snapshot.Node{Name: n, Labels: snapshot.Labels{{Key: "karpenter.sh/nodepool", Value: n}}})
		}
		path := filepath.Join(dir, name)
		if err := snapshot.Write(path, s); err != nil {
			t.Fatal(err)
		}
		return path
	}
	one, same, two := write("one.json", "one", "a", "b"), write("same.json.gz", "one", "b", "a"), write("two.json", "two", "a", "b")
	run := filepath.Join(dir, "run.json")
	runText := `{"apiVersion":"allocatable-diff/v1alpha1","kind":"Run","nodes":[]}`
	if err := os.WriteFile(run, []byte(runText), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := Files([]string{two, one, run, same}, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var clusters []string
	for _, s := range in.Snapshots {
		clusters = append(clusters, s.Cluster+": "+names(s))
	}
	// Snapshots keep their names; one of the two equal ones is dropped; no raw dump, so no cluster of dumps.
	if diff := cmp.Diff([]string{"two: a b", "one: a b"}, clusters); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]RunFile{{Path: run, Data: []byte(runText)}}, in.Runs); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	in, err = Files([]string{one}, nil, Options{Cluster: "flag"})
	if err != nil || in.Snapshots[0].Cluster != "flag" {
		t.Errorf("the flag does not win: %q, %v", in.Snapshots[0].Cluster, err)
	}
	selector, err := labels.Parse("karpenter.sh/nodepool=a")
	if err != nil {
		t.Fatal(err)
	}
	in, err = Files([]string{one}, nil, Options{Selector: selector})
	if err != nil || names(in.Snapshots[0]) != "a" {
		t.Errorf("selected %q, %v", names(in.Snapshots[0]), err)
	}
	if selector, err = labels.Parse("team=a"); err != nil {
		t.Fatal(err)
	}
	_, err = Files([]string{one}, nil, Options{Selector: selector})
	if err == nil || !strings.Contains(err.Error(), "does not keep the label team") {
		t.Errorf("a selector on a label that no snapshot keeps: %v", err)
	}
}

// A dump and the snapshot recorded from it are the same cluster.
func TestReplay(t *testing.T) {
	for _, cluster := range []string{"karpenter-demo", "v1alpha5", "v1beta1", "v1-reserved-enis"} {
		o := Options{Cluster: cluster, InstanceTypes: "../../fixtures/ec2"}
		live, err := Files([]string{"../../fixtures/clusters/" + cluster}, nil, o)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "s.json")
		if err := snapshot.Write(path, live.Snapshots[0]); err != nil {
			t.Fatal(err)
		}
		replayed, err := Files([]string{path}, nil, Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := live.Snapshots[0]
		want.Ignored = nil // about the input, not the cluster
		if diff := cmp.Diff(want, replayed.Snapshots[0]); diff != "" {
			t.Errorf("%s (-dump +snapshot):\n%s", cluster, diff)
		}
	}
}

// A selector sees every label of a dump, also those that are not kept; what NodeOverlays ask for is kept.
func TestLabels(t *testing.T) {
	overlay := `{"apiVersion":"karpenter.sh/v1alpha1","kind":"NodeOverlay","metadata":{"name":"huge"},"spec":{"weight":5,"requirements":[{"key":"team","operator":"In","values":["a"]}],"capacity":{"hugepages-2Mi":"2Gi"}}}`
	for _, row := range []struct{ reason, selector, text, nodes, team string }{
		{"no selector", "", nodeJSON("a") + nodeJSON("b"), "a b", ""},
		{"by a kept label", "karpenter.sh/nodepool in (default)", nodeJSON("a") + nodeJSON("b"), "a b", ""},
		{"by a label that is not kept", "team=a", nodeJSON("a"), "a", ""},
		{"by a label that is dropped at once", "kubernetes.io/hostname=b", nodeJSON("a") + nodeJSON("b"), "b", ""},
		{"by an absent one", "!karpenter.sh/nodepool", nodeJSON("a"), "", ""},
		{"an overlay read after the nodes keeps its key", "", nodeJSON("a") + overlay, "a", "a"},
		{"an overlay read before the nodes keeps its key", "", overlay + nodeJSON("a"), "a", "a"},
	} {
		var o Options
		if row.selector != "" {
			var err error
			if o.Selector, err = labels.Parse(row.selector); err != nil {
				t.Fatal(err)
			}
		}
		s := readText(t, row.text, o)
		if got := names(s); got != row.nodes {
			t.Errorf("%s: nodes %q, want %q", row.reason, got, row.nodes)
			continue
		}
		for i := range s.Nodes {
			if got := s.Nodes[i].Labels.Get("team"); got != row.team {
				t.Errorf("%s: label team is %q, want %q", row.reason, got, row.team)
			}
			if _, ok := s.Nodes[i].Labels.Lookup("kubernetes.io/hostname"); ok {
				t.Errorf("%s: the host name was kept", row.reason)
			}
		}
	}
}

// Each broken input ends in an InputError that says which file, where in it, and what is wrong.
func TestBrokenInput(t *testing.T) {
	list := `{"apiVersion":"v1","items":[` + "\n" + nodeJSON("a") + ",\n" + nodeJSON("b") + "\n],\"kind\":\"List\"}"
	other := strings.Replace(nodeJSON("a"), `"cpu": "2"`, `"cpu": "4"`, 1)
	for _, row := range []struct {
		reason, text string
		want         []string
	}{
		{"empty", "", []string{"dump.json: it is empty: did the command that wrote it fail?"}},
		{"blank", " \n\n", []string{"it is empty"}},
		{"cut off", list[:len(list)-200], []string{"dump.json: line ", "the file ends in the middle"}},
		{"cut off in a node: the node is named", list[:strings.Index(list, `"b"`)+700], []string{`Node "b"`, "the file ends in the middle"}},
		{"a comma too many", "{\n\"apiVersion\": \"v1\",\n\"kind\": \"Node\",,\n}", []string{"dump.json: line 3: broken JSON", "invalid character ','"}},
		{"an error page in place of JSON", "{<html>", []string{"line 1: broken JSON", "invalid character '<'"}},
		{"text behind the list", list + "\nerror: timeout\n", []string{"broken JSON: invalid character 'e'"}},
		{"an amount list that is none", `{"apiVersion":"v1","items":[` + strings.Replace(nodeJSON("a"), `"capacity": {"cpu": "2", "memory": "7821132Ki"}`, `"capacity": 5`, 1) + `],"kind":"List"}`,
			[]string{`dump.json: Node "a": wrong value at /items/0/status/capacity: expected an object, found a number`}},
		{"a name that is none", `{"apiVersion":"v1","kind":"Node","metadata":{"name":[]}}`, []string{"Node: wrong value at /metadata/name: a list cannot stand there"}},
		{"no name", `{"apiVersion":"v1","kind":"Node","metadata":{}}`, []string{"object 1 is a Node without metadata.name"}},
		{"no kind", `{"metadata":{"name":"a"}}`, []string{"object 1 has no kind: is it what kubectl get"}},
		{"a kind without apiVersion", `{"kind":"Node","metadata":{"name":"a"}}`, []string{"object 1, kind Node, has no apiVersion"}},
		{"an item without kind in a plain List", `{"apiVersion":"v1","items":[{"metadata":{}}],"kind":"List"}`, []string{"object 1 has no kind"}},
		{"an item that is no object", `{"apiVersion":"v1","items":[7],"kind":"List"}`, []string{"value 1 is no Kubernetes object"}},
		{"a list whose items are none", `{"apiVersion":"v1","items":{"a":1},"kind":"NodeList"}`, []string{"the items of the NodeList are no array"}},
		{"the same, kind first", `{"kind":"List","apiVersion":"v1","items":"none"}`, []string{"the items of the List are no array"}},
		{"plain text", "hello\n", []string{"value 1 is no Kubernetes object"}},
		{"instance types in place of a dump", `{"InstanceTypes":[]}`, []string{"give it with --instance-types"}},
		{"two clusters, or two moments, mixed", nodeJSON("a") + other, []string{`Node "a" is twice in this file with another content`, "one cluster at one moment"}},
		{"UTF-16", "\xff\xfe{\x00}\x00", []string{"it is UTF-16", "save it as UTF-8"}},
		{"not gzip after all", "\x1f\x8bxxxxxxxxxxxxxx", []string{"it starts like gzip"}},
		{"broken YAML", "apiVersion: v1\nkind: Node\nmetadata:\n  name: a\n bad: [\n", []string{"dump.json: line 5: broken YAML"}},
		{"a tab in YAML", "apiVersion: v1\nkind: Node\nmetadata:\n\tname: a\n", []string{"line 4: broken YAML: found character that cannot start any token"}},
		{"a key twice in YAML", "apiVersion: v1\nkind: Node\nkind: Node\n", []string{"line 3: broken YAML: key \"kind\" already set"}},
		{"broken YAML in the second document", "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n---\nkind: [}\n", []string{"line 5: broken YAML"}},
		{"broken YAML in the second item", "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata: {name: a}\n- apiVersion: v1\n  kind: [}\n", []string{"line 8: broken YAML"}},
		{"a wrong shape in YAML: the item's line", "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata: {name: a}\n- apiVersion: v1\n  kind: Node\n  metadata: {name: b}\n  status: {capacity: [1]}\n",
			[]string{`dump.json: line 7: Node "b": wrong value at /0/status/capacity: expected an object, found a list`}},
		{"YAML of comments alone", "# nothing\n---\n", []string{"it has no YAML document"}},
		{"a snapshot of another version", `{"apiVersion":"allocatable-diff/v9","kind":"Snapshot"}`, []string{`its apiVersion is "allocatable-diff/v9", expected "allocatable-diff/v1alpha1"`}},
		{"a file of ours of another kind", `{"apiVersion":"allocatable-diff/v1alpha1","kind":"Policy"}`, []string{"kind Policy of allocatable-diff/v1alpha1 cannot be read here"}},
		{"a snapshot with its head moved", `{"cluster":"x","apiVersion":"allocatable-diff/v1alpha1","nodes":[],"kind":"Snapshot"}`, []string{"must begin with apiVersion and kind"}},
		{"a snapshot in YAML", "apiVersion: allocatable-diff/v1alpha1\nkind: Snapshot\ncluster: x\n", []string{"must be a JSON file of its own that begins with apiVersion and kind"}},
		{"a snapshot whose members were sorted", `{"apiVersion":"allocatable-diff/v1alpha1","cluster":"x","controller":{},"kind":"Snapshot"}`, []string{"must begin with apiVersion and kind"}},
		{"a snapshot with a misspelt field", `{"apiVersion":"allocatable-diff/v1alpha1","kind":"Snapshot","node":[]}`, []string{`unknown field "node"`}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			path := filepath.Join(files(t, map[string]string{"dump.json": row.text}), "dump.json")
			in, err := Files([]string{path}, nil, Options{})
			if err == nil {
				t.Fatalf("read as %+v", in)
			}
			var broken *InputError
			if !errors.As(err, &broken) || broken.File != path {
				t.Errorf("%v is no InputError of %s", err, path)
			}
			for _, want := range row.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error is\n%s\nand does not say\n%s", err, want)
				}
			}
		})
	}
}

func TestUnusablePaths(t *testing.T) {
	dir := files(t, map[string]string{"sub/README.md": "x", "a.json": nodeJSON("a"), "b.json": strings.Replace(nodeJSON("a"), "7067Mi", "7068Mi", 1)})
	for _, row := range []struct {
		reason string
		paths  []string
		want   string
	}{
		{"no such file", []string{filepath.Join(dir, "none.json")}, "none.json: no such file or directory"},
		{"a directory without dumps", []string{filepath.Join(dir, "sub")}, "the directory has no .json, .yaml or .yml file"},
		{"stdin twice", []string{"-", "-"}, `"-" was given twice`},
		{"one node in two files", []string{filepath.Join(dir, "a.json"), filepath.Join(dir, "b.json")}, `b.json: Node "a" is also in ` + filepath.Join(dir, "a.json") + " with another content"},
	} {
		_, err := Files(row.paths, strings.NewReader(nodeJSON("z")), Options{})
		var broken *InputError
		if !errors.As(err, &broken) || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: the error is %v and does not say %q", row.reason, err, row.want)
		}
	}
}
