// Package htmlstream converts session events to pieces of HTML for a page. Each piece has an ID and
// is replaced as a whole when it changes, so finished pieces are never redrawn.
//
// The one rule: a piece has the same ID and HTML however its events arrived: from the log, live, or
// both. A returning page compares and updates only the differences.
//
// Start reading at View.Take, then text.go (the model's text), call.go (calls) and end.go (the end
// of a turn). All foreign text is masked here and escaped by package hypertext.
//
// Known limits: a subagent's steps are shown only while the program that ran it lives; they are in
// its own log.
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

// A Change replaces a piece, or removes it if HTML is empty.
type Change struct {
	Turn string `json:"turn"`
	ID   string `json:"id"`
	// After is the preceding piece of the turn for a new one; empty means the first.
	After string `json:"after,omitempty"`
	HTML  string `json:"html,omitempty"`
}

// Facts hold a session's data outside messages.
type Facts struct {
	Model        string   `json:"model,omitempty"`
	Used, Window int      `json:"-"`              // tokens of the next request, and the context size; optional
	Cost         *float64 `json:"cost,omitempty"` // USD; optional
	Activity     string   `json:"doing,omitempty"`
	Changed      bool     `json:"-"` // the newest turn changed files
}

// Options configure a View.
type Options struct {
	// Mask masks secrets; nil masks only those recognized by their shape.
	Mask func() *redact.Masker
	// Blocks returns a call's blocks; nil shows none.
	Blocks func(name string, metadata json.RawMessage) []tool.Block
	// Now is the clock. Default: time.Now.
	Now func() time.Time
}

// A View is a session's content on a page. It is not safe for concurrent use.
type View struct {
	options Options
	turns   []*turn
	pieces  map[string]*piece
	dropped []Change
	texts   map[string]*message
	calls   map[tool.CallID]*call
	facts   Facts
	claimed session.Claimed // of the running turn
}

// turn is a user's prompt with its results.
type turn struct {
	id      string
	pieces  []*piece
	last    *run // the text with the remarks
	todos   *piece
	model   string
	changed bool
}

type piece struct {
	id    string
	turn  *turn
	html  string
	draw  func() string // redraws html; nil if it is final
	dirty bool
	told  bool
}

// New returns an empty View.
func New(o Options) *View {
	if o.Mask == nil {
		o.Mask = func() *redact.Masker { return &redact.Masker{} }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &View{options: o, pieces: map[string]*piece{}, texts: map[string]*message{}, calls: map[tool.CallID]*call{}}
}

// ID returns an element ID for a key, such as a call's ID, which may be any text.
func ID(key string) string {
	sum := sha256.Sum256([]byte(key))
	return "b" + hex.EncodeToString(sum[:8])
}

// Facts returns the present facts.
func (v *View) Facts() Facts { return v.facts }

// Turns returns the IDs of all turns, in order.
func (v *View) Turns() (out []string) {
	for _, t := range v.turns {
		out = append(out, t.id)
	}
	return out
}

// Take handles an event.
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

// Flush redraws changed pieces and returns the changes in order.
func (v *View) Flush() []Change {
	out := v.dropped
	v.dropped = nil
	for _, m := range v.texts {
		m.settle(v)
	}
	for _, t := range v.turns {
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

// drawn redraws a piece and reports whether it differs from the sent one.
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

// current returns the turn that receives events.
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

// piece returns the piece with a key, creating it at the end of the newest turn.
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

// AppendHTML shows the caller's HTML, made with package hypertext, at the end of the newest turn.
func (v *View) AppendHTML(key string, html func(id string) string) {
	id := ID(key)
	v.piece(key, func() string { return html(id) })
}

// Drop removes a piece.
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

// text masks secrets in foreign text.
func (v *View) text(s string) string { return v.options.Mask().Text(redact.Passwords(s)) }

// note shows a text outside messages.
func (v *View) note(text string) {
	t := v.current()
	v.AppendHTML("note "+t.id+" "+text, func(id string) string {
		return `<p class="b note" id="` + id + `">` + hypertext.Words(v.text(text)) + "</p>"
	})
}
