package report

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image/png"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/allocatable-diff/allocatable-diff/pkg/gate"
)

// browser is a headless Chromium spoken to over its pipe: messages of the DevTools protocol, each ended by a NUL.
type browser struct {
	t       *testing.T
	in      *os.File
	out     *bufio.Reader
	session string
	id      int
	// events are all that came in between, by method.
	events map[string][]json.RawMessage
}

type devtools struct {
	ID        int             `json:"id,omitzero"`
	SessionID string          `json:"sessionId,omitzero"`
	Method    string          `json:"method,omitzero"`
	Params    any             `json:"params,omitempty"`
	Result    json.RawMessage `json:"result,omitzero"`
	Error     json.RawMessage `json:"error,omitzero"`
}

// startBrowser starts Chromium with an empty profile; the test is skipped where there is none.
func startBrowser(t *testing.T) *browser {
	t.Helper()
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		t.Skip("no chromium on this machine: install Debian's package chromium to see the page in a browser")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	theirIn, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	profile, err := os.MkdirTemp("", "chromium")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--user-data-dir="+profile, "--remote-debugging-pipe", "about:blank")
	cmd.ExtraFiles = []*os.File{theirIn, theirOut} // file descriptors 3 and 4
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirIn.Close()
	theirOut.Close()
	t.Cleanup(func() {
		in.Close() // the browser ends with its pipe
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			cancel()
			<-done
		}
		cancel()
		out.Close()
		_ = os.RemoveAll(profile) // a child of the browser may still be writing: no reason to fail
	})
	b := &browser{t: t, in: in, out: bufio.NewReaderSize(out, 1<<20), events: map[string][]json.RawMessage{}}
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

// call sends a command and waits for its answer.
func (b *browser) call(method string, params, result any) {
	b.t.Helper()
	b.id++
	message, err := json.Marshal(devtools{ID: b.id, SessionID: b.session, Method: method, Params: params})
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.in.Write(append(message, 0)); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	for {
		answer := b.read()
		if answer.ID != b.id {
			continue
		}
		if answer.Error != nil {
			b.t.Fatalf("%s: %s", method, answer.Error)
		}
		if result != nil {
			if err := json.Unmarshal(answer.Result, result); err != nil {
				b.t.Fatalf("%s: %v", method, err)
			}
		}
		return
	}
}

func (b *browser) read() devtools {
	b.t.Helper()
	data, err := b.out.ReadBytes(0)
	if err != nil {
		b.t.Fatalf("the browser has gone: %v", err)
	}
	var m struct {
		devtools
		Params json.RawMessage `json:"params"`
	}
	if err := json.Unmarshal(bytes.TrimSuffix(data, []byte{0}), &m); err != nil {
		b.t.Fatal(err)
	}
	if m.Method != "" {
		b.events[m.Method] = append(b.events[m.Method], m.Params)
	}
	return m.devtools
}

// open shows a page at a size, in the light or in the dark.
func (b *browser) open(page []byte, width int, scheme string) {
	b.t.Helper()
	path := filepath.Join(b.t.TempDir(), "report.html")
	if err := os.WriteFile(path, page, 0o600); err != nil {
		b.t.Fatal(err)
	}
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false}, nil)
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
	b.events = map[string][]json.RawMessage{}
	b.call("Page.navigate", map[string]any{"url": (&url.URL{Scheme: "file", Path: path}).String()}, nil)
	for len(b.events["Page.loadEventFired"]) == 0 {
		b.read()
	}
}

// eval runs an expression in the page and returns its value as a string.
func (b *browser) eval(expression string) string {
	b.t.Helper()
	var r struct {
		Result           struct{ Value any }
		ExceptionDetails any
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &r)
	if r.ExceptionDetails != nil {
		b.t.Fatalf("%s: %v", expression, r.ExceptionDetails)
	}
	return fmt.Sprint(r.Result.Value)
}

// brightness is the mean of what is seen, 0 … 255. With SCREENSHOTS set the whole page is taken and kept in that folder.
func (b *browser) brightness(name string) float64 {
	b.t.Helper()
	var shot struct{ Data string }
	dir := os.Getenv("SCREENSHOTS")
	params := map[string]any{"optimizeForSpeed": true}
	if dir != "" {
		var size struct{ CSSContentSize map[string]float64 }
		b.call("Page.getLayoutMetrics", nil, &size)
		size.CSSContentSize["scale"] = 1
		params = map[string]any{"captureBeyondViewport": true, "clip": size.CSSContentSize}
	}
	b.call("Page.captureScreenshot", params, &shot)
	data, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	if dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name+".png"), data, 0o600); err != nil {
			b.t.Fatal(err)
		}
	}
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		b.t.Fatal(err)
	}
	sum, n := 0.0, 0
	for y := picture.Bounds().Min.Y; y < picture.Bounds().Max.Y; y += 3 {
		for x := picture.Bounds().Min.X; x < picture.Bounds().Max.X; x += 3 {
			r, g, blue, _ := picture.At(x, y).RGBA()
			sum, n = sum+float64(r+g+blue)/3/257, n+1
		}
	}
	return sum / float64(n)
}

// quiet fails the test on anything that the page said or asked for.
func (b *browser) quiet(name string) {
	b.t.Helper()
	for _, method := range []string{"Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"} {
		for _, e := range b.events[method] {
			b.t.Errorf("%s: %s: %s", name, method, e)
		}
	}
	for _, e := range b.events["Network.requestWillBeSent"] {
		var request struct{ Request struct{ URL string } }
		if err := json.Unmarshal(e, &request); err != nil {
			b.t.Fatal(err)
		}
		if u := request.Request.URL; !strings.HasPrefix(u, "file:") || !strings.HasSuffix(u, "/report.html") {
			if !strings.HasPrefix(u, "data:") {
				b.t.Errorf("%s: the page asks for %s", name, u)
			}
		}
	}
}

// TestChromium opens the pages in a browser: nothing is asked for and nothing complained about, the light and the dark
// differ, nothing is wider than the window, and the table sorts and filters.
func TestChromium(t *testing.T) {
	b := startBrowser(t)
	for name, run := range map[string]*gate.Run{"example": exampleRun(t), "hostile": hostileRun(t), "1000": largeRun(t, 1000)} {
		page := written(t, "html", run, Options{Recommendation: recommendation()})
		seen := map[string]float64{}
		for _, scheme := range []string{"light", "dark"} {
			b.open(page, 1280, scheme)
			seen[scheme] = b.brightness(name + "-" + scheme)
			b.quiet(name + " " + scheme)
		}
		if seen["light"] < 200 || seen["dark"] > 60 {
			t.Errorf("%s: brightness %v", name, seen)
		}
		b.open(page, 380, "light")
		b.brightness(name + "-narrow")
		if over := b.eval("document.documentElement.scrollWidth - document.documentElement.clientWidth"); over != "0" {
			t.Errorf("%s: the page is %s pixels wider than a window of 380", name, over)
		}
		b.quiet(name + " narrow")
		if n := b.eval("[...document.querySelectorAll('svg')].filter(s => s.getBoundingClientRect().height < 100).length"); n != "0" {
			t.Errorf("%s: %s charts are not drawn", name, n)
		}
		if alert := b.eval("document.querySelectorAll('main script, main img, main iframe').length"); alert != "0" {
			t.Errorf("%s: a name has become %s elements", name, alert)
		}
	}

	b.open(written(t, "html", exampleRun(t), Options{}), 1280, "light")
	first := "document.querySelector('#table > tbody:not([hidden]) th').textContent"
	click := func(column string) {
		b.eval(fmt.Sprintf("[...document.querySelectorAll('#table > thead button')].find(b => b.textContent === %q).click()", column))
	}
	for _, c := range []struct{ column, first string }{
		{"Type", "c7a.large"},       // a … z
		{"Type", "x9.large"},        // z … a
		{"Share", "c7a.large"},      // the least first
		{"Share", "m5.16xlarge"},    // the most first; x9.large, which has none, stays last
		{"Nodes", "m6g.large"},      // one node, and of those the one that was first before
		{"Nodes", "m5.large"},       // three nodes, likewise
		{"NodePool", "m6g.large"},   // arm
		{"Expected", "c7a.large"},   // 3114Mi
		{"Expected", "m5.16xlarge"}, // 228Gi, though "2" sorts before "3"
	} {
		click(c.column)
		if got := b.eval(first); got != c.first {
			t.Errorf("sorted by %s the first is %s, want %s", c.column, got, c.first)
		}
	}
	shown := "[...document.querySelectorAll('#table > tbody:not([hidden])')].map(b => b.querySelector('th').textContent).sort().join(' ')"
	for _, c := range []struct{ filter, verdict, shown string }{
		{"AL2023 default", "", "c7a.large m5.large x9.large"},
		{"ip-10-0-3-2", "", "m5.16xlarge"}, // a node name, folded away
		{"", "fail", "c7a.large g5.xlarge m5.16xlarge"},
		{"gpu", "fail", "g5.xlarge"},
		{"no such thing", "", ""},
		{"", "", "c7a.large g5.xlarge m5.16xlarge m5.large m6g.large x9.large"},
	} {
		b.eval(fmt.Sprintf("{ const f = document.getElementById('filter'), v = document.getElementById('verdict'); f.value = %q; v.value = %q; f.dispatchEvent(new Event('input')) }", c.filter, c.verdict))
		if got := b.eval(shown); got != c.shown {
			t.Errorf("filtered by %q and %q there are %q, want %q", c.filter, c.verdict, got, c.shown)
		}
	}
	b.quiet("sorting and filtering")

	b.call("Emulation.setScriptExecutionDisabled", map[string]any{"value": true}, nil)
	b.open(written(t, "html", exampleRun(t), Options{}), 1280, "light")
	var document struct{ Root struct{ NodeID int } }
	b.call("DOM.getDocument", nil, &document)
	var form struct{ NodeIDs []int }
	b.call("DOM.querySelectorAll", map[string]any{"nodeId": document.Root.NodeID, "selector": ".scripted"}, &form)
	if len(form.NodeIDs) != 0 {
		t.Error("scripts are off and one ran")
	}
	if bright := b.brightness("no-script"); bright < 200 {
		t.Errorf("without scripts the brightness is %v", bright)
	}
	var pdf struct{ Data string }
	b.call("Page.printToPDF", map[string]any{"printBackground": false}, &pdf)
	if len(pdf.Data) < 10000 {
		t.Errorf("the print has %d bytes", len(pdf.Data))
	}
	b.quiet("without scripts")
}

// TestChromiumTenThousand: a page of 10,000 nodes is shown and filtered in a time that a person waits for.
func TestChromiumTenThousand(t *testing.T) {
	if testing.Short() {
		t.Skip("short")
	}
	b := startBrowser(t)
	page := written(t, "html", largeRun(t, 10_000), Options{Recommendation: recommendation()})
	start := time.Now()
	b.open(page, 1280, "light")
	loaded := time.Since(start)
	start = time.Now()
	got := b.eval("{ const f = document.getElementById('filter'); f.value = 'ip-10-0-39-15.'; f.dispatchEvent(new Event('input')); document.getElementById('shown').textContent }")
	filtered := time.Since(start)
	if !strings.HasPrefix(got, "1 of ") {
		t.Errorf("filtered by one node the page shows %q", got)
	}
	t.Logf("%d bytes, loaded in %v, filtered in %v", len(page), loaded, filtered)
	if loaded > 20*time.Second || filtered > 5*time.Second {
		t.Errorf("loaded in %v, filtered in %v", loaded, filtered)
	}
	b.quiet("10,000 nodes")
}
