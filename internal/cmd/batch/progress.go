package batch

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"adze/internal/fleet/batch"
	"adze/internal/text/plural"
	"adze/internal/text/redact"
	"adze/internal/text/safeterm"
)

// often is how often the live table is drawn at most.
const often = 100 * time.Millisecond

// maxRows bounds the live table; more tasks are counted.
const maxRows = 16

// maxColumns bounds a row, in cells, so that no row takes two lines of a usual terminal.
const maxColumns = 100

// view shows how tasks stand: on a terminal as a table that is drawn anew, else one line for each
// that is over.
type view struct {
	out   io.Writer
	mask  *redact.Masker
	all   int
	live  bool
	began time.Time

	mu     sync.Mutex
	drawn  time.Time
	rows   []running // in the order that they began
	lines  int       // of the table that stands there
	over   int
	failed int
	late   *time.Timer // draws what came too soon after the last time, and the seconds that pass
	closed bool
}

// running is a task that runs.
type running struct {
	batch.State
	began time.Time
}

// still is how often the live table is drawn when nothing happens but time.
const still = time.Second

func newView(out io.Writer, mask *redact.Masker, all int, live bool) *view {
	return &view{out: out, mask: mask, all: all, live: live, began: time.Now()}
}

// take is told how a task stands.
func (v *view) take(s batch.State) {
	v.mu.Lock()
	defer v.mu.Unlock()
	at := -1
	for i := range v.rows {
		if v.rows[i].Task.ID == s.Task.ID {
			at = i
		}
	}
	switch {
	case s.Stage == batch.Finished || s.Stage == batch.Stopped:
		if at >= 0 {
			v.rows = append(v.rows[:at], v.rows[at+1:]...)
		}
		v.count(s)
		v.wipe()
		v.line(s)
		v.drawn = time.Time{}
	case at >= 0:
		v.rows[at].State = s
	default:
		v.rows = append(v.rows, running{s, time.Now()})
	}
	if v.live {
		v.soon()
	}
}

func (v *view) count(s batch.State) {
	if s.Result != nil {
		v.over++
		if !s.Result.OK {
			v.failed++
		}
	}
}

// soon draws now, or a little later where it was drawn just now.
func (v *view) soon() {
	if wait := often - time.Since(v.drawn); wait > 0 {
		v.in(wait)
		return
	}
	v.draw()
}

// in draws in a while.
func (v *view) in(wait time.Duration) {
	if v.late != nil {
		v.late.Stop()
	}
	v.late = time.AfterFunc(wait, func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		if !v.closed {
			v.draw()
		}
	})
}

// wipe takes the table away.
func (v *view) wipe() {
	if v.lines > 0 {
		fmt.Fprintf(v.out, "\r\x1b[%dA\x1b[J", v.lines)
		v.lines = 0
	}
}

func (v *view) draw() {
	v.drawn = time.Now()
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d done, %d failed, %d running · %s\n", v.over, v.all, v.failed, len(v.rows), time.Since(v.began).Round(time.Second))
	for i, s := range v.rows {
		if i == maxRows {
			fmt.Fprintf(&b, "  and %d more\n", len(v.rows)-maxRows)
			break
		}
		fmt.Fprintf(&b, "  %s\n", v.clean(row(s)))
	}
	v.wipe()
	v.lines = strings.Count(b.String(), "\n")
	fmt.Fprint(v.out, b.String())
	v.in(still)
}

// row is a running task.
func row(s running) string {
	text := fmt.Sprintf("%-14s %-9s %5s ", s.Task.ID, s.Stage, time.Since(s.began).Round(time.Second))
	if s.Turns > 0 {
		text += " " + plural.Of(s.Turns, "turn") + ", " + plural.Of(s.Calls, "call")
	}
	if s.Cost != nil && *s.Cost > 0 {
		text += fmt.Sprintf(", $%.3f", *s.Cost)
	}
	if s.Resumed {
		text += ", resumed"
	}
	if s.Doing != "" && s.Stage == batch.Working {
		text += " · " + s.Doing
	}
	return text
}

// clean is a line of foreign text, without secrets and controls, that fits.
func (v *view) clean(text string) string {
	text = safeterm.Name(v.mask.Text(text)).String()
	if r := []rune(text); len(r) > maxColumns {
		text = string(r[:maxColumns-1]) + "…"
	}
	return text
}

// line tells of a task that is over, or was stopped.
func (v *view) line(s batch.State) {
	switch {
	case s.Result == nil:
		fmt.Fprintf(v.out, "- %s\n", v.clean(fmt.Sprintf("%s stopped: %s", s.Task.ID, s.Told)))
	case s.Result.OK:
		fmt.Fprintf(v.out, "· %s\n", v.clean(fmt.Sprintf("%s done, %s changed, %s", s.Task.ID, plural.Of(s.Result.Changed, "file"), s.Task.Source())))
	default:
		fmt.Fprintf(v.out, "! %s\n", v.clean(fmt.Sprintf("%s %s: %s", s.Task.ID, s.Result.Cause, s.Result.Message)))
	}
}

// close takes the table away; the lines stay.
func (v *view) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed = true; v.late != nil {
		v.late.Stop()
	}
	v.wipe()
}
