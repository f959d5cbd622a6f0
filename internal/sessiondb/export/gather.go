package export

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"adze/internal/text/hypertext"
	"adze/session"
	"adze/tool"
)

// Placeholders for a call in an imported session's log. They are never exported or counted.
const (
	NoOutput = "(the output was left out of the export that this session was read from)"
	NoOwn    = "The person ran a command; its output was left out of the export that this session was read from."
)

// key identifies a call in a log: some servers reuse IDs in every message.
type key struct {
	message string
	call    tool.CallID
}

type storedOutcome struct {
	tool.Outcome
	at time.Time
}

// gatherer converts entries to messages, in log order.
type gatherer struct {
	options  Options
	scrub    *scrubber
	outcomes map[key]storedOutcome
	omitted  map[string]*omissions
	start    session.Start
	created  time.Time
	messages []Message
	ids      map[string]bool
	partial  *Message // an answer that was incomplete when the process ended
}

// omissions counts data that is not exported.
type omissions struct{ count, bytes int }

func (g *gatherer) leave(what string, bytes int) {
	if g.omitted[what] == nil {
		g.omitted[what] = &omissions{}
	}
	g.omitted[what].count++
	g.omitted[what].bytes += bytes
}

// entry adds the next entry. Unreadable ones are counted and left out.
func (g *gatherer) entry(e session.Entry) {
	if g.created.IsZero() {
		g.created = e.Time
	}
	var err error
	switch e.Type {
	case session.StartEntry:
		if g.start.Version == "" {
			err = json.Unmarshal(e.Data, &g.start)
		}
	case session.MessageEntry, session.NoteEntry:
		var m session.Message
		if err = json.Unmarshal(e.Data, &m); err == nil {
			g.partial = nil
			g.message(m, e.Time)
		}
	case session.PartialEntry:
		var m session.Message
		if err = json.Unmarshal(e.Data, &m); err == nil {
			g.partial = &Message{ID: m.ID, Speaker: Model, Time: e.Time, Provider: m.Provider, Model: m.Model, Stop: session.StopAborted, Parts: []Part{{Text: m.Text()}}}
		}
	case session.FragmentEntry:
		var f session.Fragment
		if err = json.Unmarshal(e.Data, &f); err == nil {
			g.fragment(f, e.Time)
		}
	case session.RequestEntry:
		g.partial = nil // the request was repeated
	case session.CompactEntry:
		g.partial = nil
		g.leave("summary that took the place of earlier messages for the model", 0)
	case session.RewindEntry:
		err = g.rewind(e)
	case session.EndEntry:
		err = g.end(e)
	}
	if err != nil {
		g.leave("entry that could not be read", len(e.Data))
	}
}

func (g *gatherer) message(m session.Message, at time.Time) {
	switch {
	case m.Summary:
		g.leave("summary that took the place of earlier messages for the model", 0)
		return
	case m.Role != session.User && m.Role != session.Assistant:
		g.leave("message of nobody who speaks in a session", len(m.Text()))
		return
	}
	g.messages = append(g.messages, g.shown(m, at))
}

// shown returns the exported part of a message.
func (g *gatherer) shown(m session.Message, at time.Time) Message {
	out := Message{ID: g.fresh(m.ID), Speaker: Speaker(m.Role), Time: at, Provider: g.scrub.name(m.Provider), Model: g.scrub.name(m.Model),
		Stop: session.Stop(g.scrub.name(string(m.Stop))), Usage: m.Usage, Duration: m.Duration, Parts: []Part{}}
	switch {
	case m.Note:
		out.Speaker = Adze
		text := m.Text()
		if len(m.Notes) > 0 {
			g.leave("text of a note to the model", len(text))
			text = m.NoteText()
		}
		out.Parts = append(out.Parts, said(g.scrub.prose(text))...)
		return out
	case m.OwnCall != "":
		out.OwnCommand = true
		if text := m.Text(); text != NoOwn {
			g.leave("output", len(text))
		}
		out.Parts = append(out.Parts, Part{Call: g.call(key{m.ID, m.OwnCall}, "")})
		return out
	}
	for _, p := range m.Parts {
		for _, p := range g.part(m, p) {
			if p.Call != nil && (m.Role != session.Assistant || slices.ContainsFunc(out.Parts, p.sameCall)) {
				continue
			}
			if p.Picture != nil && m.Role != session.User {
				continue
			}
			out.Parts = append(out.Parts, p)
		}
	}
	return out
}

func (p Part) sameCall(q Part) bool { return q.Call != nil && q.Call.ID == p.Call.ID }

// fresh makes a message's ID unique: a log may come from anywhere.
func (g *gatherer) fresh(id string) string {
	id = cmp.Or(g.scrub.name(id), "m")
	for g.ids[id] {
		id += "+"
	}
	if g.ids == nil {
		g.ids = map[string]bool{}
	}
	g.ids[id] = true
	return id
}

// said returns a text part, or nil for "".
func said(text string) []Part {
	if text == "" {
		return nil
	}
	return []Part{{Text: text}}
}

func (g *gatherer) part(m session.Message, p session.Part) []Part {
	switch p.Kind {
	case session.TextPart:
		return said(g.scrub.prose(p.Text))
	case session.ReasoningPart:
		g.leave("thought of the model", len(p.Text))
	case session.AttachmentPart:
		if p.Attachment != nil {
			return []Part{g.attachment(*p.Attachment)}
		}
	case session.CallPart:
		if p.Call != nil {
			return []Part{{Call: g.call(key{m.ID, p.Call.ID}, p.Call.Name)}}
		}
	}
	return nil
}

// maxPicture limits an exported picture, in bytes.
const maxPicture = 5 << 20

// attachment returns a user's picture, or a line about an attachment that is not exported.
func (g *gatherer) attachment(a tool.Attachment) Part {
	kind := hypertext.PictureType(a.Data)
	if kind == "" || len(a.Data) > maxPicture {
		return Part{Text: fmt.Sprintf("[attachment %s was left out: %d bytes, sha256 %x]", g.scrub.name(a.Name), len(a.Data), sha256.Sum256(a.Data))}
	}
	return Part{Picture: &Picture{Name: g.scrub.name(a.Name), MediaType: kind, Data: a.Data}}
}

// fragment adds to the incomplete answer.
func (g *gatherer) fragment(f session.Fragment, at time.Time) {
	if g.partial == nil || g.partial.ID != f.Message {
		g.partial = &Message{ID: f.Message, Speaker: Model, Time: at, Provider: f.Provider, Model: f.Model, Stop: session.StopAborted}
	}
	for len(g.partial.Parts) <= f.Part && f.Part < maxParts {
		g.partial.Parts = append(g.partial.Parts, Part{})
	}
	if f.Kind == session.TextPart && f.Part >= 0 && f.Part < maxParts {
		g.partial.Parts[f.Part].Text += f.Text
	}
}

// maxParts limits the index in a damaged fragment.
const maxParts = 10_000

// unfinished keeps an answer that was incomplete when the process ended. Its pieces are scrubbed
// after they are joined.
func (g *gatherer) unfinished() {
	if g.partial == nil {
		return
	}
	m := *g.partial
	m.ID, m.Provider, m.Model = g.fresh(m.ID), g.scrub.name(m.Provider), g.scrub.name(m.Model)
	m.Parts = []Part{}
	for _, p := range g.partial.Parts {
		m.Parts = append(m.Parts, said(g.scrub.prose(p.Text))...)
	}
	g.messages = append(g.messages, m)
}

func (g *gatherer) rewind(e session.Entry) error {
	var r session.Rewound
	if err := json.Unmarshal(e.Data, &r); err != nil {
		return err
	}
	g.partial = nil
	at := slices.IndexFunc(g.messages, func(m Message) bool { return m.ID == g.scrub.name(r.MessageID) })
	if at < 0 {
		return nil
	}
	for range g.messages[at:] {
		g.leave("message that was taken back", 0)
	}
	g.messages = g.messages[:at]
	return nil
}

func (g *gatherer) end(e session.Entry) error {
	var r session.Result
	if err := json.Unmarshal(e.Data, &r); err != nil {
		return err
	}
	if len(g.messages) > 0 && g.partial == nil {
		g.messages[len(g.messages)-1].End = &End{Time: e.Time, Cause: session.Cause(g.scrub.name(string(r.Cause))), Message: g.scrub.name(r.Message), Cost: r.Cost,
			Duration: r.Duration, Changed: g.scrub.names(r.Changed), Claims: r.Claims, Evidence: r.Evidence}
		for i := range r.Claims {
			c := &r.Claims[i]
			c.Kind, c.Quote, c.Text = session.ClaimKind(g.scrub.name(string(c.Kind))), g.scrub.name(c.Quote), g.scrub.name(c.Text)
		}
		for i := range r.Evidence {
			e := &r.Evidence[i]
			e.Kind, e.Quote, e.Text = session.ClaimKind(g.scrub.name(string(e.Kind))), g.scrub.name(e.Quote), g.scrub.name(e.Text)
			e.Call = tool.CallID(g.scrub.name(string(e.Call)))
		}
	}
	return nil
}
