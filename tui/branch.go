package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"adze/session/api"
	"adze/tool"
	"adze/tui/async"
	"adze/tui/pane"
	"adze/tui/ui"
)

// branches keeps the git branch in the status line current.
type branches struct {
	ports  *api.Ports
	status *pane.Status
	info   *Info
}

// look reads the checked-out branch in the background.
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

// can returns why git cannot be used, or "".
func (b *branches) can() string {
	return ui.ReasonIf(b.ports.Branch != nil && b.info.Branch == "", "there is no git repository here")
}

// mayMoveHead reports whether a call may have checked out another branch; only commands do.
func mayMoveHead(o tool.Outcome) bool {
	return slices.ContainsFunc(o.Record.Needs, func(n tool.Need) bool { return n.Permission == tool.Execute })
}
