package tui

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"adze/session"
	"adze/session/api"
	"adze/tui/async"
	"adze/tui/pane"
	"adze/tui/prompt"
	"adze/tui/screen"
	"adze/tui/transcript"
)

// turn is one prompt being worked on, or one command of the user's own.
type turn struct {
	running, stopping bool
	ended             bool // its TurnEnd was seen
	prompt            api.Prompt
	heard             bool // the user's message is in the conversation
	shell             bool // a command of the user's own
	woken             bool // nobody prompted it
	rewind            bool // take the prompt back once it has stopped
	over              func()
	since             time.Time
	cancel            context.CancelFunc
}

// turns are the work of the agent.
type turns struct {
	host
	*ender
	ports      *api.Ports
	transcript *transcript.Pane
	prompt     *prompt.Line
	start      func(ctx context.Context, j job) // runs a turn; its end comes as turnDone
	show       func(session.Event) tea.Cmd      // in the conversation
	tell       func(screen.Note) tea.Cmd
	review     func(session.Result) tea.Cmd // of a staged turn; nil where nothing waits
	rewind     func() tea.Cmd               // takes the last message back
	held       func() bool                  // it is being taken back

	turn    turn // that runs
	stopped bool // the last turn was stopped by the user, and nothing was done since
	leaving bool // its end is that of the interface
	then    []func() tea.Cmd
	claims  session.Claimed // what the calls show of the last answer, and do not
	copy    func(what, text string) tea.Cmd
}

func (t *turns) commands() []command {
	return []command{
		{name: "compact", args: "[what to keep]", help: "sum up the conversation to make room", can: t.canCompact, do: t.compact},
		{name: "claims", hidden: true, help: "tell the model what its answer claims without a call", can: t.canClaims, do: noArgs(t.tellClaims)},
		{name: "evidence", help: "copy what calls show of the last answer, for a commit or pull request", can: t.canEvidence, do: noArgs(t.evidence)},
	}
}

// apply follows what is told of the turn.
func (t *turns) apply(e session.Event) {
	switch e := e.(type) {
	case session.Claimed:
		t.claims = e
	case session.MessageDone:
		t.turn.heard = t.turn.heard || e.Message.Role == session.User && e.Message.Own == "" && !e.Message.Note
	case session.TurnEnd:
		t.turn.ended = true
	}
}

// end stops what still runs.
func (t *turns) end() {
	if t.turn.cancel != nil {
		t.turn.cancel()
	}
}

// stop stops the turn, keeping what was written so far; if false, none runs.
func (t *turns) stop() bool {
	if !t.working() {
		return false
	}
	t.turn.cancel()
	t.turn.stopping = true
	return true
}

// stopToRewind has the message of a turn that stops come back; if false, none stops, or it has
// none.
func (t *turns) stopToRewind() bool {
	if !t.turn.stopping || t.turn.shell || t.ports.Rewind == nil {
		return false
	}
	t.turn.rewind = true
	return true
}

// leave stops the turn that runs, to end the interface with it, so that it is recorded; if false,
// none runs, or it is left already.
func (t *turns) leave() bool {
	if !t.working() || t.leaving {
		return false
	}
	t.leaving = true
	t.turn.cancel()
	return true
}

// forget has a stop be forgotten: something was done since.
func (t *turns) forget() { t.stopped = false }

// moment is what the status line needs to know of the turn.
func (t *turns) moment() pane.Moment {
	return pane.Moment{Running: t.working(), Stopping: t.turn.stopping || t.leaving,
		Elapsed: max(t.clock().Sub(t.turn.since), 0), Queued: t.prompt.Queued()}
}

// job is what a turn does.
type job struct {
	prompt  api.Prompt
	command string // run this instead
	// run is another thing of the user's own that is done instead.
	run func(ctx context.Context) session.Result
	// over is called when it has ended. It is no turn then: nothing is shown of its end. If nil, it is
	// one.
	over func()
	// compact has the conversation summed up instead; wish says what must not be lost.
	compact bool
	wish    string
	// wake has the agent told instead what came by itself.
	wake bool
}

// begin starts a turn.
func (t *turns) begin(j job) tea.Cmd {
	t.claims = session.Claimed{}
	ctx, cancel := context.WithCancel(context.Background())
	t.turn = turn{running: true, since: t.clock(), cancel: cancel, shell: j.command != "" || j.compact || j.run != nil, woken: j.wake, prompt: j.prompt, ended: j.over != nil, over: j.over}
	t.stopped = false
	t.start(ctx, j)
	return tick(t.host)
}

// tick has the clock of a running turn drawn each second.
func tick(h host) tea.Cmd {
	return h.later(time.Second, async.Then(func() tea.Cmd {
		if !h.working() {
			return nil
		}
		return tick(h)
	}))
}

// elsewhere takes a prompt that the user sent from elsewhere.
func (t *turns) elsewhere(p api.Prompt) tea.Cmd {
	if t.working() {
		t.prompt.Enqueue(p)
		return nil
	}
	return t.begin(job{prompt: p})
}

// done ends a turn, and takes then what waited for that.
func (t *turns) done(r session.Result) tea.Cmd {
	cmds := []tea.Cmd{t.finish(r)}
	then := t.then
	t.then = nil
	for _, take := range then {
		cmds = append(cmds, take())
	}
	return tea.Batch(cmds...)
}

// finish ends a turn. After a good end the next message goes out; else what waits returns to the
// prompt.
func (t *turns) finish(r session.Result) tea.Cmd {
	if !t.turn.ended { // it failed before it began
		t.show(session.TurnEnd{Result: r})
	}
	t.turn.cancel()
	if t.turn.over != nil {
		defer t.turn.over()
	}
	rewind, shell, heard, sent := t.turn.rewind, t.turn.shell, t.turn.heard || t.turn.woken, t.turn.prompt
	t.turn = turn{}
	t.prompt.Unsteer()
	switch {
	case t.leaving:
		return t.exit()
	case !shell && !heard && r.Cause != session.CauseDone: // it is nowhere else
		t.prompt.Unsent(sent)
		t.prompt.Unqueue()
	case rewind:
		t.prompt.Unqueue()
		return t.rewind()
	case r.Cause != session.CauseDone && (!shell || r.Cause == session.CauseInterrupted): // who stops a command of their own wants nothing sent either
		t.stopped = r.Cause == session.CauseInterrupted && !shell
		t.prompt.Unqueue()
	default:
		if cmd := t.review(r); cmd != nil {
			return cmd
		}
		if next, ok := t.prompt.Next(); ok {
			return t.begin(job{prompt: next})
		}
		if cmd := t.wake(); cmd != nil {
			return cmd
		}
	}
	return t.tell(screen.NoteDone)
}

func (t *turns) canCompact() string {
	switch {
	case t.ports.Compact == nil:
		return "this session cannot be summed up"
	case t.working():
		return "busy: stop the agent first, or wait"
	case !t.transcript.Said():
		return "the conversation is empty"
	}
	return ""
}

// compact has the conversation summed up now.
func (t *turns) compact(wish string) tea.Cmd { return t.begin(job{compact: true, wish: wish}) }

func (t *turns) canClaims() string {
	switch {
	case t.working():
		return "the agent is working"
	case len(t.claims.Claims) == 0:
		return "the last answer says nothing of tests that the calls contradict"
	}
	return ""
}

// tellClaims sends what was found in the last answer as the user's message.
func (t *turns) tellClaims() tea.Cmd {
	return t.begin(job{prompt: api.Prompt{Text: session.ClaimsText(t.claims.Claims)}})
}

func (t *turns) canEvidence() string {
	switch {
	case t.working():
		return "the agent is working"
	case len(t.claims.Claims)+len(t.claims.Evidence) == 0:
		return "nothing in the last answer is known to be true or in doubt"
	}
	return ""
}

// evidence shows what is known of the last answer as a list, and copies it.
func (t *turns) evidence() tea.Cmd {
	list := session.EvidenceText(t.claims.Evidence, t.claims.Claims)
	t.show(session.Notice{Text: strings.TrimSpace(list), Kind: session.Remark})
	return t.copy("the evidence", list)
}

// stir has the agent told what came from the background where it waits for the user. Whom the user
// has stopped is told with their next message.
func (t *turns) stir() tea.Cmd {
	if t.stopped && !t.working() && t.hasLate() {
		t.say("background results go to the agent with your next message")
	}
	return t.wake()
}

func (t *turns) hasLate() bool { return t.ports.Late != nil && t.ports.Wake != nil && t.ports.Late() }

// wake begins a turn with what came by itself; if nil, nothing came, or it is told otherwise.
func (t *turns) wake() tea.Cmd {
	if t.working() || t.stopped || t.leaving || t.held() || !t.hasLate() {
		return nil
	}
	return t.begin(job{wake: true})
}
