package models

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"adze/internal/llm/local"
	"adze/internal/text/plural"
	"adze/session"
)

// foundRunning begins the origin of a model that nobody named.
const foundRunning = "running "

// startPatience is how long a start without any configured model looks for servers on this machine.
const startPatience = time.Second

// givenPatience is the same for a server whose address the user gave, which may be far away.
const givenPatience = 5 * time.Second

// foundServer is what was found at an endpoint: its row of the listing and, of a server of the
// user's, the model that a start takes or why it takes none; nothing of both: nobody answers.
type foundServer struct {
	ListedProvider
	model, origin string
	why           string
}

// look asks all endpoints together, those of companies only with check. The answers stand in the
// order of the endpoints. Near is how long a program on this machine may take.
func (f *Finder) look(ctx context.Context, check bool, near time.Duration) []chan foundServer {
	all := f.Endpoints()
	answers := make([]chan foundServer, len(all))
	for i, e := range all {
		answers[i] = make(chan foundServer, 1)
		found := foundServer{ListedProvider: ListedProvider{
			Provider: e.Name, Endpoint: e.Shown(), KeyEnv: e.KeyEnv, Key: e.Key != "", Models: []ListedModel{},
		}}
		go func() {
			f.lookAt(ctx, e, &found, check, near)
			answers[i] <- found
		}()
	}
	return answers
}

func (f *Finder) lookAt(ctx context.Context, e Endpoint, p *foundServer, check bool, near time.Duration) {
	usable := !e.Missing()
	switch {
	case !usable:
		p.Usable, p.Why = &usable, e.lack()
		if e.placed != "" {
			p.why = fmt.Sprintf("the server of %s cannot be used: %v", e.placed, e.Lacking())
		}
	case e.Tells != local.Any:
		ctx, cancel := context.WithTimeout(ctx, near)
		defer cancel()
		f.lookHost(ctx, e, p)
	case check || !e.NeedsKey || e.placed != "":
		ctx, cancel := context.WithTimeout(ctx, f.patience(givenPatience))
		defer cancel()
		f.lookPlaced(ctx, e, p)
	default:
		p.Usable, p.Why = &usable, "key in "+e.KeyEnv
		f.listKnown(e, &p.ListedProvider)
	}
}

// running chooses a model of a server that runs, of the first program of the table that has one;
// nobody is asked when a model is configured. Without one, it says why what runs is of no use.
func (f *Finder) running(ctx context.Context) (m Model, ok bool, why []string) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, answer := range f.look(ctx, false, f.patience(startPatience)) {
		found := <-answer
		if m, ok := f.start(found); ok {
			return m, true, nil
		}
		if found.why != "" {
			why = append(why, found.why)
		}
	}
	return Model{}, false, why
}

// start is the model that a start takes of a server.
func (f *Finder) start(found foundServer) (Model, bool) {
	if found.model == "" {
		return Model{}, false
	}
	m, err := f.Named(found.Provider + "/" + found.model)
	m.Origin = found.origin
	return m, err == nil
}

// silent is what a listing says of a server that gave no list.
func silent(word string, err error) string {
	if strings.HasSuffix(err.Error(), "connection refused") {
		return "not running"
	}
	return word + ": " + err.Error()
}

// lookHost chooses a model of one of the servers that tell what theirs can do: of use is one with a
// model that can call tools.
func (f *Finder) lookHost(ctx context.Context, e Endpoint, p *foundServer) {
	models, err := e.Models(ctx)
	best, can := pickLocal(models)
	program, gets := e.Program, e.Fetch.Get != ""
	p.Usable, p.Why = &can, "running"
	p.model, p.origin = best.Name, foundRunning+program
	switch {
	case err != nil:
		p.Why, p.why = silent("not usable", err), useless(program, err)
		return
	case len(models) == 0 && gets:
		p.why = program + " runs, but it has no model yet: " + e.Fetch.Get + " gets one; choose one that can call tools"
	case len(models) == 0:
		p.why = program + " runs, but no model is loaded; " + e.start()
	case !can && gets:
		p.why = fmt.Sprintf("%s runs, but %s cannot call tools: %s, or use --model %s/%[2]s, which gets them as text",
			program, models[0].Name, e.Fetch.Of("one that can"), e.Name)
	case !can:
		p.why = fmt.Sprintf("%s runs, but does not say that %s can call tools; --model %s/%s uses it all the same", program, models[0].Name, e.Name, models[0].Name)
	}
	switch {
	case can:
	case gets:
		p.Why = "running, but none of its models can call tools: " + e.Fetch.Of("one that can")
	default:
		p.Why = "running, but tells of no model that can call tools; --model " + e.Name + "/NAME uses one anyway"
	}
	f.describe(e, p, models)
}

// lookPlaced takes the model of a server whose address the user gave, where it has one alone.
func (f *Finder) lookPlaced(ctx context.Context, e Endpoint, p *foundServer) {
	models, err := e.Server().Models(ctx)
	usable := err == nil
	p.Usable, p.Why = &usable, "answers"
	var failed *session.ProviderError
	switch {
	case errors.As(err, &failed) && failed.Kind == session.AuthError:
		p.WantsKey, p.Why = true, "wants a key: adze models login "+e.Name
	case err != nil:
		p.Why = err.Error()
	}
	switch {
	case e.placed == "":
	case err != nil:
		p.why = fmt.Sprintf("the server of %s cannot be used: %v", e.placed, err)
	case len(models) != 1:
		p.why = fmt.Sprintf("the server of %s lists %s: name one with --model %s/NAME", e.placed, plural.Of(len(models), "model"), e.Name)
	default:
		p.model, p.origin = models[0].Name, "the only model of "+e.placed
	}
	f.describe(e, p, models)
}

func (f *Finder) describe(e Endpoint, p *foundServer, models []local.Model) {
	for _, m := range models {
		p.Models = append(p.Models, f.Describe(e.Name, m))
	}
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
