package live

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"

	"adze/session"
)

// Sessions tracks the sessions of other processes and their states. It is safe for concurrent use.
type Sessions struct {
	Ctx     context.Context // ends all connections
	Ends    *sync.WaitGroup // counts background goroutines
	Folder  string          // of the sockets
	Kind    string          // this process's kind
	Changed func()          // called when a session came, went or changed its state
	// Ended is called when a session's owner has ended, before looking for another. Optional.
	Ended func(Hello)

	adding sync.Mutex // one connection at a time
	mu     sync.Mutex
	all    map[session.ID]*Session
}

// A Session is a session of another process, while its owner is connected.
type Session struct {
	*Client

	mu     sync.Mutex
	status Status
}

// Watch follows all sessions until the context ends. It also looks again at changes in the folders
// beside.
func (s *Sessions) Watch(beside ...string) {
	next, stop, err := Await(s.Folder, beside...)
	if err != nil {
		return // nobody can listen there
	}
	defer stop()
	for {
		all, _ := List(s.Ctx, s.Folder) // without a list there is nobody to follow
		for _, h := range all {
			s.Meet(h.Session)
		}
		s.Changed()
		if next(s.Ctx) != nil {
			return
		}
	}
}

// Find returns a followed session, or nil.
func (s *Sessions) Find(id session.ID) *Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[id]
}

// All returns the followed sessions, newest first.
func (s *Sessions) All() (out []*Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.all {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b *Session) int {
		return cmp.Or(b.Hello.OwnedSince.Compare(a.Hello.OwnedSince), cmp.Compare(a.Hello.Session, b.Hello.Session))
	})
	return out
}

// Meet follows a session from now on, if a process has it open.
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
	c, err := Dial(ctx, s.Folder, id, Subscription{Kind: s.Kind, StateOnly: true})
	s.mu.Lock()
	defer s.Changed()
	defer s.mu.Unlock()
	if err != nil {
		delete(s.all, id) // just ended
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

// follow reads an owner's lines until it ends.
func (s *Sessions) follow(r *Session) {
	defer context.AfterFunc(s.Ctx, func() { _ = r.Close() })() // the session continues
	for l, err := r.Next(); err == nil; l, err = r.Next() {
		if r.take(l) {
			s.Changed()
		}
	}
	_ = r.Close() // nothing is pending
	if s.Ended != nil {
		s.Ended(r.Hello)
	}
	s.adding.Lock()
	defer s.adding.Unlock()
	s.add(r.Hello.Session) // another process may have it by now
}

// take reads a line and returns false if it carries no state.
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

// Status returns the session's present state.
func (r *Session) Status() Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status
}
