package models

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"adze/internal/llm/local"
	"adze/internal/text/plural"
	"adze/internal/text/usage"
	"adze/session"
)

// Origin prefix for a model that was found running.
const foundRunning = "running "

// How long a start without a configured model waits for local servers.
const startPatience = time.Second

// The same for a server at a user's address, which may be remote.
const givenPatience = 5 * time.Second

// foundServer is an endpoint's query result: its row of the listing and, for a user's server, the
// model to start with or the reason for none: broken if it cannot be used. All are empty if nobody
// answered.
type foundServer struct {
	ListedProvider
	model, origin string
	reason        string
	broken        *MissingError
}

// look queries all endpoints at once, companies only if check is set. Results are in the endpoints'
// order. near is the timeout for this machine.
func (f *Finder) look(ctx context.Context, check bool, near time.Duration) []chan foundServer {
	all := f.Endpoints()
	answers := make([]chan foundServer, len(all))
	for i, e := range all {
		answers[i] = make(chan foundServer, 1)
		found := foundServer{ListedProvider: ListedProvider{
			Provider: e.Name, Endpoint: e.DisplayURL(), KeyEnv: e.KeyEnv, Key: e.Key != "", Models: []ListedModel{},
		}}
		go func() {
			f.lookAt(ctx, e, &found, check, near)
			answers[i] <- found
		}()
	}
	return answers
}

func (f *Finder) lookAt(ctx context.Context, e Endpoint, p *foundServer, check bool, near time.Duration) {
	usable := !e.Incomplete()
	switch {
	case !usable:
		p.Usable, p.Reason = &usable, e.lack()
		if e.placed != "" {
			p.broken = e.broken(e.CheckUsable(), e.lack())
		}
	case e.Cloud != "":
		p.Usable, p.Reason = &usable, e.signsIn()
		if check {
			f.checkCloud(ctx, e, p)
		}
	case e.ListsDetails != local.Any:
		ctx, cancel := context.WithTimeout(ctx, near)
		defer cancel()
		f.lookHost(ctx, e, p)
	case check || !e.NeedsKey || e.placed != "":
		ctx, cancel := context.WithTimeout(ctx, f.patience(givenPatience))
		defer cancel()
		f.lookPlaced(ctx, e, p)
	default:
		p.Usable, p.Reason = &usable, "key in "+e.KeyEnv
		f.listKnown(e, &p.ListedProvider)
	}
}

// checkCloud signs in and asks for the models.
func (f *Finder) checkCloud(ctx context.Context, e Endpoint, p *foundServer) {
	models, err := e.Models(ctx)
	switch {
	case MayNotList(err):
		p.Reason += ", which may not list models: write the id of one"
	case err != nil:
		p.Usable, p.Reason = new(bool), err.Error()
	case e.Cloud != "azure": // its list names what the resource might deploy
		f.describe(e, p, models)
	}
}

// running chooses a model from the first running program of the table that has one. The error
// explains unusable servers.
func (f *Finder) running(ctx context.Context) (Model, error) {
	var broken *MissingError
	var why []string
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, answer := range f.look(ctx, false, f.patience(startPatience)) {
		found := <-answer
		if m, ok := f.start(found); ok {
			return m, nil
		}
		broken = cmp.Or(broken, found.broken)
		if found.reason != "" {
			why = append(why, found.reason)
		}
	}
	if broken != nil {
		return Model{}, broken
	}
	for _, row := range vendors() {
		v, _ := vendor(row.Name)
		if name := f.variable(v); name != "" && v.Format.Name == "chat" && v.Program == "" {
			why = append(why, fmt.Sprintf("%s is set: add --model %s/NAME with a model of that server", name, v.Name))
		}
		if v.Default == "" && f.Keeps(v.Name) {
			why = append(why, fmt.Sprintf("a key of %s is kept: add --model %[1]s/NAME", v.Name))
		}
	}
	return Model{}, &MissingError{"no model is configured", usage.Hints(append(why[:min(len(why), 2)],
		"set "+list("or", Keyed())+" to a key, or start "+list("or", programs()), "name one with --model; adze models lists them", "adze --demo shows it without a model")...)}
}

// broken explains why the server at a user's address cannot be used. fix is the next step.
func (e Endpoint) broken(why error, fix string) *MissingError {
	return &MissingError{fmt.Sprintf("the server of %s cannot be used: %v", e.placed, why), usage.Hints(fix, "name another model with --model; adze models lists them")}
}

func (f *Finder) start(found foundServer) (Model, bool) {
	if found.model == "" {
		return Model{}, false
	}
	m, err := f.Named(found.Provider + "/" + found.model)
	m.Origin = found.origin
	return m, err == nil
}

// silent describes a server without a list, for a listing.
func silent(word string, err error) string {
	if strings.HasSuffix(err.Error(), "connection refused") {
		return "not running"
	}
	return word + ": " + err.Error()
}

// lookHost chooses a model that calls tools, from a server that reports abilities.
func (f *Finder) lookHost(ctx context.Context, e Endpoint, p *foundServer) {
	models, err := e.Models(ctx)
	best, can := pickLocal(models)
	program, gets := e.Program, e.Fetch.Get != ""
	p.Usable, p.Reason = &can, "running"
	p.model, p.origin = best.Name, foundRunning+program
	switch {
	case err != nil:
		p.Reason, p.reason = silent("not usable", err), useless(program, err)
		return
	case len(models) == 0 && gets:
		p.reason = program + " runs, but it has no model yet: " + e.Fetch.Get + " gets one; choose one that can call tools"
	case len(models) == 0:
		p.reason = program + " runs, but no model is loaded; " + e.start()
	case !can && gets:
		p.reason = fmt.Sprintf("%s runs, but %s cannot call tools: %s, or use --model %s/%[2]s, which gets them as text",
			program, models[0].Name, e.Fetch.Command("one that can"), e.Name)
	case !can:
		p.reason = fmt.Sprintf("%s runs, but does not say that %s can call tools; --model %s/%s uses it all the same", program, models[0].Name, e.Name, models[0].Name)
	}
	switch {
	case can:
	case gets:
		p.Reason = "running, but none of its models can call tools: " + e.Fetch.Command("one that can")
	default:
		p.Reason = "running, but tells of no model that can call tools; --model " + e.Name + "/NAME uses one anyway"
	}
	f.describe(e, p, models)
}

// lookPlaced chooses the only model of a server at a user's address.
func (f *Finder) lookPlaced(ctx context.Context, e Endpoint, p *foundServer) {
	models, err := e.Server().Models(ctx)
	usable, fix := err == nil, "start it, or mend its address"
	p.Usable, p.Reason = &usable, "answers"
	var failed *session.ProviderError
	switch {
	case errors.As(err, &failed) && failed.Kind == session.AuthError && e.Key != "" && !e.InKeyring: // it comes before a kept one
		p.Reason, fix = "does not take the key in "+e.KeyEnv, "set "+e.KeyEnv+" to a key of that server"
	case errors.As(err, &failed) && failed.Kind == session.AuthError && !e.signs:
		p.WantsKey, p.Reason, fix = true, "wants a key: adze models login "+e.Name, "adze models login "+e.Name
	case err != nil:
		p.Reason = err.Error()
	}
	switch {
	case e.placed == "":
	case err != nil:
		p.broken = e.broken(err, fix)
	case len(models) != 1:
		p.reason = fmt.Sprintf("the server of %s lists %s: name one with --model %s/NAME", e.placed, plural.Of(len(models), "model"), e.Name)
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

// useless explains why a program at a server's usual address cannot be used; "" if nobody answers.
func useless(program string, err error) string {
	var failed *session.ProviderError
	if !errors.As(err, &failed) || failed.Kind == session.NetworkError {
		return ""
	}
	return strings.TrimSuffix(fmt.Sprintf("what answers where %s would run cannot be used: %s; %s", program, failed.Error(), failed.Hint), "; ")
}

// pickLocal chooses a model that calls tools, preferably a loaded one. vLLM never reports tools, so
// its first model is used; other programs on these ports never are.
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
