// Package lsp asks language servers: what is wrong in a file after a change, where a name is
// defined and used, and how it is renamed everywhere.
//
// The one rule: a server is a hint that may come late, or never. Nothing waits for it longer than
// it was told to, its words are never taken for an edit, and what it did not say is told as
// unknown, not as clean.
//
// A server runs no code of the project (its compiler, interpreter, build scripts) but what the user
// allowed: sdk.go says what that is, launch.go how a server is started without it.
//
// Start reading at Servers.Changed, then server.go (one program and its life), conn.go (its wire),
// diagnose.go (what is new after a change) and later.go (what is told when nobody waits any more).
// language.go is the table of servers, protocol.go what of the protocol is read; ask.go has the
// questions, edits.go what a rename would do.
//
// Source of the rules: Language Server Protocol 3.17
// (microsoft.github.io/language-server-protocol). Known limits: of files that change on the disk,
// by a command say, a server is told only where it was asked about them before. Text is sent whole
// at each change. A server whose diagnostics neither name a version nor can be asked for is
// believed when it has been silent for a moment, and for longer where it has found nothing. What a
// change breaks in other files is known of those that were asked about before, but for gopls, which
// looks at all. Code of a project is looked for in its top folder, plugins of
// tsserver in the configurations there and what those extend. A tsc that is a script of a version
// manager is not recognised.
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

// Bounds of a wait, unless Options say others. A warm server answers within 150 ms of a change; a
// cold one reads the project first, which takes seconds and is not waited for.
const (
	DefaultWarm = 1500 * time.Millisecond
	DefaultCold = 300 * time.Millisecond
	// askTime bounds a question of its own, and renameTime a rename, for which a server may read
	// the whole project.
	askTime    = 20 * time.Second
	renameTime = 60 * time.Second
)

// Options say which servers there are and how they run.
type Options struct {
	Root       string     // the workspace, absolute and free of links
	Languages  []Language // whose programs are there; see Of
	Supervisor proc.Supervisor
	Env        []string
	Warm, Cold time.Duration // if 0, the defaults
	// Refuses says, right before a server starts, why none may run here; if nil, they may.
	Refuses func() error
	// Inside lets servers run within full walls only.
	Inside bool
	// Allows reports whether the user allowed code of the project as it is now; if nil, none is.
	Allows func(SDK) bool
	// Mask hides secrets in what servers say; if nil, nothing is hidden.
	Mask func(string) string
}

// Servers are the language servers of one workspace. They are for any goroutine.
type Servers struct {
	opts Options
	ctx  context.Context // of their programs
	end  context.CancelFunc

	mu      sync.Mutex
	running map[key]*server
	closed  bool
	all     sync.WaitGroup

	waiting sync.Mutex
	pending []*check // that nobody waits for any more, and whose findings follow
}

// key tells servers apart: one for each root of a language.
type key struct{ name, root string }

// New starts nothing.
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

// Close ends all servers and waits until nothing of them is left.
func (s *Servers) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.end()
	s.all.Wait()
}

// State is a server as a user is shown it.
type State struct {
	Name, Root string
	State      string // starting, ready, failed, held
	Why        string // it failed
	PID        int
}

// States lists the servers that were started, by name.
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

// Speaks reports whether a file has a server that could be asked.
func (s *Servers) Speaks(path string) bool { return len(s.languages(path)) > 0 }

// languages are those of a file, the preferred one first.
func (s *Servers) languages(path string) (out []Language) {
	for _, l := range s.opts.Languages {
		if l.Files[ending(path)] != "" {
			out = append(out, l)
		}
	}
	return out
}

// ending is a file's, as a Language has it.
func ending(path string) string { return strings.ToLower(filepath.Ext(path)) }

// server is the one for a file, started when it is not: the first that the user lets run. If nil,
// there is none.
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

// of is the server of a language and a root; if nil, no more are made.
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

// Reconsider looks anew at what the user allows: a server that is held may start, and one that runs
// what is not allowed any more, or does not run what is now, ends and is started with the next
// question.
func (s *Servers) Reconsider() {
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.running))
	s.mu.Unlock()
	for _, v := range all {
		v.reconsider()
	}
}

// root is the topmost folder above a file, within the workspace, that has one of the language's
// markers; without any it is the workspace.
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
