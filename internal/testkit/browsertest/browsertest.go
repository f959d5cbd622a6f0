// Package browsertest drives a real Chromium for tests.
//
// The one rule: a test waits for a condition in the page, never for a time.
//
// Start reading at New. Known limits: without an installed Chromium a test is skipped.
package browsertest

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A Browser is a headless Chromium driven over pipes. Requests to other machines go to a proxy that
// records them.
type Browser struct {
	T     *testing.T
	in    io.Writer
	mu    sync.Mutex
	count int
	waits map[int]chan json.RawMessage
	asked []string
	said  []string // console output and errors
	log   string   // the file of the browser's own messages
}

// Quiet fails the test if a page printed something.
func (b *Browser) Quiet() {
	b.T.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, text := range b.said {
		b.T.Errorf("the page printed: %s", text)
	}
	if len(b.asked) > 0 {
		b.T.Errorf("the browser asked others for %q", b.asked)
	}
}

// New starts a browser for a test, or skips the test without a Chromium.
func New(t *testing.T) *Browser {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium-headless-shell", "chrome-headless-shell", "headless_shell", "chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		t.Skip("no Chromium is installed: the page is not opened in a browser")
	}
	dir := t.TempDir()
	b := &Browser{T: t, waits: map[int]chan json.RawMessage{}, log: filepath.Join(dir, "log")}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.asked = append(b.asked, r.Method+" "+r.RequestURI)
		http.NotFound(w, r)
	}))
	t.Cleanup(proxy.Close)
	theirIn, in := pipe(t)
	out, theirOut := pipe(t)
	log, err := os.Create(b.log)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	cmd := exec.CommandContext(ctx, program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-extensions", "--user-data-dir="+filepath.Join(dir, "profile"), "--proxy-server="+proxy.URL,
		"--remote-debugging-pipe", "about:blank")
	cmd.ExtraFiles = []*os.File{theirIn, theirOut} // 3 and 4, as the browser expects
	cmd.Stderr = log
	cmd.Env, cmd.WaitDelay = append(os.Environ(), "HOME="+dir), 10*time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirIn.Close()
	theirOut.Close()
	t.Cleanup(func() {
		_, _ = in.WriteString(`{"id":1000000,"method":"Browser.close"}` + "\x00") // it may have exited
		_ = cmd.Wait()
		cancel()
		in.Close()
		out.Close()
	})
	b.in = in
	go b.listen(out)
	return b
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return r, w
}

// listen reads responses until the browser exits.
func (b *Browser) listen(out io.Reader) {
	in := bufio.NewReader(out)
	for {
		raw, err := in.ReadBytes(0)
		var m struct {
			ID     int             `json:"id"`
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
			Result json.RawMessage `json:"result"`
			Error  json.RawMessage `json:"error"`
		}
		if err == nil && json.Unmarshal(raw[:len(raw)-1], &m) == nil && m.ID == 0 && slices.Contains([]string{"Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"}, m.Method) {
			b.mu.Lock()
			b.said = append(b.said, m.Method+" "+string(m.Params))
			b.mu.Unlock()
		}
		if err == nil && m.ID > 0 {
			if m.Error != nil {
				m.Result = m.Error
			}
			b.mu.Lock()
			if w := b.waits[m.ID]; w != nil {
				w <- m.Result
			}
			b.mu.Unlock()
		}
		if err != nil {
			b.mu.Lock()
			defer b.mu.Unlock()
			for _, w := range b.waits {
				close(w)
			}
			b.waits = nil
			return
		}
	}
}

// Call calls a browser method, in a tab or none.
func (b *Browser) Call(tab, method string, params any) json.RawMessage {
	b.T.Helper()
	b.mu.Lock()
	b.count++
	id, answer := b.count, make(chan json.RawMessage, 1)
	if b.waits == nil {
		close(answer)
	} else {
		b.waits[id] = answer
	}
	b.mu.Unlock()
	message := map[string]any{"id": id, "method": method, "params": params}
	if tab != "" {
		message["sessionId"] = tab
	}
	raw, err := json.Marshal(message)
	if err != nil {
		b.T.Fatal(err)
	}
	_, err = b.in.Write(append(raw, 0)) // if it fails, the browser has ended
	select {
	case got, there := <-answer:
		if !there {
			said, _ := os.ReadFile(b.log) // for the message alone
			b.T.Fatalf("the browser ended in %s: %v\n%s", method, err, said)
		}
		return got
	case <-time.After(3 * time.Minute):
		b.T.Fatalf("no answer to %s", method)
		return nil
	}
}

// A Tab is an open page.
type Tab struct {
	Browser *Browser
	ID      string // the browser's id
}

// Open opens an address in a new tab and waits for its heading.
func (b *Browser) Open(url string) *Tab {
	b.T.Helper()
	var target struct{ TargetID, SessionID string }
	read := func(raw json.RawMessage) {
		if err := json.Unmarshal(raw, &target); err != nil {
			b.T.Fatal(err)
		}
	}
	read(b.Call("", "Target.createTarget", map[string]any{"url": "about:blank"}))
	read(b.Call("", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}))
	t := &Tab{b, target.SessionID}
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		b.Call(t.ID, domain+".enable", map[string]any{})
	}
	b.Call(t.ID, "Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": `window.broken = []; addEventListener("securitypolicyviolation", (e) => broken.push(e.violatedDirective)); addEventListener("error", (e) => broken.push(e.message))`})
	b.Call(t.ID, "Page.navigate", map[string]any{"url": url})
	t.Until(`document.querySelector("h1")`)
	return t
}

// Eval evaluates an expression and returns its value as text.
func (t *Tab) Eval(expression string) string {
	t.Browser.T.Helper()
	var got struct {
		Result struct {
			Value any
		}
		ExceptionDetails any
	}
	raw := t.Browser.Call(t.ID, "Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true})
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Browser.T.Fatal(err)
	}
	if got.ExceptionDetails != nil {
		t.Browser.T.Fatalf("%s: %s", expression, raw)
	}
	return fmt.Sprint(got.Result.Value)
}

// Until waits until an expression is true in the page, also across reloads.
func (t *Tab) Until(expression string) {
	t.Browser.T.Helper()
	for {
		got := t.Eval(`new Promise((done) => { const end = Date.now() + 60000; const look = () => { let is = false; try { is = ` + expression +
			` } catch {} if (is) done("yes"); else if (Date.now() > end) done(document.body?.innerText ?? "no page"); else setTimeout(look, 10) }; look() })`)
		switch got {
		case "yes":
			return
		case "<nil>":
		default:
			t.Browser.T.Fatalf("it never came: %s\nthe page:\n%s", expression, got)
		}
	}
}

// Send types a prompt and sends it.
func (t *Tab) Send(text string) {
	t.Browser.T.Helper()
	t.Eval(`document.getElementById("words").focus()`)
	t.Browser.Call(t.ID, "Input.insertText", map[string]any{"text": text})
	t.Key("Enter")
}

// Press focuses and clicks an element.
func (t *Tab) Press(selector string) {
	t.Browser.T.Helper()
	t.Until(`document.querySelector(` + quote(selector) + `)`)
	t.Eval(`document.querySelector(` + quote(selector) + `).click()`)
}

func quote(text string) string { raw, _ := json.Marshal(text); return string(raw) } // a string can always be encoded

// Phone emulates a phone's touch screen.
func (t *Tab) Phone(width, height int) {
	t.Browser.T.Helper()
	t.Browser.Call(t.ID, "Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 2, "mobile": true})
	t.Browser.Call(t.ID, "Emulation.setTouchEmulationEnabled", map[string]any{"enabled": true, "maxTouchPoints": 1})
}

// Tap touches an element's middle. It must be in view with nothing above it.
func (t *Tab) Tap(selector string) {
	t.Browser.T.Helper()
	var at struct{ X, Y float64 }
	t.Until(`(() => { const e = document.querySelector(` + quote(selector) + `); e.scrollIntoView({block: "center"}); const r = e.getBoundingClientRect(); ` +
		`const x = r.left + r.width / 2, y = r.top + Math.min(r.height / 2, 40); window.tapped = {x, y}; return e.contains(document.elementFromPoint(x, y)) })()`)
	if err := json.Unmarshal([]byte(t.Eval(`JSON.stringify(tapped)`)), &at); err != nil {
		t.Browser.T.Fatal(err)
	}
	t.Browser.Call(t.ID, "Input.dispatchTouchEvent", map[string]any{"type": "touchStart", "touchPoints": []map[string]any{{"x": at.X, "y": at.Y}}})
	t.Browser.Call(t.ID, "Input.dispatchTouchEvent", map[string]any{"type": "touchEnd", "touchPoints": []any{}})
}

// Key presses a key, such as Enter or Alt+N.
func (t *Tab) Key(name string) {
	t.Browser.T.Helper()
	modifiers, codes := 0, map[string]int{"Enter": 13, "Escape": 27, "Tab": 9, "ArrowUp": 38, "ArrowDown": 40}
	for _, m := range []struct {
		name string
		bit  int
	}{{"Alt+", 1}, {"Ctrl+", 2}, {"Shift+", 8}} {
		if rest, is := strings.CutPrefix(name, m.name); is {
			name, modifiers = rest, modifiers|m.bit
		}
	}
	code, number, text := name, codes[name], ""
	if len(name) == 1 {
		code, number = "Key"+strings.ToUpper(name), int(strings.ToUpper(name)[0])
		if modifiers == 0 {
			text = name
		}
	}
	if name == "Enter" && modifiers == 0 {
		text = "\r"
	}
	event := map[string]any{"type": "keyDown", "key": name, "code": code, "windowsVirtualKeyCode": number, "modifiers": modifiers}
	if text != "" {
		event["text"] = text
	}
	t.Browser.Call(t.ID, "Input.dispatchKeyEvent", event)
	delete(event, "text")
	event["type"] = "keyUp"
	t.Browser.Call(t.ID, "Input.dispatchKeyEvent", event)
}

// Size sets a tab's size and color scheme.
func (t *Tab) Size(width, height int, dark bool) {
	t.Browser.Call(t.ID, "Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	t.Browser.Call(t.ID, "Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}}})
}

// Shoot saves a screenshot as WebP, a wide one smaller.
func (t *Tab) Shoot(path string) {
	t.Browser.T.Helper()
	var got struct{ Data string }
	var clip map[string]any
	if err := json.Unmarshal([]byte(t.Eval(`JSON.stringify({x: 0, y: 0, width: innerWidth, height: innerHeight, scale: innerWidth > 500 ? 0.75 : 1})`)), &clip); err != nil {
		t.Browser.T.Fatal(err)
	}
	if err := json.Unmarshal(t.Browser.Call(t.ID, "Page.captureScreenshot", map[string]any{"format": "webp", "quality": 30, "clip": clip}), &got); err != nil {
		t.Browser.T.Fatal(err)
	}
	raw, err := base64.StdEncoding.DecodeString(got.Data)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err == nil {
		err = os.WriteFile(path, raw, 0o644)
	}
	if err != nil {
		t.Browser.T.Fatal(err)
	}
}
