// Package remote follows and steers the sessions that other processes have: for the page, for the
// overview, and for a window on a session.
//
// The one rule: a reply goes to the caller whose line it answers.
//
// Start reading at Sessions (all of them, for a list), then Client (one). Known limits: none that
// are known.
package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"adze/internal/live"
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
	Ended func(live.Hello)

	adding sync.Mutex // one connection is made at a time
	mu     sync.Mutex
	all    map[session.ID]*Session
}

// Session is a session of another process, from the first line of its owner to the last.
type Session struct {
	*Client

	mu     sync.Mutex
	status live.Status
}

// patience is how long an owner may take to say hello. One that was stopped by a signal never does.
const patience = 2 * time.Second

// Watch follows all sessions until the context ends. It also looks when something happens in the
// folders beside.
func (s *Sessions) Watch(beside ...string) {
	next, stop, err := live.Await(s.Folder, beside...)
	if err != nil {
		return // nobody can listen there
	}
	defer stop()
	for {
		all, _ := live.List(s.Ctx, s.Folder) // without a list there is nobody to be followed
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
	c, err := Dial(ctx, s.Folder, id, live.Wish{As: s.As, StateOnly: true})
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
func (r *Session) take(l live.Line) bool {
	var now live.Status
	if l.Type != "state" || json.Unmarshal(l.Raw, &now) != nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now.Mode = cmp.Or(now.Mode, r.status.Mode)
	r.status = now
	return true
}

// Status returns what the session does now.
func (r *Session) Status() live.Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status
}

// InMode keeps the mode that another connection was told of.
func (r *Session) InMode(mode string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status.Mode = mode
}

// Client asks an owner by lines, and waits for the reply to each. Next is called by one goroutine,
// Ask by any.
type Client struct {
	*live.Client

	mu    sync.Mutex
	waits map[int]chan live.Reply // by the number of the line
	gone  bool                    // nobody reads any more
}

// Dial connects with the owner of a session, as live.Dial.
func Dial(ctx context.Context, folder string, id session.ID, w live.Wish) (*Client, error) {
	c, err := live.Dial(ctx, folder, id, w)
	if err != nil {
		return nil, err
	}
	return &Client{Client: c, waits: map[int]chan live.Reply{}}, nil
}

// Next waits for a line, and hands the replies to lines of Ask over. Its errors are those of
// live.Client.
func (c *Client) Next() (live.Line, error) {
	for {
		l, err := c.Client.Next()
		if err != nil {
			c.leave()
		}
		if err != nil || !c.settled(l) {
			return l, err
		}
	}
}

// leave answers those who wait when nothing comes any more.
func (c *Client) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = true
	for n, told := range c.waits {
		close(told)
		delete(c.waits, n)
	}
}

// settled hands a reply to the one who waits for it; if false, nobody does.
func (c *Client) settled(l live.Line) bool {
	if l.Type != "accepted" && l.Type != "unread" && l.Type != "reply" {
		return false
	}
	var told struct {
		live.Reply
		Message, Hint string
	}
	if json.Unmarshal(l.Raw, &told) != nil {
		return false
	}
	if l.Type == "unread" {
		told.Error = &live.Failure{Message: told.Message, Hint: told.Hint}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	who := c.waits[told.Line]
	if who != nil {
		delete(c.waits, told.Line)
		who <- told.Reply
	}
	return who != nil
}

// Ask sends a line and waits until it had its effect, and returns the result of a control. Another
// goroutine must call Next. The error is a *live.Failure where the line had no effect, and
// live.ErrNobody where the owner is gone.
func (c *Client) Ask(ctx context.Context, line any) (json.RawMessage, error) {
	told := make(chan live.Reply, 1)
	n, err := c.send(line, told)
	if err != nil {
		return nil, err
	}
	select {
	case reply, open := <-told:
		switch {
		case !open:
			return nil, live.ErrNobody
		case reply.Error != nil:
			return nil, reply.Error
		}
		return reply.Result, nil
	case <-ctx.Done():
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.waits, n)
		return nil, ctx.Err()
	}
}

func (c *Client) send(line any, told chan live.Reply) (n int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return 0, live.ErrNobody
	}
	if n, err = c.Number(line); err == nil {
		c.waits[n] = told
	}
	return n, err
}

// Tell sends one line to the owner of a session and waits until it had its effect, as Client.Ask.
func Tell(ctx context.Context, folder string, id session.ID, as string, line any) (json.RawMessage, error) {
	c, err := Dial(ctx, folder, id, live.Wish{As: as, StateOnly: true})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	go func() {
		for _, err := c.Next(); err == nil; _, err = c.Next() {
		}
	}()
	return c.Ask(ctx, line)
}
