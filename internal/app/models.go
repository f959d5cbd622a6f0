package app

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

// model is a chosen model with what it needs.
type model struct {
	provider session.Provider
	name     string // without the provider's prefix
	origin   string // how it was chosen
	profile  profile
	window   *window // nil: what the table tells
}

func (m model) full() string { return m.provider.Name() + "/" + m.name }

// profile is how adze speaks to a kind of model.
type profile struct {
	prompt       string // of package prompts
	taskComplete bool
	tasks        bool     // subagents are offered
	core         []string // the tools that are always offered
	// budget is how many bytes of tools a request may hold before they are chosen; 0: they are counted.
	budget int
}

func coderProfile() profile {
	return profile{prompt: "coder", tasks: true, core: []string{
		"read", "write", "edit", "glob", "grep", "list", "bash", "bash_output", "bash_kill", "todowrite", "todoread", "webfetch", "task", "task_complete",
	}}
}

// localProfile keeps prompt and tools small: a local model reads them at the speed of the person's machine.
// Its core takes about 3,000 bytes, and what fits the prompt the rest of its budget: a request has at most 5,900
// with the system prompt. list is not in the core, because read lists a folder and glob finds files; nor is task,
// because a small model seldom gives good ones.
func localProfile() profile {
	return profile{prompt: "local", taskComplete: true, budget: 4_700, core: []string{
		"read", "write", "edit", "glob", "grep", "bash", "task_complete",
	}}
}

// profileOf is what the configuration says of a provider's models, else what its kind suggests.
func profileOf(p config.Provider, fallback func() profile) profile {
	switch p.Profile {
	case "local":
		return localProfile()
	case "full":
		return coderProfile()
	}
	return fallback()
}

// noModelError says that nothing is configured, and every way to change that.
type noModelError struct{ message, hint string }

func (e *noModelError) Error() string { return e.message }

func waysToAModel(getenv func(string) string) string {
	return strings.Join([]string{
		"name one: --model openai/NAME, anthropic/NAME, gemini/NAME, ollama/NAME or script/FILE",
		"or one of a known server: " + hostNames(),
		`or write it down: {"model": "anthropic/NAME"} in ` + config.File(getenv, userPlaces(getenv).config),
		"or set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, or OPENAI_BASE_URL for a compatible server",
		"or start Ollama, llama.cpp, LM Studio or vLLM with a model that can call tools",
		"or watch first: adze --demo",
	}, "\n")
}

// chooseModel follows --model, then the configuration, then a key in the environment (Anthropic's, OpenAI's,
// Gemini's, in this order), then a server on this machine that has a model which can call tools.
func (a *app) chooseModel(ctx context.Context, o *options, cfg config.Config) (model, error) {
	if o.byHand != nil {
		return model{provider: o.byHand, name: "tools-run", profile: coderProfile()}, nil
	}
	if o.demo {
		return demoModel(o), nil
	}
	if o.replay != "" {
		return recording(o.replay, a.secrets(cfg))
	}
	if m, ok, err := a.configuredModel(cfg); ok {
		return m, err
	}
	m, ok, why := a.running(ctx, cfg)
	if ok {
		return m, nil
	}
	hint := strings.Join(slices.Concat(why, a.almost(), []string{waysToAModel(a.getenv)}), "\n")
	return model{}, &noModelError{"no model is configured", hint}
}

// warm lets a provider open its connection while the store opens and the tools are made.
func warm(ctx context.Context, p session.Provider) {
	if w, ok := p.(interface{ Warm(context.Context) }); ok {
		w.Warm(ctx)
	}
}

// configuredModel is the part of the choice that asks nobody: the configuration, then the keys.
func (a *app) configuredModel(cfg config.Config) (m model, ok bool, err error) {
	if cfg.Model != "" {
		m, err := a.namedModel(cfg, cfg.Model)
		m.origin = cfg.Origin("model")
		return m, true, err
	}
	if options, ok := anthropic.FromEnv(a.getenv); ok && options.Key != "" {
		m := a.anthropic(cfg, options, defaultAnthropic)
		m.origin = "ANTHROPIC_API_KEY"
		return m, true, nil
	}
	if options, _ := openai.FromEnv(a.getenv); options.Key != "" && options.BaseURL == "" {
		m, err := a.hosted(cfg, "openai", defaultOpenAI)
		m.origin = "OPENAI_API_KEY"
		return m, true, err
	}
	if options, ok := gemini.FromEnv(a.getenv); ok {
		return model{provider: a.gemini(cfg, options), name: defaultGemini, origin: "GEMINI_API_KEY", profile: profileOf(cfg.Providers["gemini"], coderProfile)}, true, nil
	}
	return model{}, false, nil
}

// modelOf chooses the model of a run and makes sure that the run can keep to its limits with it.
func (a *app) modelOf(ctx context.Context, o *options, w *wired) (model, error) {
	m, err := a.chooseModel(ctx, o, w.settings.config)
	if err != nil {
		return m, err
	}
	if err := a.affordable(o, w.settings.config, m); err != nil {
		return m, err
	}
	if w.settings.config.TaskModel != "" && !m.profile.tasks { // the person wants them, whatever they cost
		m.profile.tasks, m.profile.core = true, append(m.profile.core, "task")
	}
	if m.origin != foundOllama { // asking it for its models left a connection
		warm(ctx, m.provider)
	}
	return o.recorded(m, w, a.secrets(w.settings.config))
}

// namedModel reads provider/name.
func (a *app) namedModel(cfg config.Config, full string) (model, error) {
	provider, name, ok := strings.Cut(full, "/")
	if !ok || name == "" {
		return model{}, &noModelError{fmt.Sprintf("%q names no model: want provider/name", full), waysToAModel(a.getenv)}
	}
	switch provider {
	case "anthropic":
		options, _ := anthropic.FromEnv(a.getenv)
		if e := a.anthropicEndpoint(cfg); e.missing() {
			return model{}, e.lacking()
		}
		return a.anthropic(cfg, options, name), nil
	case "gemini":
		options, _ := gemini.FromEnv(a.getenv)
		if e := a.geminiEndpoint(cfg); e.missing() {
			return model{}, e.lacking()
		}
		return model{provider: a.gemini(cfg, options), name: name, profile: profileOf(cfg.Providers["gemini"], coderProfile)}, nil
	case "ollama":
		return a.ollama(cfg, ollama.New(a.ollamaOptions(cfg)), name), nil
	case "script":
		p := script.New(script.Options{})
		if err := p.Check(name); err != nil {
			return model{}, &noModelError{err.Error(), "name a script file: --model script/FILE"}
		}
		return model{provider: p, name: name, profile: coderProfile()}, nil
	}
	return a.hosted(cfg, provider, name)
}

// key takes a key from the variable that the configuration names.
func (a *app) key(p config.Provider, fallback string) string {
	if p.KeyEnv == "" {
		return fallback
	}
	return strings.TrimSpace(a.getenv(p.KeyEnv))
}

func base(p config.Provider, fallback string) string {
	if fallback != "" || p.BaseURL == "" {
		return fallback // the environment wins over the file
	}
	return p.BaseURL
}

func (a *app) anthropic(cfg config.Config, o anthropic.Options, name string) model {
	p := cfg.Providers["anthropic"]
	o.Key, o.BaseURL = a.key(p, o.Key), base(p, o.BaseURL)
	o.Effort = p.Effort
	m := model{provider: anthropic.New(o), name: name, profile: profileOf(p, coderProfile)}
	e := a.anthropicEndpoint(cfg)
	if e.needsKey { // it is the company's own
		return m
	}
	if tellsItself(e.base) {
		m.profile = profileOf(p, localProfile)
	}
	return a.beyond(cfg, place{server: e.server(), config: p, key: o.Key}, m, m.provider)
}

func (a *app) gemini(cfg config.Config, o gemini.Options) session.Provider {
	p := cfg.Providers["gemini"]
	o.Key, o.BaseURL = a.key(p, o.Key), base(p, o.BaseURL)
	o.Effort = p.Effort
	return recovering(p, gemini.New(o), !a.atHome(cfg, "gemini"))
}
