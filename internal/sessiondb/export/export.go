// Package export converts a stored session to a Document that may leave this machine, and that to
// Markdown, JSON, or one self-contained HTML page. It converts its JSON back to a session's
// entries.
//
// The one rule: only explicitly exposed data is exported. A call has its tool's name, the arguments
// and metadata exposed by the tool's own allowlist, and the diffs of changed files; for an unknown
// tool only the name. Texts are scrubbed (scrub.go): secrets are masked again, control characters
// escaped or dropped, and the home folder becomes ~. Thinking, outputs, the system prompt and
// reverted turns are left out; Document.LeftOut counts them.
//
// Start reading at FromLog, then gather.go (entries to messages) and call.go (the exported part of
// a call). markdown.go, page.go and decode.go are the three formats; entries.go imports.
//
// Known limits: a picture is exported unchanged, whatever it shows. A secret in prose without a
// known shape, not found in a secret file or variable, is not masked. Subagents' sessions are
// exported separately.
package export

import (
	"encoding/json"
	"time"

	"adze/internal/text/redact"
	"adze/session"
	"adze/tool"
)

// Format is the JSON form's version. Decode refuses a newer one.
const Format = 1

// A Document is the exportable form of a session.
type Document struct {
	Format  int        `json:"adze_session"`
	Session session.ID `json:"session"`
	// Imported is the session's origin if it was itself imported.
	Imported *session.Import `json:"imported,omitempty"`
	Title    string          `json:"title"`
	Created  time.Time       `json:"created"`
	Updated  time.Time       `json:"updated"` // time of the last exported entry
	Cwd      string          `json:"cwd"`
	Version  string          `json:"version"` // of adze
	Model    string          `json:"model"`   // provider/name
	Lead     string          `json:"lead,omitempty"`
	Agent    string          `json:"agent,omitempty"` // of a subagent
	// Usage is the exported answers' usage, by provider/model.
	Usage    map[string]session.Usage `json:"usage,omitempty"`
	Messages []Message                `json:"messages"`
	LeftOut  []string                 `json:"left_out,omitempty"`
}

// A Speaker is a message's author.
type Speaker string

const (
	Person Speaker = "user"
	Model  Speaker = "assistant"
	Adze   Speaker = "note" // a note from adze to the model
)

// A Message is one message. A turn's last message holds its end.
type Message struct {
	ID       string         `json:"id"`
	Speaker  Speaker        `json:"role"`
	Time     time.Time      `json:"time"`
	Provider string         `json:"provider,omitempty"`
	Model    string         `json:"model,omitempty"`
	Stop     session.Stop   `json:"stop,omitempty"`
	Usage    *session.Usage `json:"usage,omitempty"`
	Duration time.Duration  `json:"duration_ns,omitempty"`
	// OwnCommand is set if the user ran the message's only call.
	OwnCommand bool   `json:"own,omitempty"`
	Parts      []Part `json:"parts"`
	End        *End   `json:"end,omitempty"`
}

// A Part is one piece of a message: exactly one of its fields is set.
type Part struct {
	Text    string   `json:"text,omitempty"`
	Picture *Picture `json:"picture,omitempty"`
	Call    *Call    `json:"call,omitempty"`
}

// A Picture is a user's attachment in a format that browsers show.
type Picture struct {
	Name      string `json:"name"`
	MediaType string `json:"media_type"` // detected from the content
	Data      []byte `json:"data"`
}

// A Call is the exported part of a call.
type Call struct {
	ID   tool.CallID `json:"id"`
	Tool string      `json:"tool"`
	// Heading is a one-line summary of the call, such as its command line, made of exposed
	// arguments. Optional.
	Heading string `json:"heading,omitempty"`
	// Status is empty without a known outcome.
	Status    tool.Status     `json:"status,omitempty"`
	Code      string          `json:"code,omitempty"`
	Time      time.Time       `json:"time,omitzero"` // of the outcome
	Duration  time.Duration   `json:"duration_ns,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Metadata  json.RawMessage `json:"metadata,omitempty"`
	Diff      string          `json:"diff,omitempty"`
	Changed   []string        `json:"files_changed,omitempty"`
}

// End is a turn's end.
type End struct {
	Time     time.Time     `json:"time"`
	Cause    session.Cause `json:"cause"`
	Message  string        `json:"message,omitempty"`
	Cost     *float64      `json:"cost_usd,omitempty"`
	Duration time.Duration `json:"duration_ns,omitempty"`
	Changed  []string      `json:"files_changed,omitempty"`
	// Claims are statements of the answer the calls do not support, Evidence those they do.
	Claims   []session.Claim    `json:"claims,omitempty"`
	Evidence []session.Evidence `json:"evidence,omitempty"`
}

// Tools returns the exposed fields of a tool's calls; *tool.Set implements it.
type Tools interface {
	Get(name string) (tool.Definition, bool)
	Redact(name string, fields json.RawMessage) json.RawMessage
}

// Options configure an export.
type Options struct {
	Session session.ID
	Title   string         // default: the first prompt's
	Tools   Tools          // the known tools
	Mask    *redact.Masker // knows the user's secrets; nil masks only known shapes and places
	Home    string         // the folder to write as ~; optional
}

// FromLog converts a session's log to a document.
func FromLog(log []session.Entry, o Options) *Document {
	g := gatherer{options: o, scrub: newScrubber(o), omitted: map[string]*omissions{}}
	for _, e := range log {
		g.learn(e)
	}
	for _, e := range log {
		g.entry(e)
	}
	return g.document()
}
