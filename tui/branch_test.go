package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"adze/session"
	"adze/tool"
	"adze/tui/pane"
)

// The branch is looked for when it may be another one, and not with every call.
func TestTheBranchIsLookedForWhenItMayHaveChanged(t *testing.T) {
	p := newPlayer(t, nil)
	looked := 0
	p.m.ports.Branch = func() string { looked++; return "main" }
	end := func(need tool.Permission) session.Event {
		return session.ToolEnd{Outcome: tool.Outcome{Call: "c", Tool: "x", Record: tool.Record{Needs: []tool.Need{{Permission: need}}}}}
	}
	for _, c := range []struct {
		name string
		msg  tea.Msg
		want int
	}{
		{"at start", nil, 1},
		{"a read", batch{end(tool.Read)}, 1},
		{"a write", batch{end(tool.Write)}, 1},
		{"a command", batch{end(tool.Execute)}, 2},
		{"the person went elsewhere", tea.BlurMsg{}, 2},
		{"and came back", tea.FocusMsg{}, 3},
	} {
		if c.msg == nil {
			p.run(p.m.Init())
		} else {
			p.send(c.msg)
		}
		if looked != c.want || !strings.Contains(p.m.status.Rows(200, pane.Moment{})[0].String(), "main") {
			t.Errorf("%s: looked %d times, want %d; the status line is %q", c.name, looked, c.want, p.m.status.Rows(200, pane.Moment{}))
		}
	}
}
