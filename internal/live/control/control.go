// Package control runs a user's requests to an open session other than prompts and answers: lists
// of choices, making choices, review of changes by hunk, undo, and the user's own commands.
//
// The one rule: a request does the same wherever the session is open. A server's page sends it to
// the server's own sessions and to those of other processes; only Host differs, and only in how
// turns start. Unsupported requests return an error.
//
// Start reading at Host.Do. Package live carries requests between processes.
//
// Known limits: a request that replaces a turn waits for the running one only if Host.Begin does.
package control

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"adze/internal/text/usage"
	"adze/session"
	"adze/session/api"
)

// Errors for callers to test.
var (
	// ErrNotHere means the session's host does not support the request.
	ErrNotHere = errors.New("that cannot be done in this session")
	// ErrBusy means a turn runs.
	ErrBusy = errors.New("a turn runs; wait for its end, or stop it")
	// ErrOpening means the session is being opened or closed.
	ErrOpening = errors.New("the session is being opened or closed; try again")
)

// Names of requests.
const (
	Menu    = "menu"    // possible choices, and beginnings of a prompt: Choices
	Models  = "models"  // selectable models: []api.ModelRow
	Files   = "files"   // paths in the folder that match Text: []string
	Changes = "changes" // changes since Since, by hunk: Difference
	Set     = "set"     // Name (mode, effort or model) to Value
	Undo    = "undo"    // restores files from before the last turn, or with Redo from before the last undo: api.UndoResult
	Rewind  = "rewind"  // reverts the last prompt: Done with its text
	Compact = "compact" // summarizes the conversation; Text says what to keep
	Run     = "run"     // the user's own command, Text
	Revert  = "revert"  // reverts a hunk: File, Hunk and its Hash in the changes since Since
	Stage   = "stage"   // adds such a hunk to git's index
	Unqueue = "unqueue" // removes a waiting prompt, Text
)

// A Request is one request. Do names it and determines the fields used.
type Request struct {
	Action string       `json:"do"`
	Text   string       `json:"text,omitempty"`
	Name   string       `json:"name,omitempty"`
	Value  string       `json:"value,omitempty"`
	Since  api.Baseline `json:"since,omitempty"`
	File   string       `json:"file,omitempty"`
	Hunk   int          `json:"hunk,omitempty"`
	Hash   string       `json:"hash,omitempty"`
	Dry    bool         `json:"dry,omitempty"`
	Redo   bool         `json:"redo,omitempty"`
	// Unknown makes Undo also restore changes during a call by an unknown party.
	Unknown bool `json:"unknown,omitempty"`
	// Plan is the plan shown for Undo (api.UndoResult.Plan): another one is not run.
	Plan string `json:"plan,omitempty"`
}

// Looks reports whether the request changes nothing.
func (r Request) Looks() bool {
	return r.Dry && r.Action == Undo || slices.Contains([]string{Menu, Models, Files, Changes}, r.Action)
}

// String describes the request briefly for the log.
func (r Request) String() string {
	switch r.Action {
	case Set:
		return r.Action + " " + r.Name + " " + r.Value
	case Revert, Stage:
		return r.Action + " " + r.File
	case Run:
		return r.Action + " " + r.Text
	case Undo:
		if r.Redo {
			return "redo"
		}
	}
	return r.Action
}

// Choices are a session's possible choices and prompt beginnings.
type Choices struct {
	Commands []api.Named `json:"commands"`
	Modes    []api.Mode  `json:"modes"`
	Efforts  []api.Mode  `json:"efforts"`
	History  []string    `json:"past"` // the user's earlier prompts in this folder, oldest first
	Undo     bool        `json:"undo"`
	Compact  bool        `json:"compact"`
	Run      bool        `json:"run"`
}

// Done is the result of a request with little to report.
type Done struct {
	Text string     `json:"text,omitempty"`
	ID   session.ID `json:"id,omitempty"`
}

// A Host is the place where a session is open. A nil field means it does not support the action.
type Host struct {
	Ports    *api.Ports
	Commands func() []api.Named
	// Begin runs do in place of a turn. If it cannot wait for a running turn, it returns ErrBusy.
	Begin func(do func(context.Context) session.Result) error
	// RunExclusive runs do while no turn runs, and returns after it; if a turn runs, it returns
	// ErrBusy.
	RunExclusive func(ctx context.Context, do func(context.Context)) error
	// Unqueue removes a waiting prompt, or returns false if there is none.
	Unqueue func(text string) bool
	// Model changes the model. It returns before the session is reopened.
	Model func(name string) error
	// Changed is called after the mode or effort has changed.
	Changed func(name, value string)
	// Rewound is called when earlier reports about the session may be outdated. prompts is set if
	// the last prompt was reverted.
	Rewound func(prompts bool)
}

// Do runs a request. The result can be encoded as JSON.
func (h Host) Do(ctx context.Context, r Request) (any, error) {
	if h.Ports == nil {
		return nil, ErrNotHere
	}
	switch r.Action {
	case Menu:
		return h.menu(), nil
	case Models:
		if h.Ports.Models == nil {
			return nil, ErrNotHere
		}
		return h.Ports.Models(ctx)
	case Files:
		if h.Ports.Files == nil {
			return nil, ErrNotHere
		}
		all, err := h.Ports.Files(ctx, nil)
		if err != nil && len(all.Paths) == 0 {
			return nil, err
		}
		return Match(all, r.Text), nil
	case Changes:
		return h.changes(ctx, r.Since)
	case Set:
		return Done{}, h.set(r.Name, r.Value)
	case Undo:
		return h.undo(ctx, api.Undo{Redo: r.Redo, Unknown: r.Unknown, Dry: r.Dry, Plan: r.Plan})
	case Rewind:
		return h.rewind(ctx)
	case Compact:
		do := h.Ports.Compact
		return Done{}, h.begin(do != nil, func(ctx context.Context) session.Result { return do(ctx, r.Text) })
	case Run:
		do := h.Ports.Run
		return Done{}, h.begin(do != nil && strings.TrimSpace(r.Text) != "", func(ctx context.Context) session.Result { return do(ctx, r.Text) })
	case Revert:
		return Done{}, h.hunk(ctx, h.Ports.Revert, r)
	case Stage:
		return Done{}, h.hunk(ctx, h.Ports.Stage, r)
	case Unqueue:
		if h.Unqueue == nil {
			return nil, ErrNotHere
		}
		if !h.Unqueue(r.Text) {
			return nil, usage.Mistake("", "that message was sent already")
		}
		return Done{}, nil
	}
	return nil, usage.Mistake("it may be one of another version of adze", "nothing is called %q that can be asked of a session", r.Action)
}

// maxPrompts limits the earlier prompts in Choices.
const maxPrompts = 200

func (h Host) menu() Choices {
	p := h.Ports
	c := Choices{Commands: []api.Named{}, Modes: p.Modes, Efforts: p.Efforts, History: []string{}, Undo: p.Undo != nil, Compact: p.Compact != nil && h.Begin != nil, Run: p.Run != nil && h.Begin != nil}
	if h.Commands != nil {
		c.Commands = h.Commands()
	}
	if p.PromptHistory != nil {
		c.History = p.PromptHistory()
		c.History = c.History[max(0, len(c.History)-maxPrompts):]
	}
	return c
}

// A Difference lists the changes since a point in time, with the possible actions on a hunk.
type Difference struct {
	Baseline string        `json:"from"` // description of the point in time
	Revert   bool          `json:"revert"`
	Stage    bool          `json:"stage"`
	Files    []api.NetFile `json:"files"` // with hunk hashes
}

func (h Host) changes(ctx context.Context, since api.Baseline) (out Difference, err error) {
	net, err := h.net(ctx, since)
	if err != nil {
		return out, err
	}
	out = Difference{Baseline: net.Baseline, Revert: h.Ports.Revert != nil && h.Begin != nil, Stage: h.Ports.Stage != nil && h.Begin != nil, Files: []api.NetFile{}}
	for _, f := range net.Files {
		f.Hunks = slices.Clone(f.Hunks)
		for i := range f.Hunks {
			f.Hunks[i].Hash = hash(f.Hunks[i])
		}
		out.Files = append(out.Files, f)
	}
	return out, nil
}

func (h Host) net(ctx context.Context, since api.Baseline) (api.Net, error) {
	if h.Ports.Net == nil {
		return api.Net{}, ErrNotHere
	}
	return h.Ports.Net(ctx, cmp.Or(since, api.SinceSession))
}

func (h Host) set(name, value string) error {
	switch {
	case name == "mode" && h.Ports.SetMode != nil:
		if err := h.Ports.SetMode(value); err != nil {
			return err
		}
	case name == "effort" && h.Ports.SetEffort != nil:
		if all := h.Ports.Efforts; len(all) > 0 && !slices.ContainsFunc(all, func(m api.Mode) bool { return m.Name == value }) {
			return usage.Mistake("", "there is no effort %q", value)
		}
		value = h.Ports.SetEffort(value)
	case name == "model" && h.Model != nil:
		if check := h.Ports.CheckModel; check != nil {
			if err := check(value); err != nil {
				return err
			}
		}
		return h.Model(value)
	default:
		return ErrNotHere
	}
	if h.Changed != nil {
		h.Changed(name, value)
	}
	return nil
}

// undo restores the files from before the last turn that changed some, or returns the plan.
func (h Host) undo(ctx context.Context, wish api.Undo) (came api.UndoResult, err error) {
	undo := h.Ports.Undo
	switch {
	case undo == nil:
		return came, ErrNotHere
	case wish.Dry:
		return undo(ctx, wish)
	case h.RunExclusive == nil:
		return came, ErrNotHere
	}
	if busy := h.RunExclusive(ctx, func(ctx context.Context) { came, err = undo(ctx, wish) }); busy != nil {
		return came, busy
	}
	if h.Rewound != nil {
		h.Rewound(false)
	}
	return came, err
}

// rewind reverts the last prompt with its results.
func (h Host) rewind(ctx context.Context) (out Done, err error) {
	rewind := h.Ports.Rewind
	if rewind == nil || h.RunExclusive == nil {
		return out, ErrNotHere
	}
	if busy := h.RunExclusive(ctx, func(ctx context.Context) { out.Text, err = rewind(ctx) }); busy != nil {
		return out, busy
	}
	if h.Rewound != nil && err == nil {
		h.Rewound(true)
	}
	return out, err
}

func (h Host) begin(can bool, do func(context.Context) session.Result) error {
	if !can || h.Begin == nil {
		return ErrNotHere
	}
	return h.Begin(do)
}

// hunk acts on a change, only if it is the one shown.
func (h Host) hunk(ctx context.Context, do func(context.Context, api.NetHunk) session.Result, r Request) error {
	if do == nil {
		return ErrNotHere
	}
	net, err := h.net(ctx, r.Since)
	if err != nil {
		return err
	}
	for _, f := range net.Files {
		if f.Path == r.File && r.Hunk >= 0 && r.Hunk < len(f.Hunks) && hash(f.Hunks[r.Hunk]) == r.Hash {
			return h.begin(true, func(ctx context.Context) session.Result { return do(ctx, api.NetHunk{File: f, Number: r.Hunk}) })
		}
	}
	return usage.Mistake("look at the changes once more", "the file changed meanwhile")
}

// hash identifies a hunk's text.
func hash(h api.HunkText) string {
	sum := sha256.Sum256([]byte(h.Text))
	return hex.EncodeToString(sum[:8])
}
