// Package overview is one screen of all sessions: those that need the user, that work, that have
// something to review, and that are done. It answers the question of a session, and opens it.
//
// The one rule: it shows what its port tells and keeps nothing of a session.
//
// Start reading at Run, then model.go (keys) and draw.go (rows).
//
// Known limits: it looks anew when the port says that something changed; where nothing says so, the
// user presses F5.
package overview

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"adze/tui/draw"
	"adze/tui/edit"
	"adze/tui/tty"
)

// State says in which group a session stands.
type State int

// The states, in the order of the screen.
const (
	NeedsYou State = iota // a question waits
	Working               // a turn runs
	ToReview              // it is done, and changed files that nobody has looked at
	Done                  // everything else
)

// String is the heading of the group.
func (s State) String() string {
	return [...]string{"needs you", "working", "to review", "done"}[s]
}

// Row is one session.
type Row struct {
	ID      string
	Title   string
	Folder  string // of the workspace, or of its work tree
	Doing   string // its running call, or what it asks; if empty, nothing is known
	Model   string
	State   State
	Updated time.Time
	Cost    float64 // in dollars; 0 where no price is known
	Tags    []string
	Pinned  bool
	Live    bool // a process has it
}

// Peek is a short look into a session.
type Peek struct {
	Said     string    // its last words
	Change   string    // what it changed, such as changed 1 file: a.go
	Question *Question // that waits; if nil, none does
}

// Question is one that can be answered from here.
type Question struct {
	ID      string
	Lines   []string // what is asked, the command or the change in full
	Choices []string // of a question of the model; if empty, it is yes or no
}

// Answer is what the user says to a question.
type Answer struct {
	Allow bool   // of yes or no
	Text  string // a choice, or words; with a no, its reason
}

// Port is what the program does for the screen. All may be called by several goroutines.
type Port struct {
	// Rows are at most this many sessions, those that live first, then the last used ones; more
	// says that there are others.
	Rows func(ctx context.Context, most int) (rows []Row, more bool, err error)
	// Watch calls changed when the rows may be others, until ctx ends.
	Watch  func(ctx context.Context, changed func())
	Peek   func(ctx context.Context, id string) (Peek, error)
	Answer func(ctx context.Context, id, question string, a Answer) error
	Begin  func(ctx context.Context, prompt string) (said string, err error)
	Stop   func(ctx context.Context, id string) error
	Rename func(ctx context.Context, id, name string) error
	Tag    func(ctx context.Context, id, tag string) error // with a - in front, it is taken away
	Pin    func(ctx context.Context, id string, pinned bool) error
	// Reviewed says that the user has looked at what a session did.
	Reviewed func(ctx context.Context, id string) error
}

// Opened is the session that the user opens; without an ID they leave.
type Opened struct {
	ID     string
	Review bool // to see what it changed
}

// Options is what the screen needs.
type Options struct {
	Port   Port
	Folder string // where the user is
	Theme  *draw.Theme
	At     string // the session that is marked at the start; it may be empty
	Note   string // what is said at the start; it may be empty
	Now    func() time.Time
	// After has a message come after a while; if nil, by a timer.
	After func(time.Duration, tea.Msg) tea.Cmd
	In    io.Reader
	Ahead *tty.Ahead // keys of the interface before and after this one; it may be nil
	Out   io.Writer
	Env   func(string) string
}

// Run shows the screen until the user leaves it, or opens a session.
func Run(ctx context.Context, o Options) (open Opened, err error) {
	m := newModel(ctx, o)
	err = tty.Run(ctx, tty.Options{In: o.In, Ahead: o.Ahead, Out: o.Out, Env: o.Env}, tty.Program{
		Model: m,
		Begin: func(t *tty.Terminal) {
			m.w, m.h = tty.SizeOf(t.Screen)
			m.hold = t.Hold
			t.Ask(false)
		},
		Beside: func(ctx context.Context, send func(tea.Msg)) {
			o.Port.Watch(ctx, func() {
				if m.told.CompareAndSwap(false, true) { // one that waits is enough
					send(stirred{})
				}
			})
		},
	})
	return m.open, err
}

// leave ends the screen. Keys that follow are for what comes next.
func (m *model) leave() tea.Cmd {
	m.left = true
	if m.hold != nil {
		m.hold()
	}
	return tea.Quit
}

// replay obeys what was typed before there were rows, up to a key that leaves the screen.
func (m *model) replay() tea.Cmd {
	var cmds []tea.Cmd
	early := m.early
	m.listed, m.early = true, nil
	for _, msg := range early {
		if !m.left {
			_, cmd := m.Update(msg)
			cmds = append(cmds, cmd)
		}
	}
	return tea.Batch(cmds...)
}

// focus is what keys go to.
type focus int

const (
	onRows   focus = iota
	onPrompt       // a new session
	onFilter
	onName   // of the marked session
	onTag    // for it
	onReason // why its question is answered with a no
	onWords  // in answer to its question
)

// model is the state of the screen.
type model struct {
	Options
	ctx    context.Context
	hold   func() // gets no more keys; if nil, it has no terminal
	left   bool
	listed bool      // a look for rows is over
	early  []tea.Msg // keys and pastes that came before
	w, h   int
	open   Opened

	rows    []Row
	more    bool
	most    int
	at      string // the id of the marked row
	moved   bool   // the user has marked a row
	top     int    // the first line of the list that is seen
	folders bool   // groups are folders
	filter  edit.Editor
	line    edit.Editor // of every other focus
	focus   focus
	looking bool        // for rows, or has just looked
	again   bool        // something changed meanwhile
	told    atomic.Bool // that something changed, since the last look began
	help    bool

	peeked  string // the session that is looked into; if empty, none is
	peek    Peek
	peekErr string
	note    string // what came of the last key
	cursor  int    // the column of the cursor in the line that is written
}
