package tui

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"adze/internal/text/safeterm"
	"adze/session/api"
	"adze/tool"
	"adze/tui/async"
	"adze/tui/draw"
	tuilist "adze/tui/list"
	"adze/tui/pane"
	"adze/tui/ui"
)

// jobsEvery is the polling interval for running jobs: nothing announces their end. There is no
// timer if none runs.
const jobsEvery = 2 * time.Second

// jobs shows background jobs and the turn's running calls.
type jobs struct {
	host
	ports    *api.Ports
	picker   *tuilist.List
	activity *pane.Activity
	view     *pane.View
	theme    *draw.Theme
	timed    bool // a poll is scheduled
}

// look lists the background jobs.
func (j *jobs) look() tea.Cmd {
	ask := j.ports.Jobs
	if ask == nil {
		return nil
	}
	return async.Ask(ask, j.seen)
}

func (j *jobs) commands() []command {
	return []command{
		{name: "jobs", help: "background jobs: see their output, end one", can: j.can, run: noArgs(j.choose)},
		{name: "abort", hidden: true, help: "abort one running call; the agent goes on", can: j.canCancel, run: noArgs(j.cancel)},
	}
}

// seen shows the running jobs and polls again while there are any.
func (j *jobs) seen(list []api.Job) tea.Cmd {
	var running []pane.Job
	for _, one := range list {
		if one.Running {
			running = append(running, pane.Job{ID: one.ID, Command: one.Command, Since: one.Started})
		}
	}
	j.activity.InBackground(running)
	if len(running) == 0 || j.timed {
		return nil
	}
	j.timed = true
	return j.later(jobsEvery, async.Continuation(func() tea.Cmd { j.timed = false; return j.look() }))
}

func (j *jobs) can() string {
	return ui.ReasonIf(j.ports.Jobs == nil || j.ports.EndJob == nil, "this session has no background jobs")
}

// choose lists the jobs with their output. Enter shows a job's output; another key ends a running
// job after a question.
func (j *jobs) choose() tea.Cmd {
	now := j.clock()
	j.picker.Begin("background jobs", nil, func(c tuilist.Choice) tea.Cmd { return j.show(c) })
	j.picker.Ended = func(c tuilist.Choice) tea.Cmd { return j.askToEnd(c) }
	if ask := j.ports.JobOutput; ask != nil {
		j.picker.PeekWith("its last output", func(ctx context.Context, id string) ([]draw.Span, error) {
			text, err := ask(ctx, id)
			return outputLines(text), err
		})
	}
	return j.picker.Lookup(func(context.Context) ([]tuilist.Choice, error) {
		list := j.ports.Jobs()
		if len(list) == 0 {
			return []tuilist.Choice{{Label: "no job runs", DisabledReason: "the agent starts commands in the background when it wants to"}}, nil
		}
		return jobChoices(list, now), nil
	})
}

// jobChoices returns list rows: running jobs first, then newest first.
func jobChoices(list []api.Job, now time.Time) []tuilist.Choice {
	var out []tuilist.Choice
	list = slices.Clone(list)
	slices.Reverse(list)
	slices.SortStableFunc(list, func(a, b api.Job) int { return over(a) - over(b) })
	for _, j := range list {
		c := tuilist.Choice{ID: j.ID, Label: j.ID + "  " + ui.Shorten(j.Command), Note: "runs"}
		if d, known := ui.Running(now, j.Started); known {
			c.Note += " for " + ui.Seconds(d)
		}
		if !j.Running {
			c.Note, c.Ended = "ended: "+j.Ended, true
		}
		out = append(out, c)
	}
	return out
}

// over returns 1 for an ended job, else 0.
func over(j api.Job) int {
	if j.Running {
		return 0
	}
	return 1
}

// outputLines returns the last lines of an output.
func outputLines(text string) []draw.Span {
	const most = 200
	lines := safeterm.Clean(text).Lines()
	var out []draw.Span
	for _, line := range lines[max(len(lines)-most, 0):] {
		out = append(out, draw.Span{Style: draw.Plain, Text: line})
	}
	return out
}

// show opens a job's output.
func (j *jobs) show(c tuilist.Choice) tea.Cmd {
	ask := j.ports.JobOutput
	if ask == nil {
		j.showMessage("output of jobs cannot be shown here")
		return nil
	}
	return async.Try(func() (string, error) { return ask(context.Background(), c.ID) }, func(text string, err error) tea.Cmd {
		if err != nil {
			j.showMessage("error: " + err.Error())
			return nil
		}
		j.view.Toggle(pane.NewLog(j.theme, c.Label, outputLines(text)))
		j.view.ToEnd(1)
		return nil
	})
}

// askToEnd asks whether to end a job; Enter leaves it running.
func (j *jobs) askToEnd(c tuilist.Choice) tea.Cmd {
	j.picker.Ask("end "+c.Label+"?", []tuilist.Choice{{ID: "no", Label: "leave it running"}, {ID: c.ID, Label: "end it", Note: "with everything it started"}},
		func(tuilist.Choice) tea.Cmd { return j.end(c.ID) })
	return nil
}

func (j *jobs) end(id string) tea.Cmd {
	j.showMessage("ending " + id + "…")
	return async.Ask(func() error { return j.ports.EndJob(id) }, func(err error) tea.Cmd {
		j.showMessage(id + " was ended")
		if err != nil {
			j.showMessage("error: " + err.Error())
		}
		return j.look()
	})
}

func (j *jobs) canCancel() string {
	switch {
	case j.ports.CancelCall == nil:
		return "this session cannot abort single calls"
	case len(j.activity.Started()) == 0 && j.activity.Jobs() > 0:
		return "no call is running; /jobs lists the background jobs"
	case len(j.activity.Started()) == 0:
		return "no call is running"
	}
	return ""
}

// cancel aborts the only running call, or asks which one; the turn continues.
func (j *jobs) cancel() tea.Cmd {
	running := j.activity.Started()
	if len(running) == 1 {
		return j.cancelOne(running[0].ID, running[0].Title)
	}
	var items []tuilist.Choice
	for _, c := range running {
		label := c.Title
		if c.Parent != "" {
			label = "↳ " + label
		}
		items = append(items, tuilist.Choice{ID: string(c.ID), Label: label})
	}
	j.picker.Begin("abort which call?", items, func(c tuilist.Choice) tea.Cmd {
		return j.cancelOne(tool.CallID(c.ID), strings.TrimPrefix(c.Label, "↳ "))
	})
	return nil
}

func (j *jobs) cancelOne(id tool.CallID, name string) tea.Cmd {
	if j.ports.CancelCall(id) {
		j.showMessage("aborting " + name + "; the agent goes on")
	} else {
		j.showMessage(name + " has already ended")
	}
	return nil
}
