package conversation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"adze/internal/live"
	"adze/internal/live/control"
	"adze/internal/run/hostio"
	"adze/internal/sandbox/proc"
	"adze/internal/sessiondb"
	"adze/internal/stream/ask"
	"adze/internal/stream/lineprotocol"
	"adze/internal/text/usage"
	"adze/session"
	"adze/session/api"
	"adze/tool"
)

// Clients are callbacks for the user's other processes that watch and steer a conversation (package
// live). A nil field leaves the operation to the conversation's own window.
type Clients struct {
	// Prompt begins a turn or queues the prompt.
	Prompt func(lineprotocol.Prompt) error
	// Line handles a whole line in a line-based conversation; it replaces Prompt and Abort.
	Line func(raw []byte) error
	// Abort cancels the running turn; it returns false if none runs.
	Abort func() bool
	// InMode shows a mode set by a client.
	InMode func(mode string)
	// Waits returns the queued prompts and unread remarks. If nil, clients get neither.
	Waits func() (queued, steered []string)
	// LetGo ends the conversation, which continues elsewhere.
	LetGo func(to string)
	// Left is called after a client has disconnected.
	Left func()
	// Headless means that only clients answer questions.
	Headless bool
}

// clientAccess is a conversation's connection to clients.
type clientAccess struct {
	clients Clients
	// window asks only in the session's own window.
	window func(context.Context, ask.Question) (string, error)
	tell   func(session.Event)
	owner  atomic.Pointer[live.Owner] // nil if the session cannot be watched
	goesTo atomic.Pointer[string]     // next owner
	host   atomic.Pointer[func() control.Host]
}

// Offer sets the operations that clients may request.
func (s *clientAccess) Offer(h func() control.Host) { s.host.Store(&h) }

// Refresh sends clients the session's settings and queue.
func (s *clientAccess) Refresh() {
	if o := s.owner.Load(); o != nil {
		o.Refresh()
	}
}

// Anew makes clients discard earlier data.
func (s *clientAccess) Anew() {
	if o := s.owner.Load(); o != nil {
		o.Anew()
	}
}

// control handles a client's request.
func (s *clientAccess) control(ctx context.Context, _ live.Peer, r control.Request) (any, error) {
	h := s.host.Load()
	if h == nil {
		return nil, usage.Mistake("try again, or take the session over", "the process that has this session is only opening it, or works for one prompt and takes no other wishes")
	}
	return (*h)().Do(ctx, r)
}

// told wraps setMode to update clients.
func (s *clientAccess) told(setMode func(string) error) func(string) error {
	return func(name string) error {
		defer s.Refresh()
		return setMode(name)
	}
}

// Host returns the operations for clients from these ports and commands. The conversation's window
// adds those for turns.
func (s *clientAccess) Host(p *api.Ports, commands func() []api.Named) control.Host {
	return control.Host{Ports: p, Commands: commands, Changed: func(string, string) { s.Refresh() }, Rewound: func(bool) { s.Anew() }}
}

// Shown returns the connection that clients use, or nil.
func (s *clientAccess) Shown() *live.Owner { return s.owner.Load() }

// listen accepts clients until end is called.
func (s *clientAccess) listen(c live.Config) (end func(), err error) {
	c.Left = s.clients.Left
	if to := s.clients.LetGo; to != nil {
		c.Release = func(p live.Peer) {
			who := p.String()
			s.goesTo.Store(&who)
			to(who)
		}
	}
	if s.window != nil && !s.clients.Headless {
		c.Confirm = s.confirm
	}
	owner, err := live.Listen(c)
	if err != nil {
		return nil, err
	}
	s.owner.Store(owner)
	owner.Refresh()
	return func() {
		s.owner.Store(nil)
		why := ""
		if to := s.goesTo.Load(); to != nil {
			why = "it goes on in " + *to
		}
		owner.Close(why)
	}, nil
}

// observe sends an event to clients.
func (s *clientAccess) observe(e session.Event) {
	if o := s.owner.Load(); o != nil {
		o.Observe(e)
	}
}

// confirm asks in the session's own window whether a client may steer it.
func (s *clientAccess) confirm(ctx context.Context, p live.Peer) error {
	const yes = "Let it steer this session"
	answer, err := s.window(ctx, ask.Question{Title: "adze asks", Decides: true, Text: fmt.Sprintf("%s of another login wants to answer and prompt in this session.", p), Choices: []string{yes, "No"}})
	if err == nil && answer != yes {
		err = errors.New("they said no")
	}
	return err
}

// recorder returns a function that logs clients' actions.
func (s *clientAccess) recorder(id session.ID, to session.Store) func(live.Peer, string) {
	return func(p live.Peer, act string) {
		if raw, err := json.Marshal(session.Client{PID: p.PID, UID: p.UID, As: p.As, Act: act}); err == nil {
			_ = to.Append(context.Background(), id, session.Entry{Type: session.ClientEntry, Time: time.Now(), Data: raw}) // the turn reports a failing store
		}
		told := session.Notice{Text: fmt.Sprintf("%s: %s", p, act)}
		s.tell(told)
		if !strings.HasPrefix(act, "answer ") { // clients get the line that closes the question
			s.observe(told)
		}
	}
}

// withClients also sends the model's questions to clients.
func (s *clientAccess) withClients(who Person) Person {
	s.clients, s.window = who.Clients, who.Put
	if put := who.Put; put != nil {
		who.Put = func(ctx context.Context, q ask.Question) (string, error) {
			return first(ctx, func(ctx context.Context) (string, error) { return put(ctx, q) }, s.inquire(q))
		}
	}
	return who
}

// inquire returns a function that asks the clients, or nil if there can be none.
func (s *clientAccess) inquire(q ask.Question) func(context.Context) (string, error) {
	owner := s.owner.Load()
	if owner == nil {
		return nil
	}
	return func(ctx context.Context) (string, error) { return owner.Inquire(ctx, q) }
}

// asking also sends permission requests to clients.
func (s *clientAccess) asking(window func(context.Context, ask.Permission) (ask.Answer, error)) func(context.Context, ask.Permission) (ask.Answer, error) {
	owner := s.owner.Load()
	if owner == nil {
		return window
	}
	return func(ctx context.Context, a ask.Permission) (ask.Answer, error) {
		clients := func(ctx context.Context) (ask.Answer, error) { return owner.Ask(ctx, a) }
		return first(ctx, func(ctx context.Context) (ask.Answer, error) { return window(ctx, a) }, clients)
	}
}

// share lets other processes watch and steer the conversation if its log is on this machine.
// Otherwise they only have the log.
func (w *Conversation) share() {
	stored, ok := w.Stored.(*sessiondb.Store)
	if !ok || w.Patient == nil || !w.Settings.Request.Saves() {
		return
	}
	at, id, clients := w.Settings.At, w.Session.ID(), w.person.Clients
	log := &logReader{path: stored.Path(), position: func() int64 { return stored.Position(id) }}
	mode := func() string { return string(w.Gate.Mode()) }
	c := live.Config{
		Folder: live.Folder(w.Settings.Process.Getenv, at.State), ID: id, Log: log.each(id), Mask: w.Settings.Process.Ring.Mask,
		ParentCall: proc.NewLedger(at.Jobs()).Below, Position: func() int64 { return stored.Position(id) }, Mode: mode,
		Hello: func() live.Hello {
			h := live.Hello{Version: w.Head.Version, Cwd: w.Head.Cwd, Provider: w.Head.Provider, Model: w.Head.Model, Mode: mode(), Effort: w.Effort(), Window: !clients.Headless}
			if head, err := log.head(id); err == nil {
				h.Title, h.Position = head.Title(), int64(head.Entries)
			}
			return h
		},
		Redact: hostio.VeiledEvent,
		Blocks: func(name string, metadata json.RawMessage) []tool.Block {
			return hostio.VeiledBlocks(w.Set.Blocks(name, metadata))
		},
		Record:  w.recorder(id, w.Patient),
		Control: w.control,
		Works: func() live.Works {
			now := live.Works{Mode: mode(), Effort: w.Effort()}
			if clients.Waits != nil {
				now.Queued, now.Steered = clients.Waits()
			}
			return now
		},
	}
	if c.Act = func(_ live.Peer, raw []byte) error { return clients.Line(raw) }; clients.Line == nil {
		a := actor{clients, w.Session, w.cancelCall, w.SetMode, w.Refresh}
		c.Act = func(_ live.Peer, raw []byte) error { return lineprotocol.Act(raw, a) }
	}
	end, err := w.listen(c)
	switch {
	case err == nil:
		w.closers = append(w.closers, log.close, end)
	case !errors.Is(err, live.ErrUnavailable):
		w.Notices = append(w.Notices, "the session cannot be watched from elsewhere: "+err.Error())
	}
}

// first returns the first answer; the other function is canceled with live.ErrAnswered. An error
// from the window ends the question; clients may be nil.
func first[A any](ctx context.Context, window, clients func(context.Context) (A, error)) (A, error) {
	if clients == nil {
		return window(ctx)
	}
	asking, cancel := context.WithCancelCause(ctx)
	type reply struct {
		answer A
		err    error
	}
	replies := make(chan reply, 1)
	var done sync.WaitGroup
	defer done.Wait()
	defer cancel(live.ErrAnswered)
	for _, ask := range []func(context.Context) (A, error){window, clients} {
		done.Go(func() {
			a, err := ask(asking)
			if asking.Err() == nil || err == nil {
				select {
				case replies <- reply{a, err}:
				default: // the other was first
				}
			}
		})
	}
	select {
	case r := <-replies:
		return r.answer, r.err
	case <-ctx.Done():
		var none A
		return none, ctx.Err()
	}
}

// Change sets a permission mode, by setMode, and an effort; an empty value stays unchanged.
func Change(s *session.Session, setMode func(string) error, mode, effort string) error {
	if effort != "" && effort != session.DefaultEffort && !slices.Contains(session.Efforts(), effort) {
		return usage.Mistake("one of "+strings.Join(session.Efforts(), ", ")+", or default", "there is no effort %q", effort)
	}
	if mode != "" {
		if err := setMode(mode); err != nil {
			return usage.Mistake("", "%v", err)
		}
	}
	if effort != "" {
		s.SetEffort(effort)
	}
	return nil
}

// actor carries out lines from clients: lineprotocol.Actor.
type actor struct {
	clients Clients
	session *session.Session
	cancel  func(tool.CallID) bool
	setMode func(string) error
	refresh func()
}

func (a actor) Steer(text string) bool         { return a.session.Steer(text) }
func (a actor) CancelCall(id tool.CallID) bool { return a.cancel(id) }

func (a actor) Prompt(p lineprotocol.Prompt) error {
	if a.clients.Prompt == nil {
		return usage.Mistake("", "this process has no model to prompt: its calls are those of a program")
	}
	return a.clients.Prompt(p)
}

func (a actor) Abort() bool { return a.clients.Abort != nil && a.clients.Abort() }

func (a actor) Set(mode, effort string) error {
	err := Change(a.session, a.setMode, mode, effort)
	if err == nil && mode != "" && a.clients.InMode != nil {
		a.clients.InMode(mode)
	}
	a.refresh()
	return err
}

func (a actor) Model(string) error {
	return usage.Mistake("take the session over, or choose it there", "the model is chosen at the session's own window")
}

// logReader reads the log concurrently with its writer, so that neither waits for the other.
type logReader struct {
	path     string
	position func() int64 // position of the last appended entry
	mu       sync.Mutex
	logs     *sessiondb.Store
	old      []*sessiondb.Store // opened before the session existed
}

func (r *logReader) open(ctx context.Context) (*sessiondb.Store, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.logs != nil {
		return r.logs, nil
	}
	if info, err := os.Stat(r.path); err != nil || info.Size() == 0 { // a reader of an empty file would stay empty
		return nil, session.ErrNotFound
	}
	logs, err := sessiondb.Look(context.WithoutCancel(ctx), r.path, sessiondb.Options{})
	if err == nil {
		r.logs = logs
	}
	return logs, err
}

func (r *logReader) each(id session.ID) func(context.Context, int64, func(int64, session.Entry) error) error {
	return func(ctx context.Context, after int64, each func(int64, session.Entry) error) error {
		logs, err := r.open(ctx)
		if err == nil {
			if _, err = find(ctx, logs, id); err != nil {
				r.drop(logs)
				logs, err = r.open(ctx)
			}
		}
		want := r.position()
		read := func() error {
			return logs.Each(ctx, sessiondb.Scan{Session: id, After: after}, func(f sessiondb.Found) error {
				after = f.Seq
				return each(f.Seq, f.Entry)
			})
		}
		if err == nil {
			err = read()
		}
		if err == nil && after < want { // the reader may be a copy from before the store had an index
			r.drop(logs)
			if logs, err = r.open(ctx); err == nil {
				err = read()
			}
		}
		if errors.Is(err, session.ErrNotFound) { // nothing is stored yet
			return nil
		}
		return err
	}
}

// head returns the session's head. A reader that lacks the session may be older than it and is
// dropped.
func (r *logReader) head(id session.ID) (session.Head, error) {
	logs, err := r.open(context.Background())
	if err != nil {
		return session.Head{}, err
	}
	h, err := find(context.Background(), logs, id)
	if err != nil {
		r.drop(logs)
	}
	return h, err
}

func find(ctx context.Context, logs *sessiondb.Store, id session.ID) (session.Head, error) {
	heads, _, err := logs.Page(ctx, sessiondb.Filter{Prefix: string(id), All: true})
	for _, h := range heads {
		if h.ID == id {
			return h, nil
		}
	}
	return session.Head{}, errors.Join(session.ErrNotFound, err)
}

// drop makes the next call open a new reader. The old one may still be in use.
func (r *logReader) drop(logs *sessiondb.Store) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.logs == logs {
		r.logs, r.old = nil, append(r.old, logs)
	}
}

func (r *logReader) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, logs := range append(r.old, r.logs) {
		if logs != nil {
			_ = logs.Close() // only read, so nothing is lost
		}
	}
}
