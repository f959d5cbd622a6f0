package serve_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"adze/internal/editors/serve"
	"adze/internal/live"
	"adze/internal/stream/ask"
	"adze/session"
	"adze/session/api"
	"adze/tool"
)

// backend keeps sessions in memory, and lets a test write what a turn does.
type backend struct {
	turn func(ctx context.Context, c *conversation, text string) session.Result

	mu     sync.Mutex
	opened int
	closed int
	logs   map[session.ID][]session.Entry
	heads  []session.Head
	open   []*conversation
	holder string
	locks  string // a folder
	wanted chan struct{}
	blocks func(name string, metadata json.RawMessage) []tool.Block // if nil, metadata is what was printed
	status serve.Status
	ports  api.Ports
	first  string // what new sessions are called

	folders []string
	all     bool // the page of this machine sees all folders
}

func (h *backend) Blocks(name string, metadata json.RawMessage) []tool.Block {
	if h.blocks != nil {
		return h.blocks(name, metadata)
	}
	return tool.Output(name, string(metadata))
}

func (h *backend) Status(session.Head) serve.Status {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.status
}

func (h *backend) Rename(_ context.Context, id session.ID, name string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.heads {
		if h.heads[i].ID == id {
			h.heads[i].Name = name
		}
	}
	return nil
}

// Folders, unless the test has named some, are one.
func (h *backend) Folders() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.folders) == 0 {
		return []string{"/home/kim/src/pool"}
	}
	return h.folders
}

func (h *backend) Served() func(string) bool {
	return func(folder string) bool {
		return folder == "" || h.all || slices.Contains(h.Folders(), folder)
	}
}

// Background stores a session; its process is that of the test.
func (h *backend) Background(_ context.Context, folder string, id session.ID, prompt string) (session.ID, error) {
	h.mu.Lock()
	if id == "" {
		id = session.ID(fmt.Sprintf("b%d", len(h.heads)))
		h.heads = append(h.heads, headIn(id, prompt, folder))
	}
	h.mu.Unlock()
	h.store(id, session.MessageEntry, session.Message{ID: fmt.Sprint(id, "-m"), Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: prompt}}})
	return id, nil
}

func headIn(id session.ID, title, folder string) session.Head {
	return session.Head{ID: id, Name: title, Updated: time.Now().Add(-9 * time.Minute), Start: encoded(session.Start{Cwd: folder, Model: "script/small"})}
}

func (h *backend) Peek(_ context.Context, id session.ID) (api.SessionPeek, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var p api.SessionPeek
	for _, e := range h.logs[id] {
		var m session.Message
		var r session.Result
		if e.Type == session.MessageEntry && json.Unmarshal(e.Data, &m) == nil {
			if m.Role == session.User {
				p.Asked, p.Answered = m.Text(), ""
			} else {
				p.Answered = m.Text()
			}
		}
		if e.Type == session.EndEntry && json.Unmarshal(e.Data, &r) == nil {
			p.Changed = append(p.Changed, r.Changed...)
		}
	}
	return p, nil
}

func (h *backend) Tag(_ context.Context, id session.ID, word string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	value, away := strings.CutPrefix(word, "-")
	for i := range h.heads {
		if h.heads[i].ID == id {
			h.heads[i].Tags = slices.DeleteFunc(slices.Clone(h.heads[i].Tags), func(t string) bool { return t == value })
			if !away {
				h.heads[i].Tags = append(h.heads[i].Tags, strings.TrimPrefix(word, "+"))
			}
		}
	}
	return nil
}

func (h *backend) Fork(_ context.Context, id session.ID) (session.ID, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	fork := id + "-fork"
	h.heads = append(h.heads, session.Head{ID: fork, Name: "a fork"})
	h.logs[fork] = h.logs[id]
	return fork, nil
}

func (h *backend) Export(_ context.Context, id session.ID, form string) ([]byte, error) {
	return []byte(form + " of " + string(id)), nil
}

func (h *backend) Search(_ context.Context, text string) ([]api.SearchResult, string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	found := []api.SearchResult{{Session: "s1", Title: "found", Kind: "answer", Snippet: "… " + text + " …"}}
	for _, head := range h.heads {
		if cwd := head.Info().Cwd; cwd != "" {
			found = append(found, api.SearchResult{Session: string(head.ID), Title: head.Name, Kind: "answer", Snippet: text, Cwd: cwd})
		}
	}
	return found, "", nil
}

func (h *backend) Output(o tool.Outcome) (string, bool) { return o.Output, true }

func (h *backend) Open(_ context.Context, id session.ID, model string, who serve.User) (serve.Conversation, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.holder != "" && slices.ContainsFunc(h.heads, func(head session.Head) bool { return head.ID == id }) {
		return nil, session.ErrLocked
	}
	h.opened++
	if model != "" {
		h.status.Model = model
	}
	if id == "" {
		id = session.ID(fmt.Sprintf("s%d", h.opened))
		h.heads = append(h.heads, session.Head{ID: id, Name: h.first, Updated: time.Now().Add(-7 * time.Minute), First: json.RawMessage(`{"parts":[{"kind":"text","text":"<b>first</b>"}]}`)})
	}
	c := &conversation{backend: h, id: id, who: who, ids: 0}
	h.open = append(h.open, c)
	return c, nil
}

func (h *backend) Sessions(context.Context, int) ([]session.Head, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]session.Head(nil), h.heads...), nil
}

func (h *backend) Session(_ context.Context, id session.ID) (session.Head, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, head := range h.heads {
		if head.ID == id {
			return head, nil
		}
	}
	return session.Head{}, session.ErrNotFound
}

func (h *backend) Log(_ context.Context, id session.ID, after int64, each func(int64, session.Entry) error) error {
	h.mu.Lock()
	log := h.logs[id]
	h.mu.Unlock()
	for i, e := range log {
		if int64(i+1) > after {
			if err := each(int64(i+1), e); err != nil {
				return err
			}
		}
	}
	return nil
}

func (h *backend) Holder(session.ID) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.holder
}

func (h *backend) Locks() string { return h.locks }

// letGo says that no other process has a session any more.
func (h *backend) letGo() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.holder = ""
}

func (h *backend) store(id session.ID, kind session.EntryType, data any) {
	raw, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.logs == nil {
		h.logs = map[session.ID][]session.Entry{}
	}
	h.logs[id] = append(h.logs[id], session.Entry{Type: kind, Data: raw})
}

// ends are the ends of turns in a log.
func (h *backend) ends(id string) (out []session.Entry) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range h.logs[session.ID(id)] {
		if e.Type == session.EndEntry {
			out = append(out, e)
		}
	}
	return out
}

func (h *backend) counts() (opened, closed int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.opened, h.closed
}

// conversation does what the test's turn says. What it tells is stored first, as in a session.
type conversation struct {
	backend  *backend
	id       session.ID
	who      serve.User
	ids      int
	prompted string // the newest prompt

	mu      sync.Mutex
	steers  bool
	remarks []string
}

func (c *conversation) ID() session.ID { return c.id }

func (c *conversation) Prompt(ctx context.Context, p serve.Prompt) session.Result {
	if p.Replace {
		c.backend.store(c.id, session.RewindEntry, session.Rewound{MessageID: c.prompted})
	}
	said := []session.Part{{Kind: session.TextPart, Text: p.Text + p.Texts}}
	for _, a := range p.Attachments {
		said = append(said, session.Part{Kind: session.AttachmentPart, Attachment: &a})
	}
	c.says(session.User, said...)
	c.prompted = fmt.Sprintf("m%d", c.ids)
	r := session.Result{Cause: session.CauseInternal, Message: "the test has no turn"}
	if c.backend.turn != nil {
		r = c.backend.turn(ctx, c, p.Text+p.Texts)
	}
	c.backend.store(c.id, session.EndEntry, r)
	if len(r.Changed) > 0 {
		_ = c.backend.Tag(ctx, c.id, live.ReviewTag) // as a session does that nobody need look at
	}
	c.who.Observe(session.TurnEnd{Result: r})
	return r
}

func (c *conversation) next() string {
	c.ids++
	return fmt.Sprintf("m%d", c.ids)
}

func (c *conversation) says(role session.Role, parts ...session.Part) {
	m := session.Message{ID: c.next(), Role: role, Parts: parts}
	c.backend.store(c.id, session.MessageEntry, m)
	c.who.Observe(session.MessageDone{Message: m})
}

func (c *conversation) answers(text string) {
	c.says(session.Assistant, session.Part{Kind: session.TextPart, Text: text})
}

// calls makes a call, asks about it and ends it as the answer says.
func (c *conversation) calls(ctx context.Context, id, name, args string, preview ...tool.Block) (ask.Answer, error) {
	call := tool.CallID(id)
	c.says(session.Assistant, session.Part{Kind: session.CallPart, Call: &tool.RawCall{ID: call, Name: name, Arguments: args}})
	a, err := c.who.Ask(ctx, ask.Permission{Question: tool.Question{Call: call, Tool: tool.Definition{Name: name}, Needs: []tool.Need{{Permission: tool.Execute, Target: args}}}, Preview: preview})
	o := tool.Outcome{Call: call, Tool: name, Status: tool.Completed, Output: "ran"}
	if err != nil || a.Choice == ask.Deny {
		o.Status, o.Code, o.Output = tool.Denied, "denied", "the person said no: "+a.Reason
	}
	c.backend.store(c.id, session.OutcomeEntry, o)
	c.who.Observe(session.ToolEnd{Outcome: o})
	return a, err
}

func (c *conversation) Steer(text string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.steers {
		c.remarks = append(c.remarks, text)
	}
	return c.steers
}

func (c *conversation) Blocks(name string, metadata json.RawMessage) []tool.Block {
	return c.backend.Blocks(name, metadata)
}
func (c *conversation) Ports() *api.Ports { return &c.backend.ports }
func (c *conversation) Commands() []api.Named {
	return []api.Named{{Name: "project:fix", Args: "ISSUE", Help: "mend an issue"}}
}
func (c *conversation) Status() serve.Status {
	c.backend.mu.Lock()
	defer c.backend.mu.Unlock()
	return c.backend.status
}
func (c *conversation) Refresh()                {}
func (c *conversation) Rewound()                {}
func (c *conversation) Wanted() <-chan struct{} { return c.backend.wanted }
func (c *conversation) Close() {
	c.backend.mu.Lock()
	defer c.backend.mu.Unlock()
	c.backend.closed++
}

func done() session.Result { return session.Result{Cause: session.CauseDone} }

// site is a server that listens, and someone who knows its token.
type site struct {
	t     *testing.T
	s     *serve.Server
	url   string
	token string
	gone  *sync.Map // addresses of connections that the server has closed
}

func listen(t *testing.T, h *backend, change ...func(*serve.Server)) *site {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if h.wanted == nil {
		h.wanted = make(chan struct{})
	}
	s := &serve.Server{Backend: h, Token: rand.Text(), Host: l.Addr().String()}
	for _, c := range change {
		c(s)
	}
	s.Start(context.Background())
	server, gone := s.HTTP(), &sync.Map{}
	server.ConnState = func(c net.Conn, now http.ConnState) {
		if now == http.StateClosed {
			gone.Store(c.RemoteAddr().String(), true)
		}
	}
	server.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		_ = c.(*net.TCPConn).SetWriteBuffer(64 << 10) // so that little hides in the system from a reader that stops
		return ctx
	}
	go server.Serve(l)
	t.Cleanup(func() { s.Close(); server.Close() })
	return &site{t, s, "http://" + s.Host, s.Token, gone}
}

func (s *site) request(method, path, body string) *http.Request {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

func (s *site) do(r *http.Request) *http.Response {
	s.t.Helper()
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: dial}}).Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, network, address)
	if err == nil {
		err = c.(*net.TCPConn).SetReadBuffer(64 << 10)
	}
	return c, err
}

// get asks and reads the whole answer.
func (s *site) get(method, path, body string) (int, string) {
	s.t.Helper()
	resp := s.do(s.request(method, path, body))
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatalf("%v behind %s", err, raw)
	}
	return resp.StatusCode, string(raw)
}

func (s *site) begin() string {
	s.t.Helper()
	code, text := s.get("POST", "/api/session", "{}")
	var is struct{ ID string }
	if err := json.Unmarshal([]byte(text), &is); err != nil || code != http.StatusCreated {
		s.t.Fatalf("%d %s %v", code, text, err)
	}
	return is.ID
}

func prompt(id, text string) string {
	return fmt.Sprintf(`{"id":%q,"trigger":"submit-message","messages":[{"role":"user","parts":[{"type":"text","text":%q}]}]}`, id, text)
}

// reply is the POST of an approval.
func reply(id string, p part, approved bool) string {
	return fmt.Sprintf(`{"id":%q,"messages":[{"role":"assistant","parts":[{"type":"dynamic-tool","state":"approval-responded","toolCallId":%q,"input":%s,"approval":{"id":%q,"approved":%v}}]}]}`,
		id, p.ToolCallID, p.Input, p.ApprovalID, approved)
}

// part is what a test looks at.
type part struct {
	Type, MessageID, ToolCallID, ApprovalID, Delta, ErrorText, FinishReason string
	Input, Output                                                           json.RawMessage
	Data                                                                    json.RawMessage
}

// stream reads parts one by one.
type stream struct {
	t    *testing.T
	in   *bufio.Scanner
	seen []part
	over bool
}

func (s *site) stream(method, path, body string) *stream {
	s.t.Helper()
	resp := s.do(s.request(method, path, body))
	if resp.StatusCode != http.StatusOK {
		raw, _ := io.ReadAll(resp.Body)
		s.t.Fatalf("%s %s: %d %s", method, path, resp.StatusCode, raw)
	}
	in := bufio.NewScanner(resp.Body)
	in.Buffer(nil, 64<<20)
	return &stream{t: s.t, in: in}
}

// next is the next part; if false, the stream has ended.
func (s *stream) next() (part, bool) {
	for s.in.Scan() {
		text, ok := strings.CutPrefix(s.in.Text(), "data: ")
		if !ok {
			continue
		}
		if text == "[DONE]" {
			s.over = true
			continue
		}
		var p part
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			return part{}, false // it was cut
		}
		s.seen = append(s.seen, p)
		return p, true
	}
	return part{}, false
}

// until reads to a part of a type. An approval gets the input of its call.
func (s *stream) until(kind string) part {
	s.t.Helper()
	for {
		p, ok := s.next()
		if !ok {
			s.t.Fatalf("the stream ended before %s: %+v", kind, s.seen)
		}
		if p.Type == kind {
			for _, q := range s.seen {
				if q.Type == "tool-input-available" && q.ToolCallID == p.ToolCallID {
					p.Input = q.Input
				}
			}
			return p
		}
	}
}

// rest reads to the end and returns the text of all.
func (s *stream) rest() (text string) {
	s.t.Helper()
	for {
		if _, ok := s.next(); !ok {
			break
		}
	}
	for _, p := range s.seen {
		if p.Type == "text-delta" {
			text += p.Delta
		}
	}
	return text
}

// eventually waits for what another goroutine does.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it never came: " + what)
		}
	}
}
