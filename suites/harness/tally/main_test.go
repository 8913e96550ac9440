package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSum(t *testing.T) {
	for _, row := range []struct {
		name, why, xml string
		want           counts
	}{
		{"go test", "names are plain", `<testsuites><testsuite><testcase name="TestA"/><testcase name="TestB"><failure/></testcase><testcase name="TestC"><skipped/></testcase></testsuite></testsuites>`, counts{1, 1, 1}},
		{"errors", "an error is no pass", `<testsuite><testcase name="TestA"><error/></testcase></testsuite>`, counts{0, 1, 0}},
		{"nothing in focus", "the node that writes the reports runs all the same", `<testsuites><testsuite><testcase name="[It] a"><skipped/></testcase><testcase name="[ReportAfterSuite] reports"/></testsuite></testsuites>`, counts{0, 0, 1}},
		{"broken set-up", "no spec ran, and it must not be green", `<testsuites><testsuite><testcase name="[BeforeSuite]"><error/></testcase><testcase name="[It] a"><skipped/></testcase></testsuite></testsuites>`, counts{0, 1, 1}},
		{"specs", "", `<testsuites><testsuite><testcase name="[SynchronizedBeforeSuite]"/><testcase name="[It] a"/><testcase name="[It] b"/></testsuite></testsuites>`, counts{2, 0, 0}},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "a.xml"), []byte(row.xml), 0o644); err != nil {
				t.Fatal(err)
			}
			if got, err := sum([]string{dir}); err != nil || got != row.want {
				t.Errorf("%s: %+v, %v, want %+v", row.why, got, err, row.want)
			}
		})
	}
}
