package tui

import (
	tea "charm.land/bubbletea/v2"

	"adze/tui/screen"
	"adze/tui/ui"
)

// window controls the user's terminal.
type window struct {
	host
	mouse   bool // adze has it
	away    bool // the terminal has lost focus
	redrawn int  // count of forced redraws
	// notify sends a desktop notification.
	notify func(screen.Note)
	// background suspends the process until it is continued; nil if unsupported.
	background func()
	// whole reports whether adze paints the whole screen and can take the mouse.
	whole func() bool
}

func (w *window) commands() []command {
	return []command{
		{name: "mouse", hidden: true, help: "give adze the mouse, or the terminal to the terminal", can: w.canMouse, run: noArgs(w.toggleMouse)},
	}
}

func (w *window) canSuspend() string {
	return ui.ReasonIf(w.background == nil, "this terminal has no background")
}

func (w *window) suspend() tea.Cmd {
	return func() tea.Msg {
		w.background()
		return tea.ResumeMsg{}
	}
}

func (w *window) drawAgain() tea.Cmd { w.redrawn++; return nil }

func (w *window) canMouse() string {
	return ui.ReasonIf(!w.whole(), "inline, the terminal has the mouse")
}

func (w *window) toggleMouse() tea.Cmd {
	w.mouse = !w.mouse
	if w.mouse {
		w.showMessage("adze has the mouse; /mouse gives it back to the terminal")
	} else {
		w.showMessage("the terminal has the mouse: select as usual, the wheel scrolls")
	}
	return nil
}

// tell notifies the user if the terminal has lost focus.
func (w *window) tell(n screen.Note) tea.Cmd {
	if !w.away {
		return nil
	}
	return func() tea.Msg { w.notify(n); return nil }
}
