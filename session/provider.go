package session

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"adze/tool"
)

// Provider turns a request into a stream of chunks. Contract:
//   - the adapter is the only assembler: a Call appears once per call, whole, with a stable id; an
//     adapter that gets no id mints one that is unique in the conversation; arguments are passed
//     byte for byte;
//   - calls are yielded only after the format's terminal event, when the message ended well;
//   - Forming reports a call that is still being written, for panes only;
//   - Done comes exactly once and last, also after failure or abort; a stream that ends without its
//     format's terminal event is a failure (BadResponse), never an answer;
//   - when ctx ends, Stream closes its connection and yields Done with ctx's error within 200 ms;
//   - when the consumer stops early, Stream releases everything and yields nothing more;
//   - errors are *ProviderError, or ctx's error; keys never stand in them;
//   - Stream is called again with a longer history: it sends the same bytes for the same messages.
type Provider interface {
	// Name is the part before the slash in a model's full name: "openai".
	Name() string
	Stream(ctx context.Context, r Request) iter.Seq[Chunk]
}

// Request is one question to a model. The provider must not change what it points to.
type Request struct {
	Model    string // without the provider's prefix
	System   string
	Messages []Message
	Tools    []tool.Definition
	// ToolsDigest changes when Tools do, so an adapter can keep their encoding.
	ToolsDigest string
	MaxTokens   int // of the answer; if 0, the provider's default
	Choice      Choice
	// Schema is the JSON Schema of the answer, where no call may come: a provider whose server has
	// a grammar makes the model keep to it. It is a help, not a promise.
	Schema json.RawMessage
	// Effort is how hard the model is to think, one of Efforts; if empty, as the provider is
	// configured.
	Effort string
	// Agent is the subagent that asks; if empty, the main conversation. It is for written and recorded
	// models, and is not sent.
	Agent string
}

// Choice says whether the model may call tools: one of the constants, or the name of the only tool
// that it must call.
type Choice string

// Choices. A format that cannot force a call lets the model choose.
const (
	ChooseFreely Choice = ""
	ChooseNone   Choice = "none"
	ChooseSome   Choice = "required" // at least one
)

// Chunk is Text, Reasoning, Forming, Call, Mended or Done.
type Chunk interface{ chunk() }

// Text is a piece of the answer.
type Text struct{ Delta string }

// Reasoning is a piece of the model's thinking. A chunk with Opaque closes the block that it
// belongs to: the block is stored with it and goes back to the same provider unchanged.
type Reasoning struct {
	Delta   string
	Opaque  json.RawMessage
	Earlier bool // the text of the answer so far was thought, too
}

// Forming reports progress of an unfinished call: its name, when known, and the bytes of its
// arguments.
type Forming struct {
	ID    tool.CallID
	Name  string
	Bytes int
}

// Call is a finished call.
type Call struct{ tool.RawCall }

// Mended says what of a request its server refused, so that the request was made without it. It
// comes once, before all else that came of the request.
type Mended struct {
	Why      []string `json:"why,omitempty"`      // for the user
	Messages []string `json:"messages,omitempty"` // ids of the messages whose pictures and documents were left out
	Tools    []string `json:"tools,omitempty"`    // names of the tools that were left out
}

// RefusedPart is what a model reads in the place of a picture or document that its server refused;
// %s is the name.
const RefusedPart = "[%s was left out of the conversation: the model's server refused it]"

// Done ends every stream.
type Done struct {
	Stop  Stop
	Err   error
	Usage Usage
	// Lost is how many tokens the model wrote that are in nothing the server sent, an estimate: a call
	// that the server could not read is counted and dropped. if 0, none, or nobody knows.
	Lost int
	// TextCalls reports that calls written as text were looked for, so that markup which is left is
	// a call that failed.
	TextCalls bool
	// Notice is something the user should know, such as a prompt that the server cut.
	Notice string
}

func (Text) chunk()      {}
func (Reasoning) chunk() {}
func (Forming) chunk()   {}
func (Call) chunk()      {}
func (Mended) chunk()    {}
func (Done) chunk()      {}

// Stop says why an assistant message ended.
type Stop string

// Reasons, whatever the provider calls them. Calls decide, not the reason: Ollama and Gemini say
// "stop" although there are calls.
const (
	StopEnd     Stop = "end"
	StopCalls   Stop = "calls"
	StopLength  Stop = "length"  // cut at the output limit
	StopRefused Stop = "refused" // the model or a filter refused
	StopAborted Stop = "aborted"
	StopError   Stop = "error"
)

// ErrorKind sorts provider failures by what to do about them.
type ErrorKind string

// Kinds of provider failures.
const (
	AuthError     ErrorKind = "auth"          // no or wrong key, no access
	NoModelError  ErrorKind = "no_model"      // the provider does not know the model
	RateError     ErrorKind = "rate_limit"    // 429, 529
	NetworkError  ErrorKind = "network"       // not reached, cut, idle
	ServerError   ErrorKind = "server"        // 5xx, an error object without a better kind
	BadResponse   ErrorKind = "bad_response"  // not the wire format
	ContextError  ErrorKind = "context"       // the prompt does not fit
	RequestError  ErrorKind = "request"       // the provider refused our request
	RefusedAnswer ErrorKind = "refused"       // content filter
	EmptyAnswer   ErrorKind = "empty_answer"  // neither text nor a call, twice in a row
	ReplayError   ErrorKind = "script_failed" // a scripted or replayed conversation does not fit
)

// ProviderError is a failure of a model request. Message is for the user: lower case, no period,
// without secrets; Hint is the next move.
type ProviderError struct {
	Kind       ErrorKind
	Status     int // HTTP status, 0 when there was none
	Message    string
	Hint       string
	RetryAfter time.Duration // what the provider asked for; if 0, nothing
	Final      bool          // the provider says that the same request is refused again
	// Cut says that an answer in the wire format ended before its terminal event.
	Cut bool
	// Stumble is what the model wrote where its server could not read a call in it, bounded and
	// without secrets; the model is told. If empty, it is no such failure.
	Stumble string
	Err     error
}

func (e *ProviderError) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("%s (HTTP %d)", e.Message, e.Status)
	}
	return e.Message
}

func (e *ProviderError) Unwrap() error { return e.Err }

// Temporary reports whether asking the same again may help.
func (e *ProviderError) Temporary() bool {
	passes := e.Cut || e.Kind == RateError || e.Kind == NetworkError || e.Kind == ServerError
	return passes && !e.Final && e.Stumble == ""
}

// lasts reports a limit of requests that no turn waits for.
func (e *ProviderError) lasts() bool { return e.Kind == RateError && e.RetryAfter > maxRetryAfter }

// Efforts are the words for how hard a model thinks before it answers, the least first. Which of
// them a model knows differs; an adapter takes the nearest.
func Efforts() []string {
	return []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}
}

// DefaultEffort takes a chosen effort back: the model thinks as its provider is configured.
const DefaultEffort = "default"

// Permits is the data of a mode entry: the permission mode that the user chose for the session. It
// is for the interface that goes on with it; the session itself knows no modes.
type Permits struct {
	Mode string `json:"mode"`
}

// Thinks is the data of an effort entry: how hard the model thinks from here on.
type Thinks struct {
	Effort string `json:"effort"` // if empty, as its provider is configured
}
