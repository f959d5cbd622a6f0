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

// sharedSession is a session open here: its turns, readers and questions. Turns do not depend on
// readers: closing a tab ends nothing.
type sharedSession struct {
	server *Server
	id     session.ID
	conv   Conversation
	closed chan struct{} // closed when the session is

	mu       sync.Mutex
	jobs     []job // waiting prompts
	count    int   // number of turns, including waiting ones
	running  bool  // the loop that runs jobs
	turn     turn
	readers  map[*reader]struct{}
	asked    *openQuestion     // the waiting question
	answers  map[string]string // answers to approvals, by ID
	order    []string          // their IDs, oldest first
	steered  []string          // remarks not yet sent to the model
	counted  *session.Counted  // newest token count
	activity string            // short description of the activity
	result   *session.Result   // of the newest turn that ended here
	used     time.Time
	leaving  bool
}

func (s *Server) open(id session.ID) *sharedSession {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.openSessions[id]
}

// enter opens a session unless it is open. An empty id starts a new one, an empty model means the
// session's own.
func (s *Server) enter(ctx context.Context, id session.ID, model string) (*sharedSession, error) {
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
	r := &sharedSession{server: s, closed: make(chan struct{}), readers: map[*reader]struct{}{}, answers: map[string]string{}, used: s.Now()}
	// The opened session outlives the request.
	conv, err := s.Backend.Open(s.ctx, id, model, r)
	if err != nil {
		return nil, err
	}
	r.id, r.conv = conv.ID(), conv
	s.mu.Lock()
	s.openSessions[r.id] = r
	s.mu.Unlock()
	s.ends.Go(r.watch)
	s.wakePages()
	return r, nil
}

var errEnds = &refusal{http.StatusServiceUnavailable, "adze serve ends"}

// makeRoom closes the longest unused session if too many are open.
func (s *Server) makeRoom() error {
	s.Sweep()
	var oldest *sharedSession
	var since time.Time
	s.mu.Lock()
	full := len(s.openSessions) >= maxOpen
	for _, r := range s.openSessions {
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

// Sweep closes sessions that are unused for a while.
func (s *Server) Sweep() {
	s.mu.Lock()
	rooms := slices.Collect(maps.Values(s.openSessions))
	s.mu.Unlock()
	for _, r := range rooms {
		r.retire(s.Now().Add(-maxIdle))
	}
}

// idle returns since when nothing runs, or false.
func (r *sharedSession) idle() (time.Time, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.used, !r.running && !r.leaving
}

// retire closes a session unused since then. It returns false if it was used or is being closed.
func (r *sharedSession) retire(since time.Time) bool {
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

// forgotten removes the room from the open ones.
func (r *sharedSession) forgotten() {
	defer r.server.wakePages()
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	if r.server.openSessions[r.id] == r {
		delete(r.server.openSessions, r.id)
	}
}

// close aborts the turn, waits for its end and closes the session.
func (r *sharedSession) close() {
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

// leave closes the session. It is called once, when no turn runs.
func (r *sharedSession) leave() {
	r.conv.Close()
	close(r.closed)
}

// watch releases the session to another process that requests it.
func (r *sharedSession) watch() {
	select {
	case <-r.conv.Wanted():
		r.forgotten()
		r.close()
	case <-r.closed:
	}
}
