package conversation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/cmd/lineprotocol"
	"adze/internal/live"
	"adze/internal/project/plan"
	"adze/internal/run/hostio"
	"adze/internal/sandbox/proc"
	"adze/internal/sessiondb"
	"adze/internal/text/usage"
	"adze/session"
	"adze/tool"
	"adze/toolset"
	"adze/tui/permission"
	"adze/tui/question"
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
	// LetGo ends the conversation, which goes on elsewhere.
	LetGo func(to string)
	// Left is called when a client has gone.
	Left func()
	// Headless says that only clients answer questions.
	Headless bool
}

// Shown is the session as it is known to clients; if nil, it is watched by nobody.
func (w *Conversation) Shown() *live.Owner { return w.owner.Load() }

// share has other processes of the user watch and steer the conversation, where its log is on this
// machine. Where that cannot be, the log alone tells them.
func (w *Conversation) share() {
	stored, ok := w.Stored.(*sessiondb.Store)
	if !ok || !w.Settings.Request.Saves() {
		return
	}
	at, id := w.Settings.At, w.Session.ID()
	log := &logReader{path: stored.Path()}
	ledger := proc.NewLedger(at.Jobs())
	c := live.Config{
		Folder: live.Folder(w.Settings.Process.Getenv, at.State), ID: id, Log: log.each(id), Mask: w.Settings.Process.Ring.Mask,
		Below: ledger.Below, Position: func() int64 { return stored.Position(id) }, Mode: func() string { return string(w.Gate.Mode()) },
		Hello: func() live.Hello { return w.hello(log) }, Veil: hostio.VeiledEvent,
		Blocks: func(name string, metadata json.RawMessage) []tool.Block {
			return hostio.VeiledBlocks(w.Set.Blocks(name, metadata))
		},
		Record: w.recordClient, Left: w.person.Clients.Left,
	}
	if to := w.person.Clients.LetGo; to != nil {
		c.LetGo = func(p live.Peer) { to(p.String()) }
	}
	if w.person.Inquire != nil && !w.person.Clients.Headless {
		c.Confirm = w.confirm
	}
	switch given := w.person.Clients; {
	case given.Line != nil:
		c.Act = func(_ live.Peer, raw []byte) error { return given.Line(raw) }
	case given.Prompt != nil:
		c.Act = func(_ live.Peer, raw []byte) error { return lineprotocol.Act(raw, actor{w}) }
	}
	owner, err := live.Listen(c)
	if err != nil {
		if !errors.Is(err, live.ErrUnavailable) {
			w.Notices = append(w.Notices, "the session cannot be watched from elsewhere: "+err.Error())
		}
		return
	}
	w.owner.Store(owner)
	w.closers = append(w.closers, log.close, func() { w.owner.Store(nil); owner.Close(w.letGoTo()) })
}

// letGoTo says who goes on with the session; if empty, nobody.
func (w *Conversation) letGoTo() string {
	if to, ok := w.wantedBy.Load().(string); ok {
		return "it goes on in " + to
	}
	return ""
}

// GoesTo says who goes on with the session, before Close.
func (w *Conversation) GoesTo(who string) { w.wantedBy.Store(who) }

// hello is what a client is told first.
func (w *Conversation) hello(log *logReader) live.Hello {
	h := live.Hello{Version: w.Head.Version, Cwd: w.Head.Cwd, Provider: w.Head.Provider, Model: w.Head.Model,
		Mode: string(w.Gate.Mode()), Effort: w.Effort(), Window: !w.person.Clients.Headless}
	if head, err := log.head(w.Session.ID()); err == nil {
		h.Title, h.Position = head.Title(), int64(head.Entries)
	}
	return h
}

// confirm asks the user at the session's own window whether a client may steer it.
func (w *Conversation) confirm(ctx context.Context, p live.Peer) error {
	const yes = "Let it steer this session"
	answer, err := w.inquireHere(ctx, toolset.Inquiry{Asks: "adze", Question: fmt.Sprintf("%s of another login wants to answer and prompt in this session.", p), Choices: []string{yes, "No"}})
	if err == nil && answer != yes {
		err = errors.New("they said no")
	}
	return err
}

// recordClient writes down what a client did.
func (w *Conversation) recordClient(p live.Peer, act string) {
	raw, err := json.Marshal(session.Client{PID: p.PID, UID: p.UID, As: p.As, Act: act})
	if err == nil && w.Patient != nil {
		e := session.Entry{Type: session.ClientEntry, Time: time.Now(), Data: raw}
		_ = w.Patient.Append(context.Background(), w.Session.ID(), e) // the turn tells of a store that fails
	}
	w.observe(session.Notice{Text: fmt.Sprintf("%s: %s", p, act)})
}

// together has the model's questions be put to the clients, too.
func (w *Conversation) together(who Person) Person {
	w.inquireHere = who.Inquire
	if inquire := who.Inquire; inquire != nil {
		who.Inquire = func(ctx context.Context, q toolset.Inquiry) (string, error) {
			title := ""
			if q.Asks != "" {
				title = q.Asks + " asks"
			}
			return first(ctx, func(ctx context.Context) (string, error) { return inquire(ctx, q) },
				w.inquireClients(question.Question{Title: title, Agent: q.Agent, Text: q.Question, Choices: q.Choices}))
		}
	}
	if review := who.Review; review != nil {
		who.Review = func(ctx context.Context, q plan.Question) (string, error) {
			return first(ctx, func(ctx context.Context) (string, error) { return review(ctx, q) },
				w.inquireClients(question.Question{Title: "the model's plan", Text: q.Text, Choices: q.Choices, Said: q.Said}))
		}
	}
	return who
}

func (w *Conversation) inquireClients(q question.Question) func(context.Context) (string, error) {
	owner := w.owner.Load()
	if owner == nil {
		return nil
	}
	return func(ctx context.Context) (string, error) { return owner.Inquire(ctx, q) }
}

// askTogether puts a question of the gate to the clients, too.
func (w *Conversation) askTogether(ask func(context.Context, permission.Ask) (permission.Answer, error)) func(context.Context, permission.Ask) (permission.Answer, error) {
	owner := w.owner.Load()
	if owner == nil {
		return ask
	}
	return func(ctx context.Context, a permission.Ask) (permission.Answer, error) {
		clients := func(ctx context.Context) (permission.Answer, error) { return owner.Ask(ctx, a) }
		return first(ctx, func(ctx context.Context) (permission.Answer, error) { return ask(ctx, a) }, clients)
	}
}

// first is the answer that comes first. An error of the window's own ends the question; clients may
// be nil.
func first[A any](ctx context.Context, window, clients func(context.Context) (A, error)) (A, error) {
	if clients == nil {
		return window(ctx)
	}
	asking, cancel := context.WithCancel(ctx)
	type reply struct {
		answer A
		err    error
	}
	replies := make(chan reply, 1)
	var done sync.WaitGroup
	defer done.Wait()
	defer cancel()
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

// Change puts a permission mode and an effort in force; an empty one stays as it is.
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

// actor does what lines of clients say: lineprotocol.Actor.
type actor struct{ w *Conversation }

func (a actor) Prompt(p lineprotocol.Prompt) error { return a.w.person.Clients.Prompt(p) }
func (a actor) Steer(text string) bool             { return a.w.Session.Steer(text) }
func (a actor) CancelCall(id tool.CallID) bool     { return a.w.cancelCall(id) }

func (a actor) Abort() bool {
	abort := a.w.person.Clients.Abort
	return abort != nil && abort()
}

func (a actor) Set(mode, effort string) error {
	err := a.w.Change(mode, effort)
	if show := a.w.person.Clients.InMode; err == nil && mode != "" && show != nil {
		show(mode)
	}
	return err
}

func (a actor) Model(string) error {
	return usage.Mistake("take the session over, or choose it there", "the model is chosen at the session's own window")
}

// logReader reads the log beside the process that writes it, so that neither waits for the other.
type logReader struct {
	path string
	mu   sync.Mutex
	logs *sessiondb.Store
}

func (r *logReader) open(ctx context.Context) (*sessiondb.Store, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.logs != nil {
		return r.logs, nil
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
		if err != nil {
			return err
		}
		err = logs.Each(ctx, sessiondb.Scan{Session: id, After: after}, func(f sessiondb.Found) error { return each(f.Seq, f.Entry) })
		if errors.Is(err, session.ErrNotFound) { // nothing was said yet
			return nil
		}
		return err
	}
}

func (r *logReader) head(id session.ID) (session.Head, error) {
	logs, err := r.open(context.Background())
	if err != nil {
		return session.Head{}, err
	}
	heads, _, err := logs.Page(context.Background(), sessiondb.Filter{Prefix: string(id), All: true})
	for _, h := range heads {
		if h.ID == id {
			return h, nil
		}
	}
	return session.Head{}, errors.Join(session.ErrNotFound, err)
}

func (r *logReader) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.logs != nil {
		_ = r.logs.Close() // it was only read
	}
}
