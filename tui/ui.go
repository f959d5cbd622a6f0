// Package tui is the terminal interface: an observer of a session's event stream.
//
// The one rule: it knows no tool. A call is drawn from its title, its metadata as blocks, and its
// outcome; a new tool needs no change here.
//
// How it works: a [session.Session] calls UI.Observe from its own goroutine; the bridge collects
// the events of a frame and hands them to the model as one batch (bridge.go, model.go). The model
// routes messages and keys, places panes and draws. Features do the work (host.go): types with
// their own state that do not know the model. Without a running turn or job there is no timer.
//
// Packages, none of which imports this one:
//
//	transcript              the conversation and its entries
//	pane                    activity, todos, status; changes, context and help
//	prompt, edit, vim       the input line, its text, vim keys
//	list, permission,       the list to choose from; the permission dialog;
//	  question              a question from the model
//	firstrun, plain         the setup screen without a model; the line-based interface
//	api                     requests to the program, and the action after the interface
//	ui, draw, screen,       shared drawing helpers; rows; output to the terminal;
//	  input                 decoding of its input
//
// Files: keys.go is the key table, rebind.go applies the user's keys, input.go dispatches;
// commands.go has the order of the commands, words.go their aliases. Features: turn.go runs turns,
// send.go and compose.go handle the prompt, stop.go and twice.go stop and quit, inquire.go and
// keys_dialog.go ask questions, undo.go restores files; sessions.go, settings.go, jobs.go,
// servers.go, carried.go and plans.go are lists; sheets.go, help.go, lists.go, inline.go, first.go,
// copy.go, theme.go and window.go handle the view. frame.go and arrange.go compose the screen;
// lines.go serves package plain; observer.go connects the session.
//
// Start reading at UI.Run, then model.Update. To add a feature: one type that gets its dependencies
// in model.assemble. To add a command: one row in its feature's commands, and its place in
// commands.go. To add a pane: one file in package pane, one field in model, one line in
// model.apply, one rectangle in Arrange, one drawn case under testdata/screen.
//
// Known limits: after a rewind the side panes and the context pane keep their contents. The
// terminal, not adze, selects text: /mouse gives adze the mouse.
package tui

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"

	"adze/internal/text/safeterm"
	"adze/session"
	"adze/session/api"
	"adze/tool"
	"adze/tui/firstrun"
	"adze/tui/input"
	"adze/tui/plain"
	"adze/tui/screen"
	"adze/tui/tty"
)

// Options configures the interface.
type Options struct {
	// Send runs one whole turn and blocks until it ends; canceling ctx aborts it. It is called in
	// its own goroutine, one turn at a time.
	Send func(ctx context.Context, p api.Prompt) session.Result
	// Ports holds the program's other operations.
	Ports api.Ports
	// Waits receives the queued messages and those the agent has not read yet, whenever they
	// change. It may be nil and must not block.
	Waits func(queued, steered []string)
	// Blocks converts a tool's metadata into blocks to draw; an unknown tool gets a generic view.
	Blocks func(tool string, metadata json.RawMessage) []tool.Block
	// Starting means that the conversation is still being built; Begin passes it later.
	Starting bool
	// History is drawn at the start of a resumed session.
	History []session.Event
	// InitialPlace is the place in History to show first; the zero value is its end.
	InitialPlace api.Place
	// First is set if no model is available: the setup screen appears, and Next returns the user's
	// choice.
	First *firstrun.Offer
	Info  Info
	// Theme names the colors: auto (the default), dark, light, contrast, ansi or none.
	Theme string
	// Inline keeps the conversation in the terminal's scrollback instead of using the whole screen.
	Inline bool
	// Mouse captures the mouse; without it the terminal's own selection works.
	Mouse bool
	// AlreadyShown means that the terminal already shows History from a previous interface; inline, it
	// is not written again.
	AlreadyShown bool
	// Vim enables vim keys in the prompt.
	Vim bool
	// Keys holds the user's keys by action id; see KeyTable.
	Keys map[string][]string

	// Lines replaces In for RunPlain: one reader serves several interfaces in turn.
	Lines <-chan plain.Line

	// Closing is called when the interface ends, before its turn is canceled. Optional.
	Closing func()
	In      io.Reader
	// PendingKeys holds keys typed between interfaces; it may be nil.
	PendingKeys *input.PendingKeys
	Out         io.Writer
	// Env looks up an environment variable, such as TERM or NO_COLOR.
	Env func(string) string
	// Copy copies text; if it is nil or fails, the terminal is asked to.
	Copy func(text string) error
}

// Info describes the session to the user.
type Info struct {
	Version string // adze version
	Model   string
	Mode    string // permission mode
	Effort  string // thinking effort; "" is the model's default
	Session string
	Cwd     string
	Folder  string // Cwd for the user, with ~ for the home folder
	Branch  string // git branch, set later
	Sandbox string // reported sandbox level
	Config  string // the user's configuration file
	// Instructions holds the names of the agent's instruction files.
	Instructions []string
	Choose       bool               // open the list of sessions at the start
	Back         bool               // leaving returns to the overview
	Worktree     bool               // the folder is a work tree with a branch of its own
	Watches      bool               // another process runs the session: leaving ends nothing there
	Review       bool               // open the net changes at the start
	Commands     func() []api.Named // current slash commands of the user and the project; may be nil
	// Notices are shown above the first prompt, or below a resumed conversation: for example, that
	// a model's replies are scripted, or why another session could not be opened.
	Notices []string
	Agents  []api.Mode // agents addressed by @NAME
	// Prompt, if not empty, is sent at once.
	Prompt string
}

// UI is the interface. Create it with New, then Run it; Observe and Ask may be called before and
// during Run, from any goroutine.
type UI struct {
	*observer
	options Options
	model   *model
	turns   sync.WaitGroup
	screen  atomic.Pointer[screen.Screen]
	breaks  *plain.Breaks
	unsent  []uv.Event // unsent text, collected at the end
}

// New creates an interface. It does no I/O.
func New(o Options) *UI {
	u := &UI{observer: newObserver(), breaks: plain.NewBreaks()}
	u.use(o)
	return u
}

// use creates the model for o.
func (u *UI) use(o Options) {
	if o.Env == nil {
		o.Env = func(string) string { return "" }
	}
	if o.Blocks == nil {
		o.Blocks = func(string, json.RawMessage) []tool.Block { return nil }
	}
	u.options, u.model = o, newModel(o)
	u.model.turns.start = u.start
}

// Theme returns the name of the current theme.
func (u *UI) Theme() string { return u.model.colours.name }

// Run shows the interface until the user quits, ctx ends or the terminal is gone. It always
// restores the terminal, even after a panic, and returns when the running turn has ended.
func (u *UI) Run(ctx context.Context) error {
	return tty.Run(ctx, tty.Options{In: u.options.In, PendingKeys: u.options.PendingKeys, Out: u.options.Out, Inline: u.options.Inline, Env: u.options.Env}, tty.Program{
		Model: u.model,
		Begin: func(t *tty.Terminal) {
			u.screen.Store(t.Screen)
			u.attach(t)
			if s := u.model.starting; s != nil {
				s.renew = func(o Options) *model { u.use(o); u.attach(t); return u.model }
			}
		},
		Background: func(ctx context.Context, send func(tea.Msg)) {
			u.bridge.pump(ctx, func(b batch) { send(b) })
		},
		Last: func(t *tty.Terminal) {
			if last := u.model.lastWords(); len(last) > 0 || u.model.starting != nil {
				t.Show(screen.Frame{W: u.model.w, Scrolled: last})
			}
		},
		End: u.close,
	})
}

// GiveBack restores the terminal from any goroutine, even if others hang; the process must end
// after it.
func (u *UI) GiveBack() {
	if s := u.screen.Load(); s != nil {
		s.Suspend()
	}
}

// attach connects the model with the terminal.
func (u *UI) attach(t *tty.Terminal) {
	m, s := u.model, t.Screen
	m.w, m.h = tty.SizeOf(s)
	m.ender.hold = t.Hold
	m.ask = s.Ask
	outer := screen.OuterFor(u.options.Env)
	m.clipboard = func(t safeterm.Text) {
		if copies := u.options.Copy; copies == nil || copies(t.String()) != nil {
			s.Copy(outer, t)
		}
	}
	m.window.notify = func(n screen.Note) { s.Notify(outer, n) }
	m.borrow = func(use func() error) func() error {
		t.Hold() // later keys are not for the interface
		return func() (err error) {
			if lost := t.Lend(func() { err = use() }); err == nil {
				err = lost
			}
			return err
		}
	}
	m.window.background = t.Background
	m.foreground = func() (int, int) { return tty.SizeOf(s) }
}

// start runs a turn in its own goroutine.
func (u *UI) start(ctx context.Context, j job) {
	u.turns.Add(1)
	go func() {
		defer u.turns.Done()
		r := session.Result{Cause: session.CauseInternal}
		defer func() {
			if p := recover(); p != nil {
				r.Message = fmt.Sprintf("the turn failed: %v", p)
			}
			u.bridge.push(turnDone{r})
		}()
		switch {
		case j.compact:
			r = u.options.Ports.Compact(ctx, j.wish)
		case j.run != nil:
			r = j.run(ctx)
		case j.wake:
			r = u.options.Ports.Wake(ctx)
		case j.command != "":
			r = u.options.Ports.Run(ctx, j.command)
		default:
			r = u.options.Send(ctx, j.prompt)
		}
	}()
}

// close cancels running work and waits for it.
func (u *UI) close() {
	u.leave()
	if u.options.Closing != nil {
		u.options.Closing()
	}
	u.model.turns.end()
	u.turns.Wait()
	u.bridge.close()
	for line := u.model.prompt; ; {
		p, waits := line.Next()
		if !waits && line.Empty() {
			break
		}
		if !waits {
			u.unsent = append(u.unsent, uv.PasteEvent{Content: line.Unfolded()}) // a trailing blank stays: the next word follows it
			line.Clear()
			continue
		}
		u.unsent = append(u.unsent, uv.PasteEvent{Content: p.Text}, uv.KeyPressEvent{Code: uv.KeyEnter})
	}
}

// Next returns the action after the interface, valid after Run.
func (u *UI) Next() api.Next { return u.model.stopper.next }

// HandOn puts unsent text and queued messages into Options.PendingKeys for the next interface. Call
// it after Run.
func (u *UI) HandOn() {
	if u.options.PendingKeys != nil {
		u.options.PendingKeys.Prepend(u.unsent...)
	}
}

// Transcript returns the whole conversation as drawn, safe for a terminal. Call it after Run.
func (u *UI) Transcript() string {
	var b strings.Builder
	for _, r := range u.model.transcript.All(u.model.w) {
		b.WriteString(r.String())
		b.WriteByte('\n')
	}
	return b.String()
}
