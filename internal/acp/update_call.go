package acp

import (
	"bytes"
	"encoding/json"
	"slices"

	sdk "github.com/coder/acp-go-sdk"

	"adze/internal/secret"
	"adze/session"
	"adze/tool"
)

// shown is a call that the editor was told of.
type shown struct {
	title    string
	args     json.RawMessage
	begun    bool // told to be in progress
	ended    bool
	asks     bool   // it is a question to the person
	terminal string // of the editor, in which it runs; empty: none
}

// called tells what happens to calls. Those of a subagent are told where somebody was asked about
// them.
func (t *teller) called(e session.Event) {
	switch e := e.(type) {
	case session.ToolQueued:
		t.queued(e.Event)
	case session.ToolStart:
		t.started(e.Event)
	case session.ToolUpdate:
		t.updated(e.Event)
	case session.ToolEnd:
		t.ended(e)
	}
}

// queued tells that there is a call, before anybody is asked about it.
func (t *teller) queued(e tool.Event) {
	if e.Parent == "" {
		t.begins(e.Call, e.Tool, e.Title, e.Args)
	}
}

// begins tells a call once.
func (t *teller) begins(id tool.CallID, name, title string, args json.RawMessage) *shown {
	if s, ok := t.calls[id]; ok {
		return s
	}
	args = json.RawMessage(secret.Passwords(string(args)))
	s := &shown{title: secret.Passwords(callTitle(name, title, args)), args: args}
	t.calls[id] = s
	d, _ := t.with.Tool(name)
	s.asks = slices.Contains(d.Tags, "question") || slices.Contains(d.Tags, "propose")
	t.thread.post(sdk.StartToolCall(sdk.ToolCallId(id), s.title, sdk.WithStartKind(kindOf(d)), sdk.WithStartStatus(sdk.ToolCallStatusPending),
		withLocations(places(t.with.Cwd(), args, nil, nil)), sdk.WithStartRawInput(raw(args))))
	return s
}

// withLocations is sdk.WithStartLocations, which adds a path to the input that nobody wrote there.
func withLocations(l []sdk.ToolCallLocation) sdk.ToolCallStartOpt {
	return func(u *sdk.SessionUpdateToolCall) { u.Locations = l }
}

func (t *teller) started(e tool.Event) {
	if e.Parent != "" {
		return
	}
	s := t.begins(e.Call, e.Tool, e.Title, e.Args)
	if s.begun {
		return
	}
	s.begun = true
	opts := []sdk.ToolCallUpdateOpt{sdk.WithUpdateStatus(sdk.ToolCallStatusInProgress)}
	if args := json.RawMessage(secret.Passwords(string(e.Args))); len(args) > 0 && !bytes.Equal(args, s.args) { // somebody changed them
		s.args = args
		opts = append(opts, sdk.WithUpdateRawInput(raw(args)), sdk.WithUpdateLocations(places(t.with.Cwd(), args, nil, nil)))
	}
	t.thread.post(sdk.UpdateToolCall(sdk.ToolCallId(e.Call), opts...))
}

// updated tells the newest state of a running call.
func (t *teller) updated(e tool.Event) {
	if e.Parent != "" {
		return
	}
	s := t.begins(e.Call, e.Tool, e.Title, e.Args)
	blocks := t.with.Blocks(e.Tool, e.Metadata)
	opts := []sdk.ToolCallUpdateOpt{sdk.WithUpdateStatus(sdk.ToolCallStatusInProgress)}
	if e.Title != "" {
		s.title = secret.Passwords(e.Title)
		opts = append(opts, sdk.WithUpdateTitle(s.title))
	}
	if c := contents(t.with.Cwd(), blocks); len(c) > 0 && s.terminal == "" {
		opts = append(opts, sdk.WithUpdateContent(c))
	}
	t.thread.agent.out.post(note{session: t.thread.id, update: sdk.UpdateToolCall(sdk.ToolCallId(e.Call), opts...), key: "call " + string(e.Call)})
}

// ended tells the one outcome of a call, whole: of a stored session nothing else is known of it.
func (t *teller) ended(e session.ToolEnd) {
	o := e.Outcome
	if e.Parent != "" {
		if _, asked := t.calls[o.Call]; asked {
			t.thread.post(sdk.UpdateToolCall(sdk.ToolCallId(o.Call), sdk.WithUpdateStatus(callStatus(o.Status))))
		}
		return
	}
	s := t.begins(o.Call, o.Tool, o.Title, o.Record.Args)
	args := json.RawMessage(secret.Passwords(string(o.Record.Args)))
	blocks := t.with.Blocks(o.Tool, o.Metadata)
	opts := []sdk.ToolCallUpdateOpt{
		sdk.WithUpdateStatus(callStatus(o.Status)), sdk.WithUpdateTitle(secret.Passwords(callTitle(o.Tool, o.Title, args))),
		sdk.WithUpdateLocations(places(t.with.Cwd(), args, blocks, o.Changed)), sdk.WithUpdateRawOutput(rawOutput(o)),
	}
	if !bytes.Equal(args, s.args) {
		opts = append(opts, sdk.WithUpdateRawInput(raw(args)))
	}
	content := t.outcome(o, blocks)
	if s.terminal != "" { // it shows what the command wrote
		content = []sdk.ToolCallContent{sdk.ToolTerminalRef(s.terminal)}
	}
	opts = append(opts, sdk.WithUpdateContent(content))
	s.ended = true
	t.thread.post(sdk.UpdateToolCall(sdk.ToolCallId(o.Call), opts...))
	if o.Status == tool.Completed {
		t.planned(blocks)
	}
}

// outcome is what is shown of a call that has ended: its blocks, and where it failed why.
func (t *teller) outcome(o tool.Outcome, blocks []tool.Block) []sdk.ToolCallContent {
	out := contents(t.with.Cwd(), blocks)
	if o.Output != "" && (o.Status != tool.Completed || len(out) == 0) {
		out = append(out, sdk.ToolContent(sdk.TextBlock(fenced("", o.Output))))
	}
	return out
}

// rawOutput is what the model got.
func rawOutput(o tool.Outcome) map[string]any {
	out := map[string]any{"status": o.Status, "output": o.Output}
	if o.Code != "" {
		out["code"] = o.Code
	}
	return out
}

// raw is JSON as a value that is encoded as it is; nil for none.
func raw(args json.RawMessage) any {
	if len(args) == 0 || !json.Valid(args) {
		return nil
	}
	return args
}
