package session

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"adze/tool"
)

// A call that may change files runs between two snapshots: the intent names the first, the outcome
// lists the changes, each in the commit of its entry. So the log alone suffices to undo a turn.

// Snapshots records the files that calls may change. Contract:
//   - Before is called after the gate has allowed a call and before its intent is stored. No state
//     and no error: nothing is kept, and the call runs; an error: it does not run. It is called
//     again for a call that asks for more before it has changed anything, if the state is of
//     single paths;
//   - After is called once for each state, when the call has ended in any way. A call that leaves
//     something running has a window without an end: late is called with the complete one when that
//     is over, once, from any goroutine;
//   - Lost is After for a state of a process that died: later changes have an unknown author;
//   - all are safe for concurrent use.
type Snapshots interface {
	Before(ctx context.Context, r tool.Record) (*State, error)
	After(ctx context.Context, r tool.Record, before State, late func(Window)) (Window, error)
	Lost(ctx context.Context, before State) (Window, error)
}

// A State identifies a snapshot of one folder's files.
type State struct {
	Root      string   `json:"root"`
	Mark      string   `json:"mark"`
	Time      int64    `json:"at"`                 // Unix time in nanoseconds; later states of a folder have a higher value
	Only      []string `json:"only,omitempty"`     // the covered paths; empty means the whole folder
	Uncovered int      `json:"left_out,omitempty"` // number of uncovered paths
	// Provisional means that the call's changes start from a later state, known to Snapshots.
	Provisional bool     `json:"provisional,omitempty"`
	Named       []string `json:"-"` // the examined paths, if the call names all its changes
}

// A Window holds the file changes between two states.
type Window struct {
	Before State  `json:"before"`
	After  *State `json:"after,omitempty"` // nil until it has ended
	// Changes lists at most MaxFileChanges; More counts the others.
	Changes []FileChange `json:"changes,omitempty"`
	More    int          `json:"more,omitempty"`
	// Author is the author, if not the call.
	Author string `json:"by,omitempty"`
	// Unsure lists changed paths with another possible author: nobody saw the call change them.
	Unsure []string `json:"unsure,omitempty"`
	// Message and Call name the call, or Hook the moment, of a window with its own entry.
	Message string      `json:"message,omitempty"`
	Call    tool.CallID `json:"call,omitempty"`
	Hook    string      `json:"hook,omitempty"`
}

// MaxFileChanges limits the changes in an entry; the states have them all.
const MaxFileChanges = 200

// ByUnknown means that the process died, so that anyone may have changed the files.
const ByUnknown = "unknown"

// ByPerhaps means that all changes may have another author, since nobody saw the call make them.
const ByPerhaps = "perhaps"

// A FileChange is the change of one path, relative to the root.
type FileChange struct {
	Path   string    `json:"path"`
	Git    bool      `json:"git,omitempty"` // a file of git itself
	Before FileState `json:"before"`
	After  FileState `json:"after"`
	// Diff is a unified diff of small texts, for panes; not logged.
	Diff string `json:"-"`
}

// FileState describes a path's content.
type FileState struct {
	Kind   string `json:"kind"`           // absent, file, folder, link, left out
	Mode   uint32 `json:"mode,omitempty"` // permission bits
	Size   int64  `json:"size,omitempty"` // bytes
	SHA256 string `json:"sha256,omitempty"`
	Target string `json:"target,omitempty"` // of a symlink
}

// UndoState is the progress of an undo or redo.
type UndoState string

// Undo states. UndoBegun is followed by an entry with the same ID and another state, unless the
// process was killed; then only the files and their snapshots show how far it came.
const (
	UndoBegun     UndoState = "begun"     // stored before the first file is touched
	UndoDone      UndoState = "done"      // its turns are undone or redone; some paths may have been refused
	UndoRefused   UndoState = "refused"   // all paths and turns were left unchanged
	UndoAbandoned UndoState = "abandoned" // ended before touching a file
)

// UndoData is an undo entry's data.
type UndoData struct {
	ID    string    `json:"id"`
	State UndoState `json:"state,omitempty"` // empty in logs of older versions: see Stage
	Turns []string  `json:"turns"`           // message ids
	Redo  string    `json:"redo,omitempty"`  // id of the undo that this redo reverts; "" for an undo
	Git   bool      `json:"git,omitempty"`   // includes files of git itself
	Window
	Done    int       `json:"done"` // restored paths
	Refused []Refused `json:"refused,omitempty"`
}

// Stage returns the state, also of older entries, which only hold a number of paths.
func (u UndoData) Stage() UndoState {
	switch {
	case u.State != "":
		return u.State
	case u.After == nil:
		return UndoBegun
	case u.Done == 0:
		return UndoRefused
	}
	return UndoDone
}

// Refused is a path left unchanged by an undo.
type Refused struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Intended is an intent entry's data.
type Intended struct {
	tool.Record
	Undo *State `json:"undo,omitempty"` // before the call; may be nil
}

// Ended is an outcome entry's data.
type Ended struct {
	tool.Outcome
	Undo *Window `json:"undo,omitempty"` // nil if nothing changed or was recorded
}

// windows holds the states of running calls, and the changes of ended ones until they are stored.
type windows struct {
	keep  Snapshots // may be nil
	store func(context.Context, ...Entry) error
	entry func(EntryType, any) Entry
	begin func() []Entry // returns entries to store before the session's first one, if it has none
	emit  func(Event)

	mu     sync.Mutex
	open   map[callKey]State
	closed map[callKey]Window
	// refused is the error of an intent that was not stored, where outcomes still may be: a store
	// that keeps unsaved entries keeps no intent.
	refused error
}

// intend stores a call's intent with the state of the files that it may change. A running call that
// asks for more keeps its first state.
func (w *windows) intend(ctx context.Context, r tool.Record) error {
	before, err := w.before(ctx, r)
	if err != nil {
		return err
	}
	err = w.store(ctx, w.entry(IntentEntry, Intended{r, before}))
	if err != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.refused = err
	}
	return err
}

// refusal returns and clears the error of an unstored intent.
func (w *windows) refusal() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	err := w.refused
	w.refused = nil
	return err
}

func (w *windows) before(ctx context.Context, r tool.Record) (*State, error) {
	if w.keep == nil || !slices.ContainsFunc(r.Needs, changesFiles) {
		return nil, nil
	}
	key := callKey{r.Message, r.Call}
	w.mu.Lock()
	state, known := w.open[key]
	w.mu.Unlock()
	if known && len(state.Only)+len(state.Named) == 0 {
		return &state, nil
	}
	before, err := w.keep.Before(ctx, r)
	if before == nil || err != nil {
		return nil, notKept(ctx, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open == nil {
		w.open, w.closed = map[callKey]State{}, map[callKey]Window{}
	}
	w.open[key] = *before
	return before, nil
}

// notKept returns the error for a call whose files cannot be recorded.
func notKept(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	return tool.Fail(tool.CodeEnvironment, "not run, because the files could not be kept as they are for undo: %w; go on without it, or tell the person", err)
}

// changesFiles reports whether a need may change files. Ending a process that the session started
// does not.
func changesFiles(n tool.Need) bool {
	return (n.Permission == tool.Write || n.Permission == tool.Execute) && n.Reach != tool.OwnStart
}

// after ends the window of an ended call and stores the changed files in its outcome.
func (w *windows) after(ctx context.Context, o tool.Outcome) tool.Outcome {
	key := callKey{o.Record.Message, o.Call}
	w.mu.Lock()
	state, known := w.open[key]
	delete(w.open, key)
	w.mu.Unlock()
	if !known {
		return o
	}
	window, err := w.keep.After(context.WithoutCancel(ctx), o.Record, state, func(late Window) {
		late.Message, late.Call = key.message, key.call
		w.changed(late)
	})
	if err != nil {
		window = Window{Before: state, Author: ByUnknown}
		w.emit(Notice{Text: fmt.Sprintf("what %s changed could not be looked at, so that undo knows it only in part: %v", o.Tool, err)})
	}
	for _, c := range window.Changes {
		if !c.Git && !slices.Contains(o.Changed, c.Path) {
			o.Changed = append(slices.Clip(o.Changed), c.Path)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed[key] = window
	return o
}

func (w *windows) ended(o tool.Outcome) Ended {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := callKey{o.Record.Message, o.Call}
	window, known := w.closed[key]
	delete(w.closed, key)
	if !known || window.After != nil && window.After.Mark == window.Before.Mark {
		return Ended{Outcome: o}
	}
	return Ended{o, &window}
}

// changed stores file changes outside of an outcome and shows them. If storing fails, the next
// entry fails too.
func (w *windows) changed(x Window) {
	if x.After != nil && x.After.Mark == x.Before.Mark && x.Hook != "" {
		return
	}
	if w.store(context.Background(), append(w.begin(), w.entry(ChangedEntry, x))...) == nil {
		w.emit(FilesChanged{x})
	}
}

// around records the files before a moment's first hook starts. end is called after the hooks.
// Changes after a call belong to it.
func (w *windows) around(ctx context.Context, m *Moment) (end func()) {
	if w.keep == nil || m.Event == HookAfter || m.InBackground() {
		return func() {}
	}
	r := tool.Record{Session: string(m.Session), Agent: m.Agent, Tool: "hook"}
	var before *State
	m.Starts = func() {
		var err error
		if before, err = w.keep.Before(ctx, r); err != nil && ctx.Err() == nil { // hooks are the user's own programs
			w.emit(Notice{Text: "what the hooks of " + m.Event + " change cannot be undone: " + err.Error()})
		}
	}
	return func() {
		if before == nil {
			return
		}
		late := func(x Window) { x.Hook = m.Event; w.changed(x) }
		if x, err := w.keep.After(context.WithoutCancel(ctx), r, *before, late); err == nil {
			late(x)
		}
	}
}

// lost ends the windows of a dead process: of calls without an outcome, or that left something
// running.
func (w *windows) lost(ctx context.Context, before *State) *Window {
	if before == nil || w.keep == nil {
		return nil
	}
	x, err := w.keep.Lost(ctx, *before)
	if err != nil {
		x = Window{Before: *before}
	}
	x.Author = ByUnknown
	return &x
}

// UndoNote reports to the model that the user had files restored.
const UndoNote NoteKind = "undo"
