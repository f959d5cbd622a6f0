package agents

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"adze/session"
	"adze/tool"
	"adze/toolset"
)

// Background tasks: the call ends at once, the task continues beside the conversation, and its
// report joins the conversation later as a note. The report is stored before anyone gets it, so
// none is lost or sent twice.

// Reasons for ending background tasks.
const (
	errLeft  abortReason = "adze was left while it worked"
	errEnded abortReason = "the person ended it"
)

// abortReason is an abort from outside, with its reason.
type abortReason string

func (e abortReason) Error() string { return string(e) }

// ErrorCode returns the code for aborted calls.
func (abortReason) ErrorCode() string { return tool.CodeAborted }

// Is makes a session treat it as an interruption.
func (abortReason) Is(target error) bool { return target == session.ErrInterrupted }

// Later is a background task's state.
type Later struct {
	ID      string // for the user: "task1"
	Name    string // the subagent's
	Running bool
	Started time.Time
	Ended   string // how it ended; "" while running
	Report  string // its report, or its current action
}

type later struct {
	Later
	end   context.CancelCauseFunc
	work  *work
	said  toolset.TaskProgress
	calls []string
}

func (a *Agents) background(w *work) (toolset.TaskResult, error) {
	if err := w.take(); err != nil {
		return w.result(""), err
	}
	ctx, end := context.WithCancelCause(a.life)
	l := &later{Later: Later{Name: w.name, Running: true, Started: time.Now()}, end: end, work: w}
	w.progress, w.request.Waits = func(p toolset.TaskProgress) { a.saw(l, p) }, nil // waiting for a user is not the turn's time
	err := a.enlist(l)
	if err == nil {
		if err = w.link(); err != nil {
			a.strike(l)
		}
	}
	if err != nil {
		end(nil)
		w.leave()
		return w.result(""), err
	}
	go func() {
		defer a.all.Done()
		defer end(nil)
		r, err := w.inPlace(ctx)
		a.report(l, r, err)
	}()
	w.config.changed()
	return toolset.TaskResult{ID: string(w.id), Agent: w.kind.Label(), Background: true}, nil
}

// enlist adds a running task, unless adze is exiting.
func (a *Agents) enlist(l *later) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.life.Err() != nil {
		return context.Cause(a.life)
	}
	a.all.Add(1)
	a.started++
	l.ID = fmt.Sprintf("task%d", a.started)
	a.later = append(a.later, l)
	return nil
}

// strike removes a task that could not start.
func (a *Agents) strike(l *later) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.later = slices.DeleteFunc(a.later, func(other *later) bool { return other == l })
	a.all.Done()
}

func (a *Agents) saw(l *later, p toolset.TaskProgress) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if l.said = p; p.Last != "" && (len(l.calls) == 0 || l.calls[len(l.calls)-1] != p.Last) {
		l.calls = append(l.calls[max(0, len(l.calls)-maxDid):], p.Last)
	}
}

// report stores the result, sends it to the model, and only then marks the task as ended.
func (a *Agents) report(l *later, r toolset.TaskResult, err error) {
	w := l.work
	report := reportOf(w.linked(), r, err)
	if err := w.store(session.ReportEntry, report); err != nil {
		w.show(session.Notice{Text: w.name + ": its report could not be saved: " + err.Error()})
	}
	if w.config.Note != nil {
		w.config.Note(noteOf(report))
	}
	w.leave()
	a.mu.Lock()
	l.Running, l.Ended, l.calls = false, fmt.Sprintf("%s after %s, %d calls", report.Status, time.Since(l.Started).Round(time.Second), r.Calls), []string{report.Text}
	a.mu.Unlock()
	select {
	case a.news <- struct{}{}:
	default:
	}
	w.config.changed()
}

func (c Config) changed() {
	if c.Changed != nil {
		c.Changed()
	}
}

// Await waits until a background task has reported or ctx ends. It returns false if none is
// running.
func (a *Agents) Await(ctx context.Context) bool {
	if !slices.ContainsFunc(a.Later(), func(l Later) bool { return l.Running }) {
		return false
	}
	select {
	case <-a.news:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// Later lists the background tasks, oldest first.
func (a *Agents) Later() []Later {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []Later
	for _, l := range a.later {
		one := l.Later
		one.Report = strings.Join(l.calls, "\n")
		if l.Running && l.said.LatestLine != "" {
			one.Report += "\n" + l.said.LatestLine
		}
		out = append(out, one)
	}
	return out
}

// End ends a background task without waiting; its report notes that. It returns false if no such
// task is running.
func (a *Agents) End(id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, l := range a.later {
		if l.ID == id && l.Running {
			l.end(errEnded)
			return true
		}
	}
	return false
}

// Close ends all background tasks, waits until that is stored, and returns their subagents' names.
func (a *Agents) Close() []string {
	a.mu.Lock()
	var names []string
	for _, l := range a.later {
		if l.Running {
			names = append(names, l.Name)
		}
	}
	a.leave(errLeft)
	a.mu.Unlock()
	a.all.Wait()
	return names
}
