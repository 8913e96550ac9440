package collect

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// InputError is a file that could not be read as what it should be. Whoever gave the path has to act, so a command
// ends with exit code 2 on it.
type InputError struct {
	// File is the path as given, or below the directory that was given; "stdin" for "-".
	File string
	// Line is the line of the file, 1 for the first; 0 when it is not known.
	Line int
	Err  error
}

func (e *InputError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("%s: line %d: %v", e.File, e.Line, e.Err)
	}
	return fmt.Sprintf("%s: %v", e.File, e.Err)
}

func (e *InputError) Unwrap() error { return e.Err }

// source is one stream of input, decompressed.
type source struct {
	name string
	// named: a person named this very file, so it has to be of use; a file met in a directory may be about something else.
	named bool
	// replaces: an object that comes twice replaces the earlier one, as the later answers of a live cluster do.
	replaces bool
	// next is where the next page of the list begins that was read; empty for the last one.
	next string
	// list is the kind of the list that was read; empty for none.
	list   string
	reader *bufio.Reader
	lines  int // newlines read so far
}

// Read counts the lines, so that an error can name the one it is in.
func (s *source) Read(p []byte) (int, error) {
	n, err := s.reader.Read(p)
	s.lines += bytes.Count(p[:n], newline)
	return n, err
}

var newline = []byte{'\n'}

// inputs are the files behind some paths, in a fixed order.
type inputs struct {
	files []string
	// named is set for the files that a person named, by position in files.
	named []bool
	// others counts the files of directories whose name says that they are neither JSON nor YAML.
	others int
}

// find lists the files behind paths: each file as given, and of a directory the tree of *.json, *.yaml, *.yml, also
// compressed, in the order of their names. Hidden folders are not entered: .git is no dump, and neither are the
// generations of a mounted ConfigMap, whose files are linked into the visible folder.
func find(paths []string) (inputs, error) {
	var in inputs
	for _, path := range paths {
		if path == stdinPath {
			if slices.Contains(in.files, stdinPath) {
				return in, &InputError{File: "stdin", Err: errors.New("\"-\" was given twice: it can be read once")}
			}
			in.add(path, true)
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			return in, &InputError{File: path, Err: cause(err)}
		}
		if !info.IsDir() {
			in.add(path, true)
			continue
		}
		if err := in.walk(path); err != nil {
			return in, err
		}
	}
	return in, nil
}

const stdinPath = "-"

func (in *inputs) add(path string, named bool) {
	in.files = append(in.files, path)
	in.named = append(in.named, named)
}

func (in *inputs) walk(root string) error {
	before := len(in.files)
	top := root
	if info, err := os.Lstat(root); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		top = root + string(filepath.Separator) // a link that a person named is followed, which WalkDir does not
	}
	err := filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return &InputError{File: path, Err: cause(err)}
		}
		if entry.IsDir() {
			if path != top && strings.HasPrefix(entry.Name(), ".") {
				return filepath.SkipDir
			}
			return nil
		}
		if entry.Type()&fs.ModeSymlink != 0 { // a mounted ConfigMap is a folder of links
			info, err := os.Stat(path)
			if err != nil {
				return &InputError{File: path, Err: cause(err)}
			}
			if info.IsDir() { // not entered: links can make a circle
				in.others++
				return nil
			}
		}
		if !structured(entry.Name()) {
			in.others++
			return nil
		}
		in.add(path, false)
		return nil
	})
	if err == nil && len(in.files) == before {
		return &InputError{File: root, Err: errors.New("the directory has no .json, .yaml or .yml file")}
	}
	return err
}

// structured reports whether the file's name says that it holds JSON or YAML.
func structured(name string) bool {
	name = strings.TrimSuffix(strings.ToLower(name), ".gz")
	switch filepath.Ext(name) {
	case ".json", ".yaml", ".yml":
		return !strings.HasPrefix(name, ".")
	}
	return false
}

// each opens the files one after the other and hands them to visit.
func (in *inputs) each(stdin io.Reader, visit func(*source) error) error {
	for i, path := range in.files {
		if err := open(path, in.named[i], stdin, visit); err != nil {
			return err
		}
	}
	return nil
}

func open(path string, named bool, stdin io.Reader, visit func(*source) error) error {
	s := &source{name: path, named: named}
	r := stdin
	if path == stdinPath {
		s.name = "stdin"
	} else {
		f, err := os.Open(path)
		if err != nil {
			return &InputError{File: path, Err: cause(err)}
		}
		defer f.Close()
		r = f
	}
	var err error
	if s.reader, err = snapshot.Decompress(r); err != nil {
		return &InputError{File: s.name, Err: err}
	}
	if err := s.skipByteOrderMark(); err != nil {
		return err
	}
	return visit(s)
}

// skipByteOrderMark takes the mark away that some editors put in front of UTF-8.
func (s *source) skipByteOrderMark() error {
	head, _ := s.reader.Peek(3) // a shorter file has no mark, and a failing one fails again when it is read
	switch {
	case bytes.HasPrefix(head, []byte{0xef, 0xbb, 0xbf}):
		_, err := s.reader.Discard(3)
		return err
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return s.fail(errors.New("it is UTF-16, as the > of an older PowerShell writes: save it as UTF-8, for example with Out-File -Encoding utf8"))
	}
	return nil
}

// isJSON reports whether the first visible character opens a JSON object or array. Everything else is taken for YAML.
func (s *source) isJSON() (bool, error) {
	for n := 64; ; n *= 2 {
		head, err := s.reader.Peek(n)
		if text := bytes.TrimLeft(head, " \t\r\n"); len(text) > 0 {
			return text[0] == '{' || text[0] == '[', nil
		}
		switch {
		case errors.Is(err, io.EOF):
			return false, s.fail(errors.New("it is empty: did the command that wrote it fail?"))
		case errors.Is(err, bufio.ErrBufferFull):
			return false, nil // 64 KiB of nothing: the YAML reader skips them
		case err != nil:
			return false, s.fail(err)
		}
	}
}

// fail is an error of the whole file.
func (s *source) fail(err error) error { return &InputError{File: s.name, Err: cause(err)} }

// failAt is an error at the place that dec has reached: for broken JSON the line, for a value of the wrong shape the
// path to it. about says which object it is in, where that is known.
func (s *source) failAt(dec *jsontext.Decoder, about string, err error) error {
	if about != "" {
		about += ": "
	}
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		unread := dec.UnreadBuffer()
		if skip := syntax.ByteOffset - dec.InputOffset(); skip > 0 && skip <= int64(len(unread)) {
			unread = unread[skip:]
		}
		line := s.lines - bytes.Count(unread, newline) + 1
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return &InputError{File: s.name, Line: line, Err: fmt.Errorf("%sthe file ends in the middle: was it copied whole?", about)}
		}
		return &InputError{File: s.name, Line: line, Err: fmt.Errorf("%sbroken JSON: %w", about, reason(syntax))}
	}
	return &InputError{File: s.name, Err: fmt.Errorf("%s%w", about, snapshot.ExplainJSON(err))}
}

// reason is what is wrong without the place, which is said in lines.
func reason(err *jsontext.SyntacticError) error {
	if err.Err != nil {
		return err.Err
	}
	return err
}

// cause drops the path and the system call from an error of package os: InputError says which file it is.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
