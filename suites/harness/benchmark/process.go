package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// command is one process that is measured.
type command struct {
	program string
	args    []string
	// env is its whole environment; nil for this process's.
	env []string
	// stdin is what it reads; nil for nothing.
	stdin io.Reader
	// codes are the exit codes that it may end with besides 0: a check that finds something has done its work.
	codes []int
}

func (c command) String() string {
	return strings.Join(append([]string{filepath.Base(c.program)}, c.args...), " ")
}

// usage is what a process took.
type usage struct {
	wall, cpu time.Duration
	// peak is the most memory that it had resident, in bytes.
	peak int64
}

func seconds(u usage) float64 { return u.wall.Seconds() }
func peak(u usage) float64    { return float64(u.peak) }

// run runs it to its end and returns what it wrote to standard output where keep is set.
func (c command) run(ctx context.Context, keep bool) (usage, string, error) {
	p := exec.CommandContext(ctx, c.program, c.args...)
	p.Env, p.Stdin = c.env, c.stdin
	// On Ctrl-C make and the go command end their children first.
	p.Cancel = func() error { return p.Process.Signal(syscall.SIGTERM) }
	p.WaitDelay = 10 * time.Second
	var complaints tail
	var out bytes.Buffer
	p.Stderr = &complaints
	if keep {
		p.Stdout = &out
	}
	start := time.Now()
	err := p.Run()
	u := usage{wall: time.Since(start)}
	if p.ProcessState == nil || (err != nil && !slices.Contains(c.codes, p.ProcessState.ExitCode())) {
		return u, "", fmt.Errorf("%s: %w\n%s", c, err, complaints.text)
	}
	u.cpu = p.ProcessState.UserTime() + p.ProcessState.SystemTime()
	u.peak = peakOf(p.ProcessState.SysUsage())
	return u, out.String(), nil
}

// peakOf is the most memory that a process that has ended had resident. The kernel keeps the larger of the program's and
// of this process's at the time when it started the program, see floor.
func peakOf(sysUsage any) int64 {
	u, ok := sysUsage.(*syscall.Rusage)
	if !ok {
		return 0
	}
	most := int64(u.Maxrss) //nolint:unconvert // 32 bits on some systems
	if runtime.GOOS == "darwin" {
		return most // in bytes there, in KiB elsewhere
	}
	return most << 10
}

// tail keeps the end of what a process complains of.
type tail struct{ text []byte }

const tailSize = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	if len(t.text) > 2*tailSize {
		t.text = append(t.text[:0], t.text[len(t.text)-tailSize:]...)
	}
	return len(p), nil
}

// free is the bytes that may still be written to a folder.
func free(folder string) (int64, error) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(folder, &fs); err != nil {
		return 0, fmt.Errorf("asking how much room there is in %s: %w", folder, err)
	}
	return int64(fs.Bavail) * int64(fs.Bsize), nil //nolint:unconvert // their types differ between systems
}
