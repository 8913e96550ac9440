package main

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/allocatable-diff/allocatable-diff/suites/harness/benchmark/fleet"
)

const recorded = "../../../../fixtures/ec2"

// TestEC2: it serves until its input ends, and counts the calls.
func TestEC2(t *testing.T) {
	in, end := io.Pipe()
	answers, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- supply("ec2", recorded, fleet.Options{}, in, out) }()
	lines := bufio.NewScanner(answers)
	lines.Scan()
	url := lines.Text()
	for range 2 {
		r, err := http.Post(url, "application/x-www-form-urlencoded", strings.NewReader("Action=DescribeInstanceTypes&Version=2016-11-15"))
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
	}
	end.Close()
	lines.Scan()
	if err := <-ended; err != nil || lines.Text() != "2" {
		t.Errorf("%q calls, %v, want 2", lines.Text(), err)
	}
}

func TestClusters(t *testing.T) {
	for _, row := range []struct{ what, has string }{
		{"nodes", `"kind": "Node"`},
		{"cluster", `"kind": "EC2NodeClass"`},
	} {
		var out bytes.Buffer
		if err := supply(row.what, recorded, fleet.Options{Nodes: 3}, nil, &out); err != nil || !strings.Contains(out.String(), row.has) {
			t.Errorf("%s: %v, want %s in\n%.300s", row.what, err, row.has, out.String())
		}
	}
	for _, row := range []struct{ what, path, why string }{
		{"pods", recorded, "it supplies no pods"},
		{"nodes", "nowhere", "there are no instance types"},
		{"ec2", "nowhere", "EC2 would know no type"},
	} {
		if err := supply(row.what, row.path, fleet.Options{Nodes: 3}, strings.NewReader(""), io.Discard); err == nil {
			t.Errorf("%s of %s passed: %s", row.what, row.path, row.why)
		}
	}
}
