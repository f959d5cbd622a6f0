package serve

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"adze/internal/text/redact"
	"adze/session"
	"adze/tui/draw/hypertext"
)

// groups are those of the list, in their order.
var groups = []struct{ state, title string }{
	{"needs", "Needs you"}, {"working", "Working"}, {"review", "To review"}, {"done", "Done"},
}

// row is a session in the list.
type row struct {
	head  session.Head
	state string // of groups
	doing string
	model string
	cost  *float64
	bad   bool // the newest turn did not come to its own end
}

// overview is the list of sessions as HTML, and how many wait for the user.
func (s *Server) overview(ctx context.Context, current session.ID) (html string, needs int, err error) {
	heads, err := s.House.Sessions(ctx)
	if err != nil {
		return "", 0, err
	}
	by := map[string][]row{}
	known := map[session.ID]bool{}
	for _, h := range heads[:min(len(heads), most)] {
		r := s.row(h)
		by[r.state] = append(by[r.state], r)
		known[h.ID] = true
	}
	var b strings.Builder
	for _, g := range groups {
		rows := by[g.state]
		if len(rows) == 0 {
			continue
		}
		b.WriteString(`<section class="group ` + g.state + `"><h2>` + g.title + `</h2><ul>`)
		for _, r := range rows {
			r.write(&b, s.mask(), current)
		}
		b.WriteString("</ul></section>")
	}
	if b.Len() == 0 {
		b.WriteString(`<p class="empty">No session yet in this folder.</p>`)
	}
	return b.String(), len(by["needs"]), nil
}

func (s *Server) row(h session.Head) row {
	r := row{head: h, state: "done", model: h.Info().Model}
	if room := s.open(h.ID); room != nil {
		room.describe(&r)
	} else if b := s.neighbours.find(h.ID); b != nil {
		b.describe(&r)
	} else if who := s.House.Holder(h.ID); who != "" {
		r.state, r.doing = "working", "in "+who
	}
	return r
}

// describe tells what a session that is open here does.
func (r *room) describe(to *row) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.asked != nil:
		to.state, to.doing = "needs", r.asked.brief()
	case r.running:
		to.state, to.doing = "working", r.doing
	case r.review:
		to.state = "review"
	}
	if r.counted != nil {
		to.cost, to.model = r.counted.Ledger.Cost, r.counted.Ledger.Model
	}
	if r.result != nil && !r.running {
		to.bad = r.result.Cause != session.CauseDone
		if to.bad {
			to.doing = r.result.Message
		}
	}
}

// brief is a question on one line.
func (w *asked) brief() string {
	if w.ask == nil {
		return w.Text
	}
	return "may " + w.Tool + " " + strings.Join(w.Needs, ", ") + "?"
}

func (r row) write(b *strings.Builder, mask *redact.Masker, current session.ID) {
	text := func(t string, n int) string { return hypertext.Escape(brief(mask.Text(t), n)) }
	title := r.head.Title()
	if title == "" {
		title = "New session"
	}
	b.WriteString(`<li class="row`)
	if r.bad {
		b.WriteString(" bad")
	}
	b.WriteString(`"><a href="#/s/` + hypertext.Escape(string(r.head.ID)) + `" data-session="` + hypertext.Escape(string(r.head.ID)) + `"`)
	if r.head.ID == current {
		b.WriteString(` aria-current="page"`)
	}
	b.WriteString(`><span class="dot" aria-hidden="true"></span><span class="name">` + text(title, 90) + "</span>")
	if r.doing != "" {
		b.WriteString(`<span class="doing">` + text(r.doing, 120) + "</span>")
	}
	b.WriteString(`<span class="meta"><time datetime="` + r.head.Updated.UTC().Format(time.RFC3339) + `">` + r.head.Updated.Format("2 Jan 15:04") + "</time>")
	if r.model != "" {
		b.WriteString(" · " + text(shortModel(r.model), 40))
	}
	if r.cost != nil && *r.cost > 0 {
		b.WriteString(" · " + money(*r.cost))
	}
	for _, tag := range r.head.Tags {
		b.WriteString(` <span class="tag">` + text(tag, 24) + "</span>")
	}
	if dir := r.head.Info().Cwd; dir != "" {
		b.WriteString(` <span class="dir">` + text(filepath.Base(dir), 40) + "</span>")
	}
	b.WriteString("</span></a></li>")
}

// shortModel is a model without its provider.
func shortModel(name string) string {
	if _, short, ok := strings.Cut(name, "/"); ok {
		return short
	}
	return name
}
