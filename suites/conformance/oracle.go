package conformance

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// Releases are the releases of Karpenter that oracles/ has a program of: each call shape of its code since v1.0, and one
// on either side of the changes of v1.9 (soft eviction) and v1.11 (network interfaces).
var Releases = []string{"v1.0.8", "v1.8.2", "v1.10.2", "v1.14.1"}

// Oracle is one release of Karpenter as a program.
type Oracle struct {
	Release string
	Program string
}

// BuildOracle compiles the program of a release, which takes minutes, and keeps it in the user's cache: as long as its
// sources, its module versions and the Go release stay the same, it is found there. dir is the folder oracles/.
func BuildOracle(ctx context.Context, dir, release string) (Oracle, error) {
	module := filepath.Join(dir, "karpenter-"+release)
	if _, err := os.Stat(filepath.Join(module, "go.mod")); err != nil {
		return Oracle{}, fmt.Errorf("no oracle of Karpenter %s: choose from %s", release, strings.Join(Releases, ", "))
	}
	key, err := sourceKey(filepath.Join(dir, "oracle"), filepath.Join(dir, "resolver"), module)
	if err != nil {
		return Oracle{}, fmt.Errorf("reading the sources of the oracle of %s: %w", release, err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return Oracle{}, fmt.Errorf("finding a folder for the oracle of %s: %w", release, err)
	}
	folder := filepath.Join(cache, "allocatable-diff", "oracles", key)
	o := Oracle{Release: release, Program: filepath.Join(folder, "karpenter-"+release)}
	if _, err := os.Stat(o.Program); err == nil {
		return o, nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return Oracle{}, err
	}
	unfinished := o.Program + ".building." + strconv.Itoa(os.Getpid())
	build := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", unfinished, ".")
	build.Dir = module
	build.Env = append(build.Environ(), "GOWORK=off")
	if output, err := build.CombinedOutput(); err != nil {
		return Oracle{}, fmt.Errorf("building the oracle of %s in %s: %w\n%s", release, module, err, output)
	}
	return o, os.Rename(unfinished, o.Program)
}

// sourceKey names a build by what goes into it.
func sourceKey(folders ...string) (string, error) {
	sum := sha256.New()
	fmt.Fprintln(sum, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	for _, folder := range folders {
		entries, err := os.ReadDir(folder) // in name order
		if err != nil {
			return "", err
		}
		for _, entry := range entries {
			if entry.IsDir() {
				continue
			}
			content, err := os.ReadFile(filepath.Join(folder, entry.Name()))
			if err != nil {
				return "", err
			}
			fmt.Fprintln(sum, filepath.Base(folder), entry.Name(), len(content))
			sum.Write(content)
		}
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:12]), nil
}

// Ask puts the cases to the oracle and hands over each answer: cases in the order given, types of the files in name order.
func (o Oracle) Ask(ctx context.Context, instanceTypes []string, cases []Case, answer func(Answer) error) error {
	args := make([]string, 0, 2*len(instanceTypes))
	for _, file := range instanceTypes {
		args = append(args, "-instance-types", file)
	}
	var questions bytes.Buffer
	for _, c := range cases {
		questions.WriteString(c.String())
		questions.WriteByte('\n')
	}
	return o.run(ctx, args, &questions, func(fields []string) error {
		a, err := parseAnswer(fields)
		if err != nil {
			return err
		}
		return answer(a)
	})
}

// Limits is the table of VPC limits compiled into the release, by instance type: pod-eni and PrivateIPv4Address are read
// from it.
func (o Oracle) Limits(ctx context.Context) (map[string]snapshot.VPCLimits, error) {
	all := map[string]snapshot.VPCLimits{}
	err := o.run(ctx, []string{"-limits"}, strings.NewReader(""), func(fields []string) error {
		if len(fields) != 5 {
			return fmt.Errorf("want 5 fields, got %d", len(fields))
		}
		ipv4, err := strconv.ParseInt(fields[2], 10, 64)
		if err != nil {
			return err
		}
		branches, err := strconv.ParseInt(fields[4], 10, 64)
		if err != nil {
			return err
		}
		all[fields[0]] = snapshot.VPCLimits{IPv4PerENI: ipv4, Trunking: fields[3] == "true", BranchInterfaces: branches}
		return nil
	})
	return all, err
}

// run starts the program and hands over its lines, split at tabs.
func (o Oracle) run(ctx context.Context, args []string, in io.Reader, line func(fields []string) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var complaints bytes.Buffer
	program := exec.CommandContext(ctx, o.Program, args...)
	program.Stdin, program.Stderr = in, &complaints
	out, err := program.StdoutPipe()
	if err != nil {
		return err
	}
	if err := program.Start(); err != nil {
		return fmt.Errorf("starting the oracle of %s: %w", o.Release, err)
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(make([]byte, 1<<20), 1<<20)
	for lines.Scan() && err == nil {
		if err = line(strings.Split(lines.Text(), "\t")); err != nil {
			err = fmt.Errorf("line %.300q of the oracle of %s: %w", lines.Text(), o.Release, err)
			stop() // it would wait for ever for someone to read on
		}
	}
	err = errors.Join(err, lines.Err())
	if ended := program.Wait(); ended != nil && err == nil {
		err = fmt.Errorf("the oracle of %s: %w: %s", o.Release, ended, complaints.String())
	}
	return err
}
