package htmlstream_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"adze/internal/editors/htmlstream"
	"adze/internal/text/redact"
	"adze/session"
	"adze/tool"
)

const text = "First.\n\n- one\n- two\n\n```go\nx := 1\n```\n\nLast, and all tests pass."

func blocks(_ string, raw json.RawMessage) []tool.Block { return tool.Output("", string(raw)) }

func user(id, text string) session.Event {
	return session.MessageDone{Message: session.Message{ID: id, Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: text}}}}
}

func stored() []session.Event {
	outcome := tool.Outcome{Call: "c", Tool: "bash", Status: tool.Completed, Heading: tool.Heading{Verb: "$", Object: "go test"}, Metadata: json.RawMessage(`"ok"`)}
	return []session.Event{
		user("u", "do it"),
		session.MessageDone{Message: session.Message{ID: "a", Role: session.Assistant, Parts: []session.Part{{Kind: session.ReasoningPart, Text: "Hm.\n\nWell."}, {Kind: session.TextPart, Text: "I test."}, {Kind: session.CallPart, Call: &tool.RawCall{ID: "c", Name: "bash"}}}}},
		session.ToolEnd{Outcome: outcome},
		session.MessageDone{Message: session.Message{ID: "b", Role: session.Assistant, Parts: []session.Part{{Kind: session.TextPart, Text: text}}}},
		session.TurnEnd{Result: session.Result{Cause: session.CauseDone, Evidence: []session.Evidence{{Quote: "all tests pass", Text: "go test"}}}},
	}
}

// page is what a browser has after the changes.
type page struct {
	t     *testing.T
	order []string
	html  map[string]string
	drawn map[string]int
}

func (p *page) take(changes []htmlstream.Change) {
	for _, c := range changes {
		at := len(p.order)
		for i, id := range p.order {
			if id == c.After {
				at = i + 1
			}
		}
		switch _, there := p.html[c.ID]; {
		case c.HTML == "":
			delete(p.html, c.ID)
			continue
		case !there:
			p.order = append(p.order[:at], append([]string{c.ID}, p.order[at:]...)...)
		}
		p.html[c.ID] = c.HTML
		p.drawn[c.ID]++
	}
}

func (p *page) String() (out string) {
	for _, id := range p.order {
		out += p.html[id]
	}
	return out
}

func view() *htmlstream.View {
	return htmlstream.New(htmlstream.Options{Blocks: blocks, Now: func() time.Time { return time.Unix(0, 0) }})
}

// TestLiveIsWhatTheLogSays: a page that saw a turn arrive, in pieces of any size, has what one has
// that reads the log; and what was finished was drawn once, and once more for its remark.
func TestLiveIsWhatTheLogSays(t *testing.T) {
	read := view()
	for _, e := range stored() {
		read.Take(e)
	}
	want := &page{t: t, html: map[string]string{}, drawn: map[string]int{}}
	want.take(read.Flush())
	for step := 1; step < 9; step++ {
		v, p := view(), &page{t: t, html: map[string]string{}, drawn: map[string]int{}}
		say := func(make func(string) session.Event, text string) {
			for ; text != ""; text = text[min(step, len(text)):] {
				v.Take(make(text[:min(step, len(text))]))
				p.take(v.Flush())
			}
		}
		all := stored()
		v.Take(all[0])
		say(func(s string) session.Event { return session.ReasoningDelta{Message: "a", Delta: s} }, "Hm.\n\nWell.")
		say(func(s string) session.Event { return session.TextDelta{Message: "a", Delta: s} }, "I test.")
		v.Take(session.CallForming{Message: "a", Call: "c", Name: "bash", Bytes: 12})
		p.take(v.Flush())
		v.Take(all[1])
		v.Take(session.ToolStart{Event: tool.Event{Call: "c", Tool: "bash"}})
		v.Take(session.ToolUpdate{Event: tool.Event{Call: "c", Tool: "bash", Metadata: json.RawMessage(`"so far"`)}})
		p.take(v.Flush())
		v.Take(all[2])
		p.take(v.Flush())
		say(func(s string) session.Event { return session.TextDelta{Message: "b", Delta: s} }, text)
		for _, e := range append(all[3:], all...) { // the log may tell all of it once more
			v.Take(e)
			p.take(v.Flush())
		}
		if p.String() != want.String() {
			t.Errorf("in steps of %d:\n%s\nthe log:\n%s", step, p, want)
		}
	}
	if !strings.Contains(want.String(), `all tests pass. <span class="remark">✓ go test</span>`) {
		t.Errorf("the evidence is missing: %s", want)
	}
}

// TestARetryTakesBack: what came of a request that failed is gone, and the call that it began.
func TestARetryTakesBack(t *testing.T) {
	v, p := view(), &page{t: t, html: map[string]string{}, drawn: map[string]int{}}
	v.Take(user("u", "x"))
	v.Take(session.TextDelta{Message: "a", Delta: "Half an\n\nanswer"})
	v.Take(session.CallForming{Message: "a", Call: "c", Name: "bash"})
	p.take(v.Flush())
	v.Take(session.Retry{Message: "a", Attempt: 2, Of: 3, Cause: "it broke"})
	p.take(v.Flush())
	if got := p.String(); strings.Contains(got, "Half") || strings.Contains(got, "call") || !strings.Contains(got, "attempt 2 of 3") {
		t.Errorf("%s", got)
	}
}

// TestStepsStandInTheirCall: calls of a subagent are steps of the call that started it, also of one
// below.
func TestStepsStandInTheirCall(t *testing.T) {
	v := view()
	v.Take(user("u", "x"))
	v.Take(session.ToolStart{Event: tool.Event{Call: "c", Tool: "task", Heading: tool.Heading{Verb: "task"}}})
	for i := range 9 {
		id := tool.CallID(fmt.Sprint("c/", i))
		v.Take(session.ToolStart{Event: tool.Event{Call: id, Parent: "c", Tool: "read", Heading: tool.Heading{Verb: "read", Object: fmt.Sprint("file", i)}}})
	}
	v.Take(session.ToolEnd{Parent: "c", Outcome: tool.Outcome{Call: "c/8", Status: tool.Failed}})
	got := ""
	for _, c := range v.Flush() {
		got += c.HTML
	}
	if strings.Count(got, `class="b call`) != 1 || strings.Count(got, "read file") != 9 || !strings.Contains(got, "3 earlier steps") || !strings.Contains(got, `<li class="failed">`) {
		t.Errorf("%s", got)
	}
	if v.Facts().Activity != "task" {
		t.Errorf("it does %q", v.Facts().Activity)
	}
}

// TestSecretsAreMasked: wherever one stands, also in two pieces of a text.
func TestSecretsAreMasked(t *testing.T) {
	const secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJ"
	v := htmlstream.New(htmlstream.Options{Blocks: blocks, Mask: func() *redact.Masker { return &redact.Masker{} }})
	v.Take(user("u", "use "+secret))
	v.Take(session.TextDelta{Message: "a", Delta: "It is " + secret[:20]})
	out := ""
	add := func() {
		for _, c := range v.Flush() {
			out += c.HTML
		}
	}
	add()
	v.Take(session.TextDelta{Message: "a", Delta: secret[20:] + " and more\n\n"})
	add()
	v.Take(session.ToolEnd{Outcome: tool.Outcome{Call: "c", Tool: "bash", Status: tool.Failed, Output: secret, Heading: tool.Heading{Verb: "$", Object: "echo " + secret, Note: secret, Result: secret}, Metadata: json.RawMessage(`"` + secret + `"`)}})
	v.Take(session.Notice{Text: secret})
	v.Take(session.TurnEnd{Result: session.Result{Cause: session.CauseProvider, Message: secret, Hint: secret, Changed: []string{secret}, Claims: []session.Claim{{Quote: secret, Text: secret}}}})
	add()
	if strings.Contains(out, secret[:24]) || strings.Contains(out, secret[20:]) {
		t.Errorf("a secret is told: %s", out)
	}
}
