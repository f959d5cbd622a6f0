package conversation

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"adze/internal/files/workspace"
	"adze/internal/llm/models"
	"adze/internal/project/agents"
	"adze/internal/project/commands"
	"adze/internal/project/discovery"
	"adze/internal/project/skills"
	"adze/internal/run/guard"
	"adze/internal/run/servers"
	"adze/internal/run/settings"
	"adze/internal/sessiondb/lookup"
	"adze/internal/web"
	"adze/session"
	"adze/toolset"
	"adze/tui"
)

// scope is what all stages of a run share: its user, its observer, and what must be closed.
type scope struct {
	*clientAccess
	observe func(session.Event)             // shows an event to the user and to clients
	later   atomic.Pointer[session.Session] // the session; stages before it use it only in its turns
	own     ownCommand
	notices []string
	closers []func()
}

func newScope(observe func(session.Event), who UserCallbacks) *scope {
	access := &clientAccess{person: who, tell: observe}
	return &scope{clientAccess: access, observe: func(e session.Event) { observe(e); access.observe(e) }}
}

// notice shows the user a message.
func (x *scope) notice(text string) { x.observe(session.Notice{Text: text}) }

// end ends everything the run has started, in reverse order. Later calls do nothing.
func (x *scope) end() {
	for _, end := range slices.Backward(x.closers) {
		end()
	}
	x.closers = nil
}

// project holds the slash commands, skills and agents of a run's folder and home.
type project struct {
	kinds agents.Kinds   // available agents
	Menu  *commands.Menu // slash commands
	shelf *skills.Catalog
}

func newProject(ctx context.Context, x *scope, s *settings.Settings) *project {
	f := &discovery.Finder{}
	if !s.Request.Bare {
		f = discovery.For(s.Places.Config, s.Home, s.Root.Dir())
	}
	x.closers = append(x.closers, f.Close)
	p := &project{kinds: agents.Find(ctx, f), Menu: commands.New(ctx, f, tui.CommandNames())}
	if p.shelf = skills.New(p.Menu.Skills, f.Home); p.shelf != nil {
		p.shelf.Mask = s.Masked
		p.shelf.InContext = func(id, sha256 string) bool {
			return id == string(x.later.Load().ID()) && skills.Holds(x.later.Load().History(), sha256)
		}
	}
	x.notices = append(x.notices, p.Menu.Broken()...)
	p.Menu.Project, p.Menu.Mask, p.Menu.Notice = s.Project(), s.Masked, x.notice
	p.Menu.Note = func(n session.Note) { x.later.Load().Note(n) }
	return p
}

// base is a run without tools: its settings, project and model, and its guard.
type base struct {
	*scope
	*project
	*guard.Guard
	Settings *settings.Settings
	Staging  *Staging // staged turns
	id       session.ID
	model    models.Model
	leader   agents.Kind // leading agent; adze's own if its name is empty
}

// newBase creates the guard for a session. Without stored there is no undo.
func newBase(x *scope, p *project, c *choice, id session.ID, stored func() session.Store) (b *base, err error) {
	s := c.settings
	x.notices = append(x.notices, c.notices...)
	b = &base{scope: x, project: p, Settings: s, id: id, model: c.model, leader: c.leader}
	b.Guard, err = guard.New(s, guard.Options{Spill: filepath.Join(s.Places.Spill, string(id)), ReadableFolders: p.shelf.ReadableFolders(s.Root.Dir()),
		Ask: b.asker(), Inquire: x.inquire(), IsOwnCommand: x.own.runs, Observe: x.observe, Stored: stored})
	if err != nil {
		return nil, err
	}
	x.closers, x.notices = append(x.closers, b.Guard.Close), append(x.notices, b.Guard.Notices...)
	b.Staging = &Staging{b.StageOf(id), x.later.Load, x.observe}
	return b, nil
}

// newDeps creates the dependencies of the built-in tools. Commands get the user's environment
// without secrets.
func (b *base) newDeps() toolset.Deps {
	s := b.Settings
	d := toolset.Deps{
		Web: web.New(b.Reach()), Root: s.Root, KnownFiles: &workspace.KnownFiles{}, Shell: b.NewShell(), Todos: &toolset.Todos{}, Stage: b.Staging.stage, Code: newLanguageServers(s, b.Guard),
		Withhold: func(root string) func(dir, name string) bool { return b.Gate.FileFilter(root) },
		Declared: &toolset.Declared{Dir: filepath.Join(s.Places.Config, "tools"), Project: s.ProjectTools()},
	}
	b.closers = append(b.closers, d.Shell.Close)
	if d.Code != nil {
		b.closers = append(b.closers, d.Code.Close)
	}
	var notices []string
	d.Search, notices = searchEngine(s)
	b.notices = append(b.notices, notices...)
	return d
}

// newServers creates the run's MCP servers.
func (b *base) newServers() *servers.Servers {
	m, notices := servers.New(b.Settings, servers.Host{Guard: b.Guard, Inquire: b.inquire(), Notify: b.notice})
	b.closers, b.notices = append(b.closers, m.Close), append(b.notices, notices...)
	return m
}

// opened is an opened store, and the session picked in it.
type opened struct {
	store   session.Store
	id      session.ID
	resumed bool
	err     error
}

// storeOpening is a store being opened.
type storeOpening struct {
	fresh session.ID // id of a new session; "" to resume one
	wait  func() opened
}

// id returns the session's id. It waits for the store only to resume a session.
func (l storeOpening) id() (session.ID, error) {
	if l.fresh != "" {
		return l.fresh, nil
	}
	r := l.wait()
	return r.id, r.err
}

// openLogs opens the store and picks the session in the background: like creating the tools, this
// takes about a millisecond.
func openLogs(ctx context.Context, x *scope, s *settings.Settings) storeOpening {
	o, fresh := &s.Request, session.ID("")
	if o.Resume == "" && !o.ResumeLast {
		fresh = session.ID(cmp.Or(o.NewID, string(session.NewID(time.Now()))))
	}
	came := make(chan opened, 1)
	go func() {
		var r opened
		if r.store, r.err = s.OpenStore(ctx, o.Saves()); r.err == nil && fresh != "" && o.NewID == "" {
			r.id = fresh
		} else if r.err == nil {
			r.id, r.resumed, r.err = lookup.Pick(ctx, lookup.Selection{ID: o.Resume, Last: o.ResumeLast, Fork: o.Fork, NewID: o.NewID}, r.store, s.Root.Dir())
		}
		if r.err == nil {
			r.err = lookup.Lock(ctx, r.store, r.id)
		}
		came <- r
	}()
	logs := storeOpening{fresh, sync.OnceValue(func() opened { return <-came })}
	x.closers = append(x.closers, func() {
		if r := logs.wait(); r.store != nil {
			r.store.Close()
		}
	})
	return logs
}
