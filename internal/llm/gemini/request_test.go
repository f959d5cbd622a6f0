package gemini_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"adze/internal/llm/gemini"
	"adze/internal/testkit/llmtest"
	"adze/session"
	"adze/tool"
)

func refusal(message string) llmtest.Reply {
	return llmtest.Reply{Status: http.StatusBadRequest, Body: refused("INVALID_ARGUMENT", message)}
}

func refused(status, message string) string {
	return fmt.Sprintf(`[{"error":{"message":%q,"status":%q,"details":[]}}]`, message, status)
}

func fine() llmtest.Reply {
	return llmtest.Reply{Status: http.StatusOK, Body: `data: {"candidates":[{"content":{"role":"model","parts":[{"text":"ok"}]},"finishReason":"STOP"}]}` + "\n\n"}
}

// ask sends requests with one provider and fails when one fails.
func ask(t *testing.T, o gemini.Options, answers []llmtest.Reply, requests ...session.Request) (*llmtest.Keeper, []session.Chunk) {
	t.Helper()
	k := &llmtest.Keeper{Answers: answers}
	o.HTTP = &http.Client{Transport: k}
	return k, llmtest.Ask(t, gemini.New(o), requests...)
}

func text(id string, role session.Role, s string) session.Message {
	return session.Message{ID: id, Role: role, Parts: []session.Part{{Kind: session.TextPart, Text: s}}}
}

func done(m session.Message, outputs ...string) session.Message {
	out := session.Message{ID: m.ID + "o", Role: session.ToolRole}
	for i, c := range m.Calls() {
		out.Parts = append(out.Parts, session.Part{Kind: session.OutcomePart, Outcome: &tool.Outcome{
			Call: c.ID, Tool: c.Name, Status: tool.Completed, Output: outputs[i],
		}})
	}
	return out
}

// What a stream signed goes back in the same part, joined with nothing, but only to the provider
// that made it.
func TestSignaturesGoBackUnchanged(t *testing.T) {
	stream := `data: {"candidates":[{"content":{"parts":[{"text":"hm","thought":true},{"text":" so","thought":true,"thoughtSignature":"dGg="}]}}]}

data: {"candidates":[{"content":{"parts":[{"text":"I "}]}}]}

data: {"candidates":[{"content":{"parts":[{"text":"röad","thoughtSignature":"dHg="},{"text":" on."},{"text":"","thoughtSignature":"ZW0="}]}}]}

data: {"candidates":[{"content":{"parts":[{"functionCall":{"id":"k1","name":"read","args":{"p": 1.50}},"thoughtSignature":"Y2E="},{"text":"","thoughtSignature":"YmU="},{"functionCall":{"name":"list"}}]}}]}

data: {"candidates":[{"content":{"parts":[{"text":"Done.","thoughtSignature":"ZW4="}]},"finishReason":"STOP"}]}

`
	_, chunks := ask(t, gemini.Options{NewID: func() string { return "minted" }}, []llmtest.Reply{{Status: http.StatusOK, Body: stream}}, session.Request{Model: "m"})
	m := llmtest.Stored("gemini", "a", chunks)
	for _, c := range []struct{ provider, model, want string }{
		{"gemini", "gemini-3-pro", `[{"text":"hm so","thought":true,"thoughtSignature":"dGg="},{"text":"I "},{"text":"röad","thoughtSignature":"dHg="},` +
			`{"text":" on."},{"text":"","thoughtSignature":"ZW0="},{"functionCall":{"id":"k1","name":"read","args":{"p":1.50}},"thoughtSignature":"Y2E="},` +
			`{"text":"","thoughtSignature":"YmU="},{"functionCall":{"name":"list","args":{}}},{"text":"Done.","thoughtSignature":"ZW4="}]},{"role":"user","parts":[{"functionResponse":{"id":"k1","name":"read","response":{"output":"A"}}},` +
			`{"functionResponse":{"name":"list","response":{"output":"B"}}}]}`},
		{"openai", "gemini-3-pro", `[{"text":"I röad"},{"text":" on."},{"text":"Done."},{"functionCall":{"name":"read","args":{"p":1.50}},"thoughtSignature":"skip_thought_signature_validator"},` +
			`{"functionCall":{"name":"list","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":"A"}}},`},
		{"openai", "gemini-2.5-pro", `[{"text":"I röad"},{"text":" on."},{"text":"Done."},{"functionCall":{"name":"read","args":{"p":1.50}}},{"functionCall":{"name":"list","args":{}}}]}`},
	} {
		m.Provider = c.provider
		k, _ := ask(t, gemini.Options{}, []llmtest.Reply{fine()}, session.Request{Model: c.model, Messages: []session.Message{text("u", session.User, "go"), m, done(m, "A", "B")}})
		if want := `{"role":"model","parts":` + c.want; !strings.Contains(k.Bodies[0], want) {
			t.Errorf("%s on %s: no %s in %s", c.provider, c.model, want, k.Bodies[0])
		}
	}
}

// What a model refuses is left out, at once and from then on, for this model alone.
func TestRefusedPartsAreLeftOut(t *testing.T) {
	signed := session.Message{ID: "1", Role: session.Assistant, Provider: "gemini", Parts: []session.Part{
		{Kind: session.CallPart, Call: &tool.RawCall{ID: "a", Name: "read", Opaque: json.RawMessage(`{"signature":"b3du"}`)}},
	}}
	for _, c := range []struct{ said, gone string }{
		{"Thinking is not enabled for models/gemini-2.0-flash.", "thinkingConfig"},
		{"Corrupted thought signature.", "b3du"},
	} {
		r := session.Request{Model: "gemini-3-x", Messages: []session.Message{text("0", session.User, "go"), signed, done(signed, "A")}}
		other := r
		other.Model = "gemini-3-y"
		k, _ := ask(t, gemini.Options{}, []llmtest.Reply{refusal(c.said), fine()}, r, r, other)
		if len(k.Bodies) != 4 {
			t.Fatalf("%s: asked %d times", c.said, len(k.Bodies))
		}
		for i, has := range []bool{true, false, false, true} {
			if strings.Contains(k.Bodies[i], c.gone) != has {
				t.Errorf("%s: request %d: %s", c.said, i, k.Bodies[i])
			}
		}
	}
}

func TestAddressAndKey(t *testing.T) {
	for _, c := range []struct{ base, model, want string }{
		{"", "gemini-2.5-pro", "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse"},
		{"http://a.test/", "models/m", "http://a.test/v1beta/models/m:streamGenerateContent?alt=sse"},
		{"http://a.test/g/v1", "tunedModels/t", "http://a.test/g/v1/tunedModels/t:streamGenerateContent?alt=sse"},
		{"http://a.test/vertex", "m?key=x#y", "http://a.test/vertex/v1beta/models/m%3Fkey=x%23y:streamGenerateContent?alt=sse"},
	} {
		k, _ := ask(t, gemini.Options{BaseURL: c.base, Key: "AIza"}, []llmtest.Reply{fine()}, session.Request{Model: c.model})
		if k.URL != c.want || k.Header.Get("X-Goog-Api-Key") != "AIza" || strings.Contains(k.URL+k.Bodies[0], "AIza") {
			t.Errorf("%s with %v", k.URL, k.Header)
		}
	}
}

func TestQuotaOfAMinuteIsAwaited(t *testing.T) {
	for said, want := range map[string]session.ProviderError{
		"You exceeded your current quota. * Quota exceeded for metric: x/free_tier_requests, limit: 20 Please retry in 43.5s.": {Kind: session.RateError, RetryAfter: 43500 * time.Millisecond},
		"You exceeded your current quota. * Quota exceeded for metric: x/free_tier_requests, limit: 0 Please retry in 43.5s.":  {Kind: session.AuthError},
		"You exceeded your current quota, please check your plan.":                                                             {Kind: session.AuthError},
	} {
		k := &llmtest.Keeper{Answers: []llmtest.Reply{{Status: http.StatusTooManyRequests, Body: refused("RESOURCE_EXHAUSTED", said)}}}
		for c := range gemini.New(gemini.Options{HTTP: &http.Client{Transport: k}}).Stream(t.Context(), session.Request{Model: "m"}) {
			failure, ok := c.(session.Done).Err.(*session.ProviderError)
			if !ok || failure.Kind != want.Kind || failure.RetryAfter != want.RetryAfter {
				t.Errorf("%s: %#v", said, c)
			}
		}
	}
}

// Older models give STOP with every chunk: only the end of the stream ends the answer.
func TestReasonWithEveryChunk(t *testing.T) {
	stream := ""
	for _, s := range []string{"Hello ", "there", "."} {
		stream += `data: {"candidates":[{"content":{"parts":[{"text":"` + s + `"}]},"finishReason":"STOP"}]}` + "\n\n"
	}
	_, chunks := ask(t, gemini.Options{}, []llmtest.Reply{{Status: http.StatusOK, Body: stream}}, session.Request{Model: "m"})
	if got := llmtest.Stored("gemini", "a", chunks).Text(); got != "Hello there." {
		t.Errorf("%q", got)
	}
}

// A schema goes as it is, with the order of its properties; a server that knows only the older form
// gets a simple one from then on.
func TestSchemas(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"object","additionalProperties":false}`: ``,
		`{"type":"object","properties":{}}`:              ``,
		`[]`:                                             ``,
		`{"type":"object","properties":{"a":{"$ref":"#"}}}`:                           `{"type":"object","properties":{"a":{"$ref":"#"}}}`,
		`{"type":"object","properties":{"z":{"x":{"b":1}},"a":{}}}`:                   `{"type":"object","properties":{"z":{"x":{"b":1}},"a":{}},"propertyOrdering":["z","a"]}`,
		`{"type":"object","properties":{"z":{},"a":{}},"propertyOrdering":["a","z"]}`: `{"type":"object","properties":{"z":{},"a":{}},"propertyOrdering":["a","z"]}`,
	} {
		r := session.Request{Model: "m", Tools: []tool.Definition{{Name: "t", Description: "d", Parameters: json.RawMessage(schema)}}, ToolsDigest: "d"}
		k, _ := ask(t, gemini.Options{}, []llmtest.Reply{fine()}, r)
		if want != "" {
			want = `,"parametersJsonSchema":` + want
		}
		if want = `"tools":[{"functionDeclarations":[{"name":"t","description":"d"` + want + `}]}]`; !strings.Contains(k.Bodies[0], want) {
			t.Errorf("no %s in %s", want, k.Bodies[0])
		}
	}
	r := session.Request{Model: "m", ToolsDigest: "d", Tools: []tool.Definition{{Name: "t", Description: "d", Parameters: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string","pattern":"x"}}}`)}}}
	said := `Invalid JSON payload received. Unknown name "parametersJsonSchema" at 'tools[0].function_declarations[0]': Cannot find field.`
	k, _ := ask(t, gemini.Options{}, []llmtest.Reply{refusal(said), fine()}, r, r)
	if want := `"description":"d","parameters":{"properties":{"a":{"type":"string"}},"type":"object"}`; len(k.Bodies) != 3 || !strings.Contains(k.Bodies[2], want) {
		t.Errorf("asked %d times: %s", len(k.Bodies), k.Bodies)
	}
}

func TestChoiceAndEffort(t *testing.T) {
	tools := []tool.Definition{{Name: "t", Parameters: json.RawMessage(`{"type":"object"}`)}}
	for choice, want := range map[session.Choice]string{
		session.ChooseNone: `"toolConfig":{"functionCallingConfig":{"mode":"NONE"}}`,
		session.ChooseSome: `"toolConfig":{"functionCallingConfig":{"mode":"ANY"}}`,
		"t":                `"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["t"]}}`,
	} {
		k, _ := ask(t, gemini.Options{}, []llmtest.Reply{fine()}, session.Request{Model: "m", Tools: tools, Choice: choice})
		if !strings.Contains(k.Bodies[0], want) {
			t.Errorf("no %s in %s", want, k.Bodies[0])
		}
	}
	for effort, want := range map[string][2]string{
		"none": {`"thinkingLevel":"minimal"`, `"thinkingConfig":{"includeThoughts":false,"thinkingBudget":0}`}, "minimal": {`"minimal"`, `"thinkingBudget":512`},
		"high": {`"thinkingLevel":"high"`, `"thinkingBudget":24576`}, "max": {`"thinkingLevel":"high"`, `"thinkingBudget":24576`},
	} {
		for i, model := range []string{"gemini-3-flash", "gemini-2.5-flash"} {
			k, _ := ask(t, gemini.Options{Effort: "low"}, []llmtest.Reply{fine()}, session.Request{Model: model, Effort: effort})
			if !strings.Contains(k.Bodies[0], want[i]) {
				t.Errorf("%s %s: no %s in %s", model, effort, want[i], k.Bodies[0])
			}
		}
	}
	for model, want := range map[string]string{
		"gemini-3-pro-preview": `"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"low"}`,
		"gemini-flash-latest":  `"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"low"}`,
		"gemini-2.5-pro":       `"thinkingConfig":{"includeThoughts":true,"thinkingBudget":2048}`,
	} {
		k, _ := ask(t, gemini.Options{Effort: "low"}, []llmtest.Reply{fine()}, session.Request{Model: model})
		if !strings.Contains(k.Bodies[0], want) {
			t.Errorf("%s: no %s in %s", model, want, k.Bodies[0])
		}
	}
}
