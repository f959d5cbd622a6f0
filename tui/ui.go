// Package tui is the terminal interface: one observer of a session's event stream.
//
// The one rule: it knows no tool. What a call shows comes from its title, its metadata as blocks,
// and its outcome; a new tool needs nothing here.
//
// How it works: a [session.Session] calls UI.Observe from its own goroutine; the bridge gathers
// what happens within a frame and hands it to the model as one batch (bridge.go,
// model.go). The model routes messages and keys, places panes and draws; what there is to do is
// done by features (host.go), types with state of their own that know nothing of the model.
// Nothing moves by itself but the clock of a running turn: without one there is no timer.
//
// The rooms, each a package with a small face, none of which knows this one:
//
//	transcript              the conversation, and what stands in it
//	pane                    what runs, todos, status; changes, context and help
//	prompt, edit, vim       the line where the user writes, its text, vim's keys
//	list, permission,       a list to take a row from; the question of the gate;
//	  question              one of the model
//	firstrun, plain         the screen of who has no model yet; the same interface as lines
//	api                     what the program is asked, and how the user goes on
//	ui, draw, screen,       how things are shown alike; what a row is; how rows reach the terminal;
//	  input                 how its bytes become keys
//
// Here: keys.go says which key does what, rebind.go gives rows the keys of the user, input.go
// obeys it; commands.go orders the commands, words.go obeys them. The features: turn.go is a
// turn, send.go and compose.go what the user writes, stop.go and twice.go how they stop and
// leave, inquire.go and keys_dialog.go what they are asked, undo.go what they take back;
// sessions.go, settings.go, jobs.go, servers.go, carried.go and plans.go are lists of what there
// is; sheets.go, help.go, lists.go, inline.go, first.go, copy.go, theme.go and window.go what is
// seen. frame.go and arrange.go are the whole screen; lines.go answers to package plain;
// observer.go is how the session reaches all this, tty.go the terminal.
//
// Start reading at UI.Run, then model.Update. To add a feature: one type that is given what it
// works on in model.assemble. To add a command: one row in the commands of its feature, and its
// place in commands.go. To add a pane: one file in package pane, one field in model, one line in
// model.apply, one rectangle in Arrange, one drawn case under testdata/screen.
//
// Known limits: after a rewind the panes beside the conversation and the context keep what they
// showed. A line is selected by the terminal, not by us: F2 gives adze the mouse.
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

// Options is what the interface needs.
type Options struct {
	// Send runs one whole turn and blocks until it is over; ctx's end is the user's abort. It is
	// called from a goroutine of its own, one turn at a time.
	Send func(ctx context.Context, p api.Prompt) session.Result
	// Ports are what else the program can do for the user.
	Ports api.Ports
	// Waits is told which messages wait for their turn, and which the agent has not read yet, when
	// that changes; if nil, nobody is. It must not block.
	Waits func(queued, steered []string)
	// Blocks turns a tool's metadata into what is drawn; an unknown tool gets a generic view.
	Blocks func(tool string, metadata json.RawMessage) []tool.Block
	// Starting says that the conversation is still being built. Begin tells the rest.
	Starting bool
	// History is drawn at start, when a session is resumed.
	History []session.Event
	// At is the place in History to show first; the zero value: its end.
	At api.Place
	// First is given when no model can be used: the user then chooses what to do, and Next says
	// what.
	First *firstrun.Offer
	Info  Info
	// Theme names the colours: auto (the default), dark, light, contrast, ansi or none.
	Theme string
	// Inline keeps the conversation in the terminal's own scrollback instead of taking the whole
	// screen.
	Inline bool
	// Mouse captures the mouse; without it the terminal's own selection works.
	Mouse bool
	// Shown says that the terminal shows History already, from an interface before this one;
	// inline, it is not written a second time.
	Shown bool
	// Vim puts the keys of the editor vim into the prompt.
	Vim bool
	// Keys are those that the user bound, by the id of an action; see KeyTable.
	Keys map[string][]string

	// Lines are what RunPlain reads in place of In: one reader for several interfaces, one after
	// the other.
	Lines <-chan plain.Line

	// Closing is called when the interface ends, before its turn is ended. Optional.
	Closing func()
	In      io.Reader
	// Ahead has keys of the interface before and after this one; it may be nil.
	Ahead *input.Ahead
	Out   io.Writer
	// Env looks up an environment variable: TERM, NO_COLOR.
	Env func(string) string
}

// Info is what the user should know about the session.
type Info struct {
	Version string // of adze
	Model   string
	Mode    string // of permissions
	Effort  string // how hard the model thinks; if empty, as it does by itself
	Session string
	Cwd     string
	Home    string // the user's own folder: what is in it begins with ~
	Branch  string // of git; it is found later
	Sandbox string // its reported level
	Config  string // the user's configuration file
	// Instructions are the files that the agent was told to follow, as they are named to it.
	Instructions []string
	Choose       bool               // the list of sessions is open at the start
	Back         bool               // the interface was opened from the overview: leaving it goes back there
	Watches      bool               // another process has the session: leaving ends nothing there
	Review       bool               // the net changes are open at the start
	Commands     func() []api.Named // what is carried and can be named after a slash, as of now; if nil, nothing
	// Notices are shown above the first prompt, or below what a resumed session holds: that a
	// model's replies are scripted, or why another session could not be opened.
	Notices []string
	Agents  []api.Mode // that take a prompt which begins with @ and their name
	// Prompt is sent at once when it is not empty.
	Prompt string
}

// UI is the interface. Make it with New, then Run it; Observe and Ask may be called before and
// during Run, from any goroutine.
type UI struct {
	*observer
	options Options
	model   *model
	turns   sync.WaitGroup
	screen  atomic.Pointer[screen.Screen]
	breaks  *plain.Breaks
	unsent  []uv.Event // the user wrote it, at the end of the interface
}

// New makes an interface. It does no I/O.
func New(o Options) *UI {
	u := &UI{observer: newObserver(), breaks: plain.NewBreaks()}
	u.use(o)
	return u
}

// use makes the model of what is shown.
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

// Theme is the name of the theme that is in use.
func (u *UI) Theme() string { return u.model.colours.name }

// Run shows the interface until the user quits, ctx ends or the terminal is gone. It gives the
// terminal back on every way out, a panic included, and returns when the running turn has ended.
func (u *UI) Run(ctx context.Context) error {
	return tty.Run(ctx, tty.Options{In: u.options.In, Ahead: u.options.Ahead, Out: u.options.Out, Inline: u.options.Inline, Env: u.options.Env}, tty.Program{
		Model: u.model,
		Begin: func(t *tty.Terminal) {
			u.screen.Store(t.Screen)
			u.attach(t)
			if s := u.model.starting; s != nil {
				s.renew = func(o Options) *model { u.use(o); u.attach(t); return u.model }
			}
		},
		Beside: func(ctx context.Context, send func(tea.Msg)) {
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

// GiveBack gives the terminal back as it was, from any goroutine and whatever else hangs: for a
// process that ends now.
func (u *UI) GiveBack() {
	if s := u.screen.Load(); s != nil {
		s.Suspend()
	}
}

// attach connects the model with the screen.
func (u *UI) attach(t *tty.Terminal) {
	m, s := u.model, t.Screen
	m.w, m.h = tty.SizeOf(s)
	m.ender.hold = t.Hold
	m.ask = s.Ask
	outer := screen.OuterFor(u.options.Env)
	m.clipboard = func(t safeterm.Text) { s.Copy(outer, t) }
	m.window.notify = func(n screen.Note) { s.Notify(outer, n) }
	m.borrow = func(use func() error) func() error {
		t.Hold() // keys that follow are not for the interface
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

// start runs a turn in a goroutine of its own.
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

// close ends what still runs and waits for it.
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
			u.unsent = append(u.unsent, uv.PasteEvent{Content: line.Unfolded()}) // a blank at its end is what the next word follows
			line.Clear()
			continue
		}
		u.unsent = append(u.unsent, uv.PasteEvent{Content: p.Text}, uv.KeyPressEvent{Code: uv.KeyEnter})
	}
}

// Next says how the user wants to go on; it is known when Run has returned.
func (u *UI) Next() api.Next { return u.model.stopper.next }

// HandOn leaves what the user wrote and did not send in Options.Ahead, for the interface that
// follows, with the messages that wait for their turn. It is for the time after Run.
func (u *UI) HandOn() {
	if u.options.Ahead != nil {
		u.options.Ahead.Before(u.unsent...)
	}
}

// Transcript is the whole conversation as it was drawn, safe for a terminal. It is for the time
// after Run.
func (u *UI) Transcript() string {
	var b strings.Builder
	for _, r := range u.model.transcript.All(u.model.w) {
		b.WriteString(r.String())
		b.WriteByte('\n')
	}
	return b.String()
}
