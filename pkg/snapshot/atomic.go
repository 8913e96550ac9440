package snapshot

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

// WriteFile writes a file whole or not at all: write fills a temporary file in the same directory, which is synced and
// then renamed over path. When write or the disk fails, path keeps its old content and the temporary file is removed;
// a process that is killed leaves at most a temporary file beside it, one that calls Abandon not even that. mode is that
// of a new file, before the umask.
//
// A symbolic link is followed, so that its target is replaced and not the link. A path that exists and is no regular
// file, such as /dev/stdout or a named pipe, cannot be replaced and is written directly. Errors name path.
func WriteFile(path string, mode os.FileMode, write func(io.Writer) error) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("writing %s: it is a directory; name a file in it", path)
	case err == nil && !info.Mode().IsRegular():
		return writeDirectly(path, write)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("writing %s: %w", path, err)
	}
	f, err := temporary.create(path, mode)
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, notCreated(filepath.Dir(path), err))
	}
	if err := fillAndRename(f, path, write); err != nil {
		temporary.remove(f.Name())
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// notCreated is why no file could be made in a folder. The temporary file, which nobody asked for, is not named.
func notCreated(dir string, err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	if _, missing := os.Stat(dir); errors.Is(missing, fs.ErrNotExist) {
		return fmt.Errorf("the folder %s does not exist: make it first: %w", dir, err)
	}
	return fmt.Errorf("no file can be made in the folder %s: %w", dir, err)
}

func writeDirectly(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	err = buffered(f, write)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// createBeside makes a new file with an unused hidden name next to path. os.CreateTemp would not do: it fixes the mode
// at 0600, and a later chmod would not honour the umask.
func createBeside(path string, mode os.FileMode) (*os.File, error) {
	dir, base := filepath.Split(path)
	for attempt := 0; ; attempt++ {
		name := filepath.Join(dir, "."+base+"."+strconv.FormatUint(uint64(rand.Uint32()), 36)+".tmp")
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if errors.Is(err, fs.ErrExist) && attempt < 100 {
			continue
		}
		return f, err
	}
}

func fillAndRename(f *os.File, path string, write func(io.Writer) error) error {
	err := buffered(f, write)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := temporary.rename(f.Name(), path); err != nil {
		return err
	}
	return syncDirectory(filepath.Dir(path))
}

// syncDirectory makes the rename itself durable. A file system that cannot sync a directory has already done the
// rename, so that is no failure.
func syncDirectory(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return nil //nolint:nilerr // the file is in place; a directory that may be written but not read cannot be synced
	}
	_ = d.Sync()
	return d.Close()
}

func buffered(f *os.File, write func(io.Writer) error) error {
	w := bufio.NewWriterSize(f, 1<<16)
	if err := write(w); err != nil {
		return err
	}
	return w.Flush()
}
