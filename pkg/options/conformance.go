package options

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// Conformance is what suites/conformance was asked for.
type Conformance struct {
	// InstanceTypeData (INSTANCE_TYPE_DATA) is the folder with the whole EC2 catalogue and Karpenter's published tables;
	// empty where there is none.
	InstanceTypeData string
	// Oracles (CONFORMANCE_ORACLES) builds and asks Karpenter's own code, which takes minutes.
	Oracles bool
	// Seed (CONFORMANCE_SEED, 1) and Cases (CONFORMANCE_CASES, 200) choose the random NodeClasses of each release.
	Seed  uint64
	Cases int
	// Versions (CONFORMANCE_VERSIONS), separated by commas or spaces, are the releases to ask; empty for all.
	Versions []string
}

// ReadConformance reads the environment of the conformance suite. Every problem is reported at once.
func ReadConformance(lookup Lookup) (*Conformance, error) {
	c := &Conformance{Seed: 1, Cases: 200}
	get := func(name string) string { v, _ := lookup(name); return v }
	var problems []error
	if dir := get("INSTANCE_TYPE_DATA"); dir != "" {
		abs, err := filepath.Abs(dir)
		problems = append(problems, err)
		c.InstanceTypeData = abs
	}
	if text := get("CONFORMANCE_ORACLES"); text != "" {
		var err error
		if c.Oracles, err = strconv.ParseBool(text); err != nil {
			problems = append(problems, fmt.Errorf("CONFORMANCE_ORACLES %q: it is true or false", text))
		}
	}
	if text := get("CONFORMANCE_SEED"); text != "" {
		var err error
		if c.Seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			problems = append(problems, fmt.Errorf("CONFORMANCE_SEED %q: it is a whole number from 0", text))
		}
	}
	if text := get("CONFORMANCE_CASES"); text != "" {
		var err error
		if c.Cases, err = strconv.Atoi(text); err != nil || c.Cases < 1 {
			problems = append(problems, fmt.Errorf("CONFORMANCE_CASES %q: it is a count of at least 1", text))
		}
	}
	c.Versions = strings.FieldsFunc(get("CONFORMANCE_VERSIONS"), func(r rune) bool { return r == ',' || r == ' ' })
	return c, errors.Join(problems...)
}
