package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"

	"adze/internal/editors/acp"
	"adze/internal/files/workspace"
	"adze/internal/files/workspace/buffers"
	"adze/internal/mcp"
	"adze/internal/project/trust"
	"adze/internal/sandbox"
	"adze/internal/sandbox/proc"
	"adze/tool"
	"adze/toolset"
	"adze/tui/question"
)

// What an editor does for the tools of a conversation.

// filesOf is the way to files that goes through an editor; if nil, it offers none.
func filesOf(e acp.Editor) workspace.FS {
	if e.Read == nil && e.Write == nil {
		return nil
	}
	f := &buffers.FS{Base: workspace.Disk{}}
	refused := func(err error) error {
		if errors.Is(err, acp.ErrNoFile) {
			return fmt.Errorf("%w: %w", buffers.ErrRefused, err)
		}
		return err
	}
	if e.Read != nil {
		f.Read = func(path string) (string, error) { text, err := e.Read(path); return text, refused(err) }
	}
	if e.Write != nil {
		f.Write = func(path, text string) error { return refused(e.Write(path, text)) }
	}
	return f
}

// inTerminal runs a command in a terminal of an editor's.
type inTerminal = func(context.Context, tool.CallID, proc.Command) (proc.Result, error)

// terminal gives a terminal the commands that may leave the sandbox: those that would run outside
// of it anyway, because it is switched off or because the user was asked and allowed them. All
// others run here. If nil, there is no terminal.
func (c *edited) terminal(run inTerminal) inTerminal {
	if run == nil {
		return nil
	}
	return func(ctx context.Context, call tool.CallID, cmd proc.Command) (proc.Result, error) {
		cage := c.wired.cage
		if cage.Encloses(cmd) || cage.Setting != sandbox.Off && !c.allowed(call) {
			return proc.Result{}, toolset.ErrNoTerminal
		}
		return run(ctx, call, cmd)
	}
}

// whereRun says where a command runs that the user allows now.
func (w *wired) whereRun() string {
	if w.cage.Encloses(proc.Command{}) {
		return "Allowed, it runs in the sandbox; outside of it, in a terminal of the editor."
	}
	return "Allowed, it runs in a terminal of the editor, outside any sandbox."
}

// terminal has commands run by an editor; if nil, it offers no terminal.
func (e *editor) terminal(by acp.Editor) func(context.Context, tool.CallID, proc.Command) (proc.Result, error) {
	if by.Terminal == nil {
		return nil
	}
	return func(ctx context.Context, call tool.CallID, c proc.Command) (proc.Result, error) {
		within, cancel := context.WithTimeout(ctx, c.Timeout)
		defer cancel()
		end, err := by.Terminal(within, acp.TerminalCall{Call: call, Argv: c.Argv, Dir: c.Dir, Env: c.Env, Limit: terminalOutput})
		if errors.Is(err, acp.ErrNoTerminal) {
			return proc.Result{}, fmt.Errorf("%w: %w", toolset.ErrNoTerminal, err)
		}
		out := proc.NewOutput(c.Head, c.Tail)
		text := end.Output
		if c.Mask != nil {
			text = e.app.keys.Mask().Text(text)
		}
		if end.Truncated {
			text = "(the beginning is not kept)\n" + text
		}
		_, _ = out.Write([]byte(text)) // it never fails
		if c.Spill != nil {
			c.Spill([]byte(text))
		}
		r := proc.Result{Code: end.Code, Output: out.Text()}
		switch {
		case ctx.Err() != nil:
			r.Killed, err = proc.Aborted, nil
		case within.Err() != nil:
			r.Killed, err = proc.Timeout, nil
		case end.Signal != "":
			r.Signal = signalNamed(end.Signal)
		}
		return r, err
	}
}

// terminalOutput is how much of a command's output an editor keeps for us, in bytes; a message of
// the protocol holds it.
const terminalOutput = 1 << 20

// signalNamed is the signal of a name; one that nobody knows here is told as a kill.
func signalNamed(name string) syscall.Signal {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGSEGV, syscall.SIGABRT, syscall.SIGHUP, syscall.SIGPIPE} {
		if proc.SignalName(s) == name {
			return s
		}
	}
	return syscall.SIGKILL
}

// lentServers are the MCP servers that an editor names for one session. They are as those of a
// project: nothing of them is shown or started before the user agreed to what would run. A nil
// one has none.
type lentServers struct {
	project trust.Project
	names   []string
	items   map[string]trust.Item

	mu    sync.Mutex
	yes   map[string]bool // for this session
	asked map[string]bool
}

// mostLent bounds how many servers an editor may name.
const mostLent = 32

// lentName is an editor's name for a server, which may be any text, as ours.
func lentName(name string) string {
	return strings.Map(func(r rune) rune {
		if mcp.GoodServer("a" + string(r)) {
			return r
		}
		return '-'
	}, strings.TrimSpace(name))
}

// lend adds the servers of an editor to those that there are. A name that is taken stays whose it
// is.
func (s settings) lend(own []mcp.Server, given []acp.Server) (all []mcp.Server, l *lentServers, notices []string) {
	l = &lentServers{project: s.project(), items: map[string]trust.Item{}, yes: map[string]bool{}, asked: map[string]bool{}}
	for n, one := range given {
		name := lentName(one.Name)
		entry, err := json.Marshal(one)
		server, _, rerr := mcp.Read(name, entry)
		item, terr := l.project.Lent("editor", name, entry)
		_, configured := s.config.MCP.Servers[name]
		why := ""
		switch err = errors.Join(err, rerr, terr); {
		case n >= mostLent:
			why = fmt.Sprintf("it names more than %d", mostLent)
		case !mcp.GoodServer(name):
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
		server.From, server.Dir = item.From, cmp.Or(server.Dir, s.root.Dir()) // as the user is shown it
		own, l.names, l.items[name] = append(own, server), append(l.names, name), item
	}
	return own, l, notices
}

// holds says whether a server may start, where it is one of the editor's.
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
	if now, err := l.project.Lent("editor", name, i.Raw); err != nil || now.State != trust.Allowed || now.Hash != i.Hash {
		return fmt.Errorf("the editor names it, and the person did not agree yet")
	}
	return nil
}

// The answers to an editor's server.
const (
	notLent   = "do not start it"
	lentOnce  = "start it, for this session"
	lentHence = "start it in this folder, until its definition changes"
)

// consent asks the user, before their prompt is answered, about servers of the editor that were
// not asked about, and has the tools of those that they allow join.
func (c *edited) consent(ctx context.Context) {
	m := c.wired.servers
	if m == nil || m.lent == nil {
		return
	}
	var begin []string
	for _, name := range m.lent.names {
		if c.allows(ctx, m.lent, name) {
			m.Show(name)
			begin = append(begin, name)
		}
	}
	m.await(ctx, begin)
}

// allows reports whether a server that is hidden may be used from now on.
func (c *edited) allows(ctx context.Context, l *lentServers, name string) bool {
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
	answer, err := c.wish.Inquire(ctx, question.Question{
		Text:    fmt.Sprintf("The editor wants to use the MCP server %s in this session, which would start or reach:\n\n%s\n\nMay it?", name, strings.Join(i.Lines(), "\n")),
		Choices: []string{lentOnce, lentHence, notLent}, Kinds: []question.Kind{question.AllowOnce, question.AllowAlways, question.Refuse},
	})
	if err != nil || answer != lentOnce && answer != lentHence {
		return false
	}
	if answer == lentHence {
		if err := l.project.Book.Allow(ctx, l.project.Dir, i); err != nil {
			c.wired.menu.Notice(fmt.Sprintf("the consent to the MCP server %s could not be kept: %v", name, err))
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.yes[name] = true
	return true
}
