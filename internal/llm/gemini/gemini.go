// Package gemini speaks Google's generateContent format, streaming:
// generativelanguage.googleapis.com, or a gateway by base URL.
//
// The one rule: an answer is complete with a finishReason and the end of the stream, and nothing
// else; calls decide how it ended, not the reason, which is STOP although there are calls. Whatever
// came with a thoughtSignature goes back in the same part with it.
//
// Start at Provider.Stream; request.go, content.go and schema.go encode, stream.go decodes.
//
// Known limits: only the first candidate is read; parts of tools that run at the provider (code
// execution, search) and generated images are skipped; models before Gemini 3 get images of an
// outcome in a message of the user that follows; of a server that gives a reason with every chunk,
// a stream cut between two chunks cannot be told from a whole one.
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

// Options configure a provider. The zero value is Google's server without a key, which is sent as
// x-goog-api-key and never in the address. BaseURL may end with a version, such as /v1beta, which
// is added otherwise.
type Options = wire.Options

// Provider is a session.Provider. It is safe for concurrent use.
type Provider struct {
	wire.Adapter
}

var _ session.Provider = (*Provider)(nil)

// New makes a provider. It does no work and opens no connection.
func New(o Options) *Provider {
	o = o.Or(Options{
		Name: "gemini", BaseURL: home, KeyEnv: "GEMINI_API_KEY", URLEnv: "GEMINI_BASE_URL",
		KeyHint: "check GEMINI_API_KEY and what its project may use",
	})
	p := &Provider{Adapter: wire.Adapt(o, versioned(o.BaseURL), wire.With(o.Header, "X-Goog-Api-Key", o.Key))}
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

// Format is what the choice of a model knows of this format.
func Format() wire.Format {
	return wire.Format{
		Name: "gemini",
		New:  func(o Options) session.Provider { return New(o) },
		Tools: func(t []tool.Definition) json.RawMessage {
			return slices.Concat([]byte(`[{"functionDeclarations":[`), offer(t, false), []byte(`]}]`))
		},
		List:   wire.ListBelow(version),
		Header: func(key string) http.Header { return wire.With(nil, "X-Goog-Api-Key", key) },
	}
}

// Stream asks the model.
func (p *Provider) Stream(ctx context.Context, r session.Request) iter.Seq[session.Chunk] {
	return p.Adapter.Stream(ctx, r, path(r.Model), p.body, func(whole wire.Answer) (session.Done, error) {
		a := answer{Answer: whole}
		err := a.read()
		return a.Done, err
	})
}

// Parts of a request that not every model accepts.
const (
	noSchema     = "NoSchema"     // responseJsonSchema, or this schema in it
	oldSchema    = "OldSchema"    // parametersJsonSchema: gateways that are older than it
	noThinking   = "NoThinking"   // thinkingConfig: models that do not think refuse it
	noSignatures = "NoSignatures" // signatures made for another model or project
	// signs: wants a signature with each call, whatever the model's name says.
	signs = "Signed"
)

// quirks are learned from refusals; the words are those of Google's server.
func quirks() []wire.Quirk {
	return []wire.Quirk{
		{Name: oldSchema, When: [][]string{{"parametersjsonschema", "parameters_json_schema"}}},
		{Name: noSchema, When: [][]string{{"response_json_schema", "responsejsonschema", "response_mime_type", "responsemimetype", "response_schema"}}, Once: true},
		{Name: signs, When: [][]string{{"missing a thought_signature", "missing thought_signature", "missing a thought signature"}}},
		{Name: noSignatures, When: [][]string{{"thought signature is not valid", "corrupted thought signature", "invalid thought signature"}}, Once: true},
		{Name: noThinking, When: [][]string{{"thinking is not", "thinking level", "thinking_level", "thinking_budget", "thinking_config", "thinkingconfig", "include_thoughts"}}},
	}
}

// path is where a model is asked: "models/" stands before a bare name, tuned models bring their own
// folder.
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
