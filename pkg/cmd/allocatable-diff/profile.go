package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"

	"github.com/spf13/pflag"
)

// profiles are the files that `go tool pprof` reads; empty for none. They are for whoever makes the program faster, so
// help does not list them.
type profiles struct{ cpu, memory string }

func (p *profiles) add(f *pflag.FlagSet) {
	f.StringVar(&p.cpu, "cpuprofile", "", "write a CPU profile of the run to this file")
	f.StringVar(&p.memory, "memprofile", "", "write a profile of all allocations to this file")
	for _, name := range []string{"cpuprofile", "memprofile"} {
		f.Lookup(name).Hidden = true
	}
}

// of profiles run.
func (p *profiles) of(run func() error) error {
	if p.cpu != "" {
		f, err := os.Create(p.cpu)
		if err != nil {
			return unfinished(fmt.Errorf("--cpuprofile: %w", err))
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return unfinished(fmt.Errorf("--cpuprofile: %w", err))
		}
		defer pprof.StopCPUProfile()
	}
	err := run()
	if p.memory != "" {
		err = errors.Join(err, unfinished(p.writeMemory()))
	}
	return err
}

func (p *profiles) writeMemory() error {
	f, err := os.Create(p.memory)
	if err != nil {
		return fmt.Errorf("--memprofile: %w", err)
	}
	runtime.GC() // what is live is only known after a collection
	return errors.Join(pprof.Lookup("allocs").WriteTo(f, 0), f.Close())
}
