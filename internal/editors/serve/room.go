package serve

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"adze/session"
)

// room is a session that is open here: its turns, who reads them, and what is asked. A turn is
// nobody's who reads: a tab that is closed ends nothing.
type room struct {
	server *Server
	id     session.ID
	conv   Conversation
	closed chan struct{} // nothing happens any more

	mu      sync.Mutex
	jobs    []job // prompts that wait for their turn
	count   int   // of turns that were begun or wait
	running bool  // the loop that takes jobs
	turn    turn
	readers map[*reader]struct{}
	asked   *openQuestion     // what waits for an answer
	past    map[string]string // how approvals were answered, by id
	order   []string          // of them, the oldest first
	steered []string          // remarks that the model has not read yet
	counted *session.Counted  // the newest count of what a request holds
	doing   string            // what goes on, in a few words
	result  *session.Result   // of the newest turn that ended here
	used    time.Time
	leaving bool
}

func (s *Server) open(id session.ID) *room {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rooms[id]
}

// enter opens a session, or finds it open; an empty id begins one, and an empty model is its own.
func (s *Server) enter(ctx context.Context, id session.ID, model string) (*room, error) {
	s.opening.Lock()
	defer s.opening.Unlock()
	if r := s.open(id); r != nil {
		return r, nil
	}
	if s.ctx.Err() != nil {
		return nil, errEnds
	}
	if id != "" {
		head, err := s.directory.session(ctx, id)
		if err != nil {
			return nil, err
		}
		if s.directory.away(head) {
			return nil, errAway
		}
	}
	if err := s.makeRoom(); err != nil {
		return nil, err
	}
	r := &room{server: s, closed: make(chan struct{}), readers: map[*reader]struct{}{}, past: map[string]string{}, used: s.Now()}
	// What is opened lives longer than the request that opens it.
	conv, err := s.Backend.Open(s.ctx, id, model, r)
	if err != nil {
		return nil, err
	}
	r.id, r.conv = conv.ID(), conv
	s.mu.Lock()
	s.rooms[r.id] = r
	s.mu.Unlock()
	s.ends.Go(r.watch)
	s.stir()
	return r, nil
}

var errEnds = &refusal{http.StatusServiceUnavailable, "adze serve ends"}

// makeRoom closes the session that was unused for longest, where too many are open.
func (s *Server) makeRoom() error {
	s.Sweep()
	var oldest *room
	var since time.Time
	s.mu.Lock()
	full := len(s.rooms) >= maxOpen
	for _, r := range s.rooms {
		if at, is := r.idle(); is && (oldest == nil || at.Before(since)) {
			oldest, since = r, at
		}
	}
	s.mu.Unlock()
	switch {
	case !full:
	case oldest == nil || !oldest.retire(s.Now()):
		return &refusal{http.StatusTooManyRequests, "too many sessions are working; wait for one to end, or abort it"}
	}
	return nil
}

// Sweep closes sessions that nobody has used for a while.
func (s *Server) Sweep() {
	s.mu.Lock()
	rooms := slices.Collect(maps.Values(s.rooms))
	s.mu.Unlock()
	for _, r := range rooms {
		r.retire(s.Now().Add(-maxIdle))
	}
}

// idle tells since when nothing runs, and whether that is so.
func (r *room) idle() (time.Time, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.used, !r.running && !r.leaving
}

// retire closes a session that was not used since then; if false, it was, or it is being closed.
func (r *room) retire(since time.Time) bool {
	r.mu.Lock()
	if r.running || r.leaving || r.used.After(since) {
		r.mu.Unlock()
		return false
	}
	r.leaving = true
	r.mu.Unlock()
	r.forgotten()
	r.leave()
	return true
}

// forgotten takes the room out of those that are open.
func (r *room) forgotten() {
	defer r.server.stir()
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	if r.server.rooms[r.id] == r {
		delete(r.server.rooms, r.id)
	}
}

// close ends the turn, waits for its end and closes the session.
func (r *room) close() {
	r.mu.Lock()
	if r.leaving {
		r.mu.Unlock()
		<-r.closed
		return
	}
	r.leaving, r.jobs = true, nil
	if r.turn.abort != nil {
		r.turn.abort(session.ErrInterrupted)
	}
	idle := !r.running
	r.mu.Unlock()
	if idle {
		r.leave()
	}
	<-r.closed
}

// leave closes the session; it is called once, when no turn runs.
func (r *room) leave() {
	r.conv.Close()
	close(r.closed)
}

// watch lets the session go to another process that wants it.
func (r *room) watch() {
	select {
	case <-r.conv.Wanted():
		r.forgotten()
		r.close()
	case <-r.closed:
	}
}
