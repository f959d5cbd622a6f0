package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"time"

	"adze/internal/editors/uistream"
	"adze/session"
)

// The protocols of a stream, as a request asks for them with ?protocol= or the header
// X-Adze-Protocol.
const (
	protocolUI   = "ui"   // the UI message stream of ai 6 and 7
	protocolAI5  = "ai5"  // the same without what ai 5 does not know: a question is data alone
	protocolData = "data" // the older data stream
)

func protocolOf(r *http.Request) string {
	if q := r.URL.Query().Get("protocol"); q != "" {
		return q
	}
	if h := r.Header.Get("X-Adze-Protocol"); h != "" {
		return h
	}
	return protocolUI
}

// refuseProtocol answers a request for a protocol that nobody knows here; if false, it is known.
func refuseProtocol(w http.ResponseWriter, r *http.Request) bool {
	switch p := protocolOf(r); p {
	case protocolUI, protocolAI5, protocolData:
		return false
	default:
		refuse(w, &refusal{http.StatusBadRequest, fmt.Sprintf("there is no protocol %.20q; there are: %s, %s, %s", p, protocolUI, protocolAI5, protocolData)})
		return true
	}
}

// teller tells one stream: what is known first, then what comes.
type teller struct {
	from    opened  // the session
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
	wire   uistream.Wire
}

func (s *Server) out(w http.ResponseWriter, r *http.Request) *out {
	o := &out{server: s, w: w, conn: http.NewResponseController(w), wire: uistream.Wire{Data: protocolOf(r) == protocolData, Mask: s.Mask}}
	o.wire.Header(w.Header().Set)
	return o
}

// send writes parts; with end, the stream is whole. A reader that takes nothing is let go when the
// time is up.
func (o *out) send(parts []uistream.Part, end bool) error {
	var b []byte
	for _, p := range parts {
		b = o.wire.Append(b, p)
	}
	if end {
		b = append(b, o.wire.Done()...)
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
	o := s.out(w, r)
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
			if it.gone || it.anew && it.event == nil { // of another process, which has ended or told too much
				panic(http.ErrAbortHandler)
			}
			if it.event == nil && it.question == nil {
				continue
			}
			parts = append(parts, it.tell(t.encoder)...)
			if t.pausing && it.question != nil && it.answered == "" {
				t.reader.giveBack(items[i+1:])
				if room, is := t.from.(*room); is && room.pause(t, it.question.ID) {
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
	t := &teller{from: room, reader: q, encoder: s.encoder(r, room)}
	if prompt != "" {
		// What cannot be read is missing in this stream alone; what comes is told all the same.
		if last, ok, _ := s.last(r.Context(), room.id); ok && last.prompt.ID == prompt {
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

// stream tells the turn that runs, from its beginning, also where another process runs it; a
// question does not end it, unless that is asked for with pause. Without such a turn there is
// nothing to tell (204). Who names with after the newest answer that it knows gets a newer one that
// has ended, too, or waits a while for the next.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	if refuseProtocol(w, r) {
		return
	}
	id, q := session.ID(r.PathValue("id")), r.URL.Query()
	if err := s.known(r.Context(), id); err != nil {
		refuse(w, err)
		return
	}
	until := s.Now().Add(maxPatient)
	for {
		stirred := s.stirring()
		done, err := s.streamNow(w, r, id)
		if done {
			return
		}
		if err != nil {
			refuse(w, err)
			return
		}
		if !q.Has("after") || !s.Now().Before(until) || s.ctx.Err() != nil {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		if s.Wait(r.Context(), until.Sub(s.Now()), stirred) != nil {
			return
		}
	}
}

// streamNow tells what there is to tell now; if false, nothing.
func (s *Server) streamNow(w http.ResponseWriter, r *http.Request, id session.ID) (done bool, err error) {
	room := s.open(id)
	if room != nil {
		if t := s.catchUp(r, room); t != nil {
			t.pausing = r.URL.Query().Has("pause")
			s.tell(w, r, t)
			return true, nil
		}
	}
	elsewhere := room == nil && (s.remoteSessions.Find(id) != nil || s.Backend.Holder(id) != "")
	if !elsewhere && !r.URL.Query().Has("after") {
		return false, nil
	}
	last, ok, err := s.last(r.Context(), id)
	if !ok {
		return false, ignoreMissing(err)
	}
	known := r.URL.Query().Get("after") == uistream.AnswerID(last.prompt.ID)
	if last.ended && (known || !r.URL.Query().Has("after")) || !last.ended && !elsewhere && known {
		return false, nil
	}
	s.replay(w, r, id, last)
	return true, nil
}

// replay tells a turn of the store, and what another process adds to it: over its socket, or when
// it has ended.
func (s *Server) replay(w http.ResponseWriter, r *http.Request, id session.ID, last newestTurn) {
	t := &replayed{backend: s.Backend, remoteSessions: s.remoteSessions, stirring: s.stirring, id: id, last: last, out: s.out(w, r), encoder: uistream.New(uistream.Options{Mask: s.Mask})}
	ctx, stop := context.WithCancel(r.Context())
	defer stop()
	defer context.AfterFunc(s.ctx, stop)()
	if t.run(ctx) != nil {
		panic(http.ErrAbortHandler) // a stream without an end: its reader comes back
	}
}

// replayed is a stream of a turn that another process runs, or ran.
type replayed struct {
	backend        Backend
	remoteSessions *remoteSessions
	stirring       func() <-chan struct{}
	id             session.ID
	last           newestTurn
	out            *out
	encoder        *uistream.Encoder
	seen           map[string]bool // by the identity of an event
	watched        bool            // an owner told what came
}

// run tells the turn to its end.
func (t *replayed) run(ctx context.Context) error {
	t.seen = seenIn([]past{t.last.past})
	var before remoteSession
	_, is := t.remoteSessions.find(t.id)
	var parts []uistream.Part
	for _, ev := range t.last.events {
		if !is || !t.last.arrives.has(ev) { // an owner tells that from its beginning
			parts = append(parts, t.encoder.Take(ev)...)
		}
	}
	for {
		if err := t.out.send(parts, t.encoder.Over()); err != nil || t.encoder.Over() {
			return err
		}
		stirred := t.stirring()
		var b remoteSession
		switch b, is = t.remoteSessions.find(t.id); {
		case is && b != before:
			before, parts = b, nil
			if err := t.watch(ctx, b); err != nil || t.encoder.Over() {
				return err
			}
			continue
		case !is:
			if parts = t.rest(ctx); t.encoder.Over() {
				continue
			}
			if t.backend.Holder(t.id) == "" {
				parts = append(parts, t.encoder.Take(session.TurnEnd{Result: session.Result{Cause: session.CauseTerminated, Message: "the process that ran it has ended"}})...)
				continue
			}
			if len(parts) > 0 {
				continue
			}
		}
		select {
		case <-stirred:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// watch tells what an owner tells, until the turn or the owner ends. Questions are put on the page
// and where the session is.
func (t *replayed) watch(ctx context.Context, b remoteSession) error {
	q := newReader(0)
	defer b.forget(q)
	after := t.last.seq
	if t.last.arrives.message != "" && !t.watched {
		after = t.last.arrives.before
	}
	t.watched = true
	b.follow(q, after, t.seen)
	for {
		items, err := q.take(ctx)
		if err != nil {
			return err
		}
		var parts []uistream.Part
		gone := false
		for _, it := range items {
			switch {
			case it.anew:
				return errLost
			case it.gone:
				gone = true
			case it.joins, it.prompts:
				parts = append(parts, t.rest(ctx)...)
			case it.event != nil && !t.encoder.Over():
				parts = append(parts, it.tell(t.encoder)...)
			}
		}
		if err := t.out.send(parts, t.encoder.Over()); err != nil || gone || t.encoder.Over() {
			return err
		}
	}
}

// rest tells what the log has behind what was read of it. If an owner told what came, that is the
// end of the turn alone.
func (t *replayed) rest(ctx context.Context) (parts []uistream.Part) {
	// An entry that cannot be read now is told when the stream is asked for again.
	_ = t.backend.Log(ctx, t.id, t.last.seq, func(n int64, e session.Entry) error {
		t.last.seq = n
		if t.watched && e.Type != session.EndEntry {
			return nil
		}
		for _, ev := range events(e) {
			if !t.encoder.Over() {
				parts = append(parts, t.encoder.Take(ev)...)
			}
		}
		return nil
	})
	return parts
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
