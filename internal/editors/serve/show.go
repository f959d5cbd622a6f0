package serve

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"adze/internal/editors/htmlstream"
	"adze/session"
	"adze/tool"
	"adze/tui/api"
	"adze/tui/draw/hypertext"
)

// show answers what a page asks about a session.
func (s *Server) show(w http.ResponseWriter, r *http.Request) {
	id, what := session.ID(r.PathValue("id")), r.PathValue("what")
	var out any
	var err error
	switch what {
	case "export":
		s.export(w, r, id)
		return
	case "output":
		out, err = s.wholeOutput(r.Context(), id, r.URL.Query().Get("call"))
	case "menu", "models", "files", "changes":
		var room *room
		if s.neighbours.find(id) != nil && s.open(id) == nil {
			out, err = menu{Commands: []api.Named{}, Modes: []api.Mode{}, Efforts: []api.Mode{}, Past: []string{}}, s.known(r.Context(), id)
			if err == nil && what != "menu" {
				err = session.ErrLocked
			}
		} else if room, err = s.enter(r.Context(), id); err == nil {
			out, err = room.show(r, what)
		}
	default:
		err = &refusal{http.StatusNotFound, "no such place"}
	}
	if err != nil {
		refuse(w, err)
		return
	}
	s.answerJSON(w, out)
}

// menu is what can be chosen in a session, and what a prompt may begin with.
type menu struct {
	Commands []api.Named `json:"commands"`
	Modes    []api.Mode  `json:"modes"`
	Efforts  []api.Mode  `json:"efforts"`
	Past     []string    `json:"past"` // what the user wrote in this folder before, oldest first
	Undo     bool        `json:"undo"`
	Compact  bool        `json:"compact"`
	Run      bool        `json:"run"`
}

// maxPrompts is how many prompts of the past a page is told.
const maxPrompts = 200

func (r *room) show(req *http.Request, what string) (any, error) {
	ports, ctx := r.conv.Ports(), req.Context()
	switch what {
	case "menu":
		m := menu{Commands: r.conv.Commands(), Modes: ports.Modes, Efforts: ports.Efforts, Undo: ports.Undo != nil, Compact: ports.Compact != nil, Run: ports.Run != nil}
		if ports.Past != nil {
			m.Past = ports.Past()
			m.Past = m.Past[max(0, len(m.Past)-maxPrompts):]
		}
		return m, nil
	case "models":
		if ports.Models == nil {
			return nil, errNotHere
		}
		rows, err := ports.Models(ctx)
		return rows, asRefusal(err)
	case "files":
		return r.files(ctx, req.URL.Query().Get("q"))
	}
	return r.changes(ctx, api.Since(req.URL.Query().Get("since")))
}

// maxFiles is how many names are offered at once.
const maxFiles = 30

// files are those of the folder whose paths hold a text, the nearest first.
func (r *room) files(ctx context.Context, text string) (any, error) {
	list := r.conv.Ports().Files
	if list == nil {
		return nil, errNotHere
	}
	files, err := list(ctx)
	if err != nil && len(files.Paths) == 0 {
		return nil, asRefusal(err)
	}
	near := map[string]bool{}
	for _, p := range files.Near {
		near[p] = true
	}
	type ranked struct {
		path string
		rank int
	}
	var found []ranked
	text = strings.ToLower(text)
	for _, p := range files.Paths {
		if rank, is := rankOf(strings.ToLower(p), text); is {
			if near[p] {
				rank -= 20
			}
			found = append(found, ranked{p, rank*100 + min(len(p), 99)})
		}
	}
	slices.SortStableFunc(found, func(a, b ranked) int { return a.rank - b.rank })
	out := []string{}
	for _, f := range found[:min(len(found), maxFiles)] {
		out = append(out, f.path)
	}
	return out, nil
}

// rankOf is how far a path is from what was typed: its name before its folders, letters in a row
// before letters apart.
func rankOf(path, text string) (rank int, is bool) {
	name := path[strings.LastIndexByte(strings.TrimSuffix(path, "/"), '/')+1:]
	switch {
	case text == "", strings.HasPrefix(name, text):
		return 0, true
	case strings.Contains(name, text):
		return 10, true
	case strings.Contains(path, text):
		return 30, true
	}
	at := 0
	for i := 0; i < len(path) && at < len(text); i++ {
		if path[i] == text[at] {
			at++
		}
	}
	return 60, at == len(text)
}

// changes are what differs now, hunk by hunk, as HTML.
func (r *room) changes(ctx context.Context, since api.Since) (any, error) {
	ports := r.conv.Ports()
	if ports.Net == nil {
		return nil, errNotHere
	}
	if since == "" {
		since = api.SinceSession
	}
	net, err := ports.Net(ctx, since)
	if err != nil {
		return nil, asRefusal(err)
	}
	mask := r.server.mask()
	clean := func(text string) string { return hypertext.Escape(mask.Text(text)) }
	o := hypertext.Options{Page: true}
	var b strings.Builder
	hunks := 0
	for _, f := range net.Files {
		state := "changed"
		switch {
		case f.New:
			state = "new"
		case f.Gone:
			state = "deleted"
		}
		b.WriteString(`<section class="change"><h3>` + clean(f.Path) + ` <span class="tag ` + state + `">` + state + "</span></h3>")
		if f.Note != "" {
			b.WriteString(`<p class="dim">` + clean(f.Note) + "</p>")
		}
		for i, h := range f.Hunks {
			hunks++
			b.WriteString(`<div class="hunk" data-file="` + hypertext.Escape(f.Path) + `" data-hunk="` + fmt.Sprint(i) + `" data-hash="` + hunkHash(h) + `">`)
			b.WriteString(o.Block(tool.Block{Kind: tool.DiffBlock, Path: f.Path, Text: mask.Text(h.Text)}))
			b.WriteString(`<p class="acts">`)
			if ports.Revert != nil {
				b.WriteString(`<button type="button" data-act="revert">Take back</button>`)
			}
			if ports.Stage != nil {
				b.WriteString(`<button type="button" class="quiet" data-act="stage">Stage in git</button>`)
			}
			b.WriteString("</p></div>")
		}
		b.WriteString("</section>")
	}
	return map[string]any{"from": net.From, "html": b.String(), "files": len(net.Files), "hunks": hunks}, nil
}

// wholeOutput is all that a call printed.
func (s *Server) wholeOutput(ctx context.Context, id session.ID, name string) (any, error) {
	if err := s.known(ctx, id); err != nil {
		return nil, err
	}
	var found *tool.Outcome
	err := s.House.Log(ctx, id, 0, func(_ int64, e session.Entry) error {
		for _, ev := range events(e) {
			if end, is := ev.(session.ToolEnd); is && htmlstream.CallID(end.Outcome.Call) == name {
				found = &end.Outcome
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if found == nil {
		return nil, &refusal{http.StatusNotFound, "no such call in this session"}
	}
	text, whole := s.House.Output(*found)
	note := ""
	if !whole {
		note = "What was cut off is not kept any more: whole outputs are kept for 14 days."
	}
	return map[string]string{"html": hypertext.Options{Page: true}.Output(s.mask().Text(text), 0), "note": note}, nil
}

// export sends the session as a file.
func (s *Server) export(w http.ResponseWriter, r *http.Request, id session.ID) {
	form := r.URL.Query().Get("form")
	kinds := map[string]string{"md": "text/markdown; charset=utf-8", "json": "application/json", "html": "application/octet-stream"} // never shown as a page of this origin
	if kinds[form] == "" {
		refuse(w, &refusal{http.StatusBadRequest, "the forms are md, json and html"})
		return
	}
	raw, err := s.House.Export(r.Context(), id, form)
	if err != nil {
		refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", kinds[form])
	w.Header().Set("Content-Disposition", `attachment; filename="session.`+form+`"`)
	_, _ = w.Write(raw) // the browser may be gone
}

// money is a sum as people read it.
func money(cost float64) string {
	if cost < 0.1 {
		return fmt.Sprintf("$%.3f", cost)
	}
	return fmt.Sprintf("$%.2f", cost)
}
