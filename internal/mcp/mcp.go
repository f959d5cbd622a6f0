// Package mcp gives a run the tools of MCP servers: programs that it starts and services that it
// connects to.
//
// The one rule: a server is untrusted. It never blocks a turn, its output is limited and cleaned
// before anyone sees it, and its tool definitions are pinned: a change needs the user's approval.
//
// Start reading at Pool and Pool.Session, then server.go (one server and its states), connect.go
// (handshake, for old and new protocols), client.go (requests and notifications from a server),
// stdio.go (a program's transport), log.go and last.go (records of past runs), list.go and
// define.go (the catalogue), approve.go (the user's approval), tool.go (a call).
//
// Specification: Model Context Protocol 2026-07-28 and 2025-11-25
// (modelcontextprotocol.io/specification).
//
// Known limits: tools that run only as tasks cannot be called, and servers cannot use the model
// (sampling). A program that speaks protocol 2025-11-25 is not probed for a newer one. Properties
// of a schema are sorted by name because the library decodes them into a map. From 2026-07-28 on,
// changes after a subscription ends are seen only at the next start: the library does not report
// the end.
package mcp

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/sandbox/proc"
)

// Default timeouts, unless Options or Server set others.
const (
	// DefaultProbe is the time for a service to answer in the newest protocol before adze falls
	// back to an older one.
	DefaultProbe = 3 * time.Second
	// DefaultStart is the time for a server to start and list its tools. It belongs to the session,
	// not to a call.
	DefaultStart = 30 * time.Second
	// DefaultWait is the time a search waits for starting servers. A call waits for the whole
	// start.
	DefaultWait = 5 * time.Second
	// DefaultCall is the time a call may run without progress.
	DefaultCall = 5 * time.Minute
	// DefaultIdle is the time until an unused server is stopped: a Node server holds 70 to 90 MB.
	DefaultIdle = 5 * time.Minute
)

// A Server is the configuration of one server, by the user or by a project with their consent: a
// program or an address.
type Server struct {
	Name        string
	Command     []string
	Env         map[string]string // added to the environment of every command
	Dir         string            // absolute; "" for its own folder below Options.State
	URL         string            // streamable HTTP, if Command is empty
	SSE         bool              // URL speaks HTTP+SSE of protocol 2024-11-05
	Headers     map[string]string
	OAuth       map[string]string // login settings, by their configuration names
	Tools       []string          // names; * matches the rest, a leading ! excludes; empty for all
	Start       time.Duration     // 0 for the defaults
	Call        time.Duration
	Source      string // file that names it
	Unsandboxed bool   // may run without the sandbox
	// SkipPinning accepts changed definitions without asking.
	SkipPinning bool
	// Err is why the server cannot be used, such as an unset variable, or nil.
	Err error
}

// Options configures a Pool.
type Options struct {
	Version    string // adze's version
	Dir        string // the workspace, absolute, without symbolic links
	Servers    []Server
	Supervisor proc.Supervisor
	Env        func() []string // programs' environment, read at each start
	// Holds returns an error if the user does not allow a server to start or connect. It may be
	// nil.
	Holds func(Server) error
	// Mask hides secrets in servers' texts. It may be nil.
	Mask func(string) string
	// Reach allows a sandboxed program to connect. If nil, no connection is allowed.
	Reach func(ctx context.Context, host string, port uint16) error
	// State is the folder for catalogues. If "", they are not kept.
	State string
	// Consent asks the user about a changed catalogue. If nil, changes are refused.
	Consent func(context.Context, Change) error
	// HTTP connects to servers with a URL. If nil, they cannot be used.
	HTTP Opener
	// Client adds handlers for servers' requests and notifications. It may be nil.
	Client func(server string, o *sdk.ClientOptions)
	// Shares reads a running server's prompts and resources, after a start and after each change.
	// It may be nil.
	Shares func(ctx context.Context, server string, s *sdk.ClientSession)
	// Changed is called on any goroutine when a server's state or tools change. It must not block.
	// It may be nil.
	Changed func(server string)

	Probe, Idle time.Duration // 0 for the defaults
}

// An Opener opens a transport to a server and passes it to use, which returns when the connection
// or ctx ends. Everything that the opener started has ended when it returns. Its error is why the
// transport broke, or nil.
type Opener func(ctx context.Context, s Server, use func(sdk.Transport)) error

// ErrUnknown means that no server has the name.
var ErrUnknown = errors.New("no MCP server has this name")

// A Pool holds one workspace's servers. It is safe for concurrent use.
type Pool struct {
	opts Options
	ctx  context.Context // ends all servers
	end  context.CancelFunc
	all  sync.WaitGroup

	mu      sync.Mutex
	servers map[string]*server
	order   []string
	closed  bool

	generation atomic.Int64
}

// New returns a Pool without starting anything. The first of several servers with one name counts.
func New(o Options) *Pool {
	o.Probe, o.Idle = cmp.Or(o.Probe, DefaultProbe), cmp.Or(o.Idle, DefaultIdle)
	ctx, end := context.WithCancel(context.Background())
	p := &Pool{opts: o, ctx: ctx, end: end, servers: map[string]*server{}}
	for _, s := range o.Servers {
		if p.servers[s.Name] == nil {
			p.servers[s.Name] = newServer(p, s)
			p.order = append(p.order, s.Name)
		}
	}
	return p
}

// Close stops all servers, politely first, and waits for their end.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	all := slices.Collect(maps.Values(p.servers))
	p.mu.Unlock()
	for _, v := range all {
		v.stop()
	}
	p.all.Wait()
	p.end()
}

// States returns the servers' states in configuration order.
func (p *Pool) States() (out []State) {
	for _, name := range p.order {
		out = append(out, p.servers[name].show())
	}
	return out
}

// Server returns a server's configuration.
func (p *Pool) Server(name string) (Server, bool) {
	v := p.servers[name]
	if v == nil {
		return Server{}, false
	}
	return v.conf, true
}

// Names returns the servers' names in configuration order.
func (p *Pool) Names() []string { return slices.Clone(p.order) }

// Wake starts or connects to a server and returns at once.
func (p *Pool) Wake(name string) {
	if v := p.server(name); v != nil {
		v.start()
	}
}

// Stop stops a server. The next call starts it again.
func (p *Pool) Stop(name string) {
	if v := p.server(name); v != nil {
		v.stop()
	}
}

// Session returns the session with a server, starting the server if needed, and waits until its
// tools are known, or ctx or the start ends. The caller must call release: until then the server is
// not idle.
func (p *Pool) Session(ctx context.Context, name string) (s *sdk.ClientSession, release func(), err error) {
	v := p.server(name)
	if v == nil {
		return nil, nil, ErrUnknown
	}
	v.start()
	return v.acquire(ctx)
}

// Await waits until a server is ready or has failed.
func (p *Pool) Await(ctx context.Context, name string) error {
	v := p.server(name)
	if v == nil {
		return ErrUnknown
	}
	v.start()
	return v.await(ctx)
}

// server returns nil for an unknown name and after Close.
func (p *Pool) server(name string) *server {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	return p.servers[name]
}

func (p *Pool) changed(name string) {
	if p.opts.Changed != nil {
		p.opts.Changed(name)
	}
}
