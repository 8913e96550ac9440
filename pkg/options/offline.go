package options

import "github.com/spf13/pflag"

// Offline says what an offline world is filled from.
type Offline struct {
	// From is a directory of kubectl dumps.
	From string
	// InstanceTypes is a directory of describe-instance-types output, besides what is in From; empty for none.
	InstanceTypes string
}

// Add adds the flags of `allocatable-diff offline`.
func (o *Offline) Add(f *pflag.FlagSet) {
	f.StringVar(&o.From, "from", o.From, "directory of kubectl dumps")
	f.StringVar(&o.InstanceTypes, "instance-types", o.InstanceTypes, "directory of describe-instance-types output, besides what is in the other one")
}

// Args are the flags that say the same.
func (o *Offline) Args() []string {
	return []string{"--from", o.From, "--instance-types", o.InstanceTypes}
}
