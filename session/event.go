package session

import (
	"encoding/json"
	"fmt"
	"time"

	"adze/tool"
)

// Event is what observers see. The order is the order of the log: an event comes only after its
// record is durable, except TextDelta, ReasoningDelta, CallForming and ToolUpdate, which are
// progress and are repeated whole in MessageDone and ToolEnd.
type Event interface{ event() }

// TextDelta is a piece of the answer as it arrives.
type TextDelta struct{ Message, Delta string }

// ReasoningDelta is a piece of the model's thinking as it arrives.
type ReasoningDelta struct{ Message, Delta string }

// CallForming reports a call that the model is still writing.
type CallForming struct {
	Message string
	Call    tool.CallID
	Name    string
	Bytes   int
}

// MessageDone is a whole stored message, the user's too.
type MessageDone struct{ Message Message }

// ToolQueued says what a call of a stored message is about, before its turn comes and before
// anybody is asked.
type ToolQueued struct{ tool.Event }

// ToolStart says that a call begins, or ends without having begun. What it may change was decided
// and its record stored.
type ToolStart struct{ tool.Event }

// ToolUpdate is the newest metadata of a running call. Redacted is what of it may be logged.
type ToolUpdate struct {
	tool.Event
	Redacted json.RawMessage
}

// ToolAsk is a decision of the gate that a user or a rule made, or a denial.
type ToolAsk struct{ tool.Event }

// ToolEnd is the one outcome of a call. Redacted is its metadata as far as the tool lets it be
// logged. Parent and Agent are as in tool.Event: set where a subagent made the call.
type ToolEnd struct {
	Outcome  tool.Outcome
	Redacted json.RawMessage
	Parent   tool.CallID
	Agent    string
	// Window is what became of files meanwhile; if nil, nothing, or nobody looked.
	Window *Window
}

// FilesChanged says what became of files beside the outcome of a call: by a hook, or by what a call
// left running.
type FilesChanged struct{ Window Window }

// Retry says that a model request failed and is made again; partial text of the message is void.
type Retry struct {
	Message     string
	Attempt, Of int
	Delay       time.Duration
	Cause       string
}

// Notice is something the user should know.
type Notice struct {
	Text string
	Kind NoticeKind
}

// NoticeKind says how much of the user's attention a notice wants.
type NoticeKind uint8

// Kinds of notices.
const (
	Warning NoticeKind = iota // the user may have to do something about it
	Remark                    // good to know
	Detail                    // an interface that shows it elsewhere, in a pane, leaves it out
)

// Unsaved says how many entries of the log wait in memory because they cannot be saved, and why;
// none: all is saved again. What was shown before is stored, or among them.
type Unsaved struct {
	Entries int
	Bytes   int
	Cause   string // if empty, nothing is in the way any more
}

// Over reports that all is saved.
func (u Unsaved) Over() bool { return u.Entries == 0 && u.Cause == "" }

// String is the state for a user.
func (u Unsaved) String() string {
	if u.Over() {
		return "the session is saved again; nothing was lost"
	}
	return fmt.Sprintf("the session cannot be saved: %s. New messages wait in memory and are saved when that works again; until then nothing is changed", u.Cause)
}

// Requested says what came of one model request: an attempt that failed, and one that sums up, too.
// It comes when the request has ended, before the record of its answer. Parent and Agent are as in
// tool.Event.
type Requested struct {
	Message         string // the answer, or what would have been one; if empty, it is not the conversation's own
	Parent          tool.CallID
	Agent           string
	Provider, Model string
	Stop            Stop
	Kind            ErrorKind // of a failure; if empty, there is none, or it was aborted
	Usage           Usage
	Cost            *float64      // USD; if nil, it is not known
	Took            time.Duration // to its end
	First           time.Duration // to the first thing that the model said; if 0, it said nothing
}

// TaskEnd is the end of a subagent's turn. What it came to is in the outcome of its call, or in a
// note.
type TaskEnd struct {
	Parent tool.CallID // the call that started it
	Agent  string
	Result Result
}

// Counted says what the next request holds and what was used: before each request, after its answer
// was stored, and when messages were taken back. Message is the id of the answer, or of what would
// have been one; if empty, no request was made since the last.
type Counted struct {
	Message string
	Ledger  Ledger
}

// PrefixChanged says that the next request does not begin with the one before, which a provider's
// cache would have needed. It comes once for each change, after its entry is stored.
type PrefixChanged struct{ Change PrefixChange }

// Compacted says that a summary took the place of the beginning of what is sent.
type Compacted struct{ Compaction }

// Planned says what came of a plan.
type Planned struct{ Plan }

// TurnEnd is the last event of a turn, exactly once.
type TurnEnd struct{ Result Result }

func (TextDelta) event()      {}
func (ReasoningDelta) event() {}
func (CallForming) event()    {}
func (MessageDone) event()    {}
func (ToolQueued) event()     {}
func (ToolStart) event()      {}
func (ToolUpdate) event()     {}
func (ToolAsk) event()        {}
func (ToolEnd) event()        {}
func (FilesChanged) event()   {}
func (Retry) event()          {}
func (Notice) event()         {}
func (Unsaved) event()        {}
func (Requested) event()      {}
func (TaskEnd) event()        {}
func (Counted) event()        {}
func (PrefixChanged) event()  {}
func (Compacted) event()      {}
func (Planned) event()        {}
func (TurnEnd) event()        {}

// Cause says why a turn ended.
type Cause string

// Causes, each with its own exit code (docs/scripts.md, "Exit codes").
const (
	CauseDone        Cause = "done"
	CauseInternal    Cause = "internal"
	CauseUsage       Cause = "usage"
	CauseNoModel     Cause = "no_model"
	CauseProvider    Cause = "provider"
	CauseContext     Cause = "context"
	CauseBudget      Cause = "budget"
	CauseDenied      Cause = "denied"
	CauseTool        Cause = "tool"
	CauseRefused     Cause = "refused"
	CauseNoAnswer    Cause = "no_answer"
	CauseStore       Cause = "store"
	CauseClosed      Cause = "stdout_closed"
	CauseTruncated   Cause = "truncated"  // the answer was cut at the model's output limit
	CauseLoop        Cause = "loop"       // the model repeated itself, also after it was told
	CauseTaken       Cause = "taken_over" // another process goes on with the session
	CauseInterrupted Cause = "interrupted"
	CauseTerminated  Cause = "terminated"
)

// Result sums up one turn. Usage, Cost, Steps, Calls and Denied count its subagents, too.
type Result struct {
	Cause Cause `json:"cause"`
	// Message says what went wrong, for the user; Hint is the next move.
	Message string           `json:"message,omitempty"`
	Hint    string           `json:"hint,omitempty"`
	Text    string           `json:"text"`
	Usage   map[string]Usage `json:"usage,omitempty"` // by provider/model
	// Structured is the JSON value of an answer that had to be one.
	Structured json.RawMessage `json:"structured,omitempty"`
	// Cost is what all requests cost in USD; if nil, that of at least one is not known.
	Cost     *float64                       `json:"cost_usd,omitempty"`
	Steps    int                            `json:"turns"`
	Calls    map[string]map[tool.Status]int `json:"calls,omitempty"` // by tool and status
	Denied   []Denial                       `json:"denied,omitempty"`
	Changed  []string                       `json:"files_changed,omitempty"`
	Staged   json.RawMessage                `json:"staged,omitempty"`   // what a staged turn changed, and what became of it
	Plan     *Plan                          `json:"plan,omitempty"`     // the newest, where the turn made or settled one
	Notes    []Note                         `json:"notes,omitempty"`    // what the model was told late
	Claims   []Claim                        `json:"claims,omitempty"`   // what the answer says that the calls do not show
	Evidence []Evidence                     `json:"evidence,omitempty"` // and what they show
	Duration time.Duration                  `json:"duration_ns"`
	// Limited is the wait that a provider asked for that ended the turn by its limit of requests; if
	// nil, that was not the end. Zero is a provider that named no time.
	Limited *time.Duration `json:"limited_ns,omitempty"`
	Err     error          `json:"-"`
}

// Denial is one refused call, or one thing that the sandbox refused a call that ran.
type Denial struct {
	Call   tool.CallID `json:"call"`
	Tool   string      `json:"tool"`
	Need   *tool.Need  `json:"need,omitempty"`
	Rule   string      `json:"rule,omitempty"`
	Reason string      `json:"reason,omitempty"`
	// Allow are rules that would have allowed it, as --allow takes them, where nobody could be asked.
	Allow []string `json:"allow,omitempty"`
	// Unanswered says that the call asked the user something, and nobody was there.
	Unanswered bool `json:"unanswered,omitempty"`
	// Kind and Name are of what the sandbox refused: a host, path, socket or call.
	Kind  string `json:"kind,omitempty"`
	Name  string `json:"name,omitempty"`
	Hint  bool   `json:"hint,omitempty"`  // read from the output alone; it is no denial for --fail-on-deny
	Agent string `json:"agent,omitempty"` // the subagent that made it
}
