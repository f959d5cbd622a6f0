package uistream

import (
	"strconv"

	"adze/internal/text/redact"
	"adze/session"
)

// openText is the open text or reasoning part.
type openText struct {
	kind  session.PartKind // of the open part, or ""
	id    string
	parts int            // number in the step so far
	came  [2]int         // bytes of the message's text and reasoning sent in this step
	mask  *redact.Stream // sent text cannot be retracted, so a possible start of a secret is held back
}

func index(k session.PartKind) int {
	if k == session.ReasoningPart {
		return 1
	}
	return 0
}

// piece sends the next piece of an incomplete message.
func (e *Encoder) piece(message string, kind session.PartKind, text string) []Part {
	if text == "" || e.ended[message] {
		return nil
	}
	return append(e.enter(message), e.says(kind, text)...)
}

// says appends to the open part, or opens one of this kind.
func (e *Encoder) says(kind session.PartKind, text string) []Part {
	var out []Part
	t := &e.text
	if t.kind != kind {
		out = e.closePart()
		t.parts++
		t.kind, t.id, t.mask = kind, e.step+"."+strconv.Itoa(t.parts), e.options.mask().Stream()
		out = append(out, Part{Type: string(kind) + "-start", ID: t.id})
	}
	t.came[index(kind)] += len(text)
	return append(out, e.delta(t.mask.Write(text))...)
}

func (e *Encoder) delta(text string) []Part {
	if text == "" {
		return nil
	}
	return []Part{{Type: string(e.text.kind) + "-delta", ID: e.text.id, Delta: text}}
}

// closePart closes the open part.
func (e *Encoder) closePart() []Part {
	t := &e.text
	if t.kind == "" {
		return nil
	}
	out := e.delta(t.mask.End())
	out = append(out, Part{Type: string(t.kind) + "-end", ID: t.id})
	t.kind, t.mask = "", nil
	return out
}

// whole sends the rest of a model's message, and learns its calls. They are shown when they start,
// so none is open next to a question.
func (e *Encoder) whole(m session.Message) []Part {
	if e.ended[m.ID] {
		return nil
	}
	e.ended[m.ID] = true
	out := e.enter(m.ID)
	e.spent = m.Usage
	came := e.text.came
	for _, p := range m.Parts {
		if p.Kind != session.TextPart && p.Kind != session.ReasoningPart {
			continue
		}
		known := min(came[index(p.Kind)], len(p.Text))
		came[index(p.Kind)] -= known
		if known < len(p.Text) {
			out = append(out, e.says(p.Kind, p.Text[known:])...)
			out = append(out, e.closePart()...)
		}
	}
	out = append(out, e.closePart()...)
	for _, c := range m.Calls() {
		e.callByID(c.ID, c.Name).arguments = c.Arguments
	}
	return out
}

// retry sends that an incomplete message is void.
func (e *Encoder) retry(r session.Retry) []Part {
	told := e.step == r.Message && r.Message != "" && e.text.came != [2]int{}
	out := e.closePart()
	for _, id := range e.order {
		c := e.calls[id]
		if c.message != r.Message || c.ended || !c.nameSent {
			continue
		}
		told = true
		if c.argsSent {
			out = append(out, c.fails("void: the request failed, and is made again"))
		} else {
			out = append(out, e.broken(c, "void: the request failed, and is made again")...)
		}
	}
	cause := redact.Passwords(r.Cause)
	out = append(append(out, e.begin()...), Part{Type: "data-retry", ID: r.Message + "." + strconv.Itoa(r.Attempt), Data: Retried{cause, r.Attempt, r.Of, told}})
	if e.step == r.Message {
		out = append(out, e.leave()...) // a new step follows
	}
	return append(out, e.notice("the request failed and is made again: "+cause)...)
}
