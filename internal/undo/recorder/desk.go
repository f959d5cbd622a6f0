package recorder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"adze/internal/files/git"
	"adze/internal/undo"
	"adze/session"
)

// Errors for callers to test.
var (
	ErrNothing = errors.New("there is nothing to undo: no turn of this session has changed a file, or all is undone")
	// ErrUncovered is ErrNothing if some paths are not covered.
	ErrUncovered = &uncovered{"there is nothing to undo that is covered; no turn of this session has changed another file, or all is undone"}

	ErrNoRedo = errors.New("there is nothing to redo")
	ErrNoTurn = errors.New("there is no such turn")
	ErrInUse  = undo.ErrInUse // of Forget
)

type uncovered struct{ text string }

func (u *uncovered) Error() string { return u.text }

func (u *uncovered) Unwrap() error { return ErrNothing }

// A Manager undoes and redoes one session's turns. No calls of the session may run at the same
// time.
type Manager struct {
	Files *undo.Workspace
	Root  string // of Files
	Store interface {
		Loader
		Append(ctx context.Context, id session.ID, entries ...session.Entry) error
	}
	Session       session.ID
	Running       bool // jobs of earlier calls may still run: this process started them
	Now           func() time.Time
	Named         func(context.Context) ([]undo.Named, error) // the folder's states sessions refer to
	Git           git.Git                                     // reports a repository's objects
	Look          bool                                        // read-only: interrupted undos stay interrupted
	OtherSessions Sessions                                    // sessions that may have worked in the folder at the same time; may be nil
	ChangeLog     *ChangeLog                                  // of the current run; nil if there is none
}

// A Wish selects what to undo. The zero value means the last turn that changed files.
type UndoOptions struct {
	// ToTurn undoes all turns after this number. Numbers below 0 mean turn 0.
	ToTurn *int
	// SinceMessage undoes the turn started by this message and all later ones.
	SinceMessage string
	// Redo reverts the last undo.
	Redo bool
	// Git includes git's own state. A redo includes it if the undo did.
	Git bool
	// Unknown includes changes by an unknown party: during a call, or after adze was killed during
	// one.
	Unknown bool
}

// A Proposal lists the changes of an undo to show before running it. It becomes stale when calls
// run.
type Proposal struct {
	manager Manager
	plan    undo.Plan
	options UndoOptions
	redo    string // ID of the undo to revert
	Turns   []Turn // newest first
	// Steps are the paths to restore, Refused those to leave alone.
	Steps   []Step
	Refused []session.Refused
	Git     int // changes to git's own state, which was not requested
}

// A Step is a path to restore.
type Step struct {
	Path   string `json:"path"`
	Action string `json:"does"` // create, remove, restore or mode
}

// Plan returns the proposal for a wish.
func (d Manager) Plan(ctx context.Context, w UndoOptions) (*Proposal, error) {
	if !d.Look {
		if _, err := d.Finish(ctx); err != nil {
			return nil, err
		}
	}
	past, err := d.History(ctx)
	if err != nil {
		return nil, err
	}
	p := &Proposal{manager: d, options: w}
	var windows []undo.Window
	var unsure []undo.Window
	if w.Redo {
		windows, err = p.again(past)
	} else {
		windows, unsure, err = p.back(ctx, past)
	}
	if err != nil {
		return nil, err
	}
	var doubts map[string]string
	if !w.Redo {
		if doubts, err = p.doubts(ctx); err != nil {
			return nil, err
		}
	}
	same := func(path string, a, b []byte) bool { // git status rewrites an index when only files' times differ
		return filepath.Base(path) == "index" && d.Git.SameIndex(ctx, a, b)
	}
	if p.plan, err = d.Files.Plan(ctx, p.options.Git, doubts, same, windows...); err != nil {
		return nil, err
	}
	if err := d.keepGitSound(ctx, &p.plan); err != nil {
		return nil, err
	}
	for _, s := range p.plan.Steps {
		p.Steps = append(p.Steps, Step{s.Path, does(s)})
	}
	for _, r := range p.plan.Refused {
		p.Refused = append(p.Refused, session.Refused{Path: r.Path, Reason: r.Reason})
	}
	if p.options.Git {
		p.Refused = append(p.Refused, d.uncoveredGit()...)
	}
	p.Git = p.plan.Git
	return p, p.unknown(ctx, unsure)
}

// back selects the turns of an undo and their windows.
func (p *Proposal) back(ctx context.Context, past *History) (windows, unsure []undo.Window, err error) {
	if p.options.ToTurn != nil && (*p.options.ToTurn < 0 || *p.options.ToTurn > len(past.Turns)) {
		return nil, nil, fmt.Errorf("%w: %d; the turns are 1 to %d, and 0 is before the first", ErrNoTurn, *p.options.ToTurn, len(past.Turns))
	}
	p.Turns = p.options.turns(past.Turns)
	if len(p.Turns) == 0 {
		return nil, nil, p.manager.nothing()
	}
	var now undo.Mark
	if past.open(p.manager.Root) { // else not needed, and slow to take in a large folder
		if now, err = p.manager.present(ctx); err != nil {
			return nil, nil, err
		}
	}
	if err := p.manager.end(ctx, past); err != nil {
		return nil, nil, err
	}
	chosen := slices.DeleteFunc(slices.Clone(past.Turns), func(t Turn) bool {
		return !slices.ContainsFunc(p.Turns, func(o Turn) bool { return o.Number == t.Number })
	})
	known, unknown, err := stretches(chosen, p.manager.Root, now, p.manager.Running)
	if err != nil {
		return nil, nil, err
	}
	single, err := named(chosen, p.manager.Root, false)
	if err != nil {
		return nil, nil, err
	}
	doubtful, err := named(chosen, p.manager.Root, true)
	if p.options.Unknown {
		return slices.Concat(joined(append(known, unknown...)), single, doubtful), nil, err
	}
	return append(joined(known), single...), append(joined(unknown), doubtful...), err
}

// nothing returns ErrNothing with the paths undo does not cover, which a turn may have changed.
func (d Manager) nothing() error {
	left := d.Files.LeftOut()
	if len(left) == 0 {
		return ErrNothing
	}
	return fmt.Errorf("%w; %s", ErrUncovered, LeftOut(left))
}

// turns returns the turns a wish selects, newest first.
func (w UndoOptions) turns(all []Turn) (out []Turn) {
	first := len(all)
	switch {
	case w.ToTurn != nil:
		first = *w.ToTurn
	case w.SinceMessage != "":
		if at := slices.IndexFunc(all, func(t Turn) bool { return t.Message == w.SinceMessage }); at >= 0 {
			first = at
		}
	default:
		first = 0
	}
	for _, t := range slices.Backward(all[first:]) {
		if t.Changed() && (!t.Undone || w.Unknown && t.Skipped || w.Git && t.LeftGit) {
			out = append(out, t)
		}
	}
	if w.ToTurn != nil || w.SinceMessage != "" || len(out) == 0 {
		return out
	}
	// Skip a turn that changed only git's own state, such as a user's commit, if that is not
	// undone.
	if at := slices.IndexFunc(out, Turn.changedFiles); at >= 0 && !w.Git {
		return out[at : at+1]
	}
	return out[:1]
}

// again selects the undo to revert.
func (p *Proposal) again(past *History) ([]undo.Window, error) {
	if len(past.Undos) == 0 || past.Undos[len(past.Undos)-1].After == nil { // an older adze stored some without a result
		return nil, ErrNoRedo
	}
	last := past.Undos[len(past.Undos)-1]
	p.redo, p.options.Git = last.ID, p.options.Git || last.Git
	for _, t := range slices.Backward(past.Turns) {
		if slices.Contains(last.Turns, t.Message) {
			p.Turns = append(p.Turns, t)
		}
	}
	return one(last.Window)
}

// one converts a window of the log.
func one(w session.Window) ([]undo.Window, error) {
	before, err := undo.ParseMark(w.Before.Mark)
	if err != nil {
		return nil, err
	}
	after, err := undo.ParseMark(w.After.Mark)
	return []undo.Window{{Before: before, After: after}}, err
}

// unknown refuses changes made while no adze was running.
func (p *Proposal) unknown(ctx context.Context, unsure []undo.Window) error {
	for _, w := range unsure {
		changes, err := p.manager.Files.Diff(ctx, w.Before, w.After)
		if err != nil {
			return err
		}
		for _, c := range changes {
			known := slices.ContainsFunc(p.Refused, func(r session.Refused) bool { return r.Path == c.Path }) ||
				slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Path == c.Path })
			if c.Group == undo.GroupFiles && !known {
				p.Refused = append(p.Refused, session.Refused{Path: c.Path, Reason: RefusedUnknown})
			}
		}
	}
	slices.SortFunc(p.Refused, func(a, b session.Refused) int { return strings.Compare(a.Path, b.Path) })
	return nil
}

// RefusedUnknown is the reason for leaving a path alone that changed during a call in which adze
// ended.
const RefusedUnknown = "adze ended while this changed, so nobody knows by whom"

// UncertainPaths returns the paths left alone only because it is unknown who changed them during a
// call.
func (p *Proposal) UncertainPaths() (paths []string) {
	for _, r := range p.Refused {
		if inDoubt(r) {
			paths = append(paths, r.Path)
		}
	}
	return paths
}

// Asks reports whether some paths would be restored if the user confirms that the call changed
// them.
func (p *Proposal) Asks() bool {
	return len(p.UncertainPaths()) > 0 || slices.ContainsFunc(p.Refused, func(r session.Refused) bool { return r.Reason == RefusedUnknown })
}

func does(s undo.Step) string {
	switch {
	case s.From.Kind == undo.Absent:
		return "create"
	case s.To.Kind == undo.Absent:
		return "remove"
	case s.From.Kind == s.To.Kind && s.From.Hash == s.To.Hash && s.From.Target == s.To.Target:
		return "mode"
	case s.From.Kind == undo.Folder && s.To.Kind == undo.Folder:
		return "mode"
	}
	return "restore"
}

// An UndoResult is a proposal's outcome.
type UndoResult struct {
	Paths   []string
	Refused []session.Refused
	Entry   session.UndoData // as logged
}

// Apply carries out a proposal. It logs the beginning before touching a file, and the end. Finish
// completes the log after a crash.
func (p *Proposal) Apply(ctx context.Context) (UndoResult, error) {
	d := p.manager
	u := session.UndoData{ID: p.plan.ID, State: session.UndoBegun, Redo: p.redo, Git: p.options.Git}
	u.Before = session.State{Root: d.Root, Mark: p.plan.Present.String(), Time: d.Now().UnixNano()}
	for _, t := range p.Turns {
		u.Turns = append(u.Turns, t.Message)
	}
	if len(p.plan.Steps) == 0 {
		return p.doNothing(ctx, u)
	}
	for _, x := range p.Refused { // not in the journal
		if (x.Reason == RefusedUnknown || notCovered(x.Reason)) && len(u.Refused) < session.MaxFileChanges {
			u.Refused = append(u.Refused, x)
		}
	}
	if err := d.log(ctx, u); err != nil {
		return UndoResult{}, err
	}
	r, failed := d.Files.Apply(ctx, p.plan)
	end, err := d.conclude(context.WithoutCancel(ctx), u)
	switch {
	case failed != nil && end.State == session.UndoBegun:
		return UndoResult{}, fmt.Errorf("it stopped half-way, and the next adze undo or redo finishes it: %w", errors.Join(failed, err))
	case failed != nil || err != nil:
		return UndoResult{}, errors.Join(failed, err)
	}
	return UndoResult{Paths: r.Done, Refused: end.Refused, Entry: end}, nil
}

// doNothing is Apply without paths to restore: all are unchanged or refused.
func (p *Proposal) doNothing(ctx context.Context, u session.UndoData) (UndoResult, error) {
	u.State = session.UndoDone
	if len(p.Refused) > 0 || p.Git > 0 {
		u.State = session.UndoRefused
	}
	after := u.Before
	u.After, u.Refused = &after, p.Refused[:min(len(p.Refused), session.MaxFileChanges)]
	return UndoResult{Refused: p.Refused, Entry: u}, p.manager.log(ctx, u)
}

func (d Manager) log(ctx context.Context, u session.UndoData) error {
	data, err := json.Marshal(u)
	if err != nil {
		return err
	}
	return d.Store.Append(ctx, d.Session, session.Entry{Type: session.UndoEntry, Time: d.Now(), Data: data})
}
