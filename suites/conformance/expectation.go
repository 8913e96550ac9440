package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/allocatable-diff/allocatable-diff/pkg/collect"
	"github.com/allocatable-diff/allocatable-diff/pkg/expect"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// Expectation asks pkg/expect: it is the Ours of the suite.
func Expectation(release string, c Case) func(*snapshot.InstanceType) Answer {
	model, err := newModel(release, c)
	if err != nil {
		return func(t *snapshot.InstanceType) Answer {
			return Answer{Case: c.ID, InstanceType: t.Name, Unknown: err.Error()}
		}
	}
	return func(t *snapshot.InstanceType) Answer {
		return answerOf(c.ID, t, model)
	}
}

func newModel(release string, c Case) (*expect.Model, error) {
	version, err := expect.ParseVersion(release)
	if err != nil {
		return nil, err
	}
	class, err := readNodeClass(c)
	if err != nil {
		return nil, err
	}
	settings := expect.Settings{Version: version, OverheadPercent: c.OverheadPercent, ReservedENIs: int64(c.ReservedENIs)}
	return expect.New(settings, expect.Class{NodeClass: class, Kubelet: class.Kubelet})
}

// readNodeClass takes the way of every dump, so that what collect makes of a NodeClass is compared as well.
func readNodeClass(c Case) (*snapshot.NodeClass, error) {
	dump, err := json.Marshal(c.NodeClass)
	if err != nil {
		return nil, err
	}
	in, err := collect.Files([]string{"-"}, bytes.NewReader(dump), collect.Options{InstanceTypes: "ec2"})
	if err != nil {
		return nil, err
	}
	if len(in.Snapshots) != 1 || len(in.Snapshots[0].NodeClasses) != 1 {
		return nil, fmt.Errorf("collect did not take %s for a NodeClass", dump)
	}
	return &in.Snapshots[0].NodeClasses[0], nil
}

// answerOf asks about one type. One resource that is not known makes the answer unknown: the oracles know all or panic.
func answerOf(id string, t *snapshot.InstanceType, model *expect.Model) Answer {
	a := Answer{Case: id, InstanceType: t.Name}
	e, err := model.Expect(t)
	if err != nil {
		a.Unknown = err.Error()
		return a
	}
	var amounts [fields]map[string]int64
	for f := range amounts {
		amounts[f] = make(map[string]int64, len(e.Resources))
	}
	for i := range e.Resources {
		r := &e.Resources[i]
		if r.Unknown != "" {
			a.Unknown = r.Name + ": " + r.Unknown
			return a
		}
		a.Resources = append(a.Resources, r.Name)
		amounts[Capacity][r.Name], amounts[Allocatable][r.Name] = r.Capacity.Value, r.Allocatable.Value
		for i, sum := range []expect.Sum{r.KubeReserved, r.SystemReserved, r.Eviction} {
			total, err := sum.Total()
			if err != nil {
				a.Unknown = r.Name + ": " + err.Error()
				return a
			}
			amounts[KubeReserved+Field(i)][r.Name] = total.Ceil()
		}
	}
	for f := range amounts {
		a.Amounts[f] = newAmounts(amounts[f])
	}
	return a
}
