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

// turnStream sends one stream: first the turn so far, then new events.
type turnStream struct {
	from    *sharedSession // the session
	reader  *reader        // nil if no events follow
	encoder *uistream.Encoder
	first   []uistream.Part
	pausing bool   // ends at a question, and continues in the next POST
	at      string // the question where it ended
}

// responseWriter writes a response in pieces, each with a deadline.
type responseWriter struct {
	server *Server
	w      http.ResponseWriter
	conn   *http.ResponseController
}

func (s *Server) out(w http.ResponseWriter) *responseWriter {
	return &responseWriter{server: s, w: w, conn: http.NewResponseController(w)}
}

// send writes parts; end completes the stream. A reader that does not read in time is disconnected.
func (o *responseWriter) send(parts []uistream.Part, end bool) error {
	var b []byte
	for _, p := range parts {
		b = uistream.Append(b, p, o.server.Mask)
	}
	if end {
		b = append(b, uistream.Done...)
	}
	return o.write(b)
}

// pieceBytes is the amount a reader must read before the deadline.
const pieceBytes = 64 << 10

// tell streams to the end of the turn or, if pausing, to a question.
func (s *Server) tell(w http.ResponseWriter, r *http.Request, t *turnStream) {
	kept := false
	defer func() {
		if !kept && t.reader != nil {
			t.from.forget(t.reader)
		}
	}()
	uistream.Header(w.Header().Set)
	o := s.out(w)
	if err := o.send(t.first, t.encoder.Finished()); err != nil || t.encoder.Finished() {
		return
	}
	ctx, stop := context.WithCancel(r.Context())
	defer stop()
	for {
		items, err := t.reader.take(ctx)
		if err != nil {
			panic(http.ErrAbortHandler) // aborts the stream, so the client notices and reconnects
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
					_ = o.send(append(parts, t.encoder.Pause(it.question.Question)...), true) // a disconnected client reconnects
					return
				}
				break
			}
		}
		if err := o.send(parts, t.encoder.Finished()); err != nil {
			panic(http.ErrAbortHandler)
		}
		if t.encoder.Finished() {
			return
		}
	}
}

// catchUp returns a teller for the running turn with its events so far, or nil if none runs.
func (s *Server) catchUp(r *http.Request, room *sharedSession) *turnStream {
	q, prompt, under := room.follow()
	if q == nil {
		return nil
	}
	t := &turnStream{from: room, reader: q, encoder: s.encoder(room)}
	if prompt != "" {
		// If the log is unreadable, only the past is missing in this stream.
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

// stream sends the turn running here from its beginning. It does not end at questions, unless
// requested with pause. Without a turn the response is 204.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	id := session.ID(r.PathValue("id"))
	if err := s.checkKnown(r.Context(), id); err != nil {
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

// idleTime is how long an idle connection stays open.
const idleTime = 2 * time.Minute

// HTTP returns the server with timeouts against slow senders.
func (s *Server) HTTP() *http.Server {
	return &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: idleTime, MaxHeaderBytes: 64 << 10, DisableGeneralOptionsHandler: true,
		ErrorLog: log.New(io.Discard, "", 0)} // a stranger could fill the log
}
