package session

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"adze/tool"
)

// A call that may change files runs between two states of them: the first is named in the intent,
// and what became of the files in the outcome, each in the commit of its entry. So what a turn did
// can be undone by the log alone.

// Snapshots keeps states of the files that calls may change. Contract:
//   - Before is called after the gate has allowed a call and before its intent is stored. No state
//     and no error: nothing is kept, and the call runs; an error: it does not run; It is called
//     again for a call that asks for more before it has changed anything, where the state is of
//     single paths;
//   - After is called once for each state, when the call has ended, however it did. A call that
//     leaves something running has a window without an end: late is called with the whole one when
//     that is over, once, from any goroutine;
//   - Lost is After for a state of a process that died: nobody knows who changed what since;
//   - all are safe for concurrent use.
type Snapshots interface {
	Before(ctx context.Context, r tool.Record) (*State, error)
	After(ctx context.Context, r tool.Record, before State, late func(Window)) (Window, error)
	Lost(ctx context.Context, before State) (Window, error)
}

// State names a kept state of the files of one folder.
type State struct {
	Root string   `json:"root"`
	Mark string   `json:"mark"`
	At   int64    `json:"at"`                 // nanoseconds since 1970; of two states of a folder the later one has the higher
	Only []string `json:"only,omitempty"`     // the paths that it is of; none: the whole folder
	Left int      `json:"left_out,omitempty"` // paths that it does not cover
	// Provisional says that the call changes files from a later state on, which Snapshots knows.
	Provisional bool     `json:"provisional,omitempty"`
	Named       []string `json:"-"` // the paths that were looked at, where the call names all that it changes
}

// Window is what became of files between two states.
type Window struct {
	Before State  `json:"before"`
	After  *State `json:"after,omitempty"` // if nil, it has not ended
	// Changes are at most MaxFileChanges of what differs, More how many others there are.
	Changes []FileChange `json:"changes,omitempty"`
	More    int          `json:"more,omitempty"`
	// By says who changed it, where that is not the call.
	By string `json:"by,omitempty"`
	// Unsure are the paths among what differs that somebody else may have changed meanwhile: nobody
	// saw the call do it.
	Unsure []string `json:"unsure,omitempty"`
	// Message and Call name the call, or Hook the moment, of a window that has an entry of its own.
	Message string      `json:"message,omitempty"`
	Call    tool.CallID `json:"call,omitempty"`
	Hook    string      `json:"hook,omitempty"`
}

// MaxFileChanges is how many changed files an entry lists; the states have them all.
const MaxFileChanges = 200

// ByUnknown says that the process ended in the middle: the files may have been changed by anybody.
const ByUnknown = "unknown"

// ByPerhaps says that all that differs may have been changed by somebody else: nobody saw what the
// call did.
const ByPerhaps = "perhaps"

// FileChange is what became of one path, relative to the root.
type FileChange struct {
	Path   string    `json:"path"`
	Git    bool      `json:"git,omitempty"` // git's own state
	Before FileState `json:"before"`
	After  FileState `json:"after"`
	// Diff is a unified diff of small texts, for panes; the log has none.
	Diff string `json:"-"`
}

// FileState is what stands at a path.
type FileState struct {
	Kind   string `json:"kind"`           // absent, file, folder, link, left out
	Mode   uint32 `json:"mode,omitempty"` // permission bits
	Size   int64  `json:"size,omitempty"` // bytes
	SHA256 string `json:"sha256,omitempty"`
	Target string `json:"target,omitempty"` // of a link
}

// UndoState is how far an undo or a redo came.
type UndoState string

// States of an undo. An entry with UndoBegun is followed by one with the same ID and another state.
// Where that is missing, the process was killed, and only the files and what is kept of them tell
// how far it came.
const (
	UndoBegun     UndoState = "begun"     // stored before the first file is touched
	UndoDone      UndoState = "done"      // its turns are undone, or redone; some paths may have been refused
	UndoRefused   UndoState = "refused"   // all paths were left as they are, and so are its turns
	UndoAbandoned UndoState = "abandoned" // it ended before the first file was touched
)

// Undone is the data of an undo entry.
type Undone struct {
	ID    string    `json:"id"`
	State UndoState `json:"state,omitempty"` // empty in logs of an older adze: see Stage
	Turns []string  `json:"turns"`           // ids of their messages
	Redo  string    `json:"redo,omitempty"`  // the id of the undo that this one takes back; if empty, it is an undo
	Git   bool      `json:"git,omitempty"`   // git's own state too
	Window
	Done    int       `json:"done"` // paths that were put back
	Refused []Refused `json:"refused,omitempty"`
}

// Stage is the state, also of an entry of an older adze, which stored a number of paths only.
func (u Undone) Stage() UndoState {
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

// Refused is a path that an undo left as it is.
type Refused struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Intended is the data of an intent entry.
type Intended struct {
	tool.Record
	Undo *State `json:"undo,omitempty"` // before the call; if nil, none is kept
}

// Ended is the data of an outcome entry.
type Ended struct {
	tool.Outcome
	Undo *Window `json:"undo,omitempty"` // if nil, nothing changed, or nothing was kept
}

// windows are the states of the calls that run, and what became of those that have ended and are
// not stored yet.
type windows struct {
	keep  Snapshots // if nil, nobody keeps anything
	store func(context.Context, ...Entry) error
	entry func(EntryType, any) Entry
	begin func() []Entry // what is stored before the first entry of a session; nothing when there are some
	emit  func(Event)

	mu     sync.Mutex
	open   map[callKey]State
	closed map[callKey]Window
	// refused is why an intent was not stored, where outcomes may be: a store that keeps what it
	// cannot save takes none.
	refused error
}

// intend stores that a call begins, with the state of the files that it may change. A call that may
// change more, now that it runs, keeps the state from which it began.
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

// refusal takes the reason for which an intent was not stored; if nil, none was refused.
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

// notKept is why a call does not run whose files cannot be kept.
func notKept(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	return tool.Fail(tool.CodeEnvironment, "not run, because the files could not be kept as they are for undo: %w; go on without it, or tell the person", err)
}

// changesFiles reports a need by which files may be changed. The end of what a call of this session
// started is none.
func changesFiles(n tool.Need) bool {
	return (n.Permission == tool.Write || n.Permission == tool.Execute) && n.Reach != tool.OwnStart
}

// after ends the window of a call that has ended, and names in its outcome what it changed.
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
		window = Window{Before: state, By: ByUnknown}
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

// ended is what is stored of an outcome.
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

// changed stores what became of files beside the outcome of a call, and shows it. A failure to
// store is not lost: the next entry fails, too.
func (w *windows) changed(x Window) {
	if x.After != nil && x.After.Mark == x.Before.Mark && x.Hook != "" {
		return
	}
	if w.store(context.Background(), append(w.begin(), w.entry(ChangedEntry, x))...) == nil {
		w.emit(FilesChanged{x})
	}
}

// around keeps the files as they are before the first hook of a moment starts; what it returns is
// called when they have ended. What comes after a call belongs to it.
func (w *windows) around(ctx context.Context, m *Moment) (end func()) {
	if w.keep == nil || m.Event == HookAfter || m.Beside() {
		return func() {}
	}
	r := tool.Record{Session: string(m.Session), Agent: m.Agent, Tool: "hook"}
	var before *State
	m.Starts = func() {
		var err error
		if before, err = w.keep.Before(ctx, r); err != nil && ctx.Err() == nil { // the hooks are the user's own
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

// lost ends the windows that a dead process left open, whose calls have no outcome or left
// something running.
func (w *windows) lost(ctx context.Context, before *State) *Window {
	if before == nil || w.keep == nil {
		return nil
	}
	x, err := w.keep.Lost(ctx, *before)
	if err != nil {
		x = Window{Before: *before}
	}
	x.By = ByUnknown
	return &x
}

// UndoNote tells the model that the user had files put back.
const UndoNote NoteKind = "undo"
