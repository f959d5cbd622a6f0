package app

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"adze/internal/git"
	"adze/internal/policy"
	"adze/internal/search"
	"adze/session"
	"adze/tool"
	"adze/tui/port"
)

// maxCompletions bounds the files that are completed from.
const maxCompletions = 200_000

// shellTool runs the commands of the person's own.
const shellTool = "bash"

// desk is what the interface asks for beside turns.
type desk struct {
	settings settings
	gate     *policy.Policy
	stored   session.Store
	listed   sync.Mutex         // guards heads
	heads    []port.SessionHead // as last listed
}

// ports connects the interface with what was wired.
func (a *app) ports(o *options, w *wired, own *ownCommand) port.Ports {
	memory := newMemory(w.settings.at.state, w.head.Cwd)
	p := port.Ports{
		SetMode:    func(name string) error { return w.gate.SetMode(policy.Mode(name)) },
		CancelCall: w.cancelCall,
		Steer:      w.session.Steer,
		Rewind:     w.session.Rewind,
		Compact:    w.session.Compact,
		Branch:     func() string { return git.Head(w.head.Cwd) },
		Files:      w.files,
		Edit:       a.edit,
		Drop:       dropIn(w.head.Cwd),
		Picture:    a.clipboard(w.settings.at.state).picture,
		Modes:      modes(),
	}
	if _, ok := w.set.Get(shellTool); ok {
		p.Run = func(ctx context.Context, command string) session.Result { return w.shell(ctx, command, own) }
	}
	if !o.demo && !o.noSession && o.replay == "" && o.record == "" { // a recording is of one sitting
		p.Switch = true
		p.Sessions, p.Peek = w.sessions, w.peek
		p.Models = func(ctx context.Context) ([]port.ModelRow, error) { return a.modelRows(ctx, w) }
		p.Past, p.Remember = memory.past, memory.add
	}
	return p
}

func modes() []port.Mode {
	means := map[policy.Mode]string{
		policy.Plan:     "nothing is changed and no command runs",
		policy.AskFirst: "reading in the workspace is allowed, all else is asked",
		policy.Edits:    "writing in the workspace is allowed too",
		policy.Auto:     "what a full sandbox contains is allowed",
		policy.Yolo:     "nothing is asked; denials still hold",
	}
	var out []port.Mode
	for _, name := range policy.Modes() {
		out = append(out, port.Mode{Name: name, Means: means[policy.Mode(name)]})
	}
	return out
}

// files lists the workspace for completion, what changed last first.
func (w *wired) files(ctx context.Context) ([]string, error) {
	found, err := search.Tree{Root: w.head.Cwd, Withhold: w.gate.Sieve(w.head.Cwd)}.Glob(ctx, search.GlobQuery{Pattern: "**", Limit: maxCompletions})
	if err != nil {
		return nil, err
	}
	paths := make([]string, len(found.Files))
	for i, f := range found.Files {
		paths[i] = f.Path
	}
	return paths, nil
}

func (w *wired) sessions(ctx context.Context) ([]port.SessionHead, error) {
	heads, err := w.stored.List(ctx)
	if err != nil {
		return nil, err
	}
	var out []port.SessionHead
	for _, h := range heads {
		info := h.Info()
		if info.Agent != "" {
			continue // its report is in its parent's session
		}
		out = append(out, port.SessionHead{ID: string(h.ID), Title: h.Title(), Model: info.Model, Cwd: info.Cwd, Updated: h.Updated.Local()})
	}
	w.listed.Lock()
	defer w.listed.Unlock()
	w.heads = out
	return out, nil
}

// ownCommand is the command that the person runs right now. They wrote it: it is not asked again, but every
// denial holds, and nothing else is allowed by it.
type ownCommand struct {
	mu   sync.Mutex
	text string
}

func (c *ownCommand) set(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text = text
}

// is reports whether a question is about exactly this command.
func (c *ownCommand) is(q tool.Question) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text != "" && q.Agent == "" && q.Tool.Name == shellTool && len(q.Needs) == 1 &&
		q.Needs[0].Permission == tool.Execute && q.Needs[0].Target == c.text
}

// shell runs a command of the person's own through the gate and the pipeline.
func (w *wired) shell(ctx context.Context, command string, own *ownCommand) session.Result {
	args, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		return session.Sort(err)
	}
	own.set(command)
	defer own.set("")
	return w.session.Run(ctx, tool.RawCall{Name: shellTool, Arguments: string(args), Origin: tool.Native}, func(o tool.Outcome) string {
		return fmt.Sprintf("I ran this command myself (%s):\n$ %s\n\n%s", o.Status, command, o.Output)
	})
}
