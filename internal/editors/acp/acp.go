// Package acp serves editors by the Agent Client Protocol, version 1: JSON-RPC 2.0 on stdin and
// stdout, with the editor as the client.
//
// The one rule: each request gets one response, and updates of a session come from its log:
// session/load sends the same again.
//
// Start reading at Agent.Serve, then conn.go (the connection) and session.go (opening sessions).
// prompt.go runs a turn and content.go converts its input; update_message.go, update_call.go and
// update_session.go send updates, call.go formats a call; permission.go and question.go ask the
// user; settings.go has mode, model and effort; files.go reads and writes files through the editor,
// clients.go handles prompts of other processes.
//
// Known limits: the protocol has no remarks during a turn; a second prompt is refused while one
// runs. A subagent's calls are shown as progress of the call that started it. Notices outside the
// log are not sent again when a session is loaded, but the end of each turn is. While the model
// writes a call, only its name is sent. Commands do not run in the editor's terminal.
package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/sourcegraph/jsonrpc2"

	"adze/internal/text/jsontext"
	"adze/session"
)

// An Agent serves several sessions to an editor on one connection.
type Agent struct {
	Program Program
	Version string

	conn *conn
	ways map[string]way

	mu      sync.Mutex
	client  sdk.ClientCapabilities
	threads map[string]*thread
	stopped bool
	beside  sync.WaitGroup // work that continues after a response
	ctx     context.Context
}

// way begins a request for one method.
type way func(params json.RawMessage) (job, error)

// leaveTime limits the wait at the end, for turns and for an editor that does not read.
const leaveTime = 20 * time.Second

// Serve serves the editor until the input or ctx ends. All work has stopped when it returns.
func (a *Agent) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	a.ctx, a.threads = ctx, map[string]*thread{}
	a.ways = a.methods()
	a.conn = &conn{begin: a.begin, heard: a.heard, panic: a.Program.Log}
	defer a.conn.close()
	err := a.conn.run(ctx, in, out)
	stop()
	a.leave()
	return err
}

// leave waits for the cancelled turns and closes all sessions.
func (a *Agent) leave() {
	a.mu.Lock()
	a.stopped = true
	var all []*thread
	for _, t := range a.threads {
		all = append(all, t)
	}
	a.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.conn.jobs.Wait()
		var closing sync.WaitGroup
		for _, t := range all {
			closing.Go(t.close)
		}
		closing.Wait()
		a.beside.Wait()
	}()
	select {
	case <-done:
	case <-time.After(leaveTime):
	}
}

func (a *Agent) methods() map[string]way {
	return map[string]way{
		sdk.AgentMethodInitialize:             handlerFor(a.initialize),
		sdk.AgentMethodAuthenticate:           handlerFor(a.authenticate),
		sdk.AgentMethodSessionNew:             handlerFor(a.newSession),
		sdk.AgentMethodSessionLoad:            handlerFor(a.loadSession),
		sdk.AgentMethodSessionResume:          handlerFor(a.resumeSession),
		sdk.AgentMethodSessionList:            handlerFor(a.listSessions),
		sdk.AgentMethodSessionClose:           handlerFor(a.closeSession),
		methodDelete:                          handlerFor(a.deleteSession),
		sdk.AgentMethodSessionFork:            handlerFor(a.forkSession),
		sdk.AgentMethodSessionSetMode:         handlerFor(a.setMode),
		sdk.AgentMethodSessionSetConfigOption: handlerFor(a.setOption),
		sdk.AgentMethodSessionPrompt:          a.prompt,
	}
}

// handlerFor builds a handler from do: it decodes the parameters, and sends do's result and then
// its updates.
func handlerFor[P, R any](do func(context.Context, P) (R, func(), error)) way {
	return func(raw json.RawMessage) (job, error) {
		p, err := params[P](raw)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context) (any, func(), error) { return do(ctx, p) }, nil
	}
}

func params[P any](raw json.RawMessage) (p P, err error) {
	if len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	if err = json.Unmarshal(raw, &p); err != nil {
		return p, refuse(jsonrpc2.CodeInvalidParams, "the parameters cannot be read: "+jsontext.Problem(err))
	}
	return p, nil
}

func (a *Agent) begin(method string, raw json.RawMessage) (job, error) {
	w, ok := a.ways[method]
	if !ok {
		return nil, refuse(jsonrpc2.CodeMethodNotFound, fmt.Sprintf("there is no method %q", method))
	}
	return w(raw)
}

// heard handles a notification. It ignores unknown ones.
func (a *Agent) heard(method string, raw json.RawMessage) {
	if method != sdk.AgentMethodSessionCancel {
		return
	}
	p, err := params[sdk.CancelNotification](raw)
	if err != nil {
		return
	}
	if t, err := a.thread(p.SessionId); err == nil {
		t.cancel(session.ErrInterrupted)
	}
}

func (a *Agent) thread(id sdk.SessionId) (*thread, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t, ok := a.threads[string(id)]
	if !ok {
		return nil, refuse(codeNotFound, fmt.Sprintf("no session %q is open here; session/load opens a stored one", id))
	}
	return t, nil
}

// refusal converts an error for the editor.
func (a *Agent) refusal(err error) error {
	var r *jsonrpc2.Error
	if errors.As(err, &r) {
		return r
	}
	out := failed(a.Program.Failure(err))
	if errors.Is(err, session.ErrLocked) {
		out.Code = jsonrpc2.CodeInvalidRequest
		out.Message += "; session/fork goes on with a copy"
	}
	return out
}
