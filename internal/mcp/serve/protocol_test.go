package serve

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// rawPipe is a client over pipes that writes and reads lines as they are.
type rawPipe struct {
	t    *testing.T
	in   io.WriteCloser
	out  *bufio.Reader
	over chan error
}

func newRawPipe(t *testing.T, s *Server) *rawPipe {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	p := &rawPipe{t: t, in: toServer, out: bufio.NewReader(fromServer), over: make(chan error, 1)}
	go func() { p.over <- s.Pipe(t.Context(), in, out); out.Close(); in.Close() }()
	return p
}

func (p *rawPipe) says(lines ...string) {
	p.t.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(p.in, line+"\n"); err != nil {
			p.t.Error(err)
			return
		}
	}
}

func (p *rawPipe) hears() string {
	p.t.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		p.t.Fatal(err)
	}
	return line
}

// rest closes the client's end, and is all that the server still says.
func (p *rawPipe) rest() string {
	p.t.Helper()
	p.in.Close()
	rest, err := io.ReadAll(p.out)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := <-p.over; err != nil {
		p.t.Fatal(err)
	}
	return string(rest)
}

func initialize(version string) string {
	return `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"` + version + `","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
}

const initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

// sessioned are the declared versions with sessions; the newest has none.
func sessioned() []string {
	return slices.DeleteFunc(mcp.SupportedProtocolVersions(), func(v string) bool { return v >= modernProtocol })
}

func within(request, version string) string {
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + version + `","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"}}`
	return strings.Replace(request, `"params":{`, `"params":{`+meta+`,`, 1)
}

// TestALongMessageIsRefused, and the conversation goes on.
func TestALongMessageIsRefused(t *testing.T) {
	long := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"look","arguments":{"a":"` + strings.Repeat("x", maxFrame) + `"}}}`
	s, _ := newServer(t)
	p := newRawPipe(t, s)
	p.says(initialize("2025-11-25"))
	p.hears()
	go p.says(long, `{"jsonrpc":"2.0","id":99,"method":"ping"}`)
	if line := p.hears(); !strings.Contains(line, `"id":null`) || !strings.Contains(line, "4 MiB") {
		t.Errorf("%.300s", line)
	}
	if line := p.hears(); !strings.Contains(line, `"id":99`) {
		t.Errorf("afterwards: %.300s", line)
	}
	p.rest()
}

// web is a client over HTTP that sends requests as they are.
type web struct {
	t    *testing.T
	addr string
}

func (w *web) open(method, session, version, body string) *http.Response {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, "http://"+w.addr+Path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range map[string]string{"Mcp-Session-Id": session, "Mcp-Protocol-Version": version} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	resp, err := (&http.Client{Transport: bearer{http.DefaultTransport}}).Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	return resp
}

// post is the status, the session and the text of the answer: of several events, their messages as
// those of a batch.
func (w *web) post(session, version, body string) (status int, id, text string) {
	w.t.Helper()
	resp := w.open(http.MethodPost, session, version, body)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	var messages []string
	for line := range strings.Lines(string(raw)) {
		if data, ok := strings.CutPrefix(line, "data: "); ok && strings.TrimSpace(data) != "" {
			messages = append(messages, strings.TrimSpace(data))
		}
	}
	switch len(messages) {
	case 0:
		text = strings.TrimSpace(string(raw))
	case 1:
		text = messages[0]
	default:
		text = "[" + strings.Join(messages, ",") + "]"
	}
	return resp.StatusCode, resp.Header.Get("Mcp-Session-Id"), text
}

// TestACancelledRequestEnds: in every version that has a notification for it.
func TestACancelledRequestEnds(t *testing.T) {
	const hang, cancel = `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"hang"}}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5,"reason":"no"}}`
	for _, version := range mcp.SupportedProtocolVersions() {
		s, d := newServer(t)
		p := newRawPipe(t, s)
		if version < modernProtocol {
			p.says(initialize(version))
			p.hears()
			p.says(initialized, hang)
		} else {
			p.says(within(hang, version))
		}
		<-d.begun
		p.says(cancel)
		eventually(t, "the call ends", func() bool { n, _ := d.count(); return n == 1 })
		p.rest()
	}
	for _, version := range sessioned() {
		s, d := newServer(t)
		addr, stop := listening(t, s)
		w := &web{t: t, addr: addr}
		_, session, _ := w.post("", "", initialize(version))
		w.post(session, version, initialized)
		answer := make(chan string, 1)
		go func() { _, _, text := w.post(session, version, hang); answer <- text }()
		<-d.begun
		if status, _, text := w.post(session, version, cancel); status != http.StatusAccepted {
			t.Errorf("%s: %d %s", version, status, text)
		}
		if text := <-answer; !strings.Contains(text, `"aborted"`) {
			t.Errorf("%s over HTTP: %s", version, text)
		}
		stop()
	}
}

// TestDELETEEndsWhatRuns: the call that runs, and all that the client has left.
func TestDELETEEndsWhatRuns(t *testing.T) {
	for _, version := range sessioned() {
		s, d := newServer(t)
		addr, stop := listening(t, s)
		w := &web{t: t, addr: addr}
		_, session, _ := w.post("", "", initialize(version))
		w.post(session, version, initialized)
		over := make(chan bool, 1)
		go func() {
			w.post(session, version, `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"hang"}}`)
			over <- true
		}()
		<-d.begun
		resp := w.open(http.MethodDelete, session, version, "")
		resp.Body.Close()
		if resp.StatusCode/100 != 2 {
			t.Errorf("%s: %s", version, resp.Status)
		}
		<-over
		eventually(t, version+": the call ends and the fakeRunner is closed", func() bool { ended, closed := d.count(); return ended == 1 && closed == 1 })
		if status, _, _ := w.post(session, version, `{"jsonrpc":"2.0","id":6,"method":"tools/list"}`); status != http.StatusNotFound {
			t.Errorf("%s: a session that is over answers %d", version, status)
		}
		stop()
	}
}

// TestAnIdleSessionLeaves when it asked nothing for a while.
func TestAnIdleSessionLeaves(t *testing.T) {
	s, d := newServer(t)
	s.idle = 100 * time.Millisecond
	addr, _ := listening(t, s)
	w := &web{t: t, addr: addr}
	const version = "2025-11-25"
	_, session, _ := w.post("", "", initialize(version))
	w.post(session, version, initialized)
	const call = `{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"odd"}}`
	if status, _, text := w.post(session, version, call); status != http.StatusOK {
		t.Fatal(status, text)
	}
	eventually(t, "it has left", func() bool { _, closed := d.count(); return closed == 1 && s.sessions() == 0 })
	if status, _, _ := w.post(session, version, call); status != http.StatusNotFound {
		t.Errorf("a session that left answers %d", status)
	}
}

// TestEachDeclaredVersionIsObeyed: what is agreed, the headers, and the shape of results.
func TestEachDeclaredVersionIsObeyed(t *testing.T) {
	const batch = `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}},{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}]`
	for _, version := range sessioned() {
		s, _ := newServer(t)
		p := newRawPipe(t, s)
		p.says(initialize(version))
		if line := p.hears(); !strings.Contains(line, `"protocolVersion":"`+version+`"`) {
			t.Errorf("%s: %s", version, line)
		}
		p.says(initialized, batch)
		if line := p.hears(); !strings.Contains(line, "batches are not taken") {
			t.Errorf("%s: a batch: %s", version, line)
		}
		p.says(`[]`)
		if line := p.hears(); !strings.Contains(line, `"error"`) || !strings.Contains(line, `"id":null`) {
			t.Errorf("%s: an empty batch: %s", version, line)
		}
		p.says(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"odd"}}`)
		checkResult(t, version, p.hears())
		p.says(`{"jsonrpc":"2.0","id":8,"method":"tools/list"}`)
		checkResult(t, version, p.hears())
		p.says(`{"jsonrpc":"2.0","id":4,"method":"prompts/list"}`)
		if line := p.hears(); !strings.Contains(line, "-32601") {
			t.Errorf("%s: prompts, which are not declared: %s", version, line)
		}
		p.rest()

		s, _ = newServer(t)
		addr, stop := listening(t, s)
		w := &web{t: t, addr: addr}
		_, session, text := w.post("", "", initialize(version))
		if !strings.Contains(text, `"protocolVersion":"`+version+`"`) || session == "" {
			t.Errorf("%s over HTTP: %s", version, text)
		}
		w.post(session, version, initialized)
		_, _, text = w.post(session, version, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"odd"}}`)
		checkResult(t, version+" over HTTP", text)
		if status, _, _ := w.post(session, "1999-01-01", `{"jsonrpc":"2.0","id":3,"method":"tools/list"}`); status != http.StatusBadRequest {
			t.Errorf("%s over HTTP: a version that is none: %d", version, status)
		}
		stop()
	}
}

// checkResult looks for what only the newest version has in a result. How long a list may be kept
// (ttlMs, cacheScope) stands in those of all versions: the SDK writes it, and older schemas allow
// it.
func checkResult(t *testing.T, name, text string) {
	t.Helper()
	var m struct{ Result map[string]json.RawMessage }
	if err := json.Unmarshal([]byte(text), &m); err != nil || m.Result["content"] == nil && m.Result["tools"] == nil {
		t.Errorf("%s: %.300s (%v)", name, text, err)
	}
	for _, of := range []string{"resultType", "requestState", "inputRequests"} {
		if m.Result[of] != nil {
			t.Errorf("%s: a result has %s, which came later: %.300s", name, of, text)
		}
	}
}
