package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"adze/internal/stream/ask"
	"adze/tool"
)

// Options of a permission request. The id of a session grant ends with its rule's number.
const (
	once       = "once"
	forSession = "session:"
	no         = "no"
	rewrite    = "rewrite" // with a form, if the editor has forms
	refusing   = "no-because"
)

func (t *thread) ask(ctx context.Context, a ask.Permission) (ask.Answer, error) {
	r := t.request(a)
	for {
		id, err := t.choice(ctx, r)
		if err != nil {
			return ask.Answer{}, err
		}
		answer, again, err := t.permitted(ctx, id, a)
		if err != nil || !again {
			return answer, err
		}
	}
}

func (t *thread) request(a ask.Permission) sdk.RequestPermissionRequest {
	q := a.Question
	with := t.current()
	var content []sdk.ToolCallContent
	for _, text := range []string{a.Problem, a.Why, touches(a)} {
		if text != "" {
			content = append(content, sdk.ToolContent(sdk.TextBlock(text)))
		}
	}
	content = append(content, contents(with.Cwd(), a.Preview)...)
	title, args := t.updates.asks(q)
	u := sdk.ToolCallUpdate{
		ToolCallId: sdk.ToolCallId(q.Call), Title: &title, Kind: sdk.Ptr(kindOf(q.Tool)), Status: sdk.Ptr(sdk.ToolCallStatusPending),
		Content: content, Locations: places(with.Cwd(), args, a.Preview, nil), RawInput: raw(args),
	}
	return sdk.RequestPermissionRequest{SessionId: sdk.SessionId(t.id), ToolCall: u, Options: t.answers(a)}
}

// touches names the target, and its real target if written differently.
func touches(a ask.Permission) string {
	var out []string
	for _, n := range a.Question.Needs {
		line := fmt.Sprintf("%s `%s`", n.Permission, n.Touches())
		if really := a.Resolved[n]; really != "" {
			line += fmt.Sprintf(" — really `%s`", really)
		}
		if n.OutsideReason != "" {
			line += " — outside the sandbox: " + n.OutsideReason
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n\n")
}

// answers returns the options: those that allow once, then those that allow more, then those that
// refuse. Editors use their kinds, and for equal kinds their order.
func (t *thread) answers(a ask.Permission) []sdk.PermissionOption {
	out := []sdk.PermissionOption{{OptionId: once, Kind: sdk.PermissionOptionKindAllowOnce, Name: "Allow once"}}
	if a.Question.Editing != nil && t.agent.forms() {
		out = append(out, sdk.PermissionOption{OptionId: rewrite, Kind: sdk.PermissionOptionKindAllowOnce, Name: "Rewrite it, and allow that once"})
	}
	for n, o := range a.Offers {
		name := "Allow in this session: " + strings.ReplaceAll(o.Rule, "\n", ", ")
		if o.Covers != "" {
			name += " — " + o.Covers
		}
		out = append(out, sdk.PermissionOption{OptionId: sdk.PermissionOptionId(fmt.Sprint(forSession, n)), Kind: sdk.PermissionOptionKindAllowAlways, Name: name})
	}
	out = append(out, sdk.PermissionOption{OptionId: no, Kind: sdk.PermissionOptionKindRejectOnce, Name: "Reject"})
	if t.agent.forms() {
		out = append(out, sdk.PermissionOption{OptionId: refusing, Kind: sdk.PermissionOptionKindRejectOnce, Name: "Reject, and say why"})
	}
	return out
}

func (t *thread) choice(ctx context.Context, r sdk.RequestPermissionRequest) (id string, err error) {
	var answer sdk.RequestPermissionResponse
	if err := t.agent.conn.ask(ctx, sdk.ClientMethodSessionRequestPermission, r, &answer); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", fmt.Errorf("the editor did not ask: %w", err)
	}
	if answer.Outcome.Selected == nil {
		return "", ctx.Err() // dismissed, or the turn was cancelled
	}
	return string(answer.Outcome.Selected.OptionId), nil
}

// permitted converts an option to an answer; again means that the user changed their mind.
func (t *thread) permitted(ctx context.Context, id string, a ask.Permission) (answer ask.Answer, again bool, err error) {
	switch {
	case id == once:
		return ask.Answer{Choice: ask.Once}, false, nil
	case strings.HasPrefix(id, forSession):
		for n := range a.Offers {
			if id == fmt.Sprint(forSession, n) {
				return ask.Answer{Choice: ask.ForSession, Offer: n}, false, nil
			}
		}
	case id == rewrite && a.Question.Editing != nil:
		text, ok, err := t.write(ctx, "What is to run instead", a.Question.Editing.Text)
		return ask.Answer{Choice: ask.Once, Text: text}, !ok, err
	case id == refusing:
		reason, ok, err := t.write(ctx, "Why not, for the model", "")
		return ask.Answer{Choice: ask.Deny, Reason: reason}, !ok, err
	}
	return ask.Answer{Choice: ask.Deny}, false, nil // refused, dismissed, or an unknown option
}

// asks makes sure that the editor has the call in question, and returns its title and arguments.
func (t *updateEncoder) asks(q tool.Question) (title string, args json.RawMessage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, ok := t.calls[q.Call]
	if !ok {
		h := tool.Heading{Verb: q.Tool.Name}
		if q.Agent != "" {
			h.Verb = q.Agent + ": " + h.Verb
		}
		if len(q.Needs) > 0 {
			h.Object = q.Needs[0].Touches()
		}
		s = t.begins(tool.Event{Call: q.Call, Tool: q.Tool.Name, Heading: h})
	}
	return s.title, s.args
}
