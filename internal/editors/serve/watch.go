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

// Shortest interval of updates during streaming, and interval of keep-alives.
const (
	pageBeat  = 40 * time.Millisecond
	pageAlive = 10 * time.Second
)

// note is a message to a page. Kind determines the fields used.
type note struct {
	Kind string `json:"t"` // turns, turn, put, bar, list, alive, gone
	// Turns are the IDs of a session's turns, in order; the page removes others.
	Turns []string `json:"turns,omitempty"`
	// Pieces are the full content of the turn ID. Reset is set for a page's first load.
	ID     string              `json:"id,omitempty"`
	Pieces []htmlstream.Change `json:"pieces,omitempty"`
	Change *htmlstream.Change  `json:"change,omitempty"`
	Bar    *bar                `json:"bar,omitempty"`
	HTML   string              `json:"html,omitempty"`
	Needs  int                 `json:"needs,omitempty"` // sessions waiting for the user
	Text   string              `json:"text,omitempty"`
}

// bar is the page's status bar.
type bar struct {
	ID       session.ID `json:"id"`
	Title    string     `json:"title"`
	State    string     `json:"state"` // idle, running, waiting or elsewhere
	Process  string     `json:"who,omitempty"`
	Model    string     `json:"model,omitempty"`
	Folder   string     `json:"folder,omitempty"`
	Branch   string     `json:"branch,omitempty"`
	Mode     string     `json:"mode,omitempty"`
	Effort   string     `json:"effort,omitempty"`
	Sandbox  string     `json:"sandbox,omitempty"`
	Used     int        `json:"used,omitempty"`
	Window   int        `json:"window,omitempty"`
	Cost     *float64   `json:"cost,omitempty"`
	Activity string     `json:"doing,omitempty"`
	Queue    []string   `json:"queue,omitempty"`
	Steered  []string   `json:"steered,omitempty"`
	Review   bool       `json:"review,omitempty"`  // it changed files
	Folders  []string   `json:"folders,omitempty"` // for new sessions, this one first
}

// openSession is a session open here (room) or in a process with a socket (remoteSession).
type openSession interface {
	// attend registers a reader for all events, which wakes woken, until forget.
	attend(woken chan struct{}) pageState
	forget(*reader)
	// Status returns the session's state, and model the model in use.
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

// place holds a watcher's access to the server.
type place struct {
	backend  Backend
	mask     func() *redact.Masker // never nil
	now      func() time.Time
	find     func(session.ID) openSession // returns nil if the session is not open
	overview func(ctx context.Context, current session.ID) (html string, needs int, err error)
	ended    func() error // the error when the server ends
	stirs    func() int64 // number of changes to the list of sessions
}

func (s *Server) place() place {
	return place{backend: s.Backend, mask: s.Mask, now: s.Now, overview: s.overview, ended: s.ctx.Err, stirs: s.stirs.Load, find: s.find}
}

// watcher sends the list of sessions, and one session, to a page.
type watcher struct {
	place
	out  *responseWriter
	wake chan struct{}
	id   session.ID // empty for the list alone

	live   openSession // nil if not open
	reader *reader
	view   *htmlstream.View
	seq    int64 // log position read so far
	holder string

	stirred   int64 // when the list was created
	listed    time.Time
	told, bar string // as last sent
	status    Status
	mode      string    // the session's mode in the log
	asked     time.Time // time of the last status
	sent      time.Time
	head      session.Head
}

// watch sends updates until the page disconnects. A returning page sends the number of turns it
// has, and the last one's ID.
func (s *Server) watch(w http.ResponseWriter, r *http.Request) {
	id := session.ID(r.URL.Query().Get("session"))
	t := &watcher{place: s.place(), id: id, wake: make(chan struct{}, 1),
		out: s.out(w)}
	if id != "" {
		if err := s.checkKnown(r.Context(), id); err != nil {
			refuse(w, err)
			return
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	s.mu.Lock()
	s.pages[t.wake] = struct{}{}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.pages, t.wake)
		s.mu.Unlock()
		t.leave()
	}()
	have, _ := strconv.Atoi(r.URL.Query().Get("turns"))
	err := t.begin(r.Context(), have, r.URL.Query().Get("last"))
	for err == nil {
		err = t.round(r.Context())
	}
	if s.ctx.Err() != nil {
		_ = t.writeNotes(note{Kind: "gone", Text: "adze serve has ended"}) // the browser may be gone
	}
}

// begin sends the full state.
func (t *watcher) begin(ctx context.Context, have int, last string) error {
	if err := t.list(ctx); err != nil {
		return err
	}
	if t.id == "" { // a new session starts there
		b := &bar{State: "idle", Folders: t.backend.Folders()}
		b.works(t.backend.Status(session.Head{}))
		return t.writeNotes(note{Kind: "bar", Bar: b})
	}
	return t.sendAll(ctx, have, last)
}

// round waits for changes and sends them.
func (t *watcher) round(ctx context.Context) error {
	if err := wait(ctx, pageAlive, t.wake); err != nil {
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
		return t.writeNotes(note{Kind: "alive"})
	}
	return nil
}

// session sends the session's changes.
func (t *watcher) session(ctx context.Context) error {
	now := t.find(t.id)
	if now != t.live {
		return t.sendAll(ctx, 0, "")
	}
	if now == nil {
		if t.backend.Holder(t.id) != t.holder {
			return t.sendAll(ctx, 0, "")
		}
		return t.changes()
	}
	items, lost := t.reader.took()
	if lost || slices.ContainsFunc(items, func(it item) bool { return it.anew }) {
		return t.sendAll(ctx, 0, "")
	}
	for _, it := range items {
		if !it.prompts && !it.joins {
			continue
		}
		if stale, err := t.stale(ctx, it); err != nil || stale {
			return t.sendAll(ctx, 0, "")
		}
	}
	for _, it := range items {
		t.take(it)
	}
	if err := t.changes(); err != nil {
		return err
	}
	if len(items) > 0 {
		return wait(ctx, pageBeat, nil)
	}
	return nil
}

// stale reports whether the log has a change, since it was read, that the owner does not send.
func (t *watcher) stale(ctx context.Context, it item) (is bool, err error) {
	err = t.backend.Log(ctx, t.id, t.seq, func(seq int64, e session.Entry) error {
		t.seq, is = seq, is || e.Type == session.RewindEntry || it.joins && e.Type == session.EndEntry
		return nil
	})
	return is, ignoreMissing(err)
}

// changes sends the redrawn pieces.
func (t *watcher) changes() error {
	var notes []note
	for _, c := range t.view.Flush() {
		notes = append(notes, note{Kind: "put", Change: &c})
	}
	if b, is := t.barNow(); is {
		notes = append(notes, note{Kind: "bar", Bar: b})
	}
	return t.writeNotes(notes...)
}

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

// sendAll reads the whole session and sends the turns the page lacks.
func (t *watcher) sendAll(ctx context.Context, have int, last string) error {
	t.leave()
	var now pageState
	blocks := t.backend.Blocks
	if t.live = t.find(t.id); t.live != nil {
		now = t.live.attend(t.wake)
		t.reader, blocks = now.reader, t.live.blocks
	}
	t.holder = t.backend.Holder(t.id)
	t.view = htmlstream.New(htmlstream.Options{Mask: t.mask, Now: t.now, Blocks: blocks})
	l := scroll{all: true}
	t.mode = ""
	if err := ignoreMissing(t.backend.Log(ctx, t.id, 0, func(seq int64, e session.Entry) error {
		if l.seq = seq; now.follow == nil || e.Type != session.FragmentEntry { // the owner sends the incomplete message
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

// The first message about a session has its newest turns; later ones have about the same size in
// bytes.
const (
	firstTurns = 6
	pageBytes  = 96 << 10
)

// whole sends all turns the page lacks, newest first.
func (t *watcher) whole(have int, last string) error {
	pieces := map[string][]htmlstream.Change{}
	for _, c := range t.view.Flush() {
		pieces[c.Turn] = append(pieces[c.Turn], c)
	}
	turns := t.view.Turns()
	from := 0
	if have > 0 && have <= len(turns) && turns[have-1] == last {
		from = have - 1 // it may have continued
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
			if err := t.writeNotes(notes...); err != nil {
				return err
			}
			notes, bytes = nil, 0
		}
	}
	return t.writeNotes(append(notes, note{Kind: "whole"})...)
}

// writeNotes writes notes. A page that does not read in time is disconnected.
func (t *watcher) writeNotes(notes ...note) error {
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

// barNow returns the status bar, or false if the page has it.
func (t *watcher) barNow() (*bar, bool) {
	f := t.view.Facts()
	b := &bar{ID: t.id, State: "idle", Model: f.Model, Used: f.Used, Window: f.Window, Cost: f.Cost, Activity: f.Activity}
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
		b.State, b.Process, b.Mode = "elsewhere", t.holder, t.mode
	}
	if b.State == "idle" {
		b.Activity = ""
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

// works sets the session's settings.
func (b *bar) works(s Status) {
	b.Model, b.Folder, b.Branch, b.Mode, b.Effort, b.Sandbox = s.Model, s.Folder, s.Branch, s.Mode, s.Effort, s.Sandbox
}

func (r *sharedSession) works(session.Head) Status { return r.conv.Status() }

func (r *sharedSession) blocks(name string, metadata json.RawMessage) []tool.Block {
	return r.conv.Blocks(name, metadata)
}

// does sets the session's activity.
func (b *bar) does(now live.Status) {
	b.State, b.Activity = stateWord(now.State), cmp.Or(now.Activity, b.Activity)
	b.Mode, b.Effort = cmp.Or(now.Mode, b.Mode), cmp.Or(now.Effort, b.Effort)
	b.Queue, b.Steered = now.Queued, now.Steered
	if b.Cost == nil && now.Cost > 0 {
		b.Cost = &now.Cost
	}
}

// stateWord returns a state's name in the API.
func stateWord(s live.State) string {
	if s == live.Working {
		return "running"
	}
	return string(s)
}

// Status returns the session's state.
func (r *sharedSession) Status() (now live.Status) {
	now.Queued, now.Steered = r.Waits()
	r.mu.Lock()
	defer r.mu.Unlock()
	now.State = live.Idle
	switch {
	case r.asked != nil:
		now.State, now.Activity, now.Questions = live.Waiting, r.asked.brief(), 1
	case r.running:
		now.State, now.Activity = live.Working, r.activity
	case r.result != nil && r.result.Cause != session.CauseDone:
		now.Activity = r.result.Message
	}
	if r.counted != nil && r.counted.Ledger.Cost != nil {
		now.Cost = *r.counted.Ledger.Cost
	}
	return now
}

func (r *sharedSession) model() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.counted == nil {
		return ""
	}
	return r.counted.Ledger.Model
}

// Waits returns the waiting prompts, and remarks not yet sent to the model.
func (r *sharedSession) Waits() (queued, steered []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, j := range r.jobs {
		if j.run == nil {
			queued = append(queued, j.prompt.Text)
		}
	}
	return queued, slices.Clone(r.steered)
}

// list sends the list of sessions if it has changed.
func (t *watcher) list(ctx context.Context) error {
	t.stirred, t.listed = t.stirs(), t.now()
	html, needs, err := t.overview(ctx, t.id)
	if err != nil {
		if ctx.Err() == nil {
			return t.writeNotes(note{Kind: "trouble", Text: err.Error()})
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
	return t.writeNotes(note{Kind: "list", HTML: html, Needs: needs})
}

// write writes bytes in pieces, each with a deadline.
func (o *responseWriter) write(b []byte) error {
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

func (s *Server) search(w http.ResponseWriter, r *http.Request) {
	found, text, err := s.directory.found(r.Context(), r.URL.Query().Get("q"))
	if err != nil {
		refuse(w, err)
		return
	}
	if found == nil {
		found = []api.SearchResult{}
	}
	s.answerJSON(w, map[string]any{"found": found, "note": text})
}

// answerJSON writes v with secrets masked.
func (s *Server) answerJSON(w http.ResponseWriter, v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		refuse(w, fmt.Errorf("encode the answer: %w", err))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(s.Mask().JSON(raw)) // the browser may be gone
}

// brief shortens a text to one line.
func brief(text string, n int) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return text
}
