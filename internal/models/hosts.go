package models

import (
	"cmp"
	"fmt"
	"iter"
	"net/url"
	"slices"
	"strings"

	"adze/internal/config"
	"adze/internal/llm/astext"
	"adze/internal/llm/openai"
	"adze/internal/llm/responses"
	"adze/internal/llm/textcall"
	"adze/internal/llm/wire"
	"adze/session"
)

// host is a server that speaks OpenAI's formats: where it is and which variable holds its key. NAME_BASE_URL
// in the environment, or base_url in the configuration, puts it elsewhere.
type host struct {
	name, base, keyEnv string
	// local servers run on the person's machine, need no key, and have models that write calls as text.
	local   bool
	profile func() Profile
	api     string // "responses": the Responses format unless the configuration says otherwise
}

// hosts are the servers that are known by name; the addresses are those of their documentation.
func hosts() []host {
	coder, small := Coder, Local
	return []host{
		{name: "openai", base: "https://api.openai.com/v1", keyEnv: "OPENAI_API_KEY", profile: coder},
		{name: "responses", base: "https://api.openai.com/v1", keyEnv: "OPENAI_API_KEY", profile: coder, api: "responses"},
		{name: "openrouter", base: "https://openrouter.ai/api/v1", keyEnv: "OPENROUTER_API_KEY", profile: coder},
		{name: "groq", base: "https://api.groq.com/openai/v1", keyEnv: "GROQ_API_KEY", profile: coder},
		{name: "together", base: "https://api.together.xyz/v1", keyEnv: "TOGETHER_API_KEY", profile: coder},
		{name: "mistral", base: "https://api.mistral.ai/v1", keyEnv: "MISTRAL_API_KEY", profile: coder},
		{name: "deepseek", base: "https://api.deepseek.com/v1", keyEnv: "DEEPSEEK_API_KEY", profile: coder},
		{name: "xai", base: "https://api.x.ai/v1", keyEnv: "XAI_API_KEY", profile: coder},
		{name: "fireworks", base: "https://api.fireworks.ai/inference/v1", keyEnv: "FIREWORKS_API_KEY", profile: coder},
		{name: "cerebras", base: "https://api.cerebras.ai/v1", keyEnv: "CEREBRAS_API_KEY", profile: coder},
		{name: "llamacpp", base: "http://127.0.0.1:8080/v1", keyEnv: "LLAMA_API_KEY", profile: small, local: true},
		{name: "lmstudio", base: "http://127.0.0.1:1234/v1", keyEnv: "LM_API_TOKEN", profile: small, local: true},
		// vLLM mostly serves large models on large machines, which do well with the whole prompt.
		{name: "vllm", base: "http://127.0.0.1:8000/v1", keyEnv: "VLLM_API_KEY", profile: coder, local: true},
	}
}

func hostNames() string {
	var names []string
	for _, h := range hosts() {
		names = append(names, h.name+"/NAME")
	}
	return strings.Join(names[2:], ", ")
}

// hosted makes a model of a server that is known by name, or that the configuration describes.
func (f *Finder) hosted(name, of string) (Model, error) {
	h, err := f.host(name)
	if err != nil {
		return Model{}, err
	}
	p := f.config.Providers[name]
	key := f.key(p, strings.TrimSpace(f.getenv(h.keyEnv)))
	if keyEnv := cmp.Or(p.KeyEnv, h.keyEnv); key == "" && slices.Contains(homes(), hostname(h.base)) {
		return Model{}, &MissingError{"there is no key for " + name, "set " + keyEnv + " to a key of your account there"}
	}
	provider, err := h.provider(p, key)
	if err != nil {
		return Model{}, err
	}
	m := Model{Name: of, Profile: profileOf(p, h.profile)}
	server := h.discovery(key, cmp.Or(p.KeyEnv, h.keyEnv))
	switch _, tells := tells(h.name); {
	case !h.local:
		m.Provider = recovering(p, provider, false)
	case tells:
		m.window = f.window(name, of, asksFor(server, of))
		m.Provider = recovering(p, fitting(m, provider, func() string { return LargerAt(server.Kind, of) }), true)
	default:
		if tellsItself(h.base) {
			m.Profile = profileOf(p, Local)
		}
		m = f.beyond(place{server: server, config: p, key: key}, m, provider)
	}
	return m, nil
}

// recovering recovers calls that models write as text, unless the configuration says otherwise, and gives tools as
// text to a model whose server refuses them.
func recovering(p config.Provider, provider session.Provider, local bool) session.Provider {
	plain := p.TextCalls != nil && !*p.TextCalls
	if plain || !local && p.TextCalls == nil {
		return astext.Wrap(provider, astext.Options{Plain: plain, Recover: func(seq iter.Seq[session.Chunk], r session.Request) iter.Seq[session.Chunk] {
			return textcall.Recover(seq, r, wire.NewID)
		}})
	}
	return textcall.Wrap(astext.Wrap(provider, astext.Options{}), nil)
}

// host finds a server and where it is for this person: the environment wins over the file.
func (f *Finder) host(name string) (host, error) {
	p, configured := f.config.Providers[name]
	known := hosts()
	i := slices.IndexFunc(known, func(h host) bool { return h.name == name })
	if i < 0 && (!configured || p.BaseURL == "") {
		return host{}, &MissingError{fmt.Sprintf("there is no provider %q", name), f.Ways() +
			fmt.Sprintf("\nor describe it: {\"providers\": {%q: {\"base_url\": \"https://…/v1\", \"key_env\": \"NAME_OF_A_VARIABLE\"}}}", name)}
	}
	h := host{name: name, profile: Coder}
	if i >= 0 {
		h = known[i]
	}
	h.base = cmp.Or(strings.TrimSpace(f.getenv(h.urlEnv())), p.BaseURL, h.base)
	h.local = !slices.Contains(homes(), hostname(h.base))
	return h, nil
}

// urlEnv is the variable that puts the server elsewhere.
func (h host) urlEnv() string {
	name := h.name
	if name == "responses" {
		name = "openai" // one server, two formats
	}
	return strings.ToUpper(strings.ReplaceAll(name, "-", "_")) + "_BASE_URL"
}

// homes are the names of the machines where known companies serve; there a key is needed, and models call
// tools natively.
func homes() []string {
	var out []string
	for _, h := range hosts() {
		if !h.local {
			out = append(out, hostname(h.base))
		}
	}
	return out
}

func hostname(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// provider makes the adapter for the format that the configuration asks for.
func (h host) provider(p config.Provider, key string) (session.Provider, error) {
	keyEnv := cmp.Or(p.KeyEnv, h.keyEnv, "its key")
	switch cmp.Or(p.API, h.api, "chat") {
	case "chat":
		return openai.New(openai.Options{Name: h.name, BaseURL: h.base, Key: key, KeyEnv: keyEnv, URLEnv: h.urlEnv(), Effort: p.Effort}), nil
	case "responses":
		return responses.New(responses.Options{Name: h.name, BaseURL: h.base, Key: key, KeyEnv: keyEnv, Effort: p.Effort}), nil
	}
	return nil, &MissingError{fmt.Sprintf("providers.%s.api is %q", h.name, p.API), `want "chat" or "responses"`}
}

// almost tells what is set but does not name a model by itself.
func (f *Finder) almost() []string {
	var out []string
	for _, h := range hosts() {
		for _, name := range []string{h.urlEnv(), h.keyEnv} {
			if h.name != "responses" && f.getenv(name) != "" {
				out = append(out, fmt.Sprintf("%s is set: add --model %s/NAME with a model of that server", name, h.name))
				break
			}
		}
	}
	return out
}

// hostKeys are the variables of all their keys.
func hostKeys() []string {
	var out []string
	for _, h := range hosts() {
		out = append(out, h.keyEnv)
	}
	return out
}
