package serve

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"adze/internal/live"
	"adze/internal/text/hypertext"
	"adze/internal/text/redact"
	"adze/session"
)

// groupClass maps groups to CSS classes.
var groupClass = map[live.Group]string{live.NeedsYou: "needs", live.Busy: "working", live.ToReview: "review", live.Done: "done"}

type row struct {
	head session.Head
	live.Listing
	model string
	cost  float64
	lives bool // something can be stopped in it
}

// overview returns the list of sessions as HTML, and the number waiting for the user.
func (s *Server) overview(ctx context.Context, current session.ID) (html string, needs int, err error) {
	heads, err := s.directory.sessions(ctx)
	if err != nil {
		return "", 0, err
	}
	by := map[live.Group][]row{}
	for _, h := range heads[:min(len(heads), most)] {
		r := s.row(h)
		by[r.Group] = append(by[r.Group], r)
	}
	var b strings.Builder
	for _, g := range live.Groups() {
		rows := by[g]
		if len(rows) == 0 {
			continue
		}
		slices.SortStableFunc(rows, func(a, b row) int {
			switch {
			case a.Pinned == b.Pinned:
				return b.head.Updated.Compare(a.head.Updated)
			case a.Pinned:
				return -1
			}
			return 1
		})
		b.WriteString(`<section class="group ` + groupClass[g] + `"><h2>` + heading(g) + `</h2><ul>`)
		for _, r := range rows {
			r.write(&b, s.Mask(), current)
		}
		b.WriteString("</ul></section>")
	}
	if b.Len() == 0 {
		b.WriteString(`<p class="empty">No session yet.</p>`)
	}
	return b.String(), len(by[live.NeedsYou]), nil
}

// heading returns a group's displayed name.
func heading(g live.Group) string { return strings.ToUpper(string(g[:1])) + string(g[1:]) }

func (s *Server) row(h session.Head) row {
	r := row{head: h, model: h.Info().Model}
	var now *live.Status
	if at := s.find(h.ID); at != nil {
		does := at.Status()
		now, r.model, r.cost = &does, cmp.Or(at.model(), r.model), does.Cost
	}
	r.lives = now != nil && now.State != live.Idle
	if now == nil {
		if who := s.Backend.Holder(h.ID); who != "" {
			now = &live.Status{State: live.Working, Activity: "in " + who}
		}
	}
	r.Listing = live.ListingOf(h, now)
	return r
}

// brief returns a question in one line.
func (w *openQuestion) brief() string {
	if w.ask == nil {
		return w.Text
	}
	return "may " + w.Tool + " " + strings.Join(w.Needs, ", ") + "?"
}

func (r row) write(b *strings.Builder, mask *redact.Masker, current session.ID) {
	text := func(t string, n int) string { return hypertext.Escape(brief(mask.Text(t), n)) }
	id, folder := hypertext.Escape(string(r.head.ID)), r.head.Info().Cwd
	title := r.head.Title()
	if title == "" {
		title = "New session"
	}
	b.WriteString(`<li class="row ` + groupClass[r.Group])
	for _, class := range []struct {
		name string
		is   bool
	}{{" pinned", r.Pinned}, {" lives", r.lives}} {
		if class.is {
			b.WriteString(class.name)
		}
	}
	b.WriteString(`" data-folder="` + hypertext.Escape(mask.Text(folder)) + `"><a href="#/s/` + id + `" data-session="` + id + `"`)
	if r.head.ID == current {
		b.WriteString(` aria-current="page"`)
	}
	b.WriteString(`><span class="dot" aria-hidden="true"></span><span class="name">`)
	if r.Pinned {
		b.WriteString(`<span class="pin">Pinned: </span>`)
	}
	b.WriteString(text(title, 90) + "</span>")
	if r.Activity != "" {
		b.WriteString(`<span class="doing">` + text(r.Activity, 120) + "</span>")
	}
	b.WriteString(`<span class="meta"><span class="state">` + heading(r.Group) + ` · </span><time datetime="` + r.head.Updated.UTC().Format(time.RFC3339) + `">` + r.head.Updated.Format("2 Jan 15:04") + "</time>")
	if r.model != "" {
		_, short, named := strings.Cut(r.model, "/")
		if !named {
			short = r.model
		}
		b.WriteString(" · " + text(short, 40))
	}
	if r.cost > 0 {
		b.WriteString(" · " + money(r.cost))
	}
	for _, tag := range r.Tags {
		b.WriteString(` <span class="tag">` + text(tag, 24) + "</span>")
	}
	if folder != "" {
		b.WriteString(` <span class="dir">` + text(filepath.Base(folder), 40) + "</span>")
	}
	b.WriteString(`</span></a><button type="button" class="icon more" data-act="peek" aria-label="Look into ` + text(title, 90) + `">⋯</button></li>`)
}
