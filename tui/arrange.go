package tui

import "adze/tui/ui"

// The smallest window in cells; below it the interface shows only an error.
const (
	minWidth  = 40
	minHeight = 10
)

// leastDialog is the number of rows that a question may take even if little else remains.
const leastDialog = 8

// minTranscript is the number of conversation rows that stay visible beside anything but a dialog.
const minTranscript = 4

// Wants holds the number of rows each pane would like; 0 hides it.
type Wants struct {
	WorkPane, Dialog, Prompt, Menu int
	// SideColumn requests a column beside the conversation on a wide screen.
	SideColumn bool
	// Status is at least 1.
	Status int
	// FullPane puts a pane in place of the conversation and its column.
	FullPane bool
}

// Layout holds each pane's rectangle; a hidden pane has height 0.
type Layout struct {
	TooSmall                                                             bool
	Transcript, WorkPane, Dialog, Prompt, Menu, FullPane, Status, Divide ui.Rect
}

// Arrange places the panes on a screen. It is pure: equal arguments give an equal layout.
//
// From ui.Side columns on, todos, jobs and changes have a column beside the conversation. On a
// narrower screen they are a pane above the prompt, if the user opened it. A dialog replaces both,
// to leave room for the question and the conversation.
func Arrange(w, h int, want Wants) Layout {
	if w < minWidth || h < minHeight {
		return Layout{TooSmall: true}
	}
	beside := want.SideColumn && w >= ui.Side && !want.FullPane
	if beside || want.FullPane {
		want.WorkPane = 0
	}
	p, left := share(h, h-statusRows(h, want), want)
	l := p.stack(w, left, statusRows(h, want))
	switch {
	case want.FullPane:
		l.FullPane, l.Transcript = l.Transcript, ui.Rect{}
	case beside:
		l.beside(w, left)
	}
	return l
}

// heights holds the heights of the panes below the conversation.
type heights struct {
	around, menu, dialog, prompt int
}

// share divides rows among the panes in a window of h rows and returns the remaining rows.
func share(h, rows int, want Wants) (p heights, left int) {
	left = rows
	take := func(n, most int) int {
		n = max(min(n, most, left), 0)
		left -= n
		return n
	}
	p.prompt = take(want.Prompt, max(h/3, 3))
	if want.Dialog > 0 {
		p.dialog = take(want.Dialog, mostDialog(h, left))
		p.menu = take(want.Menu, left-1)
		return p, left
	}
	p.menu = take(want.Menu, left-minTranscript)
	p.around = take(want.WorkPane, left-minTranscript)
	return p, left
}

// stack places the panes from top to bottom.
func (p heights) stack(w, transcript, status int) Layout {
	y := 0
	next := func(rows int) ui.Rect {
		r := ui.NewRect(0, y, w, rows)
		y += rows
		return r
	}
	return Layout{
		Transcript: next(transcript),
		WorkPane:   next(p.around),
		Menu:       next(p.menu),
		Dialog:     next(p.dialog),
		Prompt:     next(p.prompt),
		Status:     next(status),
	}
}

// statusRows limits the status line, so that most of the screen stays free.
func statusRows(h int, want Wants) int { return max(min(want.Status, h/3, 4), 1) }

// lowWindow is the height up to which a question may take all but one row, so that its rule is
// visible.
const lowWindow = 15

// mostDialog returns the number of rows that a question may take; at least one row of the
// conversation stays.
func mostDialog(h, left int) int {
	if h <= lowWindow {
		return left - 1
	}
	return min(max(h*2/3, leastDialog), left-1)
}

// Stack places the panes of an inline interface in a window of w by h cells, using only the rows
// they want; running is the number of rows above them that still change. Like Arrange, it is pure.
func Stack(w, h int, want Wants, running int) Layout {
	if w < minWidth || h < minHeight {
		return Layout{TooSmall: true, Status: ui.NewRect(0, max(min(h-1, 4)-1, 0), w, 1)}
	}
	status := statusRows(h, want)
	p, left := share(h, h-1-status, want) // one more row stays for the conversation
	return p.stack(w, min(running, left), status)
}

// beside splits the transcript, which is h rows high, and gives its right side to the column.
func (l *Layout) beside(w, h int) {
	side := sideWidth(w)
	l.Transcript = ui.NewRect(0, 0, w-side-2, h)
	l.Divide = ui.NewRect(w-side-1, 0, 1, h)
	l.WorkPane = ui.NewRect(w-side+1, 0, side-1, h) // one blank column after the line
}

// sideWidth returns the column's width for a screen of w columns.
func sideWidth(w int) int { return min(max(w/4, 38), 56) }
