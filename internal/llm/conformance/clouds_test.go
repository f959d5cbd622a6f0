package conformance_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"adze/internal/llm/anthropic"
	"adze/internal/llm/clouds"
	"adze/internal/llm/gemini"
	"adze/internal/llm/openai"
	"adze/internal/llm/responses"
	"adze/internal/llm/wire"
	"adze/session"
)

// A cloud is a format behind a door: its strict server first opens the door.
type (
	invoked      struct{ Messages }
	vertexClaude struct{ Messages }
	vertexGemini struct{ Gemini }
	azureChat    struct{ Chat }
	// OpenAI's formats at Bedrock.
	awsChat      struct{ Chat }
	awsResponses struct{ Responses }
)

func env(getenv map[string]string) clouds.Env {
	return clouds.Env{Getenv: func(name string) string { return getenv[name] }, Hide: func(string) {}, Now: time.Now, Run: func(context.Context, []string) ([]byte, error) { return nil, io.EOF }}
}

func keyed(o Options) *clouds.Tokens {
	return clouds.NewTokens(env(nil), "the test", func(context.Context) (clouds.Token, error) {
		if o.Key == "" {
			return clouds.Token{Value: "a-token-of-the-test"}, nil
		}
		return clouds.Token{Value: o.Key}, nil
	})
}

func atBedrock(o Options, format string) *wire.Door {
	account := clouds.NewAWS(env(map[string]string{"AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "secret"}), "")
	d := clouds.Bedrock(account, o.Key, "us-east-1", "", format)
	return &d
}

func (awsChat) New(o Options) session.Provider {
	return openai.New(openai.Options{Name: "bedrock", BaseURL: o.BaseURL, HTTP: o.HTTP, NewID: o.NewID, Idle: o.Idle, Door: atBedrock(o, clouds.OpenAI)})
}

func (awsResponses) New(o Options) session.Provider {
	return responses.New(responses.Options{Name: "bedrock", BaseURL: o.BaseURL, HTTP: o.HTTP, NewID: o.NewID, Idle: o.Idle, Door: atBedrock(o, "responses")})
}

func (invoked) New(o Options) session.Provider {
	return anthropic.New(anthropic.Options{Name: "bedrock", BaseURL: o.BaseURL, HTTP: o.HTTP, NewID: o.NewID, Idle: o.Idle, Door: atBedrock(o, clouds.Invoke)})
}

func (vertexClaude) New(o Options) session.Provider {
	d := clouds.Vertex(keyed(o), "p", "global", "anthropic")
	return anthropic.New(anthropic.Options{Name: "vertex", BaseURL: o.BaseURL, HTTP: o.HTTP, NewID: o.NewID, Idle: o.Idle, Door: &d})
}

func (vertexGemini) New(o Options) session.Provider {
	d := clouds.Vertex(keyed(o), "p", "europe-west4", "google")
	return gemini.New(gemini.Options{Name: "vertex", BaseURL: o.BaseURL, HTTP: o.HTTP, NewID: o.NewID, Idle: o.Idle, Door: &d})
}

func (azureChat) New(o Options) session.Provider {
	key := o.Key
	if key == "" {
		key = "a-key-of-the-test"
	}
	d := clouds.Azure(env(nil), key, "2024-10-21")
	return openai.New(openai.Options{Name: "azure", BaseURL: o.BaseURL, HTTP: o.HTTP, NewID: o.NewID, Idle: o.Idle, Door: &d})
}

// frame writes one frame of Amazon's event stream.
func frame(headers map[string]string, payload []byte) string {
	var out bytes.Buffer
	m := eventstream.Message{Payload: payload}
	for _, name := range []string{":message-type", ":event-type", ":exception-type", ":content-type"} {
		if v := headers[name]; v != "" {
			m.Headers.Set(name, eventstream.StringValue(v))
		}
	}
	if err := eventstream.NewEncoder().Encode(&out, m); err != nil {
		panic(err)
	}
	return out.String()
}

func event(kind string, payload []byte) string {
	return frame(map[string]string{":message-type": "event", ":event-type": kind, ":content-type": "application/json"}, payload)
}

// framed puts each event of a stream into a frame.
func framed(sse string) string {
	var out strings.Builder
	for _, one := range strings.Split(sse, "\n\n") {
		for line := range strings.Lines(one) {
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				out.WriteString(event("chunk", []byte(`{"bytes":"`+base64.StdEncoding.EncodeToString([]byte(strings.TrimSpace(data)))+`","p":"abc"}`)))
			}
		}
	}
	return out.String()
}

func (w invoked) Encode(a Answer) Stream {
	s := w.Messages.Encode(a)
	b := &Builder{ContentType: "application/vnd.amazon.eventstream"}
	for i, start := range s.Records {
		end := len(s.Body)
		if i+1 < len(s.Records) {
			end = s.Records[i+1]
		}
		if start == s.Terminal {
			b.End()
		}
		b.Record(framed(s.Body[start:end]))
	}
	return b.Stream()
}

// Frames says that the stream is binary.
func (invoked) Frames() {}

func (w invoked) Ping() string      { return framed(w.Messages.Ping()) }
func (w invoked) Malformed() string { return event("chunk", []byte(`{"bytes":"eyJ0eXBlIjo="}`)) }
func (w invoked) Unknown() (out []string) {
	for _, one := range w.Messages.Unknown() {
		out = append(out, framed(one))
	}
	return append(out, event("somethingNew", []byte(`{"a":1}`)))
}

func (w invoked) Failure(message string) string {
	return frame(map[string]string{":message-type": "exception", ":exception-type": "internalServerException"}, wire.JSON(map[string]string{"message": message}))
}

// clouded decodes the body of the Messages format at a cloud as a strict server there.
func clouded(body []byte, version string, stream bool) ([]byte, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, err
	}
	_, model := fields["model"]
	_, streams := fields["stream"]
	if got := string(fields["anthropic_version"]); got != `"`+version+`"` || model || streams != stream {
		return nil, fmt.Errorf("anthropic_version: %s, model: %v, stream: %v", got, model, streams)
	}
	delete(fields, "anthropic_version")
	fields["model"], fields["stream"] = json.RawMessage(`"m"`), json.RawMessage("true")
	return json.Marshal(fields)
}

func (w invoked) Decode(body []byte) (Request, error) {
	body, err := clouded(body, "bedrock-2023-05-31", false)
	if err != nil {
		return Request{}, err
	}
	return w.Messages.Decode(body)
}

func (w vertexClaude) Decode(body []byte) (Request, error) {
	body, err := clouded(body, "vertex-2023-10-16", true)
	if err != nil {
		return Request{}, err
	}
	return w.Messages.Decode(body)
}

func doors() []format {
	return []format{
		{"bedrock invoke", invoked{}, "", 1568}, {"bedrock converse", conversed{}, "", 1568}, {"vertex claude", vertexClaude{}, "", 1568},
		{"vertex gemini", vertexGemini{}, "", 3072}, {"azure", azureChat{}, "", 2048}, {"bedrock chat", awsChat{}, "", 2048}, {"bedrock responses", awsResponses{}, "", 2048},
	}
}

func TestFormatsBehindDoors(t *testing.T) {
	for _, f := range doors() {
		t.Run(f.name, func(t *testing.T) { suite(t, f.wire) })
	}
}

// conversed is Converse: its events and its requests are those of Messages, in other words.
type conversed struct{ Messages }

func (conversed) Frames() {}

func (conversed) New(o Options) session.Provider {
	return anthropic.New(anthropic.Options{Name: "bedrock", BaseURL: o.BaseURL, HTTP: o.HTTP, NewID: o.NewID, Idle: o.Idle, Door: atBedrock(o, clouds.Converse)})
}

func (w conversed) Encode(a Answer) Stream {
	b := &Builder{ContentType: "application/vnd.amazon.eventstream"}
	b.Record(event("messageStart", []byte(`{"role":"assistant"}`)))
	index := 0
	block := func(start string, deltas ...string) {
		if start != "" {
			b.Record(event("contentBlockStart", fmt.Appendf(nil, `{"contentBlockIndex":%d,"start":%s}`, index, start)))
		}
		for _, d := range deltas {
			b.Record(event("contentBlockDelta", fmt.Appendf(nil, `{"contentBlockIndex":%d,"delta":%s}`, index, d)))
		}
		b.Record(event("contentBlockStop", fmt.Appendf(nil, `{"contentBlockIndex":%d}`, index)))
		index++
	}
	deltas := func(text, form string) (out []string) {
		for _, piece := range a.Pieces(text) {
			out = append(out, fmt.Sprintf(form, wire.JSON(piece)))
		}
		return out
	}
	if a.Reasoning != "" {
		block("", append(deltas(a.Reasoning, `{"reasoningContent":{"text":%s}}`), fmt.Sprintf(`{"reasoningContent":{"signature":"EqQB%d=="}}`, len(a.Reasoning)))...)
	}
	if a.Text != "" {
		block("", deltas(a.Text, `{"text":%s}`)...)
	}
	for _, c := range a.Calls {
		block(fmt.Sprintf(`{"toolUse":{"toolUseId":%q,"name":%q}}`, c.ID, c.Name), deltas(c.Arguments, `{"toolUse":{"input":%s}}`)...)
	}
	stop := "end_turn"
	switch {
	case a.Length:
		stop = "max_tokens"
	case len(a.Calls) > 0:
		stop = "tool_use"
	}
	b.End()
	b.Record(event("messageStop", fmt.Appendf(nil, `{"stopReason":%q}`, stop)))
	b.Record(event("metadata", fmt.Appendf(nil, `{"usage":{"inputTokens":%d,"outputTokens":%d}}`, a.Usage.Input, a.Usage.Output)))
	return b.Stream()
}

func (conversed) Ping() string      { return event("ping", []byte(`{}`)) }
func (conversed) Malformed() string { return event("contentBlockDelta", []byte(`{"contentBl`)) }
func (conversed) Unknown() []string {
	return []string{event("somethingNew", []byte(`{"a":1}`)), event("contentBlockStop", []byte(`{"contentBlockIndex":77}`)), event("contentBlockDelta", []byte(`{"contentBlockIndex":78,"delta":{"citation":{}}}`))}
}

func (conversed) Failure(message string) string { return invoked{}.Failure(message) }

func (conversed) Grown(body []byte) []byte {
	return bytes.TrimSuffix(body, []byte(`],"role":"user"}]}`))
}

// Decode reads a request as strictly as the server.
func (conversed) Decode(body []byte) (Request, error) {
	type source struct{ Bytes string }
	type file struct {
		Format, Name string
		Source       source
	}
	type block struct {
		Text     *string
		Image    *file
		Document *file
		ToolUse  *struct {
			ToolUseID, Name string
			Input           json.RawMessage
		}
		ToolResult *struct {
			ToolUseID, Status string
			Content           []struct {
				Text            *string
				Image, Document *file
			}
		}
		Reasoning *struct {
			Text     *struct{ Text, Signature string } `json:"reasoningText"`
			Redacted string                            `json:"redactedContent"`
		} `json:"reasoningContent"`
	}
	var a struct {
		Config struct{ MaxTokens int } `json:"inferenceConfig"`
		Tools  struct {
			Tools []struct {
				Spec struct {
					Name, Description string
					Schema            struct{ JSON map[string]any } `json:"inputSchema"`
				} `json:"toolSpec"`
			}
			Choice any `json:"toolChoice"`
		} `json:"toolConfig"`
		System   []struct{ Text string }
		Messages []struct {
			Role    string
			Content []block
		}
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil {
		return Request{}, err
	}
	r := Request{Model: "m"}
	for _, t := range a.Tools.Tools {
		r.Tools = append(r.Tools, t.Spec.Name)
	}
	for i, m := range a.Messages {
		if want := []string{"user", "assistant"}[i%2]; m.Role != want || len(m.Content) == 0 {
			return r, fmt.Errorf("messages.%d: role %s with %d blocks", i, m.Role, len(m.Content))
		}
		rest, said := Item{Kind: m.Role}, false
		for _, b := range m.Content {
			said = said || b.ToolResult == nil
			switch {
			case b.Text != nil && strings.TrimSpace(*b.Text) != "":
				rest.Text += *b.Text
			case b.Image != nil && b.Image.Source.Bytes != "", b.Document != nil && b.Document.Name != "":
				rest.Images++
			case b.ToolUse != nil:
				rest.Calls = append(rest.Calls, Call{ID: b.ToolUse.ToolUseID, Name: b.ToolUse.Name, Arguments: string(b.ToolUse.Input)})
			case b.ToolResult != nil && len(b.ToolResult.Content) > 0 && !said:
				r.Items = append(r.Items, Item{Kind: "result", CallID: b.ToolResult.ToolUseID, Failed: b.ToolResult.Status == "error"})
			case b.Reasoning != nil && (b.Reasoning.Text != nil && b.Reasoning.Text.Signature != "" || b.Reasoning.Redacted != ""):
				rest.Thinking++
			default:
				return r, fmt.Errorf("messages.%d: bad block %+v", i, b)
			}
		}
		if said {
			r.Items = append(r.Items, rest)
		}
	}
	return r, nil
}
