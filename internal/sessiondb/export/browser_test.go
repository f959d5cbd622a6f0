package export_test

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"adze/internal/sessiondb/export"
	"adze/session"
	"adze/tool"
)

// browser is a real Chromium without a window, whose every request goes through a proxy of the
// test's own.
type browser struct {
	t       *testing.T
	program string
	proxy   *httptest.Server

	mu   sync.Mutex
	seen []string
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	b := &browser{t: t}
	for _, name := range []string{"chromium-headless-shell", "chrome-headless-shell", "headless_shell", "chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			b.program = path
			break
		}
	}
	if b.program == "" {
		t.Skip("no Chromium is installed: the page is not looked at in a browser")
	}
	b.proxy = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.seen = append(b.seen, r.Method+" "+r.RequestURI)
		http.NotFound(w, r)
	}))
	t.Cleanup(b.proxy.Close)
	return b
}

// open loads a page and returns what requests it made and what the browser printed.
func (b *browser) open(page []byte, flags ...string) (requests []string, printed string) {
	b.t.Helper()
	dir := b.t.TempDir()
	file := filepath.Join(dir, "page.html")
	if err := os.WriteFile(file, page, 0o600); err != nil {
		b.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(b.t.Context(), 3*time.Minute)
	defer cancel()
	args := append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-extensions", "--hide-scrollbars", "--user-data-dir=" + filepath.Join(dir, "profile"),
		"--proxy-server=" + b.proxy.URL, "--proxy-bypass-list=<-loopback>"}, flags...)
	cmd := exec.CommandContext(ctx, b.program, append(args, "file://"+file)...)
	cmd.Env, cmd.WaitDelay = append(os.Environ(), "HOME="+dir), 10*time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		b.t.Fatalf("%v\n%s", err, errs.String())
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	requests, b.seen = b.seen, nil
	return requests, out.String()
}

// attacked is a session with all attacks in it, aimed at a server.
func attacked(t *testing.T, at string) []session.Entry {
	var all []session.Entry
	for _, attack := range attacks() {
		all = append(all, hostile(t, strings.ReplaceAll(attack, "ATTACKER", at))...)
	}
	return all
}

// A page with every attack in it runs nothing and asks nobody, with its policy and, since an old
// browser may not know that, without. A page that does both is noticed.
func TestPageInABrowser(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	bad := []byte(`<!doctype html><title>x</title><img src="http://192.0.2.1/seen"><script>document.title="PWNED"</script>`)
	if requests, dom := b.open(bad, "--dump-dom"); len(requests) == 0 || !strings.Contains(dom, "<title>PWNED") {
		t.Fatalf("the test notices nothing: %q\n%s", requests, dom)
	}
	page := export.FromLog(attacked(t, "192.0.2.1"), export.Options{Session: "s", Title: attacks()[0], Tools: tools{}}).HTML()
	policy := regexp.MustCompile(`<meta http-equiv="Content-Security-Policy"[^>]*>`).FindIndex(page)
	if policy == nil {
		t.Fatal("the page has no policy")
	}
	without := append(bytes.Clone(page[:policy[0]]), page[policy[1]:]...)
	for name, p := range map[string][]byte{"with its policy": page, "without it": without} {
		requests, dom := b.open(p, "--dump-dom")
		if len(requests) > 0 {
			t.Errorf("%s it asked for %q", name, requests)
		}
		if strings.Contains(dom, "<title>PWNED") || !strings.Contains(dom, "<title>&lt;script&gt;") {
			t.Errorf("%s: the title is %.80q", name, dom[max(0, strings.Index(dom, "<title>")):])
		}
		if n, want := strings.Count(dom, "<details>"), strings.Count(string(p), "<details>"); n != want || n == 0 {
			t.Errorf("%s: %d folded calls, want %d", name, n, want)
		}
	}
}

// What a user attached is seen, and the page is a page.
func TestPictureInABrowser(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	l := &log{t: t}
	l.add(session.StartEntry, session.Start{Version: "0.1.0", Cwd: "/w", Model: "p/large"})
	l.says(session.User, "look at this", session.Part{Kind: session.AttachmentPart, Attachment: &tool.Attachment{Name: "magenta.png", MediaType: "text/html", Data: square(t, 200, color.RGBA{255, 0, 255, 255})}})
	l.says(session.Assistant, "# It is *magenta*\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nsee [docs](https://example.org/x)")
	page := of(l.entries).HTML()
	shot := filepath.Join(t.TempDir(), "shot.png")
	requests, _ := b.open(page, "--window-size=900,900", "--screenshot="+shot)
	if len(requests) > 0 {
		t.Errorf("it asked for %q", requests)
	}
	raw, err := os.ReadFile(shot)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	if n := count(img, color.RGBA{255, 0, 255, 255}); n < 200*200*9/10 {
		t.Errorf("%d pixels are magenta, want %d", n, 200*200)
	}
	requests, dom := b.open(page, "--dump-dom")
	if len(requests) > 0 {
		t.Errorf("it asked for %q", requests)
	}
	for _, want := range []string{"<li>", "<em>magenta</em>", "<td>2</td>", `<a rel="noreferrer noopener" href="https://example.org/x">`, `alt="magenta.png"`} {
		if !strings.Contains(dom, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

func count(img image.Image, c color.RGBA) (n int) {
	r := img.Bounds()
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			if color.RGBAModel.Convert(img.At(x, y)) == color.Color(c) {
				n++
			}
		}
	}
	return n
}
