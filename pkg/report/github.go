package report

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/allocatable-diff/allocatable-diff/pkg/compare"
	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
)

// githubAnnotations is what GitHub shows of each level per step; it drops more without a word.
const githubAnnotations = 10

// writeGitHub writes workflow commands: the verdict as a notice, then errors and warnings, worst first.
func writeGitHub(w io.Writer, run *gate.Run, _ Options) error {
	b := bufio.NewWriter(w)
	annotate(b, "notice", "Karpenter capacity", Verdict(run))
	var errs, warnings []annotation
	add := func(s gate.Severity, a annotation) {
		switch s {
		case gate.Fail:
			errs = append(errs, a)
		case gate.Warn:
			warnings = append(warnings, a)
		}
	}
	if run.Result == gate.Inconclusive {
		errs = append(errs, annotation{"inconclusive", run.Inconclusive})
	}
	for _, t := range topics(run) {
		for _, f := range t.findings {
			add(f.Severity, annotationOf(&t, f))
		}
	}
	for _, g := range unjudgedNodes(run) {
		if g.state == gate.Unknown {
			add(g.severity, annotation{"could not judge " + gate.Plural(len(g.names), "node"), g.reason + " (" + some(g.names, 3, 80) + ")"})
		}
	}
	annotations(b, "error", errs)
	annotations(b, "warning", warnings)
	return b.Flush()
}

type annotation struct{ title, text string }

func annotationOf(t *topic, f *gate.Finding) annotation {
	if f.Nodes == 0 {
		return annotation{t.meaning(), join(". ", f.Evidence, f.Remedy)}
	}
	against, having := t.columns()
	actual := amount(f.Resource, f.Actual)
	if f.Status == compare.Missing {
		actual = "none"
	}
	what := fmt.Sprintf("%s %s, %s %s on %d of %s", strings.ToLower(against), amount(f.Resource, f.Expected), strings.ToLower(having), actual, f.Nodes, gate.Plural(f.Of, "node"))
	return annotation{f.InstanceType + " " + t.meaning(), join(". ", what+": "+some(f.Names, 2, 80), f.Evidence, f.Remedy)}
}

func annotations(b *bufio.Writer, level string, list []annotation) {
	for i, a := range list {
		if i == githubAnnotations {
			fmt.Fprintf(b, "%s not shown, see run.json\n", gate.Plural(len(list)-i, "more "+level))
			return
		}
		annotate(b, level, a.title, a.text)
	}
}

// annotate writes one workflow command. visible has already made line breaks spaces; what is left to escape are the
// characters that end a property or start an escape.
func annotate(b *bufio.Writer, level, title, text string) {
	property := strings.NewReplacer("%", "%25", ":", "%3A", ",", "%2C")
	data := strings.NewReplacer("%", "%25")
	fmt.Fprintf(b, "::%s title=%s::%s\n", level, property.Replace(cut(visible(title), 120)), data.Replace(cut(visible(text), 1000)))
}

// GitHubOutput writes the run's results as lines for the file that GITHUB_OUTPUT names: result, exit-code, the totals,
// the number of findings, and the verdict.
func GitHubOutput(w io.Writer, run *gate.Run) error {
	t := run.Totals
	b := bufio.NewWriter(w)
	for _, l := range []struct {
		name, value string
	}{
		{"result", string(run.Result)},
		{"exit-code", strconv.Itoa(run.ExitCode())},
		{"karpenter", strconv.Itoa(t.Karpenter)},
		{"judged", strconv.Itoa(t.Judged)},
		{"failed", strconv.Itoa(t.Failed)},
		{"warned", strconv.Itoa(t.Warned)},
		{"passed", strconv.Itoa(t.Passed)},
		{"unknown", strconv.Itoa(t.Unknown)},
		{"skipped", strconv.Itoa(t.Skipped)},
		{"foreign", strconv.Itoa(t.Foreign)},
		{"findings", strconv.Itoa(len(run.Findings))},
	} {
		fmt.Fprintf(b, "%s=%s\n", l.name, l.value)
	}
	// The delimiter is the digest of what it encloses: no text contains its own, and equal runs give equal bytes.
	verdict := Verdict(run)
	sum := sha256.Sum256([]byte(verdict))
	delimiter := "ghadelimiter_" + hex.EncodeToString(sum[:16])
	fmt.Fprintf(b, "verdict<<%s\n%s\n%s\n", delimiter, verdict, delimiter)
	return b.Flush()
}
