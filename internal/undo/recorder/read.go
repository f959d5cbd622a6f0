package recorder

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"adze/session"
	"adze/tool"
)

// A Turn is a user's request or own command with its changes to files.
type Turn struct {
	Number  int    // from 1
	Message string // ID of the message that started it
	Asked   string // its first line
	Time    time.Time
	Windows []session.Window
	Undone  bool // and not redone
	// Pending is set if an undo or redo of the turn has begun without an end in the log;
	// Manager.Finish resolves it.
	Pending bool
	// Skipped is set if its undo left paths alone because it is unknown who changed them, LeftGit if
	// it left git's own state. Another undo may restore them.
	Skipped, LeftGit bool
}

// Changed reports whether the turn is known to have changed anything.
func (t Turn) Changed() bool {
	return slices.ContainsFunc(t.Windows, func(w session.Window) bool { return w.After == nil || len(w.Changes) > 0 })
}

// Paths returns the changed paths, each once, without git's own state.
func (t Turn) Paths() (out []string) {
	for _, w := range t.Windows {
		for _, c := range w.Changes {
			if !c.Git && !slices.Contains(out, c.Path) {
				out = append(out, c.Path)
			}
		}
	}
	return out
}

// History is a session's history of changes to files.
type History struct {
	ID    session.ID
	Turns []Turn
	Undos []session.UndoData // can be redone; oldest first
}

// A Loader loads a session's log.
type Loader interface {
	Load(ctx context.Context, id session.ID) ([]session.Entry, error)
}

// Read reads each turn's changes from a session's log and those of its subagents.
func Read(ctx context.Context, from Loader, id session.ID) (*History, error) {
	entries, err := from.Load(ctx, id)
	if err != nil {
		return nil, err
	}
	r := &reader{history: &History{ID: id}, current: -1, turns: map[string]int{}, open: map[callKey]session.State{}, staff: map[session.ID][]duty{}}
	for _, e := range entries {
		if err := r.entry(e); err != nil {
			return nil, fmt.Errorf("session %s: an entry (%s) is damaged: %w", id, e.Type, err)
		}
	}
	r.unfinished()
	r.history.settle(r.undos)
	return r.history, r.subagents(ctx, from, map[session.ID]bool{id: true})
}

type callKey struct {
	message string
	call    tool.CallID
}

// duty is the turn a subagent worked for since a time.
type duty struct {
	turn int
	from int64
}

// reader processes one log.
type reader struct {
	history *History
	current int            // the running turn, or -1
	turns   map[string]int // by message
	open    map[callKey]session.State
	before  []session.Window // of hooks before a prompt
	staff   map[session.ID][]duty
	undos   []session.UndoData
}

func (r *reader) entry(e session.Entry) error {
	switch e.Type {
	case session.MessageEntry:
		return decoded(e, func(m session.Message) { r.message(m, e.Time) })
	case session.IntentEntry:
		return decoded(e, func(i session.Intended) { r.intent(i, e.Time) })
	case session.OutcomeEntry:
		return decoded(e, r.outcome)
	case session.ChangedEntry:
		return decoded(e, r.changed)
	case session.SubagentEntry:
		return decoded(e, func(a session.Subagent) {
			r.staff[a.Session] = append(r.staff[a.Session], duty{r.turn(a.Message, e.Time), e.Time.UnixNano()})
		})
	case session.UndoEntry:
		return decoded(e, r.undone)
	case session.EndEntry:
		r.current = -1
	}
	return nil
}

func decoded[T any](e session.Entry, take func(T)) error {
	var v T
	err := json.Unmarshal(e.Data, &v)
	if err == nil {
		take(v)
	}
	return err
}

// message starts a turn with a user's message. A message during a turn belongs to that turn.
func (r *reader) message(m session.Message, at time.Time) {
	_, known := r.turns[m.ID]
	if m.Role != session.User || m.Note || m.Summary || m.Meanwhile {
		if !known {
			r.turns[m.ID] = r.current
		}
		return
	}
	t := &r.history.Turns[r.turn(m.ID, at)]
	t.Asked, _, _ = strings.Cut(strings.TrimSpace(m.Text()), "\n")
	if _, command, ran := strings.Cut(m.Text(), "\n$ "); ran && m.OwnCall != "" {
		t.Asked, _, _ = strings.Cut("!"+command, "\n")
	}
}

// turn returns a message's turn. A call may precede its message.
func (r *reader) turn(message string, at time.Time) int {
	if n, known := r.turns[message]; known && n >= 0 {
		return n
	}
	r.current = len(r.history.Turns)
	r.history.Turns = append(r.history.Turns, Turn{Number: r.current + 1, Message: message, Time: at, Windows: r.before})
	r.turns[message], r.before = r.current, nil
	return r.current
}

func (r *reader) intent(i session.Intended, at time.Time) {
	n := r.turn(i.Message, at)
	key := callKey{i.Message, i.Call}
	if i.Undo != nil { // the later of two covers more paths
		r.open[key] = *i.Undo
	}
	if t := &r.history.Turns[n]; t.Time.IsZero() {
		t.Time = at
	}
}

func (r *reader) outcome(o session.Ended) {
	key := callKey{o.Record.Message, o.Call}
	switch {
	case o.Undo == nil:
		delete(r.open, key)
	case o.Undo.After == nil && o.Undo.Author == "":
		return // a job of it still runs
	default:
		delete(r.open, key)
		r.add(key.message, *o.Undo)
	}
}

func (r *reader) changed(w session.Window) {
	if w.Hook != "" && r.current < 0 {
		r.before = append(r.before, w)
		return
	}
	if w.Hook != "" {
		t := &r.history.Turns[r.current]
		t.Windows = append(t.Windows, w)
		return
	}
	delete(r.open, callKey{w.Message, w.Call})
	r.add(w.Message, w)
}

func (r *reader) add(message string, w session.Window) {
	t := &r.history.Turns[r.turn(message, time.Time{})]
	t.Windows = append(t.Windows, w)
}

func (r *reader) unfinished() {
	for key, before := range r.open {
		r.add(key.message, session.Window{Before: before, Message: key.message, Call: key.call})
	}
}

// undone adds an undo. Its last entry has its end.
func (r *reader) undone(u session.UndoData) {
	r.undos = append(slices.DeleteFunc(r.undos, func(o session.UndoData) bool { return o.ID == u.ID }), u)
}

// settle sets which turns are undone now. An undo that has only begun does not count: its progress
// is in the journal.
func (p *History) settle(undos []session.UndoData) {
	for _, u := range undos {
		switch u.Stage() {
		case session.UndoBegun:
			p.mark(u.Turns, func(t *Turn) { t.Pending = true })
		case session.UndoDone:
			if u.Redo == "" {
				p.Undos = append(p.Undos, u)
			} else {
				p.Undos = slices.DeleteFunc(p.Undos, func(o session.UndoData) bool { return o.ID == u.Redo })
			}
		}
	}
	for _, u := range p.Undos { // a second undo of a turn restored the paths left by the first
		left := slices.ContainsFunc(u.Refused, func(r session.Refused) bool {
			return r.Reason == RefusedUnknown || inDoubt(r)
		})
		p.mark(u.Turns, func(t *Turn) {
			t.LeftGit = !u.Git && (t.LeftGit || !t.Undone) && t.changedGit()
			t.Undone, t.Skipped = true, left
		})
	}
}

func (t Turn) changedGit() bool {
	return slices.ContainsFunc(t.Windows, func(w session.Window) bool {
		return slices.ContainsFunc(w.Changes, func(c session.FileChange) bool { return c.Git })
	})
}

// changedFiles reports whether the turn is known to have changed anything other than git's own
// state.
func (t Turn) changedFiles() bool {
	return slices.ContainsFunc(t.Windows, func(w session.Window) bool {
		return w.After == nil || w.More > 0 || slices.ContainsFunc(w.Changes, func(c session.FileChange) bool { return !c.Git })
	})
}

func (p *History) mark(messages []string, set func(*Turn)) {
	for i := range p.Turns {
		if slices.Contains(messages, p.Turns[i].Message) {
			set(&p.Turns[i])
		}
	}
}

// subagents adds the changes of the turns' subagents. It skips missing or unreadable logs.
func (r *reader) subagents(ctx context.Context, from Loader, seen map[session.ID]bool) error {
	for id, duties := range r.staff {
		if seen[id] {
			continue
		}
		seen[id] = true
		past, err := Read(ctx, from, id)
		if errors.Is(err, session.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		for _, t := range past.Turns {
			for _, w := range t.Windows {
				n := duties[0].turn
				for _, d := range duties {
					if d.from <= w.Before.Time {
						n = d.turn
					}
				}
				to := &r.history.Turns[n]
				to.Windows = append(to.Windows, w)
			}
		}
	}
	for _, t := range r.history.Turns {
		slices.SortStableFunc(t.Windows, func(a, b session.Window) int { return cmp.Compare(a.Before.Time, b.Before.Time) })
	}
	return nil
}

// Marks returns all states a session's log refers to. They must be kept.
func Marks(entries []session.Entry) (out []session.State) {
	add := func(w session.Window) {
		out = append(out, w.Before)
		if w.After != nil {
			out = append(out, *w.After)
		}
	}
	for _, e := range entries {
		switch e.Type { // a damaged entry refers to none
		case session.IntentEntry:
			_ = decoded(e, func(i session.Intended) {
				if i.Undo != nil {
					out = append(out, *i.Undo)
				}
			})
		case session.OutcomeEntry:
			_ = decoded(e, func(o session.Ended) {
				if o.Undo != nil {
					add(*o.Undo)
				}
			})
		case session.ChangedEntry:
			_ = decoded(e, add)
		case session.UndoEntry:
			_ = decoded(e, func(u session.UndoData) { add(u.Window) })
		}
	}
	slices.SortStableFunc(out, func(a, b session.State) int { return cmp.Compare(a.Time, b.Time) })
	return slices.CompactFunc(out, func(a, b session.State) bool { return a.Mark == b.Mark })
}
