// Package gemini speaks Google's streaming generateContent format, with
// generativelanguage.googleapis.com or a gateway.
//
// The one rule: an answer is complete with a finishReason and the end of the stream. Calls take
// precedence over the reason, which is STOP even if there are calls. A thoughtSignature goes back
// in the part it came with.
//
// Start at Provider.Stream; request.go, content.go and schema.go encode, stream.go decodes.
//
// Known limits: only the first candidate is read; parts of server tools (code execution, search)
// and generated images are skipped; models before Gemini 3 get result images in a user message that
// follows. If a server sends a reason with every chunk, a stream cut between two chunks looks
// complete.
package gemini

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"adze/internal/llm/wire"
	"adze/session"
	"adze/tool"
)

const (
	home    = "https://generativelanguage.googleapis.com"
	version = "/v1beta"
)

// Options configure a provider. The zero value is Google's server without a key. The key is sent as
// x-goog-api-key, never in the URL. BaseURL may end with a version such as /v1beta, which is
// otherwise added.
type Options = wire.Options

// A Provider is a session.Provider. It is safe for concurrent use.
type Provider struct {
	wire.Adapter
}

var _ session.Provider = (*Provider)(nil)

// New returns a provider. It opens no connection.
func New(o Options) *Provider {
	o = o.WithDefaults(Options{
		Name: "gemini", BaseURL: home, KeyEnv: "GEMINI_API_KEY", URLEnv: "GEMINI_BASE_URL",
		KeyHint: "check GEMINI_API_KEY and what its project may use",
	})
	base := o.BaseURL
	if o.Door == nil || o.Door.Path == nil {
		base = versioned(base)
	}
	p := &Provider{Adapter: wire.Adapt(o, base, wire.WithHeader(o.Header, "X-Goog-Api-Key", o.Key))}
	p.Pictures, p.Quirks = wire.GeminiPictures, quirks()
	return p
}

func versioned(base string) string {
	base = strings.TrimRight(base, "/")
	last := base[strings.LastIndexByte(base, '/')+1:]
	if len(last) > 1 && last[0] == 'v' && last[1] >= '0' && last[1] <= '9' {
		return base
	}
	return base + version
}

// Format describes this format to package models.
func Format() wire.Format {
	return wire.Format{
		Name: "gemini",
		New:  func(o Options) session.Provider { return New(o) },
		Tools: func(t []tool.Definition) json.RawMessage {
			return slices.Concat([]byte(`[{"functionDeclarations":[`), offer(t, false), []byte(`]}]`))
		},
		List:   wire.ListBelow(version),
		Header: func(key string) http.Header { return wire.WithHeader(nil, "X-Goog-Api-Key", key) },
	}
}

// Stream sends the request and yields the answer.
func (p *Provider) Stream(ctx context.Context, r session.Request) iter.Seq[session.Chunk] {
	return p.Adapter.Stream(ctx, r, path(r.Model), p.body, func(whole wire.Answer) (session.Done, error) {
		a := answer{Answer: whole}
		err := a.read()
		return a.Done, err
	})
}

// Quirks: parts of a request that not every model accepts.
const (
	noSchema     = "NoSchema"     // responseJsonSchema, or this schema in it
	oldSchema    = "OldSchema"    // parametersJsonSchema: unknown to older gateways
	noThinking   = "NoThinking"   // thinkingConfig: refused by models that do not think
	noSignatures = "NoSignatures" // signatures of another model or project
	// Requires a signature with each call, whatever the model's name.
	signs = "Signed"
)

// quirks are learned from error messages of Google's server.
func quirks() []wire.Quirk {
	return []wire.Quirk{
		{Name: oldSchema, RefusalWords: [][]string{{"parametersjsonschema", "parameters_json_schema"}}},
		{Name: noSchema, RefusalWords: [][]string{{"response_json_schema", "responsejsonschema", "response_mime_type", "responsemimetype", "response_schema"}}, PerConversation: true},
		{Name: signs, RefusalWords: [][]string{{"missing a thought_signature", "missing thought_signature", "missing a thought signature"}}},
		{Name: noSignatures, RefusalWords: [][]string{{"thought signature is not valid", "corrupted thought signature", "invalid thought signature"}}, PerConversation: true},
		{Name: noThinking, RefusalWords: [][]string{{"thinking is not", "thinking level", "thinking_level", "thinking_budget", "thinking_config", "thinkingconfig", "include_thoughts"}}},
	}
}

// path returns the model's URL path: a bare name gets the prefix "models/", tuned models bring
// their own folder.
func path(model string) string {
	if !strings.Contains(model, "/") {
		model = "models/" + model
	}
	steps := strings.Split(model, "/")
	for i, s := range steps {
		steps[i] = url.PathEscape(s)
	}
	return "/" + strings.Join(steps, "/") + ":streamGenerateContent?alt=sse"
}
