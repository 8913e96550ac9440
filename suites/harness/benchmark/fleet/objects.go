package fleet

import "strconv"

// nodeClaim prints the claim of a node.
func (p *printer) nodeClaim(m *machine) {
	p.braces(func() {
		p.texts("apiVersion", "karpenter.sh/v1", "kind", "NodeClaim")
		p.object("metadata", func() {
			p.object("annotations", func() { p.hashes(m) })
			p.text("creationTimestamp", "2026-08-05T09:19:10Z")
			p.array("finalizers", func() { p.item("karpenter.sh/termination") })
			p.text("generateName", poolName(m.pool)+"-")
			p.object("labels", func() {
				p.typeLabels(m)
				p.texts(
					"karpenter.sh/nodepool", poolName(m.pool), "kubernetes.io/arch", m.arch, "kubernetes.io/os", "linux", "node.kubernetes.io/instance-type", m.Name,
					"topology.kubernetes.io/region", "us-west-2", "topology.kubernetes.io/zone", m.zoneName(),
				)
			})
			p.text("name", m.claim)
			p.ownedBy("NodePool", poolName(m.pool), m.uid())
			p.texts("resourceVersion", strconv.Itoa(41073014+m.number), "uid", m.uid())
		})
		p.object("spec", func() {
			p.text("expireAfter", "720h")
			p.classRef(m.class)
			p.array("requirements", func() {
				for _, r := range [][2]string{{"karpenter.sh/capacity-type", "on-demand"}, {"kubernetes.io/arch", m.arch}, {"node.kubernetes.io/instance-type", m.Name}} {
					p.braces(func() {
						p.texts("key", r[0], "operator", "In")
						p.array("values", func() { p.item(r[1]) })
					})
				}
			})
			p.object("resources", func() {
				p.object("requests", func() { p.texts("cpu", "1250m", "memory", "1Gi", "pods", "8") })
			})
		})
		p.object("status", func() {
			p.amounts("allocatable", m.claimAllocatable)
			p.amounts("capacity", m.claimCapacity)
			p.array("conditions", func() {
				for _, c := range []string{"Launched", "Registered", "Initialized", "Ready"} {
					p.braces(func() {
						p.texts("lastTransitionTime", "2026-08-05T09:19:56Z", "message", "", "reason", c, "status", "True", "type", c)
					})
				}
			})
			p.texts("imageID", "ami-09245d0d8ccfc4bdd", "nodeName", m.name, "providerID", m.providerID())
		})
	})
}

func (p *printer) classRef(i int) {
	p.object("nodeClassRef", func() {
		p.texts("group", "karpenter.k8s.aws", "kind", "EC2NodeClass", "name", classes[i].name)
	})
}

func (p *printer) nodePool(i int) {
	p.braces(func() {
		p.texts("apiVersion", "karpenter.sh/v1", "kind", "NodePool")
		p.object("metadata", func() {
			p.object("annotations", func() {
				p.texts("karpenter.sh/nodepool-hash", poolHash(i), "karpenter.sh/nodepool-hash-version", "v3")
			})
			p.text("name", poolName(i))
		})
		p.object("spec", func() {
			p.object("template", func() {
				p.object("spec", func() { p.classRef(i % len(classes)) })
			})
		})
	})
}

func (p *printer) nodeClass(c *class) {
	p.braces(func() {
		p.texts("apiVersion", "karpenter.k8s.aws/v1", "kind", "EC2NodeClass")
		p.object("metadata", func() {
			p.object("annotations", func() {
				p.texts("karpenter.k8s.aws/ec2nodeclass-hash", "18379211154511973467", "karpenter.k8s.aws/ec2nodeclass-hash-version", "v4")
			})
			p.text("name", c.name)
		})
		p.object("spec", func() {
			p.array("amiSelectorTerms", func() { p.braces(func() { p.text("alias", c.alias) }) })
			if c.device != "" {
				p.array("blockDeviceMappings", func() {
					p.braces(func() {
						p.text("deviceName", c.device)
						p.object("ebs", func() { p.texts("volumeSize", c.volume, "volumeType", "gp3") })
					})
				})
			}
			p.text("role", "KarpenterNodeRole")
		})
	})
}

// deployment prints Karpenter itself.
func (p *printer) deployment() {
	p.braces(func() {
		p.texts("apiVersion", "apps/v1", "kind", "Deployment")
		p.object("metadata", func() {
			p.object("labels", func() { p.texts("app.kubernetes.io/name", "karpenter", "app.kubernetes.io/version", karpenterVersion) })
			p.texts("name", "karpenter", "namespace", "kube-system")
		})
		p.object("spec", func() {
			p.object("template", func() {
				p.object("spec", func() {
					p.array("containers", func() {
						p.braces(func() {
							p.array("env", func() { p.braces(func() { p.texts("name", "VM_MEMORY_OVERHEAD_PERCENT", "value", overheadPercent) }) })
							p.texts("image", "karpenter/controller:"+karpenterVersion, "name", "controller")
						})
					})
				})
			})
		})
	})
}
