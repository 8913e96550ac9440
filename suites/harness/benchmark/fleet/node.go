package fleet

import (
	"fmt"
	"strconv"
	"strings"
)

// machineNames are what nodeInfo.kernelVersion ends with on Amazon Linux.
var machineNames = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}

// typeLabels are those with which Karpenter describes the type, on node and claim alike.
func (p *printer) typeLabels(m *machine) {
	hypervisor := "nitro"
	if m.BareMetal {
		hypervisor = ""
	}
	p.texts(
		"karpenter.k8s.aws/ec2nodeclass", classes[m.class].name,
		"karpenter.k8s.aws/instance-category", m.family[:1],
		"karpenter.k8s.aws/instance-cpu", strconv.FormatInt(m.VCPUs, 10),
		"karpenter.k8s.aws/instance-cpu-manufacturer", map[string]string{"amd64": "intel", "arm64": "aws"}[m.arch],
		"karpenter.k8s.aws/instance-ebs-bandwidth", "10000",
		"karpenter.k8s.aws/instance-encryption-in-transit-supported", "true",
		"karpenter.k8s.aws/instance-family", m.family,
		"karpenter.k8s.aws/instance-generation", generation(m.family),
	)
	if len(m.GPUs) > 0 {
		p.texts("karpenter.k8s.aws/instance-gpu-count", strconv.FormatInt(m.GPUs[0].Count, 10), "karpenter.k8s.aws/instance-gpu-manufacturer", strings.ToLower(m.GPUs[0].Manufacturer))
	}
	p.text("karpenter.k8s.aws/instance-hypervisor", hypervisor)
	if m.InstanceStoreGB != nil {
		p.text("karpenter.k8s.aws/instance-local-nvme", strconv.FormatInt(*m.InstanceStoreGB, 10))
	}
	p.texts(
		"karpenter.k8s.aws/instance-memory", strconv.FormatInt(m.MemoryMiB, 10),
		"karpenter.k8s.aws/instance-network-bandwidth", "12500",
		"karpenter.k8s.aws/instance-size", m.size,
		"karpenter.sh/capacity-type", "on-demand",
	)
}

// generation is the first number in a family's name.
func generation(family string) string {
	from := strings.IndexAny(family, "0123456789")
	if from < 0 {
		return "1"
	}
	to := from
	for to < len(family) && family[to] >= '0' && family[to] <= '9' {
		to++
	}
	return family[from:to]
}

func (p *printer) hashes(m *machine) {
	p.texts(
		"karpenter.k8s.aws/ec2nodeclass-hash", "18379211154511973467", "karpenter.k8s.aws/ec2nodeclass-hash-version", "v4",
		"karpenter.sh/nodepool-hash", poolHash(m.pool), "karpenter.sh/nodepool-hash-version", "v3",
	)
}

func (p *printer) ownedBy(kind, name, uid string) {
	p.array("ownerReferences", func() {
		p.braces(func() {
			p.text("apiVersion", "karpenter.sh/v1")
			p.flag("blockOwnerDeletion", true)
			p.texts("kind", kind, "name", name, "uid", uid)
		})
	})
}

func (p *printer) node(m *machine) {
	managed := m.pool < 0
	p.braces(func() {
		p.texts("apiVersion", "v1", "kind", "Node")
		p.object("metadata", func() {
			p.object("annotations", func() {
				p.texts("alpha.kubernetes.io/provided-node-ip", m.address(), "csi.volume.kubernetes.io/nodeid", `{"ebs.csi.aws.com":"`+m.instance+`"}`)
				if !managed {
					p.hashes(m)
				}
				p.texts("node.alpha.kubernetes.io/ttl", "0", "volumes.kubernetes.io/controller-managed-attach-detach", "true")
			})
			p.text("creationTimestamp", "2026-08-05T09:19:55Z")
			p.object("labels", func() { p.nodeLabels(m, managed) })
			p.managedFields(m)
			p.text("name", m.name)
			if !managed {
				p.ownedBy("NodeClaim", m.claim, m.uid())
			}
			p.texts("resourceVersion", strconv.Itoa(41073014+m.number), "uid", m.uid())
		})
		p.object("spec", func() { p.text("providerID", m.providerID()) })
		p.object("status", func() { p.nodeStatus(m) })
	})
}

func (p *printer) nodeLabels(m *machine, managed bool) {
	p.texts("beta.kubernetes.io/arch", m.arch, "beta.kubernetes.io/instance-type", m.Name, "beta.kubernetes.io/os", "linux")
	if managed {
		p.texts("eks.amazonaws.com/capacityType", "ON_DEMAND", "eks.amazonaws.com/nodegroup", "system")
	}
	p.texts("failure-domain.beta.kubernetes.io/region", "us-west-2", "failure-domain.beta.kubernetes.io/zone", m.zoneName(), "k8s.io/cloud-provider-aws", "9f51cc9980adaf6bb2b53f87463101fb")
	if !managed {
		p.typeLabels(m)
		p.texts("karpenter.sh/initialized", "true", "karpenter.sh/nodepool", poolName(m.pool), "karpenter.sh/registered", "true")
	}
	p.texts(
		"kubernetes.io/arch", m.arch, "kubernetes.io/hostname", m.name, "kubernetes.io/os", "linux", "node.kubernetes.io/instance-type", m.Name,
		"topology.k8s.aws/zone-id", "usw2-az"+strconv.Itoa(m.zone+1), "topology.kubernetes.io/region", "us-west-2", "topology.kubernetes.io/zone", m.zoneName(),
	)
}

func (p *printer) nodeStatus(m *machine) {
	c := &classes[m.class]
	kernel := c.kernel
	if strings.HasSuffix(kernel, "amzn2023") {
		kernel += "." + machineNames[m.arch]
	}
	p.array("addresses", func() {
		for _, a := range [][2]string{{m.address(), "InternalIP"}, {m.name, "InternalDNS"}, {m.name, "Hostname"}} {
			p.braces(func() { p.texts("address", a[0], "type", a[1]) })
		}
	})
	p.amounts("allocatable", m.allocatable)
	p.amounts("capacity", m.capacity)
	p.array("conditions", func() { p.conditions(m.ready) })
	p.object("daemonEndpoints", func() { p.object("kubeletEndpoint", func() { p.number("Port", 10250) }) })
	p.array("images", func() {
		for i := range images {
			p.image(m, i)
		}
	})
	p.object("nodeInfo", func() {
		p.texts(
			"architecture", m.arch, "bootID", m.uid(), "containerRuntimeVersion", "containerd://1.7.27", "kernelVersion", kernel,
			"kubeProxyVersion", "v1.32.3-eks-473151a", "kubeletVersion", "v1.32.3-eks-473151a", "machineID", "ec211fa0ec4a8972342f33fc38592a4f",
			"operatingSystem", "linux", "osImage", c.osImage, "systemUUID", m.uid(),
		)
	})
}

// condition is one condition of a node.
type condition struct{ kind, status, reason, message string }

var (
	conditions = []condition{
		{"MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"},
		{"DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"},
		{"PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"},
	}
	ready    = condition{"Ready", "True", "KubeletReady", "kubelet is posting ready status"}
	notReady = condition{"Ready", "False", "KubeletNotReady", "container runtime network not ready: cni plugin not initialized"}
)

func (p *printer) conditions(isReady bool) {
	last := ready
	if !isReady {
		last = notReady
	}
	for _, c := range append(conditions[:len(conditions):len(conditions)], last) {
		p.braces(func() {
			p.texts("lastHeartbeatTime", "2026-08-17T09:41:07Z", "lastTransitionTime", "2026-08-05T09:19:56Z", "message", c.message, "reason", c.reason, "status", c.status, "type", c.kind)
		})
	}
}

// images is how many images a node lists. A node lists up to 50; so many make one of 9 to 10 KB.
const images = 2

func (p *printer) image(m *machine, i int) {
	repository := fmt.Sprintf("platform/component-%d", i)
	p.braces(func() {
		p.array("names", func() {
			p.item(fmt.Sprintf("%s@sha256:%016x%016x%016x%016x", repository, m.random.Uint64(), m.random.Uint64(), m.random.Uint64(), m.random.Uint64()))
			p.item(repository + ":v1.32." + strconv.Itoa(i))
		})
		p.number("sizeBytes", int64(m.random.IntN(400_000_000)))
	})
}

// managedFields is who has set which field: the part that nobody reads.
func (p *printer) managedFields(m *machine) {
	p.array("managedFields", func() {
		p.managedBy("karpenter", "", func() {
			p.object("f:metadata", func() {
				p.object("f:labels", func() { p.fields("f:karpenter.sh/initialized", "f:karpenter.sh/registered") })
			})
		})
		p.managedBy("kubelet", "status", func() {
			p.object("f:status", func() {
				p.object("f:allocatable", func() {
					for _, a := range m.allocatable {
						p.fields("f:" + a.name)
					}
				})
				p.fields("f:images")
			})
		})
	})
}

func (p *printer) managedBy(manager, subresource string, fields func()) {
	p.braces(func() {
		p.texts("apiVersion", "v1", "fieldsType", "FieldsV1")
		p.object("fieldsV1", fields)
		p.texts("manager", manager, "operation", "Update")
		if subresource != "" {
			p.text("subresource", subresource)
		}
		p.text("time", "2026-08-17T09:41:07Z")
	})
}

func (p *printer) fields(names ...string) {
	for _, n := range names {
		p.object(n, func() {})
	}
}

func poolName(i int) string { return fmt.Sprintf("pool-%02d", i) }

func poolHash(i int) string { return strconv.Itoa(2576719336672077547 + i) }
