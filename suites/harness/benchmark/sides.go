package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// oracleModule is the nested module that holds Karpenter's own code.
const oracleModule = "suites/conformance/oracles/karpenter-v1.14.1"

// expectation sets two Go benchmarks of the same name and loop against each other, each in a process of its own.
func expectation(s *stage) (measured, error) {
	if s.data == "" {
		return measured{}, &lackError{"INSTANCE_TYPE_DATA is not set: point it to a folder with " + catalogue}
	}
	s.tell("building Karpenter v1.14.1, minutes the first time")
	theirs, ours := s.at("karpenter.test"), s.at("expect.test")
	oracle := command{program: "go", args: []string{"test", "-C", filepath.Join(s.root, oracleModule), "-c", "-o", theirs, "."}, env: append(os.Environ(), "GOWORK=off")}
	if _, _, err := oracle.run(s.ctx, false); err != nil {
		return measured{}, &lackError{fmt.Sprintf("Karpenter v1.14.1 could not be built: %.300s", err)}
	}
	if err := s.make("go", "test", "-c", "-o", ours, "./suites/harness/benchmark"); err != nil {
		return measured{}, err
	}
	var perType [2][]float64
	types := [2]float64{}
	for i := range s.pairs {
		s.tell("%d of %d", i+1, s.pairs)
		for side, program := range []string{ours, theirs} {
			_, out, err := command{
				program: program, args: []string{"-test.run=^$", "-test.bench=^BenchmarkCatalogue$", "-test.benchtime=1s"},
				env: s.clean("INSTANCE_TYPE_DATA=" + s.data),
			}.run(s.ctx, true)
			if err != nil {
				return measured{}, err
			}
			v, err := metric(out, "ns/type")
			if err != nil {
				return measured{}, fmt.Errorf("%s: %w", filepath.Base(program), err)
			}
			perType[side] = append(perType[side], v)
			if types[side], err = metric(out, "types"); err != nil {
				return measured{}, fmt.Errorf("%s: %w", filepath.Base(program), err)
			}
		}
	}
	if types[0] != types[1] {
		return measured{}, fmt.Errorf("pkg/expect was asked about %v types and Karpenter about %v", types[0], types[1])
	}
	faster := make([]float64, s.pairs)
	for i := range faster {
		faster[i] = perType[1][i] / perType[0][i]
	}
	return measured{
		figures: []figure{{"times faster", faster, atLeast(20), times}},
		notes:   []string{fmt.Sprintf("%v types; pkg/expect %.0f ns each, Karpenter %.0f ns", types[0], median(perType[0]), median(perType[1]))},
	}, nil
}

// metric finds the figure before a unit in what go test -bench printed.
func metric(out, unit string) (float64, error) {
	fields := strings.Fields(out)
	for i, f := range fields {
		if i > 0 && f == unit {
			return strconv.ParseFloat(fields[i-1], 64)
		}
	}
	return 0, fmt.Errorf("no %s in what it printed:\n%s", unit, out)
}

// containerSize is that of the suite under test.
const containerSize = 250

// suite sets make e2e-diff of a compiled suite against empty specs under the same command of Ginkgo's. It has Ginkgo's
// JUnit file written too, but not by that command, which reads what the suite wrote and writes it again.
func suite(s *stage) (measured, error) {
	file, err := s.snapshot(snapshotNodes)
	if err != nil {
		return measured{}, err
	}
	s.tell("compiling the suites")
	compiled, emptySuite := s.at("allocatable.test"), s.at("empty.test")
	if err := errors.Join(
		s.make("go", "test", "-c", "-o", compiled, "./suites/allocatable"),
		s.make("go", "test", "-c", "-o", emptySuite, "./suites/harness/benchmark/emptyspecs"),
	); err != nil {
		return measured{}, err
	}
	ours := command{
		program: "make", env: s.building(), codes: []int{makeFailed},
		args: []string{"--no-print-directory", "e2e-diff", "CLUSTER_NAME=benchmark", "SOURCE=" + file, "E2E=" + compiled, "JUNIT=" + s.at("junit"), "REPORTS=" + s.at("e2e")},
	}
	runs, err := s.inTurn(s.pairs, ours, s.emptySpecs(emptySuite, containerSize), s.emptySpecs(emptySuite, 0))
	if err != nil {
		return measured{}, err
	}
	// make fails alike when a spec does and when the suite could not even begin.
	if _, err := os.Stat(s.at("e2e/run.json")); err != nil {
		return measured{}, fmt.Errorf("the suite wrote no report: %w", err)
	}
	return measured{
		figures: []figure{
			{"wall, of containers'", ratios(runs[0], runs[1], seconds), atMost(1.5), times},
			{"times faster than flat", ratios(runs[2], runs[0], seconds), atLeast(3), times},
		},
		notes: []string{side("make e2e-diff", runs[0]), side("containers", runs[1]), side("flat", runs[2])},
	}, nil
}

// emptySpecs runs specs that do nothing, so many in a container, or flat for 0, as anybody runs specs for a JUnit file.
func (s *stage) emptySpecs(suite string, container int) command {
	return command{
		program: "go", env: s.building("EMPTY_SPECS="+strconv.Itoa(snapshotNodes), "EMPTY_CONTAINER="+strconv.Itoa(container)),
		args: []string{
			"tool", "ginkgo", "run", "--randomize-all", "--keep-going", "--timeout=60m", "--procs=1", "--fail-on-empty",
			"--output-dir=" + s.at("junit"), "--junit-report=empty.xml", suite,
		},
	}
}

// makeFailed is what make ends with when a spec fails: some nodes of the cluster have less than Karpenter expects.
const makeFailed = 2

// ec2 is a process that serves EC2.
type ec2 struct {
	url     string
	process *exec.Cmd
	stdin   io.WriteCloser
	out     *bufio.Reader
}

func (s *stage) startEC2() (*ec2, error) {
	c := s.supply("ec2", 0, 0)
	e := &ec2{process: exec.CommandContext(s.ctx, c.program, c.args...)}
	stdin, err := e.process.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := e.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := e.process.Start(); err != nil {
		return nil, err
	}
	e.stdin, e.out = stdin, bufio.NewReader(out)
	url, err := e.out.ReadString('\n')
	e.url = strings.TrimSpace(url)
	return e, err
}

// stop ends it and returns how often instance types were asked for.
func (e *ec2) stop() (int, error) {
	if err := e.stdin.Close(); err != nil {
		return 0, err
	}
	text, read := e.out.ReadString('\n')
	if err := errors.Join(read, e.process.Wait()); err != nil {
		return 0, fmt.Errorf("the server of EC2: %w", err)
	}
	return strconv.Atoi(strings.TrimSpace(text))
}
