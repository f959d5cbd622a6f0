package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"adze/internal/editors/htmlstream"
	"adze/internal/live"
	"adze/internal/live/control"
	"adze/internal/text/redact"
	"adze/session"
	"adze/session/api"
	"adze/tool"
)

// How often a page is told at most while text comes, and how often it hears that all is well.
const (
	pageBeat  = 40 * time.Millisecond
	pageAlive = 10 * time.Second
)

// note is one thing that a page is told; Kind says which fields count.
type note struct {
	Kind string `json:"t"` // turns, turn, put, bar, list, alive, gone
	// Turns are the ids of all turns of a session, in order; the page drops all others.
	Turns []string `json:"turns,omitempty"`
	// Pieces are all pieces of the turn ID; Reset says that the page looks for the first time.
	ID     string              `json:"id,omitempty"`
	Pieces []htmlstream.Change `json:"pieces,omitempty"`
	Change *htmlstream.Change  `json:"change,omitempty"`
	Bar    *bar                `json:"bar,omitempty"`
	HTML   string              `json:"html,omitempty"`
	Needs  int                 `json:"needs,omitempty"` // sessions that wait for the user
	Text   string              `json:"text,omitempty"`
}

// bar is what a page always shows of its session.
type bar struct {
	ID      session.ID `json:"id"`
	Title   string     `json:"title"`
	State   string     `json:"state"` // idle, running, waiting or elsewhere
	Who     string     `json:"who,omitempty"`
	Model   string     `json:"model,omitempty"`
	Folder  string     `json:"folder,omitempty"`
	Branch  string     `json:"branch,omitempty"`
	Mode    string     `json:"mode,omitempty"`
	Effort  string     `json:"effort,omitempty"`
	Sandbox string     `json:"sandbox,omitempty"`
	Used    int        `json:"used,omitempty"`
	Window  int        `json:"window,omitempty"`
	Cost    *float64   `json:"cost,omitempty"`
	Doing   string     `json:"doing,omitempty"`
	Queue   []string   `json:"queue,omitempty"`
	Steered []string   `json:"steered,omitempty"`
	Review  bool       `json:"review,omitempty"`  // it changed files
	Folders []string   `json:"folders,omitempty"` // where a session can be begun, this one first
}

// openSession is one that is open here (room), or in a process with a socket (remoteSession).
type openSession interface {
	// attend has a reader told all that happens from here on, which says so at woken, until forget.
	attend(woken chan struct{}) pageState
	forget(*reader)
	// Status is what the session does; model names the one that answers in it.
	Status() live.Status
	model() string
	works(session.Head) Status
	blocks(name string, metadata json.RawMessage) []tool.Block

	control(ctx context.Context, r control.Request) (any, error)
	prompted(ctx context.Context, a action) (any, error)
	answered(ctx context.Context, a action) error
	stopped(ctx context.Context) error
	repeated(ctx context.Context) error
}

// place is what a watcher needs of the server.
type place struct {
	backend  Backend
	masker   func() *redact.Masker // as in Server
	mask     func() *redact.Masker // never nil
	now      func() time.Time
	wait     func(ctx context.Context, d time.Duration, stirred <-chan struct{}) error
	find     func(session.ID) openSession // if nil, the session is not open
	overview func(ctx context.Context, current session.ID) (html string, needs int, err error)
	ended    func() error // that the server ends
	stirs    func() int64 // counts the changes of which sessions there are and what they do
}

func (s *Server) place() place {
	return place{backend: s.Backend, masker: s.Mask, mask: s.mask, now: s.Now, wait: s.Wait, overview: s.overview, ended: s.ctx.Err, stirs: s.stirs.Load, find: s.find}
}

// watcher tells one page of the list of sessions and of one session.
type watcher struct {
	place
	out   *out
	woken chan struct{}
	id    session.ID // if empty, the list alone

	live   openSession // where it is open; else nil
	reader *reader
	view   *htmlstream.View
	seq    int64 // of the log, up to which it was read
	holder string

	stirred   int64 // when the list was made
	listed    time.Time
	told, bar string // as they were told
	status    Status
	mode      string    // that the log says the session goes on in
	asked     time.Time // when the status was
	sent      time.Time
	head      session.Head
}

// watch tells a page about sessions until it goes. A page that comes back says how many turns of
// its session it has, and the last of them.
func (s *Server) watch(w http.ResponseWriter, r *http.Request) {
	id := session.ID(r.URL.Query().Get("session"))
	t := &watcher{place: s.place(), id: id, woken: make(chan struct{}, 1),
		out: s.out(w)}
	if id != "" {
		if err := s.known(r.Context(), id); err != nil {
			refuse(w, err)
			return
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	s.mu.Lock()
	s.pages[t.woken] = struct{}{}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.pages, t.woken)
		s.mu.Unlock()
		t.leave()
	}()
	have, _ := strconv.Atoi(r.URL.Query().Get("turns"))
	err := t.begin(r.Context(), have, r.URL.Query().Get("last"))
	for err == nil {
		err = t.round(r.Context())
	}
	if s.ctx.Err() != nil {
		_ = t.tell(note{Kind: "gone", Text: "adze serve has ended"}) // the browser may be gone
	}
}

// begin tells all that there is.
func (t *watcher) begin(ctx context.Context, have int, last string) error {
	if err := t.list(ctx); err != nil {
		return err
	}
	if t.id == "" { // a new session is begun from there
		b := &bar{State: "idle", Folders: t.backend.Folders()}
		b.works(t.backend.Status(session.Head{}))
		return t.tell(note{Kind: "bar", Bar: b})
	}
	return t.anew(ctx, have, last)
}

// round waits for something to happen, and tells it.
func (t *watcher) round(ctx context.Context) error {
	if err := t.wait(ctx, pageAlive, t.woken); err != nil {
		return err
	}
	if err := t.ended(); err != nil {
		return err
	}
	if t.stirs() != t.stirred || t.now().Sub(t.listed) >= pageAlive {
		if err := t.list(ctx); err != nil {
			return err
		}
	}
	if t.id != "" {
		if err := t.session(ctx); err != nil {
			return err
		}
	}
	if t.now().Sub(t.sent) >= pageAlive {
		return t.tell(note{Kind: "alive"})
	}
	return nil
}

// session tells what has come of the session.
func (t *watcher) session(ctx context.Context) error {
	now := t.find(t.id)
	if now != t.live {
		return t.anew(ctx, 0, "")
	}
	if now == nil {
		if t.backend.Holder(t.id) != t.holder {
			return t.anew(ctx, 0, "")
		}
		return t.changes()
	}
	items, lost := t.reader.took()
	if lost || slices.ContainsFunc(items, func(it item) bool { return it.anew }) {
		return t.anew(ctx, 0, "")
	}
	for _, it := range items {
		if !it.prompts && !it.joins {
			continue
		}
		if stale, err := t.stale(ctx, it); err != nil || stale {
			return t.anew(ctx, 0, "")
		}
	}
	for _, it := range items {
		t.take(it)
	}
	if err := t.changes(); err != nil {
		return err
	}
	if len(items) > 0 {
		return t.wait(ctx, pageBeat, nil)
	}
	return nil
}

// stale reports that the log says since it was read what an owner does not tell.
func (t *watcher) stale(ctx context.Context, it item) (is bool, err error) {
	err = t.backend.Log(ctx, t.id, t.seq, func(seq int64, e session.Entry) error {
		t.seq, is = seq, is || e.Type == session.RewindEntry || it.joins && e.Type == session.EndEntry
		return nil
	})
	return is, ignoreMissing(err)
}

// changes tells what is drawn anew.
func (t *watcher) changes() error {
	var notes []note
	for _, c := range t.view.Flush() {
		notes = append(notes, note{Kind: "put", Change: &c})
	}
	if b, is := t.barNow(); is {
		notes = append(notes, note{Kind: "bar", Bar: b})
	}
	return t.tell(notes...)
}

// take shows an item.
func (t *watcher) take(it item) {
	switch {
	case it.question != nil:
		t.question(it)
	case it.event != nil:
		t.view.Take(it.event)
	}
}

func (t *watcher) leave() {
	if t.reader != nil {
		t.live.forget(t.reader)
	}
	t.live, t.reader = nil, nil
}

// anew reads the session from its beginning, and tells the turns that the page does not have.
func (t *watcher) anew(ctx context.Context, have int, last string) error {
	t.leave()
	var now pageState
	blocks := t.backend.Blocks
	if t.live = t.find(t.id); t.live != nil {
		now = t.live.attend(t.woken)
		t.reader, blocks = now.reader, t.live.blocks
	}
	t.holder = t.backend.Holder(t.id)
	t.view = htmlstream.New(htmlstream.Options{Mask: t.masker, Now: t.now, Blocks: blocks})
	l := scroll{all: true}
	t.mode = ""
	if err := ignoreMissing(t.backend.Log(ctx, t.id, 0, func(seq int64, e session.Entry) error {
		if l.seq = seq; now.follow == nil || e.Type != session.FragmentEntry { // an owner tells the message that arrives
			l.add(seq, e)
		}
		var permits session.Permits
		if e.Type == session.ModeEntry && json.Unmarshal(e.Data, &permits) == nil {
			t.mode = permits.Mode
		}
		return nil
	})); err != nil {
		return err
	}
	t.seq = l.seq
	if now.follow != nil {
		now.running = now.follow(l.seq, seenIn(l.turns))
	}
	for i, turn := range l.turns {
		for _, ev := range turn.events {
			t.view.Take(ev)
		}
		newest := i == len(l.turns)-1
		if running := newest && (now.running || t.live == nil && t.holder != ""); !turn.ended && !running {
			t.view.Take(session.TurnEnd{Result: session.Result{Cause: session.CauseTerminated, Message: "The process that ran this turn has ended before the turn did.",
				Hint: "Nothing that was stored is lost. Send a message to go on."}})
		}
	}
	for _, it := range now.events {
		t.take(it)
	}
	t.head, _ = t.backend.Session(ctx, t.id) // a new one is not stored yet
	t.bar, t.asked = "", time.Time{}
	return t.whole(have, last)
}

// The first message about a session has its newest turns; later ones have about as many bytes.
const (
	firstTurns = 6
	pageBytes  = 96 << 10
)

// whole tells all turns, the newest first, but those that the page has.
func (t *watcher) whole(have int, last string) error {
	pieces := map[string][]htmlstream.Change{}
	for _, c := range t.view.Flush() {
		pieces[c.Turn] = append(pieces[c.Turn], c)
	}
	turns := t.view.Turns()
	from := 0
	if have > 0 && have <= len(turns) && turns[have-1] == last {
		from = have - 1 // it may have gone on
	}
	notes, bytes := []note{{Kind: "turns", Turns: turns}}, 0
	if b, is := t.barNow(); is {
		notes = append(notes, note{Kind: "bar", Bar: b})
	}
	at := len(turns)
	for n := 0; at > from; n++ {
		at--
		notes = append(notes, note{Kind: "turn", ID: turns[at], Pieces: pieces[turns[at]]})
		for _, p := range pieces[turns[at]] {
			bytes += len(p.HTML)
		}
		if n+1 == firstTurns || n >= firstTurns && bytes > pageBytes {
			if err := t.tell(notes...); err != nil {
				return err
			}
			notes, bytes = nil, 0
		}
	}
	return t.tell(append(notes, note{Kind: "whole"})...)
}

// tell writes notes; a page that takes nothing is let go when its time is up.
func (t *watcher) tell(notes ...note) error {
	if len(notes) == 0 {
		return nil
	}
	raw, err := json.Marshal(notes)
	if err != nil {
		return err
	}
	t.sent = t.now()
	return t.out.write(append(append([]byte("data: "), raw...), '\n', '\n'))
}

// barNow is what the page always shows; if false, it knows that.
func (t *watcher) barNow() (*bar, bool) {
	f := t.view.Facts()
	b := &bar{ID: t.id, State: "idle", Model: f.Model, Used: f.Used, Window: f.Window, Cost: f.Cost, Doing: f.Doing}
	info := t.head.Info()
	b.Title, b.Folder = t.head.Title(), info.Cwd
	if b.Model == "" {
		b.Model = info.Model
	}
	if t.live != nil {
		if now := t.now(); t.asked.IsZero() || now.Sub(t.asked) > time.Second {
			t.asked, t.status = now, t.live.works(t.head)
		}
		b.works(t.status)
		b.does(t.live.Status())
	} else {
		if t.asked.IsZero() {
			t.asked, t.status = t.now(), t.backend.Status(t.head)
		}
		said := t.status
		said.Model, said.Mode = cmp.Or(b.Model, said.Model), cmp.Or(t.mode, said.Mode)
		b.works(said)
	}
	if t.live == nil && t.holder != "" {
		b.State, b.Who, b.Mode = "elsewhere", t.holder, t.mode
	}
	if b.State == "idle" {
		b.Doing = ""
	}
	b.Review = f.Changed
	raw, err := json.Marshal(b)
	masked := &bar{} // b shares its cost with the session
	if err == nil {
		raw = t.mask().JSON(raw)
		err = json.Unmarshal(raw, masked)
	}
	if err != nil || string(raw) == t.bar {
		return nil, false
	}
	t.bar = string(raw)
	return masked, true
}

// works tells how the session works.
func (b *bar) works(s Status) {
	b.Model, b.Folder, b.Branch, b.Mode, b.Effort, b.Sandbox = s.Model, s.Folder, s.Branch, s.Mode, s.Effort, s.Sandbox
}

func (r *room) works(session.Head) Status { return r.conv.Status() }

func (r *room) blocks(name string, metadata json.RawMessage) []tool.Block {
	return r.conv.Blocks(name, metadata)
}

// does tells what the session does.
func (b *bar) does(now live.Status) {
	b.State, b.Doing = stateWord(now.State), cmp.Or(now.Doing, b.Doing)
	b.Mode, b.Effort = cmp.Or(now.Mode, b.Mode), cmp.Or(now.Effort, b.Effort)
	b.Queue, b.Steered = now.Queued, now.Steered
	if b.Cost == nil && now.Cost > 0 {
		b.Cost = &now.Cost
	}
}

// stateWord is a state as pages and programs read it.
func stateWord(s live.State) string {
	if s == live.Working {
		return "running"
	}
	return string(s)
}

// Status is what the session does.
func (r *room) Status() (now live.Status) {
	now.Queued, now.Steered = r.Waits()
	r.mu.Lock()
	defer r.mu.Unlock()
	now.State = live.Idle
	switch {
	case r.asked != nil:
		now.State, now.Doing, now.Questions = live.Waiting, r.asked.brief(), 1
	case r.running:
		now.State, now.Doing = live.Working, r.doing
	case r.result != nil && r.result.Cause != session.CauseDone:
		now.Doing = r.result.Message
	}
	if r.counted != nil && r.counted.Ledger.Cost != nil {
		now.Cost = *r.counted.Ledger.Cost
	}
	return now
}

func (r *room) model() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.counted == nil {
		return ""
	}
	return r.counted.Ledger.Model
}

// Waits are the prompts that wait for their turn, and the remarks that were not read yet.
func (r *room) Waits() (queued, steered []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, j := range r.jobs {
		if j.do == nil {
			queued = append(queued, j.prompt.Text)
		}
	}
	return queued, slices.Clone(r.steered)
}

// overview tells the list of sessions where it has changed.
func (t *watcher) list(ctx context.Context) error {
	t.stirred, t.listed = t.stirs(), t.now()
	html, needs, err := t.overview(ctx, t.id)
	if err != nil {
		if ctx.Err() == nil {
			return t.tell(note{Kind: "trouble", Text: err.Error()})
		}
		return err
	}
	if html == t.told {
		return nil
	}
	if t.told = html; t.id != "" {
		if head, err := t.backend.Session(ctx, t.id); err == nil {
			t.head = head
		}
	}
	return t.tell(note{Kind: "list", HTML: html, Needs: needs})
}

// write writes bytes piece by piece, each in time.
func (o *out) write(b []byte) error {
	for {
		now := b[:min(len(b), pieceBytes)]
		if err := o.conn.SetWriteDeadline(o.server.Deadline()); err != nil {
			return err
		}
		if _, err := o.w.Write(now); err != nil {
			return err
		}
		if err := o.conn.Flush(); err != nil {
			return err
		}
		if b = b[len(now):]; len(b) == 0 {
			return nil
		}
	}
}

// search finds what was said and done in stored sessions.
func (s *Server) search(w http.ResponseWriter, r *http.Request) {
	found, text, err := s.directory.found(r.Context(), r.URL.Query().Get("q"))
	if err != nil {
		refuse(w, err)
		return
	}
	if found == nil {
		found = []api.Found{}
	}
	s.answerJSON(w, map[string]any{"found": found, "note": text})
}

// answerJSON writes without secrets.
func (s *Server) answerJSON(w http.ResponseWriter, v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		refuse(w, fmt.Errorf("encode the answer: %w", err))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(s.mask().JSON(raw)) // the browser may be gone
}

// brief is a text on one short line.
func brief(text string, n int) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return text
}
