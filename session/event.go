package session

import (
	"encoding/json"
	"fmt"
	"time"

	"adze/tool"
)

// An Event is sent to observers in log order, after its record is durable. Exceptions are the
// progress events TextDelta, ReasoningDelta, CallForming and ToolUpdate, which MessageDone and
// ToolEnd repeat in full.
type Event interface{ event() }

// TextDelta is a piece from the answer.
type TextDelta struct{ Message, Delta string }

// ReasoningDelta is a piece from the model's reasoning.
type ReasoningDelta struct{ Message, Delta string }

// CallForming reports a call that the model is still writing.
type CallForming struct {
	Message string
	Call    tool.CallID
	Name    string
	Bytes   int
}

// MessageDone holds a complete stored message, also the user's.
type MessageDone struct{ Message Message }

// ToolQueued describes a stored message's call before it starts or anyone is asked.
type ToolQueued struct{ tool.Event }

// ToolStart means that a call begins, or ends without having begun. Its permission is decided and
// its record stored.
type ToolStart struct{ tool.Event }

// ToolUpdate holds a running call's newest metadata. Redacted is the part that may be logged.
type ToolUpdate struct {
	tool.Event
	Redacted json.RawMessage
}

// ToolAsk is a decision by the user or a rule, or a denial.
type ToolAsk struct{ tool.Event }

// ToolEnd is a call's only outcome. Redacted is the metadata that may be logged. Parent and Agent
// are set for a subagent's call, as in tool.Event.
type ToolEnd struct {
	Outcome  tool.Outcome
	Redacted json.RawMessage
	Parent   tool.CallID
	Agent    string
	// Window holds the call's file changes; nil if there were none or none were recorded.
	Window *Window
}

// FilesChanged reports file changes that belong to no outcome: by a hook, or by a process that a
// call left running.
type FilesChanged struct{ Window Window }

// Retry means a model request failed and is repeated; the message's partial text is void.
type Retry struct {
	Message     string
	Attempt, Of int
	Delay       time.Duration
	Cause       string
}

// Notice is a message for the user.
type Notice struct {
	Text string
	Kind NoticeKind
}

// NoticeKind is a notice's importance.
type NoticeKind uint8

// Notice kinds.
const (
	Warning NoticeKind = iota // the user may have to act
	Remark                    // good to know
	Detail                    // omitted by interfaces that show it in a pane
)

// Unsaved reports how many log entries wait in memory because they cannot be saved, and why. Zero
// means all are saved. Every earlier event is stored or among the waiting entries.
type Unsaved struct {
	Entries int
	Bytes   int
	Cause   string // "" once nothing prevents saving
}

// AllSaved reports whether everything is saved.
func (u Unsaved) AllSaved() bool { return u.Entries == 0 && u.Cause == "" }

// String formats the state for the user.
func (u Unsaved) String() string {
	if u.AllSaved() {
		return "the session is saved again; nothing was lost"
	}
	return fmt.Sprintf("the session cannot be saved: %s. New messages wait in memory and are saved when that works again; until then nothing is changed", u.Cause)
}

// Requested reports one model request, including failed attempts and requests for a summary. It
// comes when the request has ended, before the answer's record. Parent and Agent are as in
// tool.Event.
type Requested struct {
	Message         string // the actual or expected answer's id; "" for a request outside the conversation
	Parent          tool.CallID
	Agent           string
	Provider, Model string
	Stop            Stop
	Kind            ErrorKind // a failure's kind; "" on success or abort
	Usage           Usage
	Cost            *float64      // USD; nil if unknown
	Duration        time.Duration // until its end
	First           time.Duration // time to the first chunk; 0 if there was none
}

// TaskEnd ends a subagent's turn. Its result is in its call's outcome or in a note.
type TaskEnd struct {
	Parent tool.CallID // the call that started it
	Agent  string
	Result Result
}

// Counted reports the next request's size and the usage so far: before each request, after its
// answer is stored, and after a rewind. Message is the actual or expected answer's id, or "" if no
// request was made since the last event.
type Counted struct {
	Message string
	Ledger  Ledger
}

// PrefixChanged means that the next request does not start with the previous one, as a provider's
// cache needs. It comes once for each change, after its entry is stored.
type PrefixChanged struct{ Change PrefixChange }

// Compacted means a summary replaced the start.
type Compacted struct{ Compaction }

// Planned reports a plan's new state.
type Planned struct{ Plan }

// TurnEnd is a turn's last event, exactly once.
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

// A Cause is the reason why a turn ended.
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
	CauseTruncated   Cause = "truncated"  // cut at the model's output limit
	CauseLoop        Cause = "loop"       // the model repeated itself despite a warning
	CauseTaken       Cause = "taken_over" // another process continues the session
	CauseInterrupted Cause = "interrupted"
	CauseTerminated  Cause = "terminated"
)

// Result summarizes one turn. Usage, Cost, Steps, Calls and Denied include its subagents.
type Result struct {
	Cause Cause `json:"cause"`
	// Message describes the failure for the user; Hint suggests the next step.
	Message string           `json:"message,omitempty"`
	Hint    string           `json:"hint,omitempty"`
	Text    string           `json:"text"`
	Usage   map[string]Usage `json:"usage,omitempty"` // by provider/model
	// Structured is a structured answer's JSON value.
	Structured json.RawMessage `json:"structured,omitempty"`
	// Cost is the total in USD; nil if one request's is unknown.
	Cost     *float64                       `json:"cost_usd,omitempty"`
	Steps    int                            `json:"turns"`
	Calls    map[string]map[tool.Status]int `json:"calls,omitempty"` // by tool and status
	Denied   []Denial                       `json:"denied,omitempty"`
	Changed  []string                       `json:"files_changed,omitempty"`
	Staged   json.RawMessage                `json:"staged,omitempty"`   // a staged turn's changes and their fate
	Plan     *Plan                          `json:"plan,omitempty"`     // newest plan that the turn made or settled
	Notes    []Note                         `json:"notes,omitempty"`    // late notes to the model
	Claims   []Claim                        `json:"claims,omitempty"`   // the answer's unproven claims
	Evidence []Evidence                     `json:"evidence,omitempty"` // proven claims
	Duration time.Duration                  `json:"duration_ns"`
	// Limited is the requested wait if the provider's rate limit ended the turn, else nil. Zero
	// means the provider named no time.
	Limited *time.Duration `json:"limited_ns,omitempty"`
	Err     error          `json:"-"`
}

// Denial is one denied call, or one refusal by a call's sandbox.
type Denial struct {
	Call   tool.CallID `json:"call"`
	Tool   string      `json:"tool"`
	Need   *tool.Need  `json:"need,omitempty"`
	Rule   string      `json:"rule,omitempty"`
	Reason string      `json:"reason,omitempty"`
	// Allow lists --allow rules that would have allowed the call if nobody could be asked.
	Allow []string `json:"allow,omitempty"`
	// Unanswered is true for a question to the user that nobody could answer.
	Unanswered bool `json:"unanswered,omitempty"`
	// Kind and Name describe the sandbox refusal: a host, path, socket or call.
	Kind  string `json:"kind,omitempty"`
	Name  string `json:"name,omitempty"`
	Hint  bool   `json:"hint,omitempty"`  // guessed from the output; ignored by --fail-on-deny
	Agent string `json:"agent,omitempty"` // the subagent that made the call
}
