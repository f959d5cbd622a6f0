// Package overview is a screen with all sessions, grouped by state: needs you, working, to review,
// done. It answers a session's question and opens sessions.
//
// The one rule: it shows its port's data and stores nothing about a session.
//
// Start reading at Run, then model.go (keys) and draw.go (rows).
//
// Known limits: it refreshes only when the port reports a change; otherwise the user presses F5.
package overview

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"

	"adze/tui/draw"
	"adze/tui/edit"
	"adze/tui/tty"
)

// State is a session's group.
type State int

// States in display order.
const (
	NeedsYou State = iota // a question waits
	Working               // a turn runs
	ToReview              // done, with changed files not yet reviewed
	Done                  // all others
)

// String returns the group's heading.
func (s State) String() string {
	return [...]string{"needs you", "working", "to review", "done"}[s]
}

// Row is one session.
type Row struct {
	ID      string
	Title   string
	Folder  string // workspace or work tree
	Doing   string // running call or waiting question; "" if unknown
	Model   string
	State   State
	Updated time.Time
	Cost    float64 // in dollars; 0 if unknown
	Tags    []string
	Pinned  bool
	Live    bool // open in a process
}

// Peek is a preview of a session.
type Peek struct {
	Said     string    // its last words
	Change   string    // summary of changes, such as changed 1 file: a.go
	Question *Question // waiting question, or nil
}

// Question is a question that can be answered here.
type Question struct {
	ID      string
	Lines   []string // the question, with its whole command or change
	Choices []string // choices for a question from the model; empty for yes or no
}

// Answer is the user's answer to a question.
type Answer struct {
	Allow bool   // yes or no
	Text  string // a choice or free text; for a no, the reason
}

// Port connects the screen with the program. Its functions must be safe for concurrent use.
type Port struct {
	// Rows returns at most the given number of sessions: open ones first, then the most recent;
	// more reports that there are others.
	Rows func(ctx context.Context, most int) (rows []Row, more bool, err error)
	// Watch calls changed when the rows may have changed, until ctx ends.
	Watch  func(ctx context.Context, changed func())
	Peek   func(ctx context.Context, id string) (Peek, error)
	Answer func(ctx context.Context, id, question string, a Answer) error
	Begin  func(ctx context.Context, prompt string) (said string, err error)
	Stop   func(ctx context.Context, id string) error
	Rename func(ctx context.Context, id, name string) error
	Tag    func(ctx context.Context, id, tag string) error // a leading - removes the tag
	Pin    func(ctx context.Context, id string, pinned bool) error
	// Reviewed marks a session's changes as reviewed.
	Reviewed func(ctx context.Context, id string) error
}

// Opened is the session to open; an empty ID means that the user leaves.
type Opened struct {
	ID     string
	Review bool // open the net changes
}

// Options configures the screen.
type Options struct {
	Port       Port
	Folder     string // current folder
	Theme      *draw.Theme
	SelectedID string // initially selected session; may be empty
	Note       string // initial message; may be empty
	Now        func() time.Time
	// After delivers a message after a delay; nil uses a timer.
	After       func(time.Duration, tea.Msg) tea.Cmd
	In          io.Reader
	PendingKeys *tty.PendingKeys // keys typed between interfaces; may be nil
	Out         io.Writer
	Env         func(string) string
}

// Run shows the screen until the user leaves it or opens a session.
func Run(ctx context.Context, o Options) (open Opened, err error) {
	m := newModel(ctx, o)
	err = tty.Run(ctx, tty.Options{In: o.In, PendingKeys: o.PendingKeys, Out: o.Out, Env: o.Env}, tty.Program{
		Model: m,
		Begin: func(t *tty.Terminal) {
			m.w, m.h = tty.SizeOf(t.Screen)
			m.hold = t.Hold
			t.Ask(false)
		},
		Background: func(ctx context.Context, send func(tea.Msg)) {
			o.Port.Watch(ctx, func() {
				if m.told.CompareAndSwap(false, true) { // one waiting message is enough
					send(stirred{})
				}
			})
		},
	})
	return m.open, err
}

// leave ends the screen. Later keys are left for the next program.
func (m *model) leave() tea.Cmd {
	m.left = true
	if m.hold != nil {
		m.hold()
	}
	return tea.Quit
}

// replay handles keys typed before the first rows arrived. Those behind a key that leaves the
// screen are for the next interface.
func (m *model) replay() tea.Cmd {
	var cmds []tea.Cmd
	var rest []uv.Event
	early := m.early
	m.listed, m.early = true, nil
	for _, msg := range early {
		key, pressed := msg.(tea.KeyPressMsg)
		switch {
		case !m.left:
			_, cmd := m.Update(msg)
			cmds = append(cmds, cmd)
		case pressed:
			rest = append(rest, uv.KeyPressEvent(key))
		default:
			rest = append(rest, uv.PasteEvent(msg.(tea.PasteMsg)))
		}
	}
	if m.PendingKeys != nil {
		m.PendingKeys.Prepend(rest...)
	}
	return tea.Batch(cmds...)
}

// focus is the receiver of keys.
type focus int

const (
	onRows   focus = iota
	onPrompt       // new session
	onFilter
	onName   // selected session's name
	onTag    // selected session's tag
	onReason // reason for a no
	onWords  // free answer
)

// model is the screen's state.
type model struct {
	Options
	ctx    context.Context
	hold   func() // stops reading keys; nil without a terminal
	left   bool
	listed bool      // rows have arrived
	early  []tea.Msg // keys and pastes before that
	w, h   int
	open   Opened

	rows       []Row
	more       bool
	most       int
	selectedID string // selected row's id
	moved      bool   // the user has moved the selection
	top        int    // first visible line of the list
	folders    bool   // group by folder
	filter     edit.Editor
	line       edit.Editor // editor for every other focus
	focus      focus
	looking    bool        // a refresh runs or has just ended
	stale      bool        // rows changed meanwhile
	told       atomic.Bool // a change was reported since the last refresh began
	help       bool

	peeked  string // session in the preview, or ""
	peek    Peek
	peekErr string
	note    string // result of the last key
	cursor  int    // cursor column in the input line
}
