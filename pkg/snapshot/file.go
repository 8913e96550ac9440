package snapshot

import (
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ErrNotSnapshot is what reading a file fails with that is JSON, but of another kind or version.
var ErrNotSnapshot = errors.New("not a snapshot that this version reads")

// Encode writes s as JSON in canonical order, one object per line: equal clusters give equal bytes, and a text diff of
// two snapshots names the nodes that differ. s is not changed.
func Encode(w io.Writer, s *Snapshot) error {
	s = s.canonical()
	e := &encoder{w: bufio.NewWriterSize(w, 1<<16)}
	e.text(`{"apiVersion":`)
	e.value(APIVersion)
	e.text(`,"kind":`)
	e.value(Kind)
	e.text(`,"cluster":`)
	e.value(s.Cluster)
	e.text(",\n\"controller\":")
	e.value(s.Controller)
	if s.InstanceTypesFrom != "" {
		e.text(",\n\"instanceTypesFrom\":")
		e.value(s.InstanceTypesFrom)
	}
	encodeList(e, "instanceTypes", s.InstanceTypes)
	encodeList(e, "nodeClasses", s.NodeClasses)
	encodeList(e, "nodePools", s.NodePools)
	encodeList(e, "nodeOverlays", s.NodeOverlays)
	encodeList(e, "nodeClaims", s.NodeClaims)
	encodeList(e, "nodes", s.Nodes)
	encodeList(e, "gaps", s.Gaps)
	e.text("\n}\n")
	if e.err != nil {
		return e.err
	}
	return e.w.Flush()
}

// encoder keeps the first error.
type encoder struct {
	w   *bufio.Writer
	err error
}

func (e *encoder) text(s string) {
	if e.err == nil {
		_, e.err = e.w.WriteString(s)
	}
}

func (e *encoder) value(v any) {
	if e.err == nil {
		e.err = json.MarshalWrite(e.w, v, writeOptions)
	}
}

func encodeList[T any](e *encoder, name string, list []T) {
	if len(list) == 0 {
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

// writeOptions replace invalid UTF-8, which a label of a broken dump can hold, rather than fail after the work is done.
var writeOptions = json.JoinOptions(jsontext.AllowInvalidUTF8(true))

// Decode reads what Encode wrote, node by node: beside the snapshot itself it needs little memory. It fails on an
// unknown apiVersion or kind, naming both sides, and on an unknown field, so that a typo or a newer file is noticed.
// The result is in canonical order.
func Decode(r io.Reader) (*Snapshot, error) {
	s := &Snapshot{}
	dec := jsontext.NewDecoder(r)
	if err := decodeSnapshot(dec, s); err != nil {
		return nil, err
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		if err == nil {
			err = errors.New("there is more after the snapshot: one file holds one snapshot")
		}
		return nil, ExplainJSON(err)
	}
	s.Sort()
	return s, nil
}

func decodeSnapshot(dec *jsontext.Decoder, s *Snapshot) error {
	tok, err := dec.ReadToken()
	if err != nil {
		return ExplainJSON(err)
	}
	if tok.Kind() != '{' {
		return fmt.Errorf("%w: it is no JSON object", ErrNotSnapshot)
	}
	cache := &Cache{}
	options := readOptions(cache)
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return ExplainJSON(err)
		}
		if err := s.decodeMember(dec, name.String(), options, cache); err != nil {
			return ExplainJSON(err)
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return ExplainJSON(err)
	}
	if err := s.check("apiVersion", s.APIVersion, APIVersion); err != nil {
		return err
	}
	return s.check("kind", s.Kind, Kind)
}

// decodeMember reads the value of one member. The head is checked as soon as it is read: a file of another version
// must not fail on its first unknown field.
func (s *Snapshot) decodeMember(dec *jsontext.Decoder, name string, options json.Options, cache *Cache) error {
	switch name {
	case "apiVersion":
		if err := json.UnmarshalDecode(dec, &s.APIVersion); err != nil {
			return err
		}
		return s.check(name, s.APIVersion, APIVersion)
	case "kind":
		if err := json.UnmarshalDecode(dec, &s.Kind); err != nil {
			return err
		}
		return s.check(name, s.Kind, Kind)
	case "cluster":
		return json.UnmarshalDecode(dec, &s.Cluster)
	case "controller":
		return json.UnmarshalDecode(dec, &s.Controller, options)
	case "instanceTypesFrom":
		return json.UnmarshalDecode(dec, &s.InstanceTypesFrom)
	case "instanceTypes":
		return json.UnmarshalDecode(dec, &s.InstanceTypes, options)
	case "nodeClasses":
		return json.UnmarshalDecode(dec, &s.NodeClasses, options)
	case "nodePools":
		return json.UnmarshalDecode(dec, &s.NodePools, options)
	case "nodeOverlays":
		return json.UnmarshalDecode(dec, &s.NodeOverlays, options)
	case "nodeClaims":
		return decodeList(dec, &s.NodeClaims, options, func(c *NodeClaim) { c.ShareTexts(cache) })
	case "nodes":
		return decodeList(dec, &s.Nodes, options, func(n *Node) { n.ShareTexts(cache) })
	case "gaps":
		return json.UnmarshalDecode(dec, &s.Gaps, options)
	}
	return fmt.Errorf("unknown field %q: it is misspelt, or the file was written by a newer version", name)
}

// decodeList reads an array, of which nobody knows how long it is, element by element.
func decodeList[T any](dec *jsontext.Decoder, to *[]T, options json.Options, share func(*T)) error {
	if dec.PeekKind() != '[' {
		return json.UnmarshalDecode(dec, to, options)
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	var all Pages[T]
	for dec.PeekKind() != ']' {
		v := all.Add()
		if err := json.UnmarshalDecode(dec, v, options); err != nil {
			return err
		}
		share(v)
	}
	*to = all.Take()
	_, err := dec.ReadToken()
	return err
}

// readOptions reject unknown fields and let equal lists share memory.
func readOptions(c *Cache) json.Options {
	return json.JoinOptions(json.RejectUnknownMembers(true), json.WithUnmarshalers(json.JoinUnmarshalers(
		json.UnmarshalFromFunc(c.DecodeLabels),
		json.UnmarshalFromFunc(c.DecodeResources),
	)))
}

func (s *Snapshot) check(member, found, want string) error {
	if found == want {
		return nil
	}
	if found == "" {
		return fmt.Errorf("%w: it has no %s; expected %q", ErrNotSnapshot, member, want)
	}
	return fmt.Errorf("%w: its %s is %q, expected %q", ErrNotSnapshot, member, found, want)
}

// Write writes s to path, whole or not at all (see WriteFile), and compressed when the name ends in .gz. The file is
// readable by its owner alone: a snapshot names nodes and instances.
func Write(path string, s *Snapshot) error {
	return WriteFile(path, 0o600, func(w io.Writer) error {
		if !strings.HasSuffix(path, ".gz") {
			return Encode(w, s)
		}
		z := gzip.NewWriter(w) // without name and time: equal snapshots give equal bytes
		if err := Encode(z, s); err != nil {
			return err
		}
		return z.Close()
	})
}

// Read reads a snapshot file, compressed or not. Errors name path.
func Read(path string) (*Snapshot, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading snapshot: %w", err)
	}
	defer f.Close()
	r, err := Decompress(f)
	if err != nil {
		return nil, fmt.Errorf("reading snapshot %s: %w", path, err)
	}
	s, err := Decode(r)
	if err != nil {
		return nil, fmt.Errorf("reading snapshot %s: %w", path, err)
	}
	return s, nil
}

// Decompress returns the content of r, which may be compressed with gzip: its first bytes tell.
func Decompress(r io.Reader) (*bufio.Reader, error) {
	b := bufio.NewReaderSize(r, 1<<16)
	magic, err := b.Peek(2)
	if err != nil || magic[0] != 0x1f || magic[1] != 0x8b {
		return b, nil //nolint:nilerr // too short to be gzip: whoever parses the content says what is wrong with it
	}
	z, err := gzip.NewReader(b)
	if err != nil {
		return nil, fmt.Errorf("it starts like gzip: %w", err)
	}
	return bufio.NewReaderSize(z, 1<<16), nil
}

// Digest identifies the content of s: the SHA-256 of what Encode writes, "sha256:" in front. The order of s does not
// matter.
func (s *Snapshot) Digest() string {
	h := sha256.New()
	if err := Encode(h, s); err != nil {
		// A hash takes every write, and all types encode: only a verbatim JSON value that is none can get here.
		return "unencodable: " + err.Error()
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}
