// Package export makes of a stored session what may leave this machine: a Document, and of that
// Markdown, JSON, or one page of HTML that needs nothing else. Of its own JSON it makes the entries
// of a session again.
//
// The one rule: what is not let out stays in. Of a call a Document has its tool's name, what the
// tool's own allowlist exposes of arguments and metadata, and the differences of files that it
// changed; of a tool that is not known only the name. Texts go through one scrubber (scrub.go):
// secrets are masked again, control characters written out or dropped, and the home folder becomes
// ~. Thoughts, outputs, the system prompt and what was taken back stay out; Document.LeftOut counts
// them.
//
// Start reading at Of, then gather.go (entries become messages) and call.go (what is shown of a
// call). markdown.go, page.go and decode.go are the three forms; entries.go is the way back.
//
// Known limits: a picture is shown as it is, whatever stands in it. A secret in prose that has no
// known shape, and that no file or variable named, looks like other text. Subagents have sessions
// of their own, which are exported on their own.
package export

import (
	"encoding/json"
	"time"

	"adze/internal/text/redact"
	"adze/session"
	"adze/tool"
)

// Format is the version of the JSON form. A reader refuses a newer one.
const Format = 1

// Document is a session as it may leave this machine.
type Document struct {
	Format  int        `json:"adze_session"`
	Session session.ID `json:"session"`
	// Imported says where the session was read from, when it did not happen here.
	Imported *session.Import `json:"imported,omitempty"`
	Title    string          `json:"title"`
	Created  time.Time       `json:"created"`
	Updated  time.Time       `json:"updated"` // when the last of what is shown was stored
	Cwd      string          `json:"cwd"`
	Version  string          `json:"version"` // of adze
	Model    string          `json:"model"`   // provider/name
	Lead     string          `json:"lead,omitempty"`
	Agent    string          `json:"agent,omitempty"` // of a subagent
	// Usage is that of the answers that are shown, by provider/model.
	Usage    map[string]session.Usage `json:"usage,omitempty"`
	Messages []Message                `json:"messages"`
	LeftOut  []string                 `json:"left_out,omitempty"`
}

// Speaker is who a message is from.
type Speaker string

// Speakers.
const (
	Person Speaker = "user"
	Model  Speaker = "assistant"
	Adze   Speaker = "note" // what adze told the model
)

// Message is one message, and the turn's end when it is the last one of a turn.
type Message struct {
	ID       string         `json:"id"`
	From     Speaker        `json:"role"`
	Time     time.Time      `json:"time"`
	Provider string         `json:"provider,omitempty"`
	Model    string         `json:"model,omitempty"`
	Stop     session.Stop   `json:"stop,omitempty"`
	Usage    *session.Usage `json:"usage,omitempty"`
	Took     time.Duration  `json:"duration_ns,omitempty"`
	// Own says that the user ran the one call in it.
	Own   bool   `json:"own,omitempty"`
	Parts []Part `json:"parts"`
	End   *End   `json:"end,omitempty"`
}

// Part is one piece of a message: exactly one of its fields is set.
type Part struct {
	Text    string   `json:"text,omitempty"`
	Picture *Picture `json:"picture,omitempty"`
	Call    *Call    `json:"call,omitempty"`
}

// Picture is one that the user attached, of a kind that a browser shows.
type Picture struct {
	Name      string `json:"name"`
	MediaType string `json:"media_type"` // by its content
	Data      []byte `json:"data"`
}

// Call is a call as far as it is shown.
type Call struct {
	ID   tool.CallID `json:"id"`
	Tool string      `json:"tool"`
	// Heading is the call in one row, such as its command line, made of those arguments that may be
	// shown. Optional.
	Heading string `json:"heading,omitempty"`
	// Status is empty while no outcome is known.
	Status    tool.Status     `json:"status,omitempty"`
	Code      string          `json:"code,omitempty"`
	Time      time.Time       `json:"time,omitzero"` // of its outcome
	Took      time.Duration   `json:"duration_ns,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Metadata  json.RawMessage `json:"metadata,omitempty"`
	Diff      string          `json:"diff,omitempty"`
	Changed   []string        `json:"files_changed,omitempty"`
}

// End is how a turn ended.
type End struct {
	Time    time.Time     `json:"time"`
	Cause   session.Cause `json:"cause"`
	Message string        `json:"message,omitempty"`
	Cost    *float64      `json:"cost_usd,omitempty"`
	Took    time.Duration `json:"duration_ns,omitempty"`
	Changed []string      `json:"files_changed,omitempty"`
	// Claims and Evidence are what the calls do not show of the answer, and what they show.
	Claims   []session.Claim    `json:"claims,omitempty"`
	Evidence []session.Evidence `json:"evidence,omitempty"`
}

// Tools says what of a tool's calls may be shown; *tool.Set does.
type Tools interface {
	Get(name string) (tool.Definition, bool)
	Redact(name string, fields json.RawMessage) json.RawMessage
}

// Options is what an export goes by.
type Options struct {
	Session session.ID
	Title   string         // if empty, the first prompt's
	Tools   Tools          // that are known here
	Mask    *redact.Masker // knows the secrets of the user; if nil, only shapes and places
	Home    string         // the folder that is written ~; if empty, none
}

// Of makes the document of a session's log.
func Of(log []session.Entry, o Options) *Document {
	g := gatherer{options: o, scrub: newScrubber(o), left: map[string]*omissions{}}
	for _, e := range log {
		g.learn(e)
	}
	for _, e := range log {
		g.entry(e)
	}
	return g.document()
}
