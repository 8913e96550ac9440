package harness

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// A console block is one that begins with "$ ": each such line is a command, and what follows it is what it prints on
// both streams. A line "…" stands for any lines.
type block struct {
	// line is where the block begins in the file.
	line  int
	steps []step
}

type step struct {
	command string
	// wants are the lines that it prints; they begin after at lines of the file.
	wants []string
	at    int
}

// update writes what is printed into the README: ginkgo run --focus "console blocks" ./suites/harness -- -update
var update = flag.Bool("update", false, "write the output of README.md's commands anew")

// consoleBlocks reads the blocks of a Markdown file.
func consoleBlocks(text string) []block {
	var out []block
	var current *block
	for i, line := range lines(text) {
		switch {
		case current == nil && line == "```console":
			current = &block{line: i + 1}
		case current == nil:
		case line == "```":
			if len(current.steps) > 0 {
				out = append(out, *current)
			}
			current = nil
		case strings.HasPrefix(line, "$ "):
			current.steps = append(current.steps, step{command: strings.TrimPrefix(line, "$ "), at: i + 1})
		case len(current.steps) > 0:
			last := &current.steps[len(current.steps)-1]
			// A command goes on in the next line after a backslash, as in a shell.
			if strings.HasSuffix(last.command, `\`) && len(last.wants) == 0 {
				last.command += "\n" + strings.TrimPrefix(line, "> ")
				last.at = i + 1
				continue
			}
			last.wants = append(last.wants, line)
		}
	}
	return out
}

// script runs the commands of a block one after the other in one shell, so that "$?" and variables carry on, and marks
// where the output of each begins.
func (b *block) script() string {
	var s strings.Builder
	s.WriteString("exec 2>&1\n__code=0\n")
	for i, step := range b.steps {
		fmt.Fprintf(&s, "printf '%s\\n'\n(exit $__code)\n%s\n__code=$?\n", mark(i), step.command)
	}
	return s.String()
}

func mark(i int) string { return "@@@ step " + strconv.Itoa(i) + " @@@" }

// outputs takes the output of the script apart.
func (b *block) outputs(text string) []string {
	out := make([]string, len(b.steps))
	for i := range b.steps {
		_, rest, _ := strings.Cut(text, mark(i)+"\n")
		out[i], _, _ = strings.Cut(rest, mark(i+1)+"\n")
	}
	return out
}

// printed compares output with what the block says, line by line; blanks at the end of a line do not matter. A block that
// says nothing but "…" says nothing, and is never right.
func (s *step) printed(output string) bool {
	if len(s.wants) == 1 && s.wants[0] == "…" {
		return false
	}
	var pattern strings.Builder
	pattern.WriteString(`\A`)
	for _, want := range s.wants {
		if want == "…" {
			pattern.WriteString(`(?:.*\n)*?`)
			continue
		}
		pattern.WriteString(regexp.QuoteMeta(strings.TrimRight(want, " ")) + ` *\n`)
	}
	pattern.WriteString(`\z`)
	if output != "" && !strings.HasSuffix(output, "\n") {
		output += "\n"
	}
	return regexp.MustCompile(pattern.String()).MatchString(output)
}

// workspace is a folder that looks like a fresh clone of the repository, in which commands may write, and the PATH of a
// person who has installed the tool. make builds nothing there: what it would build is installed.
func workspace() (dir, path string) {
	GinkgoHelper()
	dir, path = GinkgoT().TempDir(), at.Folder+string(os.PathListSeparator)+os.Getenv("PATH")
	for _, name := range entries(root) {
		if !slices.Contains([]string{".git", "bin", "reports"}, name) {
			Expect(os.Symlink(filepath.Join(root, name), filepath.Join(dir, name))).To(Succeed())
		}
	}
	Expect(os.Mkdir(filepath.Join(dir, "reports"), 0o755)).To(Succeed())
	if program, err := exec.LookPath("make"); err == nil {
		programs := GinkgoT().TempDir()
		executable(write(programs, "make", fmt.Sprintf("#!/bin/sh\nexec '%s' --no-print-directory --old-file=build BIN='%s' \"$@\"\n", program, tool())))
		path = programs + string(os.PathListSeparator) + path
	}
	return dir, path
}

var _ = Describe("The console blocks", func() {
	It("of the README print what it says", func() {
		text, err := os.ReadFile(filepath.Join(root, "README.md"))
		if errors.Is(err, fs.ErrNotExist) {
			Skip("there is no README.md yet")
		}
		Expect(err).NotTo(HaveOccurred())
		blocks := consoleBlocks(string(text))
		Expect(blocks).NotTo(BeEmpty(), "README.md has no console block that begins with \"$ \"")
		if _, err := exec.LookPath("bash"); err != nil {
			Skip("bash is not installed here")
		}
		readme, shift := lines(string(text)), 0
		dir, path := workspace()
		for _, b := range blocks {
			if slices.ContainsFunc(b.steps, func(s step) bool { return strings.HasPrefix(s.command, "make ") }) {
				if _, err := exec.LookPath("make"); err != nil {
					AddReportEntry(fmt.Sprintf("README.md:%d was not run: make is not installed here", b.line))
					continue
				}
			}
			r := command{program: "bash", args: []string{"-c", b.script()}, dir: dir, env: slices.Concat(goEnvironment(), []string{"PATH=" + path})}.run()
			for i, output := range b.outputs(r.stdout) {
				s := b.steps[i]
				switch {
				case s.printed(output):
				case *update:
					readme = slices.Replace(readme, s.at+shift, s.at+shift+len(s.wants), lines(output)...)
					shift += len(lines(output)) - len(s.wants)
				default:
					Fail(fmt.Sprintf("README.md:%d: $ %s\n\nThe README says:\n%s\n\nIt prints:\n%s", b.line, s.command, strings.Join(s.wants, "\n"), output))
				}
			}
		}
		if *update {
			write(root, "README.md", strings.Join(readme, "\n")+"\n")
		}
	})

	DescribeTable("are compared line by line:", func(wants, output string, equal bool) {
		Expect((&step{wants: lines(wants)}).printed(output)).To(Equal(equal))
	},
		Entry("equal", "a\nb", "a\nb\n", true),
		Entry("different", "a\nb", "a\nc\n", false),
		Entry("a line is missing", "a", "a\nb\n", false),
		Entry("a line too many", "a\nb", "a\n", false),
		Entry("blanks at the end do not matter", "a", "a  \n", true),
		Entry("an ellipsis is any lines", "a\n…\nd", "a\nb\nc\nd\n", true),
		Entry("or none", "a\n…\nd", "a\nd\n", true),
		Entry("but not others before it", "a\n…\nd", "b\nd\n", false),
		Entry("nor after it", "a\n…\nd", "a\nb\n", false),
		Entry("a full stop is no pattern", "a.c", "abc\n", false),
		Entry("no line break at the end", "a", "a", true),
		Entry("an ellipsis alone says nothing", "…", "a\n", false),
	)

	It("are found, with their commands", func() {
		blocks := consoleBlocks("text\n```console\n$ a \\\n> b\n1\n2\n$ c\n```\n```sh\n$ not this\n```\n```console\nnor this\n```\n")
		Expect(blocks).To(Equal([]block{{2, []step{{"a \\\nb", []string{"1", "2"}, 4}, {"c", nil, 7}}}}))
		r := command{program: "bash", args: []string{"-c", (&block{steps: []step{{command: "x=1; false"}, {command: "echo $? $x >&2"}, {command: "echo end"}}}).script()}}.run()
		Expect((&block{steps: make([]step, 3)}).outputs(r.stdout)).To(Equal([]string{"", "1 1\n", "end\n"}))
	})
})
