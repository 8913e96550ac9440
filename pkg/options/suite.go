package options

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
)

// Suite is what an end-to-end suite was asked for: the options of the command line, from the environment alone.
type Suite struct {
	Options
	// Reports (REPORTS) is the folder for the reports, absolute; empty writes none.
	Reports string
	// ShardIndex and ShardTotal (SHARD_INDEX, or JOB_COMPLETION_INDEX of an Indexed Job, and SHARD_TOTAL) split a very
	// large run: this process judges every ShardTotal-th node. ShardTotal is 1 without.
	ShardIndex, ShardTotal int
}

// ReadSuite reads the environment of a suite. Every problem is reported at once.
func ReadSuite(lookup Lookup) (*Suite, error) {
	s := &Suite{Options: *New(), ShardTotal: 1}
	s.ReadEnvironment(lookup, nil)
	get := func(name string) string { v, _ := lookup(name); return v }
	s.Policy, s.Allowlist, s.Baseline = get("POLICY"), get("ALLOWLIST"), get("BASELINE")
	problems := []error{s.Check()}
	if dir := get("REPORTS"); dir != "" {
		// Under go test the working directory is the suite's own: a relative path would land there.
		abs, err := filepath.Abs(dir)
		problems = append(problems, err)
		s.Reports = abs
	}
	problems = append(problems, s.readShard(get))
	return s, errors.Join(problems...)
}

func (s *Suite) readShard(get func(string) string) error {
	total, index := get("SHARD_TOTAL"), cmp.Or(get("SHARD_INDEX"), get("JOB_COMPLETION_INDEX"))
	if total == "" {
		return nil
	}
	var err error
	if s.ShardTotal, err = strconv.Atoi(total); err != nil || s.ShardTotal < 1 {
		return fmt.Errorf("SHARD_TOTAL %q: it is a count of at least 1", total)
	}
	if s.ShardIndex, err = strconv.Atoi(index); err != nil || s.ShardIndex < 0 || s.ShardIndex >= s.ShardTotal {
		return fmt.Errorf("SHARD_INDEX %q: it is a number from 0 to SHARD_TOTAL − 1 = %d", index, s.ShardTotal-1)
	}
	return nil
}
