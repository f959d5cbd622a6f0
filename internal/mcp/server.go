package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/sandbox/child"
)

// politeTime is the time a program gets to exit after its input is closed, as in the SDKs.
const politeTime = 2 * time.Second

const (
	Off      = child.Off // not called yet, or idle for a while
	Starting = child.Starting
	Ready    = child.Ready
	Failed   = child.Failed
	Held     = child.Held
)

// ErrNotReady means that a server has not answered yet.
var ErrNotReady = child.ErrNotReady

// State describes a server for the user.
type State struct {
	Name    string
	State   string
	Reason  string // reason for Failed or Held, or the program's last output
	PID     int    // of a running program
	Version string // protocol version
	Title   string // the server's own title
	Tools   int
	Noise   int // lines that were no messages
	Source  string
	Starts  int // in this run
}

// server is one server with its current connection. Its state goes from Off over Starting to Ready,
// and from each to Off (idle), Failed or Held (not allowed to start). Package child counts the
// starts and wakes waiters.
type server struct {
	pool *Pool
	conf Server

	mu         sync.Mutex
	state      child.Life
	connection *connection // nil if not running
	session    *sdk.ClientSession
	busy       int       // callers using the session
	used       time.Time // end of the last use
	starts     int

	loaded   bool       // approved was read from disk
	approved *Catalogue // nil if never seen
	current  *Catalogue // the server's latest
	change   Change     // part of current that is not approved
	hidden   bool       // the user has not approved the server yet

	introduced bool // the model got its instructions
	pid        int
	log        *serverLog   // may be nil
	noise      atomic.Int64 // lines that were no messages
	calls      calls
}

func newServer(p *Pool, c Server) *server {
	v := &server{pool: p, conf: c, state: child.NewLife()}
	if p.opts.State != "" {
		v.log = &serverLog{path: c.logFile(p.opts.State), mask: p.opts.Mask}
	}
	return v
}

func (v *server) show() State {
	v.mu.Lock()
	defer v.mu.Unlock()
	s := State{Name: v.conf.Name, Source: v.conf.Source, State: v.state.State, Reason: v.state.Reason, PID: v.pid, Noise: int(v.noise.Load()), Starts: v.starts}
	if c := v.current; c != nil {
		s.Version, s.Title, s.Tools = c.Protocol, c.Title, len(c.Tools)
	}
	return s
}

// start starts the server if it is not running and is allowed to.
func (v *server) start() {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := time.Now()
	if v.state.Runs() || v.state.GivenUp(now) {
		return // the state has the reason
	}
	err := v.conf.Err
	if err == nil && v.pool.opts.Holds != nil {
		err = v.pool.opts.Holds(v.conf)
	}
	if err != nil {
		v.state.Turn(Held, err.Error())
		return
	}
	ctx, end := context.WithCancel(v.pool.ctx)
	c := &connection{server: v, end: end, tools: make(chan struct{}, 1), shares: make(chan struct{}, 1)}
	v.connection = c
	v.starts++
	v.noise.Store(0)
	v.state.Begin(now)
	v.pool.all.Go(func() { c.run(ctx) })
}

// connection is one session with a server and its program.
type connection struct {
	*server
	end    func()        // cancels, without waiting
	tools  chan struct{} // buffer of one: the tool list changed
	shares chan struct{} // buffer of one: prompts or resources changed
}

// run returns when the connection has ended.
func (c *connection) run(ctx context.Context) {
	err := c.converse(ctx)
	c.end()
	var next interface{ Next() string }
	login := errors.As(err, &next) && strings.Contains(next.Next(), "mcp login")
	why := c.pool.masked(plainly(cmp.Or(fmt.Sprint(err), "it ended")))
	c.mutate(func() {
		if len(c.conf.Command) == 0 {
			c.log.note("%s failed: %s", c.conf.Name, why)
		}
		c.fail(why, login)
	})
}

// mutate changes the server and notifies, unless a newer connection exists.
func (c *connection) mutate(change func()) {
	c.mu.Lock()
	own := c.server.connection == c
	if own {
		change()
	}
	c.mu.Unlock()
	if own {
		c.pool.changed(c.conf.Name)
	}
}

// fail sets the state to Failed. The caller holds the lock.
func (v *server) fail(why string, login bool) {
	v.remember(Failed, why, login)
	v.disconnect(Failed, why)
}

// disconnect drops the connection. The caller holds the lock.
func (v *server) disconnect(state, why string) {
	v.connection, v.session, v.pid = nil, nil, 0
	v.state.Turn(state, why)
}

// masked shortens a server's text and masks its secrets.
func (p *Pool) masked(text string) string {
	if p.opts.Mask != nil {
		text = p.opts.Mask(text)
	}
	return Line(text, maxWhy)
}

// in bytes
const maxWhy = 600

func (v *server) stop() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.stopLocked()
}

func (v *server) stopLocked() {
	if v.connection == nil {
		return
	}
	v.connection.end()
	v.state.Forgive()
	v.disconnect(Off, "")
}

// ready makes a new session the server's current one.
func (c *connection) ready(s *sdk.ClientSession, now *Catalogue) {
	c.mutate(func() {
		c.session, c.used = s, time.Now()
		c.state.Forgive()
		c.update(now)
		c.remember(Ready, "", false)
		c.state.Turn(Ready, "")
	})
}

func (v *server) await(ctx context.Context) error { return v.state.Await(ctx, &v.mu) }

// acquire waits for the session and returns it; release ends the use. A waiting caller counts as a
// user, so the server does not become idle meanwhile.
func (v *server) acquire(ctx context.Context) (session *sdk.ClientSession, release func(), err error) {
	v.mu.Lock()
	v.busy++
	v.mu.Unlock()
	release = sync.OnceFunc(func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.busy--
		v.used = time.Now()
	})
	err = v.await(ctx)
	v.mu.Lock()
	session = v.session
	v.mu.Unlock()
	if err == nil && session == nil {
		err = errors.New("it has ended")
	}
	if err != nil {
		release()
		return nil, nil, err
	}
	return session, release, nil
}

// stopIdle ends an idle connection, or returns the time until the next check.
func (c *connection) stopIdle() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	limit := c.pool.opts.Idle
	if left := limit - time.Since(c.used); c.busy == 0 && left > 0 {
		return left
	}
	if c.busy == 0 && c.server.connection == c {
		c.stopLocked()
	}
	return limit
}
