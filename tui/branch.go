package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"adze/session/api"
	"adze/tool"
	"adze/tui/pane"
)

// branches are the git branch in the status line.
type branches struct {
	ports  *api.Ports
	status *pane.Status
	info   *Info
}

func (b *branches) update(msg tea.Msg) (handled bool, cmd tea.Cmd) {
	if name, ok := msg.(branch); ok {
		b.status.OnBranch(string(name))
		b.info.Branch = string(name)
	}
	return false, nil
}

// branch is the git branch as it was found.
type branch string

// look asks which branch is checked out.
func (b *branches) look() tea.Cmd {
	ask := b.ports.Branch
	if ask == nil {
		return nil
	}
	return func() tea.Msg { return branch(ask()) }
}

// mayMoveHead reports a call after which another branch may be checked out: only commands do that.
func mayMoveHead(o tool.Outcome) bool {
	return slices.ContainsFunc(o.Record.Needs, func(n tool.Need) bool { return n.Permission == tool.Execute })
}
