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
// From ui.Side columns on, what goes on beside the conversation has a column. Below it is a pane
// above the prompt, while the user wants it. A dialog takes the place of both: who must decide sees
// the question and the conversation.
func Arrange(w, h int, want Wants) Layout {
	if w < minWidth || h < minHeight {
		return Layout{TooSmall: true}
	}
	var l Layout
	left := bottom(&l.Status, w, h, statusRows(h, want))
	if want.Dialog > 0 {
		left = bottom(&l.Dialog, w, left, min(want.Dialog, mostDialog(h, left)))
	} else {
		left = bottom(&l.Prompt, w, left, min(want.Prompt, max(h/3, 3)))
		left = bottom(&l.Menu, w, left, max(min(want.Menu, left-minTranscript), 0))
	}
	if want.Over {
		l.Over = ui.At(0, 0, w, left)
		return l
	}
	if want.Beside && w >= ui.Side {
		l.beside(w, left)
		return l
	}
	if want.Dialog == 0 {
		left = bottom(&l.Around, w, left, max(min(want.Around, left-minTranscript), 0))
	}
	l.Transcript = ui.At(0, 0, w, left)
	return l
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
	var l Layout
	status := statusRows(h, want)
	left := h - 1 - status // and a row of what is above
	take := func(n, most int) int {
		n = max(min(n, most, left), 0)
		left -= n
		return n
	}
	var around, menu int
	prompt := take(want.Prompt, max(h/3, 3))
	dialog := 0
	if want.Dialog > 0 {
		left, prompt = h-1-status, 0
		dialog = take(want.Dialog, mostDialog(h, left))
	} else {
		menu = take(want.Menu, left-minTranscript)
		around = take(want.Around, left-minTranscript)
	}
	y := 0
	for _, p := range []struct {
		rect *ui.Rect
		rows int
	}{{&l.Transcript, take(running, h)}, {&l.Around, around}, {&l.Menu, menu}, {&l.Dialog, dialog}, {&l.Prompt, prompt}, {&l.Status, status}} {
		*p.rect = ui.At(0, y, w, p.rows)
		y += p.rows
	}
	return l
}

// bottom places a pane of n rows above row y and returns the row that is then free.
func bottom(r *ui.Rect, w, y, n int) int {
	*r = ui.At(0, y-n, w, n)
	return y - n
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
