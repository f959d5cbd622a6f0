package htmlstream

import (
	"cmp"
	"fmt"
	"strings"

	"adze/internal/text/hypertext"
	"adze/session"
	"adze/tool"
)

// end shows a turn's end, and the claims supported by calls.
func (v *View) end(r session.Result) {
	t := v.current()
	if v.pieces[ID("end "+t.id)] != nil {
		return
	}
	for _, m := range v.texts {
		m.rest()
		m.settle(v)
	}
	v.stopCalls()
	v.facts.Activity, v.facts.Changed = "", t.changed || len(r.Changed) > 0
	if r.Cost != nil && v.facts.Window == 0 { // else the tokens are counted
		sum := *r.Cost
		if v.facts.Cost != nil {
			sum += *v.facts.Cost
		}
		v.facts.Cost = &sum
	}
	left := v.remark(t, r)
	if r.Cause != session.CauseDone {
		v.AppendHTML("cause "+t.id, func(id string) string { return v.failure(id, r) })
	}
	v.AppendHTML("end "+t.id, func(id string) string { return v.footer(id, t, r, left) })
}

// stopCalls ends the calls the turn's end has stopped.
func (v *View) stopCalls() {
	for id, c := range v.calls {
		switch {
		case c.outcome != nil:
		case c.state == "forming":
			v.Drop(callKey(id))
			delete(v.calls, id)
		default:
			c.outcome, c.state, c.waits = &tool.Outcome{Call: id, Status: tool.Aborted, Output: "the turn ended before the call did"}, string(tool.Aborted), false
			v.show(c)
		}
	}
}

// remark places marks after an answer's clauses, and returns those without a place.
func (v *View) remark(t *turn, r session.Result) (left []hypertext.Mark) {
	claims, evidence := r.Claims, r.Evidence
	if len(claims)+len(evidence) == 0 {
		claims, evidence = v.claimed.Claims, v.claimed.Evidence
	}
	var marks []hypertext.Mark
	for _, c := range claims {
		marks = append(marks, hypertext.Mark{Quote: v.text(c.Quote), Text: v.text(c.Mark()), Against: true})
	}
	for _, e := range evidence {
		marks = append(marks, hypertext.Mark{Quote: v.text(e.Quote), Text: v.text(e.Mark())})
	}
	if t.last == nil || len(marks) == 0 {
		return marks
	}
	t.last.marks = marks
	return t.last.settle(v)
}

// failure describes an unfinished turn: the cause, and the next step.
func (v *View) failure(id string, r session.Result) string {
	if r.Cause == session.CauseInterrupted || r.Cause == session.CauseTaken {
		return `<p class="b note" id="` + id + `">Stopped: ` + hypertext.Words(v.text(cmp.Or(r.Message, "by you"))) + "</p>"
	}
	var b strings.Builder
	b.WriteString(`<div class="b fail" id="` + id + `"><p><strong>` + hypertext.Words(v.text(cmp.Or(r.Message, string(r.Cause)))) + "</strong></p>")
	if r.Hint != "" {
		b.WriteString(`<p>` + hypertext.Words(v.text(r.Hint)) + "</p>")
	}
	b.WriteString(`<p class="acts"><button type="button" data-act="again">Try again</button></p></div>`)
	return b.String()
}

func (v *View) footer(id string, t *turn, r session.Result, left []hypertext.Mark) string {
	var b strings.Builder
	b.WriteString(`<div class="b end" id="` + id + `">`)
	for _, m := range left {
		class := "remark"
		if m.Against {
			class = "remark against"
		}
		b.WriteString(`<p class="claim"><span class="` + class + `">` + hypertext.Words(m.Text) + `</span> <span class="dim">` + hypertext.Words("“"+m.Quote+"”") + "</span></p>")
	}
	var facts []string
	if t.model != "" {
		facts = append(facts, hypertext.Escape(t.model))
	}
	if r.Duration > 0 {
		facts = append(facts, seconds(r.Duration))
	}
	if r.Cost != nil {
		facts = append(facts, fmt.Sprintf("$%.4f", *r.Cost))
	}
	switch n := len(r.Changed); {
	case n == 1:
		facts = append(facts, "changed "+hypertext.Escape(v.text(r.Changed[0])))
	case n > 1:
		facts = append(facts, fmt.Sprintf("changed %d files", n))
	}
	b.WriteString(`<p class="facts"><span class="dim">` + strings.Join(facts, " · ") + `</span><span class="acts">`)
	if t.last != nil {
		b.WriteString(`<button type="button" class="quiet" data-act="copy-answer">Copy</button>`)
	}
	if len(r.Changed) > 0 || t.changed {
		b.WriteString(`<button type="button" class="quiet" data-act="review">Review changes</button><button type="button" class="quiet" data-act="undo">Undo</button>`)
	}
	b.WriteString("</span></p></div>")
	return b.String()
}
