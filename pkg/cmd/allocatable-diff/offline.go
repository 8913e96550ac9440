package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/allocatable-diff/allocatable-diff/pkg/cmd/allocatable-diff/build"
	"github.com/allocatable-diff/allocatable-diff/pkg/options"
)

// offlineCommand serves a recorded cluster to any client. That is done by a program of its own, which this one becomes:
// what starts the servers would make every other command twice as large.
func (p *program) offlineCommand() *cobra.Command {
	var world options.Offline
	c := p.command(&cobra.Command{
		Use:   "offline --from DIR",
		Short: "Serve an API server and a fake EC2 filled from DIR, until interrupted",
		Long: `offline starts a real kube-apiserver with etcd, fills it with the kubectl dumps in DIR, and a fake EC2 with the
describe-instance-types output there; prints a kubeconfig path and an endpoint; and serves both on loopback
until it is interrupted. "make envtest" provides the servers. It runs the program ` + offlineProgram + `,
from the folder of this one or PATH.`,
		Example: `  allocatable-diff offline --from fixtures/clusters/karpenter-demo --instance-types fixtures/ec2`,
		Args:    cobra.NoArgs,
	}, options.New(), func(context.Context, []string) error {
		if world.From == "" {
			return usage(errors.New("--from DIR is required"))
		}
		path, err := findOffline()
		if err != nil {
			return unfinished(err)
		}
		code, err := become(path, world.Args())
		p.code = code
		return unfinished(err)
	})
	world.Add(c.Flags())
	return c
}

// offlineProgram is the name of the program that serves.
const offlineProgram = "allocatable-diff-offline"

// findOffline finds the program that serves: beside this one, which is where both are built to and installed, or on PATH.
func findOffline() (string, error) {
	name := offlineProgram
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if self, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(self); err == nil {
			self = real
		}
		beside := filepath.Join(filepath.Dir(self), name)
		if path, err := exec.LookPath(beside); err == nil {
			return path, nil
		}
	}
	path, err := exec.LookPath(offlineProgram)
	if err != nil {
		return "", fmt.Errorf("the program %s is neither beside this one nor on PATH: in a clone, run make build; else go install %s@%s",
			offlineProgram, offlinePackage, build.Version())
	}
	return path, nil
}

const offlinePackage = "github.com/allocatable-diff/allocatable-diff/pkg/cmd/" + offlineProgram
