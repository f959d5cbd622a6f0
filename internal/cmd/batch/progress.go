package batch

import (
	"cmp"
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

// view shows progress: a line per finished task, and on a terminal a status line below.
type view struct {
	out   io.Writer
	mask  *redact.Masker
	all   int
	live  bool
	began time.Time

	mu           sync.Mutex
	running      map[string]batch.State
	over, failed int
	drawn        time.Time
}

// Limits of the output.
const (
	drawEvery  = 100 * time.Millisecond
	maxColumns = 100 // so that a line fits a usual terminal
)

// take updates a task's progress.
func (v *view) take(s batch.State) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.running[s.Task.ID] = s
	if s.Stage == batch.Finished || s.Stage == batch.Stopped {
		delete(v.running, s.Task.ID)
		v.wipe()
		v.line(s)
		v.drawn = time.Time{}
	}
	if v.live && time.Since(v.drawn) > drawEvery {
		v.drawn = time.Now()
		doing := strings.TrimSpace(fmt.Sprintf("%s %s %s", s.Task.ID, s.Stage, s.LatestCall))
		v.wipe()
		fmt.Fprint(v.out, v.clean(fmt.Sprintf("%d of %d done, %d failed, %d running · %s · %s", v.over, v.all, v.failed, len(v.running), time.Since(v.began).Round(time.Second), doing)))
	}
}

// read updates a task's progress from a line of its adze.
func (v *view) read(task string, line []byte) {
	v.mu.Lock()
	s := v.running[task]
	v.mu.Unlock()
	if s.Task.ID = task; s.Read(line) {
		v.take(s)
	}
}

func (v *view) wipe() {
	if v.live {
		fmt.Fprint(v.out, "\r\x1b[K")
	}
}

// line prints a finished or stopped task.
func (v *view) line(s batch.State) {
	if s.Result == nil {
		fmt.Fprintf(v.out, "- %s\n", v.clean(s.Task.ID+" stopped: "+s.Reason))
		return
	}
	if v.over++; !s.Result.OK {
		v.failed++
		fmt.Fprintf(v.out, "! %s\n", v.clean(fmt.Sprintf("%s %s: %s", s.Task.ID, s.Result.Cause, s.Result.Message)))
		return
	}
	fmt.Fprintf(v.out, "· %s\n", v.clean(fmt.Sprintf("%s done, %s changed, %s", s.Task.ID, plural.Of(s.Result.Changed, "file"), cmp.Or(s.Result.Repo, s.Result.Folder))))
}

// clean shortens a foreign text to a line without secrets and control characters.
func (v *view) clean(text string) string { return clip(v.mask.Text(text), maxColumns) }

// clip shortens a foreign text for a table cell.
func clip(text string, most int) string {
	text = safeterm.Name(strings.ReplaceAll(text, "\n", " ")).String()
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}
