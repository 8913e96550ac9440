package report

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
)

var command = regexp.MustCompile(`^::(notice|error|warning) title=([^:,]*)::(.*)$`)

// TestGitHub: every line is a command of ours that GitHub parses as it was meant, at most ten of a level.
func TestGitHub(t *testing.T) {
	for name, run := range map[string]*gate.Run{
		"example": exampleRun(t), "clean": cleanRun(t), "empty": emptyRun(t), "hostile": hostileRun(t), "large": largeRun(t, 3000),
	} {
		levels := map[string]int{}
		text := string(written(t, "github", run, Options{}))
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		for _, line := range lines {
			m := command.FindStringSubmatch(line)
			if m == nil {
				if !regexp.MustCompile(`^\d+ more (error|warning)s? not shown, see run.json$`).MatchString(line) {
					t.Errorf("%s: the line %q is no command of ours", name, line)
				}
				continue
			}
			levels[m[1]]++
			for _, part := range m[2:] {
				if rest := regexp.MustCompile(`%(25|3A|2C)`).ReplaceAllString(part, ""); strings.Contains(rest, "%") {
					t.Errorf("%s: an unescaped %% in %q", name, line)
				}
			}
		}
		if levels["error"] > 10 || levels["warning"] > 10 || levels["notice"] != 1 {
			t.Errorf("%s: GitHub shows ten of each level, there are %v", name, levels)
		}
		if red := levels["error"] > 0; red != (run.Result != gate.Passed) {
			t.Errorf("%s: %d errors, the result is %s", name, levels["error"], run.Result)
		}
	}
	first := strings.Split(string(written(t, "github", exampleRun(t), Options{})), "\n")[1]
	if !strings.HasPrefix(first, "::error title=c7a.large memory%3A the node has less than Karpenter expects::expected 3114Mi, actual 3111.6Mi on 2 of 3 nodes") {
		t.Errorf("the first annotation is %s", first)
	}
}

// TestGitHubOutput reads the lines as the runner does: name=value, or name<<delimiter up to a line that is the delimiter.
func TestGitHubOutput(t *testing.T) {
	for name, run := range map[string]*gate.Run{"example": exampleRun(t), "empty": emptyRun(t), "hostile": hostileRun(t)} {
		var b bytes.Buffer
		if err := GitHubOutput(&b, run); err != nil {
			t.Fatal(err)
		}
		values := map[string]string{}
		lines := strings.Split(b.String(), "\n")
		for i := 0; i < len(lines)-1; i++ {
			if key, delimiter, ok := strings.Cut(lines[i], "<<"); ok && !strings.Contains(key, "=") {
				var value []string
				for i++; lines[i] != delimiter; i++ {
					value = append(value, lines[i])
				}
				values[key] = strings.Join(value, "\n")
				continue
			}
			key, value, ok := strings.Cut(lines[i], "=")
			if !ok {
				t.Fatalf("%s: the runner refuses the line %q", name, lines[i])
			}
			values[key] = value
		}
		if len(values) != 12 || values["result"] != string(run.Result) || values["exit-code"] != fmt.Sprint(run.ExitCode()) || values["verdict"] != Verdict(run) {
			t.Errorf("%s: %v", name, values)
		}
	}
	if err := GitHubOutput(&failing{}, exampleRun(t)); err == nil {
		t.Error("a full disk is no error")
	}
}
