package serve_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adze/internal/editors/pairing"
	"adze/internal/editors/serve"
	"adze/session"
	"adze/tui/permission"
)

// beyond is a server that paired devices reach over TLS, and what a device sends there.
type beyond struct {
	*site
	address string
	host    string
	devices *pairing.Devices
}

func listenFar(t *testing.T, h *house, change ...func(*serve.Server)) *beyond {
	t.Helper()
	dir := t.TempDir()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cert, err := pairing.Certificate(filepath.Join(dir, "tls.pem"), []string{"127.0.0.1"}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	b := &beyond{host: l.Addr().String(), devices: &pairing.Devices{Path: filepath.Join(dir, "devices.json")}}
	b.address = "https://" + b.host
	b.site = listen(t, h, append(change, func(s *serve.Server) {
		s.Far = &serve.Far{Hosts: map[string]bool{b.host: true, "box.example": true}, Address: b.address, Fingerprint: pairing.Fingerprint(cert),
			Devices: b.devices, Exchange: &pairing.Exchange{Devices: b.devices}}
	})...)
	server := b.s.HTTP()
	go server.Serve(tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{cert}}))
	t.Cleanup(func() { server.Close() })
	return b
}

// send is a request of a device; a token may be empty.
func (b *beyond) send(method, path, token, body string, change ...func(*http.Request)) *http.Response {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.address+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, c := range change {
		c(r)
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}).Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func (b *beyond) sends(method, path, token, body string) (int, string) {
	b.t.Helper()
	resp := b.send(method, path, token, body)
	raw, _ := io.ReadAll(resp.Body) // a stream that is cut has told enough
	return resp.StatusCode, string(raw)
}

// device lets one in without asking.
func (b *beyond) device(may ...pairing.Scope) (token string, d pairing.Device) {
	b.t.Helper()
	token, d, err := b.devices.Add("phone", may)
	if err != nil {
		b.t.Fatal(err)
	}
	return token, d
}

func TestADeviceIsPairedOverHTTP(t *testing.T) {
	b := listenFar(t, &house{})
	code, text := b.get("POST", "/api/pair", `{"may":["look"]}`)
	var o pairing.Opened
	if err := json.Unmarshal([]byte(text), &o); err != nil || code != 201 || !strings.HasPrefix(o.Address, b.address+"/pair#") || o.Fingerprint == "" {
		t.Fatalf("%d %s", code, text)
	}
	if code, text := b.sends("GET", "/pair", "", ""); code != 200 || strings.Contains(text, o.Code) {
		t.Errorf("the page: %d", code)
	}
	code, text = b.sends("POST", "/api/pair/claim", "", `{"code":"`+o.Code+`","name":"my phone"}`)
	var claim struct{ Secret, Word string }
	if err := json.Unmarshal([]byte(text), &claim); err != nil || code != 200 {
		t.Fatalf("%d %s", code, text)
	}
	if code, text := b.get("GET", "/api/pair/claim", ""); code != 200 || !strings.Contains(text, claim.Word) || !strings.Contains(text, "my phone") {
		t.Errorf("the user sees %d %s", code, text)
	}
	if code, text := b.sends("POST", "/api/pair/claim", "", `{"code":"`+o.Code+`","name":"another phone"}`); code != 409 || !strings.Contains(text, "used already") {
		t.Errorf("another phone with the same code: %d %s", code, text)
	}
	if code, text := b.get("POST", "/api/pair/decide", `{"allow":true}`); code != 204 {
		t.Errorf("%d %s", code, text)
	}
	code, text = b.sends("POST", "/api/pair/collect", "", `{"secret":"`+claim.Secret+`"}`)
	var got struct{ Token string }
	if err := json.Unmarshal([]byte(text), &got); err != nil || code != 200 {
		t.Fatalf("%d %s", code, text)
	}
	if code, text := b.sends("GET", "/api/session", got.Token, ""); code != 200 {
		t.Errorf("the list for the device: %d %s", code, text)
	}
	if code, _ := b.sends("POST", "/api/pair/collect", "", `{"secret":"`+claim.Secret+`"}`); code != 410 {
		t.Errorf("a second token: %d", code)
	}
	for range 5 {
		b.sends("POST", "/api/pair/claim", "", `{"code":"AAAAAAAAAA","name":""}`)
	}
	if code, text := b.sends("POST", "/api/pair/claim", "", `{"code":"`+o.Code+`","name":""}`); code != 429 || !strings.Contains(text, "locked") {
		t.Errorf("after wrong codes: %d %s", code, text)
	}
}

// TestNobodyGetsInFromBeyond: each attack has one clear refusal, and opens nothing.
func TestNobodyGetsInFromBeyond(t *testing.T) {
	h := &house{}
	b := listenFar(t, h)
	token, _ := b.device(pairing.Scopes()...)
	set := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for name, a := range map[string]struct {
		code   int
		says   string
		token  string
		change func(*http.Request)
	}{
		"no token":                    {401, "not paired", "", nil},
		"the token of the machine":    {401, "not paired any more", b.token, nil},
		"a guessed token":             {401, "not paired any more", strings.Repeat("A", 43), nil},
		"the token in the query":      {401, "not paired", "", func(r *http.Request) { r.URL.RawQuery = "token=" + token }},
		"the token in a cookie":       {401, "not paired", "", set("Cookie", "token="+token)},
		"another host":                {421, "another name", token, func(r *http.Request) { r.Host = "evil.example" }},
		"the host of the machine":     {421, "another name", token, func(r *http.Request) { r.Host = b.s.Host }},
		"another origin":              {403, "another origin", token, set("Origin", "https://evil.example")},
		"the origin without TLS":      {403, "another origin", token, set("Origin", "http://"+b.host)},
		"the origin of the machine":   {403, "another origin", token, set("Origin", b.url)},
		"a browser says cross-site":   {403, "another origin", token, set("Sec-Fetch-Site", "cross-site")},
		"a form":                      {415, "application/json", token, set("Content-Type", "text/plain")},
		"two tokens":                  {401, "not paired", "", func(r *http.Request) { r.Header["Authorization"] = []string{"Bearer " + token, "Bearer x"} }},
		"the name of a tunnel, wrong": {403, "another origin", token, func(r *http.Request) { r.Host = "box.example"; r.Header.Set("Origin", "https://other.example") }},
	} {
		t.Run(name, func(t *testing.T) {
			var change []func(*http.Request)
			if a.change != nil {
				change = append(change, a.change)
			}
			resp := b.send("POST", "/api/session", a.token, "{}", change...)
			raw, _ := io.ReadAll(resp.Body)
			if resp.StatusCode != a.code || !strings.Contains(string(raw), a.says) {
				t.Errorf("%d %s, want %d %s", resp.StatusCode, raw, a.code, a.says)
			}
			harmless(t, resp)
		})
	}
	if opened, _ := h.counts(); opened != 0 {
		t.Errorf("%d sessions were opened", opened)
	}
	if code, text := b.sends("POST", "/api/session", token, "{}"); code != 201 {
		t.Errorf("the same without an attack: %d %s", code, text)
	}
	plain, err := http.Get("http://" + b.host + "/api/session")
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Body.Close()
	if plain.StatusCode != 400 {
		t.Errorf("plain HTTP: %d", plain.StatusCode)
	}
	// Places of devices are not at the address of the machine, and tokens of devices are worth nothing there.
	r := b.request("POST", "/api/pair/claim", "{}")
	if resp := b.do(r); resp.StatusCode != 404 {
		t.Errorf("a claim on the machine: %d", resp.StatusCode)
	}
	r = b.request("GET", "/api/session", "")
	r.Header.Set("Authorization", "Bearer "+token)
	if resp := b.do(r); resp.StatusCode != 401 {
		t.Errorf("a device's token on the machine: %d", resp.StatusCode)
	}
	// Through a tunnel the request comes to the machine's address with another name.
	r = b.request("GET", "/api/session", "")
	r.Host = "box.example"
	if resp := b.do(r); resp.StatusCode != 401 {
		t.Errorf("the machine's token through a tunnel: %d", resp.StatusCode)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	if resp := b.do(r); resp.StatusCode != 200 {
		t.Errorf("a device's token through a tunnel: %d", resp.StatusCode)
	}
}

// TestADeviceDoesWhatItMay: what a scope does not hold is refused, and what no scope holds is the
// machine's alone.
func TestADeviceDoesWhatItMay(t *testing.T) {
	h := &house{turn: func(context.Context, *conversation, string) session.Result { return done() }}
	b := listenFar(t, h)
	id := b.begin()
	tokens := map[pairing.Scope]string{}
	for _, s := range pairing.Scopes() {
		tokens[s], _ = b.device(pairing.Look, s)
	}
	answer := `{"id":"` + id + `","messages":[{"role":"assistant","parts":[{"type":"dynamic-tool","state":"approval-responded","approval":{"id":"x","approved":true}}]}]}`
	for _, c := range []struct {
		method, path, body   string
		look, answer, prompt int
	}{
		{"GET", "/api/session", "", 200, 200, 200},
		{"GET", "/api/chat/" + id, "", 200, 200, 200},
		{"POST", "/api/session", "{}", 403, 403, 201},
		{"POST", "/api/chat", prompt(id, "hi"), 403, 403, 200},
		{"POST", "/api/chat", answer, 403, 403, 403}, // with the scope: it was not asked for
		{"DELETE", "/api/chat/" + id + "/stream", "", 403, 409, 403},
		{"GET", "/api/page/" + id + "/menu", "", 200, 200, 200},
		{"POST", "/api/page/" + id + "/answer", `{"question":"x","choice":"once"}`, 403, 403, 403}, // with the scope: no such question
		{"POST", "/api/page/" + id + "/answer", `{"question":"x","choice":"always"}`, 403, 403, 403},
		{"POST", "/api/page/" + id + "/stop", "{}", 403, 409, 403},
		{"POST", "/api/page/" + id + "/set", `{"name":"mode","value":"yolo"}`, 403, 403, 403},
		{"POST", "/api/page/" + id + "/run", `{"text":"touch x"}`, 403, 403, 403},
		{"POST", "/api/page/" + id + "/nothing", `{}`, 403, 403, 403},
		{"POST", "/api/pair", `{"may":["prompt"]}`, 403, 403, 403},
		{"GET", "/api/pair/claim", "", 403, 403, 403},
		{"POST", "/api/pair/decide", `{"allow":true}`, 403, 403, 403},
		{"DELETE", "/api/pair", "", 403, 403, 403},
	} {
		for scope, want := range map[pairing.Scope]int{pairing.Look: c.look, pairing.Answer: c.answer, pairing.Prompt: c.prompt} {
			if code, text := b.sends(c.method, c.path, tokens[scope], c.body); code != want {
				t.Errorf("%s %s with %s: %d %s, want %d", c.method, c.path, scope, code, text, want)
			}
		}
	}
	for _, choice := range []string{"always", "session", "edits", "try"} {
		if _, text := b.sends("POST", "/api/page/"+id+"/answer", tokens[pairing.Answer], `{"question":"x","choice":"`+choice+`"}`); !strings.Contains(text, "only the machine") {
			t.Errorf("a device answers %s: %s", choice, text)
		}
	}
	if _, text := b.sends("POST", "/api/chat", tokens[pairing.Answer], answer); !strings.Contains(text, "not asked for") {
		t.Errorf("an answer with the scope: %s", text)
	}
}

// TestAnAnswerOfADeviceIsKnown: it counts once, for one call, and the log says which device sent it.
func TestAnAnswerOfADeviceIsKnown(t *testing.T) {
	answers := make(chan permission.Answer, 1)
	h := &house{turn: func(ctx context.Context, c *conversation, _ string) session.Result {
		a, _ := c.calls(ctx, "c1", "bash", `{"command":"make"}`)
		answers <- a
		return done()
	}}
	b := listenFar(t, h)
	id := b.begin()
	token, d := b.device(pairing.Look, pairing.Answer)
	asked := b.stream("POST", "/api/chat", prompt(id, "go")).until("tool-approval-request")
	if code, text := b.sends("POST", "/api/chat", token, reply(id, asked, true)); code != 200 {
		t.Fatalf("%d %s", code, text)
	}
	if a := <-answers; a.Choice != permission.Once || a.By != "page on device "+d.ID+" (phone)" {
		t.Errorf("%+v", a)
	}
}

// TestAnAnswerOfThePageIsKnown as one.
func TestAnAnswerOfThePageIsKnown(t *testing.T) {
	answers := make(chan permission.Answer, 1)
	s := listen(t, &house{turn: func(ctx context.Context, c *conversation, _ string) session.Result {
		a, _ := c.calls(ctx, "c1", "bash", `{"command":"make"}`)
		answers <- a
		return done()
	}})
	id := s.begin()
	next := s.watcher("session=" + id)
	s.act(id, "say", map[string]any{"text": "go"})
	s.act(id, "answer", map[string]any{"question": questionIn(untilHTML(next, "data-question")), "choice": "once"})
	if a := <-answers; a.By != "page" {
		t.Errorf("the answer is %+v", a)
	}
}

// TestADeviceIsRevokedInTheMiddleOfAStream: the stream breaks off, and nothing is told any more.
func TestADeviceIsRevokedInTheMiddleOfAStream(t *testing.T) {
	goOn := make(chan struct{})
	h := &house{turn: func(ctx context.Context, c *conversation, _ string) session.Result {
		c.answers("before")
		select {
		case <-goOn:
		case <-ctx.Done():
		}
		c.answers("after")
		return done()
	}}
	b := listenFar(t, h)
	id := b.begin()
	token, d := b.device(pairing.Look)
	own := b.stream("POST", "/api/chat", prompt(id, "go"))
	own.until("text-delta")
	resp := b.send("GET", "/api/chat/"+id+"/stream", token, "")
	told := make([]byte, 1)
	if _, err := io.ReadFull(resp.Body, told); err != nil || resp.StatusCode != 200 {
		t.Fatalf("%d %v", resp.StatusCode, err)
	}
	other := &pairing.Devices{Path: b.devices.Path} // as adze serve devices revoke does, in another process
	if _, err := other.Revoke(d.ID); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(resp.Body)
	close(goOn)
	if err == nil || strings.Contains(string(rest), "after") {
		t.Errorf("the stream went on: %v %s", err, rest)
	}
	if code, text := b.sends("GET", "/api/session", token, ""); code != 401 || !strings.Contains(text, "not paired any more") {
		t.Errorf("%d %s", code, text)
	}
	if text := own.rest(); !strings.Contains(text, "after") {
		t.Errorf("the turn has ended, too: %s", text)
	}
}
