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

// A task in the background: its call ends at once, it works on beside the conversation, and its
// report joins that later, as a note. The report is stored before anybody is told of it, so that
// none is lost and none comes twice.

// Why tasks in the background are ended.
const (
	errLeft  abortReason = "adze was left while it worked"
	errEnded abortReason = "the person ended it"
)

// abortReason is an abort from outside, for a reason.
type abortReason string

func (e abortReason) Error() string { return string(e) }

// ErrorCode is that of what was aborted.
func (abortReason) ErrorCode() string { return tool.CodeAborted }

// Is lets a session know it as an interruption.
func (abortReason) Is(target error) bool { return target == session.ErrInterrupted }

// Later is a task in the background, as it stands.
type Later struct {
	ID      string // for people: "task1"
	Name    string // of the subagent
	Running bool
	Started time.Time
	Ended   string // how, where it does not run any more
	Says    string // its report, else what it does
}

// later is one of them.
type later struct {
	Later
	end  context.CancelCauseFunc
	work *work
	said toolset.TaskProgress
	did  []string
}

// background starts a task that works on when its call has ended.
func (a *Agents) background(w *work) (toolset.TaskResult, error) {
	if err := w.take(); err != nil {
		return w.result(""), err
	}
	ctx, end := context.WithCancelCause(a.life)
	l := &later{Later: Later{Name: w.name, Running: true, Started: time.Now()}, end: end, work: w}
	w.progress, w.request.Waits = func(p toolset.TaskProgress) { a.saw(l, p) }, nil // a user's time is not the turn's
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

// enlist counts it among those that run, unless adze is being left.
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

// strike takes one that could not start off the list.
func (a *Agents) strike(l *later) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.later = slices.DeleteFunc(a.later, func(other *later) bool { return other == l })
	a.all.Done()
}

func (a *Agents) saw(l *later, p toolset.TaskProgress) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if l.said = p; p.Last != "" && (len(l.did) == 0 || l.did[len(l.did)-1] != p.Last) {
		l.did = append(l.did[max(0, len(l.did)-maxDid):], p.Last)
	}
}

// report stores what came of it, has the model told, and only then lets it count as ended.
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
	l.Running, l.Ended, l.did = false, fmt.Sprintf("%s after %s, %d calls", report.Status, time.Since(l.Started).Round(time.Second), r.Calls), []string{report.Text}
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

// Await waits while tasks work in the background, until one has reported or ctx ends. False: none
// works.
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

// Later lists the tasks in the background, oldest first.
func (a *Agents) Later() []Later {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []Later
	for _, l := range a.later {
		one := l.Later
		one.Says = strings.Join(l.did, "\n")
		if l.Running && l.said.Says != "" {
			one.Says += "\n" + l.said.Says
		}
		out = append(out, one)
	}
	return out
}

// End ends one task in the background, and waits for nothing: its report says that it was ended.
// False: none of this name works.
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

// Close ends what works in the background and waits until that is stored. It names the subagents
// that it ended.
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
