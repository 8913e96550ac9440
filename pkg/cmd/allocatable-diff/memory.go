package main

import (
	"runtime/debug"

	"github.com/allocatable-diff/allocatable-diff/pkg/options"
)

// garbagePercent is how much garbage there may be, in percent of what is in use, before it is collected. Collecting is
// done beside the reading, which one core does alone, so looking four times as often as Go does takes next to no time.
const garbagePercent = 25

// economize keeps the program small: it runs in the cluster that it judges, in a pod with a memory limit, or on a machine
// that has other things to do. A person who sets GOGC knows better.
func economize(lookup options.Lookup) {
	if _, set := lookup("GOGC"); !set {
		debug.SetGCPercent(garbagePercent)
	}
}

// giveBack returns to the system what is no longer needed, where that matters: the rest of the run may be much smaller.
func giveBack() { debug.FreeOSMemory() }
