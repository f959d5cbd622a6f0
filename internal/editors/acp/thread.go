package acp

import (
	"context"
	"slices"
	"sync"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/sourcegraph/jsonrpc2"

	"adze/session"
	"adze/session/api"
)

// thread is an open session. Its id stays the same while it is open, with any model.
type thread struct {
	agent   *Agent
	id      string
	opening OpenRequest // parameters of its opening
	updates *updateEncoder

	mu      sync.Mutex
	with    Conversation
	turn    *turn
	closed  bool
	rows    []api.ModelRow // known models; nil if not looked up yet
	last    chan struct{}  // closed when the other processes' prompts are done; nil if there were none
	movedTo string         // the session's new place; "" if here
	told    int            // length of the editor's history when the session left
}

type turn struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	before chan struct{} // closed when the turn before has ended; may be nil
	done   chan struct{}
}

func newThread(a *Agent, w OpenRequest) *thread {
	t := &thread{agent: a, opening: w}
	t.updates = &updateEncoder{thread: t}
	t.opening.Observe, t.opening.Ask, t.opening.Inquire, t.opening.Editor = t.updates.observe, t.ask, t.inquire, t.editor()
	t.opening.Named, t.opening.Clients = t.named, t
	return t
}

func (t *thread) open(ctx context.Context) error {
	with, err := t.agent.Program.Open(ctx, t.opening)
	if err != nil {
		return err
	}
	t.mu.Lock()
	t.with, t.id = with, with.ID()
	t.mu.Unlock()
	t.updates.settled(with)
	return nil
}

func (t *thread) current() Conversation {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.with
}

// again reopens the conversation with changed parameters; on an error it stays as it was. The
// caller holds the turn.
func (t *thread) again(ctx context.Context, change func(*OpenRequest) error) error {
	old := t.opening
	w := old
	w.ID, w.NewID, w.Fork = "", t.id, false
	if t.current().HasMessages() {
		w.ID, w.NewID = t.id, ""
	}
	w.Mode, w.Effort = t.current().Mode(), t.current().Effort()
	if err := change(&w); err != nil {
		return err
	}
	t.current().Close()
	t.opening = w
	err := t.open(ctx)
	if err != nil {
		w.Model = old.Model
		t.opening = w
		if back := t.open(context.WithoutCancel(ctx)); back != nil {
			t.agent.forget(t)
			return back
		}
	}
	return err
}

// begin takes the turn until end is called. If another one runs, it waits or fails.
func (t *thread) begin(ctx context.Context, waits bool) (u *turn, end func(), err error) {
	for u, err = t.start(); err != nil; u, err = t.start() {
		t.mu.Lock()
		closed, running := t.closed, t.turn
		t.mu.Unlock()
		if closed || !waits {
			return nil, nil, err
		}
		if running != nil {
			<-running.done
		}
	}
	u.await()
	stop := context.AfterFunc(ctx, func() { u.cancel(context.Cause(ctx)) })
	return u, func() { stop(); t.finish(u) }, nil
}

// await waits for the cancelled turn before.
func (u *turn) await() {
	if u.before != nil {
		<-u.before
	}
}

// start takes the turn without waiting for the one before.
func (t *thread) start() (*turn, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, refuse(codeNotFound, "this session was closed")
	}
	var before chan struct{}
	if t.turn != nil {
		if t.turn.ctx.Err() == nil {
			return nil, refuse(jsonrpc2.CodeInvalidRequest, "a turn of this session runs; wait for its end, or cancel it")
		}
		before = t.turn.done
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	u := &turn{ctx: ctx, cancel: cancel, before: before, done: make(chan struct{})}
	t.turn = u
	return u, nil
}

func (t *thread) finish(u *turn) {
	u.cancel(nil)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.turn == u {
		t.turn = nil
	}
	close(u.done)
}

func (t *thread) busy() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.turn != nil
}

// cancel cancels the running turn, or returns false.
func (t *thread) cancel(why error) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.turn != nil {
		t.turn.cancel(why)
	}
	return t.turn != nil
}

func (t *thread) close() {
	t.mu.Lock()
	closed, u := t.closed, t.turn
	t.closed = true
	t.mu.Unlock()
	if closed {
		return
	}
	if u != nil {
		u.cancel(session.ErrInterrupted)
		<-u.done
	}
	t.current().Close()
}

// introduce sends a newly opened session's commands, options and notices.
func (t *thread) introduce() {
	t.commands()
	for _, text := range slices.Concat(t.updates.before(), t.current().Notices()) {
		t.updates.notice(text)
	}
	with := t.current()
	t.agent.beside.Go(func() {
		rows := with.AllModels(t.agent.ctx)
		t.mu.Lock()
		t.rows = rows
		t.mu.Unlock()
		if t.checkOpen() == nil {
			t.tellOptions()
		}
	})
}

func (t *thread) post(u sdk.SessionUpdate) {
	t.agent.conn.notify(sdk.ClientMethodSessionUpdate, sdk.SessionNotification{SessionId: sdk.SessionId(t.id), Update: u})
}
