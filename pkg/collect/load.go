package collect

import (
	"context"
	"errors"
	"io"

	"github.com/allocatable-diff/allocatable-diff/pkg/options"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// Load reads what o names: the files of --from, or the live cluster without. progress is told what is being read. An
// *InputError is about something that a person gave; any other error is about an API.
func Load(ctx context.Context, stdin io.Reader, progress io.Writer, o *options.Options) (Input, error) {
	if len(o.From) == 0 {
		s, err := live(ctx, progress, o)
		if err != nil {
			return Input{}, err
		}
		return Input{Snapshots: []*snapshot.Snapshot{s}}, nil
	}
	selector, err := o.LabelSelector()
	if err != nil {
		return Input{}, err
	}
	in, err := Files(o.From, stdin, Options{Cluster: o.ClusterName, Selector: selector, InstanceTypes: o.InstanceTypes, KarpenterNamespace: o.KarpenterNamespace})
	if err != nil || o.InstanceTypes != typesEC2 {
		return in, err
	}
	for _, s := range in.Snapshots {
		if err := completeFromEC2(ctx, progress, o, s); err != nil {
			return in, err
		}
	}
	return in, nil
}

// AllInstanceTypes returns the facts of every type that the source of --instance-types knows, in name order.
func AllInstanceTypes(ctx context.Context, progress io.Writer, o *options.Options) ([]snapshot.InstanceType, error) {
	switch o.InstanceTypes {
	case typesAuto, typesEC2:
		return allFromEC2(ctx, progress, o)
	case typesLabels:
		return nil, &InputError{File: "--instance-types labels", Err: errors.New("labels are on nodes: give a dump with --from, or a describe-instance-types file")}
	}
	return InstanceTypes(o.InstanceTypes)
}
