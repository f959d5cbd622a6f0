package acp

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"adze/internal/text/redact"
	"adze/session"
	"adze/tool"
)

// shownCall is a call that the editor was told of.
type shownCall struct {
	title   string
	args    json.RawMessage
	forming bool   // it is still being written
	message string // in which it is
	begun   bool   // told to be in progress
	ended   bool
	asks    bool // it is a question to the user
}

// called tells what happens to calls. Those of a subagent are told where somebody was asked about
// them.
func (t *teller) called(e session.Event) {
	switch e := e.(type) {
	case session.CallForming:
		t.formed(e)
	case session.TurnEnd:
		t.unformed("", nil)
	case session.Counted:
		t.used(e.Ledger)
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

// formed tells that the model writes a call.
func (t *teller) formed(e session.CallForming) {
	if e.Call == "" || e.Name == "" {
		return
	}
	if _, known := t.calls[e.Call]; !known {
		s := t.begins(e.Call, e.Name, "", nil)
		s.forming, s.message = true, e.Message
	}
}

// unformed ends the calls of a message that were being written and did not come to be; of an empty
// one, all.
func (t *teller) unformed(message string, came []tool.RawCall) {
	for id, s := range t.calls {
		whole := slices.ContainsFunc(came, func(c tool.RawCall) bool { return c.ID == id })
		if !s.forming || whole || message != "" && s.message != message {
			continue
		}
		t.thread.post(sdk.UpdateToolCall(sdk.ToolCallId(id), sdk.WithUpdateStatus(sdk.ToolCallStatusFailed), sdk.WithUpdateContent(
			[]sdk.ToolCallContent{sdk.ToolContent(sdk.TextBlock("the model did not finish this call; nothing ran"))})))
		delete(t.calls, id)
	}
}

// begins tells a call once.
func (t *teller) begins(id tool.CallID, name, title string, args json.RawMessage) *shownCall {
	if s, ok := t.calls[id]; ok {
		if s.forming {
			t.whole(id, s, name, title, args)
		}
		return s
	}
	args = json.RawMessage(redact.Passwords(string(args)))
	s := &shownCall{title: redact.Passwords(callTitle(name, title, args)), args: args}
	t.calls[id] = s
	d, _ := t.with.Tool(name)
	s.asks = slices.Contains(d.Tags, "question") || slices.Contains(d.Tags, "propose")
	t.thread.post(sdk.StartToolCall(sdk.ToolCallId(id), s.title, sdk.WithStartKind(kindOf(d)), sdk.WithStartStatus(sdk.ToolCallStatusPending),
		withLocations(places(t.with.Cwd(), args, nil, nil)), sdk.WithStartRawInput(raw(args))))
	return s
}

// whole tells the arguments of a call that was told while it was written.
func (t *teller) whole(id tool.CallID, s *shownCall, name, title string, args json.RawMessage) {
	s.forming = false
	args = json.RawMessage(redact.Passwords(string(args)))
	at, words := places(t.with.Cwd(), args, nil, nil), redact.Passwords(callTitle(name, title, args))
	if bytes.Equal(args, s.args) && words == s.title && len(at) == 0 {
		return // it was all told
	}
	s.args, s.title = args, words
	t.thread.post(sdk.UpdateToolCall(sdk.ToolCallId(id), sdk.WithUpdateTitle(s.title), sdk.WithUpdateRawInput(raw(s.args)),
		sdk.WithUpdateLocations(at)))
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
	if args := json.RawMessage(redact.Passwords(string(e.Args))); len(args) > 0 && !bytes.Equal(args, s.args) { // somebody changed them
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
		s.title = redact.Passwords(e.Title)
		opts = append(opts, sdk.WithUpdateTitle(s.title))
	}
	if c := contents(t.with.Cwd(), blocks); len(c) > 0 {
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
	args := json.RawMessage(redact.Passwords(string(o.Record.Args)))
	blocks := t.with.Blocks(o.Tool, o.Metadata)
	opts := []sdk.ToolCallUpdateOpt{
		sdk.WithUpdateStatus(callStatus(o.Status)), sdk.WithUpdateTitle(redact.Passwords(callTitle(o.Tool, o.Title, args))),
		sdk.WithUpdateLocations(places(t.with.Cwd(), args, blocks, o.Changed)), sdk.WithUpdateRawOutput(rawOutput(o, showsOutput(blocks))),
	}
	if !bytes.Equal(args, s.args) {
		opts = append(opts, sdk.WithUpdateRawInput(raw(args)))
	}
	opts = append(opts, sdk.WithUpdateContent(t.outcome(o, blocks)))
	s.ended = true
	t.thread.post(sdk.UpdateToolCall(sdk.ToolCallId(o.Call), opts...))
	if o.Status == tool.Completed {
		t.planned(blocks)
	}
}

// outcome is what is shown of a call that has ended: its blocks, the pictures that the model got,
// and where it failed why.
func (t *teller) outcome(o tool.Outcome, blocks []tool.Block) []sdk.ToolCallContent {
	out := contents(t.with.Cwd(), blocks)
	if o.Output != "" && !showsOutput(blocks) && (o.Status != tool.Completed || len(out) == 0) {
		out = append(out, sdk.ToolContent(sdk.TextBlock(fenced("", o.Output))))
	}
	left := maxPictures
	for _, a := range o.Attachments {
		if strings.HasPrefix(a.MediaType, "image/") && len(a.Data) <= left {
			left -= len(a.Data)
			out = append(out, sdk.ToolContent(attachment(a)))
		}
	}
	return out
}

// maxPictures bounds the pictures of one call, in bytes; they stand in one message, as base64.
const maxPictures = 5 << 20

// showsOutput reports blocks that hold what the call wrote: it is told once.
func showsOutput(blocks []tool.Block) bool {
	return slices.ContainsFunc(blocks, func(b tool.Block) bool {
		return b.Kind == tool.OutputBlock && strings.TrimSpace(b.Text) != ""
	})
}

// rawOutput is what the model got, where that is not shown already.
func rawOutput(o tool.Outcome, shown bool) map[string]any {
	out := map[string]any{"status": o.Status}
	if !shown {
		out["output"] = o.Output
	}
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
