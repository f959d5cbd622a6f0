// Package serve lets a user interface in a browser, or a program, work with sessions over HTTP on
// this machine alone: begin one, prompt, answer what is asked, abort, and follow one live from any
// number of tabs.
//
// The one rule: nobody gets in who was not given the address. Each request of the interface needs
// the token, which stands in the fragment of the address, so that no browser sends it anywhere by
// itself; the host and the origin must be ours, or those of the user's tunnel (door.go). Of what a
// request says only the newest words of the user and approvals that we issued count; the
// conversation is that of the store.
//
// Start reading at Server.Handler, then post.go and prompt.go (what may be said), stream.go (what
// is told), room.go (a session that is open here) and question.go (what waits for an answer). What
// is on the wire is in package uistream.
//
// The page reads pieces of HTML instead (watch.go, package htmlstream) and acts by requests of its
// own (act.go, show.go). It offers all that the interface in a terminal does: rules, models, modes.
//
// Known limits: only the newest answer is made again, and what its calls did stays done; files
// come in the request itself. An approval of the UI stream is for one call. A session of another
// process is shown and steered by the page alone, over its socket (remote.go), or read from its log
// where it has none; the UI stream has its messages, and no turn that runs there. A
// browser gives all its tabs six connections: hidden tabs give theirs up, but seven that are seen
// at once are one too many. Work trees that were removed are not known any more as those of their
// repository.
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

// Backend is the program below the server: it opens sessions and keeps them. Contract:
//   - Open goes on with a session, or begins one where id is empty. An empty model is the one that
//     it had, or that of the configuration. What is asked and what happens goes to the user;
//   - Blocks shows metadata of a call of a session that is not open;
//   - Status is how a session would work if it were opened now, a new one for an empty Head;
//   - Rename, Fork, Export, Search and Output are about what is stored; form is md, json or html;
//   - Folders are those that the user named; Open works in the first;
//   - Served tells whether sessions of a folder are shown;
//   - Sessions are the newest of users in all folders that are shown, as Served tells;
//   - Session is one of them; where it is not there, the error is session.ErrNotFound;
//   - Background has a process begin a session in a folder, or go on with one, with a prompt;
//   - Peek is a short look into a session;
//   - Tag marks a session with a word, or takes the mark away where a - stands in front;
//   - Log hands over the entries of a session behind a number, in their order, with theirs;
//   - Holder says which process writes a session; if empty, none does. Locks is the folder in which
//     something happens when that changes;
//   - all methods are safe for concurrent use.
type Backend interface {
	Open(ctx context.Context, id session.ID, model string, who Person) (Conversation, error)
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
	Search(ctx context.Context, text string) (found []api.Found, note string, err error)
	// Output is all that a call printed, where it is kept.
	Output(o tool.Outcome) (text string, whole bool)
}

// Status is how a session that is open works now.
type Status struct {
	Model, Folder, Branch, Mode, Effort, Sandbox string
}

// Person is who a session is opened for.
type Person interface {
	Observe(session.Event)
	Ask(context.Context, ask.Permission) (ask.Answer, error)
	Inquire(context.Context, ask.Question) (string, error)
	// Begin has a prompt of another process wait for its turn.
	Begin(Prompt) error
	// Stop ends the running turn; if false, none runs.
	Stop() bool
	// Changed has pages look at how the session works.
	Changed()
	// Waits are the prompts that wait for their turn, and the remarks that were not read yet.
	Waits() (queued, steered []string)
	// Host is what other processes can have done here. The session must be open.
	Host() control.Host
}

// Conversation is a session that is open here. Prompt is called for one prompt after the other, the
// rest by any goroutine.
type Conversation interface {
	ID() session.ID
	Prompt(ctx context.Context, p Prompt) session.Result
	Steer(text string) bool
	Blocks(name string, metadata json.RawMessage) []tool.Block
	Status() Status
	// Ports are what the interface of a terminal asks for; each may be nil.
	Ports() *api.Ports
	// Commands are what a prompt may begin with after a slash.
	Commands() []api.Named
	// Refresh has other processes look at what waits.
	Refresh()
	// Rewound has other processes read the log anew.
	Rewound()
	// Wanted is closed when another process wants the session.
	Wanted() <-chan struct{}
	Close()
}

// The bounds of what one server does at once.
const (
	maxOpen = 16               // sessions that are open
	maxIdle = 10 * time.Minute // for which one stays open that nobody uses
)

// Server serves sessions to browsers. It opens them in one folder.
type Server struct {
	Backend Backend
	Mask    func() *redact.Masker // hides secrets in all that is told; if nil, those that are known by their look
	Token   string                // that each request must bring
	Host    string                // that each request must name: address and port
	// Names are the hosts, in lower case, by which tunnels of the user lead here. A tunnel ends TLS.
	Names map[string]bool
	// Sockets is the folder where the owners of sessions listen. Optional.
	Sockets string
	// Deadline is by when a piece must be written, from now; if nil, in five seconds. Now is the
	// clock; if nil, time.Now.
	Deadline func() time.Time
	Now      func() time.Time
	// Wait sleeps unless ctx ends first, or the channel is closed; if nil, a timer.
	Wait func(ctx context.Context, d time.Duration, stirred <-chan struct{}) error

	ctx     context.Context // of all turns
	stop    context.CancelCauseFunc
	ends    sync.WaitGroup // of what runs beside requests
	opening sync.Mutex     // one session is opened at a time

	remoteSessions *remoteSessions // sessions of other processes
	directory      directory
	keyed          *onceByKey // actions of pages

	mu    sync.Mutex
	rooms map[session.ID]*room
	pages map[chan struct{}]struct{} // of pages that watch; each is told when something changes
	stirs atomic.Int64               // how often it was told that something changed
}

// Start makes the server ready; its turns end with ctx.
func (s *Server) Start(ctx context.Context) {
	s.ctx, s.stop = context.WithCancelCause(ctx)
	s.rooms, s.pages = map[session.ID]*room{}, map[chan struct{}]struct{}{}
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Deadline == nil {
		s.Deadline = func() time.Time { return time.Now().Add(5 * time.Second) }
	}
	if s.Wait == nil {
		s.Wait = wait
	}
	s.remoteSessions = &remoteSessions{backend: s.Backend}
	s.remoteSessions.Sessions = live.Sessions{Ctx: s.ctx, Ends: &s.ends, Folder: s.Sockets, As: ownPage, Changed: s.stir, Ended: s.remoteSessions.freed}
	s.keyed = &onceByKey{ctx: s.ctx, ends: &s.ends, all: map[string]*outcome{}}
	s.directory = directory{s.Backend, s.remoteSessions, s.stir}
	if s.Sockets != "" {
		s.ends.Go(func() { s.remoteSessions.Watch(s.Backend.Locks()) })
	}
}

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

// Close ends all turns and closes all sessions; it returns when nothing runs any more.
func (s *Server) Close() {
	s.stop(session.ErrInterrupted)
	s.opening.Lock()
	defer s.opening.Unlock()
	s.mu.Lock()
	rooms := s.rooms
	s.rooms = map[session.ID]*room{}
	s.mu.Unlock()
	for _, r := range rooms {
		r.close()
	}
	s.ends.Wait()
}

// stir wakes who waits for a turn to begin or end.
func (s *Server) stir() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stirs.Add(1)
	for page := range s.pages {
		nudge(page)
	}
}

// nudge wakes who waits at a channel that holds one.
func nudge(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Handler is all that the server answers.
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

// sessionRow is a session in the list.
type sessionRow struct {
	ID      session.ID `json:"id"`
	Title   string     `json:"title"`
	Updated time.Time  `json:"updated"`
	State   string     `json:"state"`         // idle, running, waiting, or elsewhere: another process writes it
	Who     string     `json:"who,omitempty"` // that process
	Folder  string     `json:"folder,omitempty"`
}

// most is how many sessions are listed, the newest.
const most = 200

func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	heads, err := s.directory.sessions(r.Context())
	if err != nil {
		refuse(w, err)
		return
	}
	out := []sessionRow{}
	for _, h := range heads[:min(len(heads), most)] {
		l := sessionRow{ID: h.ID, Title: s.mask().Text(h.Title()), Updated: h.Updated, State: "idle", Folder: s.mask().Text(h.Info().Cwd)}
		if room := s.open(h.ID); room != nil {
			l.State = stateWord(room.Status().State)
		} else if l.Who = s.Backend.Holder(h.ID); l.Who != "" {
			l.State = "elsewhere"
		}
		out = append(out, l)
	}
	writeJSON(w, http.StatusOK, out)
}

// begin begins a session. It is stored with its first prompt.
func (s *Server) begin(w http.ResponseWriter, r *http.Request) {
	room, err := s.enter(r.Context(), "", "")
	if err != nil {
		refuse(w, err)
		return
	}
	writeJSON(w, http.StatusCreated, map[string]session.ID{"id": room.id})
}

// abort ends the running turn of a session.
func (s *Server) abort(w http.ResponseWriter, r *http.Request) {
	room := s.open(session.ID(r.PathValue("id")))
	if room == nil || !room.Stop() {
		refuse(w, errNoTurn)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

var errNoTurn = &refusal{http.StatusConflict, "no turn of this session is running here"}

func (s *Server) mask() *redact.Masker {
	if s.Mask == nil {
		return &redact.Masker{}
	}
	return s.Mask()
}

func writeJSON(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v) // who is gone does not read it
}

// refusal is why a request is not done, as its sender reads it.
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
	_, _ = w.Write([]byte(why.says + "\n")) // who is gone does not read it
}
