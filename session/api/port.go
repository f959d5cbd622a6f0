// Package api defines the interface's requests to the program beside running a turn, and their
// values: sessions, models, modes, prompts, and the user's next choice.
//
// The one rule: only functions and plain values; the user is told about a missing port, nothing is
// guessed.
//
// Start reading at Ports. Known limits: none that are known.
package api

import (
	"context"
	"time"

	"adze/session"
	"adze/tool"
)

// Ports are the interface's functions in the program, beside running a turn. Each may be nil: the
// keys and commands that need it then report that it is missing. All may be slow but SetMode,
// SetEffort, CancelCall, Steer, Late and Drop, which are called between two frames.
type Ports struct {
	// Switch means that Next is obeyed: another session or model can be opened.
	Switch bool
	// Sessions lists stored sessions, newest first.
	Sessions func(ctx context.Context) ([]SessionHead, error)
	// Peek returns a summary of a stored session.
	Peek func(ctx context.Context, id string) (SessionPeek, error)
	// Search finds text and actions in stored sessions. note is for the user, such as that not all
	// were read yet.
	Search func(ctx context.Context, text string) (found []SearchResult, note string, err error)
	// Models lists the available models, and the unavailable ones with the reason.
	Models func(ctx context.Context) ([]ModelRow, error)
	// CheckModel returns why a model cannot be used, without asking its provider; may be nil.
	CheckModel func(name string) error
	// Modes lists the permission modes, Mode returns the current one, and SetMode changes it.
	// Review switches staged turns, which end in one review each.
	Modes   []Mode
	Mode    func() string
	Review  func(once bool) error
	SetMode func(name string) error
	// Sandbox returns a word for the status line about the next command's sandbox. It is called at
	// each mode change and after each call.
	Sandbox func() string
	// Efforts lists the reasoning efforts, and SetEffort sets one from the next request on. It
	// returns the current one, or "" to show none.
	Efforts   []Mode
	SetEffort func(name string) string
	// CancelCall aborts one running call, or returns false if it is not running.
	CancelCall func(id tool.CallID) bool
	// Jobs lists background commands and tasks, oldest first. JobOutput returns the end of a job's
	// output, and EndJob ends a job with all its processes.
	Jobs      func() []Job
	JobOutput func(ctx context.Context, id string) (string, error)
	EndJob    func(id string) error
	// Late reports whether the model has not seen news yet, such as a background task's report.
	// Wake sends it without a prompt; it blocks and emits events, as Send does.
	Late func() bool
	Wake func(ctx context.Context) session.Result
	// Branch returns the current git branch for the status line, or "".
	Branch func() string
	// Files lists the workspace, for completion; some, if not nil, gets first parts of a long list.
	Files func(ctx context.Context, some func(Files)) (Files, error)
	// Folder lists a folder that the user types, such as ~/ or ../: its path, and its names,
	// folders with a trailing slash.
	Folder func(ctx context.Context, dir string) (base string, names []string, err error)
	// ProjectPrograms lists programs in the project that would run, and Consent allows one as listed,
	// or revokes that.
	ProjectPrograms func(ctx context.Context) ([]ProjectProgram, error)
	Consent         func(ctx context.Context, item ProjectProgram, allow bool) error
	// Servers lists this session's MCP servers, and Serve acts on one: start, stop, test or login.
	// It may be slow, emits events, and returns a message.
	Servers func(ctx context.Context) ([]Server, error)
	Serve   func(ctx context.Context, name, act string) (string, error)
	// Run runs the user's own command; like Send it blocks and emits events.
	Run func(ctx context.Context, command string) session.Result
	// Compact summarizes the conversation; wish names things to keep. It blocks and emits events,
	// as Run does.
	Compact func(ctx context.Context, wish string) session.Result
	// Plan shows the waiting plan to the user again, as a question of the model. It blocks until
	// the decision, and returns the prompt to send then, or "" if no plan waits.
	Plan func(ctx context.Context) (prompt string, err error)
	// Steer sends the agent a message before its next step, or returns false if its turn is over.
	Steer func(text string) bool
	// Rewind removes the last prompt and all after it, and returns its text.
	Rewind func(ctx context.Context) (string, error)
	// Undo restores files from before turns in this session, or only lists the changes.
	Undo func(ctx context.Context, u Undo) (UndoResult, error)
	// Net returns the differences from a moment by hunk. Revert reverts a hunk as the user's own
	// call, and Stage adds it to git's index. Both block and emit events, as Run does.
	Net    func(ctx context.Context, since Baseline) (Net, error)
	Revert func(ctx context.Context, h NetHunk) session.Result
	Stage  func(ctx context.Context, h NetHunk) session.Result
	// Draft asks the model for a commit message for the staged changes, and Commit commits them as
	// the user's own command.
	Draft  func(ctx context.Context) (message string, err error)
	Commit func(ctx context.Context, message string) session.Result
	// StageAll adds all differences to git's index.
	StageAll func(ctx context.Context, n Net) session.Result
	// MergePlan previews a merge of the session's branch into the main checkout; its error explains
	// why there is none. Merge performs it as the user's own command.
	MergePlan func(ctx context.Context) (Merge, error)
	Merge     func(ctx context.Context) session.Result
	// Overview shows all sessions, while this one continues; it returns when the user comes back.
	// The terminal is free while it runs.
	Overview func() error
	// Staged asks the user about a staged turn's changes: "review", "take" or "drop". It blocks and
	// emits events, as Run does.
	Staged func(ctx context.Context, decision string) session.Result
	// Open opens a file at a line, from 1, in the user's own editor, as Edit does with a text.
	Open func(path string, line int) error
	// Edit opens the user's own editor; the terminal is free while it runs.
	Edit func(text string) (string, error)
	// Drop checks a pasted text: terminals paste a path when a file is dropped on them.
	Drop func(text string) (Dropped, bool)
	// Picture saves the clipboard's image to a file and returns its path.
	Picture func(ctx context.Context) (string, error)
	// Keep stores a choice for later sessions: "interface.theme" or "interface.keys". Kept returns
	// the current values for those and "model".
	Keep         func(name, value string) error
	CurrentValue func(name string) string
	// PromptHistory returns the earlier prompts in this workspace, oldest first; Remember adds one.
	PromptHistory func() []string
	Remember      func(text string)
}

// ProjectProgram is something in the project that would run, such as a tool.
type ProjectProgram struct {
	ID            string
	State         string
	Command       string
	Lines         []string // subject of the consent: command, folder, variables, files, hash
	Hash          string   // of the same
	Allowed       bool
	BlockedReason string // why it cannot be allowed, or ""
}

// Server is an MCP server.
type Server struct {
	Name, Transport, From string // stdio or http; its configuration file
	State, Reason         string // off, starting, ready, failed or held; the reason
	Title, Version        string // its own name; the protocol version
	Tools                 []string
	Resources, Prompts    int
	Bytes                 int    // size of its tool definitions in a request
	Last                  string // its last output beside messages
	Login                 bool   // supports login
}

// Named is a command or skill from the user or the project. A message that begins with its name is
// sent unchanged, and the program expands it.
type Named struct {
	Name string // without the slash
	Args string // argument hint from its file
	Help string
	From string // its file
}

// Note returns its description for a list.
func (n Named) Note() string {
	if n.Help == "" {
		return n.From
	}
	return n.Help + " (" + n.From + ")"
}

// Baseline is the moment to compare files with.
type Baseline string

// Moments.
const (
	SinceSession Baseline = "session" // before the first call that could change files
	SinceTurn    Baseline = "turn"    // the same, for the newest turn with such a call
	SinceBranch  Baseline = "branch"  // where the branch left the main one
)

// Net holds the differences from a moment, by path.
type Net struct {
	Baseline string // the moment, in words
	Files    []NetFile
}

// NetFile is a file that differs.
type NetFile struct {
	Path    string     `json:"path"`
	Diff    string     `json:"-"` // unified; if empty, Note describes the difference
	Note    string     `json:"note,omitempty"`
	New     bool       `json:"new,omitempty"`
	Deleted bool       `json:"gone,omitempty"`
	Mode    uint32     `json:"-"` // permissions of a deleted file; 0 if unknown
	Hunks   []HunkText `json:"hunks,omitempty"`
}

// HunkText is a displayed hunk, and the file's line, from 1, where its change begins.
type HunkText struct {
	Text string `json:"text"` // without secrets
	Line int    `json:"line"`
	Hash string `json:"hash,omitempty"` // identifies it in a request to another process
}

// NetHunk identifies a hunk in a file's diff, counted from 0.
type NetHunk struct {
	File   NetFile
	Number int
}

// Merge is the result of a merge.
type Merge struct {
	Summary string   // one sentence
	Files   []string // changed files
}

// Undo is a request to restore files: by default those changed by the last turn that changed any.
type Undo struct {
	Redo  bool // revert the last undo instead
	Since bool // all since the last message, which may be nothing
	// Message, with Since, is an earlier user message.
	Message string
	// Git includes git's own state, Unknown changes made during a call by an unknown author.
	Git, Unknown bool
	Dry          bool // only list the changes
	// Plan is UndoResult.Plan as shown. If the plan has changed, Undo does nothing and returns an
	// error. Optional.
	Plan string
}

// UndoResult is the actual or planned result.
type UndoResult struct {
	Turns []string // their prompts, newest first; empty if there is nothing to undo
	Paths []string // with the action: "create  a.go"
	Left  []string // unchanged paths, with the reason
	Git   bool     // git's own state changed, too, and was not requested
	Asks  bool     // some are left that Unknown restores
	Doubt []string // those changed during a command by an unknown author
	Plan  string   // identifies the turns and the paths, each with its change
}

// Mode is a permission mode, or an effort.
type Mode struct {
	Name, Means string
}

// Job is a background command or task.
type Job struct {
	ID, Command string
	Running     bool
	Started     time.Time
	Ended       string // how it ended; "" while it runs
}

// Files are the paths for completion in the workspace, folders with a trailing slash. Near are
// recently changed ones, according to git.
type Files struct{ Paths, Recent []string }

// Dropped is a file dropped on the terminal.
type Dropped struct {
	Path   string // as written in a prompt
	Attach string // file to attach, such as an image; "" to use only the path
}

// Prompt is the user's message.
type Prompt struct {
	Text   string
	Attach []string // files
	// Attachments and Texts came from other clients: images and PDFs, and texts.
	Attachments []tool.Attachment
	Texts       string
	Draft       string // as typed, with folded pastes; "" if the same as Text
}

// ModelRow is a model in the list to choose from.
type ModelRow struct {
	Name    string // provider/name
	Context int    // context size in tokens, answer included; 0 if unknown
	// Input and Output are prices in USD for a million tokens; nil if unknown.
	Input, Output *float64
	Vision, Tools bool   // known to have it
	Note          string // such as its size
	Why           string // why it cannot be used now, or ""
}

// SessionHead is a stored session in the list.
type SessionHead struct {
	ID    string
	Title string // its name, else the first prompt's first line
	Tags  []string
	Model string
	Cwd   string
	// Worktree is the session's git work tree, or "" if adze made none.
	Worktree string
	Updated  time.Time
}

// Place is a message or call in a session.
type Place struct {
	Message string
	Call    tool.CallID // "" for the message itself
}

// SearchResult is a search result in a stored session.
type SearchResult struct {
	Session string
	Place
	Title   string // the session's title
	Kind    string // prompt, answer, or a tool's name
	Snippet string // excerpt on one line
	Cwd     string
	Time    time.Time
}

// SessionPeek summarizes a stored session.
type SessionPeek struct {
	Turns, Messages int
	// Cost is the total in USD; nil if one turn's is unknown.
	Cost *float64
	// Asked and Answered are its last exchange.
	Asked, Answered string
	// Changed lists the changed files, each once, in order.
	Changed []string
}

// Screen is the interface's display mode.
type Screen string

// Screens: the whole terminal, or the conversation in its own scrollback.
const (
	Whole  Screen = "whole"
	Inline Screen = "inline"
)

// Next is the user's choice after Run, since the interface cannot change its session or model. The
// zero value means quit.
type Next struct {
	Session string // id to open
	New     bool   // new session in this folder
	Model   string // model to use: provider/name
	Keep    bool   // make the model the default, if it can be used
	Fork    bool   // copy the session
	Place   Place  // place to show in the session; the zero value is the end
	Demo    bool   // start the demo
	// Background is the prompt with which the session continues without a terminal, or "".
	Background string
	Screen     Screen // "" keeps the current one
}
