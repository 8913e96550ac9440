package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/allocatable-diff/allocatable-diff/pkg/collect"
	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
	"github.com/allocatable-diff/allocatable-diff/pkg/options"
	"github.com/allocatable-diff/allocatable-diff/pkg/report"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// expectFlags are the flags of `expect` alone.
type expectFlags struct {
	nodeClass, discovered, format string
	explain                       bool
}

// expectCommand computes without a cluster.
func (p *program) expectCommand() *cobra.Command {
	o := options.New()
	flags := expectFlags{format: "table"}
	c := p.command(&cobra.Command{
		Use:   "expect [TYPE…]",
		Short: "Print what Karpenter would expect of instance types; no cluster needed",
		Example: `  allocatable-diff expect m5.large --instance-types types.json --karpenter-version v1.5.2 --reserved-enis 2
  allocatable-diff expect m5.large --node-class nodeclass.yaml --explain`,
	}, o, func(ctx context.Context, types []string) error {
		return p.expect(ctx, o, flags, types)
	})
	f := c.Flags()
	o.AddTypes(f)
	o.AddKarpenter(f)
	f.StringArrayVar(&o.From, "from", o.From, "snapshot or dump whose instance types, NodeClass and Karpenter settings are used; repeatable")
	f.StringVar(&flags.nodeClass, "node-class", "", "file with the EC2NodeClass, or AWSNodeTemplate and Provisioner (default: AL2023, no kubelet settings)")
	f.StringVar(&flags.discovered, "discovered-memory", "", "memory capacity that the controller discovered, such as 187596052Ki")
	f.StringVarP(&flags.format, "output", "o", flags.format, "table, json or csv")
	f.BoolVar(&flags.explain, "explain", false, "print each calculation, term by term")
	return c
}

func (p *program) expect(ctx context.Context, o *options.Options, flags expectFlags, names []string) error {
	write, err := report.FindExpectation(flags.format, flags.explain)
	if err != nil {
		return usage(err)
	}
	types, controller, err := p.expectTypes(ctx, o)
	if err != nil {
		return err
	}
	overrides, err := o.Overrides()
	if err != nil {
		return usage(err)
	}
	settings, err := expect.Resolve(controller, overrides)
	if err != nil {
		return usage(err)
	}
	if settings.Unsupported != "" {
		return usage(errors.New(settings.Unsupported))
	}
	p.noteRelease(settings.Version)
	class, err := nodeClass(flags.nodeClass, settings)
	if err != nil {
		return usage(err)
	}
	results, err := expectAll(choose(types, names), settings.Settings, class, flags.discovered)
	if err != nil {
		return usage(err)
	}
	return unfinished(write(p.stdout, settings, results))
}

// expectTypes finds the facts of every instance type at hand.
func (p *program) expectTypes(ctx context.Context, o *options.Options) ([]snapshot.InstanceType, snapshot.Controller, error) {
	if len(o.From) > 0 {
		in, err := p.read(ctx, o)
		if err != nil {
			return nil, snapshot.Controller{}, err
		}
		if len(in.Snapshots) != 1 {
			return nil, snapshot.Controller{}, usage(errors.New("expect reads one snapshot or dump"))
		}
		return in.Snapshots[0].InstanceTypes, in.Snapshots[0].Controller, nil
	}
	types, err := collect.AllInstanceTypes(ctx, p.progress(o), o)
	var broken *collect.InputError
	if errors.As(err, &broken) {
		return nil, snapshot.Controller{}, usage(err)
	}
	return types, snapshot.Controller{}, unfinished(err)
}

// choose returns the named types in name order; all of them without names. A name without facts stays, as a type that
// cannot be computed.
func choose(types []snapshot.InstanceType, names []string) []snapshot.InstanceType {
	if len(names) == 0 {
		return types
	}
	var out []snapshot.InstanceType
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		i := slices.IndexFunc(types, func(t snapshot.InstanceType) bool { return t.Name == name })
		if i < 0 {
			out = append(out, snapshot.InstanceType{Name: name})
			continue
		}
		out = append(out, types[i])
	}
	return out
}

// nodeClass reads the class of --node-class; without one AL2023 (AL2 before v0.35.0) with no settings.
func nodeClass(path string, settings expect.Resolved) (expect.Class, error) {
	if path == "" {
		return expect.Class{Family: expect.FamilyNamed("AL2023", settings.Version)}, nil
	}
	in, err := collect.Files([]string{path}, nil, collect.Options{})
	if err != nil {
		return expect.Class{}, err
	}
	if len(in.Snapshots) != 1 || len(in.Snapshots[0].NodeClasses) != 1 {
		return expect.Class{}, fmt.Errorf("%s: it must hold one EC2NodeClass, AWSNodeTemplate or Provisioner with an inline provider", path)
	}
	s := in.Snapshots[0]
	class := expect.Class{NodeClass: &s.NodeClasses[0], Kubelet: s.NodeClasses[0].Kubelet}
	switch {
	case len(s.NodePools) > 1:
		return expect.Class{}, fmt.Errorf("%s: it holds several NodePools or Provisioners, so whose kubelet settings count is not clear", path)
	case len(s.NodePools) == 1:
		pool := &s.NodePools[0]
		rules := expect.RulesOf(settings.Version)
		switch {
		case rules.CompatKubelet && pool.CompatKubelet != nil:
			class.Kubelet = pool.CompatKubelet
		case class.Kubelet == nil:
			class.Kubelet = pool.Kubelet
		}
	}
	return class, nil
}

// expectAll computes each type; one that cannot be computed is a result with the reason.
func expectAll(types []snapshot.InstanceType, settings expect.Settings, class expect.Class, discovered string) ([]report.Expected, error) {
	var memory int64
	if discovered != "" {
		var err error
		if memory, err = snapshot.ParseQuantity(expect.Memory, discovered); err != nil {
			return nil, fmt.Errorf("--discovered-memory: %w", err)
		}
		if !expect.RulesOf(settings.Version).DiscoveredMemory {
			return nil, fmt.Errorf("--discovered-memory: Karpenter v%s discovers no memory, v1.1.0 is the first that does", settings.Version)
		}
	}
	model, err := expect.New(settings, class)
	out := make([]report.Expected, 0, len(types))
	for i := range types {
		t := &types[i]
		result := report.Expected{InstanceType: t.Name}
		switch {
		case t.VCPUs == 0 && t.MemoryMiB == 0:
			result.Unknown = "no facts of this instance type: give a newer --instance-types file, or ec2"
		case err != nil:
			result.Unknown = err.Error()
		default:
			result.Expectation, result.Unknown = compute(model, t, memory)
		}
		out = append(out, result)
	}
	return out, nil
}

func compute(model *expect.Model, t *snapshot.InstanceType, discovered int64) (*expect.Expectation, string) {
	e, err := model.Expect(t)
	if discovered != 0 {
		e, err = model.ExpectDiscovered(t, discovered)
	}
	if err != nil {
		return nil, err.Error()
	}
	return e, ""
}
