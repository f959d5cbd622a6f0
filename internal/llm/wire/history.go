package wire

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"adze/session"
	"adze/tool"
)

// Replaces a result missing in the log.
const noOutcome = "no outcome was recorded for this call; it may or may not have run. Check before repeating it"

// History returns a conversation in which every call has exactly one result, in the calls' order
// and directly after its message, as strict APIs require. Valid messages keep their values, and a
// valid conversation is returned itself; it must not be changed. As it grows, only what is new is
// examined.
func (c *Cache) History(messages []session.Message) []session.Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	from := c.valid.Examined(messages)
	for from > 0 && messages[from-1].Role == session.ToolRole {
		from--
	}
	var out []session.Message // from the first invalid message on
	for i, end := max(0, from-1), 0; i < len(messages); i = end {
		for end = i + 1; end < len(messages) && messages[end].Role == session.ToolRole; end++ {
		}
		m, found := &messages[i], messages[i+1:end]
		asks := m.Role == session.Assistant && slices.ContainsFunc(m.Parts, isCall)
		switch {
		case asks && len(found) == 1 && inOrder(m.Parts, found[0].Parts), !asks && m.Role != session.ToolRole && len(found) == 0:
			if out != nil {
				out = append(out, messages[i:end]...)
			}
			continue
		case out == nil:
			out = append(make([]session.Message, 0, len(messages)), messages[:i]...)
		}
		if m.Role != session.ToolRole { // otherwise its calls are gone
			out = append(out, *m)
		}
		if asks {
			out = append(out, answered(*m, found))
		}
	}
	if out == nil {
		c.valid.MarkAll(messages)
		return messages
	}
	return out
}

func isCall(p session.Part) bool { return p.Kind == session.CallPart && p.Call != nil }

// answered returns the single tool message for a message's calls.
func answered(asked session.Message, found []session.Message) session.Message {
	byID := map[tool.CallID]session.Part{}
	for _, m := range found {
		for _, p := range m.Parts {
			if p.Kind == session.OutcomePart && p.Outcome != nil {
				byID[p.Outcome.Call] = p
			}
		}
	}
	whole := session.Message{ID: asked.ID + "/outcomes", Role: session.ToolRole}
	for _, c := range asked.Calls() {
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

// inOrder reports whether the results match the calls in order.
func inOrder(asked, outcomes []session.Part) bool {
	n := 0
	for i := range asked {
		if !isCall(asked[i]) {
			continue
		}
		if n == len(outcomes) || outcomes[n].Kind != session.OutcomePart || outcomes[n].Outcome == nil || outcomes[n].Outcome.Call != asked[i].Call.ID {
			return false
		}
		n++
	}
	return n == len(outcomes)
}

// Attachment kinds that APIs treat differently.
const (
	Image    = "image"
	Document = "document" // PDF
	Plain    = "text"
	Other    = "other"
)

// KindOf returns an attachment's kind.
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

// ResultText returns a result as text, for an API whose results hold nothing else, and the
// attachments for a message that follows, as far as the API takes them.
func ResultText(o tool.Outcome, takes func(tool.Attachment) bool) (text string, later []session.Part) {
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

// Note returns text in place of an attachment that an API cannot take; a text attachment is
// included whole.
func Note(a tool.Attachment) string {
	if KindOf(a) == Plain {
		return fmt.Sprintf("[%s]\n%s", a.Name, a.Data)
	}
	return fmt.Sprintf("[attachment %s (%s, %d bytes) cannot be shown to this model]", a.Name, a.MediaType, len(a.Data))
}
