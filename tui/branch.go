package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"adze/tool"
)

// branch is the git branch as it was found.
type branch string

// lookForBranch asks which branch is checked out.
func (m *model) lookForBranch() tea.Cmd {
	ask := m.ports.Branch
	if ask == nil {
		return nil
	}
	return func() tea.Msg { return branch(ask()) }
}

// mayMoveHead reports a call after which another branch may be checked out: only commands do that.
func mayMoveHead(o tool.Outcome) bool {
	return slices.ContainsFunc(o.Record.Needs, func(n tool.Need) bool { return n.Permission == tool.Execute })
}
