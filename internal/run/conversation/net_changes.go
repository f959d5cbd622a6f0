package conversation

import (
	"context"
	"fmt"
	"path/filepath"

	"adze/internal/files/workspace"
	"adze/internal/run/hostio"
	"adze/internal/run/settings"
	"adze/session"
	"adze/session/api"
	"adze/tool"
)

// netPorts adds the operations of the net changes pane. Actions on a hunk run as normal calls, with
// questions and log entries.
func (w *Conversation) netPorts(p *api.Ports, editor hostio.Editor) {
	p.Open = func(path string, line int) error { return editor.Open(filepath.Join(w.Head.Cwd, path), line) }
	if w.Keeper == nil {
		return
	}
	p.Net = w.net
	p.Revert = w.revert
	if _, ok := w.Set.Load().Get(ShellTool); ok {
		p.Stage = func(ctx context.Context, h api.NetHunk) session.Result {
			command, err := hostio.StageCommand(h)
			if err != nil {
				return session.Sort(err)
			}
			return w.shell(ctx, command)
		}
		p.StageAll = func(ctx context.Context, n api.Net) session.Result {
			return w.shell(ctx, hostio.StageAllCommand(n))
		}
		p.Draft = func(ctx context.Context) (string, error) {
			patch, recent, err := hostio.Staged(ctx, settings.Repositories(w.Settings.Config, w.Head.Cwd), w.Head.Cwd, w.Gate.FileFilter(w.Head.Cwd))
			if err != nil {
				return "", err
			}
			mask := w.Settings.Process.Ring.Mask()
			for i, subject := range recent {
				recent[i] = mask.Text(subject)
			}
			message, used, err := w.model.CommitMessage(ctx, mask.Text(patch), recent)
			w.Session.Spend(w.model.Provider.Name(), w.model.Name, used)
			return mask.Text(message), err
		}
		p.Commit = func(ctx context.Context, message string) session.Result {
			return w.shell(ctx, hostio.CommitCommand(message))
		}
	}
}

func (w *Conversation) net(ctx context.Context, since api.Baseline) (api.Net, error) {
	if since == api.SinceBranch {
		return hostio.SinceBranch(ctx, settings.Repositories(w.Settings.Config, w.Head.Cwd), w.Head.Cwd)
	}
	d, err := w.Keeper.CompleteManager(ctx, w.folder())
	if err != nil {
		return api.Net{}, err
	}
	return hostio.ChangesSince(ctx, d, since == api.SinceTurn)
}

// revert reverts a hunk by the user's own call.
func (w *Conversation) revert(ctx context.Context, h api.NetHunk) session.Result {
	name, args, now, err := hostio.Revert(ctx, w.Settings.Root, h)
	if err != nil {
		return session.Sort(err)
	}
	if command, ok := args["command"]; ok {
		return w.shell(ctx, command)
	}
	call, err := hostio.Call(name, args)
	if err != nil {
		return session.Sort(err)
	}
	done := w.userSaw(now)
	r := w.Session.Run(ctx, call, func(o tool.Outcome) string {
		done(o.Status == tool.Completed)
		return fmt.Sprintf("I took a change of %s back (%s):\n%s", h.File.Path, o.Status, o.Output)
	})
	if command := hostio.Chmod(w.Settings.Root, h.File); command != "" && r.Cause == session.CauseDone {
		return w.shell(ctx, command)
	}
	return r
}

// userSaw marks a file as read in its current version, so that the user may edit it whatever
// version the model has read. done restores the old mark unless the edit was made.
func (w *Conversation) userSaw(now workspace.State) (done func(made bool)) {
	path, err := w.Settings.Root.Resolve(now.Path)
	if err != nil || now.Path == "" {
		return func(bool) {}
	}
	id := string(w.Session.ID())
	state, known := w.deps.KnownFiles.Get(id, path)
	text, _ := w.deps.KnownFiles.Text(id, path)
	w.deps.KnownFiles.Record(id, now, "")
	return func(made bool) {
		if !made && known {
			w.deps.KnownFiles.Record(id, state, text)
		}
	}
}
