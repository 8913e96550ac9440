package allocatable

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"

	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
)

// containerSize bounds the specs of one container: Ginkgo is quadratic in siblings. For the same reason containers are
// inside others, one level and no more: it copies what is above a spec for each.
const containerSize = 250

// container holds nodes that have its text in common, directly or in containers of its own.
type container struct {
	text   string
	labels Labels
	inner  []*container
	nodes  []*gate.Node
}

// kind is what the nodes of an innermost container have in common.
type kind struct{ cluster, pool, class, typ, arch, family, zone string }

func kindOf(n *gate.Node) kind {
	return kind{n.Cluster, n.NodePool, n.NodeClass, n.InstanceType, n.Arch, n.AMIFamily, n.Zone}
}

// property is one of a kind: its name in the text of a spec, the head of its label, and its value.
type property struct{ name, label, value string }

// levels are the properties of a kind by container, outermost first. Pool and type come before the node in a spec's text:
// node names change from day to day, groups stay comparable.
func (k kind) levels() [2][]property {
	return [...][]property{
		{{"cluster", clusterLabel, k.cluster}, {"nodepool", "nodepool:", k.pool}},
		{
			{"type", "type:", k.typ}, {"arch", "arch:", k.arch}, {"family", "ami-family:", k.family},
			{"zone", "zone:", k.zone}, {"nodeclass", "nodeclass:", k.class},
		},
	}
}

func newContainer(of []property) *container {
	c := &container{}
	for i, p := range of {
		if i > 0 {
			c.text += " "
		}
		c.text += p.name + "=" + cmp.Or(p.value, "none")
		if value := labelValue(p.value); value != "" {
			c.labels = append(c.labels, p.label+value)
		}
	}
	return c
}

// text is the whole of a kind in a spec's text.
func (k kind) text() string {
	var parts []string
	for _, of := range k.levels() {
		parts = append(parts, newContainer(of).text)
	}
	return strings.Join(parts, " ")
}

// forbidden are the characters that Ginkgo refuses in a label.
var forbidden = strings.NewReplacer("&", "-", "|", "-", "!", "-", ",", "-", "(", "-", ")", "-", "/", "-")

// clusterLabel heads the label that carries the cluster's name.
const clusterLabel = "cluster:"

func labelValue(text string) string { return strings.TrimSpace(forbidden.Replace(text)) }

// containers groups the nodes of this Karpenter; a foreign node is no spec.
func containers(run *gate.Run) []*container {
	groups := map[kind][]*gate.Node{}
	texts := map[kind]string{}
	var order []kind
	for i := range run.Nodes {
		n := &run.Nodes[i]
		if n.State == gate.Foreign {
			continue
		}
		k := kindOf(n)
		if _, ok := groups[k]; !ok {
			order = append(order, k)
			texts[k] = k.text()
		}
		groups[k] = append(groups[k], n)
	}
	slices.SortFunc(order, func(a, b kind) int { return cmp.Compare(texts[a], texts[b]) })
	var all container
	for _, k := range order {
		levels := k.levels()
		outer := all.last(levels[0])
		for part, nodes := range slices.Collect(slices.Chunk(groups[k], containerSize)) {
			inner := newContainer(levels[1])
			if part > 0 {
				inner.text += fmt.Sprintf(" part=%d", part+1)
			}
			inner.nodes = nodes
			outer.inner = append(outer.inner, inner)
		}
	}
	return all.inner
}

// last is the container that was added last where it is of these properties, else a new one.
func (c *container) last(of []property) *container {
	fresh := newContainer(of)
	if n := len(c.inner); n > 0 && c.inner[n-1].text == fresh.text && slices.Equal(c.inner[n-1].labels, fresh.labels) {
		return c.inner[n-1]
	}
	c.inner = append(c.inner, fresh)
	return fresh
}
