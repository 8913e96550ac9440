// Command supply makes what the benchmark measures with: it is a program of its own, since what a process needs of
// memory is inherited by those that it starts, and a generator that knows EC2 and Kubernetes is not small.
//
//	supply -instance-types PATH [-nodes N] [-types N] [-seed N] nodes     prints what kubectl get nodes prints
//	supply -instance-types PATH [-nodes N] [-types N] [-seed N] cluster   prints every object of the cluster
//	supply -instance-types PATH ec2    serves EC2 and prints its address; at the end of its input it prints how often
//	                                   instance types were asked for, and ends
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/allocatable-diff/allocatable-diff/pkg/collect"
	"github.com/allocatable-diff/allocatable-diff/pkg/offline"
	"github.com/allocatable-diff/allocatable-diff/suites/harness/benchmark/fleet"
)

func main() {
	var o fleet.Options
	path := flag.String("instance-types", "", "file or folder of aws ec2 describe-instance-types output")
	flag.IntVar(&o.Nodes, "nodes", 1000, "nodes of the cluster")
	flag.IntVar(&o.Types, "types", 0, "most instance types of the cluster, 0 for all")
	flag.Uint64Var(&o.Seed, "seed", 1, "chooses the nodes")
	flag.Parse()
	if err := supply(flag.Arg(0), *path, o, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "supply:", err)
		os.Exit(1)
	}
}

func supply(what, path string, o fleet.Options, in io.Reader, out io.Writer) error {
	if what == "ec2" {
		return serve(path, in, out)
	}
	types, err := collect.InstanceTypes(path)
	if err != nil {
		return err
	}
	f, err := fleet.New(o, types)
	if err != nil {
		return err
	}
	switch what {
	case "nodes":
		return f.WriteNodes(out)
	case "cluster":
		return f.WriteCluster(out)
	}
	return fmt.Errorf("%q: it supplies nodes, cluster or ec2", what)
}

// serve serves EC2 until the input ends.
func serve(path string, in io.Reader, out io.Writer) error {
	files, err := filepath.Glob(filepath.Join(path, "*.json"))
	if err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		files = []string{path}
	}
	var documents [][]byte
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		documents = append(documents, data)
	}
	if len(documents) == 0 {
		return errors.New("no instance types at " + path)
	}
	ec2, err := offline.NewEC2(documents...)
	if err != nil {
		return err
	}
	server := httptest.NewServer(ec2)
	defer server.Close()
	if _, err := fmt.Fprintln(out, server.URL); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, in); err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, ec2.Calls("DescribeInstanceTypes"))
	return err
}
