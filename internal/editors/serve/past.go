package serve

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"adze/internal/editors/uistream"
	"adze/internal/live"
	"adze/session"
)

type past struct {
	prompt session.Message
	events []session.Event
	ended  bool
}

// scroll collects a log's turns, or the last ones.
type scroll struct {
	all   bool
	turns []past
	seq   int64
}

func (l *scroll) add(seq int64, e session.Entry) {
	l.seq = seq
	if e.Type == session.RewindEntry {
		l.rewind(e)
		return
	}
	for _, ev := range events(e) {
		if done, ok := ev.(session.MessageDone); ok && uistream.Prompts(done.Message) {
			if !l.all {
				l.turns = nil
			}
			l.turns = append(l.turns, past{prompt: done.Message})
		}
		if len(l.turns) == 0 {
			continue
		}
		t := &l.turns[len(l.turns)-1]
		if _, end := ev.(session.TurnEnd); end {
			t.ended = true
		}
		t.events = append(t.events, ev)
	}
}

// rewind removes reverted turns.
func (l *scroll) rewind(e session.Entry) {
	var to session.Rewound
	if json.Unmarshal(e.Data, &to) != nil {
		return
	}
	for i, t := range l.turns {
		at := slices.IndexFunc(t.events, func(ev session.Event) bool {
			done, ok := ev.(session.MessageDone)
			return ok && done.Message.ID == to.MessageID
		})
		if t.prompt.ID == to.MessageID {
			l.turns = l.turns[:i]
			return
		}
		if at >= 0 { // a remark
			l.turns[i].events = append(t.events[:at:at], session.TurnEnd{Result: session.Result{Cause: session.CauseDone}})
			l.turns = l.turns[:i+1]
			return
		}
	}
}

// events returns an entry's events, with the end of a turn.
func events(e session.Entry) []session.Event {
	if e.Type != session.EndEntry {
		return live.Logged(e)
	}
	var r session.Result
	if json.Unmarshal(e.Data, &r) != nil {
		r = session.Result{Cause: session.CauseInternal, Message: "the log does not say how the turn ended"}
	}
	return []session.Event{session.TurnEnd{Result: r}}
}

func newest(ctx context.Context, h Backend, id session.ID) (past, error) {
	var l scroll
	err := h.Log(ctx, id, 0, func(seq int64, e session.Entry) error {
		l.add(seq, e)
		return nil
	})
	if err == nil && len(l.turns) == 0 {
		err = &refusal{http.StatusConflict, "there is no answer to make again"}
	}
	if err != nil {
		return past{}, err
	}
	return l.turns[0], nil
}

// messages sends the stored conversation. Of a running turn it only has the prompt: the rest is
// streamed.
func (s *Server) messages(w http.ResponseWriter, r *http.Request) {
	id := session.ID(r.PathValue("id"))
	l := scroll{all: true}
	err := s.checkKnown(r.Context(), id)
	if err == nil {
		err = ignoreMissing(s.Backend.Log(r.Context(), id, 0, func(seq int64, e session.Entry) error {
			l.add(seq, e)
			return nil
		}))
	}
	if err != nil {
		refuse(w, err)
		return
	}
	running := s.Backend.Holder(id) != ""
	if room := s.open(id); room != nil {
		running = room.Status().State != live.Idle
	}
	out := []uistream.Message{}
	for i, t := range l.turns {
		out = append(out, uistream.UserMessage(t.prompt))
		if i == len(l.turns)-1 && running && !t.ended {
			break
		}
		var m uistream.Message
		enc := uistream.New(uistream.Options{Mask: s.Mask})
		for _, ev := range t.events {
			for _, p := range enc.Take(ev) {
				m.Fold(p)
			}
		}
		out = append(out, m)
	}
	raw, err := json.Marshal(out)
	if err != nil {
		refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(s.Mask().JSON(raw)) // the client may be gone
}

// checkKnown returns an error unless the session is open here or shown.
func (s *Server) checkKnown(ctx context.Context, id session.ID) error {
	if s.open(id) != nil {
		return nil
	}
	_, err := s.directory.session(ctx, id)
	return err
}
