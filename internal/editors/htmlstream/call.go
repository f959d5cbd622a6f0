package htmlstream

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"adze/internal/text/hypertext"
	"adze/session"
	"adze/tool"
)

// call is a tool call, shown by its heading, metadata and status. No tool is known by name.
type call struct {
	id       tool.CallID
	message  string // the message being written with it
	name     string
	title    string
	heading  tool.Heading
	args     json.RawMessage
	metadata json.RawMessage
	state    string // forming, queued, running, or the outcome's status
	bytes    int    // of its arguments received so far
	since    time.Time
	outcome  *tool.Outcome
	steps    []*step // its subagents' calls
	waits    bool    // for the user
}

type step struct {
	id    tool.CallID
	agent string
	text  string
	state string
}

func callKey(id tool.CallID) string { return "call " + string(id) }

// CallID returns the element ID for a call's card.
func CallID(id tool.CallID) string { return ID(callKey(id)) }

// learn returns the call with an ID, creating it if new.
func (v *View) learn(id tool.CallID) *call {
	c := v.calls[id]
	if c == nil {
		c = &call{id: id}
		v.calls[id] = c
	}
	return c
}

func (v *View) show(c *call) {
	p := v.piece(callKey(c.id), nil)
	p.draw = func() string { return v.card(c, p.id) }
}

func (v *View) forming(f session.CallForming) {
	if f.Call == "" || f.Name == "" || v.texts[f.Message] != nil && v.texts[f.Message].complete {
		return
	}
	if m := v.texts[f.Message]; m != nil {
		m.rest()
		m.dirty = true
		m.settle(v) // it precedes the call
	}
	c := v.learn(f.Call)
	if c.state != "" && c.state != "forming" {
		return
	}
	c.message, c.name, c.state, c.bytes = f.Message, f.Name, "forming", f.Bytes
	v.facts.Activity = "writing a call of " + v.text(f.Name)
	v.show(c)
}

// call handles a call's event before its end. A subagent's call is a step of its parent call.
func (v *View) call(ev tool.Event, state string) {
	if ev.Parent != "" {
		v.step(ev.Parent, ev.Call, ev.Agent, tool.HeadingOr(ev.Heading, ev.Tool, ev.Title, ev.Args), state)
		return
	}
	c := v.learn(ev.Call)
	if c.outcome != nil {
		return
	}
	if state == "running" && c.state != "running" {
		c.since = v.options.Now()
	}
	if state != "queued" || c.state == "" || c.state == "forming" {
		c.state = state
	}
	c.name, c.title = cmp.Or(ev.Tool, c.name), cmp.Or(ev.Title, c.title)
	if len(ev.Args) > 0 {
		c.args = ev.Args
	}
	if ev.Heading.Verb != "" {
		c.heading = ev.Heading
	}
	if ev.Metadata != nil {
		c.metadata = ev.Metadata
	}
	if state == "running" {
		v.facts.Activity = v.text(c.head().String())
	}
	v.show(c)
}

func (c *call) head() tool.Heading { return tool.HeadingOr(c.heading, c.name, c.title, c.args) }

func (v *View) step(parent, id tool.CallID, agent string, h tool.Heading, state string) {
	c := v.calls[parent]
	if c == nil {
		if root, _, nested := strings.Cut(string(parent), "/"); nested {
			c = v.calls[tool.CallID(root)]
		}
		if c == nil {
			return
		}
	}
	at := slices.IndexFunc(c.steps, func(s *step) bool { return s.id == id })
	if at < 0 {
		c.steps, at = append(c.steps, &step{id: id, agent: agent}), len(c.steps)
	}
	s := c.steps[at]
	if text := h.String(); text != "" {
		s.text = text
	}
	if s.state != string(tool.Completed) && s.state != string(tool.Failed) {
		s.state = state
	}
	v.show(c)
}

func (v *View) outcome(end session.ToolEnd) {
	o := end.Outcome
	if end.Parent != "" {
		v.step(end.Parent, o.Call, end.Agent, tool.HeadingOr(o.Heading, o.Tool, o.Title, o.Record.Args), string(o.Status))
		return
	}
	c := v.learn(o.Call)
	if c.outcome != nil {
		return
	}
	c.outcome, c.state, c.waits = &o, string(o.Status), false
	c.name, c.title = cmp.Or(o.Tool, c.name), cmp.Or(o.Title, c.title)
	if o.Heading.Verb != "" {
		c.heading = o.Heading
	}
	if len(c.args) == 0 {
		c.args = o.Record.Args
	}
	if o.Metadata != nil {
		c.metadata = o.Metadata
	}
	v.facts.Activity = "thinking"
	v.show(c)
	t := v.current()
	if len(o.Changed) > 0 {
		t.changed = true
	}
	if c.heading.Shape == tool.NoRow && o.Status == tool.Completed { // a newer to-do list replaces an older one
		p := v.pieces[ID(callKey(c.id))]
		if t.todos != nil && t.todos != p {
			v.remove(t.todos)
		}
		t.todos = p
	}
}

// Waits marks the call a question is about.
func (v *View) Waits(id tool.CallID, waits bool) {
	if c := v.calls[id]; c != nil && c.outcome == nil {
		c.waits = waits
		v.show(c)
	}
}

// signs are the signs before a call, with their meanings.
var signs = map[string][2]string{
	"forming": {"…", "being written"}, "queued": {"·", "waits for its turn"}, "running": {"◌", "running"}, "asked": {"?", "waits for you"},
	string(tool.Completed): {"✓", "done"}, string(tool.Failed): {"✗", "failed"}, string(tool.Invalid): {"✗", "not valid"},
	string(tool.Denied): {"⊘", "denied"}, string(tool.Aborted): {"◼", "stopped"},
}

func (v *View) card(c *call, id string) string {
	state := c.state
	if c.waits {
		state = "asked"
	}
	body := v.body(c)
	var b strings.Builder
	class := ` class="b call ` + word(state) + `" id="` + id + `"`
	only := c.head().Shape == tool.OneRow && (c.outcome == nil || c.outcome.Status == tool.Completed) && body != ""
	if only {
		b.WriteString("<details" + class + "><summary>")
	} else {
		says := strings.TrimSpace(signs[word(state)][1] + " " + cmp.Or(c.head().Verb, c.name) + " " + c.head().Line())
		b.WriteString("<section" + class + ` role="group" aria-label="` + hypertext.Escape(v.text(says)) + `"><div class="head">`)
	}
	b.WriteString(v.headline(c, state))
	if only {
		return b.String() + "</summary>" + body + "</details>"
	}
	return b.String() + "</div>" + body + "</section>"
}

func word(state string) string {
	if _, known := signs[state]; known {
		return state
	}
	return "unknown"
}

// headline returns a call's title and result.
func (v *View) headline(c *call, state string) string {
	h, sign := c.head(), signs[word(state)]
	var b strings.Builder
	b.WriteString(`<span class="sign" role="img" aria-label="` + sign[1] + `">` + sign[0] + `</span> <span class="verb">` + hypertext.Escape(v.text(cmp.Or(h.Verb, c.name))) + "</span>")
	if line := h.Line(); line != "" {
		b.WriteString(` <code class="object">` + hypertext.Escape(v.text(line)) + "</code>")
	}
	if h.Result != "" {
		b.WriteString(` <span class="result">` + hypertext.Escape(v.text(h.Result)) + "</span>")
	}
	switch {
	case c.state == "forming" && c.bytes > 0:
		b.WriteString(` <span class="took">` + size(c.bytes) + "</span>")
	case c.state == "running" && !c.since.IsZero():
		b.WriteString(` <span class="took" data-since="` + strconv.FormatInt(c.since.UnixMilli(), 10) + `"></span>`)
	case c.outcome != nil && c.outcome.Duration >= 100*time.Millisecond:
		b.WriteString(` <span class="took">` + seconds(c.outcome.Duration) + "</span>")
	}
	if h.Note != "" {
		b.WriteString(` <span class="why">` + hypertext.Escape(v.text(h.Note)) + "</span>")
	}
	return b.String()
}

// liveLines limits the shown output lines of a running command.
const liveLines = 14

// body returns a call's details.
func (v *View) body(c *call) string {
	var b strings.Builder
	if h := c.head(); h.MultiLine() {
		b.WriteString(`<pre class="cmd" tabindex="0">` + hypertext.Plain(v.text(strings.TrimSpace(h.Object))) + "</pre>")
	}
	b.WriteString(v.stepped(c))
	shown := b.Len()
	var blocks []tool.Block
	if c.metadata != nil && v.options.Blocks != nil {
		blocks = v.options.Blocks(c.name, c.metadata)
	}
	for _, block := range blocks {
		if c.outcome == nil && block.Kind == tool.OutputBlock {
			block.Text, block.Total = lastLines(block.Text, liveLines), 0
		}
		if object := c.head().Line(); block.Title == object || block.Kind == tool.DiffBlock && strings.HasPrefix(block.Title, object+" ") {
			block.Title = "" // it is in the headline
		}
		if block.Kind == tool.DiffBlock && block.Path != "" && block.Path != c.head().Object && len(blocks) > 1 {
			block.Title = cmp.Or(block.Title, block.Path)
		}
		b.WriteString(hypertext.Block(v.masked(block)))
	}
	if c.outcome == nil {
		return b.String()
	}
	if c.outcome.Status != tool.Completed && (b.Len() == shown || c.outcome.Status == tool.Denied) {
		b.WriteString(`<p class="reason">` + hypertext.Words(v.text(cutTo(reason(c.outcome), 1200))) + "</p>")
	}
	for _, a := range c.outcome.Attachments {
		b.WriteString(v.attachment(a))
	}
	if c.outcome.OutputFile != "" {
		b.WriteString(`<button type="button" class="quiet" data-act="whole-output" data-call="` + CallID(c.id) + `">Show all that it printed</button>`)
	}
	return b.String()
}

// reason explains a failed call.
func reason(o *tool.Outcome) string {
	for _, d := range slices.Backward(o.Record.Decisions) {
		if o.Status == tool.Denied && !d.Allow {
			return cmp.Or(d.Reply, d.Reason, o.Output)
		}
	}
	return cmp.Or(o.Output, o.Code)
}

// keepSteps is how many of a subagent's steps are shown unfolded.
const keepSteps = 6

// stepped returns the steps of a call's subagents.
func (v *View) stepped(c *call) string {
	if len(c.steps) == 0 {
		return ""
	}
	var b strings.Builder
	line := func(s *step) {
		sign := signs[word(s.state)]
		b.WriteString(`<li class="` + word(s.state) + `"><span class="sign" role="img" aria-label="` + sign[1] + `">` + sign[0] + "</span> " + hypertext.Escape(v.text(s.text)) + "</li>")
	}
	hidden := max(0, len(c.steps)-keepSteps)
	if hidden > 0 {
		b.WriteString(`<details class="fold"><summary>` + strconv.Itoa(hidden) + ` earlier steps</summary><ol class="steps">`)
		for _, s := range c.steps[:hidden] {
			line(s)
		}
		b.WriteString("</ol></details>")
	}
	b.WriteString(`<ol class="steps">`)
	for _, s := range c.steps[hidden:] {
		line(s)
	}
	b.WriteString("</ol>")
	return b.String()
}

func (v *View) masked(b tool.Block) tool.Block {
	b.Title, b.Text, b.Path = v.text(b.Title), v.text(b.Text), v.text(b.Path)
	b.Items = slices.Clone(b.Items)
	for i := range b.Items {
		b.Items[i].Text, b.Items[i].Note = v.text(b.Items[i].Text), v.text(b.Items[i].Note)
	}
	return b
}

// Masked returns blocks as HTML with secrets masked.
func (v *View) Masked(blocks []tool.Block) string {
	var b strings.Builder
	for _, block := range blocks {
		b.WriteString(hypertext.Block(v.masked(block)))
	}
	return b.String()
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

func cutTo(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + "…"
}
