// Package serve lets a browser interface or a program use sessions over HTTP on this machine alone:
// start one, prompt, answer questions, abort, and follow one live from any number of tabs.
//
// The one rule: access requires the printed address. Each request of the interface needs the token,
// which is in the address's fragment, so browsers never send it by themselves; host and origin must
// be ours or the user's tunnel's (door.go). Only the user's newest message and approvals issued by
// the server are read from a request; the conversation comes from the store.
//
// Start reading at Server.Handler, then post.go and prompt.go (input), stream.go (output), room.go
// (a session open here) and question.go (waiting questions). Package uistream has the wire format.
//
// The page instead reads pieces of HTML (watch.go, package htmlstream) and sends actions (act.go,
// show.go). It offers everything the terminal interface does: rules, models, modes.
//
// Known limits: only the newest answer can be regenerated, and effects of its calls remain; files
// are part of the request. An approval in the UI stream is for one call. A session of another
// process is shown and steered only by the page, over its socket (remote.go), or read from its log
// if it has none; the UI stream has its messages, but not its running turn. A browser gives all its
// tabs six connections: hidden tabs release theirs, but seven visible ones are one too many.
// Removed worktrees are no longer recognized as their repository's.
package serve

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"adze/internal/live"
	"adze/internal/live/control"
	"adze/internal/stream/ask"
	"adze/internal/text/redact"
	"adze/session"
	"adze/session/api"
	"adze/tool"
)

// Backend is the program below the server. It opens and stores sessions. Contract:
//   - Open opens a session, or starts one if id is empty. An empty model means the session's, or
//     the configured one. Questions and events go to the user;
//   - Blocks returns the blocks of a call's metadata for a session that is not open;
//   - Status returns a session's settings if it were opened now; an empty Head means a new one;
//   - Rename, Fork, Export, Search and Output work on stored sessions; form is md, json or html;
//   - Folders returns the folders named by the user; Open uses the first;
//   - Served reports whether a folder's sessions are shown;
//   - Sessions returns the newest users' sessions in all shown folders, as decided by Served;
//   - Session returns one of them, or session.ErrNotFound;
//   - Background starts a process with a prompt, for a new session in a folder or an existing one;
//   - Peek returns a short preview of a session;
//   - Tag adds a tag to a session, or removes it if prefixed with -;
//   - Log passes on a session's entries after a number, in order, with their numbers;
//   - Holder returns the process that writes a session, or "". The folder Locks changes with it;
//   - all methods are safe for concurrent use.
type Backend interface {
	Open(ctx context.Context, id session.ID, model string, who User) (Conversation, error)
	Sessions(ctx context.Context, most int) ([]session.Head, error)
	Session(ctx context.Context, id session.ID) (session.Head, error)
	Log(ctx context.Context, id session.ID, after int64, each func(seq int64, e session.Entry) error) error
	Holder(id session.ID) string
	Locks() string
	Blocks(name string, metadata json.RawMessage) []tool.Block
	Status(session.Head) Status
	Folders() []string
	Served() func(folder string) bool
	Background(ctx context.Context, folder string, id session.ID, prompt string) (session.ID, error)
	Peek(ctx context.Context, id session.ID) (api.SessionPeek, error)
	Tag(ctx context.Context, id session.ID, word string) error
	Rename(ctx context.Context, id session.ID, name string) error
	Fork(ctx context.Context, id session.ID) (session.ID, error)
	Export(ctx context.Context, id session.ID, form string) ([]byte, error)
	Search(ctx context.Context, text string) (found []api.SearchResult, note string, err error)
	// Output returns a call's full output, if stored.
	Output(o tool.Outcome) (text string, whole bool)
}

// Status holds an open session's settings.
type Status struct {
	Model, Folder, Branch, Mode, Effort, Sandbox string
}

// A Person represents the user in a session.
type User interface {
	Observe(session.Event)
	Ask(context.Context, ask.Permission) (ask.Answer, error)
	Inquire(context.Context, ask.Question) (string, error)
	// Begin queues another process's prompt.
	Begin(Prompt) error
	// Stop aborts the running turn, or returns false without one.
	Stop() bool
	// Changed makes pages update the session's settings.
	Changed()
	// Waits returns the waiting prompts, and remarks not yet sent to the model.
	Waits() (queued, steered []string)
	// Host returns the actions for other processes. The session must be open.
	Host() control.Host
}

// A Conversation is a session open here. Prompt must be called sequentially; other methods are safe
// for concurrent use.
type Conversation interface {
	ID() session.ID
	Prompt(ctx context.Context, p Prompt) session.Result
	Steer(text string) bool
	Blocks(name string, metadata json.RawMessage) []tool.Block
	Status() Status
	// Ports returns the terminal interface's functions; each may be nil.
	Ports() *api.Ports
	// Commands returns the slash commands for a prompt.
	Commands() []api.Named
	// Refresh sends waiting messages to other processes.
	Refresh()
	// Rewound makes other processes reread the log.
	Rewound()
	// Wanted is closed when another process requests the session.
	Wanted() <-chan struct{}
	Close()
}

// Limits of one server.
const (
	maxOpen = 16               // open sessions
	maxIdle = 10 * time.Minute // until an unused session is closed
)

// A Server serves sessions to browsers. It opens them in one folder.
type Server struct {
	Backend Backend
	Mask    func() *redact.Masker // masks secrets in all output; nil masks only those recognized by their shape
	Token   string                // required in each request
	Host    string                // required in each request: address and port
	// Names are the lower-case hosts of the user's tunnels. A tunnel terminates TLS.
	Names map[string]bool
	// Sockets is the folder of the sessions' sockets. Optional.
	Sockets string
	// Deadline returns the time by which a piece must be written; default: in five seconds. Now is
	// the clock; default: time.Now.
	Deadline func() time.Time
	Now      func() time.Time

	ctx     context.Context // of all turns
	stop    context.CancelCauseFunc
	ends    sync.WaitGroup // of background goroutines
	opening sync.Mutex     // opens one session at a time

	remoteSessions *remoteSessions // of other processes
	directory      directory
	keyed          *onceByKey // actions of pages

	mu           sync.Mutex
	openSessions map[session.ID]*sharedSession
	pages        map[chan struct{}]struct{} // of watching pages, woken at each change
	stirs        atomic.Int64               // number of changes
}

// Start prepares the server; turns end with ctx.
func (s *Server) Start(ctx context.Context) {
	s.ctx, s.stop = context.WithCancelCause(ctx)
	s.openSessions, s.pages = map[session.ID]*sharedSession{}, map[chan struct{}]struct{}{}
	if s.Mask == nil {
		s.Mask = func() *redact.Masker { return &redact.Masker{} }
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Deadline == nil {
		s.Deadline = func() time.Time { return time.Now().Add(5 * time.Second) }
	}
	s.remoteSessions = &remoteSessions{backend: s.Backend}
	s.remoteSessions.Sessions = live.Sessions{Ctx: s.ctx, Ends: &s.ends, Folder: s.Sockets, Kind: ownPage, Changed: s.wakePages, Ended: s.remoteSessions.freed}
	s.keyed = &onceByKey{ctx: s.ctx, all: map[string]func() (any, error){}}
	s.directory = directory{s.Backend, s.remoteSessions, s.wakePages}
	if s.Sockets != "" {
		s.ends.Go(func() { s.remoteSessions.Watch(s.Backend.Locks()) })
	}
}

// wait sleeps until the duration has passed, ctx ends or the channel is closed.
func wait(ctx context.Context, d time.Duration, stirred <-chan struct{}) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-stirred:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// Close aborts all turns, closes all sessions, and waits until nothing runs.
func (s *Server) Close() {
	s.stop(session.ErrInterrupted)
	s.opening.Lock()
	defer s.opening.Unlock()
	s.mu.Lock()
	rooms := s.openSessions
	s.openSessions = map[session.ID]*sharedSession{}
	s.mu.Unlock()
	for _, r := range rooms {
		r.close()
	}
	s.ends.Wait()
}

// wakePages wakes pages after a change.
func (s *Server) wakePages() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stirs.Add(1)
	for page := range s.pages {
		nudge(page)
	}
}

// nudge wakes the receiver of a channel with a buffer of one.
func nudge(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Handler returns the server's HTTP handler.
func (s *Server) Handler() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("GET /{$}", page)
	m.HandleFunc("GET /page/{file}", asset)
	m.HandleFunc("GET /api/page/watch", s.watch)
	m.HandleFunc("GET /api/page/search", s.search)
	m.HandleFunc("GET /api/page/{id}/{what}", s.show)
	m.HandleFunc("POST /api/page/{id}/{act}", s.act)
	m.HandleFunc("GET /api/session", s.list)
	m.HandleFunc("POST /api/session", s.begin)
	m.HandleFunc("POST /api/chat", s.post)
	m.HandleFunc("GET /api/chat/{id}", s.messages)
	m.HandleFunc("GET /api/chat/{id}/stream", s.stream)
	m.HandleFunc("DELETE /api/chat/{id}/stream", s.abort)
	return s.door(http.NewCrossOriginProtection().Handler(m))
}

type sessionRow struct {
	ID      session.ID `json:"id"`
	Title   string     `json:"title"`
	Updated time.Time  `json:"updated"`
	State   string     `json:"state"`         // idle, running, waiting, or elsewhere: owned by another process
	Process string     `json:"who,omitempty"` // that process
	Folder  string     `json:"folder,omitempty"`
}

// most limits the listed sessions.
const most = 200

func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	heads, err := s.directory.sessions(r.Context())
	if err != nil {
		refuse(w, err)
		return
	}
	out := []sessionRow{}
	for _, h := range heads[:min(len(heads), most)] {
		l := sessionRow{ID: h.ID, Title: s.Mask().Text(h.Title()), Updated: h.Updated, State: "idle", Folder: s.Mask().Text(h.Info().Cwd)}
		if room := s.open(h.ID); room != nil {
			l.State = stateWord(room.Status().State)
		} else if l.Process = s.Backend.Holder(h.ID); l.Process != "" {
			l.State = "elsewhere"
		}
		out = append(out, l)
	}
	writeJSON(w, http.StatusOK, out)
}

// begin starts a session. It is stored with its first prompt.
func (s *Server) begin(w http.ResponseWriter, r *http.Request) {
	room, err := s.enter(r.Context(), "", "")
	if err != nil {
		refuse(w, err)
		return
	}
	writeJSON(w, http.StatusCreated, map[string]session.ID{"id": room.id})
}

func (s *Server) abort(w http.ResponseWriter, r *http.Request) {
	room := s.open(session.ID(r.PathValue("id")))
	if room == nil || !room.Stop() {
		refuse(w, errNoTurn)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

var errNoTurn = &refusal{http.StatusConflict, "no turn of this session is running here"}

func writeJSON(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}

// refusal is an error response for the user.
type refusal struct {
	code int
	says string
}

func (e *refusal) Error() string { return e.says }

func refuse(w http.ResponseWriter, err error) {
	var why *refusal
	switch {
	case errors.As(err, &why):
	case errors.Is(err, session.ErrNotFound):
		why = &refusal{http.StatusNotFound, "no such session here; POST /api/session begins one"}
	case errors.Is(err, control.ErrNotHere):
		why = errNotHere
	case errors.Is(err, control.ErrBusy), errors.Is(err, control.ErrOpening):
		why = &refusal{http.StatusConflict, err.Error()}
	case errors.Is(err, session.ErrLocked):
		why = &refusal{http.StatusConflict, "another process has this session; the page of adze serve shows it and steers it"}
	default:
		why = &refusal{http.StatusInternalServerError, err.Error()}
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(why.code)
	_, _ = w.Write([]byte(why.says + "\n")) // the client may be gone
}
