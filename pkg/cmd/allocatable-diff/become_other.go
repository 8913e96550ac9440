//go:build !unix

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// become runs another program in the place of this one, and returns its exit code. The console gives Ctrl-C to both.
func become(path string, args []string) (code int, err error) {
	c := exec.Command(path, args...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = c.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	if err != nil {
		return 0, fmt.Errorf("starting %s: %w", path, err)
	}
	return 0, nil
}
