package session

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"adze/tool"
)

// ID names a session.
type ID string

// NewID makes a session id that sorts by time: 20060102t150405-1a2b3c.
func NewID(now time.Time) ID {
	var b [3]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read never fails since Go 1.24
	return ID(now.UTC().Format("20060102t150405") + "-" + hex.EncodeToString(b[:]))
}

// Store keeps the logs of sessions. Contract:
//   - Lock makes the caller the only writer of a session until Close; when another process writes,
//     the error wraps ErrLocked and names it; the lock dies with its process;
//   - Append adds all entries or none, in order, durably: when it returns nil, they survive a crash
//     and a power cut; it locks the session if that was not done;
//   - a stored entry is never changed or removed by a session;
//   - Load returns all entries of a session, oldest first; an unknown session is ErrNotFound;
//   - List returns the newest sessions first;
//   - all methods are safe for concurrent use.
type Store interface {
	Lock(ctx context.Context, id ID) error
	Append(ctx context.Context, id ID, entries ...Entry) error
	Load(ctx context.Context, id ID) ([]Entry, error)
	List(ctx context.Context) ([]Head, error)
	Close() error
}

// Sentinels of Store.
var (
	ErrLocked   = errors.New("the session is open in another process")
	ErrNotFound = errors.New("no such session")
)

// EntryType says what a line of the log holds.
type EntryType string

// Types of entries. A reader skips types that it does not know.
const (
	StartEntry    EntryType = "start"    // Start
	MessageEntry  EntryType = "message"  // Message of the user or the assistant
	FragmentEntry EntryType = "fragment" // Fragment of a message that arrives; void with the whole one, or kept after a crash
	PartialEntry  EntryType = "partial"  // Message so far, as older versions stored it
	IntentEntry   EntryType = "intent"   // Intended: a tool.Record, before a side effect
	DecisionEntry EntryType = "decision" // Decided: a user or a rule answered
	OutcomeEntry  EntryType = "outcome"  // Ended: a tool.Outcome
	ChangedEntry  EntryType = "changed"  // Window: what became of files beside an outcome
	UndoEntry     EntryType = "undo"     // Undone: the user had files put back
	RequestEntry  EntryType = "request"  // FailedRequest: one that left no message
	OfferEntry    EntryType = "offer"    // Offer: the tools that requests show from here on
	EffortEntry   EntryType = "effort"   // Thinks: how hard the model thinks from here on
	ModeEntry     EntryType = "mode"     // Permits: the permission mode that the user chose for the session
	EndEntry      EntryType = "end"      // Result of one turn
	RewindEntry   EntryType = "rewind"   // Rewound: the user took messages back
	SubagentEntry EntryType = "subagent" // Subagent: a call starts one, which has a log of its own
	ReportEntry   EntryType = "report"   // Report: what a task in the background came to, before anybody is told
	CompactEntry  EntryType = "compact"  // Compaction: what is sent from here on begins with a summary
	PlanEntry     EntryType = "plan"     // Plan: what came of a plan that the model put to the user
	PrefixEntry   EntryType = "prefix"   // PrefixChange: a request did not begin with the one before
	HookEntry     EntryType = "hook"     // HookRun: a program was started for a moment
	NoteEntry     EntryType = "note"     // Message that holds notes: it is in what is sent, and nobody's words
	MendedEntry   EntryType = "mended"   // Mended: what of the conversation a model's server refused
	ClientEntry   EntryType = "client"   // Client: another process of the user steered the session
	ImportEntry   EntryType = "import"   // Import: what comes before it was read from a file
)

// Entry is one line of the log.
type Entry struct {
	Type EntryType
	Time time.Time
	Data json.RawMessage
}

// Client is the data of a client entry: who steered the session from elsewhere, and how.
type Client struct {
	PID int    `json:"pid"`
	UID int    `json:"uid"`
	As  string `json:"as,omitempty"` // what it calls itself: terminal, page, editor
	Act string `json:"act"`          // such as prompt, or answer q1 once
}

// Head describes a session in a list. Start and First are the data of its first start entry and its
// first message, notes not counted, and may be empty. In a fork First is its first own message;
// until there is one it is the parent's, with "copied": true.
type Head struct {
	ID      ID
	Created time.Time
	Updated time.Time
	Entries int
	Start   json.RawMessage
	First   json.RawMessage
	Name    string   // that the user or a model gave it; if empty, none
	Tags    []string // that the user gave it, sorted
}

// Title is the name of the session, else the first line of what the user first asked. A fork in
// which nothing was asked yet has the title of its parent, marked as a copy.
func (h Head) Title() string {
	if h.Name != "" {
		return h.Name
	}
	var m struct {
		Message
		Copied bool `json:"copied"`
	}
	if json.Unmarshal(h.First, &m) != nil {
		return ""
	}
	if m.Copied {
		return TitleOf(m.Text()) + " (copy)"
	}
	return TitleOf(m.Text())
}

// titleLength is how many characters of a prompt name its session.
const titleLength = 72

// TitleOf is the first line of a prompt, cut to a length that fits a list.
func TitleOf(prompt string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(prompt), "\n")
	runes := []rune(strings.TrimSpace(line))
	if len(runes) <= titleLength {
		return string(runes)
	}
	return string(runes[:titleLength-1]) + "…"
}

// Info decodes the start entry; a damaged one is empty.
func (h Head) Info() Start {
	var s Start
	_ = json.Unmarshal(h.Start, &s) // an empty Start is the answer for a damaged one
	return s
}

// Start is the first entry of a session.
type Start struct {
	Version string `json:"version"` // of adze
	Cwd     string `json:"cwd"`
	Model   string `json:"model"`  // provider/name
	System  string `json:"system"` // as rendered; a resumed session sends the same bytes
	Tools   string `json:"tools_digest"`
	// Parent is the session that this one was forked from, or with Agent the one that it works for.
	Parent ID `json:"parent,omitempty"`
	// Copied is how many entries a fork has of its parent. Its title comes from the first message
	// after them.
	Copied int `json:"copied,omitempty"`
	// Server is which program answers for Model, where its name does not say it: a session that
	// goes on asks it in the same format.
	Server string `json:"server,omitempty"`
	// Lead is the agent that leads the conversation; if empty, adze's own.
	Lead string `json:"lead,omitempty"`
	// Agent names a subagent; Call is the call of its parent that started it.
	Agent string      `json:"agent,omitempty"`
	Call  tool.CallID `json:"parent_call,omitempty"`
	// Imported says that what the log tells of did not happen here; if nil, it did.
	Imported *Import `json:"imported,omitempty"`
}

// Import says where a session was read from. Whoever made that file could write what they liked:
// nothing that needs consent goes by it.
type Import struct {
	Session ID        `json:"session"` // its id there
	At      time.Time `json:"at"`
	SHA256  string    `json:"file_sha256"`
	// What follows stands in the start entry: how the session was called and led there, and what
	// its export left out.
	Title   string    `json:"title,omitempty"`
	Cwd     string    `json:"cwd,omitempty"`
	Lead    string    `json:"lead,omitempty"`
	Agent   string    `json:"agent,omitempty"`
	Created time.Time `json:"created,omitzero"`
	LeftOut []string  `json:"left_out,omitempty"`
}

// Subagent is the data of a subagent entry, stored before the subagent does anything.
type Subagent struct {
	Session ID          `json:"session"`
	Name    string      `json:"name"`
	Message string      `json:"message"`
	Call    tool.CallID `json:"call"`
	// Background says that its call did not wait for it.
	Background bool `json:"background,omitempty"`
}

// Report is the data of a report entry.
type Report struct {
	Subagent
	Status tool.Status `json:"status"`
	Text   string      `json:"text"` // as the model reads it
}
