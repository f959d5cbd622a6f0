package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	mcpCmd "adze/internal/cmd/mcp"
	"adze/internal/config"
	"adze/internal/files/ownfile"
	"adze/internal/llm/models"
	"adze/internal/mcp"
	"adze/internal/policy/policyconfig"
	"adze/internal/project/agents"
	"adze/internal/project/commands"
	"adze/internal/project/discovery"
	"adze/internal/project/hooks"
	"adze/internal/project/skills"
	"adze/internal/project/trust"
	"adze/internal/project/worktree"
	"adze/internal/sandbox/proc"
	"adze/session"
	"adze/toolset"
	"adze/tui"
	"adze/tui/api"
)

// project is the workspace with what its person allowed in it.
func (s settings) project() trust.Project {
	_, main := worktree.Of(s.at.State, s.root.Dir())
	env := sync.OnceValue(func() []string { // few projects define what it is asked about
		return proc.Environ(os.Environ(), proc.EnvPolicy{Allow: s.config.Environment})
	})
	book := trust.Of(s.at.State)
	book.May, book.Doubt = func() error { return s.byUser("a consent") }, s.own.trusted
	return trust.Project{
		Dir: s.root.Dir(), Main: main, Book: book, Used: []string{trust.Tool, trust.Hook, trust.Command, trust.Server, trust.SDK}, SDKs: s.runs,
		Local: func(program string) string { return proc.Within(program, s.root.Dir(), env()) },
		Own:   s.takers, Home: s.home,
	}
}

// projectTools are those of the project's tools that the user allowed; each call looks whether
// they still are.
func (s settings) projectTools() (out []toolset.ProjectTool) {
	p := s.project()
	items, _ := s.survey() // what is wrong with the book is told by tellProject
	for _, i := range items {
		if i.Kind == trust.Tool && i.State == trust.Allowed {
			out = append(out, toolset.ProjectTool{Path: i.Path, Raw: i.Raw, Holds: func() error { return p.Holds(i) }})
		}
	}
	return out
}

// settle takes what is known of a run, and finds what can be named after a slash there.
func (w *wired) settle(ctx context.Context, o *options, s settings, home string, observe func(session.Event)) {
	w.settings = s
	f := &discovery.Finder{}
	if !o.bare {
		f = discovery.For(w.settings.at.Config, home, w.settings.root.Dir())
	}
	w.closers = append(w.closers, f.Close)
	w.kinds = agents.Find(ctx, f)
	w.menu = commands.New(ctx, f, tui.CommandNames())
	if w.shelf = skills.New(w.menu.Skills, f.Home); w.shelf != nil {
		w.shelf.Mask = s.masked
		w.shelf.Above = func(id, sha256 string) bool {
			return id == string(w.session.ID()) && skills.Holds(w.session.History(), sha256)
		}
	}
	w.notices = append(w.notices, w.menu.Broken()...)
	w.menu.Note = func(n session.Note) { w.session.Note(n) }
	w.menu.Project, w.menu.Mask = w.settings.project(), w.settings.masked
	w.menu.Notice = func(text string) { observe(session.Notice{Text: text}) }
}

// hook makes what runs the hooks of a run: those of the machine's owner, the user's, and those of
// the project that they allowed. An adze that a hook starts has none.
func (a *app) hook(o *options, w *wired, c *session.Config) error {
	s := w.settings
	if o.demo || a.Getenv(hooks.Nested) != "" {
		return nil
	}
	var programs []hooks.Program
	for _, from := range []struct {
		dir, layer string
		owner      int
	}{{filepath.Dir(s.at.Managed), "managed", 0}, {s.at.Config, personLayer, os.Getuid()}} {
		path := filepath.Join(from.dir, hooks.File)
		own, err := hooks.Load(path, from.owner, from.layer)
		var foreign *ownfile.Error
		if errors.As(err, &foreign) {
			return misuse(foreign.Hint, "%s: %s", path, foreign.Of(path))
		}
		if err != nil {
			return misuse("mend it, or remove it; adze help hooks says what it holds", "%s: %v", path, err)
		}
		if from.layer == personLayer {
			for n, p := range own {
				own[n].May = w.mayTake(s, trust.Hook, p.Name, p.Argv, p.Shell)
			}
		}
		programs = append(programs, own...)
	}
	e := hooks.New(s.root.Dir())
	if programs = append(programs, s.projectHooks()...); len(programs) > 0 {
		e.Env = proc.Environ(os.Environ(), proc.EnvPolicy{Allow: s.config.Environment, Secrets: models.KeyNames(s.config)})
	}
	e.Supervisor = proc.Supervisor{Ledger: w.ledger, Cage: w.cage, Spare: w.spare, Watch: w.writers.Watch(s.root.Dir()), Live: w.live}
	if s.hide != nil {
		e.Mask = func(text string) string { return s.hide().Text(text) }
	}
	e.Mode = func() string { return string(w.gate.Mode()) }
	e.Use(programs...)
	w.closers = append(w.closers, e.Close)
	c.Hooks = e.Fire
	return nil
}

// projectHooks are those of the project's hooks that the user allowed, in the order of their
// files; each start looks whether they still are.
func (s settings) projectHooks() (out []hooks.Program) {
	p := s.project()
	items, _ := s.survey() // what is wrong with the book is told by tellProject
	items = slices.Clone(items)
	slices.SortStableFunc(items, func(a, b trust.Item) int { return a.Order - b.Order })
	for _, i := range items {
		if i.Kind == trust.Hook && i.State == trust.Allowed && i.Hook != nil {
			out = append(out, hooks.Program{Hook: *i.Hook, Name: strings.TrimPrefix(i.ID, "hook:"), Holds: func() error { return p.Holds(i) }})
		}
	}
	return out
}

// named lists for the interface what can be named after a slash.
func (w *wired) named() []api.Named {
	out := w.servers.prompts()
	for _, i := range w.menu.Listed() {
		out = append(out, api.Named{Name: i.Label(), Args: i.Front.Text("argument-hint"), Help: i.Front.Text("description"), From: i.Path})
	}
	return out
}

// maxTold bounds how many items one line names.
const maxTold = 8

// tellProject tells the user in one line what of the project waits for their consent.
func (w *wired) tellProject(here bool) {
	items, err := w.settings.survey()
	if err != nil {
		w.notices = append(w.notices, err.Error())
	}
	for _, i := range items {
		if i.State != trust.Allowed {
			w.head.Ignored++
		}
	}
	open := trust.Open(items)
	mine := slices.DeleteFunc(slices.Clone(open), func(i trust.Item) bool { return !i.Mine })
	open = slices.DeleteFunc(open, func(i trust.Item) bool { return i.Mine })
	w.tellOpen("of this project, ignored until you allow it", open, here)
	w.tellOpen("of your own configuration, held back or in the sandbox because it takes code from this folder, until you allow it", mine, here)
}

// tellOpen tells which items wait for the user's consent.
func (w *wired) tellOpen(what string, open []trust.Item, here bool) {
	if len(open) == 0 {
		return
	}
	var names []string
	for n, i := range open {
		w.head.Waiting = append(w.head.Waiting, i.ID)
		switch {
		case n == maxTold:
			names = append(names, fmt.Sprintf("and %d more", len(open)-n))
		case n < maxTold && i.State == trust.Changed:
			names = append(names, i.ID+" (changed)")
		case n < maxTold:
			names = append(names, i.ID)
		}
	}
	how := "adze trust show NAME, adze trust allow NAME"
	if here {
		how = "/trust shows and allows them"
	}
	w.notices = append(w.notices, fmt.Sprintf("%s: %s (%s)", what, strings.Join(names, ", "), how))
}

// carried lists what the project would run, for the interface.
func (w *wired) carried(context.Context) ([]api.Carried, error) {
	items, err := w.settings.project().Survey()
	var out []api.Carried
	for _, i := range items {
		c := api.Carried{ID: i.ID, State: string(i.State), Command: i.Command(), Lines: i.Lines(), Hash: i.Hash, Allowed: i.State == trust.Allowed}
		switch i.State {
		case trust.Broken:
			c.Off = i.Problem
		case trust.Unused:
			c.Off = "this version of adze does not run it: " + cmp.Or(i.Idle, "it runs nothing of this kind")
		}
		out = append(out, c)
	}
	return out, err
}

// consent allows an item as it was shown, or takes that back.
func (w *wired) consent(ctx context.Context, shown api.Carried, allow bool) error {
	p := w.settings.project()
	if w.code != nil {
		defer w.code.Reconsider()
	}
	if !allow {
		_, err := p.Revoke(ctx, shown.ID)
		return err
	}
	items, _ := p.Survey() // a damaged book is replaced
	for _, i := range items {
		if i.ID == shown.ID && i.Hash == shown.Hash && shown.Hash != "" {
			return p.Book.Allow(ctx, p.Dir, i)
		}
	}
	return fmt.Errorf("%s is not what was shown any more; look at it again", shown.ID)
}

// MCP hands over the servers of this folder, for who looks after them.
func (a *app) MCP(ctx context.Context, use func(mcpCmd.Desk) error) error {
	return a.TryMCP(ctx, "", config.MCPServer{}, use)
}

// TryMCP does so with one more server, which stands in no file yet.
func (a *app) TryMCP(ctx context.Context, name string, one config.MCPServer, use func(mcpCmd.Desk) error) error {
	w, o := &wired{}, &options{}
	defer w.close()
	s, err := a.settle(o, w)
	if err != nil {
		return err
	}
	if name != "" {
		all := map[string]config.MCPServer{}
		maps.Copy(all, s.config.MCP.Servers)
		all[name], s.config.MCP.Servers = one, all
		s.survey = sync.OnceValues(s.project().Survey)
	}
	w.settle(ctx, o, s, a.Getenv("HOME"), func(session.Event) {})
	s.deps(w)
	if w.gate, err = policyconfig.New(s.config, o.Flags, w.ground(s.at.Spill), nil); err != nil {
		return err
	}
	pool := mcp.New(mcp.Options{})
	if m := s.mcpServers(o, w); m != nil {
		pool = m.Pool
	}
	all, err := s.listed(pool)
	if err != nil {
		return err
	}
	return use(mcpCmd.Desk{Pool: pool, All: all, Logins: s.logins})
}
