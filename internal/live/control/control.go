// Package control does what the user wants of a session that is open, beside prompts and answers:
// lists of choices, the choices themselves, review of changes by hunk, undo, and a command of the
// user's own.
//
// The one rule: a request does the same wherever the session is open. The page of a server asks it
// of a session of its own and of one of another process; only Host differs, and only in how turns
// are begun there. A place that cannot do something says so with an error.
//
// Start reading at Host.Do. Package live carries requests between processes.
//
// Known limits: something that is asked in place of a turn waits for the running one only where
// Host.Begin lets it.
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

// Errors that callers decide by.
var (
	// ErrNotHere means that the place where the session is open does not do that.
	ErrNotHere = errors.New("that cannot be done in this session")
	// ErrBusy means that a turn runs.
	ErrBusy = errors.New("a turn runs; wait for its end, or stop it")
	// ErrOpening means that the session is only being opened, or closed.
	ErrOpening = errors.New("the session is being opened or closed; try again")
)

// These name what a client can request.
const (
	Menu    = "menu"    // what can be chosen, and what a prompt may begin with: Choices
	Models  = "models"  // those that can be chosen: []api.ModelRow
	Files   = "files"   // paths of the folder that hold Text: []string
	Changes = "changes" // what differs since Since, hunk by hunk: Difference
	Set     = "set"     // Name (mode, effort or model) to Value
	Undo    = "undo"    // files as before the last turn, or as before the last undo with Redo: api.Undone
	Rewind  = "rewind"  // takes the last prompt back: Done with its text
	Compact = "compact" // sums the conversation up; Text says what to keep
	Run     = "run"     // the user's own command, Text
	Revert  = "revert"  // takes a hunk back: File, Hunk and its Hash in the changes since Since
	Stage   = "stage"   // adds such a hunk to git's index
	Unqueue = "unqueue" // takes back a prompt that waits, Text
)

// Request is what is asked; Do says what, and which of the other fields count.
type Request struct {
	Do    string    `json:"do"`
	Text  string    `json:"text,omitempty"`
	Name  string    `json:"name,omitempty"`
	Value string    `json:"value,omitempty"`
	Since api.Since `json:"since,omitempty"`
	File  string    `json:"file,omitempty"`
	Hunk  int       `json:"hunk,omitempty"`
	Hash  string    `json:"hash,omitempty"`
	Dry   bool      `json:"dry,omitempty"`
	Redo  bool      `json:"redo,omitempty"`
	// Unknown, with Undo, also puts back what changed while a call ran, without anybody to see who
	// changed it.
	Unknown bool `json:"unknown,omitempty"`
	// Plan, with Undo, is what was shown of it (api.Undone.Plan): another one is not done.
	Plan string `json:"plan,omitempty"`
}

// Looks reports a request that changes nothing.
func (r Request) Looks() bool {
	return r.Dry && r.Do == Undo || slices.Contains([]string{Menu, Models, Files, Changes}, r.Do)
}

// String is the request in a few words, for the record.
func (r Request) String() string {
	switch r.Do {
	case Set:
		return r.Do + " " + r.Name + " " + r.Value
	case Revert, Stage:
		return r.Do + " " + r.File
	case Run:
		return r.Do + " " + r.Text
	case Undo:
		if r.Redo {
			return "redo"
		}
	}
	return r.Do
}

// Choices is what can be chosen in a session, and what a prompt may begin with.
type Choices struct {
	Commands []api.Named `json:"commands"`
	Modes    []api.Mode  `json:"modes"`
	Efforts  []api.Mode  `json:"efforts"`
	Past     []string    `json:"past"` // what the user wrote in this folder before, oldest first
	Undo     bool        `json:"undo"`
	Compact  bool        `json:"compact"`
	Run      bool        `json:"run"`
}

// Done is the result where there is little to say.
type Done struct {
	Text string     `json:"text,omitempty"`
	ID   session.ID `json:"id,omitempty"`
}

// Host is the place where a session is open. A field that is nil means that nothing of the kind is
// done there.
type Host struct {
	Ports    *api.Ports
	Commands func() []api.Named
	// Begin has something done in place of a turn. Where it cannot wait for its turn the error is
	// ErrBusy while one runs.
	Begin func(do func(context.Context) session.Result) error
	// Alone does something while no turn runs, and returns when it is done; else the error is ErrBusy.
	Alone func(ctx context.Context, do func(context.Context)) error
	// Unqueue takes back a prompt that waits for its turn; if false, none such waits.
	Unqueue func(text string) bool
	// Model goes on with another model. It returns before the session is opened anew.
	Model func(name string) error
	// Changed is called when a mode or an effort was put in force.
	Changed func(name, value string)
	// Rewound is called when what was told of the session may hold no more; prompts says that the last
	// prompt was taken back.
	Rewound func(prompts bool)
}

// Do does what is asked. Its answer can be written as JSON.
func (h Host) Do(ctx context.Context, r Request) (any, error) {
	if h.Ports == nil {
		return nil, ErrNotHere
	}
	switch r.Do {
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
	return nil, usage.Mistake("it may be one of another version of adze", "nothing is called %q that can be asked of a session", r.Do)
}

// maxPrompts is how many prompts of the past are told.
const maxPrompts = 200

func (h Host) menu() Choices {
	p := h.Ports
	c := Choices{Commands: []api.Named{}, Modes: p.Modes, Efforts: p.Efforts, Past: []string{}, Undo: p.Undo != nil, Compact: p.Compact != nil && h.Begin != nil, Run: p.Run != nil && h.Begin != nil}
	if h.Commands != nil {
		c.Commands = h.Commands()
	}
	if p.Past != nil {
		c.Past = p.Past()
		c.Past = c.Past[max(0, len(c.Past)-maxPrompts):]
	}
	return c
}

// Difference is what differs now from a moment, and what can be done with a hunk of it.
type Difference struct {
	From   string        `json:"from"` // the moment, in words
	Revert bool          `json:"revert"`
	Stage  bool          `json:"stage"`
	Files  []api.NetFile `json:"files"` // their hunks have hashes
}

func (h Host) changes(ctx context.Context, since api.Since) (out Difference, err error) {
	net, err := h.net(ctx, since)
	if err != nil {
		return out, err
	}
	out = Difference{From: net.From, Revert: h.Ports.Revert != nil && h.Begin != nil, Stage: h.Ports.Stage != nil && h.Begin != nil, Files: []api.NetFile{}}
	for _, f := range net.Files {
		f.Hunks = slices.Clone(f.Hunks)
		for i := range f.Hunks {
			f.Hunks[i].Hash = hash(f.Hunks[i])
		}
		out.Files = append(out.Files, f)
	}
	return out, nil
}

func (h Host) net(ctx context.Context, since api.Since) (api.Net, error) {
	if h.Ports.Net == nil {
		return api.Net{}, ErrNotHere
	}
	return h.Ports.Net(ctx, cmp.Or(since, api.SinceSession))
}

// set chooses the mode, the effort or the model.
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

// undo puts files back as they were before the last turn that changed some, or says what it would.
func (h Host) undo(ctx context.Context, wish api.Undo) (came api.Undone, err error) {
	undo := h.Ports.Undo
	switch {
	case undo == nil:
		return came, ErrNotHere
	case wish.Dry:
		return undo(ctx, wish)
	case h.Alone == nil:
		return came, ErrNotHere
	}
	if busy := h.Alone(ctx, func(ctx context.Context) { came, err = undo(ctx, wish) }); busy != nil {
		return came, busy
	}
	if h.Rewound != nil {
		h.Rewound(false)
	}
	return came, err
}

// rewind takes back the last prompt with all that came of it.
func (h Host) rewind(ctx context.Context) (out Done, err error) {
	rewind := h.Ports.Rewind
	if rewind == nil || h.Alone == nil {
		return out, ErrNotHere
	}
	if busy := h.Alone(ctx, func(ctx context.Context) { out.Text, err = rewind(ctx) }); busy != nil {
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

// hunk does something with a change: the one that was shown, and no other.
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

// hash names the text of a hunk.
func hash(h api.HunkText) string {
	sum := sha256.Sum256([]byte(h.Text))
	return hex.EncodeToString(sum[:8])
}
