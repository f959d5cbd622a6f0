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

// shownCall is a call that the editor knows.
type shownCall struct {
	title   string
	args    json.RawMessage
	forming bool // the model is still writing it
	begun   bool // sent as in progress
	ended   bool
	asks    bool // it is a question to the user
}

// called sends the events of calls. A subagent's calls are sent if the user was asked about them.
func (t *updateEncoder) called(e session.Event) {
	switch e := e.(type) {
	case session.CallForming:
		if _, known := t.calls[e.Call]; !known && e.Call != "" && e.Name != "" {
			t.begins(tool.Event{Call: e.Call, Tool: e.Name}).forming = true
		}
	case session.TurnEnd:
		t.unformed()
	case session.Counted:
		t.used(e.Ledger)
	case session.ToolQueued: // before the user is asked about it
		if e.Parent == "" {
			t.begins(e.Event)
		}
	case session.ToolStart:
		t.started(e.Event)
	case session.ToolUpdate:
		t.updated(e.Event)
	case session.ToolEnd:
		t.ended(e)
	}
}

// unformed ends calls that the model never finished writing.
func (t *updateEncoder) unformed() {
	for id, s := range t.calls {
		if s.forming {
			t.thread.post(sdk.UpdateToolCall(sdk.ToolCallId(id), sdk.WithUpdateStatus(sdk.ToolCallStatusFailed), sdk.WithUpdateContent(
				[]sdk.ToolCallContent{sdk.ToolContent(sdk.TextBlock("the model did not finish this call; nothing ran"))})))
			delete(t.calls, id)
		}
	}
}

// begins sends a call once, and its arguments again if they changed.
func (t *updateEncoder) begins(e tool.Event) *shownCall {
	args := json.RawMessage(redact.Passwords(string(e.Args)))
	title, at := callTitle(tool.HeadingOr(e.Heading, e.Tool, e.Title, args)), places(t.conversation.Cwd(), args, nil, nil)
	s, known := t.calls[e.Call]
	if !known {
		d, _ := t.conversation.Tool(e.Tool)
		s = &shownCall{title: title, args: args, asks: slices.Contains(d.Tags, "question") || slices.Contains(d.Tags, "propose")}
		t.calls[e.Call] = s
		t.thread.post(sdk.StartToolCall(sdk.ToolCallId(e.Call), title, sdk.WithStartKind(kindOf(d)), sdk.WithStartStatus(sdk.ToolCallStatusPending),
			withLocations(at), sdk.WithStartRawInput(raw(args))))
		return s
	}
	s.forming = false
	if len(args) > 0 && !bytes.Equal(args, s.args) {
		s.title, s.args = title, args
		t.thread.post(sdk.UpdateToolCall(sdk.ToolCallId(e.Call), sdk.WithUpdateTitle(title), sdk.WithUpdateRawInput(raw(args)), sdk.WithUpdateLocations(at)))
	}
	return s
}

// withLocations replaces sdk.WithStartLocations, which adds a path to the input.
func withLocations(l []sdk.ToolCallLocation) sdk.ToolCallStartOpt {
	return func(u *sdk.SessionUpdateToolCall) { u.Locations = l }
}

func (t *updateEncoder) started(e tool.Event) {
	if e.Parent != "" {
		return
	}
	if s := t.begins(e); !s.begun {
		s.begun = true
		t.thread.post(sdk.UpdateToolCall(sdk.ToolCallId(e.Call), sdk.WithUpdateStatus(sdk.ToolCallStatusInProgress)))
	}
}

// updated sends a running call's current state.
func (t *updateEncoder) updated(e tool.Event) {
	if e.Parent != "" {
		return
	}
	s := t.begins(e)
	opts := []sdk.ToolCallUpdateOpt{sdk.WithUpdateStatus(sdk.ToolCallStatusInProgress)}
	if e.Heading.Verb != "" || e.Title != "" {
		s.title = callTitle(tool.HeadingOr(e.Heading, e.Tool, e.Title, s.args))
		opts = append(opts, sdk.WithUpdateTitle(s.title))
	}
	if c := contents(t.conversation.Cwd(), t.conversation.Blocks(e.Tool, e.Metadata)); len(c) > 0 {
		opts = append(opts, sdk.WithUpdateContent(c))
	}
	t.thread.post(sdk.UpdateToolCall(sdk.ToolCallId(e.Call), opts...))
}

// ended sends a call's complete result: a loaded session has nothing else of it.
func (t *updateEncoder) ended(e session.ToolEnd) {
	o := e.Outcome
	if e.Parent != "" {
		if _, asked := t.calls[o.Call]; asked {
			t.thread.post(sdk.UpdateToolCall(sdk.ToolCallId(o.Call), sdk.WithUpdateStatus(callStatus(o.Status))))
		}
		return
	}
	s := t.begins(tool.Event{Call: o.Call, Tool: o.Tool, Title: o.Title, Heading: o.Heading, Args: o.Record.Args})
	s.ended = true
	blocks := t.conversation.Blocks(o.Tool, o.Metadata)
	t.thread.post(sdk.UpdateToolCall(sdk.ToolCallId(o.Call), sdk.WithUpdateStatus(callStatus(o.Status)), sdk.WithUpdateTitle(callTitle(o.Headed())),
		sdk.WithUpdateLocations(places(t.conversation.Cwd(), s.args, blocks, o.Changed)), sdk.WithUpdateRawOutput(rawOutput(o, showsOutput(blocks))),
		sdk.WithUpdateContent(t.outcome(o, blocks))))
	if o.Status == tool.Completed {
		t.planned(blocks)
	}
}

// outcome returns the content of a finished call: its blocks, the images that the model got, and
// its error.
func (t *updateEncoder) outcome(o tool.Outcome, blocks []tool.Block) []sdk.ToolCallContent {
	out := contents(t.conversation.Cwd(), blocks)
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

// maxPictures limits a call's images, in bytes; they are sent in one message, as base64.
const maxPictures = 5 << 20

// showsOutput reports whether blocks already contain the call's output.
func showsOutput(blocks []tool.Block) bool {
	return slices.ContainsFunc(blocks, func(b tool.Block) bool {
		return b.Kind == tool.OutputBlock && strings.TrimSpace(b.Text) != ""
	})
}

// rawOutput returns the model's result if it is not shown already.
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

// raw returns JSON as a value that encodes to itself, or nil.
func raw(args json.RawMessage) any {
	if len(args) == 0 || !json.Valid(args) {
		return nil
	}
	return args
}
