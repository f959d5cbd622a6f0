// Package api is what the interface asks of the program beside running a turn, and what goes
// through those doors: sessions, models, modes, prompts, and how the user wants to go on.
//
// The one rule: only functions and plain values; a port that is missing is said to the user, not
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

// Ports are what the interface can ask of the program beside running a turn. Each may be nil: the
// keys and commands that need it then say that it is not there. All may be slow but SetMode,
// SetEffort, CancelCall, Steer, Late and Drop, which are called between two frames.
type Ports struct {
	// Switch says that Next is obeyed: another session or model can be opened.
	Switch bool
	// Sessions lists stored sessions, newest first.
	Sessions func(ctx context.Context) ([]SessionHead, error)
	// Peek looks into a stored session.
	Peek func(ctx context.Context, id string) (SessionPeek, error)
	// Search finds what was said and done in stored sessions; note tells what is to be known of
	// that, such as that not all was read yet.
	Search func(ctx context.Context, text string) (found []Found, note string, err error)
	// Models lists the models that can be chosen, and those that cannot be used now with the
	// reason.
	Models func(ctx context.Context) ([]ModelRow, error)
	// CheckModel says why a model of this name cannot be used, as far as that is known without asking
	// its provider; if nil, nothing is checked.
	CheckModel func(name string) error
	// Modes are the permission modes, Mode is the one in force, and SetMode puts one in force. Review
	// stages the changes of later turns for one review each, or not.
	Modes   []Mode
	Mode    func() string
	Review  func(once bool) error
	SetMode func(name string) error
	// Sandbox is what the next command runs in, in a word for the status line; asked at each change
	// of the mode and after each call.
	Sandbox func() string
	// Efforts are how hard the model can be asked to think, and SetEffort asks it, from its next
	// request on; it returns what is in force then, if empty, nothing is said about it.
	Efforts   []Mode
	SetEffort func(name string) string
	// CancelCall aborts one running call; if false, it is not running.
	CancelCall func(id tool.CallID) bool
	// Jobs are the commands and tasks that were started to go on in the background, oldest first;
	// JobOutput is the end of what one wrote, and EndJob ends one with all that it started.
	Jobs      func() []Job
	JobOutput func(ctx context.Context, id string) (string, error)
	EndJob    func(id string) error
	// Late reports that the model was not told yet what came by itself, such as the report of a
	// task in the background, and Wake has it told without a prompt of the user; it blocks and
	// shows itself by events, as Send does.
	Late func() bool
	Wake func(ctx context.Context) session.Result
	// Branch is the git branch that is checked out, for the status line; if empty, there is none.
	Branch func() string
	// Files lists the workspace, for completion; some, if not nil, gets first parts of a long list.
	Files func(ctx context.Context, some func(Files)) (Files, error)
	// Folder lists one that the user writes out, such as ~/ or ../: what it is, and the names in
	// it, those of folders with a slash behind.
	Folder func(ctx context.Context, dir string) (base string, names []string, err error)
	// Carried lists what the project would run, and Consent allows one of them as it was listed, or
	// takes that back.
	Carried func(ctx context.Context) ([]Carried, error)
	Consent func(ctx context.Context, item Carried, allow bool) error
	// Servers are the MCP servers of this session, and Serve does something with one: start, stop,
	// test or login. It may take its time, shows what goes on by events, and returns what came of
	// it.
	Servers func(ctx context.Context) ([]Server, error)
	Serve   func(ctx context.Context, name, act string) (string, error)
	// Run runs one command of the user's own; like Send it blocks and shows itself by events.
	Run func(ctx context.Context, command string) session.Result
	// Compact has the conversation summed up; wish says what must not be lost. It blocks and shows
	// itself by events, as Run does.
	Compact func(ctx context.Context, wish string) session.Result
	// Plan puts the plan that waits to the user once more, through the door of the model's
	// questions; it blocks until they have decided, and returns what to ask the model then;
	// nothing: no plan waits.
	Plan func(ctx context.Context) (prompt string, err error)
	// Steer hands the agent a message to read before its next step; if false, its turn is over.
	Steer func(text string) bool
	// Rewind takes back the last prompt and all that came after it, and returns its text.
	Rewind func(ctx context.Context) (string, error)
	// Undo puts files back as they were before turns of this session, or says what it would put
	// back.
	Undo func(ctx context.Context, u Undo) (Undone, error)
	// Net tells what differs now from a moment, each hunk once; Revert takes a hunk back as a call of
	// the user's own, and Stage adds it to git's index. Both block and show themselves by events, as
	// Run does.
	Net    func(ctx context.Context, since Since) (Net, error)
	Revert func(ctx context.Context, h NetHunk) session.Result
	Stage  func(ctx context.Context, h NetHunk) session.Result
	// Draft has the model write the message of a commit of what is staged, and Commit makes that
	// commit as a command of the user's own.
	Draft  func(ctx context.Context) (message string, err error)
	Commit func(ctx context.Context, message string) session.Result
	// StageAll adds all that differs to git's index, as Stage does with one hunk.
	StageAll func(ctx context.Context, n Net) session.Result
	// MergePlan tells what a merge of the session's branch into the main checkout comes to; its error
	// says why there is none. Merge makes it as a command of the user's own.
	MergePlan func(ctx context.Context) (Merge, error)
	Merge     func(ctx context.Context) session.Result
	// Overview shows all sessions, while this one goes on; it returns when the user comes back to it.
	// The terminal is free while it runs.
	Overview func() error
	// Staged has the user decide about the changes of a staged turn: "review", "take" or "drop". It
	// blocks and shows itself by events, as Run does.
	Staged func(ctx context.Context, decision string) session.Result
	// Open opens a file at a line, from 1, in the user's own editor, as Edit does with a text.
	Open func(path string, line int) error
	// Edit lets the user write in their own editor; the terminal is free while it runs.
	Edit func(text string) (string, error)
	// Drop looks at a text that was pasted: one that is the path of a file is what a terminal
	// pastes when a file is dropped on it.
	Drop func(text string) (Dropped, bool)
	// Picture keeps the picture that is on the clipboard in a file and returns its path.
	Picture func(ctx context.Context) (string, error)
	// Keep writes a choice down for later sessions: "interface.theme" or "interface.keys". Kept is
	// what holds for those and "model" now.
	Keep func(name, value string) error
	Kept func(name string) string
	// Past is what the user wrote in this workspace before, oldest first; Remember keeps what
	// they send.
	Past     func() []string
	Remember func(text string)
}

// Carried is a thing of the project that would run, such as a tool.
type Carried struct {
	ID      string
	State   string
	Command string
	Lines   []string // all that is consented to: command, folder, variables, files, hash
	Hash    string   // of it
	Allowed bool
	Off     string // why it cannot be allowed; if empty, it can
}

// Server is an MCP server.
type Server struct {
	Name, Transport, From string // stdio or http; the file that names it
	State, Why            string // off, starting, ready, failed or held; why
	Title, Version        string // what it calls itself; the version of the protocol
	Tools                 []string
	Resources, Prompts    int
	Bytes                 int    // of the definitions of its tools, as a request carries them
	Last                  string // its last output beside its messages
	Login                 bool   // a user can log in there
}

// Named is a command or a skill that the user or the project carries. A message that begins with
// its name is sent as it is, and the program makes of it what the model gets.
type Named struct {
	Name string // without the slash
	Args string // as its file hints at them
	Help string
	From string // its file
}

// Note is what is told of it in a list.
func (n Named) Note() string {
	if n.Help == "" {
		return n.From
	}
	return n.Help + " (" + n.From + ")"
}

// Since is the moment that files are compared with.
type Since string

// The moments.
const (
	SinceSession Since = "session" // before its first call that could change files
	SinceTurn    Since = "turn"    // likewise, of the newest turn with such a call
	SinceBranch  Since = "branch"  // where the branch parted from the main one
)

// Net is what differs now from a moment, in the order of the paths.
type Net struct {
	From  string // the moment, in words
	Files []NetFile
}

// NetFile is a file that differs.
type NetFile struct {
	Path  string     `json:"path"`
	Diff  string     `json:"-"` // unified; if empty, Note says what differs
	Note  string     `json:"note,omitempty"`
	New   bool       `json:"new,omitempty"`
	Gone  bool       `json:"gone,omitempty"`
	Mode  uint32     `json:"-"` // permission bits of a file that is gone; if 0, not known
	Hunks []HunkText `json:"hunks,omitempty"`
}

// HunkText is a hunk as it is shown, and the line of the file, from 1, where its change begins.
type HunkText struct {
	Text string `json:"text"` // without secrets
	Line int    `json:"line"`
	Hash string `json:"hash,omitempty"` // names it in a request to another process
}

// NetHunk is a hunk of a file's diff, counted from 0.
type NetHunk struct {
	File   NetFile
	Number int
}

// Merge is what a merge comes to.
type Merge struct {
	Says  string   // in a sentence
	Files []string // that it changes
}

// Undo is a wish to have files put back: what the last turn did that changed some.
type Undo struct {
	Redo  bool // not a turn: what the last undo did
	Since bool // all since the last message, which may be nothing
	// Message, with Since, is an earlier message of the user.
	Message string
	// Git also puts back what git keeps of its own state, Unknown what changed while a call ran,
	// without anybody to see who changed it.
	Git, Unknown bool
	Dry          bool // say what would be done
	// Plan is Undone.Plan as it was shown. If the plan is another one by now, nothing is done, and
	// the error says so. Optional.
	Plan string
}

// Undone is what came of it, or would.
type Undone struct {
	Turns []string // what was asked for in them, newest first; none: there is nothing to undo
	Paths []string // with what is done: "create  a.go"
	Left  []string // what is left as it is, with the reason
	Git   bool     // git's own state changed, too, and was not asked for
	Asks  bool     // some is left that Unknown puts back
	Doubt []string // those of them that changed while a command ran, and nobody saw who did it
	Plan  string   // names the turns and the paths, each with its change
}

// Mode is a permission mode, or an effort.
type Mode struct {
	Name, Means string
}

// Job is a command or a task in the background.
type Job struct {
	ID, Command string
	Running     bool
	Started     time.Time
	Ended       string // how, where it does not run any more
}

// Files are what can be completed: paths in the workspace, folders with a slash behind. Near are
// those that were changed lately, as git says.
type Files struct{ Paths, Near []string }

// Dropped is a file that was dropped on the terminal.
type Dropped struct {
	Path   string // as it is written in a prompt
	Attach string // the file to attach, such as a picture; if empty, only its path is of use
}

// Prompt is what the user sends.
type Prompt struct {
	Text   string
	Attach []string // files
	// Sent and Beside are what came along from elsewhere: pictures and PDFs, and texts.
	Sent   []tool.Attachment
	Beside string
	Draft  string // as it was written, pastes folded; if empty, as Text
}

// ModelRow is a model in the list of those to go on with.
type ModelRow struct {
	Name    string // provider/name
	Context int    // tokens that fit into a request with its answer; if 0, not known
	// Input and Output are what a million tokens cost in USD; if nil, not known.
	Input, Output *float64
	Vision, Tools bool   // known to have it
	Note          string // such as its size
	Why           string // why it cannot be used now; if empty, it can
}

// SessionHead is a stored session in the list.
type SessionHead struct {
	ID    string
	Title string // its name, else the first line of what was first asked
	Tags  []string
	Model string
	Cwd   string
	// Worktree is the name of the git work tree that it works in; if empty, none that adze made.
	Worktree string
	Updated  time.Time
}

// Place is where something was said or done in a session: in a message, or by a call.
type Place struct {
	Message string
	Call    tool.CallID // if empty, by the message itself
}

// Found is something that was said or done in a stored session.
type Found struct {
	Session string
	Place
	Title   string // of the session
	Kind    string // prompt, answer, or the name of a tool
	Snippet string // of it, on one line
	Cwd     string
	Time    time.Time
}

// SessionPeek is what a look into a stored session shows.
type SessionPeek struct {
	Turns, Messages int
	// Cost is what its turns cost in USD; if nil, that of at least one is not known.
	Cost *float64
	// Asked and Answered are its last exchange.
	Asked, Answered string
	// Changed are the files that its turns changed, each once, in order.
	Changed []string
}

// Screen is how the interface is drawn.
type Screen string

// The screens: all of the terminal, or the conversation in its own scrollback.
const (
	Whole  Screen = "whole"
	Inline Screen = "inline"
)

// Next says how the user wants to go on after Run: the interface itself cannot exchange its
// session or model. The zero value means that they quit.
type Next struct {
	Session string // the id to open
	New     bool   // a new session in this folder
	Model   string // the model to go on with: provider/name
	Keep    bool   // that model is the default from now on, if it can be used
	Fork    bool   // in a copy of that session
	At      Place  // to show of that session; the zero value: its end
	Demo    bool   // the demo
	// Background is the prompt on which the session goes on without a terminal; if empty, it does not.
	Background string
	Screen     Screen // how the interface is drawn; if empty, as it is
}
