// Package run is the program: flags and configuration in, everything wired, then the interface, a
// headless run or a subcommand, and an exit code out.
//
// The one rule: this is the only package that knows all others; nothing imports it but main.
//
// Start reading at Main, then run.go (one run from flags to exit code) and wire.go (what is
// connected to what): deps.go makes what tools work with, subagent.go makes what the task tool
// starts, model.go lays the flags over what packages models and offer find, demo.go is --demo,
// program.go is what the subcommands (package command) ask for. What has no need of the others is a
// room of its own: keys, gate, resume, answer, stdio, signals.
//
// File names tell what they serve:
//
//	interactive_*  the interface: its loop of sittings (interactive.go), what it asks the program for (_person), the
//	               gate's question (_ask), the screen of who has no model (_first)
//	tmux_*_test    the program in a real terminal
//
// The others are parts of a run.
//
// Known limits: what a repair model or a model that chooses tools costs is not in a run's cost.
package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"adze/internal/cmd"
	"adze/internal/cmd/mcp"
	"adze/internal/cmd/print"
	"adze/internal/config"
	"adze/internal/config/credentials"
	"adze/internal/config/keyring"
	"adze/internal/config/paths"
	"adze/internal/files/ownfile"
	"adze/internal/llm/models"
	"adze/internal/run/hostio"
	"adze/internal/sandbox/proc"
	"adze/internal/sessiondb"
	"adze/internal/sessiondb/remote"
	"adze/internal/sessiondb/retention"
	"adze/internal/telemetry/trace"
	"adze/internal/text/usage"
	"adze/session"
	"adze/tui"
	"adze/tui/plain"
)

// Version is that of the program. A release sets it when it is linked.
var Version = "0.1.0"

// Main runs adze with the arguments after its name and returns the exit code.
func Main(args []string, stdin, stdout, stderr *os.File) int {
	makeRoom(false)
	ring := credentials.Take()
	ring.TakeHeaders(trace.HeaderVariables())
	ring.Use(keyring.Open(paths.Of(ring.Get).Keys, keyring.OfSystem(ring.Get, func() {
		fmt.Fprintln(stderr, "! waiting for the key ring; it may ask you to unlock it")
	})))
	return newApp(ring, stdin, stdout, stderr).main(args)
}

// app is one process.
type app struct {
	cmd.Env
	keys  *credentials.Ring
	lines <-chan plain.Line      // of the user, for an interface of lines
	front atomic.Pointer[tui.UI] // the interface that runs now
	easy  sync.Once              // the heap is
	watch watching               // tells operators
	far   remote.Place           // where sessions are, when that is a server
	// servers are what answers at addresses of models.
	servers models.Servers
	// own are the files that say what this process may do.
	own ownFiles
	// wait sleeps before a model request is made again; if nil, a timer.
	wait func(context.Context, time.Duration) error
}

func newApp(ring *credentials.Ring, stdin, stdout, stderr *os.File) *app {
	return &app{Env: cmd.Env{In: stdin, Out: stdout, Err: stderr, Getenv: ring.Get}, keys: ring}
}

func (a *app) main(args []string) (exit int) {
	a.Mask, a.Hide = a.keys.Mask, a.keys.Hide
	a.far.Words = args
	root := commandLine(a)
	root.SetArgs(args)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	defer func() { a.watch.close(a.Err) }()
	if err := root.ExecuteContext(context.Background()); err != nil {
		return a.refuse(args, err)
	}
	return a.Exit
}

// refuse reports an error that came before a run could begin. A script that asked for JSON gets its
// one result all the same.
func (a *app) refuse(args []string, err error) int {
	p := &print.Printer{Out: a.Out, Err: a.Err, Format: formatIn(args), Mask: a.keys.Mask}
	return p.Finish(failure(err))
}

// failure sorts an error that ended a run before its first turn.
func failure(err error) session.Result {
	r := session.Result{Cause: session.CauseInternal, Message: err.Error(), Err: err}
	var mistaken *usage.Error
	var mistake *config.Error
	var provider *session.ProviderError
	var none *models.MissingError
	var keys *keyring.OpenError
	var damaged *cmd.Damaged
	var unsound *cmd.Unsound
	var unread *session.LogError
	var low *proc.LimitError
	var foreign *ownfile.Error // the state folder
	switch {
	case errors.As(err, &low):
		r.Cause, r.Hint = session.CauseTool, low.Hint
	case errors.As(err, &mistaken):
		r.Cause, r.Message, r.Hint = session.CauseUsage, mistaken.Message, mistaken.Hint
	case errors.As(err, &mistake):
		r.Cause, r.Hint = session.CauseUsage, mistake.Hint
	case errors.As(err, &none):
		r.Cause, r.Hint = session.CauseNoModel, none.Hint
	case errors.As(err, &damaged):
		r.Cause, r.Hint = session.CauseStore, repairHint(damaged.Row.Session)
	case errors.As(err, &unread):
		r.Cause, r.Hint = session.CauseStore, repairHint(unread.ID)
	case errors.As(err, &foreign):
		r.Cause, r.Hint = session.CauseStore, foreign.Hint
	case errors.As(err, &unsound):
		r.Cause, r.Hint = session.CauseStore, "adze audit show shows the session; its chain holds, so adze itself wrote this, or someone with its means"
	case errors.As(err, &keys):
		r.Cause, r.Hint = session.CauseNoModel, keys.Hint
	case errors.As(err, &provider):
		r = session.Sort(err)
	case errors.Is(err, session.ErrLocked):
		r.Cause, r.Hint = session.CauseStore, "adze session follow ID shows what it does, adze --resume ID in a terminal can take it over; else end it, or start a new session"
	case errors.Is(err, session.ErrNotFound):
		r.Cause, r.Hint = session.CauseUsage, "adze session list shows the sessions there are"
	case errors.Is(err, sessiondb.ErrOpen):
		r.Cause, r.Hint = session.CauseStore, "run with --no-session to go on without saving"
		if own := new(interface{ Hint() string }); errors.As(err, own) { // of a server
			r.Hint = (*own).Hint()
		}
	case errors.Is(err, sessiondb.ErrDamaged):
		r.Cause, r.Hint = session.CauseStore, "other sessions are read as ever; of this one a copy of the server's stream may have more"
	default:
		r = session.Sort(err)
	}
	return r
}

func repairHint(id session.ID) string {
	return "adze session repair " + string(id) + " makes a sound copy of what is left, and leaves this one as it is"
}

// byUser returns an error where this process was started by a call of adze.
func (a *app) byUser(what string) error { return cmd.ByUser(paths.Of(a.Getenv), what) }

func misuse(hint, format string, args ...any) error { return usage.Mistake(hint, format, args...) }

// formatIn finds the output format that the arguments ask for although they did not parse.
func formatIn(args []string) print.Format {
	for i, arg := range args {
		value, ok := strings.CutPrefix(arg, "--output-format=")
		if arg == "--output-format" && i+1 < len(args) {
			value, ok = args[i+1], true
		}
		if f, err := print.ParseFormat(value); ok && err == nil {
			return f
		}
	}
	return print.Text
}

// Forgets knows where everything is that was kept of a session.
func (a *app) Forgets(s *sessiondb.Store) retention.Room {
	at := paths.Of(a.Getenv)
	return retention.Room{Store: s, Outputs: at.Spill, Prompts: func(folder string, said []string) { hostio.NewMemory(at.State, folder).Forget(said) }}
}

// ServeTools offers the tools of this folder to programs of others.
func (a *app) ServeTools(wish mcp.Serve) error { return serveTools(a, wish) }

// Tidy lets sessions go as the configuration says.
func (a *app) Tidy(ctx context.Context, s *sessiondb.Store) (retention.Done, error) {
	cfg, err := a.keys.Load(a.ConfigFile())
	if err != nil {
		return retention.Done{}, err
	}
	keep := cfg.Sessions.Keep
	return a.Forgets(s).Tidy(ctx, retention.Rules{Age: time.Duration(keep.Days) * 24 * time.Hour, Count: keep.Count, Bytes: int64(keep.TotalMB) << 20}, time.Now())
}

// tidyTime bounds how long leaving the interface waits for sessions that go; the rest goes the next
// time.
const tidyTime = 2 * time.Second

// tidyUp lets sessions go when the user leaves, where the configuration says so: no turn runs
// then. What fails now is tried again.
func (a *app) tidyUp(o *options, w *wired) {
	keep := w.settings.config.Sessions.Keep
	if o.noSession || o.demo || keep == (config.Retention{}) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), tidyTime)
	defer cancel()
	_ = a.Change(ctx, func(s *sessiondb.Store) error {
		_, err := a.Tidy(ctx, s)
		return err
	})
}

// giveBackTime bounds how long a process that must end now waits for its terminal, which may be
// what hangs.
const giveBackTime = 200 * time.Millisecond

// giveBack leaves the terminal to the shell as it was.
func (a *app) giveBack() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if ui := a.front.Load(); ui != nil {
			ui.GiveBack()
		}
	}()
	select {
	case <-done:
	case <-time.After(giveBackTime):
	}
}
