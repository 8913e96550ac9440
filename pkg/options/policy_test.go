package options

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGateProblems: every problem of every file is a line of its own that says which file, and where in it.
func TestGateProblems(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, row := range []struct {
		name, policy, allowlist string
		want                    []string // "P" and "A" stand for the files
	}{
		{name: "nothing wrong", policy: "unknown: warn", allowlist: "allow: []"},
		{
			name: "the second problem of a resource has the place of the first",
			policy: `resources:
  memory:
    overEstimate: {fail: [wide, narrow]}
    missing: perhaps`,
			want: []string{
				`policy P: resources: memory: overEstimate: "wide" is neither a quantity nor a percentage`,
				`policy P: resources: memory: overEstimate: "narrow" is neither a quantity nor a percentage`,
				`policy P: resources: memory: missing: "perhaps": it is fail, warn or info`,
			},
		},
		{
			name:      "both files",
			policy:    `unknown: ignore`,
			allowlist: `allow: [{cause: x, reason: known, expires: 2027-01-31}, {owner: me, reason: known, expires: 2027-01-31}]`,
			want: []string{
				`policy P: unknown: "ignore": it is fail or warn`,
				`allowlist A: allow[0]: owner is missing: say who will remove it`,
				`allowlist A: allow[1]: it would accept everything: name a node pool, class, type, resource or cause`,
			},
		},
		{
			name:   "a second document would be left unread, and a typo in it unnoticed",
			policy: "---\n# ours\nunknown: warn\n---\nminJudgd: 5\n", allowlist: "allow: []\n---\n",
			want: []string{
				"policy P: line 4: a second YAML document begins: one file holds one",
				"allowlist A: line 2: a second YAML document begins: one file holds one",
			},
		},
		{name: "a document that begins with its marker, and one in JSON", policy: "# ours\n---\nunknown: warn\n", allowlist: `{"allow": []}`},
		{
			name:   "a misspelt resource would be judged by the built-in limits, unnoticed",
			policy: `resources: {memroy: {strict: true}, hugepages-2Mi: {strict: true}, example.com/fpga: {strict: true}, pods: {strict: true}}`,
			want: []string{
				"policy P: resources: memroy: no node has such a resource: it is cpu, memory, ephemeral-storage, pods, hugepages-SIZE, or one with a domain, such as nvidia.com/gpu",
			},
		},
		{name: "a file that is no YAML", policy: "a: b: c", want: []string{"policy P: error converting YAML to JSON: yaml: mapping values are not allowed in this context"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			o := New()
			o.Policy, o.Allowlist = write("P", row.policy), ""
			if row.allowlist != "" {
				o.Allowlist = write("A", row.allowlist)
			}
			_, err := o.Gate()
			got := ""
			if err != nil {
				got = strings.NewReplacer(o.Policy, "P", filepath.Join(dir, "A"), "A").Replace(err.Error())
			}
			if want := strings.Join(row.want, "\n"); got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}
