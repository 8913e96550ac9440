package oracle

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Case is one line of standard input: a NodeClass and the two options of the controller that the prediction reads.
type Case struct {
	ID        string          `json:"id"`
	NodeClass json.RawMessage `json:"nodeClass"`
	// OverheadPercent is vmMemoryOverheadPercent: a fraction, 0.075 is 7.5 %.
	OverheadPercent float64 `json:"overheadPercent"`
	ReservedENIs    int     `json:"reservedENIs"`
}

// Prediction is what a release says of one instance type.
type Prediction struct {
	Capacity, Allocatable, KubeReserved, SystemReserved, EvictionThreshold corev1.ResourceList
}

// Limits is what the table of VPC limits compiled into a release says of one instance type. pod-eni and
// PrivateIPv4Address are read from it, not from EC2.
type Limits struct {
	Interfaces, IPv4PerInterface int
	TrunkingCompatible           bool
	BranchInterfaces             int
}

// NodeClass is a pointer to the EC2NodeClass of a release.
type NodeClass[T any] interface {
	*T
	DeepCopy() *T
}

// Program is one release: how its instance types are named, what it predicts, and its limits.
type Program[InstanceType, T any, N NodeClass[T]] struct {
	Name func(InstanceType) string
	// Predict may change the NodeClass that it is given: it gets a copy for every type.
	Predict func(Case, InstanceType, N) Prediction
	Limits  map[string]Limits
}

// Main runs the program on the command line, standard input and standard output, and exits 1 with a message on an error.
func (p Program[InstanceType, T, N]) Main() {
	if err := p.run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (p Program[InstanceType, T, N]) run(args []string, in io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("oracle", flag.ContinueOnError)
	var files []string
	flags.Func("instance-types", "a `file` in the shape of aws ec2 describe-instance-types, gzip or not; repeatable", func(path string) error {
		files = append(files, path)
		return nil
	})
	limits := flags.Bool("limits", false, "print the compiled-in VPC limits and stop")
	if err := flags.Parse(args); err != nil {
		return err
	}
	w := bufio.NewWriterSize(out, 1<<20)
	if *limits {
		p.writeLimits(w)
		return w.Flush()
	}
	var types []InstanceType
	for _, path := range files {
		read, err := readInstanceTypes[InstanceType](path)
		if err != nil {
			return fmt.Errorf("reading instance types of %s: %w", path, err)
		}
		types = append(types, read...)
	}
	if len(types) == 0 {
		return fmt.Errorf("no instance types: name at least one file with -instance-types")
	}
	slices.SortFunc(types, func(a, b InstanceType) int { return strings.Compare(p.Name(a), p.Name(b)) })
	if err := p.answer(types, in, w); err != nil {
		return err
	}
	return w.Flush()
}

func (p Program[InstanceType, T, N]) writeLimits(w *bufio.Writer) {
	names := make([]string, 0, len(p.Limits))
	for name := range p.Limits {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		l := p.Limits[name]
		fmt.Fprintf(w, "%s\t%d\t%d\t%t\t%d\n", name, l.Interfaces, l.IPv4PerInterface, l.TrunkingCompatible, l.BranchInterfaces)
	}
}

func readInstanceTypes[InstanceType any](path string) ([]InstanceType, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		unpacked, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		if data, err = io.ReadAll(unpacked); err != nil {
			return nil, err
		}
	}
	var page struct{ InstanceTypes []InstanceType }
	if err := json.Unmarshal(data, &page); err != nil {
		return nil, err
	}
	return page.InstanceTypes, nil
}

// answered is the rows of one case, or why it could not be read.
type answered struct {
	rows []byte
	err  error
}

// answer works on as many cases at a time as there are processors. The queue of pending answers keeps the order of the
// cases, and bounds how far the fast ones run ahead of the slowest.
func (p Program[InstanceType, T, N]) answer(types []InstanceType, in io.Reader, w io.Writer) error {
	pending := make(chan chan answered, runtime.GOMAXPROCS(0))
	go func() {
		defer close(pending)
		lines := bufio.NewScanner(in)
		lines.Buffer(nil, 1<<24)
		for lines.Scan() {
			line := bytes.Clone(lines.Bytes())
			result := make(chan answered, 1)
			pending <- result
			go func() {
				rows, err := p.rows(types, line)
				result <- answered{rows, err}
			}()
		}
		if err := lines.Err(); err != nil {
			failed := make(chan answered, 1)
			failed <- answered{err: fmt.Errorf("reading cases: %w", err)}
			pending <- failed
		}
	}()
	for result := range pending {
		a := <-result
		if a.err != nil {
			return a.err
		}
		if _, err := w.Write(a.rows); err != nil {
			return err
		}
	}
	return nil
}

func (p Program[InstanceType, T, N]) rows(types []InstanceType, line []byte) ([]byte, error) {
	var c Case
	if err := json.Unmarshal(line, &c); err != nil {
		return nil, fmt.Errorf("decoding case %.200s: %w", line, err)
	}
	nodeClass := new(T)
	if err := json.Unmarshal(c.NodeClass, nodeClass); err != nil {
		return nil, fmt.Errorf("decoding the NodeClass of case %s: %w", c.ID, err)
	}
	var b bytes.Buffer
	for _, it := range types {
		b.WriteString(c.ID)
		b.WriteByte('\t')
		b.WriteString(p.Name(it))
		prediction, panicked := p.predict(c, it, N(nodeClass).DeepCopy())
		if panicked != "" {
			b.WriteString("\tpanic\t")
			b.WriteString(strconv.Quote(panicked))
			b.WriteByte('\n')
			continue
		}
		b.WriteString("\tok")
		for _, list := range []corev1.ResourceList{
			prediction.Capacity, prediction.Allocatable, prediction.KubeReserved, prediction.SystemReserved, prediction.EvictionThreshold,
		} {
			b.WriteByte('\t')
			writeAmounts(&b, list)
		}
		b.WriteByte('\n')
	}
	return b.Bytes(), nil
}

// predict turns a panic of upstream's into an answer: a release that panics for one type still answers for the others.
func (p Program[InstanceType, T, N]) predict(c Case, it InstanceType, nodeClass N) (prediction Prediction, panicked string) {
	defer func() {
		if r := recover(); r != nil {
			panicked = fmt.Sprintf("panic: %v", r)
		}
	}()
	return p.Predict(c, it, nodeClass), ""
}
