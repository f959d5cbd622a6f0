package servers

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"adze/internal/editors/acp"
	"adze/internal/mcp"
	"adze/internal/project/trust"
	"adze/internal/run/settings"
	"adze/internal/stream/ask"
)

// lentServers are an editor's MCP servers for one session. They are treated like a project's:
// nothing is shown or started before the user consents to the command. A nil value has none.
type lentServers struct {
	project trust.Project
	names   []string
	items   map[string]trust.Item

	mu    sync.Mutex
	yes   map[string]bool // for this session
	asked map[string]bool
}

// mostLent limits an editor's servers.
const mostLent = 32

// lentName converts an editor's server name, which may be any text, to a valid one.
func lentName(name string) string {
	return strings.Map(func(r rune) rune {
		if mcp.ValidName("a" + string(r)) {
			return r
		}
		return '-'
	}, strings.TrimSpace(name))
}

// lend adds an editor's servers to the existing ones, which keep their names.
func lend(s *settings.Settings, own []mcp.Server, given []acp.Server) (all []mcp.Server, l *lentServers, notices []string) {
	l = &lentServers{project: s.Project(), items: map[string]trust.Item{}, yes: map[string]bool{}, asked: map[string]bool{}}
	for n, one := range given {
		name := lentName(one.Name)
		entry, err := json.Marshal(one)
		server, _, rerr := mcp.Read(name, entry)
		item, terr := l.project.SuppliedServer("editor", name, entry)
		_, configured := s.Config.MCP.Servers[name]
		why := ""
		switch err = errors.Join(err, rerr, terr); {
		case n >= mostLent:
			why = fmt.Sprintf("it names more than %d", mostLent)
		case !mcp.ValidName(name):
			why = "a name begins with a letter, and has at most 40 of letters, digits, _, . and -"
		case configured, slices.ContainsFunc(own, func(o mcp.Server) bool { return o.Name == name }):
			why = "there is one of this name in adze's own configuration, or the project's"
		case err != nil:
			why = err.Error()
		case item.Problem != "":
			why = item.Problem
		}
		if why != "" {
			notices = append(notices, fmt.Sprintf("the MCP server %s of the editor is not used: %s", mcp.Line(one.Name, 60), why))
			continue
		}
		server.Source, server.Dir = item.Source, cmp.Or(server.Dir, s.Root.Dir()) // as shown to the user
		own, l.names, l.items[name] = append(own, server), append(l.names, name), item
	}
	return own, l, notices
}

// holds returns an error if a server from the editor may not start.
func (l *lentServers) holds(name string) error {
	if l == nil {
		return nil
	}
	i, lent := l.items[name]
	l.mu.Lock()
	yes := l.yes[name]
	l.mu.Unlock()
	if !lent || yes {
		return nil
	}
	if now, err := l.project.SuppliedServer("editor", name, i.Raw); err != nil || now.State != trust.Allowed || now.Hash != i.Hash {
		return fmt.Errorf("the editor names it, and the person did not agree yet")
	}
	return nil
}

// Answers about an editor's server.
const (
	notLent   = "do not start it"
	lentOnce  = "start it, for this session"
	lentHence = "start it in this folder, until its definition changes"
)

// askAbout asks an editor's user.
type askAbout = func(context.Context, ask.Question) (string, error)

// Consent asks the user about new servers from the editor before a prompt is answered, and adds the
// tools of allowed ones.
func (m *Servers) Consent(ctx context.Context, inquire askAbout) {
	if m == nil || m.lent == nil {
		return
	}
	var begin []string
	for _, name := range m.lent.names {
		if m.allows(ctx, name, inquire) {
			m.Show(name)
			begin = append(begin, name)
		}
	}
	m.await(ctx, begin)
}

// allows reports whether a hidden server may be used from now on.
func (m *Servers) allows(ctx context.Context, name string, inquire askAbout) bool {
	l := m.lent
	l.mu.Lock()
	asked := l.asked[name]
	l.asked[name] = true
	l.mu.Unlock()
	if asked {
		return false
	}
	if l.holds(name) == nil {
		return true
	}
	i := l.items[name]
	answer, err := inquire(ctx, ask.Question{
		Text:    fmt.Sprintf("The editor wants to use the MCP server %s in this session, which would start or reach:\n\n%s\n\nMay it?", name, strings.Join(i.Lines(), "\n")),
		Choices: []string{lentOnce, lentHence, notLent}, Kinds: []ask.Kind{ask.AllowOnce, ask.AllowAlways, ask.Refuse},
	})
	if err != nil || answer != lentOnce && answer != lentHence {
		return false
	}
	if answer == lentHence {
		if err := l.project.Book.Allow(ctx, l.project.Dir, i); err != nil {
			m.notify(fmt.Sprintf("the consent to the MCP server %s could not be kept: %v", name, err))
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.yes[name] = true
	return true
}
