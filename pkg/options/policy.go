package options

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
)

// Gate reads the files of --policy, --allowlist and --baseline into what the gate judges by. A baseline that is not there
// yet accepts nothing: --ratchet writes the first one. Every problem is reported at once.
func (o *Options) Gate() (gate.Options, error) {
	out := gate.Options{Policy: gate.DefaultPolicy()}
	var problems []error
	read := func(what, path string, parse func([]byte) error) {
		if path == "" {
			return
		}
		data, err := os.ReadFile(path)
		if err == nil {
			err = parse(data)
		}
		for _, problem := range joined(err) {
			problems = append(problems, fmt.Errorf("%s %s: %w", what, path, problem))
		}
	}
	read("policy", o.Policy, func(data []byte) (err error) { out.Policy, err = gate.ParsePolicy(data); return err })
	read("allowlist", o.Allowlist, func(data []byte) (err error) { out.Allowlist, err = gate.ParseAllowlist(data); return err })
	if _, err := os.Stat(o.Baseline); !errors.Is(err, fs.ErrNotExist) || !o.Ratchet {
		read("baseline", o.Baseline, func(data []byte) (err error) { out.Baseline, err = gate.ParseBaseline(data); return err })
	}
	overrides, err := o.Overrides()
	out.Overrides = overrides
	return out, errors.Join(append(problems, err)...)
}

// joined are the problems of an error, each of which a person reads as a line of its own; none of nil.
func joined(err error) []error {
	if err == nil {
		return nil
	}
	if all, ok := err.(interface{ Unwrap() []error }); ok { // a wrapped one has a text of its own
		return all.Unwrap()
	}
	return []error{err}
}
