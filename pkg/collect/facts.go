package collect

import (
	"github.com/allocatable-diff/allocatable-diff/pkg/options"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// The words of --instance-types that are no path, and what a path is called in a snapshot.
const (
	typesAuto   = options.Auto
	typesEC2    = "ec2"
	typesLabels = "labels"
	typesFile   = "file"
)

// facts are where the facts of instance types come from.
type facts struct {
	source string
	// file is the types of a file; nil for the other sources.
	file []snapshot.InstanceType
}

// factsOf reads the source that --instance-types names. EC2 is asked by the caller.
func factsOf(source string) (facts, error) {
	switch source {
	case "":
		return facts{source: typesAuto}, nil
	case typesAuto, typesLabels, typesEC2:
		return facts{source: source}, nil
	}
	types, err := InstanceTypes(source)
	return facts{typesFile, types}, err
}

// addTo adds the facts of the types that the nodes of s have.
func (f facts) addTo(s *snapshot.Snapshot) {
	switch {
	case f.source == typesFile:
		s.InstanceTypes, s.InstanceTypesFrom = typesOf(s.Nodes, f.file), typesFile
	case f.source == typesLabels, f.source == typesAuto && len(s.InstanceTypes) == 0:
		s.InstanceTypes, s.InstanceTypesFrom = TypesFromLabels(s.Nodes), typesLabels
	}
	s.Sort()
}
