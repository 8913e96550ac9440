package collect

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"sigs.k8s.io/yaml"
)

// readYAML reads the documents of a YAML stream. The items of a list as kubectl prints it are cut out and read one by
// one, so that a document is never in memory as a whole, however long its list is.
func (d *dump) readYAML(s *source) error {
	y := &yamlReader{dump: d, source: s}
	r := bufio.NewReader(s)
	for {
		text, err := r.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return s.fail(err)
		}
		if len(text) > 0 {
			y.line++
			if err := y.add(text); err != nil {
				return err
			}
		}
		if err != nil {
			break
		}
	}
	if err := y.endDocument(); err != nil {
		return err
	}
	if y.documents == 0 {
		return s.fail(errors.New("it has no YAML document: did the command that wrote it fail?"))
	}
	return nil
}

// yamlReader collects the lines of one document, or of one item of its list.
type yamlReader struct {
	dump   *dump
	source *source
	line   int // of the stream, the first is 1

	head     chunk // the document but for the items of its list
	item     chunk
	place    place
	indent   int    // of the items
	rest     []held // items that did not say what they are
	hasItems bool

	documents int
}

// chunk is YAML text and where it begins.
type chunk struct {
	text []byte
	line int
}

func (c *chunk) add(text []byte, line int) {
	if len(c.text) == 0 {
		c.line = line
	}
	c.text = append(c.text, text...)
}

// place is where in a document the reader is.
type place int

const (
	inHead     place = iota
	afterItems       // the line "items:" was read, and decides with the next one
	inItems
)

var itemsLine = pattern(`^items:\s*(#.*)?$`)

// add takes the next line. An item begins with a dash at the list's indent; a line that is less indented ends the
// list. That is sound for the block style that is looked for: a scalar that goes over several lines is always indented
// deeper than the key that it belongs to.
func (y *yamlReader) add(text []byte) error {
	trimmed := bytes.TrimRight(text, "\r\n")
	if isMarker(trimmed, "---") || isMarker(trimmed, "...") {
		if err := y.endDocument(); err != nil {
			return err
		}
		if text = text[3:]; len(bytes.TrimSpace(text)) > 0 {
			y.head.add(text, y.line)
		}
		return nil
	}
	content := bytes.TrimLeft(trimmed, " ")
	indent := len(trimmed) - len(content)
	blank := len(content) == 0 || content[0] == '#'
	dash := bytes.HasPrefix(content, []byte("- ")) || string(content) == "-"
	switch {
	case y.place == inHead && indent == 0 && itemsLine().Match(trimmed):
		y.place = afterItems
		return nil
	case y.place == afterItems && blank:
		return nil
	case y.place == afterItems && dash:
		y.place, y.indent, y.hasItems = inItems, indent, true
		y.item.add(text, y.line)
		return nil
	case y.place == afterItems:
		y.head.add([]byte("items:\n"), y.line-1)
		y.place = inHead
	case y.place == inItems && dash && indent == y.indent:
		if err := y.endItem(); err != nil {
			return err
		}
		y.item.add(text, y.line)
		return nil
	case y.place == inItems && (blank || indent > y.indent):
		y.item.add(text, y.line)
		return nil
	case y.place == inItems:
		if err := y.endItem(); err != nil {
			return err
		}
		y.place = inHead
	}
	y.head.add(text, y.line)
	return nil
}

func isMarker(line []byte, marker string) bool {
	return bytes.HasPrefix(line, []byte(marker)) && (len(line) == 3 || line[3] == ' ' || line[3] == '\t')
}

func (y *yamlReader) endItem() error {
	c := y.item
	y.item = chunk{text: c.text[:0]}
	return y.convert(c, func(dec *jsontext.Decoder, s *source) error {
		rest, err := y.dump.readItems(dec, s, header{})
		y.rest = append(y.rest, rest...)
		return err
	})
}

func (y *yamlReader) endDocument() error {
	if y.place == inItems {
		if err := y.endItem(); err != nil {
			return err
		}
	}
	c, rest, hasItems := y.head, y.rest, y.hasItems
	y.head, y.rest, y.hasItems, y.place = chunk{}, nil, false, inHead
	if len(bytes.TrimSpace(c.text)) == 0 && !hasItems {
		return nil
	}
	return y.convert(c, func(dec *jsontext.Decoder, s *source) error {
		if dec.PeekKind() == 'n' && !hasItems { // comments alone
			return nil
		}
		y.documents++
		var list held
		if dec.PeekKind() == '{' {
			h, err := y.dump.read(dec, s, header{})
			if h == nil || err != nil {
				return err
			}
			list = *h
		} else if !hasItems {
			return y.dump.readValue(dec, s)
		}
		if hasItems {
			list.list, list.items = true, rest
		}
		return y.dump.settle(list, header{}, s)
	})
}

// convert turns a chunk into JSON and hands it to read. An error names the line that the chunk begins with, unless it
// knows a better one.
func (y *yamlReader) convert(c chunk, read func(*jsontext.Decoder, *source) error) error {
	data, err := yaml.YAMLToJSONStrict(c.text)
	if err != nil {
		return y.broken(c, err)
	}
	s := &source{name: y.source.name, named: y.source.named, reader: bufio.NewReader(bytes.NewReader(data))}
	err = read(jsontext.NewDecoder(s), s)
	var in *InputError
	if errors.As(err, &in) {
		in.Line = c.line
	}
	return err
}

var (
	yamlErrorLine = pattern(`(?s)^.*?line (\d+): (.*)$`)
	// yamlParserError is an error for which the YAML library counts lines from 0; for all others it counts from 1.
	yamlParserError = pattern(`^did not find expected (<document start>|node content|'-' indicator|key|',' or)`)
)

// broken says where a chunk is no YAML: the parser counts from the chunk's own first line.
func (y *yamlReader) broken(c chunk, err error) error {
	line, text := c.line, err.Error()
	if m := yamlErrorLine().FindStringSubmatch(text); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			line, text = c.line+n-1, m[2]
			if yamlParserError().MatchString(text) {
				line++
			}
		}
	}
	return &InputError{File: y.source.name, Line: line, Err: errors.New("broken YAML: " + text)}
}
