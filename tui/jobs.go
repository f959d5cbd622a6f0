package tui

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"adze/internal/text/safeterm"
	"adze/tool"
	"adze/tui/api"
	"adze/tui/draw"
	tuilist "adze/tui/list"
	"adze/tui/pane"
	"adze/tui/ui"
)

// jobsEvery is how often jobs that run are looked at: nobody tells when one ends by itself. Where
// none runs there is no timer.
const jobsEvery = 2 * time.Second

// Messages about jobs: it is time to look, what was seen, and one that was ended.
type (
	jobsDue  struct{}
	jobs     []api.Job
	jobEnded struct {
		id  string
		err error
	}
	jobLog struct {
		label, text string
		err         error
	}
)

// stirred says that something changed in the background.
type stirred struct{}

// Stir has what goes on in the background looked at, and the agent told of what came from there.
func (u *UI) Stir() { u.bridge.push(stirred{}) }

// stir looks at the background, and has the agent told what came from there where it waits for the
// user. Whom the user has stopped is told with their next message.
func stir(m *model) tea.Cmd {
	if m.stopped && !m.turn.running && hasLate(m) {
		m.say("what came from the background goes to the agent with your next message")
	}
	return tea.Batch(lookForJobs(m), wake(m))
}

func hasLate(m *model) bool { return m.ports.Late != nil && m.ports.Wake != nil && m.ports.Late() }

// wake begins a turn with what came by itself; if nil, nothing came, or it is told otherwise.
func wake(m *model) tea.Cmd {
	if m.turn.running || m.stopped || m.leaving || m.rewinding || !hasLate(m) {
		return nil
	}
	return m.begin(job{wake: true})
}

// lookForJobs asks what runs in the background.
func lookForJobs(m *model) tea.Cmd {
	ask := m.ports.Jobs
	if ask == nil {
		return nil
	}
	return func() tea.Msg { return jobs(ask()) }
}

// lookAround asks for what a call may have changed: the branch and the jobs, where it may run
// commands; the jobs also where one runs, which a call may have ended.
func lookAround(m *model, o tool.Outcome) tea.Cmd {
	switch {
	case mayMoveHead(o):
		return tea.Batch(m.lookForBranch(), lookForJobs(m))
	case m.activity.Jobs() > 0:
		return lookForJobs(m)
	}
	return nil
}

// aboutJobs follows what runs in the background.
func aboutJobs(m *model, msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case jobs:
		return seenJobs(m, msg)
	case jobEnded:
		m.say(msg.id + " was ended")
		if msg.err != nil {
			m.say("error: " + msg.err.Error())
		}
	case jobLog:
		if msg.err != nil {
			m.say("error: " + msg.err.Error())
			return nil
		}
		m.view.Toggle(pane.NewLog(m.draw.Theme, msg.label, outputLines(msg.text)))
		m.view.ToEnd(1)
		return nil
	case jobsDue:
		m.jobsTimed = false
	case served:
		return aboutServer(m, msg)
	}
	return lookForJobs(m)
}

// seenJobs shows what runs in the background, and has it looked at again while something does.
func seenJobs(m *model, list jobs) tea.Cmd {
	var running []pane.Job
	for _, j := range list {
		if j.Running {
			running = append(running, pane.Job{ID: j.ID, Command: j.Command, Since: j.Started})
		}
	}
	m.activity.InBackground(running)
	m.status.InBackground(len(running))
	if len(running) == 0 || m.jobsTimed {
		return nil
	}
	m.jobsTimed = true
	return m.after(jobsEvery, jobsDue{})
}

func canJobs(m *model) string {
	if m.ports.Jobs == nil || m.ports.EndJob == nil {
		return "nothing can run in the background here"
	}
	return ""
}

// chooseJob lists the jobs with what they wrote. Taking one shows its output; another key ends one
// that runs, and asks.
func chooseJob(m *model) tea.Cmd {
	now := m.now()
	m.picker.Begin("background jobs", nil, func(c tuilist.Choice) tea.Cmd { return showJob(m, c) })
	m.picker.Ended = func(c tuilist.Choice) tea.Cmd { return askToEnd(m, c) }
	if ask := m.ports.JobOutput; ask != nil {
		m.picker.PeekWith("what it wrote last", func(ctx context.Context, id string) ([]draw.Span, error) {
			text, err := ask(ctx, id)
			return outputLines(text), err
		})
	}
	return m.picker.Lookup(func(context.Context) ([]tuilist.Choice, error) {
		list := m.ports.Jobs()
		if len(list) == 0 {
			return []tuilist.Choice{{Label: "no job was started", Off: "a command goes to the background when the agent asks for it"}}, nil
		}
		return jobChoices(list, now), nil
	})
}

// jobChoices are jobs as rows: those that run first, the newest of each first.
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
			c.Note, c.Over = "ended: "+j.Ended, true
		}
		out = append(out, c)
	}
	return out
}

// over is 1 for a job that has ended.
func over(j api.Job) int {
	if j.Running {
		return 0
	}
	return 1
}

// outputLines are the last lines of an output, the newest at the end.
func outputLines(text string) []draw.Span {
	const most = 200
	lines := safeterm.Clean(text).Lines()
	var out []draw.Span
	for _, line := range lines[max(len(lines)-most, 0):] {
		out = append(out, draw.Span{Style: draw.Plain, Text: line})
	}
	return out
}

// showJob opens what a job wrote.
func showJob(m *model, c tuilist.Choice) tea.Cmd {
	ask := m.ports.JobOutput
	if ask == nil {
		m.say("what jobs write cannot be shown here")
		return nil
	}
	return func() tea.Msg {
		text, err := ask(context.Background(), c.ID)
		return jobLog{c.Label, text, err}
	}
}

// askToEnd asks whether a job is to be ended; Enter leaves it running.
func askToEnd(m *model, c tuilist.Choice) tea.Cmd {
	m.picker.Begin("end "+c.Label+"?", []tuilist.Choice{{ID: "", Label: "leave it running"}, {ID: c.ID, Label: "end it", Note: "and all that it started"}},
		func(answer tuilist.Choice) tea.Cmd {
			if answer.ID == "" {
				return nil
			}
			return endJob(m, answer.ID)
		})
	return nil
}

// endJob ends one job; the answer comes as jobEnded.
func endJob(m *model, id string) tea.Cmd {
	m.say("ending " + id + "…")
	return func() tea.Msg { return jobEnded{id, m.ports.EndJob(id)} }
}
