// Package serve offers the tools of adze to programs of others: it is an MCP server, over the pipes
// that such a program has started adze with, and over HTTP on this machine.
//
// The one rule: nothing runs here. A call is handed to the Runner of its client, which has the
// pipeline of every other run, and whoever is there to be asked is asked by Ask.
//
// Start reading at New, then call.go (one call, from the request to its result) and ask.go (a
// question of the gate, put to the user who sits at the client). stdio.go and http.go are the
// ways in; what they let through is the SDK's matter.
//
// Protocols until 2025-11-25 have one session a client, and are asked by a request of the server's.
// Since 2026-07-28 a server asks by an unfinished result, after which the client makes the call
// again: the call waits here meanwhile.
//
// Known limits: over HTTP the clients of 2026-07-28 have no session, and those of one name and
// version share a Runner. Streams are not resumed: a client that loses the connection of a call
// loses the call.
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

// Runner is where the calls of one client are made. Contract:
//   - Call returns soon after ctx has ended, with one outcome whatever happens; it is called from
//     any goroutine;
//   - what the gate wants to know meanwhile is asked by Ask, with a context that comes from ctx;
//   - Close ends what calls have left running, after the last of them.
type Runner interface {
	Call(ctx context.Context, client string, call tool.RawCall, tell func(string)) tool.Outcome
	// Session is where the calls are recorded.
	Session() string
	Close()
}

// Options say what is offered.
type Options struct {
	Version      string
	Instructions string
	Tools        []tool.Definition
	// Open makes a runner for a client that makes its first call.
	Open func(ctx context.Context) (Runner, error)
	// Mask hides secrets in what a user is asked and told.
	Mask func(string) string
	// Tell has the user who started the server know what is wrong.
	Tell func(string)
}

// Server is the tools on offer, and the clients that came.
type Server struct {
	o   Options
	sdk *mcp.Server
	// Times, which tests shorten: how long an unused client of HTTP is kept, a question that nobody
	// answers, and what still runs when the pipe from the client has ended.
	idle, patience, drain time.Duration

	mu       sync.Mutex
	clients  map[any]*client
	waiting  map[string]*call           // by the state that the client gives back
	requests map[string]context.Context // of HTTP that are being answered
	ended    bool
}

// New makes a server of tools. One whose schema no protocol allows is offered with one that allows
// any object: it checks its arguments itself.
func New(o Options) *Server {
	s := &Server{
		o: o, idle: 30 * time.Minute, patience: 10 * time.Minute, drain: 10 * time.Second,
		clients: map[any]*client{}, waiting: map[string]*call{}, requests: map[string]context.Context{},
	}
	s.sdk = mcp.NewServer(&mcp.Implementation{Name: "adze", Title: "adze", Version: o.Version}, &mcp.ServerOptions{
		Instructions: o.Instructions, Logger: slog.New(slog.DiscardHandler),
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" }, // it is for who knows the token
	})
	s.sdk.AddReceivingMiddleware(declared)
	for _, d := range o.Tools {
		s.sdk.AddTool(&mcp.Tool{Name: d.Name, Description: d.Description, InputSchema: schemaOf(d), Annotations: hintsOf(d)}, s.handle)
	}
	return s
}

// declared refuses what the server does not declare that it can: the SDK would answer with nothing,
// as one that has no prompts today.
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

// schemaOf is the schema of a tool, byte for byte.
func schemaOf(d tool.Definition) json.RawMessage {
	var top struct{ Type string }
	if json.Unmarshal(d.Parameters, &top) != nil || top.Type != "object" {
		return json.RawMessage(`{"type":"object"}`)
	}
	return d.Parameters
}

// hintsOf tells what a tool may do, by its permissions: what may change something is said to be
// able to destroy.
func hintsOf(d tool.Definition) *mcp.ToolAnnotations {
	changes, open := d.Permissions.SideEffects(), false
	for _, p := range append(append([]tool.Permission{}, d.Permissions.Required...), d.Permissions.Optional...) {
		open = open || p == tool.Network || p == tool.Execute
	}
	return &mcp.ToolAnnotations{ReadOnlyHint: !changes, DestructiveHint: &changes, OpenWorldHint: &open}
}

// client is a program that makes calls.
type client struct {
	name   string
	life   context.Context // ends with it
	leave  context.CancelCauseFunc
	calls  sync.WaitGroup
	active int         // how many of them run
	unused *time.Timer // if nil, the connection tells when it has gone

	once   sync.Once
	runner Runner
	err    error
}

// mostCalls is how many calls of one client may run at a time.
const mostCalls = 128

// closeTime is how long a client that goes waits for its calls to end; they have been told by then.
const closeTime = 10 * time.Second

// close ends the calls of a client, then what they have left running.
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

// enter finds the client of a request, or takes it in; done is to be called when its call has
// ended.
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

// identify names the client of a request: by its connection, where that lasts longer than the
// request.
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

// drop lets a client go.
func (s *Server) drop(key any) {
	s.mu.Lock()
	c := s.clients[key]
	delete(s.clients, key)
	s.mu.Unlock()
	if c != nil {
		c.close(errLeft)
	}
}

// Close lets all clients go, and takes no others.
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
