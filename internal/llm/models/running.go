package models

import (
	"context"
	"errors"
	"fmt"
	"time"

	"adze/internal/llm/local"
	"adze/internal/llm/ollama"
	"adze/internal/text/plural"
	"adze/session"
)

// foundRunning begins the origin of a model that nobody named.
const foundRunning = "running "

// startPatience is how long a start without any configured model looks for servers on this machine.
const startPatience = time.Second

// givenPatience is the same for a server whose address the user gave, which may be far away.
const givenPatience = 5 * time.Second

// lookResult is what was found where a server of this machine may run: a model, or why what runs
// there is of no use; nothing of both: nobody answers.
type lookResult struct {
	model Model
	ok    bool
	why   string
}

// running chooses a model of a server that runs, of the first program of the table that has one.
// All are asked together; nobody is when a model is configured. Without one, it says why what runs
// is of no use.
func (f *Finder) running(ctx context.Context) (m Model, ok bool, why []string) {
	given, end := context.WithTimeout(ctx, f.patience(givenPatience))
	defer end()
	ctx, cancel := context.WithTimeout(given, f.patience(startPatience))
	defer cancel()
	var looks []func() lookResult
	for _, e := range f.Endpoints() {
		switch {
		case e.own().look != nil:
			looks = append(looks, func() lookResult { return e.own().look(f, ctx, e) })
		case e.Tells != local.Any:
			looks = append(looks, func() lookResult { return f.lookHost(ctx, e) })
		case e.placed != "":
			looks = append(looks, func() lookResult { return f.lookPlaced(given, e) })
		}
	}
	answers := make([]chan lookResult, len(looks))
	for i, look := range looks {
		answers[i] = make(chan lookResult, 1)
		go func() { answers[i] <- look() }()
	}
	for _, answer := range answers {
		s := <-answer
		if s.ok {
			return s.model, true, nil
		}
		if s.why != "" {
			why = append(why, s.why)
		}
	}
	return Model{}, false, why
}

// lookOllama chooses one that can call tools, best one that is loaded.
func (f *Finder) lookOllama(ctx context.Context, e Endpoint) lookResult {
	p := ollama.New(e.options())
	models, err := p.Models(ctx)
	best, ok := ollama.Pick(models)
	switch {
	case err != nil:
		return lookResult{why: useless(e.Program, err)}
	case len(models) == 0:
		return lookResult{why: e.Program + " runs, but it has no model yet: " + e.Fetch.Get + " gets one; choose one that can call tools"}
	case !ok:
		return lookResult{why: fmt.Sprintf("%s runs, but %s cannot call tools: %s, or use --model %s/%[2]s, which gets them as text",
			e.Program, models[0].Name, e.Fetch.Of("one that can"), e.Name)}
	}
	own := f.own(e.Name, best.Name)
	p.Options.MaxTokens, p.Options.Vision, p.Options.Findings = own.Output, own.Vision, f.findings
	m := f.ollamaOf(e, p, best.Name)
	m.Origin, m.warm = foundRunning+e.Program, true
	return lookResult{model: m, ok: true}
}

// lookHost chooses a model of one of the servers that tell what theirs can do.
func (f *Finder) lookHost(ctx context.Context, e Endpoint) lookResult {
	models, err := e.Server().Models(ctx)
	best, ok := pickLocal(models)
	program := e.Program
	switch {
	case err != nil:
		return lookResult{why: useless(program, err)}
	case len(models) == 0:
		return lookResult{why: program + " runs, but no model is loaded; " + e.start()}
	case !ok:
		return lookResult{why: fmt.Sprintf("%s runs, but does not say that %s can call tools; --model %s/%s uses it all the same", program, models[0].Name, e.Name, models[0].Name)}
	}
	m, err := f.hosted(e, best.Name)
	m.Origin = foundRunning + program
	return lookResult{model: m, ok: err == nil}
}

// lookPlaced takes the model of a server whose address the user gave, where it has one alone.
func (f *Finder) lookPlaced(ctx context.Context, e Endpoint) lookResult {
	models, err := e.Server().Models(ctx)
	switch {
	case err != nil:
		return lookResult{why: fmt.Sprintf("the server of %s cannot be used: %v", e.placed, err)}
	case len(models) != 1:
		return lookResult{why: fmt.Sprintf("the server of %s lists %s: name one with --model %s/NAME", e.placed, plural.Of(len(models), "model"), e.Name)}
	}
	m, err := f.hosted(e, models[0].Name)
	m.Origin = "the only model of " + e.placed
	return lookResult{model: m, ok: err == nil}
}

// useless says why something that answers where a server may run is of no use; nothing: nobody
// answers there.
func useless(program string, err error) string {
	var failed *session.ProviderError
	if !errors.As(err, &failed) || failed.Kind == session.NetworkError {
		return ""
	}
	text := fmt.Sprintf("what answers where %s would run cannot be used: %s", program, failed.Error())
	if failed.Hint != "" {
		text += "; " + failed.Hint
	}
	return text
}

// pickLocal chooses a model that can call tools: one that is loaded first. Of vLLM, which never
// tells whether it can, its first one is taken; another program on one of these ports is never
// taken.
func pickLocal(models []local.Model) (local.Model, bool) {
	best := -1
	for i, m := range models {
		can := m.Tools != nil && *m.Tools || m.Tools == nil && m.Owner == string(local.VLLM)
		if can && (best < 0 || isLoaded(m) && !isLoaded(models[best])) {
			best = i
		}
	}
	if best < 0 {
		return local.Model{}, false
	}
	return models[best], true
}

func isLoaded(m local.Model) bool { return m.Loaded != nil && *m.Loaded }
