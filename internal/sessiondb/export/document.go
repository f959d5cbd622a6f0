package export

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"adze/session"
)

func (g *gatherer) document() *Document {
	g.unfinished()
	s := g.start
	d := &Document{Format: Format, Session: session.ID(g.scrub.name(string(g.options.Session))), Created: g.created, Cwd: g.scrub.name(s.Cwd),
		Version: g.scrub.name(s.Version), Model: g.scrub.name(s.Model), Lead: g.scrub.name(s.Lead), Agent: g.scrub.name(s.Agent), Messages: g.messages}
	d.Title = g.scrub.name(cmp.Or(g.options.Title, g.firstPrompt()))
	if s.Imported != nil {
		g.imported(d, *s.Imported)
	}
	if s.System != "" {
		g.leave("system prompt", len(s.System))
	}
	for _, what := range slices.Sorted(maps.Keys(g.omitted)) {
		d.LeftOut = append(d.LeftOut, g.omitted[what].told(what))
	}
	if d.Messages == nil {
		d.Messages = []Message{}
	}
	d.sum()
	return d
}

// imported sets the title that the session had at its origin, unless it has a new one.
func (g *gatherer) imported(d *Document, i session.Import) {
	if i.Title != "" && (g.options.Title == "" || g.options.Title == g.firstPrompt()) {
		d.Title = g.scrub.name(i.Title)
	}
	d.Cwd, d.Lead, d.Agent, d.Created = g.scrub.name(i.Cwd), g.scrub.name(i.Lead), g.scrub.name(i.Agent), i.Created
	d.LeftOut = g.scrub.names(i.LeftOut)
	d.Imported = &session.Import{Session: session.ID(g.scrub.name(string(i.Session))), At: i.At, SHA256: g.scrub.name(i.SHA256)}
}

func (l omissions) told(what string) string {
	text := fmt.Sprintf("%d × %s", l.count, what)
	if l.bytes > 0 {
		text += fmt.Sprintf(", %d bytes", l.bytes)
	}
	return text
}

func (g *gatherer) firstPrompt() string {
	for _, m := range g.messages {
		for _, p := range m.Parts {
			if m.Speaker == Person && p.Text != "" {
				return session.TitleOf(p.Text)
			}
		}
	}
	return ""
}

// sum adds up the answers' usage and sets the last exported entry's time.
func (d *Document) sum() {
	d.Updated = d.Created
	later := func(t time.Time) {
		if t.After(d.Updated) {
			d.Updated = t
		}
	}
	for _, m := range d.Messages {
		later(m.Time)
		if m.Usage != nil {
			if d.Usage == nil {
				d.Usage = map[string]session.Usage{}
			}
			name := m.Provider + "/" + m.Model
			d.Usage[name] = d.Usage[name].Add(*m.Usage)
		}
		for _, p := range m.Parts {
			if p.Call != nil {
				later(p.Call.Time)
			}
		}
		if m.End != nil {
			later(m.End.Time)
		}
	}
}
