package allocatable

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"

	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
)

// containerSize bounds the specs of one container: Ginkgo is quadratic in siblings.
const containerSize = 250

// container holds nodes of one cluster, pool, type, architecture and family.
type container struct {
	text   string
	labels Labels
	nodes  []*gate.Node
}

// kind is what the nodes of a container have in common. Pool and type come before the node in a spec's text: node names
// change from day to day, groups stay comparable.
type kind struct{ cluster, pool, class, typ, arch, family, zone string }

func kindOf(n *gate.Node) kind {
	return kind{n.Cluster, n.NodePool, n.NodeClass, n.InstanceType, n.Arch, n.AMIFamily, n.Zone}
}

func (k kind) text(part int) string {
	or := func(s string) string { return cmp.Or(s, "none") }
	text := fmt.Sprintf("cluster=%s nodepool=%s type=%s arch=%s family=%s zone=%s nodeclass=%s", or(k.cluster), or(k.pool), or(k.typ), or(k.arch), or(k.family), or(k.zone), or(k.class))
	if part > 0 {
		text += fmt.Sprintf(" part=%d", part+1)
	}
	return text
}

// forbidden are the characters that Ginkgo refuses in a label.
var forbidden = strings.NewReplacer("&", "-", "|", "-", "!", "-", ",", "-", "(", "-", ")", "-", "/", "-")

// clusterLabel heads the label that carries the cluster's name.
const clusterLabel = "cluster:"

func labelValue(text string) string { return strings.TrimSpace(forbidden.Replace(text)) }

func (k kind) labels() Labels {
	var out Labels
	for _, l := range []struct{ head, value string }{
		{clusterLabel, k.cluster}, {"nodepool:", k.pool}, {"nodeclass:", k.class}, {"type:", k.typ}, {"arch:", k.arch}, {"ami-family:", k.family}, {"zone:", k.zone},
	} {
		if value := labelValue(l.value); value != "" {
			out = append(out, l.head+value)
		}
	}
	return out
}

// containers groups the nodes of this Karpenter; a foreign node is no spec.
func containers(run *gate.Run) []container {
	groups := map[kind][]*gate.Node{}
	var order []kind
	for i := range run.Nodes {
		n := &run.Nodes[i]
		if n.State == gate.Foreign {
			continue
		}
		k := kindOf(n)
		if _, ok := groups[k]; !ok {
			order = append(order, k)
		}
		groups[k] = append(groups[k], n)
	}
	slices.SortFunc(order, func(a, b kind) int { return cmp.Compare(a.text(0), b.text(0)) })
	var out []container
	for _, k := range order {
		labels, part := k.labels(), 0
		for nodes := range slices.Chunk(groups[k], containerSize) {
			out = append(out, container{k.text(part), labels, nodes})
			part++
		}
	}
	return out
}
