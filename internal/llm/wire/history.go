package wire

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"adze/session"
	"adze/tool"
)

// noOutcome stands for a result that the log does not hold.
const noOutcome = "no outcome was recorded for this call; it may or may not have run. Check before repeating it"

// History returns a conversation in which every call has exactly one outcome, in the order of the
// calls and directly after its message, as strict APIs demand. Messages that already are so stay
// the same values.
func History(messages []session.Message) []session.Message {
	out := make([]session.Message, 0, len(messages))
	for i := 0; i < len(messages); i++ {
		m := messages[i]
		if m.Role == session.ToolRole {
			continue // its calls are gone
		}
		out = append(out, m)
		calls := m.Calls()
		if m.Role != session.Assistant || len(calls) == 0 {
			continue
		}
		end := i + 1
		for ; end < len(messages) && messages[end].Role == session.ToolRole; end++ {
		}
		out = append(out, answered(m, calls, messages[i+1:end]))
		i = end - 1
	}
	return out
}

// answered is the one tool message for calls.
func answered(asked session.Message, calls []tool.RawCall, found []session.Message) session.Message {
	if len(found) == 1 && inOrder(calls, found[0].Parts) {
		return found[0]
	}
	byID := map[tool.CallID]session.Part{}
	for _, m := range found {
		for _, p := range m.Parts {
			if p.Kind == session.OutcomePart && p.Outcome != nil {
				byID[p.Outcome.Call] = p
			}
		}
	}
	whole := session.Message{ID: asked.ID + "/outcomes", Role: session.ToolRole}
	for _, c := range calls {
		p, ok := byID[c.ID]
		if !ok {
			p = session.Part{Kind: session.OutcomePart, Outcome: &tool.Outcome{
				Call: c.ID, Tool: c.Name, Status: tool.Aborted, Output: noOutcome,
			}}
		}
		whole.Parts = append(whole.Parts, p)
	}
	return whole
}

func inOrder(calls []tool.RawCall, parts []session.Part) bool {
	if len(calls) != len(parts) {
		return false
	}
	for i, p := range parts {
		if p.Kind != session.OutcomePart || p.Outcome == nil || p.Outcome.Call != calls[i].ID {
			return false
		}
	}
	return true
}

// Attachment kinds that APIs treat differently.
const (
	Image    = "image"
	Document = "document" // PDF
	Plain    = "text"
	Other    = "other"
)

// KindOf sorts an attachment.
func KindOf(a tool.Attachment) string {
	media, _, _ := strings.Cut(a.MediaType, ";")
	switch media = strings.TrimSpace(strings.ToLower(media)); {
	case media == "image/png" || media == "image/jpeg" || media == "image/gif" || media == "image/webp":
		return Image
	case media == "application/pdf":
		return Document
	case (strings.HasPrefix(media, "text/") || media == "application/json") && utf8.Valid(a.Data):
		return Plain
	}
	return Other
}

// Told is an outcome as text for an API whose results hold nothing else, and what must follow it in
// a message of its own: the attachments that the API takes.
func Told(o tool.Outcome, takes func(tool.Attachment) bool) (text string, later []session.Part) {
	text = o.Output
	for i := range o.Attachments {
		a := o.Attachments[i]
		if !takes(a) {
			text += "\n" + Note(a)
			continue
		}
		text += fmt.Sprintf("\n[%s is in the next message]", a.Name)
		later = append(later, session.Part{Kind: session.AttachmentPart, Attachment: &a})
	}
	return text, later
}

// Note stands for an attachment that an API cannot take; text is given whole.
func Note(a tool.Attachment) string {
	if KindOf(a) == Plain {
		return fmt.Sprintf("[%s]\n%s", a.Name, a.Data)
	}
	return fmt.Sprintf("[attachment %s (%s, %d bytes) cannot be shown to this model]", a.Name, a.MediaType, len(a.Data))
}
