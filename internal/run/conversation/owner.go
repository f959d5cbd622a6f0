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

// Clients are other processes of the user that watch and steer a conversation (package live). A
// field that is nil leaves that to the place where the conversation is shown.
type Clients struct {
	// Prompt begins a turn, or has the prompt wait for the running one to end.
	Prompt func(lineprotocol.Prompt) error
	// Line does what a whole line says, where the conversation is led by lines; it is asked instead of
	// Prompt and Abort.
	Line func(raw []byte) error
	// Abort ends the running turn; if false, none runs.
	Abort func() bool
	// InMode shows a mode that a client has put in force.
	InMode func(mode string)
	// Waits are the prompts that wait for their turn, and the remarks that were not read yet; if nil,
	// clients are not told.
	Waits func() (queued, steered []string)
	// LetGo ends the conversation, which goes on elsewhere.
	LetGo func(to string)
	// Left is called when a client has gone.
	Left func()
	// Headless says that only clients answer questions.
	Headless bool
}

// clientAccess is what a conversation has for clients.
type clientAccess struct {
	clients Clients
	// window asks at the session's own window alone.
	window func(context.Context, ask.Question) (string, error)
	tell   func(session.Event)
	owner  atomic.Pointer[live.Owner] // if nil, the session is watched by nobody
	goesTo atomic.Pointer[string]     // who goes on with it
	host   atomic.Pointer[func() control.Host]
}

// Offer lets clients ask for what can be done where the conversation is shown.
func (s *clientAccess) Offer(h func() control.Host) { s.host.Store(&h) }

// Refresh tells clients how the session works, and what waits in it.
func (s *clientAccess) Refresh() {
	if o := s.owner.Load(); o != nil {
		o.Refresh()
	}
}

// Anew tells clients that what they were told may hold no more.
func (s *clientAccess) Anew() {
	if o := s.owner.Load(); o != nil {
		o.Anew()
	}
}

// control does what a client asks for.
func (s *clientAccess) control(ctx context.Context, _ live.Peer, r control.Request) (any, error) {
	h := s.host.Load()
	if h == nil {
		return nil, usage.Mistake("try again, or take the session over", "the process that has this session is only opening it, or works for one prompt and takes no other wishes")
	}
	return (*h)().Do(ctx, r)
}

// told is a way to put a mode in force of which clients are told.
func (s *clientAccess) told(setMode func(string) error) func(string) error {
	return func(name string) error {
		defer s.Refresh()
		return setMode(name)
	}
}

// Host is what can be done for clients with these ports and commands. The place where the
// conversation is shown adds what turns have to do with.
func (s *clientAccess) Host(p *api.Ports, commands func() []api.Named) control.Host {
	return control.Host{Ports: p, Commands: commands, Changed: func(string, string) { s.Refresh() }, Rewound: func(bool) { s.Anew() }}
}

// Shown is the session as it is known to clients; if nil, it is watched by nobody.
func (s *clientAccess) Shown() *live.Owner { return s.owner.Load() }

// listen has clients connect, until end is called. The error is why they cannot.
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

// observe shows an event to clients.
func (s *clientAccess) observe(e session.Event) {
	if o := s.owner.Load(); o != nil {
		o.Observe(e)
	}
}

// confirm asks the user at the session's own window whether a client may steer it.
func (s *clientAccess) confirm(ctx context.Context, p live.Peer) error {
	const yes = "Let it steer this session"
	answer, err := s.window(ctx, ask.Question{Title: "adze asks", Decides: true, Text: fmt.Sprintf("%s of another login wants to answer and prompt in this session.", p), Choices: []string{yes, "No"}})
	if err == nil && answer != yes {
		err = errors.New("they said no")
	}
	return err
}

// recorder writes down what clients do.
func (s *clientAccess) recorder(id session.ID, to session.Store) func(live.Peer, string) {
	return func(p live.Peer, act string) {
		if raw, err := json.Marshal(session.Client{PID: p.PID, UID: p.UID, As: p.As, Act: act}); err == nil {
			_ = to.Append(context.Background(), id, session.Entry{Type: session.ClientEntry, Time: time.Now(), Data: raw}) // the turn tells of a store that fails
		}
		told := session.Notice{Text: fmt.Sprintf("%s: %s", p, act)}
		s.tell(told)
		if !strings.HasPrefix(act, "answer ") { // the line that closes the question tells clients
			s.observe(told)
		}
	}
}

// withClients has the model's questions be put to the clients, too.
func (s *clientAccess) withClients(who Person) Person {
	s.clients, s.window = who.Clients, who.Put
	if put := who.Put; put != nil {
		who.Put = func(ctx context.Context, q ask.Question) (string, error) {
			return first(ctx, func(ctx context.Context) (string, error) { return put(ctx, q) }, s.inquire(q))
		}
	}
	return who
}

// inquire asks the clients; if nil, there can be none.
func (s *clientAccess) inquire(q ask.Question) func(context.Context) (string, error) {
	owner := s.owner.Load()
	if owner == nil {
		return nil
	}
	return func(ctx context.Context) (string, error) { return owner.Inquire(ctx, q) }
}

// asking has a question of the gate be put to the clients, too.
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

// share has other processes of the user watch and steer the conversation, where its log is on this
// machine. Where that cannot be, the log alone tells them.
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

// first is the answer that comes first; the other is told live.ErrAnswered. An error of the
// window's own ends the question; clients may be nil.
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

// Change puts a permission mode, by setMode, and an effort in force; an empty one stays as it is.
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

// actor does what lines of clients say: lineprotocol.Actor.
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

// logReader reads the log beside the process that writes it, so that neither waits for the other.
type logReader struct {
	path     string
	position func() int64 // of the newest entry that was appended
	mu       sync.Mutex
	logs     *sessiondb.Store
	old      []*sessiondb.Store // opened before the session was there
}

func (r *logReader) open(ctx context.Context) (*sessiondb.Store, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.logs != nil {
		return r.logs, nil
	}
	if info, err := os.Stat(r.path); err != nil || info.Size() == 0 { // a reader of that would see nothing for ever
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
		if err == nil && after < want { // the reader is a copy of what was there before the store had an index
			r.drop(logs)
			if logs, err = r.open(ctx); err == nil {
				err = read()
			}
		}
		if errors.Is(err, session.ErrNotFound) { // nothing was said yet
			return nil
		}
		return err
	}
}

// head tells of the session. A reader that does not know it may be older than the session, and is
// not used again.
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

// drop has the next reader be a new one. Others may use this one still.
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
			_ = logs.Close() // it was only read
		}
	}
}
