package agents_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"adze/session"
	"adze/tool"
	"adze/toolset"
)

// request runs one subagent as a call of the parent's would, and gives its id.
func (r *rig) request(q toolset.TaskRequest) (toolset.TaskResult, error) {
	r.t.Helper()
	q.Parent, q.Prompt, q.Call = "parent", "go on", tool.CallID(fmt.Sprint("c", len(r.subagents())))
	if r.parent == nil {
		r.parent = session.New(r.main)
	}
	return r.agents.Run(r.t.Context(), q, func(toolset.TaskProgress) {})
}

func TestATaskCanBeContinued(t *testing.T) {
	r := newRig(t, 0, `-- 1 --
-- explore: look: 1 --
text: first
-- explore: look: 2 --
expect prompt: go on
text: second
`)
	first, err := r.request(toolset.TaskRequest{Description: "look"})
	if err != nil {
		t.Fatal(err)
	}
	second, err := r.request(toolset.TaskRequest{Description: "something else", ID: first.ID})
	if err != nil || second.ID != first.ID || second.Text != "second" || second.Agent != "explore" {
		t.Fatalf("%+v, %v", second, err)
	}
	r.wants("links", len(r.subagents()), 2)
	messages := 0
	for _, e := range r.log(session.ID(first.ID)) {
		if e.Type == session.MessageEntry {
			messages++
		}
	}
	r.wants("messages of the log", messages, 4)
}

// No session but a task of the same parent can be read or gone on with by naming it.
func TestNothingElseCanBeContinued(t *testing.T) {
	r := newRig(t, 0, "-- 1 --\n-- explore: 1 --\ntext: first\n")
	for id, start := range map[session.ID]session.Start{
		"private":  {Version: "1"},
		"fork":     {Version: "1", Parent: "parent"},
		"stranger": {Version: "1", Parent: "another", Agent: "explore: x"},
		"unknown":  {Version: "1", Parent: "parent", Agent: "wizard: x"},
	} {
		raw, err := json.Marshal(start)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.store.Append(t.Context(), id, session.Entry{Type: session.StartEntry, Data: raw}); err != nil {
			t.Fatal(err)
		}
	}
	first, err := r.request(toolset.TaskRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		request toolset.TaskRequest
		code    string
	}{
		"missing":     {toolset.TaskRequest{ID: "none"}, tool.CodeNotFound},
		"the parent":  {toolset.TaskRequest{ID: "parent"}, tool.CodeNotFound},
		"a person's":  {toolset.TaskRequest{ID: "private"}, tool.CodeNotFound},
		"a fork":      {toolset.TaskRequest{ID: "fork"}, tool.CodeNotFound},
		"another's":   {toolset.TaskRequest{ID: "stranger"}, tool.CodeNotFound},
		"no kind":     {toolset.TaskRequest{ID: "unknown"}, tool.CodeInvalidArguments},
		"wider":       {toolset.TaskRequest{ID: first.ID, Agent: "general"}, tool.CodeInvalidArguments},
		"unknown one": {toolset.TaskRequest{Agent: "wizard"}, tool.CodeInvalidArguments},
	} {
		t.Run(name, func(t *testing.T) {
			before := len(r.log(session.ID(c.request.ID)))
			if _, err := r.request(c.request); tool.CodeOf(err) != c.code {
				t.Errorf("err %v, want code %s", err, c.code)
			}
			if after := len(r.log(session.ID(c.request.ID))); after != before {
				t.Errorf("%d entries were added", after-before)
			}
		})
	}
}

func TestATaskThatWorksIsNotContinuedBesideItself(t *testing.T) {
	r := newRig(t, 0, `-- 1 --
-- explore: a: 1 --
text: first
-- explore: a: 2 --
call read: {"text":"a"}
`)
	first, err := r.request(toolset.TaskRequest{Description: "a"})
	if err != nil {
		t.Fatal(err)
	}
	r.waits()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := r.agents.Run(ctx, toolset.TaskRequest{ID: first.ID, Parent: "parent", Prompt: "p", Call: "other"}, func(toolset.TaskProgress) {})
		ended <- err
	}()
	<-r.started
	if _, err := r.request(toolset.TaskRequest{ID: first.ID}); tool.CodeOf(err) != tool.CodeLimit {
		t.Errorf("err %v", err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("err %v", err)
	}
}

func TestNothingStartsWhenItsLinkCannotBeStored(t *testing.T) {
	r := newRig(t, 0, "-- 1 --\n-- explore: 1 --\ntext: never\n")
	r.config.Session.Store = full{r.config.Session.Store}
	result, err := r.request(toolset.TaskRequest{})
	if tool.CodeOf(err) != tool.CodeIO || result.Text != "" {
		t.Errorf("%+v, %v", result, err)
	}
	r.wants("its log", len(r.log(session.ID(result.ID))), 0)
}

// full is a store that takes no links.
type full struct{ session.Store }

func (f full) Append(ctx context.Context, id session.ID, entries ...session.Entry) error {
	if entries[0].Type == session.SubagentEntry {
		return errors.New("disk full")
	}
	return f.Store.Append(ctx, id, entries...)
}
