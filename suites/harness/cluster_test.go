package harness

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/resource"
)

// The generated cluster: one node of each type, every resource that is judged among them, run by Karpenter v1.14.1
// with its default overhead. Each node has what `allocatable-diff expect` prints, and its claim says the same.
var cleanTypes = []struct{ name, arch, pool string }{
	{"m5.large", "amd64", "general"},
	{"m6g.large", "arm64", "general"},
	{"t4g.large", "arm64", "general"},
	{"g5.xlarge", "amd64", "accelerated"},    // one nvidia.com/gpu
	{"g4ad.xlarge", "amd64", "accelerated"},  // one amd.com/gpu
	{"inf2.xlarge", "amd64", "accelerated"},  // one aws.amazon.com/neuron with two cores
	{"dl1.24xlarge", "amd64", "accelerated"}, // eight habana.ai/gaudi; four EFA that nobody asked for
	{"p4d.24xlarge", "amd64", "accelerated"}, // eight nvidia.com/gpu; four EFA that the claim asks for
}

const (
	karpenter = "1.14.1"
	overhead  = "0.075"
	efa       = "vpc.amazonaws.com/efa"
	podENI    = "vpc.amazonaws.com/pod-eni"
)

// amounts are a resource list as the API prints it.
type amounts map[string]string

// object is a Kubernetes object, as much of it as anything here sets.
type object struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Metadata   metadata       `json:"metadata"`
	Spec       map[string]any `json:"spec,omitempty"`
	Status     *status        `json:"status,omitempty"`
}

type metadata struct {
	Name              string            `json:"name"`
	Namespace         string            `json:"namespace,omitempty"`
	Labels            map[string]string `json:"labels,omitempty"`
	Annotations       map[string]string `json:"annotations,omitempty"`
	OwnerReferences   []map[string]any  `json:"ownerReferences,omitempty"`
	DeletionTimestamp string            `json:"deletionTimestamp,omitempty"`
}

type status struct {
	Capacity    amounts             `json:"capacity,omitempty"`
	Allocatable amounts             `json:"allocatable,omitempty"`
	Conditions  []map[string]string `json:"conditions,omitempty"`
	NodeInfo    map[string]string   `json:"nodeInfo,omitempty"`
	ProviderID  string              `json:"providerID,omitempty"`
	NodeName    string              `json:"nodeName,omitempty"`
}

// cluster is what a spec changes before it hands it over.
type cluster struct {
	controller, class *object
	pools             []*object
	machines          []*machine
}

// machine is a node and its claim.
type machine struct {
	node, claim *object
}

// expectations asks the tool what it expects of the types of the clean cluster.
func expectations() string {
	GinkgoHelper()
	args := []string{"expect", "-o", "json", "--instance-types", typesPath(), "--karpenter-version", "v" + karpenter, "--overhead-percent", overhead}
	for _, t := range cleanTypes {
		args = append(args, t.name)
	}
	r := run(args...)
	Expect(r).To(exitWith(0))
	return r.stdout
}

// clean is a cluster without a finding.
func clean() *cluster {
	GinkgoHelper()
	c := bare()
	for _, t := range cleanTypes {
		c.add(t.name)
	}
	return c
}

// bare is a cluster without nodes.
func bare() *cluster {
	class := &object{APIVersion: "karpenter.k8s.aws/v1", Kind: "EC2NodeClass", Metadata: metadata{Name: "default", Annotations: hash("1")},
		Spec: map[string]any{"amiSelectorTerms": []any{map[string]any{"alias": "al2023@v20250609"}}, "role": "node"}}
	container := map[string]any{"name": "controller", "image": "karpenter/controller:" + karpenter, "env": []any{
		map[string]any{"name": "VM_MEMORY_OVERHEAD_PERCENT", "value": overhead},
	}}
	labels := map[string]string{"app.kubernetes.io/name": "karpenter"}
	c := &cluster{class: class, controller: &object{
		APIVersion: "apps/v1", Kind: "Deployment", Metadata: metadata{Name: "karpenter", Namespace: "kube-system", Labels: labels},
		Spec: map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{container}}}},
	}}
	for _, pool := range []string{"general", "accelerated"} {
		c.pools = append(c.pools, &object{APIVersion: "karpenter.sh/v1", Kind: "NodePool", Metadata: metadata{Name: pool}, Spec: map[string]any{
			"template": map[string]any{"spec": map[string]any{"nodeClassRef": classRef()}},
		}})
	}
	return c
}

func hash(value string) map[string]string {
	return map[string]string{"karpenter.k8s.aws/ec2nodeclass-hash": value, "karpenter.k8s.aws/ec2nodeclass-hash-version": "v4"}
}

func classRef() map[string]any {
	return map[string]any{"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}
}

// add adds a healthy node of a type.
func (c *cluster) add(typ string) *machine {
	GinkgoHelper()
	i := slices.IndexFunc(cleanTypes, func(t struct{ name, arch, pool string }) bool { return t.name == typ })
	Expect(i).NotTo(Equal(-1), "the clean cluster has no %s", typ)
	t, number := cleanTypes[i], len(c.machines)+1
	var all []struct {
		InstanceType          string
		Capacity, Allocatable amounts
	}
	Expect(json.Unmarshal(at.Expected, &all)).To(Succeed())
	expected := all[slices.IndexFunc(all, func(e struct {
		InstanceType          string
		Capacity, Allocatable amounts
	}) bool {
		return e.InstanceType == typ
	})]
	name, provider := fmt.Sprintf("ip-10-0-%d-%d.ec2.internal", number/250, number%250+1), fmt.Sprintf("aws:///us-east-1a/i-%017x", number)
	labels := map[string]string{
		"node.kubernetes.io/instance-type": typ, "kubernetes.io/arch": t.arch, "kubernetes.io/os": "linux",
		"topology.kubernetes.io/zone": "us-east-1a", "karpenter.sh/nodepool": t.pool,
		"karpenter.sh/registered": "true", "karpenter.sh/initialized": "true",
	}
	m := &machine{
		node: &object{APIVersion: "v1", Kind: "Node", Metadata: metadata{Name: name, Labels: labels}, Spec: map[string]any{"providerID": provider}, Status: &status{
			Capacity: maps.Clone(expected.Capacity), Allocatable: maps.Clone(expected.Allocatable),
			Conditions: []map[string]string{{"type": "Ready", "status": "True"}},
			NodeInfo:   map[string]string{"osImage": "Amazon Linux 2023.7.20250609", "kubeletVersion": "v1.32.3-eks-473151a", "kernelVersion": "6.1.141", "architecture": t.arch, "operatingSystem": "linux"},
		}},
		claim: &object{APIVersion: "karpenter.sh/v1", Kind: "NodeClaim", Metadata: metadata{Name: fmt.Sprintf("%s-%05d", t.pool, number), Labels: labels, Annotations: hash("1")},
			Spec: map[string]any{"nodeClassRef": classRef()}, Status: &status{
				Capacity: maps.Clone(expected.Capacity), Allocatable: maps.Clone(expected.Allocatable), ProviderID: provider, NodeName: name,
				Conditions: []map[string]string{{"type": "Initialized", "status": "True"}},
			}},
	}
	m.node.Metadata.OwnerReferences = []map[string]any{{"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "name": m.claim.Metadata.Name}}
	// Security groups for pods are off, and nobody asks for EFA but on p4d: neither is on the other nodes.
	m.lacks(podENI)
	if typ == "p4d.24xlarge" {
		m.claim.Spec["resources"] = map[string]any{"requests": amounts{efa: "4"}}
	} else {
		m.lacks(efa)
		delete(m.claim.Status.Capacity, efa)
		delete(m.claim.Status.Allocatable, efa)
	}
	c.machines = append(c.machines, m)
	return m
}

// of is the first machine of a type.
func (c *cluster) of(typ string) *machine {
	GinkgoHelper()
	i := slices.IndexFunc(c.machines, func(m *machine) bool { return m.typ() == typ })
	Expect(i).NotTo(Equal(-1), "the cluster has no %s", typ)
	return c.machines[i]
}

func (m *machine) typ() string  { return m.node.Metadata.Labels["node.kubernetes.io/instance-type"] }
func (m *machine) name() string { return m.node.Metadata.Name }

// moves changes what the node has of a resource, capacity and allocatable alike, by a signed quantity.
func (m *machine) moves(name, by string) {
	GinkgoHelper()
	for _, list := range []amounts{m.node.Status.Capacity, m.node.Status.Allocatable} {
		list[name] = sum(list[name], by)
	}
}

// lacks takes a resource from the node.
func (m *machine) lacks(name string) {
	delete(m.node.Status.Capacity, name)
	delete(m.node.Status.Allocatable, name)
}

// sum adds two quantities, either of which may be negative.
func sum(quantity, by string) string {
	GinkgoHelper()
	q, err := resource.ParseQuantity(quantity)
	Expect(err).NotTo(HaveOccurred())
	d, err := resource.ParseQuantity(by)
	Expect(err).NotTo(HaveOccurred())
	q.Add(d)
	return q.String()
}

// objects are everything, in the order in which kubectl would print it.
func (c *cluster) objects() []*object {
	out := append([]*object{c.controller, c.class}, c.pools...)
	for _, m := range c.machines {
		if m.claim != nil {
			out = append(out, m.claim)
		}
	}
	for _, m := range c.machines {
		out = append(out, m.node)
	}
	return out
}

// dump writes the cluster into a new folder as one List, and returns the file's path.
func (c *cluster) dump() string {
	GinkgoHelper()
	return dumpOf(c.objects())
}

// dumpOf writes objects as `kubectl get … -o json` prints them.
func dumpOf(objects []*object) string {
	GinkgoHelper()
	data, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": objects})
	Expect(err).NotTo(HaveOccurred())
	return write(GinkgoT().TempDir(), "cluster.json", string(data))
}
