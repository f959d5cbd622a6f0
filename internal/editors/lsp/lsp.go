// Package lsp queries language servers: problems after a change, definitions and uses of a name,
// and renames.
//
// The one rule: a server is a hint that may be late or missing. Nothing waits longer for it than
// the caller set, its output never becomes an edit unseen, and missing findings are reported as
// unknown, not as clean.
//
// A server runs no project code (compiler, interpreter, build scripts) that the user did not allow:
// sdk.go finds such code, launch.go starts a server without it.
//
// Start reading at Servers.Changed, then server.go (one program), conn.go (framing), diagnose.go
// (new problems after a change) and later.go (late findings). language.go is the table of servers,
// protocol.go has the message types, ask.go the queries, edits.go renames.
//
// Specification: Language Server Protocol 3.17 (microsoft.github.io/language-server-protocol).
// Known limits: a server learns about changes on disk only for files it was asked about before.
// Each change sends the whole text. Diagnostics without a version that cannot be requested count
// after a short silence, longer if there are none. Problems that a change causes in other files are
// known only for files queried before, except with gopls, which checks all. Project code is
// searched in the top folder only, and tsserver plugins in the configurations there and those they
// extend. A tsc that is a version manager's script is not recognized.
package lsp

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/sandbox/child"
	"adze/internal/sandbox/proc"
)

// Default limits of a wait, unless Options set others. A warm server answers within 150 ms; a cold
// one reads the project first, which takes seconds and is not waited for.
const (
	DefaultWarm = 1500 * time.Millisecond
	DefaultCold = 300 * time.Millisecond
	// askTime limits a query, renameTime a rename, for which a server may read the whole project.
	askTime    = 20 * time.Second
	renameTime = 60 * time.Second
)

// Options configures Servers.
type Options struct {
	Root       string     // the workspace, absolute, without symbolic links
	Languages  []Language // installed ones; see ForFolder
	Supervisor proc.Supervisor
	Env        []string
	Warm, Cold time.Duration // 0 for the defaults
	// Refuses returns an error if no server may start now. It may be nil.
	Refuses func() error
	// RequireSandbox lets servers run only in the full sandbox.
	RequireSandbox bool
	// Allows reports whether the user allowed the project code in its current state. If nil, none
	// is allowed.
	Allows func(SDK) bool
	// Mask hides secrets in servers' output. It may be nil.
	Mask func(string) string
}

// Servers holds a workspace's language servers. It is safe for concurrent use.
type Servers struct {
	opts Options
	ctx  context.Context // ends all programs
	end  context.CancelFunc

	mu      sync.Mutex
	running map[key]*server
	closed  bool
	all     sync.WaitGroup

	waiting sync.Mutex
	pending []*check // checks that nobody waits for
}

// key identifies a server: each language has one per root.
type key struct{ name, root string }

// New returns Servers without starting a program.
func New(o Options) *Servers {
	if o.Warm == 0 {
		o.Warm = DefaultWarm
	}
	if o.Cold == 0 {
		o.Cold = DefaultCold
	}
	ctx, end := context.WithCancel(context.Background())
	return &Servers{opts: o, ctx: ctx, end: end, running: map[key]*server{}}
}

// Close stops all servers and waits for their end.
func (s *Servers) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.end()
	s.all.Wait()
}

// State describes a server for the user.
type State struct {
	Name, Root string
	State      string // starting, ready, failed, held
	Reason     string // of a failure
	PID        int
}

// States returns the started servers by name.
func (s *Servers) States() (out []State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, v := range s.running {
		st := v.show()
		st.Name, st.Root = k.name, k.root
		out = append(out, st)
	}
	slices.SortFunc(out, func(a, b State) int { return strings.Compare(a.Name+a.Root, b.Name+b.Root) })
	return out
}

// Speaks reports whether a file has a server.
func (s *Servers) Speaks(path string) bool { return len(s.languages(path)) > 0 }

// languages returns a file's languages, the preferred one first.
func (s *Servers) languages(path string) (out []Language) {
	for _, l := range s.opts.Languages {
		if l.Files[ending(path)] != "" {
			out = append(out, l)
		}
	}
	return out
}

// ending returns the lower-case extension, as in Language.Files.
func ending(path string) string { return strings.ToLower(filepath.Ext(path)) }

// server returns a file's first server that the user allows, and starts it if needed. It returns
// nil if there is none.
func (s *Servers) server(path string) (first *server) {
	for _, l := range s.languages(path) {
		v := s.of(key{l.Name, l.root(s.opts.Root, path)}, l)
		if v == nil {
			return nil
		}
		if v.wake() {
			return v
		}
		if first == nil {
			first = v
		}
	}
	return first
}

// of returns the server for a language and root, or nil after Close.
func (s *Servers) of(k key, l Language) *server {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	v := s.running[k]
	if v == nil {
		v = &server{pool: s, lang: l, root: k.root, state: child.NewLife(), turn: make(chan struct{}, 1)}
		s.running[k] = v
	}
	return v
}

// Reconsider applies changed consents: a held server may start, and a server whose allowed project
// code changed is stopped until the next query.
func (s *Servers) Reconsider() {
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.running))
	s.mu.Unlock()
	for _, v := range all {
		v.reconsider()
	}
}

// root returns the topmost folder above a file, within the workspace, with one of the language's
// markers, or else the workspace.
func (l Language) root(workspace, path string) string {
	found := workspace
	for dir := filepath.Dir(path); strings.HasPrefix(dir+"/", workspace+"/"); dir = filepath.Dir(dir) {
		for _, name := range l.Markers {
			if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
				found = dir
				break
			}
		}
		if dir == workspace {
			break
		}
	}
	return found
}
