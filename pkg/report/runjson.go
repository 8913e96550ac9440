package report

import (
	"bufio"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
)

// RunSchema is the JSON schema (draft 2020-12) of run.json.
//
//go:embed schema/run.schema.json
var RunSchema []byte

// ErrNotRun is what ReadRun fails with on JSON that is another kind of file, or of another version.
var ErrNotRun = errors.New("not a run file that this version reads")

// writeJSON writes the run as JSON, one node to a line, so that a text diff of two runs names the nodes that differ.
// The nodes come last: a reader that wants the verdict can stop before them. Bytes that are no UTF-8, which a label of a
// broken dump can hold, are replaced.
func writeJSON(w io.Writer, run *gate.Run, _ Options) error {
	e := &encoder{w: bufio.NewWriterSize(w, 1<<16), options: json.JoinOptions(writeOptions, sharedRows())}
	e.text(`{"apiVersion":`)
	e.value(run.APIVersion)
	e.text(`,"kind":`)
	e.value(run.Kind)
	e.text(",\n\"result\":")
	e.value(run.Result)
	if run.Inconclusive != "" {
		e.text(`,"inconclusive":`)
		e.value(run.Inconclusive)
	}
	e.text(",\n\"totals\":")
	e.value(run.Totals)
	encodeList(e, "clusters", run.Clusters)
	encodeList(e, "findings", run.Findings)
	encodeList(e, "nodes", run.Nodes)
	e.text("\n}\n")
	if e.err != nil {
		return e.err
	}
	return e.w.Flush()
}

// encoder keeps the first error.
type encoder struct {
	w       *bufio.Writer
	options json.Options
	err     error
}

// mostRows bounds the rows that are remembered: those of a run that was read back are all different ones.
const mostRows = 1 << 14

// sharedRows writes a row that many nodes share as it was written before. The text is kept from the second time on: nine
// of ten rows are those of a single node, since no two machines have quite the same memory.
func sharedRows() json.Options {
	known := map[*gate.Row]jsontext.Value{}
	return json.WithMarshalers(json.MarshalToFunc(func(enc *jsontext.Encoder, r *gate.Row) error {
		text, met := known[r]
		switch {
		case text != nil:
			return enc.WriteValue(text)
		case !met:
			if len(known) < mostRows {
				known[r] = nil
			}
			return errors.ErrUnsupported // the row writes itself
		}
		text, err := json.Marshal(r, writeOptions)
		if err != nil {
			return err
		}
		known[r] = text
		return enc.WriteValue(text)
	}))
}

func (e *encoder) text(s string) {
	if e.err == nil {
		_, e.err = e.w.WriteString(s)
	}
}

func (e *encoder) value(v any) {
	if e.err == nil {
		e.err = json.MarshalWrite(e.w, v, e.options)
	}
}

var (
	writeOptions = jsontext.AllowInvalidUTF8(true)
	readOptions  = json.RejectUnknownMembers(true)
)

func encodeList[T any](e *encoder, name string, list []T) {
	if list == nil {
		return
	}
	e.text(",\n\"" + name + "\":[")
	for i := range list {
		if i > 0 {
			e.text(",")
		}
		e.text("\n")
		e.value(&list[i])
	}
	e.text("\n]")
}

// ReadRun reads a run file back, node by node. It fails on another kind of file or another version (ErrNotRun), on an
// unknown field, so that a typo or a newer file is noticed, and on figures that contradict each other.
func ReadRun(r io.Reader) (*gate.Run, error) {
	run := &gate.Run{}
	dec := jsontext.NewDecoder(r)
	if err := decodeRun(dec, run); err != nil {
		return nil, err
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		if err == nil {
			err = errors.New("there is more after the run: one file holds one run")
		}
		return nil, err
	}
	return run, nil
}

func decodeRun(dec *jsontext.Decoder, run *gate.Run) error {
	tok, err := dec.ReadToken()
	if err != nil {
		return whole(err)
	}
	if tok.Kind() != '{' {
		return fmt.Errorf("%w: it is no JSON object", ErrNotRun)
	}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return whole(err)
		}
		if err := decodeMember(dec, run, name.String()); err != nil {
			return whole(err)
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return whole(err)
	}
	return errors.Join(head("apiVersion", run.APIVersion, gate.APIVersion), head("kind", run.Kind, gate.Kind), checkWords(run))
}

// decodeMember reads the value of one member. The head is checked as soon as it is read: a file of another version
// must not fail on its first unknown field.
func decodeMember(dec *jsontext.Decoder, run *gate.Run, name string) error {
	switch name {
	case "apiVersion":
		if err := json.UnmarshalDecode(dec, &run.APIVersion); err != nil {
			return err
		}
		return head(name, run.APIVersion, gate.APIVersion)
	case "kind":
		if err := json.UnmarshalDecode(dec, &run.Kind); err != nil {
			return err
		}
		return head(name, run.Kind, gate.Kind)
	case "result":
		return json.UnmarshalDecode(dec, &run.Result)
	case "inconclusive":
		return json.UnmarshalDecode(dec, &run.Inconclusive)
	case "totals":
		return json.UnmarshalDecode(dec, &run.Totals, readOptions)
	case "clusters":
		return decodeList(dec, &run.Clusters)
	case "findings":
		return decodeList(dec, &run.Findings)
	case "nodes":
		return decodeList(dec, &run.Nodes)
	}
	return fmt.Errorf("unknown field %q: it is misspelt, or the file was written by a newer version", name)
}

func decodeList[T any](dec *jsontext.Decoder, to *[]T) error {
	tok, err := dec.ReadToken()
	if err != nil {
		return err
	}
	if tok.Kind() != '[' {
		return fmt.Errorf("%s: expected an array, found %s", dec.StackPointer(), tok.Kind())
	}
	*to = []T{}
	for dec.PeekKind() != ']' {
		var v T
		if err := json.UnmarshalDecode(dec, &v, readOptions); err != nil {
			return err
		}
		*to = append(*to, v)
	}
	_, err = dec.ReadToken()
	return err
}

func head(member, found, want string) error {
	switch found {
	case want:
		return nil
	case "":
		return fmt.Errorf("%w: it has no %s; expected %q", ErrNotRun, member, want)
	}
	return fmt.Errorf("%w: its %s is %q, expected %q", ErrNotRun, member, found, want)
}

// checkWords refuses a result, state or row that would be misread as a pass.
func checkWords(run *gate.Run) error {
	switch run.Result {
	case gate.Passed, gate.Failed, gate.Inconclusive:
	default:
		return fmt.Errorf("result %q is none of %q, %q, %q", run.Result, gate.Passed, gate.Failed, gate.Inconclusive)
	}
	for i := range run.Nodes {
		switch n := &run.Nodes[i]; n.State {
		case gate.Judged, gate.Unknown, gate.Skipped, gate.Foreign:
		default:
			return fmt.Errorf("node %q: state %q is none of %q, %q, %q, %q", n.Name, n.State, gate.Judged, gate.Unknown, gate.Skipped, gate.Foreign)
		}
		if slices.Contains(run.Nodes[i].Rows, nil) {
			return fmt.Errorf("node %q: one of its rows is null", run.Nodes[i].Name)
		}
	}
	return nil
}

// whole says of a file that ends early what happened to it.
func whole(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return fmt.Errorf("the file ends in the middle: was it copied whole? (%w)", err)
	}
	return err
}
