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

// politeTime is what a program gets to end by itself when its input is closed, as from the SDKs.
const politeTime = 2 * time.Second

// The states of a server.
const (
	Off      = child.Off // nobody has called it, or not for a while
	Starting = child.Starting
	Ready    = child.Ready
	Failed   = child.Failed
	Held     = child.Held
)

// ErrNotReady says that a server has not answered yet.
var ErrNotReady = child.ErrNotReady

// State is a server as a user is shown it.
type State struct {
	Name    string
	State   string
	Why     string // it failed or is held; or what its own last words were
	PID     int    // of a program that runs
	Version string // of the protocol
	Title   string // what it calls itself
	Tools   int    // that it lists
	Noise   int    // lines that were no messages
	From    string
	Starts  int // how often it was started or dialled in this run
}

// server is one server: its connection now, and those before it. Its state goes from Off over
// Starting to Ready, and from each to Off (nobody needs it), Failed (it broke) or Held (it may not
// start); package child counts its starts and wakes who waits for a change.
type server struct {
	pool *Pool
	conf Server

	mu         sync.Mutex
	state      child.Life
	connection *connection // if nil, it does not run
	session    *sdk.ClientSession
	busy       int       // callers that use the session
	used       time.Time // when the last of them was done
	starts     int

	loaded   bool       // the approved catalogue was looked for on the disk
	approved *Catalogue // what the user lets it say; if nil, it was never seen
	current  *Catalogue // what it says
	change   Change     // what of that they have not approved
	hidden   bool       // nobody agreed to the server yet

	introduced bool // the model was told its instructions
	pid        int
	log        *serverLog   // if nil, nothing is kept
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
	s := State{Name: v.conf.Name, From: v.conf.From, State: v.state.State, Why: v.state.Why, PID: v.pid, Noise: int(v.noise.Load()), Starts: v.starts}
	if c := v.current; c != nil {
		s.Version, s.Title, s.Tools = c.Protocol, c.Title, len(c.Tools)
	}
	return s
}

// start starts the server when it does not run and may be started.
func (v *server) start() {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := time.Now()
	if v.state.Runs() || v.state.GivenUp(now) {
		return // why it failed is said
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

// connection is one conversation with a server, and the program that it is held with.
type connection struct {
	*server
	end    func()        // asks for the end, and does not wait
	tools  chan struct{} // holds one: the server has other tools by now
	shares chan struct{} // likewise, other prompts or resources
}

// run returns when the conversation is over.
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

// mutate changes the server, unless another connection has begun since, and tells of it.
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

// fail makes the server a failed one; the lock is held.
func (v *server) fail(why string, login bool) {
	v.remember(Failed, why, login)
	v.disconnect(Failed, why)
}

// disconnect leaves the connection behind; the lock is held.
func (v *server) disconnect(state, why string) {
	v.connection, v.session, v.pid = nil, nil, 0
	v.state.Turn(state, why)
}

// masked is a text of a server's, short and without secrets.
func (p *Pool) masked(text string) string {
	if p.opts.Mask != nil {
		text = p.opts.Mask(text)
	}
	return Line(text, maxWhy)
}

// maxWhy bounds what is told of a failure, in bytes.
const maxWhy = 600

// stop asks the connection to end, and does not wait.
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

// ready makes a conversation that has begun the one that is used.
func (c *connection) ready(s *sdk.ClientSession, now *Catalogue) {
	c.mutate(func() {
		c.session, c.used = s, time.Now()
		c.state.Forgive()
		c.update(now)
		c.remember(Ready, "", false)
		c.state.Turn(Ready, "")
	})
}

// await waits until the server is ready.
func (v *server) await(ctx context.Context) error { return v.state.Await(ctx, &v.mu) }

// acquire returns the session, once it is ready, until release is called. A caller that waits for
// it uses the server already: it may not end as idle meanwhile.
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

// stopIdle ends the conversation where nobody has used it for a while, and returns when to look
// again. A caller that acquires it meanwhile finds it as it was, or off.
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
