// Command allocatable-diff-offline serves a recorded cluster to any client: a real kube-apiserver with etcd, and a fake
// EC2, until it is interrupted. It is what `allocatable-diff offline` runs.
//
// It is a program of its own because to start servers and to write objects takes clients that need as much memory as
// all the rest of allocatable-diff, of which every command would pay, and that do not exist on Windows.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"

	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
	"github.com/allocatable-diff/allocatable-diff/pkg/offline"
	"github.com/allocatable-diff/allocatable-diff/pkg/options"
)

func main() {
	klog.SetLogger(logr.Discard()) // what client-go logs is also in the errors that it returns
	// Whatever ends it, it takes its servers with it: a terminal that is closed too. Of a reader that is gone, the write says.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run serves until ctx ends and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	world, err := read(args)
	if errors.Is(err, pflag.ErrHelp) {
		fmt.Fprintln(stdout, "This is what \"allocatable-diff offline\" runs: see allocatable-diff offline --help")
		return gate.ExitOK
	}
	if err != nil {
		fmt.Fprintf(stderr, "error: %v\nsee allocatable-diff offline --help\n", err)
		return gate.ExitUsage
	}
	if err := serve(ctx, world, stdout, stderr); err != nil {
		fmt.Fprintf(stderr, "error: %v\n", err)
		return gate.ExitError
	}
	return gate.ExitOK
}

// read reads the command line.
func read(args []string) (offline.Options, error) {
	var o options.Offline
	flags := pflag.NewFlagSet("allocatable-diff-offline", pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	o.Add(flags)
	if err := flags.Parse(args); err != nil {
		return offline.Options{}, err
	}
	if flags.NArg() > 0 {
		return offline.Options{}, fmt.Errorf("unexpected argument %q: directories are given with --from and --instance-types", flags.Arg(0))
	}
	if o.From == "" {
		return offline.Options{}, errors.New("--from DIR is required")
	}
	var world offline.Options
	for _, tree := range []struct {
		path string
		into *fs.FS
	}{{o.From, &world.Cluster}, {o.InstanceTypes, &world.InstanceTypes}} {
		if tree.path == "" {
			continue
		}
		if info, err := os.Stat(tree.path); err != nil || !info.IsDir() {
			return offline.Options{}, fmt.Errorf("%s is not a directory that can be read", tree.path)
		}
		*tree.into = os.DirFS(tree.path)
	}
	return world, nil
}

func serve(ctx context.Context, world offline.Options, stdout, stderr io.Writer) (err error) {
	e, err := offline.Start(ctx, world)
	switch {
	case err != nil && ctx.Err() != nil:
		return errors.New("interrupted before the servers were up")
	case err != nil:
		return err
	}
	defer func() { err = errors.Join(err, e.Stop()) }()
	// In this form the lines can be given to a shell as they are. Any region and credentials do.
	if _, err := fmt.Fprintf(stdout, "export KUBECONFIG=%s\nexport AWS_ENDPOINT_URL=%s AWS_REGION=us-west-2 AWS_DEFAULT_REGION=us-west-2 AWS_ACCESS_KEY_ID=offline AWS_SECRET_ACCESS_KEY=offline\n", e.Kubeconfig(), e.EC2URL); err != nil {
		return err
	}
	fmt.Fprintln(stderr, "serving until interrupted (Ctrl-C)")
	<-ctx.Done()
	return nil
}
