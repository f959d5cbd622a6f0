package models

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"adze/internal/config"
	"adze/internal/llm/anthropic"
	"adze/internal/llm/gemini"
	"adze/internal/llm/local"
	"adze/internal/llm/ollama"
	"adze/internal/llm/openai"
	"adze/internal/llm/responses"
	"adze/internal/llm/wire"
)

// A Vendor is a provider: a company, or a program for self-hosting.
type Vendor struct {
	Name string // before the slash in a model's full name
	// Program is a self-hosted program's name; empty for a company, which requires a key.
	Program string
	Home    string      // the documented address; may be empty
	Keys    []string    // its key's variables; the first set one is used
	URLs    []string    // its address's variables
	Format  wire.Format // from its adapter
	// Default is the model for a bare key, and Rank the order among such keys. OnlyHome: not if an
	// address is set too, because other servers of the format have other models.
	Default        string
	Rank           int
	DefaultURLOnly bool
	// ListsDetails is the program whose list has more than names; Any if unknown.
	ListsDetails local.Kind
	Start        string // how to start the program
	ContextHint  string // how to enlarge its context; NAME stands for the model
	Fetch        Fetch  // for a program that downloads models itself
	KeyPage      string // where to get a company's key
	KeyPrefix    string // of a company's keys, if unique
	// ModelPrefixes are name prefixes that only this company uses; after a "!", names that others
	// run.
	ModelPrefixes []string
	Profile       func() Profile
	// OTelName is gen_ai.provider.name in the semantic conventions for generative AI; if empty,
	// Name.
	OTelName string
	// Cloud is bedrock, vertex or azure, for a cloud's account.
	Cloud string
	// SameServerAs is the vendor with the same server in another format; may be empty.
	SameServerAs string
}

// specialConstructor returns a special constructor for a vendor's models, or nil. It is not in the
// table, which would be an initialization cycle.
func (v Vendor) specialConstructor() func(f *Finder, e Endpoint, model string) (Model, error) {
	switch v.Name {
	case "ollama":
		return (*Finder).ollama
	case "script":
		return (*Finder).script
	}
	return nil
}

// Fetch describes how to install a program and get a model, as the user types it.
type Fetch struct {
	Site    string // the program's site
	Serve   string // starts it; the first word is the program
	Get     string // gets a model; NAME stands for it
	Suggest string // a model that calls tools
	Size    string // of that model
}

// vendors returns the built-in providers in listing order.
//
// Default models: a key does not show which models it may use, so a provider that rejects one
// answers with a hint how to choose another. Free Gemini keys have no quota for larger models.
//
// The table is made once; callers must not change it.
func vendors() []Vendor { return table() }

var table = sync.OnceValue(allVendors)

func allVendors() []Vendor {
	chat := openai.Format()
	return []Vendor{
		{Name: "anthropic", Home: "https://api.anthropic.com", Keys: []string{"ANTHROPIC_API_KEY"}, KeyPage: "https://console.anthropic.com/settings/keys", KeyPrefix: "sk-ant-",
			Format: anthropic.Format(), Default: "claude-sonnet-5-5", Rank: 1, ModelPrefixes: []string{"claude-"}},
		{Name: "gemini", Home: "https://generativelanguage.googleapis.com", Keys: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, KeyPage: "https://aistudio.google.com/apikey", KeyPrefix: "AIza",
			URLs: []string{"GEMINI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"}, Format: gemini.Format(), Default: "gemini-flash-latest", Rank: 3, ModelPrefixes: []string{"gemini-"}, OTelName: "gcp.gemini"},
		{Name: "ollama", Program: "Ollama", Home: "http://127.0.0.1:11434", Keys: []string{"OLLAMA_API_KEY"}, URLs: []string{"OLLAMA_HOST"},
			Format: ollama.Format(), Profile: Local, ListsDetails: local.Ollama, ContextHint: "ollama show NAME tells its context",
			Fetch: Fetch{Site: "https://ollama.com/download", Serve: "ollama serve", Get: "ollama pull NAME", Suggest: "qwen3:8b", Size: "5 GB"}},
		{Name: "openai", Home: "https://api.openai.com/v1", Keys: []string{"OPENAI_API_KEY"}, KeyPage: "https://platform.openai.com/api-keys", Format: chat, Default: "gpt-5.4", Rank: 2, DefaultURLOnly: true,
			ModelPrefixes: []string{"gpt-", "!gpt-oss", "chatgpt-", "codex-", "o1", "o3", "o4"}},
		{Name: "responses", SameServerAs: "openai", Home: "https://api.openai.com/v1", Keys: []string{"OPENAI_API_KEY"}, URLs: []string{"OPENAI_BASE_URL"},
			Format: responses.Format()},
		{Name: "openrouter", Home: "https://openrouter.ai/api/v1", Keys: []string{"OPENROUTER_API_KEY"}, KeyPage: "https://openrouter.ai/keys", KeyPrefix: "sk-or-", Format: chat},
		{Name: "groq", Home: "https://api.groq.com/openai/v1", Keys: []string{"GROQ_API_KEY"}, KeyPage: "https://console.groq.com/keys", KeyPrefix: "gsk_", Format: chat},
		{Name: "together", Home: "https://api.together.xyz/v1", Keys: []string{"TOGETHER_API_KEY"}, KeyPage: "https://api.together.xyz/settings/api-keys", Format: chat},
		{Name: "mistral", Home: "https://api.mistral.ai/v1", Keys: []string{"MISTRAL_API_KEY"}, KeyPage: "https://console.mistral.ai/api-keys", Format: chat,
			ModelPrefixes: []string{"mistral-", "ministral-", "magistral-", "codestral-", "devstral-", "pixtral-"}, OTelName: "mistral_ai"},
		{Name: "deepseek", Home: "https://api.deepseek.com/v1", Keys: []string{"DEEPSEEK_API_KEY"}, KeyPage: "https://platform.deepseek.com/api_keys", Format: chat, ModelPrefixes: []string{"deepseek-"}},
		{Name: "xai", Home: "https://api.x.ai/v1", Keys: []string{"XAI_API_KEY"}, KeyPage: "https://console.x.ai", KeyPrefix: "xai-", Format: chat, ModelPrefixes: []string{"grok-"}, OTelName: "x_ai"},
		{Name: "fireworks", Home: "https://api.fireworks.ai/inference/v1", Keys: []string{"FIREWORKS_API_KEY"}, KeyPage: "https://fireworks.ai/account/api-keys", Format: chat},
		{Name: "cerebras", Home: "https://api.cerebras.ai/v1", Keys: []string{"CEREBRAS_API_KEY"}, KeyPage: "https://cloud.cerebras.ai", KeyPrefix: "csk-", Format: chat},
		{Name: "bedrock", Cloud: "bedrock", Keys: []string{"AWS_BEARER_TOKEN_BEDROCK"}, URLs: []string{"AWS_ENDPOINT_URL_BEDROCK_RUNTIME"}, Format: anthropic.Format(), OTelName: "aws.bedrock"},
		{Name: "vertex", Cloud: "vertex", Format: gemini.Format(), OTelName: "gcp.vertex_ai"},
		{Name: "azure", Cloud: "azure", Keys: []string{"AZURE_OPENAI_API_KEY"}, URLs: []string{"AZURE_OPENAI_ENDPOINT"}, Format: chat, OTelName: "azure.ai.openai"},
		{Name: "llamacpp", Program: "llama.cpp", Home: "http://127.0.0.1:8080/v1", Keys: []string{"LLAMA_API_KEY"}, Format: chat, Profile: Local,
			ListsDetails: local.LlamaCPP, ContextHint: "start llama-server with a larger -c", Start: "start it with: llama-server --jinja -m FILE.gguf"},
		{Name: "lmstudio", Program: "LM Studio", Home: "http://127.0.0.1:1234/v1", Keys: []string{"LM_API_TOKEN"}, Format: chat, Profile: Local,
			ListsDetails: local.LMStudio, ContextHint: "load the model with a larger context in LM Studio", Start: "start it with: lms server start"},
		// vLLM mostly serves large models on large machines, which can use the full prompt.
		{Name: "vllm", Program: "vLLM", Home: "http://127.0.0.1:8000/v1", Keys: []string{"VLLM_API_KEY"}, Format: chat,
			ListsDetails: local.VLLM, ContextHint: "start vLLM with a larger --max-model-len", Start: "start it with: vllm serve MODEL --enable-auto-tool-choice --tool-call-parser NAME"},
		{Name: "script"},
	}
}

// InSpans returns a provider's name in traces: the well-known value of gen_ai.provider.name if
// there is one.
func InSpans(provider string) string {
	v, _ := vendor(provider)
	return cmp.Or(v.OTelName, v.SameServerAs, provider)
}

// vendor finds a row and fills in its defaults.
func vendor(name string) (Vendor, bool) {
	all := vendors()
	i := slices.IndexFunc(all, func(v Vendor) bool { return v.Name == name })
	v := Vendor{Name: name, Format: openai.Format()}
	if i >= 0 {
		v = all[i]
	}
	if v.Profile == nil {
		v.Profile = Coder
	}
	if len(v.URLs) == 0 {
		v.URLs = []string{strings.ToUpper(strings.ReplaceAll(name, "-", "_")) + "_BASE_URL"}
	}
	return v, i >= 0
}

// start describes how to start or find the user's server.
func (v Vendor) start() string {
	if v.Start == "" {
		return "check the address and the network"
	}
	return v.Start + "; or set " + v.URLs[0]
}

// formatFor returns a provider's format: its own, or the OpenAI format that the configuration
// selects.
func (v Vendor) formatFor(p config.Provider) (wire.Format, error) {
	switch {
	case p.API == "" || v.Format.Name != "chat" && v.Format.Name != "responses":
		return v.Format, nil
	case p.API == "chat":
		return openai.Format(), nil
	case p.API == "responses":
		return responses.Format(), nil
	case p.API == "messages":
		return anthropic.Format(), nil
	}
	return wire.Format{}, &MissingError{fmt.Sprintf("providers.%s.api is %q", v.Name, p.API), `want "chat", "responses" or "messages"`}
}

// homes returns the hosts of known companies; they need a key, and their models call tools
// natively.
func homes() []string {
	var out []string
	for _, v := range vendors() {
		if v.Program == "" && v.Home != "" {
			out = append(out, wire.Host(v.Home))
		}
	}
	return out
}

// KeyPage returns the page for a provider's keys, or "".
func KeyPage(provider string) string {
	v, _ := vendor(provider)
	if v.SameServerAs != "" {
		v, _ = vendor(v.SameServerAs)
	}
	return v.KeyPage
}

// Marked returns the company with the key's prefix, or "". It detects a key in the wrong variable.
func Marked(key string) string {
	for _, v := range vendors() {
		if v.KeyPrefix != "" && strings.HasPrefix(key, v.KeyPrefix) {
			return v.Name
		}
	}
	return ""
}

// AtHome reports whether a provider is used at its company's own address. It is false for programs.
func (f *Finder) AtHome(provider string) bool {
	v, known := vendor(provider)
	if !known || v.Program != "" || v.Home == "" {
		return true
	}
	e, err := f.Endpoint(provider)
	return err == nil && wire.Host(e.base) == wire.Host(v.Home)
}
