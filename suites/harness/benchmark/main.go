package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// options are what was asked for.
type options struct {
	// pairs is how often both sides of a ratio are measured.
	pairs int
	seed  uint64
	// rows are those whose names match; nil for all.
	rows *regexp.Regexp
	// data is the folder INSTANCE_TYPE_DATA, absolute; empty where there is none.
	data string
	// root is the top folder of the repository, absolute.
	root string
}

func main() { os.Exit(run(os.Args[1:])) }

// run returns the exit code: 1 where a goal is missed or something fails.
func run(args []string) int {
	o, err := parse(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchmark:", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	reached, err := benchmark(ctx, o, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchmark:", err)
	}
	if err != nil || !reached {
		return 1
	}
	return 0
}

func parse(args []string) (options, error) {
	o := options{}
	f := flag.NewFlagSet("benchmark", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.IntVar(&o.pairs, "pairs", 5, "how often both sides of a ratio are measured")
	f.Uint64Var(&o.seed, "seed", 1, "chooses the nodes of the clusters")
	f.StringVar(&o.data, "instance-type-data", "", "folder with describe-instance-types.json.gz")
	rows := f.String("rows", "", "regular expression of the rows to measure")
	err := f.Parse(args)
	if err == nil && f.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	if err == nil && (o.pairs < 1) {
		err = errors.New("a ratio needs at least one pair")
	}
	if err == nil && *rows != "" {
		o.rows, err = regexp.Compile(*rows)
	}
	if err == nil && !slices.ContainsFunc(rowTable, o.wants) {
		err = fmt.Errorf("no row matches %q: there are %s", *rows, names())
	}
	if err != nil {
		return o, err
	}
	o.root, err = os.Getwd()
	return o, err
}

// wants reports whether the row was asked for.
func (o options) wants(r row) bool { return o.rows == nil || o.rows.MatchString(r.name) }

// names are those of all rows, for a person.
func names() string {
	all := make([]string, len(rowTable))
	for i, r := range rowTable {
		all[i] = r.name
	}
	return strings.Join(all, ", ")
}

// benchmark measures and prints every row, and reports whether each goal is reached.
func benchmark(ctx context.Context, o options, out io.Writer) (reached bool, err error) {
	s, err := newStage(ctx, o)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, s.clear()) }()
	if err := s.build(); err != nil {
		return false, err
	}
	t := table{out: out}
	t.head(s.about())
	for _, r := range rowTable {
		if !o.wants(r) {
			continue
		}
		s.row = r.name
		m, err := r.measure(s)
		var lacking *lackError
		switch {
		case errors.As(err, &lacking):
			m = measured{lacks: lacking.what}
		case ctx.Err() != nil:
			return false, errors.New("interrupted")
		case err != nil:
			m = measured{failed: err}
		}
		t.row(r, m)
	}
	return t.foot()
}
