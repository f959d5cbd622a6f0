package local

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
)

// entry is one model in a list, with all servers' field names. A field with another type is
// ignored.
type entry map[string]json.RawMessage

// entriesIn finds the list: under data (OpenAI and most), under models (Gemini, LM Studio, Ollama),
// under a name of a cloud, or bare (Together).
func entriesIn(raw []byte) ([]entry, bool) {
	var bare []json.RawMessage
	if raw = bytes.TrimSpace(raw); json.Unmarshal(raw, &bare) != nil || bare == nil {
		var under map[string]json.RawMessage
		if json.Unmarshal(raw, &under) != nil {
			return nil, false
		}
		var list json.RawMessage
		for _, name := range []string{"data", "models", "modelSummaries", "inferenceProfileSummaries", "publisherModels"} {
			if list == nil {
				list = under[name]
			}
		}
		if list == nil || json.Unmarshal(list, &bare) != nil {
			return nil, false
		}
	}
	var out []entry
	for _, one := range bare {
		var e entry
		if json.Unmarshal(one, &e) == nil && e != nil {
			out = append(out, e)
		}
	}
	return out, true
}

// model reads the fields that all servers share; it returns false for an entry that is no chat
// model.
func (e entry) model() (Model, bool) {
	name := e.text("name")
	if _, in, cut := strings.Cut("/"+name, "/models/"); cut { // Google's
		name = in
	}
	name = cmp.Or(e.text("key"), e.text("id"), e.text("modelId"), e.text("inferenceProfileId"), name) // LM Studio has key
	m := Model{
		Name: name, Owner: e.text("owned_by"), Size: int64(e.count("size_bytes")),
		Context: e.count("max_model_len", "context_length", "context_window", "loaded_context_length", "inputTokenLimit"),
		Trained: e.count("max_context_length"),
		Output:  cmp.Or(e.count("max_completion_tokens", "outputTokenLimit"), e.in("top_provider").count("max_completion_tokens")),
	}
	switch kind := e.text("type"); {
	case name == "", strings.HasPrefix(kind, "embedding"), e.lacks("supportedGenerationMethods", "generateContent"), e.lacks("inferenceTypesSupported", "ON_DEMAND"):
		return m, false
	case kind == "vlm":
		m.Vision = new(true)
	}
	e.abilities(&m)
	e.meta(&m)
	m.Thinking = first(m.Thinking, e.flag("thinking"))
	m.Input, m.Answer = e.rate("prompt"), e.rate("completion")
	return m, true
}

// abilities reads OpenRouter's supported_parameters and architecture, and the capabilities of
// Mistral and LM Studio, which are an object or a list.
func (e entry) abilities(m *Model) {
	if list := e.list("supported_parameters"); list != nil {
		m.Tools, m.Thinking = new(slices.Contains(list, "tools")), new(slices.Contains(list, "reasoning"))
	}
	if list := e.list("inputModalities"); list != nil { // Bedrock
		m.Vision = new(slices.Contains(list, "IMAGE"))
	}
	if list := e.in("architecture").list("input_modalities"); list != nil {
		m.Vision = new(slices.Contains(list, "image"))
	}
	if list := e.list("capabilities"); list != nil {
		m.Tools = new(slices.Contains(list, "tool_use"))
	}
	able := e.in("capabilities")
	m.Tools = first(able.flag("trained_for_tool_use"), able.flag("function_calling"), m.Tools)
	m.Vision = first(able.flag("vision"), m.Vision)
	if reasoning := able["reasoning"]; len(reasoning) > 0 && reasoning[0] == '{' {
		m.Thinking = new(true)
	}
}

func (e entry) meta(m *Model) {
	meta := e.in("meta")
	if n := meta.count("n_ctx"); n > 0 {
		m.Context = n
	}
	if n := meta.count("n_ctx_train"); n > 0 {
		m.Trained = n
	}
	if n := meta.count("size"); n > 0 {
		m.Size = int64(n)
	}
	if state := e.text("state"); state != "" { // LM Studio
		m.Loaded = new(state == "loaded")
	}
	if state := e.in("status").text("value"); state != "" { // llama.cpp with several models
		m.Loaded = new(state == "loaded")
	}
}

func (e entry) text(name string) string {
	var s string
	if json.Unmarshal(e[name], &s) != nil {
		return ""
	}
	return s
}

// count returns the first of the fields with a plausible number.
func (e entry) count(names ...string) int {
	for _, name := range names {
		var n float64
		if raw, ok := e[name]; ok && json.Unmarshal(raw, &n) == nil && n >= 1 && n <= math.MaxInt32*1024 {
			return int(n)
		}
	}
	return 0
}

func (e entry) flag(name string) *bool {
	var b *bool
	if json.Unmarshal(e[name], &b) != nil {
		return nil
	}
	return b
}

func (e entry) list(name string) []string {
	var l []string
	if json.Unmarshal(e[name], &l) != nil {
		return nil
	}
	return l
}

func (e entry) entries(name string) []entry {
	var l []entry
	if json.Unmarshal(e[name], &l) != nil {
		return nil
	}
	return l
}

// lacks reports whether the list exists and does not hold the word.
func (e entry) lacks(name, word string) bool {
	l := e.list(name)
	return l != nil && !slices.Contains(l, word)
}

func (e entry) in(name string) entry {
	var inner entry
	if json.Unmarshal(e[name], &inner) != nil {
		return nil
	}
	return inner
}

// rate converts OpenRouter's USD per token, a string, to USD per million.
func (e entry) rate(name string) *float64 {
	v, err := strconv.ParseFloat(e.in("pricing").text(name), 64)
	if err != nil || v < 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return nil
	}
	v = math.Round(v*1e12) / 1e6
	return &v
}

func first(flags ...*bool) *bool {
	for _, f := range flags {
		if f != nil {
			return f
		}
	}
	return nil
}
