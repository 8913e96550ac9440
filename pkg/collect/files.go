package collect

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// Options say what to read and how to complete it.
type Options struct {
	// Cluster names the cluster in every output. Empty keeps the name that a snapshot carries.
	Cluster string
	// Selector keeps the nodes whose labels match; nil keeps all. Of a dump it sees every label, of a snapshot those
	// that a snapshot keeps.
	Selector labels.Selector
	// InstanceTypes is where the facts of instance types come from: "auto" (what the snapshot holds, else labels),
	// "labels", or the path of a file or directory of describe-instance-types output. "ec2" leaves them to the caller.
	InstanceTypes string
	// KarpenterNamespace is where Karpenter runs; empty means kube-system, then karpenter, then wherever it is found.
	KarpenterNamespace string
}

// Input is what the --from paths hold.
type Input struct {
	// Snapshots are the snapshot files, in the order of their paths, and last the cluster of all raw dumps together.
	Snapshots []*snapshot.Snapshot
	// Runs are run files, still encoded.
	Runs []RunFile
}

// RunFile is a file of kind Run: the result of an earlier check. Package report decodes it.
type RunFile struct {
	Path string
	Data []byte
}

// Files reads every path: snapshot and run files stay what they are, all raw dumps together are one cluster, which
// is there whenever a raw dump was given, also one without nodes. Snapshots of equal name and content count once.
// Every error is an *InputError but for what a reader of stdin fails with.
func Files(paths []string, stdin io.Reader, o Options) (Input, error) {
	files, err := find(paths)
	if err != nil {
		return Input{}, err
	}
	var in Input
	d := newDump(o)
	raw := false
	err = files.each(stdin, func(s *source) error {
		switch kind, err := s.ownKind(); {
		case err != nil:
			return err
		case kind == snapshot.Kind:
			return in.addSnapshot(s, o)
		case kind == runKind:
			return in.addRun(s)
		}
		raw = true
		return d.readStream(s)
	})
	if err != nil {
		return Input{}, err
	}
	if raw {
		if files.others > 0 {
			d.ignored["file of another type"] += files.others
		}
		in.Snapshots = append(in.Snapshots, d.snapshot())
	}
	return in, in.complete(o)
}

// runKind is the kind of run files.
const runKind = "Run"

// readStream reads a raw dump, JSON or YAML.
func (d *dump) readStream(s *source) error {
	isJSON, err := s.isJSON()
	if err != nil {
		return err
	}
	if isJSON {
		return d.readJSON(s)
	}
	return d.readYAML(s)
}

// ownKind is the kind of a file that this program wrote, of any version; empty for every other file. They begin with
// apiVersion and kind; where another program has sorted the members, the rest of the file is looked through.
func (s *source) ownKind() (string, error) {
	head, _ := s.reader.Peek(512) // a shorter file is looked at as far as it goes
	dec := jsontext.NewDecoder(strings.NewReader(string(head)))
	if dec.PeekKind() != '{' {
		return "", nil
	}
	found := map[string]string{}
	if _, err := dec.ReadToken(); err != nil {
		return "", nil //nolint:nilerr // not JSON: whoever reads it says what is wrong
	}
	for len(found) < 2 {
		name, err := dec.ReadToken()
		if err != nil || name.Kind() != '"' {
			break
		}
		key := name.String()
		value, err := dec.ReadToken()
		if err != nil || value.Kind() != '"' {
			break
		}
		if key == "apiVersion" || key == "kind" {
			found[key] = value.String()
		}
	}
	if !strings.HasPrefix(found["apiVersion"], snapshotGroup) {
		return "", nil
	}
	switch kind := found["kind"]; kind {
	case snapshot.Kind, runKind:
		return kind, nil
	case "":
		return "", s.fail(fmt.Errorf("a file of %s must begin with apiVersion and kind", found["apiVersion"]))
	default:
		return "", s.fail(fmt.Errorf("kind %s of %s cannot be read here: give a %s or a %s", kind, found["apiVersion"], snapshot.Kind, runKind))
	}
}

func (in *Input) addSnapshot(s *source, o Options) error {
	read, err := snapshot.Decode(s)
	if err != nil {
		return s.fail(err)
	}
	if o.Cluster != "" {
		read.Cluster = o.Cluster
	}
	if err := selectNodes(read, o.Selector); err != nil {
		return s.fail(err)
	}
	in.Snapshots = append(in.Snapshots, read)
	return nil
}

func (in *Input) addRun(s *source) error {
	data, err := io.ReadAll(s)
	if err != nil {
		return s.fail(err)
	}
	in.Runs = append(in.Runs, RunFile{Path: s.name, Data: data})
	return nil
}

// selectNodes drops the nodes of a recorded snapshot that do not match. It refuses a selector that asks for a label
// which a snapshot does not keep: it would silently match nothing, or everything.
func selectNodes(s *snapshot.Snapshot, selector labels.Selector) error {
	if selector == nil || selector.Empty() {
		return nil
	}
	requirements, _ := selector.Requirements()
	filter := newLabelFilter(s.NodeOverlays, nil)
	for _, r := range requirements {
		if !keeps(r.Key()) && !filter.extra[r.Key()] {
			return fmt.Errorf("a snapshot does not keep the label %s, so --selector %s cannot be applied to it: record it with that selector, or give the raw dump", r.Key(), selector)
		}
	}
	s.Nodes = slices.DeleteFunc(s.Nodes, func(n snapshot.Node) bool { return !selector.Matches(selectable(n.Labels)) })
	return nil
}

// complete joins the nodes, adds the facts of their instance types and drops snapshots that were given twice.
func (in *Input) complete(o Options) error {
	facts, err := factsOf(o.InstanceTypes)
	if err != nil {
		return err
	}
	for _, s := range in.Snapshots {
		Join(s)
		facts.addTo(s)
	}
	in.dropRepeated()
	return nil
}

// dropRepeated keeps the first of the snapshots that have an equal name and content.
func (in *Input) dropRepeated() {
	clusters := map[string]int{}
	for _, s := range in.Snapshots {
		clusters[s.Cluster]++
	}
	seen := map[string]bool{}
	in.Snapshots = slices.DeleteFunc(in.Snapshots, func(s *snapshot.Snapshot) bool {
		if clusters[s.Cluster] == 1 {
			return false
		}
		key := s.Cluster + "\n" + s.Digest()
		if seen[key] {
			return true
		}
		seen[key] = true
		return false
	})
}

// typesOf is the facts of those types that the nodes have, in name order.
func typesOf(nodes []snapshot.Node, all []snapshot.InstanceType) []snapshot.InstanceType {
	wanted := map[string]bool{}
	for i := range nodes {
		wanted[nodes[i].InstanceType()] = true
	}
	var out []snapshot.InstanceType
	for i := range all {
		if wanted[all[i].Name] {
			out = append(out, all[i])
		}
	}
	return out
}
