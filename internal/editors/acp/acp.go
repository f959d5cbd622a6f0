// Package acp lets an editor hold conversations with adze by the Agent Client Protocol, version 1:
// JSON-RPC 2.0 on stdin and stdout, the editor being the client.
//
// The one rule: each message that comes has one outcome, and what is told of a session is what its
// log says: session/load tells the same again.
//
// Start reading at Agent.Serve, then conn.go (the connection) and session.go (what an editor
// opens). prompt.go is a turn and content.go what it is given; update_message.go, update_call.go
// and update_session.go tell the editor what happens, call.go shows a call; permission.go and
// question.go ask the user; settings.go has mode, model and effort; files.go has the editor read
// and write files, clients.go has the prompts of other processes.
//
// Known limits: a remark for a running turn cannot be said in this protocol; a second prompt is
// refused while one runs. The calls of a subagent are told as progress of the call that started it.
// What is told beside the log, such as a notice, is not told again when a session is loaded, but
// how a turn ended is. Of a call that is being written the name is told, and the rest when it is
// whole. Commands run in no terminal of the editor's.
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

// Agent is adze as an editor sees it: several sessions on one connection.
type Agent struct {
	Program Program
	Version string

	conn *conn
	ways map[string]way

	mu      sync.Mutex
	client  sdk.ClientCapabilities
	threads map[string]*thread
	opening map[string]bool // ids that are being opened
	stopped bool
	beside  sync.WaitGroup // what goes on behind answers
	ctx     context.Context
}

// way is how a request of one method begins.
type way func(params json.RawMessage) (job, error)

// leaveTime bounds how long the end waits for turns that end and for an editor that does not read.
const leaveTime = 20 * time.Second

// Serve talks with the editor until its side ends or ctx does; nothing that was started runs any
// more then.
func (a *Agent) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	a.ctx, a.threads, a.opening = ctx, map[string]*thread{}, map[string]bool{}
	a.ways = a.methods()
	a.conn = &conn{begin: a.begin, heard: a.heard, panic: a.Program.Log}
	defer a.conn.close()
	err := a.conn.run(ctx, in, out)
	stop()
	a.leave()
	return err
}

// leave waits until what was cancelled has ended, and closes all sessions.
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

// methods are all that an editor can ask for.
func (a *Agent) methods() map[string]way {
	return map[string]way{
		sdk.AgentMethodInitialize:             takes(a.initialize),
		sdk.AgentMethodAuthenticate:           takes(a.authenticate),
		sdk.AgentMethodSessionNew:             takes(a.newSession),
		sdk.AgentMethodSessionLoad:            takes(a.loadSession),
		sdk.AgentMethodSessionResume:          takes(a.resumeSession),
		sdk.AgentMethodSessionList:            takes(a.listSessions),
		sdk.AgentMethodSessionClose:           takes(a.closeSession),
		methodDelete:                          takes(a.deleteSession),
		sdk.AgentMethodSessionFork:            takes(a.forkSession),
		sdk.AgentMethodSessionSetMode:         takes(a.setMode),
		sdk.AgentMethodSessionSetConfigOption: takes(a.setOption),
		sdk.AgentMethodSessionPrompt:          a.prompt,
	}
}

// takes makes a way of a function: its parameters are read before it is called, and what it returns
// is the answer, with what is told behind it.
func takes[P, R any](do func(context.Context, P) (R, func(), error)) way {
	return func(raw json.RawMessage) (job, error) {
		p, err := params[P](raw)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context) (any, func(), error) { return do(ctx, p) }, nil
	}
}

// params reads what a request is about.
func params[P any](raw json.RawMessage) (p P, err error) {
	if len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	if err = json.Unmarshal(raw, &p); err != nil {
		return p, refuse(jsonrpc2.CodeInvalidParams, "the parameters cannot be read: "+jsontext.Problem(err))
	}
	return p, nil
}

// begin finds what a request asks for.
func (a *Agent) begin(method string, raw json.RawMessage) (job, error) {
	w, ok := a.ways[method]
	if !ok {
		return nil, refuse(jsonrpc2.CodeMethodNotFound, fmt.Sprintf("there is no method %q", method))
	}
	return w(raw)
}

// heard takes a notification. What is not known is for others.
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

// thread finds an open session.
func (a *Agent) thread(id sdk.SessionId) (*thread, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t, ok := a.threads[string(id)]
	if !ok {
		return nil, refuse(codeNotFound, fmt.Sprintf("no session %q is open here; session/load opens a stored one", id))
	}
	return t, nil
}

// refusal is an error of the program as the editor gets it.
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
