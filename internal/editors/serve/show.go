package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"adze/internal/editors/htmlstream"
	"adze/internal/live"
	"adze/internal/live/control"
	"adze/internal/text/hypertext"
	"adze/internal/text/redact"
	"adze/session"
	"adze/session/api"
	"adze/tool"
)

// show responds to a page's question about a session.
func (s *Server) show(w http.ResponseWriter, r *http.Request) {
	id, what := session.ID(r.PathValue("id")), r.PathValue("what")
	var out any
	var err error
	switch what {
	case "export":
		s.export(w, r, id)
		return
	case "peek":
		out, err = s.peek(r.Context(), id)
	case "output":
		out, err = s.wholeOutput(r.Context(), id, r.URL.Query().Get("call"))
	case "menu", "models", "files", "changes":
		out, err = s.look(r.Context(), id, control.Request{Action: what, Text: r.URL.Query().Get("q"), Since: api.Baseline(r.URL.Query().Get("since"))})
	default:
		err = &refusal{http.StatusNotFound, "no such place"}
	}
	if err != nil {
		refuse(w, err)
		return
	}
	s.answerJSON(w, out)
}

// look asks the session where it is open, opening it if needed.
func (s *Server) look(ctx context.Context, id session.ID, q control.Request) (any, error) {
	s.remoteSessions.Meet(id) // it may have just started
	at := s.find(id)
	head, err := s.directory.session(ctx, id)
	if _, elsewhere := at.(remoteSession); elsewhere && err != nil {
		return nil, err
	}
	if at == nil && err == nil && s.directory.away(head) {
		return s.directory.ask(q)
	}
	if at == nil {
		room, err := s.enter(ctx, id, "")
		if err != nil {
			return nil, err
		}
		at = room
	}
	out, err := at.control(ctx, q)
	switch {
	case err != nil && q.Action == control.Files && head.ID != "":
		return []string{}, nil // none to offer
	case err != nil || q.Action != control.Changes:
		return out, err
	}
	net, err := resultOf[control.Difference](out)
	if err != nil {
		return nil, err
	}
	return changes(net, s.Mask()), nil
}

// peek returns a session's preview for its row in the list.
func (s *Server) peek(ctx context.Context, id session.ID) (any, error) {
	if err := s.checkKnown(ctx, id); err != nil {
		return nil, err
	}
	p, err := s.Backend.Peek(ctx, id)
	if err := ignoreMissing(err); err != nil {
		return nil, err
	}
	head, _ := s.directory.session(ctx, id) // an open session may not be stored yet
	r := s.row(session.Head{ID: id, Start: head.Start, Tags: head.Tags})
	asks := ""
	if r.Group == live.NeedsYou {
		asks = r.Activity
	}
	return map[string]any{"said": p.Answered, "asked": p.Asked, "changed": p.Changed, "asks": asks, "doing": r.Activity}, nil
}

// resultOf returns a request's result: a Go value from here, or JSON from another process.
func resultOf[T any](out any) (v T, err error) {
	if raw, is := out.(json.RawMessage); is {
		err = json.Unmarshal(raw, &v)
		return v, err
	}
	v, is := out.(T)
	if !is {
		err = fmt.Errorf("the answer is of another kind: %T", out)
	}
	return v, err
}

// changes returns the present changes by hunk as HTML.
func changes(net control.Difference, mask *redact.Masker) any {
	clean := func(text string) string { return hypertext.Escape(mask.Text(text)) }
	var b strings.Builder
	hunks := 0
	for _, f := range net.Files {
		state := "changed"
		switch {
		case f.New:
			state = "new"
		case f.Deleted:
			state = "deleted"
		}
		b.WriteString(`<section class="change"><h3>` + clean(f.Path) + ` <span class="tag ` + state + `">` + state + "</span></h3>")
		if f.Note != "" {
			b.WriteString(`<p class="dim">` + clean(f.Note) + "</p>")
		}
		for i, h := range f.Hunks {
			hunks++
			b.WriteString(`<div class="hunk" data-file="` + hypertext.Escape(f.Path) + `" data-hunk="` + fmt.Sprint(i) + `" data-hash="` + hypertext.Escape(h.Hash) + `">`)
			b.WriteString(hypertext.Block(tool.Block{Kind: tool.DiffBlock, Path: f.Path, Text: mask.Text(h.Text)}))
			b.WriteString(`<p class="acts">`)
			if net.Revert {
				b.WriteString(`<button type="button" data-act="revert">Take back</button>`)
			}
			if net.Stage {
				b.WriteString(`<button type="button" class="quiet" data-act="stage">Stage in git</button>`)
			}
			b.WriteString("</p></div>")
		}
		b.WriteString("</section>")
	}
	return map[string]any{"from": net.Baseline, "html": b.String(), "files": len(net.Files), "hunks": hunks}
}

func (s *Server) wholeOutput(ctx context.Context, id session.ID, name string) (any, error) {
	if err := s.checkKnown(ctx, id); err != nil {
		return nil, err
	}
	var found *tool.Outcome
	err := s.Backend.Log(ctx, id, 0, func(_ int64, e session.Entry) error {
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
	text, whole := s.Backend.Output(*found)
	note := ""
	if !whole {
		note = "What was cut off is not kept any more: whole outputs are kept for 14 days."
	}
	return map[string]string{"html": hypertext.Output(s.Mask().Text(text), 0), "note": note}, nil
}

func (s *Server) export(w http.ResponseWriter, r *http.Request, id session.ID) {
	form := r.URL.Query().Get("form")
	kinds := map[string]string{"md": "text/markdown; charset=utf-8", "json": "application/json", "html": "application/octet-stream"} // never displayed as a page of this origin
	if kinds[form] == "" {
		refuse(w, &refusal{http.StatusBadRequest, "the forms are md, json and html"})
		return
	}
	err := s.checkKnown(r.Context(), id)
	var raw []byte
	if err == nil {
		raw, err = s.Backend.Export(r.Context(), id, form)
	}
	if err != nil {
		refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", kinds[form])
	w.Header().Set("Content-Disposition", `attachment; filename="session.`+form+`"`)
	_, _ = w.Write(raw) // the browser may be gone
}

func money(cost float64) string {
	if cost < 0.1 {
		return fmt.Sprintf("$%.3f", cost)
	}
	return fmt.Sprintf("$%.2f", cost)
}
