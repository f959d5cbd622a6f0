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

// An ID identifies a session.
type ID string

// NewID returns a session id that sorts by time: 20060102t150405-1a2b3c.
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

// Store errors.
var (
	ErrLocked   = errors.New("the session is open in another process")
	ErrNotFound = errors.New("no such session")
)

// EntryType is the type of a log entry.
type EntryType string

// Entry types. Readers skip unknown types.
const (
	StartEntry    EntryType = "start"    // Start
	MessageEntry  EntryType = "message"  // Message of the user or the assistant
	FragmentEntry EntryType = "fragment" // Fragment of an arriving message; void once the whole one is stored
	PartialEntry  EntryType = "partial"  // Message so far, in logs of older versions
	IntentEntry   EntryType = "intent"   // Intended: a tool.Record, before a side effect
	DecisionEntry EntryType = "decision" // Decided: a user or a rule answered
	OutcomeEntry  EntryType = "outcome"  // Ended: a tool.Outcome
	ChangedEntry  EntryType = "changed"  // Window: file changes outside of an outcome
	UndoEntry     EntryType = "undo"     // Undone: the user had files restored
	RequestEntry  EntryType = "request"  // FailedRequest: one without a message
	OfferEntry    EntryType = "offer"    // Offer: the tools in requests from here on
	EffortEntry   EntryType = "effort"   // Thinks: the reasoning effort from here on
	ModeEntry     EntryType = "mode"     // Permits: the permission mode chosen by the user
	EndEntry      EntryType = "end"      // Result of one turn
	RewindEntry   EntryType = "rewind"   // Rewound: the user removed messages
	SubagentEntry EntryType = "subagent" // Subagent: a call starts one, which has its own log
	ReportEntry   EntryType = "report"   // Report: the result of a background task, before anyone sees it
	CompactEntry  EntryType = "compact"  // Compaction: requests from here on begin with a summary
	PlanEntry     EntryType = "plan"     // Plan: the state of a plan for the user
	PrefixEntry   EntryType = "prefix"   // PrefixChange: a request did not start with the previous one
	HookEntry     EntryType = "hook"     // HookRun: a program was run for a moment
	NoteEntry     EntryType = "note"     // Message with notes: sent to the model, but not the user's words
	MendedEntry   EntryType = "mended"   // Mended: content refused by a model's server
	ClientEntry   EntryType = "client"   // Client: another process of the user controlled the session
	ImportEntry   EntryType = "import"   // Import: the entries before it were read from a file
)

// An Entry is one line of the log.
type Entry struct {
	Type EntryType
	Time time.Time
	Data json.RawMessage
}

// Client is a client entry's data: who controlled the session from another process, and how.
type Client struct {
	PID  int    `json:"pid"`
	UID  int    `json:"uid"`
	Kind string `json:"as,omitempty"` // its own name: terminal, page, editor
	Act  string `json:"act"`          // such as prompt, or answer q1 once
}

// Head describes a session in a list. Start and First are the data of its first start entry and its
// first message, notes excluded, and may be empty. In a fork First is its first own message, or
// until then the parent's, with "copied": true.
type Head struct {
	ID      ID
	Created time.Time
	Updated time.Time
	Entries int
	Start   json.RawMessage
	First   json.RawMessage
	Name    string   // given by the user or a model; may be empty
	Tags    []string // given by the user, sorted
}

// Title returns the session's name, else the first line of the user's first prompt. A fork without
// a prompt has its parent's title, marked as a copy.
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

// in characters
const titleLength = 72

// TitleOf returns the first line of a prompt, cut to fit a list.
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
	_ = json.Unmarshal(h.Start, &s) // a damaged one leaves Start empty
	return s
}

// Start is the data of a session's first entry.
type Start struct {
	Version string `json:"version"` // of adze
	Cwd     string `json:"cwd"`
	Model   string `json:"model"`  // provider/name
	System  string `json:"system"` // as rendered; a resumed session sends the same bytes
	Tools   string `json:"tools_digest"`
	// Parent is the original of a fork or, with Agent, the subagent's parent session.
	Parent ID `json:"parent,omitempty"`
	// Copied is the number of entries copied from the fork's parent. Its title comes from the first
	// message after them.
	Copied int `json:"copied,omitempty"`
	// Server is the program that serves Model, if its name does not reveal it. A resumed session
	// uses the same format.
	Server string `json:"server,omitempty"`
	// Lead is the agent that leads the conversation; "" is adze's own.
	Lead string `json:"lead,omitempty"`
	// Agent names a subagent; Call is the parent's call that started it.
	Agent string      `json:"agent,omitempty"`
	Call  tool.CallID `json:"parent_call,omitempty"`
	// Imported is set if the log's events did not happen here.
	Imported *Import `json:"imported,omitempty"`
}

// Import is an imported session's origin. The file's author could write anything, so nothing that
// needs consent relies on it.
type Import struct {
	Session ID        `json:"session"` // original id
	At      time.Time `json:"at"`
	SHA256  string    `json:"file_sha256"`
	// Only in the start entry: the original title and lead, and the parts missing from the export.
	Title   string    `json:"title,omitempty"`
	Cwd     string    `json:"cwd,omitempty"`
	Lead    string    `json:"lead,omitempty"`
	Agent   string    `json:"agent,omitempty"`
	Created time.Time `json:"created,omitzero"`
	LeftOut []string  `json:"left_out,omitempty"`
}

// Subagent is a subagent entry's data, stored before the subagent does anything.
type Subagent struct {
	Session ID          `json:"session"`
	Name    string      `json:"name"`
	Message string      `json:"message"`
	Call    tool.CallID `json:"call"`
	// Background means its call did not wait for it.
	Background bool `json:"background,omitempty"`
}

// Report is a report entry's data.
type Report struct {
	Subagent
	Status tool.Status `json:"status"`
	Text   string      `json:"text"` // for the model
}
