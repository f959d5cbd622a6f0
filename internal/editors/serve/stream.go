package serve

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"time"

	"adze/internal/editors/uistream"
	"adze/session"
)

// teller tells one stream: what is known first, then what comes.
type teller struct {
	from    *room   // the session
	reader  *reader // if nil, nothing comes
	encoder *uistream.Encoder
	first   []uistream.Part
	pausing bool   // it ends at a question, and goes on in the next POST
	at      string // the question that it ended at
}

// out is a response that is written piece by piece, each in time.
type out struct {
	server *Server
	w      http.ResponseWriter
	conn   *http.ResponseController
}

func (s *Server) out(w http.ResponseWriter) *out {
	return &out{server: s, w: w, conn: http.NewResponseController(w)}
}

// send writes parts; with end, the stream is whole. A reader that takes nothing is let go when the
// time is up.
func (o *out) send(parts []uistream.Part, end bool) error {
	var b []byte
	for _, p := range parts {
		b = uistream.Append(b, p, o.server.Mask)
	}
	if end {
		b = append(b, uistream.Done...)
	}
	return o.write(b)
}

// pieceBytes is how much a reader must take in the time that it has.
const pieceBytes = 64 << 10

// tell streams to the end of the turn, or for a POST to a question.
func (s *Server) tell(w http.ResponseWriter, r *http.Request, t *teller) {
	kept := false
	defer func() {
		if !kept && t.reader != nil {
			t.from.forget(t.reader)
		}
	}()
	uistream.Header(w.Header().Set)
	o := s.out(w)
	if err := o.send(t.first, t.encoder.Over()); err != nil || t.encoder.Over() {
		return
	}
	ctx, stop := context.WithCancel(r.Context())
	defer stop()
	for {
		items, err := t.reader.take(ctx)
		if err != nil {
			panic(http.ErrAbortHandler) // the stream has no end: whoever reads it knows that it broke, and comes back
		}
		var parts []uistream.Part
		for i, it := range items {
			if it.event == nil && it.question == nil {
				continue
			}
			parts = append(parts, it.tell(t.encoder)...)
			if t.pausing && it.question != nil && it.answered == "" {
				t.reader.giveBack(items[i+1:])
				if t.from.pause(t, it.question.ID) {
					kept = true
					_ = o.send(append(parts, t.encoder.Pause(*it.question)...), true) // who is gone comes back
					return
				}
				break
			}
		}
		if err := o.send(parts, t.encoder.Over()); err != nil {
			panic(http.ErrAbortHandler)
		}
		if t.encoder.Over() {
			return
		}
	}
}

// catchUp is a teller of the running turn that has told what there is of it; if nil, none runs.
func (s *Server) catchUp(r *http.Request, room *room) *teller {
	q, prompt, under := room.follow()
	if q == nil {
		return nil
	}
	t := &teller{from: room, reader: q, encoder: s.encoder(room)}
	if prompt != "" {
		// What cannot be read is missing in this stream alone; what comes is told all the same.
		if last, err := newest(r.Context(), s.Backend, room.id); err == nil && last.prompt.ID == prompt {
			for _, ev := range last.events {
				t.first = append(t.first, t.encoder.Take(ev)...)
			}
		}
	}
	for _, it := range under {
		if it.question != nil {
			q.giveBack([]item{it}) // a stream may end at it
			continue
		}
		t.first = append(t.first, it.tell(t.encoder)...)
	}
	return t
}

// stream tells the turn that runs here, from its beginning; a question does not end it, unless that
// is asked for with pause. Without such a turn there is nothing to tell (204).
func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	id := session.ID(r.PathValue("id"))
	if err := s.known(r.Context(), id); err != nil {
		refuse(w, err)
		return
	}
	if room := s.open(id); room != nil {
		if t := s.catchUp(r, room); t != nil {
			t.pausing = r.URL.Query().Has("pause")
			s.tell(w, r, t)
			return
		}
	}
	w.WriteHeader(http.StatusNoContent)
}

func ignoreMissing(err error) error {
	if errors.Is(err, session.ErrNotFound) {
		return nil
	}
	return err
}

// idleTime is how long a connection may stay open that nothing is asked on.
const idleTime = 2 * time.Minute

// HTTP is the server as it listens: one that sends slowly does not hold it.
func (s *Server) HTTP() *http.Server {
	return &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: idleTime, MaxHeaderBytes: 64 << 10, DisableGeneralOptionsHandler: true,
		ErrorLog: log.New(io.Discard, "", 0)} // a stranger could fill it
}
