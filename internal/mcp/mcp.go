// Package mcp lets a run use the tools of MCP servers: programs that it starts, and services that
// it dials.
//
// The one rule: a server is a stranger. It never holds up a turn, what it says is bounded and
// cleaned before anybody sees it, and what it says of its tools is pinned: a word that changes is
// asked about before it counts.
//
// Start reading at Pool and Pool.Session, then server.go (one server and the states of its life),
// connect.go (how a conversation begins, in both eras of the protocol), client.go (what a server
// may ask and tell), stdio.go (the wire of a program),
// log.go and last.go (what is kept of how it went), list.go and define.go (its
// catalogue, bounded and cleaned), approve.go (what the user lets it say), tool.go (a call).
//
// Source of the rules: Model Context Protocol 2026-07-28 and 2025-11-25
// (modelcontextprotocol.io/specification).
//
// Known limits: a tool that runs as a task alone cannot be called, and no server may ask the model
// (sampling). A program that speaks the protocol of 2025-11-25 is not asked whether it speaks a
// newer one. The order of a schema's properties is that of the alphabet, because the library
// decodes it into a map. From 2026-07-28 on, changes after the end of a subscription are seen when
// the server is started the next time: the library does not tell of that end.
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

// Bounds of a server's life, unless Options or Server say others.
const (
	// DefaultProbe is how long a service may take to answer the question of the newest protocol
	// until it is asked in older words.
	DefaultProbe = 3 * time.Second
	// DefaultStart is how long a server may take until its tools are known; it is the session's
	// time and not a call's.
	DefaultStart = 30 * time.Second
	// DefaultWait is how long a search waits for servers that start. A call waits as long as the
	// start may take.
	DefaultWait = 5 * time.Second
	// DefaultCall is how long a call may take without a sign of progress.
	DefaultCall = 5 * time.Minute
	// DefaultIdle is how long a server stays that nobody calls: one of Node holds 70 to 90 MB.
	DefaultIdle = 5 * time.Minute
)

// Server is one server as the user, or a project with their consent, names it: a program or an
// address.
type Server struct {
	Name    string
	Command []string          // program and arguments
	Env     map[string]string // that the program gets beside that of every command
	Dir     string            // absolute; if empty, a folder of its own, below Options.State
	URL     string            // of streamable HTTP, where there is no command
	SSE     bool              // it speaks the transport of 2024-11-05 there: HTTP with server-sent events
	Headers map[string]string
	OAuth   map[string]string // how one logs in at its address, by the names of the configuration
	Tools   []string          // names, * for any rest, a first ! leaves out; if empty, all
	Start   time.Duration     // if 0, the defaults
	Call    time.Duration
	From    string // the file that names it
	Outside bool   // the user lets it run without walls
	// SkipPinning is whether the user takes what it says of its tools as it is, whenever that changes.
	SkipPinning bool
	// Err is why it cannot be used, such as a variable that is not set; if nil, it can.
	Err error
}

// Options say which servers there are and how they run.
type Options struct {
	Version    string // of adze
	Dir        string // the workspace, absolute and free of links
	Servers    []Server
	Supervisor proc.Supervisor
	Env        func() []string // of programs, asked when one starts
	// Holds says, right before a server starts or is dialled, whether the user lets it; if nil, it
	// may.
	Holds func(Server) error
	// Mask hides secrets in what servers say of themselves; if nil, nothing is hidden.
	Mask func(string) string
	// Reach allows a program in the sandbox a connection; if nil, none.
	Reach func(ctx context.Context, host string, port uint16) error
	// State is the folder in which the catalogues are kept; if empty, they are forgotten.
	State string
	// Consent asks the user about a change of what a server says; if nil, nobody is there, and it is
	// refused.
	Consent func(context.Context, Change) error
	// HTTP opens the wire to a server with a URL; if nil, such servers cannot be used.
	HTTP Opener
	// Client adds handlers for what servers ask and tell; if nil, there are none.
	Client func(server string, o *sdk.ClientOptions)
	// Shares asks a server that runs what it has beside tools: when it was started and has some, and
	// when it says that this is something else now. If nil, nobody wants to know.
	Shares func(ctx context.Context, server string, s *sdk.ClientSession)
	// Changed is called when a server's state or tools changed, on any goroutine; it must not wait. If
	// nil, nobody looks.
	Changed func(server string)

	Probe, Idle time.Duration // if 0, the defaults
	Wait        time.Duration // how long a call waits for a server that starts; if 0, until its start ends
}

// Opener opens the wire to a server and hands it to use, which returns when the conversation is
// over or ctx ends. What the opener started has ended when it returns; its error says how the wire
// broke and is nil where it did not.
type Opener func(ctx context.Context, s Server, use func(sdk.Transport)) error

// ErrUnknown says that no server has a name.
var ErrUnknown = errors.New("no MCP server has this name")

// Pool are the servers of one workspace. Its methods are for any goroutine.
type Pool struct {
	opts Options
	ctx  context.Context // of their lives
	end  context.CancelFunc
	all  sync.WaitGroup

	mu      sync.Mutex
	servers map[string]*server
	order   []string
	closed  bool

	generation atomic.Int64
}

// New starts and dials nothing. Of servers of one name the first counts.
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

// Close ends all servers, politely first, and waits until nothing of them is left.
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

// States are the servers in the order of the configuration.
func (p *Pool) States() (out []State) {
	for _, name := range p.order {
		out = append(out, p.servers[name].show())
	}
	return out
}

// Server is one of them as it is configured.
func (p *Pool) Server(name string) (Server, bool) {
	v := p.servers[name]
	if v == nil {
		return Server{}, false
	}
	return v.conf, true
}

// Names are those of the servers, in the order of the configuration.
func (p *Pool) Names() []string { return slices.Clone(p.order) }

// Wake starts a server, or dials it, and returns at once.
func (p *Pool) Wake(name string) {
	if v := p.server(name); v != nil {
		v.start()
	}
}

// Stop ends a server; the next call starts it again.
func (p *Pool) Stop(name string) {
	if v := p.server(name); v != nil {
		v.stop()
	}
}

// Session is the conversation with a server, which is started when it does not run: it waits until
// the tools are known, as long as ctx lets it and the start takes. Release has to be called when it
// is not used any more: until then the server is not idle.
func (p *Pool) Session(ctx context.Context, name string) (s *sdk.ClientSession, release func(), err error) {
	v := p.server(name)
	if v == nil {
		return nil, nil, ErrUnknown
	}
	v.start()
	if p.opts.Wait > 0 {
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, p.opts.Wait)
		defer cancel()
	}
	return v.acquire(ctx)
}

// Await waits until a server is ready or has failed, which its start decides and not the caller's
// patience.
func (p *Pool) Await(ctx context.Context, name string) error {
	v := p.server(name)
	if v == nil {
		return ErrUnknown
	}
	v.start()
	return v.await(ctx)
}

// server is nil where there is none, or none may start any more.
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
