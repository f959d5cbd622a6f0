// Package htmlstream turns the events of a session into pieces of HTML that a page shows: each has
// an id and is replaced whole when it changes, so that what is finished is never drawn again.
//
// The one rule: a piece has the same id and the same HTML however its events arrived, from the log,
// as they came, or both. A page that was away compares what it has and changes the rest.
//
// Start reading at View.Take, then text.go (texts of a model), call.go (its calls) and end.go (the
// end of a turn). All text of others is masked here and written by package hypertext.
//
// Known limits: the steps of a subagent are shown as long as the program that ran it lives; its own
// log has them.
package htmlstream

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"adze/internal/text/hypertext"
	"adze/internal/text/redact"
	"adze/session"
	"adze/tool"
)

// Change is what a page does with a piece. Without HTML it is taken away.
type Change struct {
	Turn string `json:"turn"`
	ID   string `json:"id"`
	// After is the piece of the turn that it stands behind, where it is new; if empty, it is the first.
	After string `json:"after,omitempty"`
	HTML  string `json:"html,omitempty"`
}

// Facts are what is known of a session beside what was said.
type Facts struct {
	Model        string   `json:"model,omitempty"`
	Used, Window int      `json:"-"`              // tokens of the next request, and how many fit; optional
	Cost         *float64 `json:"cost,omitempty"` // USD; optional
	Doing        string   `json:"doing,omitempty"`
	Changed      bool     `json:"-"` // the newest turn changed files
}

// Options are what a View needs beside events.
type Options struct {
	// Mask hides secrets; if nil, those that are known by their look.
	Mask func() *redact.Masker
	// Blocks shows the metadata of a call; if nil, nothing of it is shown.
	Blocks func(name string, metadata json.RawMessage) []tool.Block
	// Now is the clock; if nil, time.Now.
	Now func() time.Time
}

func (o Options) now() time.Time {
	if o.Now == nil {
		return time.Now()
	}
	return o.Now()
}

// View is what a page shows of a session. It is for one goroutine.
type View struct {
	options Options
	turns   []*turn
	pieces  map[string]*piece
	dropped []Change
	texts   map[string]*message
	calls   map[tool.CallID]*call
	facts   Facts
	claimed session.Claimed // of the turn that runs
}

// turn is a prompt of the user and what came of it.
type turn struct {
	id      string
	pieces  []*piece
	last    *run // the text that remarks are about
	todos   *piece
	model   string
	changed bool
}

// piece is a part of the page.
type piece struct {
	id    string
	turn  *turn
	html  string
	draw  func() string // makes html anew; if nil, it stays
	dirty bool
	told  bool
}

// New is a View of nothing.
func New(o Options) *View {
	return &View{options: o, pieces: map[string]*piece{}, texts: map[string]*message{}, calls: map[tool.CallID]*call{}}
}

// ID is what an element is called on the page that stands for a key, such as a call's id, which may
// be any text.
func ID(key string) string {
	sum := sha256.Sum256([]byte(key))
	return "b" + hex.EncodeToString(sum[:8])
}

// Facts are what is known now.
func (v *View) Facts() Facts { return v.facts }

// Turns are the ids of all turns, in order.
func (v *View) Turns() (out []string) {
	for _, t := range v.turns {
		out = append(out, t.id)
	}
	return out
}

// Take takes an event.
func (v *View) Take(event session.Event) {
	switch ev := event.(type) {
	case session.TextDelta:
		v.says(ev.Message, session.TextPart, ev.Delta)
	case session.ReasoningDelta:
		v.says(ev.Message, session.ReasoningPart, ev.Delta)
	case session.CallForming:
		v.forming(ev)
	case session.MessageDone:
		v.message(ev.Message)
	case session.ToolQueued:
		v.call(ev.Event, "queued")
	case session.ToolStart:
		v.call(ev.Event, "running")
	case session.ToolUpdate:
		v.call(ev.Event, "running")
	case session.ToolEnd:
		v.outcome(ev)
	case session.Retry:
		v.retry(ev)
	case session.Notice:
		v.note(ev.Text)
	case session.Unsaved:
		v.note(ev.String())
	case session.Compacted:
		v.note("the beginning of the conversation was summed up")
	case session.Claimed:
		v.claimed = ev
	case session.Counted:
		v.facts.Model, v.facts.Used, v.facts.Window, v.facts.Cost = ev.Ledger.Model, ev.Ledger.Estimate, ev.Ledger.Window, ev.Ledger.Cost
	case session.TurnEnd:
		v.end(ev.Result)
	}
}

// Flush draws what has changed, and tells it in order.
func (v *View) Flush() []Change {
	out := v.dropped
	v.dropped = nil
	for _, m := range v.texts {
		m.settle(v)
	}
	for _, t := range v.turns[v.firstDirty():] {
		after := ""
		for _, p := range t.pieces {
			if p.dirty && v.drawn(p) {
				out = append(out, Change{Turn: t.id, ID: p.id, After: after, HTML: p.html})
			}
			after = p.id
		}
	}
	return out
}

// firstDirty is where the turns begin that may have changed: only the newest two ever do.
func (v *View) firstDirty() int {
	at := len(v.turns)
	for at > 0 && (at > len(v.turns)-2 || v.turns[at-1].dirty()) {
		at--
	}
	return at
}

func (t *turn) dirty() bool {
	return slices.ContainsFunc(t.pieces, func(p *piece) bool { return p.dirty })
}

// drawn draws a piece; if false, it is what was told already.
func (v *View) drawn(p *piece) bool {
	p.dirty = false
	now := p.html
	if p.draw != nil {
		now = p.draw()
	}
	if p.told && now == p.html {
		return false
	}
	p.html, p.told = now, true
	return true
}

// current is the turn that things happen in.
func (v *View) current() *turn {
	if len(v.turns) == 0 {
		v.begin("")
	}
	return v.turns[len(v.turns)-1]
}

func (v *View) begin(prompt string) *turn {
	t := &turn{id: ID("turn " + prompt)}
	v.turns, v.claimed = append(v.turns, t), session.Claimed{}
	return t
}

// piece finds one by its key, or makes it at the end of the newest turn.
func (v *View) piece(key string, draw func() string) *piece {
	id := ID(key)
	p := v.pieces[id]
	if p == nil {
		p = &piece{id: id, turn: v.current()}
		v.pieces[id] = p
		p.turn.pieces = append(p.turn.pieces, p)
	}
	p.draw, p.dirty = draw, true
	return p
}

// Put shows HTML of the caller's own, made with package hypertext, at the end of the newest turn.
func (v *View) Put(key string, html func(id string) string) {
	id := ID(key)
	v.piece(key, func() string { return html(id) })
}

// Drop takes a piece away.
func (v *View) Drop(key string) { v.remove(v.pieces[ID(key)]) }

func (v *View) remove(p *piece) {
	if p == nil || v.pieces[p.id] == nil {
		return
	}
	delete(v.pieces, p.id)
	p.turn.pieces = slices.DeleteFunc(p.turn.pieces, func(q *piece) bool { return q == p })
	if p.told {
		v.dropped = append(v.dropped, Change{Turn: p.turn.id, ID: p.id})
	}
}

// text is a text of others without secrets.
func (v *View) text(s string) string { return v.mask().Text(redact.Passwords(s)) }

func (v *View) mask() *redact.Masker {
	if v.options.Mask == nil {
		return &redact.Masker{}
	}
	return v.options.Mask()
}

// note shows something that is in no message.
func (v *View) note(text string) {
	t := v.current()
	v.Put("note "+t.id+" "+text, func(id string) string {
		return `<p class="b note" id="` + id + `">` + hypertext.Words(v.text(text)) + "</p>"
	})
}
