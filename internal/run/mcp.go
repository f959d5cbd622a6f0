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
	"sync/atomic"
	"time"

	"adze/internal/llm/models"
	"adze/internal/mcp"
	"adze/internal/mcp/sampling"
	"adze/internal/mcp/share"
	"adze/internal/policy"
	"adze/internal/project/trust"
	"adze/internal/sandbox/proc"
	"adze/internal/text/plural"
	"adze/session"
	"adze/tool"
	"adze/toolset"
)

// liveSet are the tools of a run, of which others may join while panes look.
type liveSet struct{ atomic.Pointer[tool.Set] }

// Get finds a definition.
func (l *liveSet) Get(name string) (tool.Definition, bool) { return l.Load().Get(name) }

// Names lists them in order.
func (l *liveSet) Names() []string { return l.Load().Names() }

// Blocks draws what a call shows.
func (l *liveSet) Blocks(name string, metadata []byte) []tool.Block {
	return l.Load().Blocks(name, metadata)
}

// mcpServers are the MCP servers of a run: the pool, and when their tools join. A nil one has none.
type mcpServers struct {
	*mcp.Pool
	soon    bool         // tools join as soon as they are there: nobody says a next prompt
	joined  atomic.Int64 // the generation of the tools that the run has
	rebuild func(context.Context) (*tool.Set, error)
	shelf   *share.Shelf   // what they share beside tools
	sampler *sampling.Desk // where they ask the model
	lent    *lentServers   // by an editor
	tell    func(string)

	mu       sync.Mutex
	told     map[string]bool
	problems []string // of tools that were left out
}

// enlist registers the tools that are known.
func (m *mcpServers) enlist(registry *tool.Registry) {
	if m == nil {
		return
	}
	problems := m.Enlist(registry)
	if m.shelf.Any() {
		if err := registry.Register(m.shelf.Tool()); err != nil {
			problems = append(problems, err.Error())
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.problems = problems
}

// mcpServers makes the pool; nothing of it is started, dialled or read but the catalogues that are
// kept. If nil, no server is configured.
func (s settings) mcpServers(o *options, w *wired) *mcpServers {
	if o.demo {
		return nil
	}
	own, holds := s.ownServers(), s.takingServers()
	if !o.bare {
		own = s.projectServers(own, holds)
	}
	own, lent, notices := s.lend(own, o.lent)
	w.notices = append(w.notices, notices...)
	if len(own) == 0 {
		return nil
	}
	dir := s.root.Dir()
	m := &mcpServers{lent: lent, soon: o.print || o.byHand != nil, told: map[string]bool{}, tell: func(text string) { w.menu.Notice(text) }}
	options := mcp.Options{
		Version: Version, Dir: dir, Servers: own, State: filepath.Join(s.at.State, "mcp"), Idle: time.Duration(s.config.MCP.Idle),
		Supervisor: proc.Supervisor{Ledger: w.ledger, Cage: w.cage, Watch: w.writers.Watch(dir), Live: w.live}, Env: func() []string { return s.cleanEnv(dir) },
		Holds: func(one mcp.Server) error {
			if err := lent.holds(one.Name); err != nil {
				return err
			}
			return w.mayServe(s, one, holds)
		},
		Reach:   w.reachFor,
		Changed: func(name string) { m.failed(name) },
	}
	if s.hide != nil {
		options.Mask = func(text string) string { return s.hide().Text(text) }
	}
	if w.person.inquire != nil {
		options.Consent = w.agreeToChange
	}
	m.reach(s, w, &options)
	m.Pool = mcp.New(options)
	m.Hide(lent.names...)
	m.shelf = m.shelfOf(s, options.Mask)
	if w.menu != nil { // who only lists tools has none
		w.menu.Others = m.other
	}
	w.closers = append(w.closers, m.Close)
	return m
}

// set is a registry's, with the tools that are known.
func (m *mcpServers) set(ctx context.Context, registry *tool.Registry, dir string) (*tool.Set, error) {
	m.enlist(registry)
	return registry.Tools(ctx, tool.Init{Workspace: dir, Directory: dir, Cwd: dir})
}

// variables are what the texts of servers may name.
func (s settings) variables() mcp.Variables {
	return mcp.Variables{Getenv: os.Getenv, Keys: models.KeyNames(s.config), Dir: s.root.Dir(), Home: s.home}
}

// ownServers are those of the user's configuration, by name.
func (s settings) ownServers() (out []mcp.Server) {
	for _, name := range slices.Sorted(maps.Keys(s.config.MCP.Servers)) {
		c := s.config.MCP.Servers[name]
		if c.Off {
			continue
		}
		one := mcp.Server{Name: name, Env: c.Env, Dir: c.Cwd, URL: c.URL, SSE: mcp.Old(c.Type, c.URL), Headers: c.Headers, OAuth: c.OAuth, Tools: c.Tools, Start: time.Duration(c.Start), Call: time.Duration(c.Call), Outside: c.Outside, Sampling: c.Sampling, Unpinned: c.Pin == "off", Roots: c.Roots}
		if c.Command != "" {
			one.Command = append([]string{c.Command}, c.Args...)
		}
		out = append(out, one.Expand(s.variables()))
	}
	return out
}

// projectServers adds those of the project that the user allowed, and notes what they allowed; a
// name that is taken stays whose it is. They start in the workspace, as the user was shown.
func (s settings) projectServers(own []mcp.Server, holds map[string]trust.Item) []mcp.Server {
	items, _ := s.survey() // what is wrong with the book is told by tellProject
	for _, i := range items {
		if i.Kind != trust.Server || i.State != trust.Allowed || i.Mine {
			continue
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(i.ID, trust.Server+":"), "@")
		one, off, err := mcp.Read(name, i.Raw)
		taken := slices.ContainsFunc(own, func(s mcp.Server) bool { return s.Name == name })
		if _, mine := s.config.MCP.Servers[name]; off || taken || mine || !mcp.GoodServer(name) {
			continue
		}
		one.Err, one.From, one.Dir = err, i.Path, cmp.Or(one.Dir, s.root.Dir())
		own, holds[name] = append(own, one.Expand(s.variables())), i
	}
	return own
}

// mayServe says, right before a server starts or is dialled, whether it may: what the user
// allowed of the project still is so, and no deny is about it.
func (w *wired) mayServe(s settings, one mcp.Server, holds map[string]trust.Item) error {
	if i, ok := holds[one.Name]; ok {
		if err := s.project().Holds(i); err != nil {
			return err
		}
	}
	if w.gate == nil || w.gate.Mode() == policy.Plan { // a plan changes nothing: each call is judged by itself
		return nil
	}
	need := tool.Need{Permission: tool.Network, Target: one.URL}
	if len(one.Command) > 0 {
		need = tool.Need{Permission: tool.Execute, Target: trust.Item{Argv: one.Command}.Command()}
	}
	if why := w.gate.Forbids(need); why != "" {
		return errors.New(why)
	}
	return nil
}

// reachFor has a server in the sandbox reach a host that the user allows.
func (w *wired) reachFor(ctx context.Context, host string, port uint16) error {
	d, err := w.gate.Decide(ctx, tool.Question{
		Tool: tool.Definition{Name: "mcp"}, Needs: []tool.Need{{Permission: tool.Network, Target: fmt.Sprintf("https://%s:%d", host, port)}}, Validated: true,
	})
	if err == nil && !d.Allow {
		err = fmt.Errorf("%w: %s", tool.ErrDenied, d.Reason)
	}
	return err
}

// The answers to a change of a server's tools.
const (
	takeChange   = "use them as they are now"
	refuseChange = "do not use them"
)

// agreeToChange shows the user what a server says otherwise than they agreed to.
func (w *wired) agreeToChange(ctx context.Context, c mcp.Change) error {
	answer, err := w.person.inquire(ctx, toolset.Inquiry{Choices: []string{refuseChange, takeChange}, Question: fmt.Sprintf(
		"The MCP server %s describes its tools otherwise than you agreed to. What differs:\n\n%s\n\nUse them?", c.Server, strings.Join(c.Lines, "\n"))})
	if err == nil && answer != takeChange {
		err = fmt.Errorf("%w: the person does not agree to what the server %s says of its tools now", tool.ErrDenied, c.Server)
	}
	return err
}

// failed tells once what became of a server that did not start.
func (m *mcpServers) failed(name string) {
	for _, s := range m.States() {
		if s.Name != name || s.State != mcp.Failed {
			continue
		}
		m.mu.Lock()
		told := m.told[name+s.Why]
		m.told[name+s.Why] = true
		m.mu.Unlock()
		if !told {
			m.tell(fmt.Sprintf("MCP server %s does not work: %s", name, s.Why))
		}
	}
}

// wakeUnseen starts the servers whose tools nobody knows yet, beside the first answer.
func (m *mcpServers) wakeUnseen() {
	if m == nil {
		return
	}
	for _, name := range m.Unseen() {
		m.Wake(name)
	}
}

// meet starts the servers that were never started, before the first prompt of a run that nobody
// watches, and waits until each is ready or has failed: a program may have to be installed first.
// It tells how far that is.
func (m *mcpServers) meet(ctx context.Context, tell func(string)) {
	if m == nil {
		return
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	for _, name := range m.Untried() {
		conf, _ := m.Server(name)
		tell(fmt.Sprintf("MCP server %s is started for the first time; its tools are known in at most %s", name, cmp.Or(conf.Start, mcp.DefaultStart)))
		began := time.Now()
		all.Go(func() {
			if err := m.Await(ctx, name); err != nil {
				return // that it failed is told by itself
			}
			mu.Lock()
			defer mu.Unlock()
			tools := 0
			if c := m.Catalogue(name); c != nil {
				tools = len(c.Tools)
			}
			tell(fmt.Sprintf("MCP server %s is ready after %s: %s", name, time.Since(began).Round(100*time.Millisecond), plural.Of(tools, "tool")))
		})
	}
	all.Wait()
}

// join is the tools of the run where others joined: at a prompt, and within a turn after a search
// or a call of a server's tool, where the model waits for them, or where nobody says a next prompt.
// If nil, there are no others.
func (m *mcpServers) join(ctx context.Context, o session.Occasion) *tool.Set {
	if o.Outcomes != nil && !m.soon && !slices.ContainsFunc(o.Outcomes, func(out tool.Outcome) bool {
		return out.Tool == "tool_search" || strings.Contains(string(out.Metadata), `"mcp_server"`)
	}) {
		return nil
	}
	return m.fresh(ctx)
}

// fresh is a new set, where the tools of servers are others than those that the run has.
func (m *mcpServers) fresh(ctx context.Context) *tool.Set {
	now := m.Generation()
	if now == m.joined.Load() {
		return nil
	}
	set, err := m.rebuild(ctx)
	if err != nil {
		m.tell(fmt.Sprintf("the tools of MCP servers cannot be used: %v", err))
		return nil
	}
	m.joined.Store(now)
	return set
}

// await starts servers and waits until their tools are known, as long as a call does.
func (m *mcpServers) await(ctx context.Context, names []string) {
	ctx, cancel := context.WithTimeout(ctx, mcp.DefaultWait)
	defer cancel()
	var all sync.WaitGroup
	for _, name := range names {
		all.Go(func() { _ = m.Await(ctx, name) }) // one that fails is told by itself
	}
	all.Wait()
}

// search waits for servers that nobody knows yet, as long as a call does, and returns all tools
// then, also those that came known a moment ago and did not join so far; if nil, it is those that
// the run has.
func (m *mcpServers) search(ctx context.Context) *tool.Set {
	unseen := m.Unseen()
	if len(unseen) == 0 && m.Generation() == m.joined.Load() {
		return nil
	}
	m.await(ctx, unseen)
	set, err := m.rebuild(ctx)
	if err != nil {
		return nil
	}
	return set
}
