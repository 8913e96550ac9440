package recommend

import (
	"encoding/csv"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// fleet builds a snapshot node by node.
type fleet struct {
	snapshot.Snapshot
	types map[string]bool
}

func newFleet(cluster, version, percent string) *fleet {
	f := &fleet{types: map[string]bool{}}
	f.Cluster = cluster
	f.InstanceTypesFrom = "file"
	f.Controller.Version = snapshot.Setting{Value: version, From: "test"}
	if percent != "" {
		f.Controller.VMMemoryOverheadPercent = snapshot.Setting{Value: percent, From: "test"}
	}
	return f
}

// machine is what one node of the fleet is and has.
type machine struct {
	typ, arch string
	ec2MiB    int64
	image     string // empty: Amazon Linux 2023
	pool      string // empty: default
	class     string // key of a NodeClass in the fleet; empty without one
	// capacity, allocatable and claim are memory as printed; empty: not reported.
	capacity, allocatable, claim string
	labels                       map[string]string
}

// add adds a node, and its type where it is the first of it. It returns the node for changes.
func (f *fleet) add(m machine) *snapshot.Node {
	if !f.types[m.typ] && m.ec2MiB > 0 {
		f.types[m.typ] = true
		arch := "x86_64"
		if m.arch == "arm64" {
			arch = "arm64"
		}
		f.InstanceTypes = append(f.InstanceTypes, snapshot.InstanceType{
			Name: m.typ, VCPUs: 2, MemoryMiB: m.ec2MiB, Architectures: []string{arch}, ENIs: 3, DefaultCardENIs: 3, IPv4PerENI: 10,
		})
	}
	name := fmt.Sprintf("node-%06d", len(f.Nodes))
	labels := map[string]string{
		snapshot.LabelInstanceType: m.typ, snapshot.LabelArch: m.arch,
		snapshot.LabelNodePool: or(m.pool, "default"), snapshot.LabelInitialized: "true",
	}
	for k, v := range m.labels {
		labels[k] = v
	}
	n := snapshot.Node{
		Name: name, Labels: snapshot.LabelsOf(labels), OSImage: or(m.image, "Amazon Linux 2023.7.20250609"), Ready: "True",
		Capacity: memory(m.capacity), Allocatable: memory(m.allocatable),
		Join: snapshot.Join{Pool: or(m.pool, "default"), Class: m.class, ClassName: m.class},
	}
	if m.claim != "" {
		n.Join.Claim = name
		f.NodeClaims = append(f.NodeClaims, snapshot.NodeClaim{Name: name, Kind: "NodeClaim", APIVersion: "karpenter.sh/v1", Capacity: memory(m.claim)})
	}
	f.Nodes = append(f.Nodes, n)
	return &f.Nodes[len(f.Nodes)-1]
}

func or(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

func memory(text string) snapshot.ResourceList {
	if text == "" {
		return nil
	}
	return snapshot.ParseResources(map[string]string{"memory": text})
}

// recommend is the whole way from snapshots to a report.
func recommend(t testing.TB, o Options, fleets ...*fleet) *Report {
	t.Helper()
	return Compute(take(t, fleets...), o)
}

func take(t testing.TB, fleets ...*fleet) []Sample {
	t.Helper()
	samples, err := Samples(snapshots(fleets), gate.Options{Policy: gate.DefaultPolicy()})
	if err != nil {
		t.Fatal(err)
	}
	return samples
}

func snapshots(fleets []*fleet) []*snapshot.Snapshot {
	out := make([]*snapshot.Snapshot, len(fleets))
	for i, f := range fleets {
		out[i] = &f.Snapshot
	}
	return out
}

// publicNodes is testdata/public-nodes.csv as a fleet; alike adds every node that printed the same figures, else one.
func publicNodes(t testing.TB, percent string, alike bool) *fleet {
	t.Helper()
	file, err := os.Open("testdata/public-nodes.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	images := map[string]string{"AL2": "Amazon Linux 2", "Bottlerocket": "Bottlerocket OS 1.40.0", "AL2023": "", "": ""}
	f := newFleet("public", "1.14.1", percent)
	for _, row := range rows[1:] {
		mib, err := strconv.ParseInt(row[2], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		nodes := 1
		if alike {
			if nodes, err = strconv.Atoi(row[6]); err != nil {
				t.Fatal(err)
			}
		}
		for range nodes {
			f.add(machine{typ: row[0], arch: row[1], ec2MiB: mib, image: images[row[3]], capacity: row[4] + "Ki", allocatable: ki(row[5])})
		}
	}
	return f
}

func ki(text string) string {
	if text == "" {
		return ""
	}
	return text + "Ki"
}
