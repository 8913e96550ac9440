package snapshot

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestAbandon runs in a process of its own: what Abandon does cannot be undone.
func TestAbandon(t *testing.T) {
	const variable = "SNAPSHOT_TEST_ABANDON"
	path := os.Getenv(variable)
	if path == "" {
		path = filepath.Join(t.TempDir(), "out.csv")
		if err := WriteFile(path, 0o644, write("old\n")); err != nil {
			t.Fatal(err)
		}
		child := exec.Command(os.Args[0], "-test.run=^TestAbandon$")
		child.Env = append(os.Environ(), variable+"="+path)
		if out, err := child.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		want(t, path, "old\n")
		return
	}
	err := WriteFile(path, 0o644, func(w io.Writer) error {
		Abandon() // in the middle of writing
		return write("new\n")(w)
	})
	if !errors.Is(err, ErrAbandoned) {
		t.Errorf("a file that was being written: %v, want ErrAbandoned", err)
	}
	want(t, path, "old\n")
	if err := WriteFile(path, 0o644, write("later\n")); !errors.Is(err, ErrAbandoned) {
		t.Errorf("a file that comes later: %v, want ErrAbandoned", err)
	}
}
