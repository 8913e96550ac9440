package emptyspecs

import (
	"cmp"
	"fmt"
	"os"
	"strconv"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// specs is how many there are, size how many a container holds; 0 for none.
var specs, size int

// TestEmptySpecs reads what was asked for before the tree is built.
func TestEmptySpecs(t *testing.T) {
	RegisterFailHandler(Fail)
	for name, to := range map[string]*int{"EMPTY_SPECS": &specs, "EMPTY_CONTAINER": &size} {
		text := cmp.Or(os.Getenv(name), "0")
		var err error
		if *to, err = strconv.Atoi(text); err != nil {
			t.Fatalf("%s %q: it is a count", name, text)
		}
	}
	RunSpecs(t, "Empty specs")
}

var _ = Describe("Nodes", func() {
	if size == 0 {
		for i := range specs {
			It(fmt.Sprint("node-", i), func() {})
		}
		return
	}
	for from := 0; from < specs; from += size {
		Context(fmt.Sprint("from=", from), func() {
			for i := from; i < min(from+size, specs); i++ {
				It(fmt.Sprint("node-", i), func() {})
			}
		})
	}
})
