package report

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/net/html"
	g "maragu.dev/gomponents"
)

// fill puts a text of its own, which tries to leave its place in every way there is, into every text that a page is made
// from, and returns where each went. Lists get two items, numbers and conditions what shows most.
func fill(v reflect.Value, path string, texts map[string]string) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), path, texts)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				fill(v.Field(i), path+"."+f.Name, texts)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), fmt.Sprintf("%s[%d]", path, i), texts)
		}
	case reflect.String:
		if v.Type() == reflect.TypeFor[inlineSVG]() { // escaped when it is drawn, see TestInline
			return
		}
		texts[path] = `"><script>` + path + `</script>&'` + "`" + ` onload=x </title></style>`
		v.SetString(texts[path])
	case reflect.Int:
		v.SetInt(2)
	case reflect.Bool:
		v.SetBool(true)
	}
}

// TestHTMLEscapesEveryText: every text of a page is there to be read, whole, as text or as the value of an attribute, and
// none of them became an element or an attribute.
func TestHTMLEscapesEveryText(t *testing.T) {
	p, texts := &page{}, map[string]string{}
	fill(reflect.ValueOf(p).Elem(), "page", texts)
	for i := range p.Groups { // the verdicts are words of ours, and what is not exported is figures
		p.Groups[i].verdicts = map[string]int{"fail": 1}
		p.Groups[i].memory = true
	}
	var b bytes.Buffer
	if err := p.document().Render(&b); err != nil {
		t.Fatal(err)
	}
	checkPage(t, "filled", b.Bytes())
	root, err := html.Parse(&b)
	if err != nil {
		t.Fatal(err)
	}
	var inText, inAttributes []string
	for n := range root.Descendants() {
		if n.Type == html.TextNode {
			inText = append(inText, n.Data)
		}
		for _, a := range n.Attr {
			inAttributes = append(inAttributes, a.Val)
		}
	}
	readable, attributes := strings.Join(inText, "\n"), strings.Join(inAttributes, "\n")
	onlyClass := func(path string) bool { // names a colour and is said in other words
		return strings.HasSuffix(path, ".Class") || strings.HasSuffix(path, ".State")
	}
	for path, text := range texts {
		if onlyClass(path) {
			if !strings.Contains(attributes, text) {
				t.Errorf("%s is no attribute", path)
			}
			continue
		}
		if !strings.Contains(readable, text) {
			t.Errorf("%s is not in the text", path)
		}
	}
	// Where a text is both, each of its places escapes it.
	for _, path := range []string{"page.Result", "page.Topics[0].Severity", "page.Topics[0].Meaning", "page.Groups[0].Sets[0].Verdict"} {
		if !strings.Contains(attributes, texts[path]) {
			t.Errorf("%s is no attribute", path)
		}
	}
}

// TestHTMLDiskFull: an error of the writer ends the page wherever it comes.
func TestHTMLDiskFull(t *testing.T) {
	p, err := newPage(exampleRun(t), recommendation())
	if err != nil {
		t.Fatal(err)
	}
	var whole bytes.Buffer
	if err := p.document().Render(&whole); err != nil {
		t.Fatal(err)
	}
	for after := 0; after < whole.Len(); after += 97 {
		if err := p.document().Render(&failing{after}); !errors.Is(err, errFull) {
			t.Fatalf("with room for %d of %d bytes: %v", after, whole.Len(), err)
		}
	}
}

// TestEachBuildsInTurn: a row is built after the one before it was written.
func TestEachBuildsInTurn(t *testing.T) {
	var b strings.Builder
	var before []string
	rows := each([]string{"a", "b", "c"}, func(s string) g.Node {
		before = append(before, b.String())
		return g.Text(s)
	})
	if err := rows.Render(&b); err != nil || b.String() != "abc" || fmt.Sprint(before) != "[ a ab]" {
		t.Errorf("%q, built after %q, %v", b.String(), before, err)
	}
}
