package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"adze/session/api"
	"adze/tool"
	"adze/tui/async"
	"adze/tui/pane"
)

// branches are the git branch in the status line.
type branches struct {
	ports  *api.Ports
	status *pane.Status
	info   *Info
}

// look asks which branch is checked out.
func (b *branches) look() tea.Cmd {
	if b.ports.Branch == nil {
		return nil
	}
	return async.Ask(b.ports.Branch, b.found)
}

func (b *branches) found(name string) tea.Cmd {
	b.status.OnBranch(name)
	b.info.Branch = name
	return nil
}

// mayMoveHead reports a call after which another branch may be checked out: only commands do that.
func mayMoveHead(o tool.Outcome) bool {
	return slices.ContainsFunc(o.Record.Needs, func(n tool.Need) bool { return n.Permission == tool.Execute })
}
