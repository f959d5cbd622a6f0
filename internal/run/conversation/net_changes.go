package conversation

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"adze/internal/files/workspace"
	"adze/internal/run/hostio"
	"adze/internal/run/settings"
	"adze/session"
	"adze/tool"
	"adze/tui/api"
)

// netPorts connects the pane of changes: what differs, and what the user does with a hunk. That
// goes the way of every call, with its questions and records.
func (w *Conversation) netPorts(p *api.Ports, own *OwnCommand, editor hostio.Editor) {
	p.Open = func(path string, line int) error { return editor.Open(filepath.Join(w.Head.Cwd, path), line) }
	if w.Keeper == nil {
		return
	}
	p.Net = w.net
	p.Revert = func(ctx context.Context, h api.NetHunk) session.Result { return w.revert(ctx, h, own) }
	if _, ok := w.Set.Get(ShellTool); ok {
		p.Stage = func(ctx context.Context, h api.NetHunk) session.Result {
			command, err := hostio.StageCommand(h)
			if err != nil {
				return session.Sort(err)
			}
			return w.shell(ctx, command, own)
		}
	}
}

func (w *Conversation) net(ctx context.Context, since api.Since) (api.Net, error) {
	if since == api.SinceBranch {
		return hostio.SinceBranch(ctx, settings.Repositories(w.Settings.Config, w.Head.Cwd), w.Head.Cwd)
	}
	d, err := w.Keeper.Desk(ctx, w.folder())
	if err != nil {
		return api.Net{}, err
	}
	n, err := hostio.Since(ctx, d, since == api.SinceTurn)
	if err == nil && len(n.Files) == 0 && changedSomething(slices.Concat(w.Session.Earlier(), w.Session.History())) {
		// In a folder as wide as a home only what calls changed is kept, and states of it do not compare.
		return n, errors.New("the states of this folder show no difference; these are the changes of each call")
	}
	return n, err
}

// changedSomething reports a call that changed files.
func changedSomething(messages []session.Message) bool {
	for _, m := range messages {
		for _, p := range m.Parts {
			if p.Outcome != nil && len(p.Outcome.Changed) > 0 {
				return true
			}
		}
	}
	return false
}

// revert takes a hunk back by a call of the user's own.
func (w *Conversation) revert(ctx context.Context, h api.NetHunk, own *OwnCommand) session.Result {
	name, args, now, err := hostio.Revert(ctx, w.Settings.Root, h)
	if err != nil {
		return session.Sort(err)
	}
	if command, ok := args["command"]; ok {
		return w.shell(ctx, command, own)
	}
	call, err := hostio.Call(name, args)
	if err != nil {
		return session.Sort(err)
	}
	done := w.userSaw(now)
	return w.Session.Run(ctx, call, func(o tool.Outcome) string {
		done(o.Status == tool.Completed)
		return fmt.Sprintf("I took a change of %s back (%s):\n%s", h.File.Path, o.Status, o.Output)
	})
}

// userSaw says that a file may be edited as the user sees it now, whatever the model read of it.
// done takes that back, unless the edit was made: the model still knows the file as it was.
func (w *Conversation) userSaw(now workspace.State) (done func(made bool)) {
	path, err := w.Settings.Root.Resolve(now.Path)
	if err != nil || now.Path == "" {
		return func(bool) {}
	}
	id := string(w.Session.ID())
	state, known := w.seen.Get(id, path)
	text, _ := w.seen.Text(id, path)
	w.seen.Record(id, now, "")
	return func(made bool) {
		if !made && known {
			w.seen.Record(id, state, text)
		}
	}
}
