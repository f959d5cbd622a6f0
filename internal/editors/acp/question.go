package acp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"adze/internal/stream/ask"
)

// errNoForm means that the editor has no text input.
var errNoForm = errors.New("the editor has no way to ask for an answer in words; ask in your answer's text instead, and end the turn")

// inquire asks the user a question of the model or shows its plan: as a form if the editor has
// forms, else as options.
func (t *thread) inquire(ctx context.Context, q ask.Question) (string, error) {
	if t.agent.forms() {
		return t.form(ctx, q)
	}
	if len(q.Choices) == 0 {
		return "", errNoForm
	}
	call, own := t.updates.question(headline(q))
	r := sdk.RequestPermissionRequest{SessionId: sdk.SessionId(t.id), ToolCall: sdk.ToolCallUpdate{
		ToolCallId: call, Title: sdk.Ptr(headline(q)), Kind: sdk.Ptr(sdk.ToolKindThink), Status: sdk.Ptr(sdk.ToolCallStatusPending),
		Content: []sdk.ToolCallContent{sdk.ToolContent(sdk.TextBlock(whole(q)))},
	}}
	r.Options = choices(q)
	id, err := t.choice(ctx, r)
	answer := ""
	for n, c := range q.Choices {
		if id == fmt.Sprint("choice:", n) {
			answer = c
		}
	}
	if own {
		t.answered(call, answer)
	}
	if err == nil && answer == "" {
		err = errors.New("the person dismissed the question")
	}
	return answer, err
}

// choices returns an answer's options with their kinds, from which editors derive keys, icons and
// defaults. The last option always refuses.
func choices(q ask.Question) (out []sdk.PermissionOption) {
	refuses := false
	for n, c := range q.Choices {
		o := sdk.PermissionOption{OptionId: sdk.PermissionOptionId(fmt.Sprint("choice:", n)), Kind: sdk.PermissionOptionKindAllowOnce, Name: c}
		if n < len(q.Kinds) {
			switch q.Kinds[n] {
			case ask.AllowAlways:
				o.Kind = sdk.PermissionOptionKindAllowAlways
			case ask.Refuse:
				o.Kind, refuses = sdk.PermissionOptionKindRejectOnce, true
			}
		}
		out = append(out, o)
	}
	if !refuses {
		name := "Do not answer"
		if len(q.Kinds) > 0 {
			name = "Reject"
		}
		out = append(out, sdk.PermissionOption{OptionId: no, Kind: sdk.PermissionOptionKindRejectOnce, Name: name})
	}
	return out
}

// question returns the model's call that asks, or else a new call for the question alone (own).
func (t *updateEncoder) question(title string) (call sdk.ToolCallId, own bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, s := range t.calls {
		if s.begun && !s.ended && s.asks {
			return sdk.ToolCallId(id), false
		}
	}
	t.questions++
	call = sdk.ToolCallId(fmt.Sprint("question ", t.questions))
	t.thread.post(sdk.StartToolCall(call, title, sdk.WithStartKind(sdk.ToolKindThink), sdk.WithStartStatus(sdk.ToolCallStatusPending)))
	return call, true
}

func (t *thread) answered(call sdk.ToolCallId, answer string) {
	status, shown := sdk.ToolCallStatusCompleted, answer
	if answer == "" {
		status, shown = sdk.ToolCallStatusFailed, "not answered"
	}
	t.post(sdk.UpdateToolCall(call, sdk.WithUpdateStatus(status), sdk.WithUpdateContent([]sdk.ToolCallContent{sdk.ToolContent(sdk.TextBlock(shown))})))
}

// headline returns a question's title or its first line; whole returns all text to read before the
// answer.
func headline(q ask.Question) string {
	if q.Title != "" {
		return q.Title
	}
	line, _, _ := strings.Cut(q.Text, "\n")
	return line
}

func whole(q ask.Question) string {
	var parts []string
	for _, part := range []string{q.Said, q.Text} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if q.Agent != "" {
		parts = append([]string{q.Agent + " asks:"}, parts...)
	}
	return strings.Join(parts, "\n\n")
}

// elicitation is elicitation/create with a form, for a session.
type elicitation struct {
	SessionId       string                        `json:"sessionId"`
	Mode            string                        `json:"mode"`
	Message         string                        `json:"message"`
	RequestedSchema sdk.UnstableElicitationSchema `json:"requestedSchema"`
}

type elicitAnswer struct {
	Action  string         `json:"action"`
	Content map[string]any `json:"content"`
}

func (a *Agent) forms() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.client.Elicitation != nil && a.client.Elicitation.Form != nil
}

// form asks with the choices and a text field.
func (t *thread) form(ctx context.Context, q ask.Question) (string, error) {
	fields := map[string]any{"answer": map[string]any{"type": "string", "title": "Answer"}}
	if len(q.Choices) > 0 {
		fields["choice"] = map[string]any{"type": "string", "title": "Choice", "enum": q.Choices}
		fields["answer"] = map[string]any{"type": "string", "title": "Or in other words"}
	}
	message := whole(q)
	for {
		said, err := t.elicit(ctx, message, fields)
		if err != nil {
			return "", err
		}
		for _, field := range []string{"answer", "choice"} {
			if words, ok := said.Content[field].(string); ok && strings.TrimSpace(words) != "" {
				return words, nil
			}
		}
		if said.Action != "accept" {
			return "", errors.New("the person dismissed the question")
		}
		message = "The answer said nothing.\n\n" + whole(q)
	}
}

// write lets the user edit a text, and returns false if they cancel.
func (t *thread) write(ctx context.Context, what, text string) (string, bool, error) {
	field := map[string]any{"type": "string", "title": what}
	if text != "" {
		field["default"] = text
	}
	said, err := t.elicit(ctx, what, map[string]any{"text": field})
	words, _ := said.Content["text"].(string)
	return words, err == nil && said.Action == "accept" && (words != "" || text == ""), err
}

func (t *thread) elicit(ctx context.Context, message string, fields map[string]any) (elicitAnswer, error) {
	var said elicitAnswer
	err := t.agent.conn.ask(ctx, sdk.ClientMethodElicitationCreate, elicitation{
		SessionId: t.id, Mode: "form", Message: message, RequestedSchema: sdk.UnstableElicitationSchema{Type: "object", Properties: fields},
	}, &said)
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return said, err
}
