package hooks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"adze/internal/project/hooks/dialect"
	"adze/session"
	"adze/tool"
)

// moment is one Fire.
type moment struct {
	engine *Engine
	session.Moment
	began time.Time
}

// chosenHook is a hook for an event, with its dialect's name for the tool.
type chosenHook struct {
	Program
	as string
}

// told converts the event for dialects.
func (t *moment) told() dialect.Moment {
	m := dialect.Moment{
		Event: t.Event, Session: string(t.Session), Agent: t.Agent, Cwd: t.engine.Dir,
		Text: t.Text, Kind: t.Kind, Manual: t.Manual, Continuations: t.Continuations,
	}
	if t.engine.Mode != nil {
		m.Mode = t.engine.Mode()
	}
	if l := t.Look; l != nil {
		m.Call, m.Tool, m.Arguments = string(l.Call), l.Tool, l.Arguments
		if l.Outcome != nil {
			m.Status, m.Output = string(l.Outcome.Status), l.Outcome.Output
		}
	}
	return m
}

// about selects the hooks to run, without starting anything. Claude Code runs a command once for an
// event, however many of its entries name it.
func (t *moment) about() (out []chosenHook) {
	var m dialect.Moment
	for n, p := range t.engine.Programs() {
		if n == 0 {
			m = t.told()
		}
		again := slices.ContainsFunc(out, func(c chosenHook) bool {
			return p.Dialect == dialect.Claude && c.Dialect == p.Dialect && c.Shell == p.Shell && slices.Equal(c.Argv, p.Argv)
		})
		if as, yes := p.Applies(m); yes && !again {
			out = append(out, chosenHook{p, as})
		}
	}
	return out
}

// run runs them in order. The first denial ends the loop; a question waits for the others, which
// may deny.
func (t *moment) run(ctx context.Context, about []chosenHook) (r tool.Ruling) {
	if len(about) > 0 && t.Starts != nil {
		t.Starts()
	}
	for _, h := range about {
		began := t.engine.Now()
		a, walls, err := t.ask(ctx, h, began)
		changed := false
		if err == nil && a.Arguments != nil && ctx.Err() == nil {
			changed, err = t.change(h, a.Arguments)
		}
		run := session.HookRun{
			Hook: h.Name, Event: t.Event, Decision: string(a.Decision), Reason: a.Reason, Changed: changed,
			Context: len(a.Context), Notice: a.Notice, Duration: t.engine.Now().Sub(began), Sandbox: walls,
		}
		if t.Look != nil {
			run.Call, run.Tool = t.Look.Call, t.Look.Tool
		}
		if err != nil {
			run.Decision, run.Reason = session.HookFailed, t.engine.clean(err.Error(), maxReason)
		}
		if ctx.Err() != nil { // the canceller reports it
			run.Decision, run.Reason = session.HookAborted, ""
			t.OnHookEnd(run)
			return tool.Ruling{}
		}
		if a.Context != "" && err == nil {
			t.Note(h.Name, a.Context)
		}
		t.OnHookEnd(run)
		t.rule(&r, run, h.Dialect)
		r.Stop = r.Stop || a.Stop && err == nil
		if r.Deny != "" {
			break
		}
	}
	return r
}

// rule adds one hook's result. A failed hook before a call makes the user decide: a silent guard
// protects nothing.
func (t *moment) rule(r *tool.Ruling, run session.HookRun, of dialect.Dialect) {
	name := "the hook " + run.Hook
	switch {
	case run.Decision == string(dialect.Deny):
		r.Deny, r.Hook = name+" denied it: "+run.Reason, "hook "+run.Hook
		if t.Event == session.HookStop {
			r.Deny = run.Reason // the model gets it as its next task
		}
	case t.Event != session.HookBefore || r.Ask != "":
	case run.Decision == session.HookFailed:
		r.Ask, r.Hook = name+" failed: "+run.Reason, "hook "+run.Hook
		if of != dialect.Own {
			r.Ask += "; where the assistant that it was written for runs such a call, adze asks"
		}
	case run.Decision == string(dialect.Ask):
		r.Ask, r.Hook = cmp.Or(strings.TrimPrefix(name+" wants you to look: "+run.Reason, ""), name), "hook "+run.Hook
	}
}

// errTime means that no time is left for a hook.
var errTime = fmt.Errorf("the hooks before it took all of the %s that one moment has", allTime)

// ask runs one hook and parses its answer.
func (t *moment) ask(ctx context.Context, h chosenHook, now time.Time) (a dialect.Answer, walls string, err error) {
	left := allTime - now.Sub(t.began)
	if left <= 0 {
		return a, "", errTime
	}
	if h.Holds != nil {
		if err := h.Holds(); err != nil {
			return a, "", err
		}
	}
	m := t.told()
	out, err := t.engine.start(ctx, h, h.Input(m, h.as), min(left, h.Timeout))
	if err != nil {
		return a, out.walls, err
	}
	if a, err = h.Answer(m, out.code, out.stdout, out.stderr); err != nil {
		return dialect.Answer{}, out.walls, err
	}
	a.Reason = t.engine.clean(a.Reason, maxReason)
	a.Notice = t.engine.clean(a.Notice, maxReason)
	a.Context = t.engine.clean(a.Context, maxContext)
	return a, out.walls, nil
}

// clean prepares a hook's text for display, storage and sending.
func (e *Engine) clean(text string, most int) string {
	if e.Mask != nil {
		text = e.Mask(text)
	}
	text = strings.TrimSpace(tool.ShownHidden(strings.ToValidUTF8(text, "�")))
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + fmt.Sprintf(" [%d bytes left out]", len(text)-most)
	}
	return text
}

// change replaces the call's arguments with a hook's. Equal ones change nothing.
func (t *moment) change(h chosenHook, arguments json.RawMessage) (bool, error) {
	l := t.Look
	names, err := differences(l.Arguments, arguments)
	if err != nil || len(names) == 0 {
		return false, err
	}
	note := fmt.Sprintf("the hook %s changed this call before it was judged; it ran with %s", h.Name, describe(arguments, names))
	if err := l.Change(arguments, t.engine.clean(note, maxReason)); err != nil {
		return false, err
	}
	l.Arguments = arguments // the next hook gets the changed ones
	return true, nil
}

// differences names the changed arguments.
func differences(was, is json.RawMessage) ([]string, error) {
	var a, b map[string]any
	if json.Unmarshal(was, &a) != nil || json.Unmarshal(is, &b) != nil || b == nil {
		return nil, errors.New("its changed arguments are no JSON object")
	}
	var names []string
	all := map[string]any{}
	maps.Copy(all, a)
	maps.Copy(all, b)
	for name := range all {
		x, _ := json.Marshal(a[name]) // JSON values always encode
		y, _ := json.Marshal(b[name])
		if string(x) != string(y) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

func describe(arguments json.RawMessage, names []string) string {
	var values map[string]json.RawMessage
	_ = json.Unmarshal(arguments, &values) // parsed by differences before
	parts := make([]string, len(names))
	for i, name := range names {
		if parts[i] = name + ": " + string(values[name]); values[name] == nil {
			parts[i] = "no " + name
		}
	}
	return strings.Join(parts, ", ")
}
