package conformance

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/allocatable-diff/allocatable-diff/pkg/collect"
	"github.com/allocatable-diff/allocatable-diff/pkg/snapshot"
)

// Catalogue is the instance types that are asked about, as the oracles read them and as pkg/expect does.
type Catalogue struct {
	// Files are what aws ec2 describe-instance-types printed.
	Files []string
	// InstanceTypes are those of the files, in name order.
	InstanceTypes []snapshot.InstanceType
}

// catalogueFiles are the parts of the catalogue in the folder INSTANCE_TYPE_DATA: the types of today, and those that older
// releases knew and EC2 no longer lists.
var catalogueFiles = []string{"describe-instance-types.json.gz", "describe-instance-types-retired.json.gz"}

// ReadCatalogue reads the catalogue in a folder.
func ReadCatalogue(folder string) (*Catalogue, error) {
	c := &Catalogue{}
	for _, name := range catalogueFiles {
		c.Files = append(c.Files, filepath.Join(folder, name))
	}
	return c, c.read()
}

func (c *Catalogue) read() error {
	c.InstanceTypes = nil
	for _, file := range c.Files {
		types, err := collect.InstanceTypes(file)
		if err != nil {
			return err
		}
		c.InstanceTypes = append(c.InstanceTypes, types...)
	}
	slices.SortFunc(c.InstanceTypes, func(a, b snapshot.InstanceType) int { return strings.Compare(a.Name, b.Name) })
	for i := 1; i < len(c.InstanceTypes); i++ {
		if name := c.InstanceTypes[i].Name; c.InstanceTypes[i-1].Name == name {
			return fmt.Errorf("instance type %s stands twice in %s", name, strings.Join(c.Files, ", "))
		}
	}
	return nil
}

// only is a catalogue of one type, written to a file in a temporary folder: asking an oracle about it takes a moment.
func (c *Catalogue) only(name, folder string) (*Catalogue, error) {
	for _, file := range c.Files {
		data, err := readFile(file)
		if err != nil {
			return nil, err
		}
		var page struct{ InstanceTypes []json.RawMessage }
		if err := json.Unmarshal(data, &page); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for _, raw := range page.InstanceTypes {
			var it struct{ InstanceType string }
			if err := json.Unmarshal(raw, &it); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			if it.InstanceType != name {
				continue
			}
			one := &Catalogue{Files: []string{filepath.Join(folder, name+".json")}}
			page.InstanceTypes = []json.RawMessage{raw}
			if data, err = json.Marshal(page); err != nil {
				return nil, err
			}
			if err := os.WriteFile(one.Files[0], data, 0o644); err != nil {
				return nil, err
			}
			return one, one.read()
		}
	}
	return nil, fmt.Errorf("no instance type %s in %s", name, strings.Join(c.Files, ", "))
}

func readFile(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil || !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data, err
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return io.ReadAll(unpacked)
}
