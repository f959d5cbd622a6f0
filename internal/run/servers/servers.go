// Package servers manages a run's MCP servers: their configuration, when their tools are added, and
// their questions to the user and the model.
//
// The one rule: nothing is started before a turn may need it.
//
// Start reading at New.
package servers

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"adze/internal/mcp"
	"adze/internal/mcp/oauth"
	"adze/internal/mcp/share"
	"adze/internal/run/guard"
	"adze/internal/run/process"
	"adze/internal/run/settings"
	"adze/internal/text/plural"
	"adze/session"
	"adze/tool"
	"adze/toolset"
)

// Servers are a run's MCP servers. A nil value has none.
type Servers struct {
	*mcp.Pool
	guard   *guard.Guard
	logins  oauth.Manager
	inquire toolset.Inquire // asks the user; nil without one
	soon    bool            // add tools as soon as they are known: there is no next prompt
	joined  atomic.Int64    // generation of the run's tools
	shared  *share.Catalog  // their prompts and resources
	lent    *lentServers    // from an editor
	notify  func(string)

	mu       sync.Mutex
	told     map[string]bool
	problems []string // of omitted tools
}

// A Host provides the run to its servers.
type Host struct {
	Guard   *guard.Guard
	Inquire toolset.Inquire // nil without a user to ask
	Notify  func(string)    // the user
}

// RegisterTools registers the known tools.
func (m *Servers) RegisterTools(registry *tool.Registry) {
	if m == nil {
		return
	}
	problems := m.Pool.RegisterTools(registry)
	if m.shared.Any() {
		if err := registry.Register(m.shared.Tool()); err != nil {
			problems = append(problems, err.Error())
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.problems = problems
}

// New creates the pool without starting or dialing servers; it only reads stored catalogues. It
// returns nil if no server is configured. The notices are for the user.
func New(s *settings.Settings, h Host) (m *Servers, notices []string) {
	o := &s.Request
	if o.Demo {
		return nil, nil
	}
	own, holds := s.OwnServers(), s.TakingServers()
	if !o.Bare {
		own = s.ProjectServers(own, holds)
	}
	own, lent, notices := lend(s, own, o.EditorServers)
	if len(own) == 0 {
		return nil, notices
	}
	dir := s.Root.Dir()
	m = &Servers{guard: h.Guard, logins: s.Logins, inquire: h.Inquire, lent: lent, soon: o.Print || o.ByHand != nil, told: map[string]bool{}, notify: h.Notify}
	options := mcp.Options{
		Version: process.Version, Dir: dir, Servers: own, State: filepath.Join(s.Places.State, "mcp"),
		Supervisor: h.Guard.Supervisor(), Env: func() []string { return s.CleanEnv(dir) },
		Holds: func(one mcp.Server) error {
			if err := lent.holds(one.Name); err != nil {
				return err
			}
			return h.Guard.MayServe(one, holds)
		},
		Reach:   h.Guard.ReachFor,
		Changed: m.failed,
	}
	if s.Hide != nil {
		options.Mask = func(text string) string { return s.Hide().Text(text) }
	}
	if h.Inquire != nil {
		options.Consent = m.agreeToChange
	}
	m.reach(&options)
	m.Pool = mcp.New(options)
	m.Hide(lent.names...)
	m.shared = share.New(m.Pool, filepath.Join(s.Places.State, "mcp", "share.json"), options.Mask)
	return m, notices
}

// Close stops the servers.
func (m *Servers) Close() {
	if m != nil {
		m.Pool.Close()
	}
}

// Begin marks the present tools as the run's own, apart from later ones, and returns the problems
// of omitted tools.
func (m *Servers) Begin() []string {
	m.joined.Store(m.Generation())
	return m.problems
}

// Answers to a change of a server's tools.
const (
	takeChange   = "use them as they are now"
	refuseChange = "do not use them"
)

// agreeToChange asks the user to approve a server's changed tools.
func (m *Servers) agreeToChange(ctx context.Context, c mcp.Change) error {
	answer, err := m.inquire(ctx, toolset.Inquiry{Asks: "adze", Choices: []string{refuseChange, takeChange}, Question: fmt.Sprintf(
		"The MCP server %s describes its tools otherwise than you agreed to. What differs:\n\n%s\n\nUse them?", c.Server, strings.Join(c.Lines, "\n"))})
	if err == nil && answer != takeChange {
		err = fmt.Errorf("%w: the person does not agree to what the server %s says of its tools now", tool.ErrDenied, c.Server)
	}
	return err
}

// failed reports once that a server did not start.
func (m *Servers) failed(name string) {
	for _, s := range m.States() {
		if s.Name != name || s.State != mcp.Failed {
			continue
		}
		m.mu.Lock()
		told := m.told[name+s.Reason]
		m.told[name+s.Reason] = true
		m.mu.Unlock()
		if !told {
			m.notify(fmt.Sprintf("MCP server %s does not work: %s", name, s.Reason))
		}
	}
}

// WakeUnseen starts the servers whose tools are not known yet, during the first answer. It reports
// those that failed recently, which a search for tools starts.
func (m *Servers) WakeUnseen() {
	if m == nil {
		return
	}
	now := time.Now()
	for _, name := range m.Unseen() {
		last := m.Last(name)
		if from := last.RetryAfter(); now.Before(from) {
			m.notify(fmt.Sprintf("MCP server %s failed when it was last started, and starts by itself from %s on: %s; adze mcp test %s tries it now", name, from.Local().Format("15:04"), last.Reason, name))
			continue
		}
		m.Wake(name)
	}
}

// Meet starts the servers that never ran, before the first prompt of an unattended run, and waits
// until each is ready or has failed: a program may have to be installed first. It reports the
// progress.
func (m *Servers) Meet(ctx context.Context, tell func(string)) {
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
				return // the failure is reported elsewhere
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

// rebuild recreates the run's tools with those of the servers known by then.
type rebuild func(context.Context) (*tool.Set, error)

// Join returns the run's tools with added ones, or nil if there are none. It adds tools at a
// prompt, and within a turn after a search or call of a server's tool, if the model waits for them
// or there is no next prompt.
func (m *Servers) Join(ctx context.Context, o session.Occasion, rebuild rebuild) *tool.Set {
	if o.Outcomes != nil && !m.soon && !slices.ContainsFunc(o.Outcomes, func(out tool.Outcome) bool {
		return out.Tool == "tool_search" || strings.Contains(string(out.Metadata), `"mcp_server"`)
	}) {
		return nil
	}
	now := m.Generation()
	if now == m.joined.Load() {
		return nil
	}
	set, err := rebuild(ctx)
	if err != nil {
		m.notify(fmt.Sprintf("the tools of MCP servers cannot be used: %v", err))
		return nil
	}
	m.joined.Store(now)
	return set
}

// await starts servers and waits for their tools, at most as long as for a call.
func (m *Servers) await(ctx context.Context, names []string) {
	ctx, cancel := context.WithTimeout(ctx, mcp.DefaultWait)
	defer cancel()
	var all sync.WaitGroup
	for _, name := range names {
		all.Go(func() { _ = m.Await(ctx, name) }) // failures are reported elsewhere
	}
	all.Wait()
}

// Search waits for unknown servers, at most as long as for a call, and returns all tools, including
// those just learned, or nil if the run has them all.
func (m *Servers) Search(ctx context.Context, rebuild rebuild) *tool.Set {
	unseen := m.Unseen()
	if len(unseen) == 0 && m.Generation() == m.joined.Load() {
		return nil
	}
	m.await(ctx, unseen)
	set, err := rebuild(ctx)
	if err != nil {
		return nil
	}
	return set
}
