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
	Activity, Todos, Dialog, Prompt, Menu int
	// Status is at least one row.
	Status int
	// Over has a pane take the place of the conversation and of what stands beside it.
	Over bool
}

// Layout says where each pane is; a pane that is not shown has no height.
type Layout struct {
	TooSmall                                                                bool
	Transcript, Activity, Todos, Dialog, Prompt, Menu, Over, Status, Divide ui.Rect
}

// Arrange places the panes on a screen. It is pure: the same numbers give the same layout.
//
// A dialog takes the place of the prompt and, on a narrow screen, of activity and todos: who must
// decide sees the question and the conversation.
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
	if w >= ui.Wide && want.Activity+want.Todos > 0 {
		l.beside(w, left, want)
		return l
	}
	if want.Dialog == 0 {
		left = bottom(&l.Todos, w, left, min(want.Todos, h/4, left-minTranscript))
		left = bottom(&l.Activity, w, left, min(want.Activity, h/4, left-minTranscript))
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
	var todos, activity, menu int
	prompt := take(want.Prompt, max(h/3, 3))
	dialog := 0
	if want.Dialog > 0 {
		left, prompt = h-1-status, 0
		dialog = take(want.Dialog, mostDialog(h, left))
	} else {
		menu = take(want.Menu, left-minTranscript)
		todos = take(want.Todos, min(h/4, left-minTranscript))
		activity = take(want.Activity, min(h/4, left-minTranscript))
	}
	y := 0
	for _, p := range []struct {
		rect *ui.Rect
		rows int
	}{{&l.Transcript, take(running, h)}, {&l.Activity, activity}, {&l.Todos, todos}, {&l.Menu, menu}, {&l.Dialog, dialog}, {&l.Prompt, prompt}, {&l.Status, status}} {
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

// beside puts activity and todos into a column at the right of the transcript, which is h rows
// high.
func (l *Layout) beside(w, h int, want Wants) {
	side := sideWidth(w)
	x := w - side
	l.Transcript = ui.At(0, 0, x-2, h)
	l.Divide = ui.At(x-1, 0, 1, h)
	x, side = x+1, side-1 // a space beside the line
	todos := min(want.Todos, h)
	if want.Activity > 0 {
		todos = min(todos, h/2)
	}
	l.Activity = ui.At(x, 0, side, min(want.Activity, h-todos))
	l.Todos = ui.At(x, l.Activity.H, side, todos)
}

// sideWidth is how wide the column of activity and todos is; on a narrow screen all of it.
func sideWidth(w int) int {
	if w < ui.Wide {
		return w
	}
	return min(max(w/3, 38), 64)
}
