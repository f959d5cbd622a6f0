package live

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"

	"adze/session"
)

// Sessions are the sessions of other processes, with what each of them does now. All methods are
// safe for concurrent use.
type Sessions struct {
	Ctx     context.Context // ends all connections
	Ends    *sync.WaitGroup // counts what runs beside the caller
	Folder  string          // of the sockets
	As      string          // what this process calls itself
	Changed func()          // is called when a session came, went or does something else
	// Ended is called when the owner of a session has ended, before another one is looked for.
	// Optional.
	Ended func(Hello)

	adding sync.Mutex // one connection is made at a time
	mu     sync.Mutex
	all    map[session.ID]*Session
}

// Session is a session of another process, from the first line of its owner to the last.
type Session struct {
	*Client

	mu     sync.Mutex
	status Status
}

// Watch follows all sessions until the context ends. It also looks when something happens in the
// folders beside.
func (s *Sessions) Watch(beside ...string) {
	next, stop, err := Await(s.Folder, beside...)
	if err != nil {
		return // nobody can listen there
	}
	defer stop()
	for {
		all, _ := List(s.Ctx, s.Folder) // without a list there is nobody to be followed
		for _, h := range all {
			s.Meet(h.Session)
		}
		s.Changed()
		if next(s.Ctx) != nil {
			return
		}
	}
}

// Find returns a session that is followed, or nil.
func (s *Sessions) Find(id session.ID) *Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[id]
}

// All returns the sessions that are followed, the newest first.
func (s *Sessions) All() (out []*Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.all {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b *Session) int {
		return cmp.Or(b.Hello.Since.Compare(a.Hello.Since), cmp.Compare(a.Hello.Session, b.Hello.Session))
	})
	return out
}

// Meet follows a session from now on, if a process has it.
func (s *Sessions) Meet(id session.ID) {
	if id == "" || s.Folder == "" || s.Find(id) != nil {
		return
	}
	s.adding.Lock()
	defer s.adding.Unlock()
	if s.Find(id) == nil {
		s.add(id)
	}
}

// add follows a session until nobody has it. The caller holds s.adding.
func (s *Sessions) add(id session.ID) {
	ctx, cancel := context.WithTimeout(s.Ctx, patience)
	defer cancel()
	c, err := Dial(ctx, s.Folder, id, Wish{As: s.As, StateOnly: true})
	s.mu.Lock()
	defer s.Changed()
	defer s.mu.Unlock()
	if err != nil {
		delete(s.all, id) // it has ended just now
		return
	}
	r := &Session{Client: c, status: c.Hello.Status}
	r.status.Mode, r.status.Effort = c.Hello.Mode, c.Hello.Effort
	if s.all == nil {
		s.all = map[session.ID]*Session{}
	}
	s.all[id] = r
	s.Ends.Go(func() { s.follow(r) })
}

// follow reads what an owner says until it ends.
func (s *Sessions) follow(r *Session) {
	defer context.AfterFunc(s.Ctx, func() { _ = r.Close() })() // the session goes on
	for l, err := r.Next(); err == nil; l, err = r.Next() {
		if r.take(l) {
			s.Changed()
		}
	}
	_ = r.Close() // nothing waits in it
	if s.Ended != nil {
		s.Ended(r.Hello)
	}
	s.adding.Lock()
	defer s.adding.Unlock()
	s.add(r.Hello.Session) // another process may have it by now
}

// take reads a line; if false, it does not tell what the session does.
func (r *Session) take(l Line) bool {
	var now Status
	if l.Type != stateLine || json.Unmarshal(l.Raw, &now) != nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now.Mode = cmp.Or(now.Mode, r.status.Mode)
	r.status = now
	return true
}

// Status returns what the session does now.
func (r *Session) Status() Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status
}
