package acp

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/sourcegraph/jsonrpc2"

	"adze/session/api"
)

// methodDelete is newer than the SDK.
const methodDelete = "session/delete"

// deleteRequest names the session to remove.
type deleteRequest struct {
	SessionId sdk.SessionId `json:"sessionId"`
}

// newSession opens a conversation. What is found beside it follows behind the answer: models that
// servers have, commands.
func (a *Agent) newSession(ctx context.Context, p sdk.NewSessionRequest) (sdk.NewSessionResponse, func(), error) {
	t, err := a.open(ctx, Wish{Cwd: p.Cwd, Servers: servers(p.McpServers)})
	if err != nil {
		return sdk.NewSessionResponse{}, nil, err
	}
	return sdk.NewSessionResponse{SessionId: sdk.SessionId(t.id), Modes: t.modes(), ConfigOptions: t.options()}, t.introduce, nil
}

// loadSession goes on with a stored conversation, and tells first what was in it.
func (a *Agent) loadSession(ctx context.Context, p sdk.LoadSessionRequest) (sdk.LoadSessionResponse, func(), error) {
	t, err := a.reopen(ctx, p.SessionId, Wish{Cwd: p.Cwd, Servers: servers(p.McpServers)})
	if err != nil {
		return sdk.LoadSessionResponse{}, nil, err
	}
	for _, e := range t.now().Replay() {
		t.tell.replay(e)
	}
	return sdk.LoadSessionResponse{Modes: t.modes(), ConfigOptions: t.options()}, t.introduce, nil
}

// resumeSession is the same without telling.
func (a *Agent) resumeSession(ctx context.Context, p sdk.ResumeSessionRequest) (sdk.ResumeSessionResponse, func(), error) {
	t, err := a.reopen(ctx, p.SessionId, Wish{Cwd: p.Cwd, Servers: servers(p.McpServers)})
	if err != nil {
		return sdk.ResumeSessionResponse{}, nil, err
	}
	return sdk.ResumeSessionResponse{Modes: t.modes(), ConfigOptions: t.options()}, t.introduce, nil
}

// forkSession goes on with a copy of a stored conversation, under an id of its own, and tells
// nothing of it. The one that is copied may be open, here or elsewhere: of a turn that runs, the
// copy has what is stored.
func (a *Agent) forkSession(ctx context.Context, p forkRequest) (sdk.NewSessionResponse, func(), error) {
	w := Wish{ID: string(p.SessionId), Fork: true, Cwd: p.Cwd, Servers: servers(p.McpServers)}
	if open, err := a.thread(p.SessionId); err == nil && !open.busy() && !open.now().Begun() {
		w.ID, w.Fork = "", false // nothing was said in it
	} else if err := a.stored(ctx, p.SessionId); err != nil {
		return sdk.NewSessionResponse{}, nil, err
	}
	t, err := a.open(ctx, w)
	if err != nil {
		return sdk.NewSessionResponse{}, nil, err
	}
	return sdk.NewSessionResponse{SessionId: sdk.SessionId(t.id), Modes: t.modes(), ConfigOptions: t.options()}, t.introduce, nil
}

// forkRequest is session/fork, which the protocol calls unstable.
type forkRequest struct {
	SessionId  sdk.SessionId   `json:"sessionId"`
	Cwd        string          `json:"cwd"`
	McpServers []sdk.McpServer `json:"mcpServers"`
}

// closeSession ends what runs of a session, and lets go of it. It stays stored.
func (a *Agent) closeSession(_ context.Context, p sdk.CloseSessionRequest) (sdk.CloseSessionResponse, func(), error) {
	t, err := a.thread(p.SessionId)
	if err != nil {
		return sdk.CloseSessionResponse{}, nil, err
	}
	t.close()
	a.forget(t)
	return sdk.CloseSessionResponse{}, nil, nil
}

// deleteSession removes a session for ever, with all that was kept of it.
func (a *Agent) deleteSession(ctx context.Context, p deleteRequest) (struct{}, func(), error) {
	if p.SessionId == "" {
		return struct{}{}, nil, refuse(jsonrpc2.CodeInvalidParams, "sessionId is missing")
	}
	if t, err := a.thread(p.SessionId); err == nil {
		t.close()
		a.forget(t)
		if !t.now().Begun() {
			return struct{}{}, nil, nil // nothing was stored of it
		}
	}
	if err := a.stored(ctx, p.SessionId); err != nil {
		return struct{}{}, nil, err
	}
	if err := a.Program.Delete(ctx, string(p.SessionId)); err != nil {
		return struct{}{}, nil, a.refusal(err)
	}
	return struct{}{}, nil, nil
}

// stored refuses a session that is not in the store.
func (a *Agent) stored(ctx context.Context, id sdk.SessionId) error {
	all, err := a.Program.Sessions(ctx)
	if err != nil {
		return a.refusal(err)
	}
	if !slices.ContainsFunc(all, func(h api.SessionHead) bool { return h.ID == string(id) }) {
		return refuse(codeNotFound, fmt.Sprintf("no session %q is stored", id))
	}
	return nil
}

// perPage is how many sessions one answer lists.
const perPage = 100

// listSessions lists what is stored, newest first. The cursor is how many were listed before.
func (a *Agent) listSessions(ctx context.Context, p sdk.ListSessionsRequest) (sdk.ListSessionsResponse, func(), error) {
	out := sdk.ListSessionsResponse{Sessions: []sdk.SessionInfo{}}
	all, err := a.Program.Sessions(ctx)
	if err != nil {
		return out, nil, a.refusal(err)
	}
	if p.Cwd != nil && *p.Cwd != "" {
		wanted := plain(*p.Cwd)
		all = slices.DeleteFunc(all, func(h api.SessionHead) bool { return h.Cwd != wanted && h.Cwd != *p.Cwd })
	}
	from := 0
	if p.Cursor != nil {
		if from, err = strconv.Atoi(*p.Cursor); err != nil || from < 0 {
			return out, nil, refuse(jsonrpc2.CodeInvalidParams, "there is no such cursor; take the one of the answer before")
		}
	}
	all = all[min(from, len(all)):]
	if len(all) > perPage {
		all = all[:perPage]
		out.NextCursor = sdk.Ptr(strconv.Itoa(from + perPage))
	}
	for _, h := range all {
		info := sdk.SessionInfo{SessionId: sdk.SessionId(h.ID), Cwd: h.Cwd, UpdatedAt: sdk.Ptr(h.Updated.UTC().Format(time.RFC3339))}
		if h.Title != "" {
			info.Title = sdk.Ptr(h.Title)
		}
		out.Sessions = append(out.Sessions, info)
	}
	return out, nil, nil
}

// plain is a folder as sessions remember it: without links.
func plain(dir string) string {
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		return resolved
	}
	return filepath.Clean(dir)
}

// reopen opens a stored session; one that is open here is closed before.
func (a *Agent) reopen(ctx context.Context, id sdk.SessionId, w Wish) (*thread, error) {
	if open, err := a.thread(id); err == nil {
		if open.busy() {
			return nil, refuse(jsonrpc2.CodeInvalidRequest, "a turn of this session runs; cancel it first")
		}
		if !open.now().Begun() {
			return open, nil // there is nothing to load, and it is not stored
		}
		open.close()
		a.forget(open)
	}
	if err := a.stored(ctx, id); err != nil {
		return nil, err
	}
	w.ID = string(id)
	return a.open(ctx, w)
}

// open starts or continues a conversation.
func (a *Agent) open(ctx context.Context, w Wish) (*thread, error) {
	if !filepath.IsAbs(w.Cwd) {
		return nil, refuse(jsonrpc2.CodeInvalidParams, "cwd has to be an absolute path")
	}
	if w.ID != "" && !w.Fork {
		if !a.claim(w.ID) {
			return nil, refuse(jsonrpc2.CodeInvalidRequest, "this session is being opened already")
		}
		defer a.unclaim(w.ID)
	}
	t := newThread(a, w)
	u, err := t.start() // prompts of other processes wait until it is open
	if err == nil {
		err = t.open(ctx)
		t.finish(u)
	}
	if err != nil {
		return nil, a.refusal(err)
	}
	a.mu.Lock()
	stopped := a.stopped
	a.threads[t.id] = t
	a.mu.Unlock()
	if stopped {
		t.close()
		return nil, errGone
	}
	return t, nil
}

func (a *Agent) claim(id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.opening[id] {
		return false
	}
	a.opening[id] = true
	return true
}

func (a *Agent) unclaim(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.opening, id)
}

func (a *Agent) forget(t *thread) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.threads[t.id] == t {
		delete(a.threads, t.id)
	}
}

// servers are the MCP servers that an editor hands over.
func servers(list []sdk.McpServer) (out []Server) {
	for _, s := range list {
		switch {
		case s.Stdio != nil:
			env := map[string]string{}
			for _, v := range s.Stdio.Env {
				env[v.Name] = v.Value
			}
			out = append(out, Server{Name: s.Stdio.Name, Type: "stdio", Command: s.Stdio.Command, Args: s.Stdio.Args, Env: env})
		case s.Http != nil:
			out = append(out, Server{Name: s.Http.Name, Type: "http", URL: s.Http.Url, Headers: headers(s.Http.Headers)})
		case s.Sse != nil:
			out = append(out, Server{Name: s.Sse.Name, Type: "sse", URL: s.Sse.Url, Headers: headers(s.Sse.Headers)})
		}
	}
	return out
}

func headers(list []sdk.HttpHeader) map[string]string {
	out := map[string]string{}
	for _, h := range list {
		out[h.Name] = h.Value
	}
	return out
}
