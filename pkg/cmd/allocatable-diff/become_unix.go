//go:build unix

package main

import (
	"fmt"
	"syscall"

	"github.com/allocatable-diff/allocatable-diff/pkg/options"
)

// become replaces this process by another program, which then gets the signals itself. It only returns where that failed.
func become(path string, args []string) (code int, err error) {
	err = syscall.Exec(path, append([]string{path}, args...), options.Inherited()) //nolint:gosec // our own program
	return 0, fmt.Errorf("starting %s: %w", path, err)
}
