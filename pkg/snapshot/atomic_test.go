package snapshot

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func write(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

// want checks the content of path, and that nothing else is in its directory.
func want(t *testing.T, path, text string, others ...string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != text {
		t.Errorf("%s holds %q, %v, want %q", path, got, err, text)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1+len(others) {
		t.Errorf("beside %s there is more than %v: %v", path, others, entries)
	}
}

func TestWriteFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.csv")
	if err := WriteFile(path, 0o644, write("a long first content\n")); err != nil {
		t.Fatal(err)
	}
	want(t, path, "a long first content\n")
	if err := WriteFile(path, 0o644, write("short\n")); err != nil {
		t.Fatal(err)
	}
	want(t, path, "short\n") // no old bytes behind the new ones
	old := syscall.Umask(0o077)
	err := WriteFile(path, 0o644, write("private\n"))
	syscall.Umask(old)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v: the umask was not honoured", info.Mode(), err)
	}
}

func TestWriteFileKeepsTheOldContentOnFailure(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.csv")
	if err := WriteFile(path, 0o644, write("old\n")); err != nil {
		t.Fatal(err)
	}
	full := errors.New("disk full")
	err := WriteFile(path, 0o644, func(w io.Writer) error {
		if _, err := io.WriteString(w, strings.Repeat("new\n", 1<<16)); err != nil {
			return err
		}
		return full
	})
	if !errors.Is(err, full) || !strings.Contains(err.Error(), path) {
		t.Errorf("the error is %v: it must wrap the cause and name the file", err)
	}
	want(t, path, "old\n")
}

func TestWriteFileRefuses(t *testing.T) {
	dir := t.TempDir()
	type refusal struct{ path, want string }
	rows := []refusal{
		{dir, "is a directory"},
		{filepath.Join(dir, "none", "out.csv"), "the folder " + filepath.Join(dir, "none") + " does not exist: make it first: no such file or directory"},
		{filepath.Join(dir, "out.csv", "x"), "not a directory"},
	}
	if _, err := os.Stat("/proc/self"); err == nil { // where even root may make no file
		rows = append(rows, refusal{"/proc/allocatable-diff.csv", "no file can be made in the folder /proc: "})
	}
	for _, row := range rows {
		if row.want == "not a directory" {
			if err := os.WriteFile(filepath.Join(dir, "out.csv"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		err := WriteFile(row.path, 0o644, write("x"))
		if err == nil || !strings.Contains(err.Error(), row.want) || !strings.Contains(err.Error(), row.path) || strings.Contains(err.Error(), ".tmp") {
			t.Errorf("%s: the error is %v and does not say %q, or names the temporary file", row.path, err, row.want)
		}
	}
}

// A link is followed: whoever points reports/latest.csv somewhere wants the file there.
func TestWriteFileFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target.csv"), filepath.Join(dir, "link.csv")
	if err := errors.Join(os.WriteFile(target, []byte("old\n"), 0o600), os.Symlink(target, link)); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(link, 0o644, write("new\n")); err != nil {
		t.Fatal(err)
	}
	want(t, target, "new\n", "link.csv")
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v, %v", info.Mode(), err)
	}
}

// /dev/stdout or a pipe must be written, never replaced by a file.
func TestWriteFileToPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip("no named pipes here:", err)
	}
	read := make(chan string)
	go func() {
		data, _ := os.ReadFile(pipe)
		read <- string(data)
	}()
	if err := WriteFile(pipe, 0o644, write("through\n")); err != nil {
		t.Fatal(err)
	}
	if got := <-read; got != "through\n" {
		t.Errorf("the pipe gave %q", got)
	}
	if info, err := os.Stat(pipe); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe was replaced: %v, %v", info.Mode(), err)
	}
}

// TestKilledWriter is the process that TestWriteFileSurvivesKill ends in the middle of a write.
func TestKilledWriter(t *testing.T) {
	path := os.Getenv("WRITE_UNTIL_KILLED")
	if path == "" {
		t.Skip("run by TestWriteFileSurvivesKill")
	}
	err := WriteFile(path, 0o644, func(w io.Writer) error {
		if _, err := io.WriteString(w, strings.Repeat("new\n", 1<<16)); err != nil {
			return err
		}
		if err := os.WriteFile(path+".started", nil, 0o600); err != nil {
			return err
		}
		time.Sleep(time.Minute)
		return nil
	})
	t.Fatal("not killed:", err)
}

func TestWriteFileSurvivesKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.csv")
	if err := os.WriteFile(path, []byte("old\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	writer := exec.Command(self, "-test.run", "^TestKilledWriter$")
	writer.Env = append(os.Environ(), "WRITE_UNTIL_KILLED="+path)
	if err := writer.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(path + ".started"); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the writer did not start")
		}
	}
	if err := writer.Process.Kill(); err != nil { // SIGKILL
		t.Fatal(err)
	}
	_ = writer.Wait()
	if got, err := os.ReadFile(path); err != nil || string(got) != "old\n" {
		t.Errorf("after kill -9 the file holds %q, %v", got, err)
	}
}
