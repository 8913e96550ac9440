package emptyspecs

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func TestEmptySpecs(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Empty specs")
}

// number is the count that a variable of the environment holds; 0 where it is not set.
func number(name string) int {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil && os.Getenv(name) != "" {
		panic(fmt.Sprintf("%s %q: it is a count", name, os.Getenv(name)))
	}
	return n
}

var _ = Describe("Nodes", func() {
	specs, size := number("EMPTY_SPECS"), number("EMPTY_CONTAINER")
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
