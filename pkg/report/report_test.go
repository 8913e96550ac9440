package report

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
)

func TestFind(t *testing.T) {
	for _, f := range Formats {
		if got, err := Find(f.Name); err != nil || got.Name != f.Name {
			t.Errorf("Find(%q) = %q, %v", f.Name, got.Name, err)
		}
	}
	_, err := Find("cvs")
	if err == nil {
		t.Fatal("an unknown format was found")
	}
	for _, f := range Formats {
		if !strings.Contains(err.Error(), f.Name) {
			t.Errorf("the error %q does not list %s", err, f.Name)
		}
	}
}

// TestEveryFormat is what all formats owe: bytes that depend on nothing but the run.
func TestEveryFormat(t *testing.T) {
	policy := gate.DefaultPolicy()
	policy.Unknown = gate.Warn
	runs := []struct {
		name   string
		run    *gate.Run
		policy gate.Policy
	}{
		{"example", exampleRun(t), policy},
		{"clean", cleanRun(t), gate.DefaultPolicy()},
		{"empty", emptyRun(t), gate.DefaultPolicy()},
		{"hostile", hostileRun(t), gate.DefaultPolicy()},
		{"large", largeRun(t, 300), gate.DefaultPolicy()},
	}
	for _, r := range runs {
		other := shuffled(t, r.run, r.policy)
		for _, f := range Formats {
			first := written(t, f.Name, r.run, Options{})
			if !bytes.Equal(first, written(t, f.Name, r.run, Options{})) {
				t.Errorf("%s of the %s run: two writes differ", f.Name, r.name)
			}
			if !bytes.Equal(first, written(t, f.Name, other, Options{})) {
				t.Errorf("%s of the %s run: the order of the input shows", f.Name, r.name)
			}
			if len(first) == 0 || first[len(first)-1] != '\n' {
				t.Errorf("%s of the %s run does not end in a line break", f.Name, r.name)
			}
		}
	}
}

type failing struct{ after int }

var errFull = errors.New("no space left on device")

func (w *failing) Write(p []byte) (int, error) {
	if w.after -= len(p); w.after < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// TestWriterErrors: a disk that is full at any point is an error, never a short report.
func TestWriterErrors(t *testing.T) {
	run := largeRun(t, 100)
	for _, f := range Formats {
		size := len(written(t, f.Name, run, Options{}))
		for _, after := range []int{0, 1, size / 2, size - 1} {
			if err := f.Write(&failing{after}, run, Options{}); !errors.Is(err, errFull) {
				t.Errorf("%s with room for %d of %d bytes: %v", f.Name, after, size, err)
			}
		}
	}
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	for _, f := range Formats {
		path := filepath.Join(dir, f.Name)
		for _, run := range []*gate.Run{largeRun(t, 100), cleanRun(t)} { // the second is shorter: nothing of the first may be left
			if err := WriteFile(f, path, run, Options{}); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(path)
			if err != nil || !bytes.Equal(got, written(t, f.Name, run, Options{})) {
				t.Errorf("%s: the file is not what Write writes (%v)", f.Name, err)
			}
		}
		if err := WriteFile(f, filepath.Join(dir, "no", "such", "folder"), cleanRun(t), Options{}); err == nil {
			t.Errorf("%s was written into a folder that is not there", f.Name)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v %v", left, err)
	}
}

// TestWriteFiles: every report is what it is alone, and one that cannot be written is named and holds no other back.
func TestWriteFiles(t *testing.T) {
	dir, run := t.TempDir(), largeRun(t, 100)
	var files []File
	for _, f := range Formats {
		files = append(files, File{f, filepath.Join(dir, f.Name)})
	}
	files[1].Path, files[4].Path = filepath.Join(dir, "no", "second"), filepath.Join(dir, "no", "fifth")
	err := WriteFiles(files, run, Options{})
	if err == nil {
		t.Fatal("reports were written into a folder that is not there")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "second") || !strings.Contains(lines[1], "fifth") {
		t.Errorf("the error is %q, want a line for each of the two, in order", err)
	}
	for i, f := range files {
		if i == 1 || i == 4 {
			continue
		}
		got, err := os.ReadFile(f.Path)
		if err != nil || !bytes.Equal(got, written(t, f.Format.Name, run, Options{})) {
			t.Errorf("%s: the file is not what Write writes (%v)", f.Format.Name, err)
		}
	}
}

// TestWriteFilesPipe: a pipe that nobody reads holds no file back, wherever it stands among them.
func TestWriteFilesPipe(t *testing.T) {
	dir, run := t.TempDir(), cleanRun(t)
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skipf("no named pipes here: %v", err)
	}
	csv, runJSON := Formats[0], Formats[3]
	done := make(chan error, 1)
	go func() {
		done <- WriteFiles([]File{{csv, pipe}, {runJSON, filepath.Join(dir, "run.json")}}, run, Options{})
	}()
	deadline := time.Now().Add(time.Minute)
	for _, err := os.Stat(filepath.Join(dir, "run.json")); err != nil; _, err = os.Stat(filepath.Join(dir, "run.json")) {
		if time.Now().After(deadline) {
			t.Fatal("the file is not written while nobody reads the pipe")
		}
		time.Sleep(time.Millisecond)
	}
	got, err := os.ReadFile(pipe)
	if err := errors.Join(err, <-done); err != nil || !bytes.Equal(got, written(t, csv.Name, run, Options{})) {
		t.Errorf("the pipe gave another report (%v)", err)
	}
}
