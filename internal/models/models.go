// Package models finds the model that a run uses: which one, where it is, what it takes and what it costs.
//
// The one rule: a Finder asks a server only when nothing that is written down answers, and what it finds says where it
// comes from. It decides nothing that a flag decides.
//
// Start reading at Finder.Choose. endpoints.go and hosts.go are where servers are, local.go finds those that run on
// this machine, behind.go what answers at an address that is no company's own; window.go and price.go are what a model
// holds and costs; listing.go is adze models.
//
// Known limits: of a server that tells nothing, the context of a model is known only from the configuration.
package models

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"adze/internal/config"
	"adze/internal/llm/anthropic"
	"adze/internal/llm/gemini"
	"adze/internal/llm/ollama"
	"adze/internal/llm/openai"
	"adze/internal/llm/script"
	"adze/session"
)

// The models that a bare key means. A key says nothing about which models it may use, so a provider that
// does not know one answers with how to choose another.
const (
	defaultAnthropic = "claude-sonnet-5-5"
	defaultOpenAI    = "gpt-5.4"
	defaultGemini    = "gemini-flash-latest" // free keys have no quota for larger ones
)

// Finder chooses models for one person: by their configuration, the keys in their environment, and what runs on this
// machine.
type Finder struct {
	getenv func(string) string
	config config.Config
	File   string // of the configuration, for what the person is told
}

// New makes a finder for a configuration that was read from a file.
func New(cfg config.Config, file string, getenv func(string) string) *Finder {
	return &Finder{getenv: getenv, config: cfg, File: file}
}

// Choose follows the configuration (with --model in it), then a key in the environment (Anthropic's, OpenAI's,
// Gemini's, in this order), then a server on this machine that has a model which can call tools.
func (f *Finder) Choose(ctx context.Context) (Model, error) {
	if m, ok, err := f.Configured(); ok {
		return m, err
	}
	m, ok, why := f.running(ctx)
	if ok {
		return m, nil
	}
	return Model{}, &MissingError{"no model is configured", strings.Join(slices.Concat(why, f.almost(), []string{f.Ways()}), "\n")}
}

// MissingError says that no model can be used, and every way to change that.
type MissingError struct{ Message, Hint string }

// Error implements error.
func (e *MissingError) Error() string { return e.Message }

// Ways are the ways to a model, a line each.
func (f *Finder) Ways() string {
	return strings.Join([]string{
		"name one: --model openai/NAME, anthropic/NAME, gemini/NAME, ollama/NAME or script/FILE",
		"or one of a known server: " + hostNames(),
		`or write it down: {"model": "anthropic/NAME"} in ` + f.File,
		"or set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, or OPENAI_BASE_URL for a compatible server",
		"or start Ollama, llama.cpp, LM Studio or vLLM with a model that can call tools",
		"or watch first: adze --demo",
	}, "\n")
}

// Configured is the part of the choice that asks nobody: the configuration, then the keys.
func (f *Finder) Configured() (m Model, ok bool, err error) {
	if f.config.Model != "" {
		m, err := f.Named(f.config.Model)
		m.Origin = f.config.Origin("model")
		return m, true, err
	}
	if options, ok := anthropic.FromEnv(f.getenv); ok && options.Key != "" {
		m := f.anthropic(options, defaultAnthropic)
		m.Origin = "ANTHROPIC_API_KEY"
		return m, true, nil
	}
	if options, _ := openai.FromEnv(f.getenv); options.Key != "" && options.BaseURL == "" {
		m, err := f.hosted("openai", defaultOpenAI)
		m.Origin = "OPENAI_API_KEY"
		return m, true, err
	}
	if options, ok := gemini.FromEnv(f.getenv); ok {
		return Model{Provider: f.gemini(options), Name: defaultGemini, Origin: "GEMINI_API_KEY", Profile: profileOf(f.config.Providers["gemini"], Coder)}, true, nil
	}
	return Model{}, false, nil
}

// Named reads provider/name.
func (f *Finder) Named(full string) (Model, error) {
	provider, name, ok := strings.Cut(full, "/")
	if !ok || name == "" {
		return Model{}, &MissingError{fmt.Sprintf("%q names no model: want provider/name", full), f.Ways()}
	}
	switch provider {
	case "anthropic":
		options, _ := anthropic.FromEnv(f.getenv)
		if e := f.anthropicEndpoint(); e.Missing() {
			return Model{}, e.Lacking()
		}
		return f.anthropic(options, name), nil
	case "gemini":
		options, _ := gemini.FromEnv(f.getenv)
		if e := f.geminiEndpoint(); e.Missing() {
			return Model{}, e.Lacking()
		}
		return Model{Provider: f.gemini(options), Name: name, Profile: profileOf(f.config.Providers["gemini"], Coder)}, nil
	case "ollama":
		return f.ollama(ollama.New(f.ollamaOptions()), name), nil
	case "script":
		p := script.New(script.Options{})
		if err := p.Check(name); err != nil {
			return Model{}, &MissingError{err.Error(), "name a script file: --model script/FILE"}
		}
		return Model{Provider: p, Name: name, Profile: Coder()}, nil
	}
	return f.hosted(provider, name)
}

// key takes a key from the variable that the configuration names.
func (f *Finder) key(p config.Provider, fallback string) string {
	if p.KeyEnv == "" {
		return fallback
	}
	return strings.TrimSpace(f.getenv(p.KeyEnv))
}

func base(p config.Provider, fallback string) string {
	if fallback != "" || p.BaseURL == "" {
		return fallback // the environment wins over the file
	}
	return p.BaseURL
}

func (f *Finder) anthropic(o anthropic.Options, name string) Model {
	p := f.config.Providers["anthropic"]
	o.Key, o.BaseURL = f.key(p, o.Key), base(p, o.BaseURL)
	o.Effort = p.Effort
	m := Model{Provider: anthropic.New(o), Name: name, Profile: profileOf(p, Coder)}
	e := f.anthropicEndpoint()
	if e.NeedsKey { // it is the company's own
		return m
	}
	if tellsItself(e.base) {
		m.Profile = profileOf(p, Local)
	}
	return f.beyond(place{server: e.Server(), config: p, key: o.Key}, m, m.Provider)
}

func (f *Finder) gemini(o gemini.Options) session.Provider {
	p := f.config.Providers["gemini"]
	o.Key, o.BaseURL = f.key(p, o.Key), base(p, o.BaseURL)
	o.Effort = p.Effort
	return recovering(p, gemini.New(o), !f.AtHome("gemini"))
}
