package serve

import (
	"context"
	"net/http"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// sessions counts the clients of HTTP that have one.
func (s *Server) sessions() int {
	n := 0
	for range s.sdk.Sessions() {
		n++
	}
	return n
}

// posted remembers a request of HTTP while it lasts.
func (s *Server) posted(post string, ctx context.Context) (over func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.posts[post] = ctx
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.posts, post)
	}
}

// followed ends what a client asked over HTTP with the request in which it did: nobody would get
// the answer any more.
func (s *Server) followed(ctx context.Context, r *mcp.CallToolRequest) (context.Context, func()) {
	if r.Extra == nil || r.Extra.Header == nil {
		return ctx, func() {}
	}
	s.mu.Lock()
	post := s.posts[r.Extra.Header.Get(postHeader)]
	s.mu.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	if post == nil { // it ended before we looked
		cancel(errLeft)
		return ctx, func() {}
	}
	stop := context.AfterFunc(post, func() { cancel(errLeft) })
	return ctx, func() { stop(); cancel(nil) }
}

// presence knows which sessions have a connection open. One that held a stream open, and has none
// any more, is a client that has gone: soon after it goes, too, with all that it left running. One
// that never held a stream is let go when it has asked nothing for minutes.
type presence struct {
	server *Server
	mu     sync.Mutex
	there  map[string]*visit
}

type visit struct {
	open    int
	streams bool   // it held one open to listen
	version string // of the protocol, as it was agreed; if empty, not known
	leaving timer
	posts   []*reply // the requests that are being answered
}

// enter counts a request of a session; leave is to be called at its end.
func (p *presence) enter(session, method string, w *reply) (leave func()) {
	if session == "" {
		return func() {}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	v := p.there[session]
	if v == nil {
		v = &visit{}
		p.there[session] = v
	}
	v.open++
	v.posts = append(v.posts, w)
	v.streams = v.streams || method == http.MethodGet
	if v.leaving != nil {
		v.leaving.Stop()
		v.leaving = nil
	}
	return func() { p.leave(session, v, w) }
}

func (p *presence) leave(session string, v *visit, w *reply) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v.posts = slices.DeleteFunc(v.posts, func(one *reply) bool { return one == w })
	if version := w.agreed(); version != "" {
		v.version = version
	}
	if v.open--; v.open > 0 {
		return
	}
	wait := p.server.idle
	if v.streams {
		wait = p.server.gone
	}
	v.leaving = p.server.after(wait, func() { p.end(session, v) })
}

// version is the protocol that was agreed with a session; if empty, not known.
func (p *presence) version(session string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if v := p.there[session]; v != nil {
		return v.version
	}
	return ""
}

// takenBack leaves a request of a session without an answer.
func (p *presence) takenBack(session, id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if v := p.there[session]; v != nil {
		for _, w := range v.posts {
			w.takenBack(id)
		}
	}
}

// end closes a session whose client has not come back.
func (p *presence) end(session string, v *visit) {
	p.mu.Lock()
	if v.open > 0 {
		p.mu.Unlock()
		return
	}
	delete(p.there, session)
	p.mu.Unlock()
	p.server.dropSession(session)
	for ss := range p.server.sdk.Sessions() {
		if ss.ID() == session {
			_ = ss.Close()
		}
	}
}

// dropSession ends what a session runs, and what it has left running.
func (s *Server) dropSession(session string) {
	for ss := range s.sdk.Sessions() {
		if session != "" && ss.ID() == session {
			s.drop(ss)
		}
	}
}
