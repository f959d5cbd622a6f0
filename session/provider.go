package session

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"adze/tool"
)

// A Provider turns a request into a stream of chunks. Contract:
//   - the adapter alone assembles: a Call appears once per call, whole, with a stable id; an
//     adapter that gets no id creates one that is unique in the conversation; arguments are passed
//     byte for byte;
//   - calls are yielded only after the format's terminal event, when the message ended well;
//   - Forming reports a call that is still being written, for panes only;
//   - Done comes exactly once and last, also after failure or abort; a stream that ends without its
//     format's terminal event is a failure (BadResponse), never an answer;
//   - when ctx ends, Stream closes its connection and yields Done with ctx's error within 200 ms;
//   - when the consumer stops early, Stream releases everything and yields nothing more;
//   - errors are *ProviderError, or ctx's error, and never contain keys;
//   - Stream is called again with a longer history: it sends the same bytes for the same messages.
type Provider interface {
	// Name is the part before the slash in a model's full name: "openai".
	Name() string
	Stream(ctx context.Context, r Request) iter.Seq[Chunk]
}

// A Request is one question to a model. The provider must not change the data it points to.
type Request struct {
	Model    string // without the provider's prefix
	System   string
	Messages []Message
	Tools    []tool.Definition
	// ToolsDigest changes with Tools, so that an adapter can cache their encoding.
	ToolsDigest string
	MaxTokens   int // of the answer; 0 is the provider's default
	Choice      Choice
	// Schema is the JSON Schema of an answer without calls. A provider whose server supports a
	// grammar enforces it; others may not.
	Schema json.RawMessage
	// Effort is the reasoning effort, one of Efforts; "" is the provider's setting.
	Effort string
	// Agent is the asking subagent, or "" for the main conversation. Scripted and recorded models
	// use it; it is not sent.
	Agent string
}

// A Choice controls tool calls: one of the constants, or the name of the only tool, which the model
// must call.
type Choice string

// Choices. A format that cannot force a call leaves the choice to the model.
const (
	ChooseFreely Choice = ""
	ChooseNone   Choice = "none"
	ChooseSome   Choice = "required" // at least one
)

// Chunk is Text, Reasoning, Forming, Call, Mended or Done.
type Chunk interface{ chunk() }

// Text is a piece from the answer.
type Text struct{ Delta string }

// Reasoning is a piece from the model's reasoning. A chunk with Opaque ends its block, which is
// stored with it and goes back to the same provider unchanged.
type Reasoning struct {
	Delta   string
	Opaque  json.RawMessage
	Earlier bool // the answer's text so far was reasoning too
}

// Forming reports progress of an unfinished call: its name, once known, and the bytes of its
// arguments.
type Forming struct {
	ID    tool.CallID
	Name  string
	Bytes int
}

// Call is a finished call.
type Call struct{ tool.RawCall }

// Mended lists parts of a request that its server refused, so that it was repeated without them. It
// comes once, before the other chunks.
type Mended struct {
	Reasons  []string `json:"why,omitempty"`      // for the user
	Messages []string `json:"messages,omitempty"` // ids of messages sent without their images and documents
	Tools    []string `json:"tools,omitempty"`    // names of removed tools
}

// RefusedPart replaces an image or document refused by the model's server; %s is its name.
const RefusedPart = "[%s was left out of the conversation: the model's server refused it]"

// Done ends every stream.
type Done struct {
	Stop  Stop
	Err   error
	Usage Usage
	// Provider and Model answered in the place of those that were asked; empty if none did.
	Provider, Model string
	// Lost estimates the tokens that the model wrote but the server did not send: servers drop a
	// call they cannot parse. 0 means none or unknown.
	Lost int
	// TextCalls reports that calls written as text were parsed, so that remaining markup is a
	// failed call.
	TextCalls bool
	// Notice is for the user, such as a prompt cut by the server.
	Notice string
}

func (Text) chunk()      {}
func (Reasoning) chunk() {}
func (Forming) chunk()   {}
func (Call) chunk()      {}
func (Mended) chunk()    {}
func (Done) chunk()      {}

// A Stop is the reason why an assistant message ended.
type Stop string

// Reasons, in common names. Calls have precedence over the reason: Ollama and Gemini send "stop"
// even with calls.
const (
	StopEnd     Stop = "end"
	StopCalls   Stop = "calls"
	StopLength  Stop = "length"  // cut at the output limit
	StopRefused Stop = "refused" // by the model or a filter
	StopAborted Stop = "aborted"
	StopError   Stop = "error"
)

// ErrorKind classifies provider failures by the reaction they need.
type ErrorKind string

// Provider failure kinds.
const (
	AuthError     ErrorKind = "auth"          // no or wrong key, no access
	NoModelError  ErrorKind = "no_model"      // the provider does not know the model
	RateError     ErrorKind = "rate_limit"    // 429, 529
	NetworkError  ErrorKind = "network"       // not reached, cut, idle
	ServerError   ErrorKind = "server"        // 5xx, or an error object without a better kind
	BadResponse   ErrorKind = "bad_response"  // not the wire format
	ContextError  ErrorKind = "context"       // the prompt is too long
	RequestError  ErrorKind = "request"       // the provider refused our request
	RefusedAnswer ErrorKind = "refused"       // content filter
	EmptyAnswer   ErrorKind = "empty_answer"  // neither text nor a call, twice in a row
	ReplayError   ErrorKind = "script_failed" // a scripted or replayed conversation does not match
)

// ProviderError is a failed model request. Message is for the user: lower case, no period, without
// secrets; Hint suggests the next step.
type ProviderError struct {
	Kind       ErrorKind
	Status     int // HTTP status, or 0
	Message    string
	Hint       string
	RetryAfter time.Duration // requested by the provider, or 0
	Final      bool          // the provider would refuse the same request again
	// Cut means that a valid answer ended before its terminal event.
	Cut bool
	// UnparsedCall is the model's text in which the server could not parse a call, limited and without
	// secrets, to be shown to the model. It is "" for other failures.
	UnparsedCall string
	Err          error
}

func (e *ProviderError) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("%s (HTTP %d)", e.Message, e.Status)
	}
	return e.Message
}

func (e *ProviderError) Unwrap() error { return e.Err }

// Temporary reports whether the same request may succeed later.
func (e *ProviderError) Temporary() bool {
	passes := e.Cut || e.Kind == RateError || e.Kind == NetworkError || e.Kind == ServerError
	return passes && !e.Final && e.UnparsedCall == ""
}

// lasts reports whether a rate limit is too long for a turn to wait.
func (e *ProviderError) lasts() bool { return e.Kind == RateError && e.RetryAfter > maxRetryAfter }

// Efforts returns the words for reasoning effort, lowest first. Models know different ones; an
// adapter picks the nearest.
func Efforts() []string {
	return []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}
}

// DefaultEffort resets a chosen effort to the provider's setting.
const DefaultEffort = "default"

// Permits is a mode entry's data: the session's permission mode, chosen by the user. It is for the
// interface; the session itself knows no modes.
type Permits struct {
	Mode string `json:"mode"`
}

// Thinks is an effort entry's data: the reasoning effort from here on.
type Thinks struct {
	Effort string `json:"effort"` // "" is the provider's setting
}
