package snapshot

import (
	"errors"
	"os"
	"sync"
)

// ErrAbandoned is what writing a file fails with after Abandon.
var ErrAbandoned = errors.New("the process is ending")

// Abandon removes every temporary file that WriteFile is filling and lets no further file come into being: each path
// keeps its old content. It is for a process that was told to end and cannot wait for its writers, and cannot be undone.
func Abandon() {
	temporary.Lock()
	defer temporary.Unlock()
	temporary.abandoned = true
	for path := range temporary.files {
		_ = os.Remove(path) // nobody is left to act on it
	}
}

// temporary is the temporary files of this process. A process has one: a signal ends all of its writers.
var temporary = temporaryFiles{files: map[string]bool{}}

type temporaryFiles struct {
	sync.Mutex
	files     map[string]bool
	abandoned bool
}

// create makes a temporary file beside path.
func (t *temporaryFiles) create(path string, mode os.FileMode) (*os.File, error) {
	t.Lock()
	defer t.Unlock()
	if t.abandoned {
		return nil, ErrAbandoned
	}
	f, err := createBeside(path, mode)
	if err == nil {
		t.files[f.Name()] = true
	}
	return f, err
}

// rename puts the temporary file in the place of path.
func (t *temporaryFiles) rename(from, path string) error {
	t.Lock()
	defer t.Unlock()
	if t.abandoned {
		return ErrAbandoned
	}
	if err := os.Rename(from, path); err != nil {
		return err
	}
	delete(t.files, from)
	return nil
}

func (t *temporaryFiles) remove(path string) {
	t.Lock()
	defer t.Unlock()
	_ = os.Remove(path) // whoever removes it reports a failure already
	delete(t.files, path)
}
