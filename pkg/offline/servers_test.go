package offline_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fakeGo stands in for the go command of servers/envtest.sh. It records each call in $FAKE/calls and answers
// `setup-envtest use -i` with the folder in $FAKE/installed, `use` with the one in $FAKE/downloadable, and fails
// where there is none; a build writes its output, a sideload installs $FAKE/built.
const fakeGo = `#!/bin/sh
shift 2 # -C DIRECTORY
echo "$@" | sed 's|-o [^ ]*/|-o |' >>"$FAKE/calls"
case "$*" in
"tool setup-envtest use -i -p path"*) cat "$FAKE/installed" ;;
"tool setup-envtest use -p path"*) cat "$FAKE/downloadable" ;;
"tool setup-envtest sideload"*) cat >"$FAKE/built.tar.gz" && mkdir "$FAKE/built" && tar -C "$FAKE/built" -xzf "$FAKE/built.tar.gz" && echo "$FAKE/built" >"$FAKE/installed" ;;
"list -m -f"*) echo v1.36.3 ;;
"build "*) [ ! -e "$FAKE/broken" ] && while [ "$1" != -o ]; do shift; done && echo binary >"$2" && chmod +x "$2" ;;
esac
`

func TestEnvtestScript(t *testing.T) {
	script, err := filepath.Abs("servers/envtest.sh")
	if err != nil {
		t.Fatal(err)
	}
	const (
		installed = "tool setup-envtest use -i -p path"
		download  = "tool setup-envtest use -p path"
	)
	building := []string{installed, download, "build etcd", "build kube-apiserver", "tool setup-envtest sideload 1.36.3", installed}
	for name, test := range map[string]struct {
		assets   string              // KUBEBUILDER_ASSETS, a folder of the test's
		selector string              // the script's argument
		folders  map[string][]string // what is in each folder
		answers  map[string]string   // what setup-envtest answers: installed, downloadable
		broken   bool                // the build fails
		want     string              // the folder printed; "" is exit code 1
		calls    []string
		says     string
	}{
		"KUBEBUILDER_ASSETS comes first": {
			assets: "a", folders: map[string][]string{"a": {"kube-apiserver", "etcd"}, "b": {"kube-apiserver", "etcd"}}, answers: map[string]string{"installed": "b"},
			want: "a", says: "KUBEBUILDER_ASSETS is set: looking into"},
		"KUBEBUILDER_ASSETS of another machine": {
			assets: "gone", folders: map[string][]string{"b": {"kube-apiserver", "etcd"}}, answers: map[string]string{"installed": "b"},
			want: "b", calls: []string{installed}, says: "gone/kube-apiserver is missing or not executable"},
		"KUBEBUILDER_ASSETS with one server": {
			assets: "a", folders: map[string][]string{"a": {"kube-apiserver"}, "b": {"kube-apiserver", "etcd"}}, answers: map[string]string{"installed": "b"},
			want: "b", calls: []string{installed}, says: "a/etcd is missing or not executable"},
		"installed": {
			folders: map[string][]string{"b": {"kube-apiserver", "etcd"}}, answers: map[string]string{"installed": "b"},
			want: "b", calls: []string{installed}, says: "KUBEBUILDER_ASSETS is not set"},
		"installed, the release asked for": {
			selector: "1.36.x", folders: map[string][]string{"b": {"kube-apiserver", "etcd"}}, answers: map[string]string{"installed": "b"},
			want: "b", calls: []string{installed + " 1.36.x"}, says: "using"},
		"downloaded": {
			folders: map[string][]string{"c": {"kube-apiserver", "etcd"}}, answers: map[string]string{"downloadable": "c"},
			want: "c", calls: []string{installed, download}, says: "no, setup-envtest use -i -p path ended with exit code 1"},
		"an installation that was cut off": {
			folders: map[string][]string{"b": {"etcd"}, "c": {"kube-apiserver", "etcd"}}, answers: map[string]string{"installed": "b", "downloadable": "c"},
			want: "c", calls: []string{installed, download}, says: "b/kube-apiserver is missing or not executable"},
		"built": {
			want: "built", calls: building, says: "no, setup-envtest use -p path ended with exit code 1"},
		"not even built": {
			broken: true, calls: []string{installed, download, "build etcd"}, says: "no kube-apiserver and etcd to be had: set KUBEBUILDER_ASSETS"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			write := func(path, content string) {
				t.Helper()
				if err := os.MkdirAll(filepath.Dir(filepath.Join(root, path)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(root, path), []byte(content), 0o755); err != nil { //nolint:gosec // scripts
					t.Fatal(err)
				}
			}
			write("bin/go", fakeGo)
			for folder, servers := range test.folders {
				for _, server := range servers {
					write(filepath.Join(folder, server), "binary")
				}
			}
			for answer, folder := range test.answers {
				write(answer, filepath.Join(root, folder))
			}
			if test.broken {
				write("broken", "")
			}

			command := exec.CommandContext(t.Context(), "sh", script)
			if test.selector != "" {
				command.Args = append(command.Args, test.selector)
			}
			command.Env = []string{"FAKE=" + root, "PATH=" + filepath.Join(root, "bin") + ":" + os.Getenv("PATH"), "TMPDIR=" + root}
			if test.assets != "" {
				command.Env = append(command.Env, "KUBEBUILDER_ASSETS="+filepath.Join(root, test.assets))
			}
			var stdout, stderr bytes.Buffer
			command.Stdout, command.Stderr = &stdout, &stderr
			err := command.Run()

			if test.want == "" {
				if err == nil || command.ProcessState.ExitCode() != 1 || stdout.Len() > 0 {
					t.Errorf("exit %v, stdout %q, want exit code 1 and nothing", err, &stdout)
				}
			} else if want := filepath.Join(root, test.want) + "\n"; err != nil || stdout.String() != want {
				t.Errorf("exit %v, stdout %q, want %q", err, &stdout, want)
			}
			if diff := cmp.Diff(test.calls, calls(t, root)); diff != "" {
				t.Errorf("calls of go:\n%s", diff)
			}
			if !strings.Contains(stderr.String(), test.says) {
				t.Errorf("stderr lacks %q:\n%s", test.says, &stderr)
			}
			if left, _ := filepath.Glob(filepath.Join(root, "tmp.*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// calls returns the recorded calls of the fake go, builds shortened to what they build.
func calls(t *testing.T, root string) []string {
	t.Helper()
	recorded, err := os.ReadFile(filepath.Join(root, "calls"))
	if err != nil {
		return nil
	}
	lines := strings.Split(strings.TrimSpace(string(recorded)), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "build ") {
			lines[i] = "build " + strings.Fields(line[strings.Index(line, "-o ")+3:])[0]
		}
	}
	return slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "list ") })
}
