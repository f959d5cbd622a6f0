// Package serve offers adze's tools to other programs: it is an MCP server over the pipes of a
// program that started adze, and over HTTP on this machine.
//
// The one rule: nothing runs here. A call goes to its client's Runner, which has the pipeline of
// every run, and Ask asks the user at the client.
//
// Start reading at New, then call.go (one call, from request to result) and ask.go (permission
// questions to the client's user). stdio.go and http.go are the transports; the SDK handles the
// protocol.
//
// Up to protocol 2025-11-25 a client has a session, and the server sends it requests to ask. Since
// 2026-07-28 a server asks by an incomplete result, and the client repeats the call, which waits
// here meanwhile.
//
// Known limits: over HTTP, clients of 2026-07-28 have no session, and those with the same name and
// version share a Runner. Streams are not resumed: a client that loses a call's connection loses
// the call.
package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/text/safeterm"
	"adze/tool"
)

// A Runner makes the calls of one client. Contract:
//   - Call returns soon after ctx ends, always with one outcome; it is safe for
//     concurrent use;
//   - permission questions go to Ask, with a context derived from ctx;
//   - Close ends background work of the calls; it is called after the last of them.
type Runner interface {
	Call(ctx context.Context, client string, call tool.RawCall, tell func(string)) tool.Outcome
	// Session returns the session that records the calls.
	Session() string
	Close()
}

// Options configures a Server.
type Options struct {
	Version      string
	Instructions string
	Tools        []tool.Definition
	// Open returns a runner for a client's first call.
	Open func(ctx context.Context) (Runner, error)
	// Mask hides secrets in texts for a user.
	Mask func(string) string
	// Report reports a problem to the user who started the server.
	Report func(string)
}

// A Server offers tools to its clients.
type Server struct {
	o   Options
	sdk *mcp.Server
	// Timeouts, which tests shorten: of an unused HTTP client, an unanswered question, and running
	// calls after the pipe's end.
	idle, patience, drain time.Duration

	mu      sync.Mutex
	clients map[any]*client
	waiting map[string]*call // by the state that the client sends back
	ended   bool
}

// New returns a server for tools. A tool whose schema MCP does not allow gets one for any object:
// it checks its arguments itself.
func New(o Options) *Server {
	s := &Server{
		o: o, idle: 30 * time.Minute, patience: 10 * time.Minute, drain: 10 * time.Second,
		clients: map[any]*client{}, waiting: map[string]*call{},
	}
	s.sdk = mcp.NewServer(&mcp.Implementation{Name: "adze", Title: "adze", Version: o.Version}, &mcp.ServerOptions{
		Instructions: o.Instructions, Logger: slog.New(slog.DiscardHandler),
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" }, // only for holders of the token
	})
	s.sdk.AddReceivingMiddleware(declared)
	for _, d := range o.Tools {
		s.sdk.AddTool(&mcp.Tool{Name: d.Name, Description: d.Description, InputSchema: schemaOf(d), Annotations: hintsOf(d)}, s.handle)
	}
	return s
}

// declared refuses requests for capabilities that the server does not declare; the SDK would return
// empty lists.
func declared(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		for _, kind := range []string{"prompts/", "resources/", "completion/", "logging/"} {
			if strings.HasPrefix(method, kind) {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: method + " is not offered here"}
			}
		}
		return next(ctx, method, r)
	}
}

// schemaOf returns a tool's schema, byte for byte.
func schemaOf(d tool.Definition) json.RawMessage {
	var top struct{ Type string }
	if json.Unmarshal(d.Parameters, &top) != nil || top.Type != "object" {
		return json.RawMessage(`{"type":"object"}`)
	}
	return d.Parameters
}

// hintsOf derives annotations from a tool's permissions: any tool that changes something is marked
// as destructive.
func hintsOf(d tool.Definition) *mcp.ToolAnnotations {
	changes, open := d.Permissions.SideEffects(), false
	for _, p := range append(append([]tool.Permission{}, d.Permissions.Required...), d.Permissions.Optional...) {
		open = open || p == tool.Network || p == tool.Execute
	}
	return &mcp.ToolAnnotations{ReadOnlyHint: !changes, DestructiveHint: &changes, OpenWorldHint: &open}
}

type client struct {
	name   string
	life   context.Context // ends with the client
	leave  context.CancelCauseFunc
	calls  sync.WaitGroup
	active int         // running calls
	unused *time.Timer // nil if the connection's end is reported

	once   sync.Once
	runner Runner
	err    error
}

const mostCalls = 128

// closeTime is the time that a leaving client's cancelled calls have to end.
const closeTime = 10 * time.Second

// close ends a client's calls, and then their background work.
func (c *client) close(why error) {
	c.leave(why)
	over := make(chan struct{})
	go func() { c.calls.Wait(); close(over) }()
	timer := time.NewTimer(closeTime)
	defer timer.Stop()
	select {
	case <-over:
	case <-timer.C:
	}
	c.once.Do(func() { c.err = errLeft })
	if c.runner != nil {
		c.runner.Close()
	}
}

// enter finds or adds a request's client. The caller calls done after its call.
func (s *Server) enter(r *mcp.CallToolRequest) (c *client, done func(), err error) {
	key, name, lasts := identify(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return nil, nil, errLeft
	}
	c = s.clients[key]
	if c == nil {
		c = &client{name: name}
		c.life, c.leave = context.WithCancelCause(context.Background())
		s.clients[key] = c
		if lasts {
			go func() { _ = r.Session.Wait(); s.drop(key) }()
		} else {
			c.unused = time.AfterFunc(s.idle, func() { s.drop(key) })
		}
	}
	if c.active == mostCalls {
		return nil, nil, fmt.Errorf("%d calls of this client run; wait for some of them", mostCalls)
	}
	if c.active++; c.unused != nil {
		c.unused.Stop()
	}
	c.calls.Add(1)
	return c, func() {
		s.mu.Lock()
		if c.active--; c.active == 0 && c.unused != nil {
			c.unused.Reset(s.idle)
		}
		s.mu.Unlock()
		c.calls.Done()
	}, nil
}

// identify returns a request's client: its connection, if that outlives the request.
func identify(r *mcp.CallToolRequest) (key any, name string, lasts bool) {
	name = "a client"
	if p := r.Session.InitializeParams(); p != nil && p.ClientInfo != nil && p.ClientInfo.Name != "" {
		name = strings.TrimSpace(safeterm.Name(fmt.Sprintf("%.60s %.20s", p.ClientInfo.Name, p.ClientInfo.Version)).String())
	}
	if r.Extra != nil && r.Extra.Header != nil && r.Session.ID() == "" {
		return "client " + name, name, false
	}
	return r.Session, name, true
}

func (s *Server) drop(key any) {
	s.mu.Lock()
	c := s.clients[key]
	delete(s.clients, key)
	s.mu.Unlock()
	if c != nil {
		c.close(errLeft)
	}
}

// Close removes all clients and accepts no more.
func (s *Server) Close() {
	s.mu.Lock()
	s.ended = true
	all := make([]*client, 0, len(s.clients))
	for key, c := range s.clients {
		all = append(all, c)
		delete(s.clients, key)
	}
	s.mu.Unlock()
	var closing sync.WaitGroup
	for _, c := range all {
		closing.Go(func() { c.close(errLeft) })
	}
	closing.Wait()
}
