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

// methodDelete is not in the SDK yet.
const methodDelete = "session/delete"

type deleteRequest struct {
	SessionId sdk.SessionId `json:"sessionId"`
}

// newSession opens a conversation. Updates with the servers' models and the commands follow the
// response.
func (a *Agent) newSession(ctx context.Context, p sdk.NewSessionRequest) (sdk.NewSessionResponse, func(), error) {
	t, err := a.open(ctx, OpenRequest{Cwd: p.Cwd, Servers: servers(p.McpServers)})
	if err != nil {
		return sdk.NewSessionResponse{}, nil, err
	}
	return sdk.NewSessionResponse{SessionId: sdk.SessionId(t.id), Modes: t.modes(), ConfigOptions: t.options()}, t.introduce, nil
}

// loadSession continues a stored conversation and first sends its content.
func (a *Agent) loadSession(ctx context.Context, p sdk.LoadSessionRequest) (sdk.LoadSessionResponse, func(), error) {
	t, err := a.reopen(ctx, p.SessionId, OpenRequest{Cwd: p.Cwd, Servers: servers(p.McpServers)})
	if err != nil {
		return sdk.LoadSessionResponse{}, nil, err
	}
	for _, e := range t.current().Replay() {
		t.updates.replay(e)
	}
	return sdk.LoadSessionResponse{Modes: t.modes(), ConfigOptions: t.options()}, t.introduce, nil
}

// resumeSession is like loadSession without the content.
func (a *Agent) resumeSession(ctx context.Context, p sdk.ResumeSessionRequest) (sdk.ResumeSessionResponse, func(), error) {
	t, err := a.reopen(ctx, p.SessionId, OpenRequest{Cwd: p.Cwd, Servers: servers(p.McpServers)})
	if err != nil {
		return sdk.ResumeSessionResponse{}, nil, err
	}
	return sdk.ResumeSessionResponse{Modes: t.modes(), ConfigOptions: t.options()}, t.introduce, nil
}

// forkSession continues a copy of a stored conversation under a new id, without its content. The
// original may be open anywhere; from a running turn the copy has the stored part.
func (a *Agent) forkSession(ctx context.Context, p forkRequest) (sdk.NewSessionResponse, func(), error) {
	w := OpenRequest{ID: string(p.SessionId), Fork: true, Cwd: p.Cwd, Servers: servers(p.McpServers)}
	if open, err := a.thread(p.SessionId); err == nil && !open.busy() && !open.current().HasMessages() {
		w.ID, w.Fork = "", false // it is empty
	} else if err := a.stored(ctx, p.SessionId); err != nil {
		return sdk.NewSessionResponse{}, nil, err
	}
	t, err := a.open(ctx, w)
	if err != nil {
		return sdk.NewSessionResponse{}, nil, err
	}
	return sdk.NewSessionResponse{SessionId: sdk.SessionId(t.id), Modes: t.modes(), ConfigOptions: t.options()}, t.introduce, nil
}

// forkRequest is session/fork, which the protocol marks as unstable.
type forkRequest struct {
	SessionId  sdk.SessionId   `json:"sessionId"`
	Cwd        string          `json:"cwd"`
	McpServers []sdk.McpServer `json:"mcpServers"`
}

// closeSession cancels a session's work and closes it. It stays stored.
func (a *Agent) closeSession(_ context.Context, p sdk.CloseSessionRequest) (sdk.CloseSessionResponse, func(), error) {
	t, err := a.thread(p.SessionId)
	if err != nil {
		return sdk.CloseSessionResponse{}, nil, err
	}
	t.close()
	a.forget(t)
	return sdk.CloseSessionResponse{}, nil, nil
}

// deleteSession removes a session and all its files for good.
func (a *Agent) deleteSession(ctx context.Context, p deleteRequest) (struct{}, func(), error) {
	if p.SessionId == "" {
		return struct{}{}, nil, refuse(jsonrpc2.CodeInvalidParams, "sessionId is missing")
	}
	if t, err := a.thread(p.SessionId); err == nil {
		t.close()
		a.forget(t)
		if !t.current().HasMessages() {
			return struct{}{}, nil, nil // it was not stored
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

// stored returns an error if the session is not in the store.
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

const perPage = 100

// listSessions lists stored sessions, newest first. The cursor is the number of those already
// listed.
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

// plain returns a folder without symbolic links, as sessions store it.
func plain(dir string) string {
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		return resolved
	}
	return filepath.Clean(dir)
}

// reopen opens a stored session, closing it first if it is open here.
func (a *Agent) reopen(ctx context.Context, id sdk.SessionId, w OpenRequest) (*thread, error) {
	if open, err := a.thread(id); err == nil {
		if open.busy() {
			return nil, refuse(jsonrpc2.CodeInvalidRequest, "a turn of this session runs; cancel it first")
		}
		if !open.current().HasMessages() {
			return open, nil // nothing to load, and it is not stored
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

func (a *Agent) open(ctx context.Context, w OpenRequest) (*thread, error) {
	if !filepath.IsAbs(w.Cwd) {
		return nil, refuse(jsonrpc2.CodeInvalidParams, "cwd has to be an absolute path")
	}
	t := newThread(a, w)
	u, err := t.start() // other processes' prompts wait until it is open
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

func (a *Agent) forget(t *thread) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.threads[t.id] == t {
		delete(a.threads, t.id)
	}
}

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
