package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// row is one promise, or some about the same thing.
type row struct {
	// name is what -rows chooses it by.
	name, title string
	measure     func(*stage) (measured, error)
}

// rowTable is all of them, in the order in which they are measured.
var rowTable = []row{
	{"dump", "check of 20,000 nodes as kubectl prints them, with csv, csv-wide, junit and json, against jq '.items|length'", dump},
	{"snapshot", "check of a snapshot of 100,000 nodes, with the same outputs", largeSnapshot},
	{"expect", "expectation of every instance type for one NodeClass, against Karpenter v1.14.1's own code", expectation},
	{"e2e", "make e2e-diff of 100,000 nodes, against as many empty specs on plain Ginkgo: in containers of 250, and flat", suite},
	{"recommend", "recommend, against one check of the same snapshot of 100,000 nodes", recommendation},
	{"small", "what is started often, the demo, and the size of the binary", small},
	{"ec2", "EC2 calls for a cluster of 60 instance types", calls},
}

const (
	dumpNodes     = 20_000
	snapshotNodes = 100_000
	fewerNodes    = 10_000
	// usualTypes is how many instance types a large cluster has nodes of: NodePools allow hundreds, and the cheapest few
	// dozen of them are launched.
	usualTypes = 100
)

// codes are those of a check that has judged: nothing found, findings.
var codes = []int{1}

// check judges a file with the outputs of the first row.
func (s *stage) check(from string, outputs bool) command {
	args := []string{"check", "--cluster-name", "benchmark", "--from", from}
	if outputs {
		for _, o := range []string{"csv=allocatable-diff.csv", "csv-wide=nodes.csv", "junit=junit.xml", "json=run.json"} {
			format, file, _ := strings.Cut(o, "=")
			args = append(args, "--output", format+"="+s.at(file))
		}
	}
	return command{program: s.tool(), args: args, env: s.clean(), codes: codes}
}

func dump(s *stage) (measured, error) {
	jq, err := exec.LookPath("jq")
	if err != nil {
		return measured{}, &lackError{"jq is not installed here"}
	}
	file, err := s.dump(dumpNodes, usualTypes)
	if err != nil {
		return measured{}, err
	}
	info, err := os.Stat(file)
	if err != nil {
		return measured{}, err
	}
	floor, err := s.floor()
	if err != nil {
		return measured{}, err
	}
	runs, err := s.inTurn(s.pairs, s.check(file, true), command{program: jq, args: []string{".items|length", file}, env: s.clean()})
	if err != nil {
		return measured{}, err
	}
	return measured{
		figures: []figure{
			{"wall, of jq's", ratios(runs[0], runs[1], seconds), atMost(0.35), times},
			{"peak memory, of jq's", ratios(runs[0], runs[1], peak), atMost(0.1), times},
		},
		notes: []string{
			side("check", runs[0]), side("jq", runs[1]),
			fmt.Sprintf("the file: %s; a program that does nothing: peak %s", megabytes(float64(info.Size())), megabytes(float64(floor))),
		},
	}, nil
}

// floor is the least that can be measured of memory: that of a process that does nothing, to which the kernel counts what
// this program had when it started it.
func (s *stage) floor() (int64, error) {
	u, _, err := command{program: "true", env: s.clean()}.run(s.ctx, false)
	return u.peak, err
}

func largeSnapshot(s *stage) (measured, error) {
	large, err := s.snapshot(snapshotNodes)
	if err != nil {
		return measured{}, err
	}
	tenth, err := s.snapshot(fewerNodes)
	if err != nil {
		return measured{}, err
	}
	runs, err := s.inTurn(s.pairs, s.check(large, true), s.check(tenth, true))
	if err != nil {
		return measured{}, err
	}
	return measured{
		figures: []figure{
			{"peak memory", each(runs[0], peak), atMost(400e6), megabytes},
			{"wall, of 10,000 nodes'", ratios(runs[0], runs[1], seconds), atMost(11), times},
		},
		notes: []string{side("100,000 nodes", runs[0]), side("10,000 nodes", runs[1])},
	}, nil
}

func recommendation(s *stage) (measured, error) {
	file, err := s.snapshot(snapshotNodes)
	if err != nil {
		return measured{}, err
	}
	recommend := command{program: s.tool(), args: []string{"recommend", "--from", file}, env: s.clean()}
	runs, err := s.inTurn(s.pairs, recommend, s.check(file, false))
	if err != nil {
		return measured{}, err
	}
	return measured{
		figures: []figure{{"wall, of check's", ratios(runs[0], runs[1], seconds), atMost(2), times}},
		notes:   []string{side("recommend", runs[0]), side("check", runs[1])},
	}, nil
}

// oftenMore is how many times more a command is run that takes milliseconds.
const oftenMore = 4

func small(s *stage) (measured, error) {
	demo := command{
		program: "make", env: s.building(),
		args: []string{"--no-print-directory", "--old-file=build", "demo", "BIN=" + s.tool(), "REPORTS=" + s.at("demo")},
	}
	demos, err := s.inTurn(s.pairs, demo)
	if err != nil {
		return measured{}, err
	}
	versions, err := s.inTurn(s.pairs*oftenMore, command{program: s.tool(), args: []string{"version"}, env: s.clean()})
	if err != nil {
		return measured{}, err
	}
	info, err := os.Stat(s.tool())
	if err != nil {
		return measured{}, err
	}
	return measured{figures: []figure{
		{"make demo (built)", each(demos[0], seconds), atMost(2), duration},
		{"allocatable-diff version", each(versions[0], seconds), atMost(0.05), duration},
		{"the binary of make build", []float64{float64(info.Size())}, atMost(80e6), megabytes},
	}}, nil
}

const fewTypes = 60

// calls counts what a check asks of a server that speaks EC2's protocol.
func calls(s *stage) (measured, error) {
	file, err := s.dump(fewerNodes, fewTypes)
	if err != nil {
		return measured{}, err
	}
	ec2, err := s.startEC2()
	if err != nil {
		return measured{}, err
	}
	check := s.check(file, false)
	check.args = append(check.args, "--instance-types", "ec2", "--endpoint-url", ec2.url, "--no-cache")
	check.env = s.clean("AWS_REGION=us-west-2", "AWS_ACCESS_KEY_ID=AKIAOFFLINE", "AWS_SECRET_ACCESS_KEY=offline")
	_, _, err = check.run(s.ctx, false)
	n, stopped := ec2.stop()
	if err != nil {
		return measured{}, err
	}
	if stopped != nil {
		return measured{}, stopped
	}
	return measured{figures: []figure{{"DescribeInstanceTypes", []float64{float64(n)}, atMost(1), count}}}, nil
}
