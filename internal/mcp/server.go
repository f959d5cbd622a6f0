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
	"adze/internal/sandbox/proc"
)

const (
	// politeTime is what a program gets to end by itself when its standard input is closed.
	politeTime = 300 * time.Millisecond
)

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

// server is one server: its conversation now, and those before it.
type server struct {
	pool *Pool
	conf Server

	mu      sync.Mutex
	state   child.Life
	session *sdk.ClientSession
	list    Listing
	looked  bool       // for the catalogue on the disk
	agreed  *Catalogue // what the user lets it say; if nil, it was never seen
	now     *Catalogue // what it says
	change  Change     // what of that they have not agreed to

	hidden     bool // nobody agreed to it yet
	introduced bool // the model was told its instructions
	pid        int
	errs       *proc.Output // standard error of the last program; if nil, there was none
	log        *serverLog   // if nil, nothing is kept
	noise      atomic.Int64 // lines that were no messages
	cuts       atomic.Int64 // messages that were cut
	starts     int
	before     Last  // what became of the start before this one
	life       *life // if nil, it does not run
	busy       int   // who uses the session
	idle       *time.Timer
	calls      calls
}

func newServer(p *Pool, c Server) *server {
	v := &server{pool: p, conf: c, state: child.NewLife()}
	v.log = v.newLog()
	return v
}

func (v *server) show() State {
	v.mu.Lock()
	defer v.mu.Unlock()
	return State{
		Name: v.conf.Name, From: v.conf.From, State: v.state.State, Why: v.state.Why, PID: v.pid, Noise: int(v.noise.Load()),
		Version: v.list.Version, Title: v.list.Title, Tools: len(v.list.Tools), Starts: v.starts,
	}
}

// wake starts the server when it does not run and may be started.
func (v *server) wake() {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := time.Now()
	if v.state.Runs() || v.state.GivenUp(now) {
		return // why it failed is said
	}
	if err := v.allowed(); err != nil {
		v.state.Turn(Held, err.Error())
		return
	}
	ctx, end := context.WithCancel(v.pool.ctx)
	l := &life{server: v, end: end}
	v.life = l
	v.starts++
	v.noise.Store(0)
	v.state.Begin(now)
	v.before = v.pool.Last(v.conf.Name)
	v.remember(Starting, "", false)
	v.pool.all.Go(func() { l.live(ctx) })
}

func (v *server) allowed() error {
	if v.conf.Err != nil {
		return v.conf.Err
	}
	if v.pool.opts.Holds == nil {
		return nil
	}
	return v.pool.opts.Holds(v.conf)
}

// life is one conversation of a server's, with the program that it is held with.
type life struct {
	*server
	end    func() // asks for the end, and does not wait
	latest Latest // list of its tools
}

// live ends when the conversation does.
func (l *life) live(ctx context.Context) {
	err := l.converse(ctx)
	l.end()
	var next interface{ Next() string }
	login := errors.As(err, &next) && strings.Contains(next.Next(), "mcp login")
	l.mu.Lock()
	own := l.server.life == l
	if own {
		why := l.pool.masked(plainly(cmp.Or(fmt.Sprint(err), "it ended")))
		if len(l.conf.Command) == 0 {
			l.log.note("%s failed: %s", l.conf.Name, why)
		}
		l.remember(Failed, why, login)
		l.part(Failed, why)
	}
	l.mu.Unlock()
	if own {
		l.pool.changed(l.conf.Name)
	}
}

// part leaves a life behind; the lock is held.
func (v *server) part(state, why string) {
	v.life, v.session, v.pid = nil, nil, 0
	if v.idle != nil {
		v.idle.Stop()
		v.idle = nil
	}
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

// stop asks the conversation to end, and does not wait.
func (v *server) stop() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.quit()
}

// quit is stop; the lock is held.
func (v *server) quit() {
	if v.life == nil {
		return
	}
	v.life.end()
	if v.state.Forgive(); v.state.State == Starting {
		v.restore(v.before)
	}
	v.part(Off, "")
}

// ready makes a conversation that has begun the one that is used.
func (l *life) ready(s *sdk.ClientSession, known Listing) {
	l.mu.Lock()
	own := l.server.life == l
	if own {
		l.session = s
		l.state.Forgive()
		l.learn(known)
		l.remember(Ready, "", false)
		l.state.Turn(Ready, "")
		l.rest()
	}
	l.mu.Unlock()
	if own {
		l.pool.changed(l.conf.Name)
	}
}

// await waits until the server is ready.
func (v *server) await(ctx context.Context) error { return v.state.Await(ctx, &v.mu) }

// borrow is the session, once it is ready. Who waits for it uses the server already: it may not end
// as idle meanwhile.
func (v *server) borrow(ctx context.Context) (*sdk.ClientSession, func(), error) {
	v.mu.Lock()
	v.busy++
	if v.idle != nil {
		v.idle.Stop()
	}
	v.mu.Unlock()
	release := sync.OnceFunc(v.release)
	err := v.await(ctx)
	v.mu.Lock()
	session := v.session
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

func (v *server) release() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.busy--
	v.rest()
}

// rest ends the server after a while in which nobody uses it; the lock is held.
func (v *server) rest() {
	if v.busy > 0 || v.session == nil {
		return
	}
	if v.idle != nil {
		v.idle.Stop()
	}
	session := v.session
	v.idle = time.AfterFunc(v.pool.opts.Idle, func() {
		v.mu.Lock()
		defer v.mu.Unlock() // who borrows meanwhile finds it as it was, or off
		if v.busy == 0 && v.session == session {
			v.quit()
		}
	})
}
