package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// stage is where everything happens: a temporary folder with the programs, the inputs and what is written.
type stage struct {
	options
	ctx    context.Context
	folder string
	// row is the name of the row that is being measured.
	row string
	// files are the inputs that were made, by name.
	files map[string]string
}

// lackError is what a row that cannot be measured here fails with.
type lackError struct{ what string }

func (e *lackError) Error() string { return "not measured: " + e.what }

// room is what the largest row writes: a snapshot of 100,000 nodes, and their reports twice over, since a report is
// written beside the one that it replaces.
const room = 3 << 30

func newStage(ctx context.Context, o options) (*stage, error) {
	if _, err := os.Stat(filepath.Join(o.root, "go.mod")); err != nil {
		return nil, fmt.Errorf("run it in the top folder of the repository, as make benchmark does: %w", err)
	}
	folder, err := os.MkdirTemp("", "allocatable-diff-benchmark-")
	if err != nil {
		return nil, err
	}
	s := &stage{options: o, ctx: ctx, folder: folder, files: map[string]string{}}
	left, err := free(folder)
	if err == nil && left < room {
		err = fmt.Errorf("%s has %d MB left and the benchmark writes up to %d MB: point TMPDIR to a larger disk", folder, left/1e6, int64(room)/1e6)
	}
	if err != nil {
		return nil, errors.Join(err, s.clear())
	}
	return s, nil
}

func (s *stage) clear() error { return os.RemoveAll(s.folder) }

// at is the path of a file of the stage.
func (s *stage) at(name string) string { return filepath.Join(s.folder, name) }

// tell says on standard error what is being done.
func (s *stage) tell(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "benchmark: %s: %s\n", s.row, fmt.Sprintf(format, args...))
}

func (s *stage) tool() string { return s.at("allocatable-diff") }

// build makes the programs that nearly every row needs.
func (s *stage) build() error {
	s.row = "preparing"
	s.tell("building")
	return errors.Join(
		s.make("make", "--no-print-directory", "build", "BIN="+s.tool()),
		s.make("go", "build", "-o", s.at("supply"), "./suites/harness/benchmark/supply"),
	)
}

// make runs something whose usage does not matter, in the top folder of the repository.
func (s *stage) make(program string, args ...string) error {
	_, _, err := command{program: program, args: args}.run(s.ctx, false)
	return err
}

// clean is the environment of the tool: nothing of the person's who measures.
func (s *stage) clean(more ...string) []string {
	return append([]string{"HOME=" + s.folder, "TMPDIR=" + s.folder, "PATH=" + os.Getenv("PATH"), "AWS_EC2_METADATA_DISABLED=true"}, more...)
}

// building is an environment in which make and the go command find what was compiled before, and no option of the tool.
func (s *stage) building(more ...string) []string {
	out := []string{"TMPDIR=" + s.folder}
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if name == "PATH" || name == "HOME" || name == "XDG_CACHE_HOME" || strings.HasPrefix(name, "GO") {
			out = append(out, pair)
		}
	}
	return append(out, more...)
}

// instanceTypes is the file or folder that the nodes' types are drawn from.
func (s *stage) instanceTypes() string {
	if s.data == "" {
		return filepath.Join(s.root, "fixtures", "ec2")
	}
	return filepath.Join(s.data, catalogue)
}

// catalogue is the file of every instance type in the folder INSTANCE_TYPE_DATA.
const catalogue = "describe-instance-types.json.gz"

// supply is the program that prints a cluster.
func (s *stage) supply(what string, nodes, types int) command {
	return command{program: s.at("supply"), args: []string{
		"-instance-types", s.instanceTypes(), "-seed", strconv.FormatUint(s.seed, 10), "-nodes", strconv.Itoa(nodes), "-types", strconv.Itoa(types), what,
	}}
}

// dump is a file of what kubectl get nodes prints.
func (s *stage) dump(nodes, types int) (string, error) {
	name := fmt.Sprintf("nodes-%d-%d.json", nodes, types)
	if path, ok := s.files[name]; ok {
		return path, nil
	}
	s.tell("generating %d nodes", nodes)
	f, err := os.Create(s.at(name))
	if err != nil {
		return "", err
	}
	var complaints tail
	c := s.supply("nodes", nodes, types)
	p := exec.CommandContext(s.ctx, c.program, c.args...)
	p.Stdout, p.Stderr = f, &complaints
	if err := errors.Join(p.Run(), f.Close()); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", c, err, complaints.text)
	}
	s.files[name] = f.Name()
	return f.Name(), nil
}

// snapshot is a snapshot of a whole cluster. The dump that it is recorded from is never a file: it has 15 KB a node.
func (s *stage) snapshot(nodes int) (string, error) {
	name := fmt.Sprintf("snapshot-%d.json", nodes)
	if path, ok := s.files[name]; ok {
		return path, nil
	}
	s.tell("recording a snapshot of %d nodes", nodes)
	var complaints tail
	from := s.supply("cluster", nodes, usualTypes)
	p := exec.CommandContext(s.ctx, from.program, from.args...)
	p.Stderr = &complaints
	pipe, err := p.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := p.Start(); err != nil {
		return "", err
	}
	_, _, recorded := command{
		program: s.tool(), env: s.clean(), stdin: pipe,
		args: []string{"snapshot", "--cluster-name", "benchmark", "--from", "-", "--instance-types", s.instanceTypes(), "-o", s.at(name)},
	}.run(s.ctx, false)
	if err := errors.Join(recorded, p.Wait()); err != nil {
		return "", fmt.Errorf("recording a snapshot: %w\n%s", err, complaints.text)
	}
	s.files[name] = s.at(name)
	return s.at(name), nil
}

// inTurn runs each side once, then each again, so that what else the machine does falls on all of them.
func (s *stage) inTurn(pairs int, sides ...command) ([][]usage, error) {
	out := make([][]usage, len(sides))
	for i := range pairs {
		s.tell("%d of %d", i+1, pairs)
		for j, side := range sides {
			u, _, err := side.run(s.ctx, false)
			if err != nil {
				return nil, err
			}
			out[j] = append(out[j], u)
		}
	}
	return out, nil
}

// about is what a reader must know to compare two tables.
func (s *stage) about() []string {
	types := "fixtures/ec2, since INSTANCE_TYPE_DATA is not set"
	if s.data != "" {
		types = "INSTANCE_TYPE_DATA"
	}
	lines := []string{
		fmt.Sprintf("%s, sides in turn; seed %d, at most %d instance types of %s", plural(s.pairs, "pair"), s.seed, usualTypes, types),
		fmt.Sprintf("%s/%s, %d processors, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version()),
	}
	if data, err := os.ReadFile("/proc/loadavg"); err == nil {
		if load, _, ok := bytes.Cut(data, []byte(" ")); ok {
			lines[1] += fmt.Sprintf(", load %s at the start", load)
		}
	}
	return lines
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
