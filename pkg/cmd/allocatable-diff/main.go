// Command allocatable-diff compares what Karpenter expects of each node with what the node has.
//
// See the README for what it tells you; `allocatable-diff help` lists the commands.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
	"github.com/allocatable-diff/allocatable-diff/pkg/options"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

func main() {
	economize(options.Environment)
	klog.SetLogger(logr.Discard()) // what client-go logs is also in the errors that it returns
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	p := &program{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, lookup: options.Environment, name: filepath.Base(os.Args[0])}
	os.Exit(p.runUntil(ctx, stop, os.Args[1:]))
}

// grace is how long a command that was interrupted has to end by itself. Reading an API ends at once; what is pure, or
// waits for stdin, does not notice.
const grace = 250 * time.Millisecond

// runUntil is run, but ends soon after ctx does: no file is left half-written, and none appears afterwards. stop gives
// further signals their usual effect.
func (p *program) runUntil(ctx context.Context, stop func(), args []string) int {
	done := make(chan int, 1)
	go func() { done <- p.run(ctx, args) }()
	select {
	case code := <-done:
		return code
	case <-ctx.Done():
	}
	stop()
	snapshot.Abandon()
	select {
	case code := <-done:
		return code
	case <-time.After(grace):
	}
	fmt.Fprintf(p.stderr, "error: %v\n", errInterrupted)
	return gate.ExitError
}

var errInterrupted = errors.New("interrupted: a file that was not complete is as it was before")

// program is one invocation: its streams and environment, so that a test can run it in process.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	lookup         options.Lookup
	// name is how the binary was called: as a kubectl plugin it is "kubectl-allocatable_diff".
	name string
	// code is the exit code of a command that ended without an error.
	code int
	// stdinRead: stdin was read already, which can be done once.
	stdinRead bool
}

// progress is where a person sees what is being read: stderr, when it is a terminal.
func (p *program) progress(o *options.Options) io.Writer {
	if o.Quiet || !isTerminal(p.stderr) {
		return nil
	}
	return p.stderr
}

// run executes the command line and returns the exit code.
func (p *program) run(ctx context.Context, args []string) int {
	root := p.rootCommand()
	root.SetArgs(args)
	root.SetIn(p.stdin)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return p.code
	}
	code := gate.ExitUsage // what cobra itself refuses: an unknown command, flag or argument
	var failed *failure
	if errors.As(err, &failed) {
		code = failed.code
	}
	if ctx.Err() != nil {
		code, err = gate.ExitError, errInterrupted
	}
	fmt.Fprintf(p.stderr, "error: %v\n", err)
	if code == gate.ExitUsage && failed == nil {
		fmt.Fprintf(p.stderr, "see %s --help\n", root.CommandPath())
	}
	return code
}

// failure is an error that decides the exit code.
type failure struct {
	code int
	err  error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// usage marks an error as wrong usage, policy or input file (exit 2); nil stays nil.
func usage(err error) error { return failWith(gate.ExitUsage, err) }

// unfinished marks an error as something that could not be finished: an API, a permission, an output (exit 3).
func unfinished(err error) error { return failWith(gate.ExitError, err) }

func failWith(code int, err error) error {
	if err == nil {
		return nil
	}
	return &failure{code, err}
}

// command finishes a command: it reads the environment where no flag was given, and checks every option before run.
func (p *program) command(c *cobra.Command, o *options.Options, run func(ctx context.Context, args []string) error) *cobra.Command {
	c.SilenceUsage, c.SilenceErrors = true, true
	c.RunE = func(c *cobra.Command, args []string) error {
		o.ReadEnvironment(p.lookup, c.Flags())
		if err := o.Check(); err != nil {
			return usage(err)
		}
		return run(c.Context(), args)
	}
	return c
}
