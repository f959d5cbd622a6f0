package tui

import "adze/tui/ui"

// The interface works from this size on; below it says so.
const (
	minWidth  = 40
	minHeight = 10
)

// leastDialog is how many rows a question may take also where that leaves little else.
const leastDialog = 8

// minTranscript is how many rows of the conversation stay visible beside anything but a dialog.
const minTranscript = 4

// Wants is how many rows each pane would like; 0 hides it.
type Wants struct {
	Around, Dialog, Prompt, Menu int
	// Beside is a column beside the conversation, on a wide screen.
	Beside bool
	// Status is at least one row.
	Status int
	// Over has a pane take the place of the conversation and of what stands beside it.
	Over bool
}

// Layout says where each pane is; a pane that is not shown has no height.
type Layout struct {
	TooSmall                                                       bool
	Transcript, Around, Dialog, Prompt, Menu, Over, Status, Divide ui.Rect
}

// Arrange places the panes on a screen. It is pure: the same numbers give the same layout.
//
// From ui.Side columns on, todos, jobs and changes have a column beside the conversation. On a
// narrower screen they are a pane above the prompt, while the user wants it. A dialog takes the
// place of both: the user sees the question and the conversation.
func Arrange(w, h int, want Wants) Layout {
	if w < minWidth || h < minHeight {
		return Layout{TooSmall: true}
	}
	beside := want.Beside && w >= ui.Side && !want.Over
	if beside || want.Over {
		want.Around = 0
	}
	p, left := share(h, h-statusRows(h, want), want)
	l := p.stack(w, left, statusRows(h, want))
	switch {
	case want.Over:
		l.Over, l.Transcript = l.Transcript, ui.Rect{}
	case beside:
		l.beside(w, left)
	}
	return l
}

// heights are the rows of the panes below the conversation.
type heights struct {
	around, menu, dialog, prompt int
}

// share gives each pane its part of so many rows of a window of h rows, and returns those that are
// left.
func share(h, rows int, want Wants) (p heights, left int) {
	left = rows
	take := func(n, most int) int {
		n = max(min(n, most, left), 0)
		left -= n
		return n
	}
	if want.Dialog > 0 {
		p.dialog = take(want.Dialog, mostDialog(h, left))
		return p, left
	}
	p.prompt = take(want.Prompt, max(h/3, 3))
	p.menu = take(want.Menu, left-minTranscript)
	p.around = take(want.Around, left-minTranscript)
	return p, left
}

// stack places the panes one below the other.
func (p heights) stack(w, transcript, status int) Layout {
	y := 0
	next := func(rows int) ui.Rect {
		r := ui.At(0, y, w, rows)
		y += rows
		return r
	}
	return Layout{
		Transcript: next(transcript),
		Around:     next(p.around),
		Menu:       next(p.menu),
		Dialog:     next(p.dialog),
		Prompt:     next(p.prompt),
		Status:     next(status),
	}
}

// statusRows leaves most of the screen to what it speaks of.
func statusRows(h int, want Wants) int { return max(min(want.Status, h/3, 4), 1) }

// lowWindow is the height up to which a question takes all but one row: its rule is to be in view.
const lowWindow = 15

// mostDialog is how many of the rows that are left a question may take: one of what it is about
// stays.
func mostDialog(h, left int) int {
	if h <= lowWindow {
		return left - 1
	}
	return min(max(h*2/3, leastDialog), left-1)
}

// Stack places the panes of an inline interface below the finished conversation, in as few rows as
// they want, of a window of w by h cells; running is how many rows still change above them. It is
// pure, as Arrange is.
func Stack(w, h int, want Wants, running int) Layout {
	if w < minWidth || h < minHeight {
		return Layout{TooSmall: true, Status: ui.At(0, max(min(h-1, 4)-1, 0), w, 1)}
	}
	status := statusRows(h, want)
	p, left := share(h, h-1-status, want) // and a row of what is above
	return p.stack(w, min(running, left), status)
}

// beside gives what goes on a column at the right of the transcript, which is h rows high.
func (l *Layout) beside(w, h int) {
	side := sideWidth(w)
	l.Transcript = ui.At(0, 0, w-side-2, h)
	l.Divide = ui.At(w-side-1, 0, 1, h)
	l.Around = ui.At(w-side+1, 0, side-1, h) // a space beside the line
}

// sideWidth is how wide that column is.
func sideWidth(w int) int { return min(max(w/4, 38), 56) }
