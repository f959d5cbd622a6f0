package lsp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"adze/internal/sandbox/child"
	"adze/internal/sandbox/proc"
)

// startTime is the time to answer initialize; the server reads the project first.
const startTime = 60 * time.Second

// server is a language server for one root, across restarts of its program.
type server struct {
	pool *Servers
	lang Language
	root string
	turn chan struct{} // held by the current caller

	mu         sync.Mutex
	state      child.Life
	broken     string // why the last start failed; "" after a successful one
	lastReason string // why it does not run, as last reported with an edit; "" after a successful start
	conn       *jsonrpc2.Conn
	process    *proc.Process
	caps       initialized
	docs       map[string]*document
	results    map[string]result // by URI
	checks     []*check          // running
	last       *check
	start      launch
	noted      bool               // start.note was reported
	stop       context.CancelFunc // ends the program
	held       time.Time          // since when it is held
}

type result struct {
	version *int
	items   []Problem // errors and warnings
	at      time.Time
}

func (v *server) show() State {
	v.mu.Lock()
	defer v.mu.Unlock()
	s := State{State: v.state.State, Reason: v.state.Reason}
	if v.process != nil && v.state.Runs() {
		s.PID = v.process.PID()
	}
	return s
}

// heldTime is the time until a server without consent is checked again.
const heldTime = 5 * time.Second

// wake starts the program if it is not running and may start. It reports whether the user allows
// it.
func (v *server) wake() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := time.Now()
	if v.state.Runs() || v.state.GivenUp(now) {
		return true // the state has the reason
	}
	if v.state.State == child.Held && now.Sub(v.held) < heldTime {
		return false
	}
	if err := v.allowed(); err != nil {
		v.held = now
		v.state.Turn(child.Held, err.Error())
		return false
	}
	if v.state.State == child.Held {
		v.lastReason = ""
	}
	v.state.Begin(now)
	v.docs, v.results = map[string]*document{}, map[string]result{}
	ctx, stop := context.WithCancel(v.pool.ctx)
	v.stop = stop
	v.pool.all.Go(func() {
		defer stop()
		v.live(ctx)
	})
	return true
}

// allowed returns the launch, or an error if the user does not allow it. The caller holds the lock.
func (v *server) allowed() error {
	if refuses := v.pool.opts.Refuses; refuses != nil {
		if err := refuses(); err != nil {
			v.lastReason = err.Error() // the user decided it and needs no report
			return err
		}
	}
	start, err := v.pool.launch(v.lang, v.root)
	v.start, v.noted = start, v.noted && v.start.note == start.note
	return err
}

func (v *server) reconsider() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.held = time.Time{}
	if !v.state.Runs() {
		return
	}
	if now, err := v.pool.launch(v.lang, v.root); err != nil || now.sdk != v.start.sdk {
		v.state.Forgive()
		v.stop()
	}
}

func (v *server) live(ctx context.Context) {
	var said error
	r, err := child.Program{
		Supervisor: v.pool.opts.Supervisor,
		Command: proc.Command{
			Argv: v.start.argv, Dir: v.start.dir, Env: v.start.env, Tag: "lsp-" + v.lang.Name, Head: 1 << 10, Tail: 4 << 10,
			RequireWalls: v.pool.opts.RequireSandbox, UserWords: v.start.named,
		},
		Started: func(p *proc.Process) {
			v.mu.Lock()
			defer v.mu.Unlock()
			v.process = p
		},
		Closed: func() bool { return errors.Is(said, errEnded) },
	}.Run(ctx, func(in io.WriteCloser, out io.Reader) { said = v.speak(ctx, in, out) })
	hidden := unseen(v.start.argv[0], r)
	switch {
	case err != nil:
		v.fail(unfound(v.start.argv[0], err))
	case hidden != "":
		v.fail(errors.New(hidden))
	default:
		v.fail(fmt.Errorf("%w (%s)", said, child.LastWords(r)))
	}
}

// unfound explains a failed start: an existing program may be hidden by the sandbox.
func unfound(program string, err error) error {
	var failure *proc.Error
	if _, missing := os.Stat(program); missing != nil || !errors.As(err, &failure) || failure.Code != proc.CodeNotFound {
		return err
	}
	return fmt.Errorf("%w: it is there, but commands in the sandbox do not see it; the user shows its folder with \"sandbox\": {\"read\": [%q]} in the configuration, or installs it elsewhere", err, filepath.Dir(program))
}

// unseen explains a server's exit if the sandbox hides its program, else returns "".
func unseen(program string, r proc.Result) string {
	if r.Sandbox == "" || len(r.Hidden) == 0 || r.Killed != proc.ByItself && r.Killed != proc.Aborted {
		return ""
	}
	return fmt.Sprintf("%s cannot run in the sandbox: %s", filepath.Base(program), strings.Join(r.Hidden, "; "))
}

func (v *server) fail(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	why := v.masked(err.Error())
	if v.state.State != child.Ready {
		v.broken = why
	}
	v.conn, v.process = nil, nil
	v.state.Turn(child.Failed, why)
}

func (v *server) masked(text string) string {
	if v.pool.opts.Mask == nil {
		return text
	}
	return v.pool.opts.Mask(text)
}

// errEnded means that the program closed the connection.
var errEnded = errors.New("it ended")

// speak runs the session until the program or ctx ends.
func (v *server) speak(ctx context.Context, in io.WriteCloser, out io.Reader) error {
	conn := jsonrpc2.NewConn(ctx, jsonrpc2.NewBufferedStream(ends{out, in}, codec{}), v, jsonrpc2.SetLogger(log.New(io.Discard, "", 0)))
	defer conn.Close()
	hello, cancel := context.WithCancel(ctx)
	defer cancel()
	caps, err := child.WaitFor(ctx, conn.DisconnectNotify(), startTime, func() (caps initialized, err error) {
		if err = conn.Call(hello, "initialize", v.introduction(), &caps); err == nil {
			err = conn.Notify(hello, "initialized", object{})
		}
		return caps, err
	})
	if err != nil {
		select {
		case <-conn.DisconnectNotify():
			err = errEnded
		default: // a call may notice the end before the connection does
			if errors.Is(err, jsonrpc2.ErrClosed) || errors.Is(err, syscall.EPIPE) {
				err = errEnded
			}
		}
		return fmt.Errorf("it did not start: %w", err)
	}
	v.mu.Lock()
	v.conn, v.caps = conn, caps
	v.broken, v.lastReason = "", ""
	v.state.Turn(child.Ready, "")
	v.mu.Unlock()
	select {
	case <-conn.DisconnectNotify():
		return errEnded
	case <-ctx.Done():
		return ctx.Err()
	}
}

// introduction returns adze's initialize parameters, with only the supported capabilities.
func (v *server) introduction() object {
	sync := object{"dynamicRegistration": false}
	return object{
		"processId": nil, "rootUri": uriOf(v.root), "rootPath": v.root,
		"clientInfo":            object{"name": "adze"},
		"initializationOptions": v.start.init,
		"workspaceFolders":      []object{{"uri": uriOf(v.root), "name": v.lang.Name}},
		"capabilities": object{
			"general": object{"positionEncodings": []string{utf8Columns, utf16Columns}},
			"textDocument": object{
				"synchronization":    object{"didSave": true},
				"publishDiagnostics": object{"versionSupport": true},
				"diagnostic":         sync,
				"definition":         sync, "references": sync,
				"documentSymbol": object{"hierarchicalDocumentSymbolSupport": true},
				"rename":         object{"prepareSupport": false},
			},
			"workspace": object{
				"workspaceFolders": true, "configuration": true,
				"symbol":                object{"dynamicRegistration": false},
				"workspaceEdit":         object{"documentChanges": true},
				"didChangeWatchedFiles": object{"dynamicRegistration": true},
			},
			"window": object{"workDoneProgress": true},
		},
	}
}

func (v *server) await(ctx context.Context) error { return v.state.Await(ctx, &v.mu) }

// with calls do, one caller at a time. If ctx ends first, do continues alone: a server that does
// not read may block a write forever.
func (v *server) with(ctx context.Context, do func(*jsonrpc2.Conn) error) error {
	select {
	case v.turn <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("it does not answer: %w", ctx.Err())
	}
	v.mu.Lock()
	conn := v.conn
	v.mu.Unlock()
	if conn == nil {
		<-v.turn
		return errors.New("it has ended")
	}
	done := make(chan error, 1)
	go func() {
		defer func() { <-v.turn }()
		done <- do(conn)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
