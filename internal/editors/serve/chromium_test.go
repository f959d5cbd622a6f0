package serve_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"
)

// browser is a real Chromium without a window, driven over pipes; what it asks of anybody but this
// machine goes to a proxy that writes it down.
type browser struct {
	t     *testing.T
	in    io.Writer
	mu    sync.Mutex
	count int
	waits map[int]chan json.RawMessage
	asked []string
	said  []string // what pages print, and what breaks in them
}

// quiet fails the test where a page printed something.
func (b *browser) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, text := range b.said {
		b.t.Errorf("the page printed: %s", text)
	}
	if len(b.asked) > 0 {
		b.t.Errorf("the browser asked others for %q", b.asked)
	}
}

func newBrowser(t *testing.T) *browser {
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
	b := &browser{t: t, waits: map[int]chan json.RawMessage{}}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.asked = append(b.asked, r.Method+" "+r.RequestURI)
		http.NotFound(w, r)
	}))
	t.Cleanup(proxy.Close)
	theirIn, in := pipe(t)
	out, theirOut := pipe(t)
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	cmd := exec.CommandContext(ctx, program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-extensions", "--user-data-dir="+filepath.Join(dir, "profile"), "--proxy-server="+proxy.URL,
		"--remote-debugging-pipe", "about:blank")
	cmd.ExtraFiles = []*os.File{theirIn, theirOut} // 3 and 4, as the browser expects
	cmd.Env, cmd.WaitDelay = append(os.Environ(), "HOME="+dir), 10*time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirIn.Close()
	theirOut.Close()
	t.Cleanup(func() {
		_, _ = in.WriteString(`{"id":1000000,"method":"Browser.close"}` + "\x00") // it may be gone
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

// listen takes answers until the browser is gone.
func (b *browser) listen(out io.Reader) {
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

// call asks the browser for something, in a tab or none.
func (b *browser) call(tab, method string, params any) json.RawMessage {
	b.t.Helper()
	b.mu.Lock()
	b.count++
	id, answer := b.count, make(chan json.RawMessage, 1)
	if b.waits == nil {
		b.t.Fatal("the browser is gone")
	}
	b.waits[id] = answer
	raw, err := json.Marshal(map[string]any{"id": id, "method": method, "params": params, "sessionId": tab})
	if tab == "" {
		raw, err = json.Marshal(map[string]any{"id": id, "method": method, "params": params})
	}
	b.mu.Unlock()
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.in.Write(append(raw, 0)); err != nil {
		b.t.Fatal(err)
	}
	select {
	case got, there := <-answer:
		if !there {
			b.t.Fatalf("the browser ended in %s", method)
		}
		return got
	case <-time.After(3 * time.Minute):
		b.t.Fatalf("no answer to %s", method)
		return nil
	}
}

// tab is a page that is open.
type tab struct {
	b  *browser
	id string
}

func (b *browser) open(url string) *tab {
	b.t.Helper()
	var target struct{ TargetID, SessionID string }
	read := func(raw json.RawMessage) {
		if err := json.Unmarshal(raw, &target); err != nil {
			b.t.Fatal(err)
		}
	}
	read(b.call("", "Target.createTarget", map[string]any{"url": "about:blank"}))
	read(b.call("", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}))
	t := &tab{b, target.SessionID}
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		b.call(t.id, domain+".enable", map[string]any{})
	}
	b.call(t.id, "Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": `window.broken = []; addEventListener("securitypolicyviolation", (e) => broken.push(e.violatedDirective)); addEventListener("error", (e) => broken.push(e.message))`})
	b.call(t.id, "Page.navigate", map[string]any{"url": url})
	t.until(`document.querySelector("h1")`)
	return t
}

// eval is the value of an expression, as text.
func (t *tab) eval(expression string) string {
	t.b.t.Helper()
	var got struct {
		Result struct {
			Value any
		}
		ExceptionDetails any
	}
	raw := t.b.call(t.id, "Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true})
	if err := json.Unmarshal(raw, &got); err != nil {
		t.b.t.Fatal(err)
	}
	if got.ExceptionDetails != nil {
		t.b.t.Fatalf("%s: %s", expression, raw)
	}
	return fmt.Sprint(got.Result.Value)
}

// until waits in the page until an expression holds. A page that is being loaded anew is looked at
// again.
func (t *tab) until(expression string) {
	t.b.t.Helper()
	for {
		got := t.eval(`new Promise((done) => { const end = Date.now() + 60000; const look = () => { let is = false; try { is = ` + expression +
			` } catch {} if (is) done("yes"); else if (Date.now() > end) done(document.body?.innerText ?? "no page"); else setTimeout(look, 10) }; look() })`)
		switch got {
		case "yes":
			return
		case "<nil>":
		default:
			t.b.t.Fatalf("it never came: %s\nthe page:\n%s", expression, got)
		}
	}
}
