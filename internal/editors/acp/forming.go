package acp

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	sdk "github.com/coder/acp-go-sdk"

	"adze/internal/text/redact"
	"adze/session"
	"adze/tool"
)

// maxForming is how much of the arguments of a call is shown while it is written, in bytes: what it
// is about stands at their beginning.
const maxForming = 2 << 10

// forming is a call that the model is still writing.
type forming struct {
	message string
	taken   int            // bytes of its arguments that were looked at
	text    string         // of them, without what may be a secret
	mask    *redact.Stream // what may be the beginning of one waits
}

// formed tells a call while it is written: its name, and what it is about as far as that is known.
func (t *teller) formed(e session.CallForming) {
	if e.Call == "" || e.Name == "" {
		return
	}
	s, known := t.calls[e.Call]
	if known && s.forming == nil {
		return
	}
	if !known {
		s = t.begins(e.Call, e.Name, "", nil)
		s.forming = &forming{message: e.Message, mask: new(redact.Masker).Stream()}
	}
	f := s.forming
	to := min(len(e.Arguments), maxForming)
	for to > f.taken && to < len(e.Arguments) && !utf8.RuneStart(e.Arguments[to]) {
		to--
	}
	if to <= f.taken {
		return
	}
	f.text += f.mask.Write(e.Arguments[f.taken:to])
	f.taken = to
	args := closed(f.text)
	if args == nil || string(args) == string(s.args) {
		return
	}
	s.args, s.title = args, callTitle(e.Name, "", args)
	u := sdk.UpdateToolCall(sdk.ToolCallId(e.Call), sdk.WithUpdateTitle(s.title), sdk.WithUpdateRawInput(raw(args)))
	t.thread.agent.out.post(note{session: t.thread.id, update: u, key: "forming " + string(e.Call)})
}

// unformed ends the calls of a message that were being written and did not come to be; of an empty
// one, all.
func (t *teller) unformed(message string, came []tool.RawCall) {
	for id, s := range t.calls {
		if s.forming == nil || message != "" && s.forming.message != message {
			continue
		}
		whole := false
		for _, c := range came {
			whole = whole || c.ID == id
		}
		if !whole {
			t.thread.post(sdk.UpdateToolCall(sdk.ToolCallId(id), sdk.WithUpdateStatus(sdk.ToolCallStatusFailed), sdk.WithUpdateContent(
				[]sdk.ToolCallContent{sdk.ToolContent(sdk.TextBlock("the model did not finish this call; nothing ran"))})))
			delete(t.calls, id)
		}
	}
}

// closed is the beginning of a JSON object as a whole one: open texts, lists and objects end where
// it ends, and a member that has no value yet is left out. If nil, nothing can be read of it yet.
func closed(text string) json.RawMessage {
	var open []byte // what has to be closed, the innermost last
	inside, escaped := false, false
	ends := -1 // where the last whole member ends
	for i := range len(text) {
		c := text[i]
		switch {
		case escaped:
			escaped = false
		case inside && c == '\\':
			escaped = true
		case c == '"':
			inside = !inside
		case inside:
		case c == '{':
			open = append(open, '}')
		case c == '[':
			open = append(open, ']')
		case (c == '}' || c == ']') && len(open) > 0:
			open = open[:len(open)-1]
		case c == ',' && len(open) == 1:
			ends = i
		}
	}
	tail := func(of string) string {
		var b strings.Builder
		b.WriteString(of)
		if inside {
			b.WriteByte('"')
		}
		for i := len(open) - 1; i >= 0; i-- {
			b.WriteByte(open[i])
		}
		return b.String()
	}
	whole := text
	if escaped { // half an escape
		whole = text[:len(text)-1]
	}
	tries := []string{tail(whole)}
	if at := strings.LastIndexByte(whole, '\\'); inside && at >= 0 && len(whole)-at <= 6 { // \u12
		tries = append(tries, tail(whole[:at]))
	}
	if ends >= 0 {
		tries = append(tries, text[:ends]+"}")
	}
	for _, t := range tries {
		var object map[string]json.RawMessage
		if json.Unmarshal([]byte(t), &object) == nil && len(object) > 0 {
			return json.RawMessage(t)
		}
	}
	return nil
}
