package conversation

import (
	"cmp"
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
	// Release ends the conversation, which continues elsewhere.
	Release func(to string)
	// OnDisconnect is called after a client has disconnected.
	OnDisconnect func()
	// Headless means that only clients answer questions.
	Headless bool
}

// clientAccess is a conversation's connection to its user and to clients.
type clientAccess struct {
	person UserCallbacks
	tell   func(session.Event)        // shows an event only in the session's own window
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

// ResetClients makes clients discard earlier data.
func (s *clientAccess) ResetClients() {
	if o := s.owner.Load(); o != nil {
		o.ResetClients()
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
	return control.Host{Ports: p, Commands: commands, Changed: func(string, string) { s.Refresh() }, Rewound: func(bool) { s.ResetClients() }}
}

// Owner returns the connection that clients use, or nil.
func (s *clientAccess) Owner() *live.Owner { return s.owner.Load() }

// listen accepts clients until end is called.
func (s *clientAccess) listen(c live.Config) (end func(), err error) {
	c.OnDisconnect = s.person.Clients.OnDisconnect
	if to := s.person.Clients.Release; to != nil {
		c.Release = func(p live.Peer) {
			who := p.String()
			s.goesTo.Store(&who)
			to(who)
		}
	}
	if s.person.AskQuestion != nil && !s.person.Clients.Headless {
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
	answer, err := s.person.AskQuestion(ctx, ask.Question{Title: "adze asks", Decides: true, Text: fmt.Sprintf("%s of another login wants to answer and prompt in this session.", p), Choices: []string{yes, "No"}})
	if err == nil && answer != yes {
		err = errors.New("they said no")
	}
	return err
}

// recorder returns a function that logs clients' actions.
func (s *clientAccess) recorder(id session.ID, to session.Store) func(live.Peer, string) {
	return func(p live.Peer, act string) {
		if raw, err := json.Marshal(session.Client{PID: p.PID, UID: p.UID, Kind: p.Kind, Act: act}); err == nil {
			_ = to.Append(context.Background(), id, session.Entry{Type: session.ClientEntry, Time: time.Now(), Data: raw}) // the turn reports a failing store
		}
		kind, _, _ := strings.Cut(act, " ")
		told := session.Notice{Text: fmt.Sprintf("from another %s: %s", p, cmp.Or(acts[kind], act))}
		s.tell(told)
		if kind != "answer" { // clients get the line that closes the question
			s.observe(told)
		}
	}
}

// acts are a user's words for what a client did, where they are others than the line's.
var acts = map[string]string{"prompt": "a message", "user": "a message", "steer": "a message for the running turn", "abort": "stop", "answer": "an answer"}

// put asks a question in the session's own window and at the clients.
func (s *clientAccess) put(ctx context.Context, q ask.Question) (string, error) {
	if owner := s.owner.Load(); owner != nil {
		return first(ctx, q, s.person.AskQuestion, owner.Inquire)
	}
	return s.person.AskQuestion(ctx, q)
}

// permission sends a permission request there.
func (s *clientAccess) permission(ctx context.Context, q ask.Permission) (ask.Answer, error) {
	if owner := s.owner.Load(); owner != nil {
		return first(ctx, q, s.person.Ask, owner.Ask)
	}
	return s.person.Ask(ctx, q)
}

// share lets other processes watch and steer the conversation if its log is on this machine.
// Otherwise they only have the log.
func (w *Conversation) share() {
	stored, ok := w.Stored.(*sessiondb.Store)
	if !ok || w.Buffered == nil || !w.Settings.Request.Saves() {
		return
	}
	at, id, clients := w.Settings.Places, w.Session.ID(), w.person.Clients
	log := logReader{stored.Path(), id}
	mode := func() string { return string(w.Gate.Mode()) }
	c := live.Config{
		Folder: live.Folder(w.Settings.Process.Getenv, at.State), ID: id, Log: log.each, Mask: w.Settings.Process.Ring.Mask,
		ParentCall: proc.NewLedger(at.Jobs()).Below, Position: func() int64 { return stored.Position(id) }, Mode: mode,
		Hello: func() live.Hello {
			h := live.Hello{Version: w.Head.Version, Cwd: w.Head.Cwd, Provider: w.Head.Provider, Model: w.Head.Model, Mode: mode(), Effort: w.Effort(), Window: !clients.Headless}
			if head, err := log.head(); err == nil {
				h.Title, h.Position = head.Title(), int64(head.Entries)
			}
			return h
		},
		Redact: hostio.VeiledEvent,
		Blocks: func(name string, metadata json.RawMessage) []tool.Block {
			return hostio.VeiledBlocks(w.Set.Load().Blocks(name, metadata))
		},
		Record:  w.recorder(id, w.Buffered),
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
		c.Act = func(_ live.Peer, raw []byte) error { return lineprotocol.Act(raw, actor{w}) }
	}
	end, err := w.listen(c)
	switch {
	case err == nil:
		w.closers = append(w.closers, end)
	case !errors.Is(err, live.ErrUnavailable):
		w.Notices = append(w.Notices, "the session cannot be watched from elsewhere: "+err.Error())
	}
}

// first returns the first answer; the other function is canceled with live.ErrAnswered. An error
// from the window ends the question.
func first[Q, A any](ctx context.Context, q Q, window, clients func(context.Context, Q) (A, error)) (A, error) {
	asking, cancel := context.WithCancelCause(ctx)
	type reply struct {
		answer A
		err    error
	}
	replies := make(chan reply, 1)
	var done sync.WaitGroup
	defer done.Wait()
	defer cancel(live.ErrAnswered)
	for _, ask := range []func(context.Context, Q) (A, error){window, clients} {
		done.Go(func() {
			a, err := ask(asking, q)
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

// Change sets a permission mode and an effort; an empty value stays unchanged.
func (w *Conversation) Change(mode, effort string) error {
	if effort != "" && effort != session.DefaultEffort && !slices.Contains(session.Efforts(), effort) {
		return usage.Mistake("one of "+strings.Join(session.Efforts(), ", ")+", or default", "there is no effort %q", effort)
	}
	if mode != "" {
		if err := w.SetMode(mode); err != nil {
			return usage.Mistake("", "%v", err)
		}
	}
	if effort != "" {
		w.Session.SetEffort(effort)
	}
	return nil
}

// actor carries out lines from clients: lineprotocol.Actor.
type actor struct{ w *Conversation }

func (a actor) Steer(text string) bool         { return a.w.Session.Steer(text) }
func (a actor) CancelCall(id tool.CallID) bool { return a.w.cancelCall(id) }

func (a actor) Prompt(p lineprotocol.Prompt) error {
	if prompt := a.w.person.Clients.Prompt; prompt != nil {
		return prompt(p)
	}
	return usage.Mistake("", "this process has no model to prompt: its calls are those of a program")
}

func (a actor) Abort() bool {
	abort := a.w.person.Clients.Abort
	return abort != nil && abort()
}

func (a actor) Set(mode, effort string) error {
	err := a.w.Change(mode, effort)
	if show := a.w.person.Clients.InMode; err == nil && mode != "" && show != nil {
		show(mode)
	}
	a.w.Refresh()
	return err
}

func (a actor) Model(string) error {
	return usage.Mistake("take the session over, or choose it there", "the model is chosen at the session's own window")
}

// logReader reads a session's log beside its writer, so that neither waits for the other. Each call
// opens the store anew: a reader from before the session's first entry would stay empty.
type logReader struct {
	path string
	id   session.ID
}

// read calls use, unless the session is not stored yet.
func (r logReader) read(ctx context.Context, use func(*sessiondb.Store, session.Head) error) error {
	if info, err := os.Stat(r.path); err != nil || info.Size() == 0 {
		return session.ErrNotFound
	}
	logs, err := sessiondb.Look(ctx, r.path, sessiondb.Options{})
	if err != nil {
		return err
	}
	defer logs.Close() // only read, so nothing is lost
	heads, _, err := logs.Page(ctx, sessiondb.Filter{Prefix: string(r.id), All: true})
	if i := slices.IndexFunc(heads, func(h session.Head) bool { return h.ID == r.id }); i >= 0 {
		return use(logs, heads[i])
	}
	return errors.Join(session.ErrNotFound, err)
}

func (r logReader) each(ctx context.Context, after int64, each func(int64, session.Entry) error) error {
	err := r.read(ctx, func(logs *sessiondb.Store, _ session.Head) error {
		return logs.ScanEach(ctx, sessiondb.Scan{Session: r.id, After: after}, func(f sessiondb.ScanResult) error { return each(f.Seq, f.Entry) })
	})
	if errors.Is(err, session.ErrNotFound) { // nothing is stored yet
		return nil
	}
	return err
}

func (r logReader) head() (head session.Head, err error) {
	err = r.read(context.Background(), func(_ *sessiondb.Store, h session.Head) error { head = h; return nil })
	return head, err
}
