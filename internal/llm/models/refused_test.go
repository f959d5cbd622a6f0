package models

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"adze/internal/llm/anthropic"
	"adze/internal/llm/gemini"
	"adze/internal/llm/openai"
	"adze/internal/llm/responses"
	"adze/internal/llm/wire"
	"adze/session"
	"adze/tool"
)

// refusal is one reason for which a vendor's server refuses a request. The words follow public
// reports; status and fields are theirs.
type refusal struct {
	of     func(body string) bool
	status int
	body   string
}

// refusing is a vendor's server that refuses each request for the first reason that it finds.
type refusing struct {
	name     string
	format   string
	refusals []refusal
	toolless bool // the last run offers no tools
}

func holds(pattern string) func(string) bool {
	r := regexp.MustCompile(pattern)
	return r.MatchString
}

// above reports a request for a longer answer than a server gives.
func above(most int) func(string) bool {
	r := regexp.MustCompile(`"(?:max_tokens|max_completion_tokens|max_output_tokens|maxOutputTokens)":(\d+)`)
	return func(body string) bool {
		m := r.FindStringSubmatch(body)
		if m == nil {
			return false
		}
		n, err := strconv.Atoi(m[1])
		return err == nil && n > most
	}
}

// lacks reports a request with one thing and without another.
func lacks(has, lack string) func(string) bool {
	return func(body string) bool { return holds(has)(body) && !holds(lack)(body) }
}

const pictured, odd = `iVBORw0KGgo`, `"name":"odd_tool"`

func openAIError(message, param, code string) string {
	return string(wire.JSON(map[string]any{"error": map[string]any{"message": message, "type": "invalid_request_error", "param": param, "code": code}}))
}

func anthropicError(message string) string {
	return string(wire.JSON(map[string]any{"type": "error", "error": map[string]any{"type": "invalid_request_error", "message": message}}))
}

func googleError(message string) string {
	return string(wire.JSON(map[string]any{"error": map[string]any{"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}))
}

// refusingVendors are ten servers with everything that each is known to refuse.
func refusingVendors() []refusing {
	unsigned := googleError("Function call is missing a thought_signature in functionCall parts. Additional data, function call `default_api:look`, position 2.")
	return []refusing{
		{name: "Anthropic", format: "messages", refusals: []refusal{
			{holds(odd), 400, anthropicError("tools.1.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level")},
			{above(8192), 400, anthropicError("max_tokens: 32000 > 8192, which is the most output tokens of claude-x")},
			{holds(pictured), 400, anthropicError("Could not process image")},
		}},
		{name: "Anthropic with seals of others", format: "messages", refusals: []refusal{
			{holds(odd), 400, anthropicError("tools.1.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'")},
			{holds(pictured), 400, anthropicError("messages.4.content.1.image.source.base64: the image was specified using the image/png media type, but does not appear to be one")},
			{holds(`"type":"tool_use"`), 400, anthropicError("messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`")},
		}},
		{name: "OpenAI", format: "chat", refusals: []refusal{
			{holds(odd), 400, openAIError("Invalid schema for function 'odd_tool': In context=('properties', 'tags'), array schema missing items.", "tools[1].function.parameters", "invalid_function_parameters")},
			{above(16384), 400, openAIError("max_tokens is too large: 99000. This model supports at most 16384 completion tokens, whereas you gave 99000.", "max_tokens", "invalid_value")},
			{holds(pictured), 400, openAIError("You uploaded an unsupported image. Please make sure your image is valid.", "", "invalid_image_format")},
		}},
		{name: "OpenAI Responses", format: "responses", refusals: []refusal{
			{holds(odd), 400, openAIError("Invalid schema for function 'odd_tool': schema must have type 'object'", "tools[1].parameters", "invalid_function_parameters")},
			{above(16384), 400, openAIError("Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 16384, but got 99000 instead.", "max_output_tokens", "integer_above_max_value")},
			{holds(pictured), 400, openAIError("The image data you provided does not represent a valid image.", "input", "invalid_value")},
		}},
		{name: "Gemini", format: "gemini", refusals: []refusal{
			{holds(odd), 400, googleError("* GenerateContentRequest.tools[0].function_declarations[1].parameters.properties[data].properties: only allowed for OBJECT type\n")},
			{above(65536), 400, googleError("Unable to submit request because it has a maxOutputTokens value of 99000 but the supported range is from 1 (inclusive) to 65537 (exclusive).")},
			{lacks(`"functionCall"`, `"thoughtSignature"`), 400, unsigned},
			{holds(pictured), 400, googleError("Unable to process input image.")},
		}},
		{name: "Gemini, vague", format: "gemini", refusals: []refusal{
			{holds(pictured), 400, googleError("Request contains an invalid argument.")},
		}},
		{name: "Gemini, compatible", format: "chat", refusals: []refusal{
			{holds(odd), 400, "[" + googleError("Unable to submit request because `odd_tool` functionDeclaration `parameters` schema should be of type OBJECT.") + "]"},
			{lacks(`"tool_calls"`, `thought_signature`), 400, "[" + unsigned + "]"},
			{holds(pictured), 400, "[" + googleError("Provided image is not valid.") + "]"},
		}},
		{name: "Kimi", format: "chat", refusals: []refusal{
			{holds(odd), 400, openAIError("Invalid request: function name or parameters of odd_tool is not a valid moonshot flavored json schema", "", "")},
			{lacks(`"tool_calls"`, `"reasoning_content":"[^"]`), 400, openAIError("thinking is enabled but reasoning_content is missing in assistant tool call message at index 2", "", "")},
			{holds(pictured), 400, openAIError("Invalid request: unsupported image url", "", "")},
		}},
		{name: "xAI", format: "chat", refusals: []refusal{
			{holds(odd), 400, `{"code":"Client specified an invalid argument","error":"Invalid schema for tool odd_tool: the top level must be an object"}`},
			{holds(pictured), 400, `{"code":"Client specified an invalid argument","error":"Unsupported image: could not decode the picture"}`},
		}},
		{name: "Bedrock behind LiteLLM", format: "chat", toolless: true, refusals: []refusal{
			{holds(odd), 400, openAIError("litellm.BadRequestError: BedrockException - The value at toolConfig.tools.2.member.toolSpec.inputSchema.json.type must be one of the following: object.", "", "400")},
			{above(4096), 400, openAIError("litellm.BadRequestError: BedrockException - The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum tokens value that is lower than 4096.", "", "400")},
			{lacks(`"tool_calls"`, `"tools":`), 400, openAIError("litellm.UnsupportedParamsError: Bedrock doesn't support tool calling without `tools=` param specified. Pass `tools=` param OR set `litellm.modify_params = True`", "", "400")},
			{holds(pictured), 400, openAIError("litellm.BadRequestError: BedrockException - Could not process image", "", "400")},
		}},
		{name: "LM Studio", format: "chat", refusals: []refusal{
			{holds(odd), 400, `{"error":"[{\"code\":\"invalid_literal\",\"expected\":\"object\",\"path\":[\"tools\",1,\"function\",\"parameters\",\"type\"],\"message\":\"Invalid literal value, expected object\"}]"}`},
			{holds(`"role":"tool"`), 400, `{"error":"Error rendering prompt with jinja template: \"Conversation roles must alternate user/assistant\""}`},
			{holds(pictured), 400, `{"error":"'url' field must be a base64 encoded image."}`},
		}},
	}
}

// says is an answer in a format.
func (v refusing) says() string {
	switch v.format {
	case "messages":
		return `data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}` + "\n\n" +
			`data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"well"}}` + "\n\n" +
			`data: {"type":"content_block_stop","index":0}` + "\n\n" +
			`data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":5,"output_tokens":1}}` + "\n\ndata: {\"type\":\"message_stop\"}\n\n"
	case "responses":
		return `data: {"type":"response.output_text.delta","delta":"well"}` + "\n\n" + `data: {"type":"response.completed","response":{"status":"completed","output":[]}}` + "\n\n"
	case "gemini":
		return `data: {"candidates":[{"content":{"role":"model","parts":[{"text":"well"}]},"finishReason":"STOP"}]}` + "\n\n"
	}
	return `data: {"choices":[{"index":0,"delta":{"content":"well"},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
}

func (v refusing) provider(url string, most int, findings string) session.Provider {
	o := wire.Options{Name: "vendor", BaseURL: url, Key: "sk-123456789", MaxTokens: most, Findings: wire.NewFindings(findings, time.Now)}
	switch v.format {
	case "messages":
		return anthropic.New(o)
	case "responses":
		return responses.New(o)
	case "gemini":
		return gemini.New(o)
	}
	return openai.New(o)
}

// A session that began with another model goes on at each vendor, though its server refuses a tool,
// a picture, the length of the answer and calls of the history; so does the next process. What a
// model refused once is not sent again.
func TestARefusalEndsNoSession(t *testing.T) {
	t.Parallel()
	for _, v := range refusingVendors() {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var bodies []string
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				raw, _ := io.ReadAll(r.Body)
				mu.Lock()
				bodies = append(bodies, string(raw))
				mu.Unlock()
				for _, reason := range v.refusals {
					if reason.of(string(raw)) {
						w.Header().Set("Content-Type", "application/json")
						w.WriteHeader(reason.status)
						_, _ = io.WriteString(w, reason.body)
						return
					}
				}
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, v.says())
			}))
			t.Cleanup(s.Close)
			count := func() int { mu.Lock(); defer mu.Unlock(); return len(bodies) }

			findings := filepath.Join(t.TempDir(), "refusals.json")
			var notices []string
			store := &kept{}
			config := func(p session.Provider, tools bool) session.Config {
				set := looking(t, tools)
				return session.Config{
					Identity: session.Identity{ID: "one", Start: session.Start{Version: "test", Model: "p/m", System: "be brief", Tools: set.Digest()}},
					Requests: session.Requests{Provider: p, Model: "m"},
					Calls: session.Calls{Tools: set, Gate: tool.GateFunc(func(context.Context, tool.Question) (tool.Decision, error) {
						return tool.Decision{Allow: true}, nil
					})},
					Storage: session.Storage{Store: store},
					Host: session.Host{Observe: func(e session.Event) {
						if n, ok := e.(session.Notice); ok {
							notices = append(notices, n.Text)
						}
					}},
				}
			}
			goesOn := func(s *session.Session, in session.Input) {
				t.Helper()
				if r := s.Prompt(t.Context(), in); r.Cause != session.CauseDone {
					t.Fatalf("%q ended with %s: %s\n%s", in.Text, r.Cause, r.Message, strings.Join(notices, "\n"))
				}
			}
			goesOn(session.New(config(&calling{}, true)), session.Input{Text: "look around"})

			second, err := session.Resume(t.Context(), config(v.provider(s.URL, 99000, findings), true))
			if err != nil {
				t.Fatal(err)
			}
			picture := tool.Attachment{Name: "shot.png", MediaType: "image/png", Data: pixel()}
			goesOn(second, session.Input{Text: "and this?", Attachments: []tool.Attachment{picture}})
			refused := count()
			if refused > len(v.refusals)+3 {
				t.Errorf("%d requests for %d refusals", refused, len(v.refusals))
			}
			goesOn(second, session.Input{Text: "and now?"})
			if n := count() - refused; n != 1 {
				t.Errorf("the next turn took %d requests: nothing was remembered", n)
			}
			said := strings.Join(notices, "\n")
			if !strings.Contains(said, "picture") || holds(odd)(bodies[0]) && v.refusals[0].of(bodies[0]) && len(v.refusals) > 1 && !strings.Contains(said, "odd_tool of the MCP server weather") {
				t.Errorf("the user is told %q", said)
			}
			if strings.Contains(said, "takes no tools") {
				t.Errorf("one tool is taken for all: %q", said)
			}

			third, err := session.Resume(t.Context(), config(v.provider(s.URL, 99000, findings), !v.toolless))
			if err != nil {
				t.Fatal(err)
			}
			before := count()
			goesOn(third, session.Input{Text: "go on"})
			if n := count() - before; n != 1 && !v.toolless {
				t.Errorf("the next process made %d requests: nothing was kept", n)
			}
			if strings.Contains(said, "tool odd_tool of") && !v.toolless && !strings.Contains(strings.Join(notices, "\n"), "refused the schema of the tool odd_tool of the MCP server weather before") {
				t.Errorf("the user of the next process is not told of the tool: %q", notices)
			}
			for _, body := range bodies[before:] {
				if strings.Contains(body, pictured) || !strings.Contains(body, "shot.png") {
					t.Errorf("the picture is not left out: %s", body)
				}
			}
		})
	}
}

// calling is another model: it calls a tool, then answers.
type calling struct{ asked int }

func (*calling) Name() string { return "other" }

func (c *calling) Stream(context.Context, session.Request) iter.Seq[session.Chunk] {
	c.asked++
	return func(yield func(session.Chunk) bool) {
		if c.asked > 1 {
			_ = yield(session.Text{Delta: "I looked."}) && yield(session.Done{Stop: session.StopEnd})
			return
		}
		_ = yield(session.Call{RawCall: tool.RawCall{ID: "call_1", Name: "look", Arguments: `{}`, Origin: tool.Native}}) && yield(session.Done{Stop: session.StopCalls})
	}
}

// looking are the tools: a good one, and one of an MCP server that vendors refuse.
func looking(t *testing.T, some bool) *tool.Set {
	t.Helper()
	var registry tool.Registry
	run := func(context.Context, tool.Context[struct{}], json.RawMessage) (tool.Result[struct{}], error) {
		return tool.Result[struct{}]{Output: "a tree"}, nil
	}
	for _, name := range []string{"look", "odd_tool"} {
		c := tool.Config[json.RawMessage, struct{}]{
			Description: "Look.", Permissions: tool.Requires(tool.Read), Redact: tool.Expose(), Run: run,
			Parameters: json.RawMessage(`{"type":"object","properties":{"at":{"type":"string"}}}`),
		}
		if name == "odd_tool" {
			c.Tags = []string{"mcp", "weather"}
		}
		if !some {
			continue
		}
		if err := registry.Register(tool.Define(name, c)); err != nil {
			t.Fatal(err)
		}
	}
	set, err := registry.Tools(t.Context(), tool.Init{})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// kept is a store in memory.
type kept struct {
	mu      sync.Mutex
	entries []session.Entry
}

func (*kept) Lock(context.Context, session.ID) error       { return nil }
func (*kept) Close() error                                 { return nil }
func (*kept) List(context.Context) ([]session.Head, error) { return nil, nil }
func (k *kept) Load(context.Context, session.ID) ([]session.Entry, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return append([]session.Entry(nil), k.entries...), nil
}

func (k *kept) Append(_ context.Context, _ session.ID, entries ...session.Entry) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, e := range entries {
		if !json.Valid(e.Data) {
			return fmt.Errorf("an entry %s that is not JSON", e.Type)
		}
	}
	k.entries = append(k.entries, entries...)
	return nil
}

// What a server refused once and wants now is forgotten, at the cost of one request.
func TestAFindingThatNoLongerHoldsIsForgotten(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	asked, wants := 0, false
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		asked++
		if strings.Contains(string(raw), "stream_options") == wants {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, refusing{format: "chat"}.says())
			return
		}
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, openAIError("Invalid value for stream_options", "stream_options", ""))
	}))
	t.Cleanup(s.Close)
	findings := filepath.Join(t.TempDir(), "refusals.json")
	ask := func(requests int) {
		t.Helper()
		mu.Lock()
		before := asked
		mu.Unlock()
		p := refusing{format: "chat"}.provider(s.URL, 0, findings)
		request := session.Request{Model: "m", Messages: []session.Message{{ID: "m1", Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: "hi"}}}}}
		for c := range p.Stream(t.Context(), request) {
			if done, ok := c.(session.Done); ok && done.Err != nil {
				t.Error(done.Err)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if asked-before != requests {
			t.Errorf("%d requests, want %d", asked-before, requests)
		}
	}
	ask(2)
	ask(1)
	mu.Lock()
	wants = true
	mu.Unlock()
	ask(2)
	ask(1)
}
