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

// turn is the state of one running prompt or user command.
type turn struct {
	running, stopping bool
	ended             bool // TurnEnd was received
	prompt            api.Prompt
	heard             bool // the conversation holds the user's message
	shell             bool // not a prompt: a user command, a compaction or another job
	woken             bool // begun by background results, without a prompt
	rewind            bool // take the prompt back after the turn has stopped
	over              func()
	since             time.Time
	cancel            context.CancelFunc
}

// turns runs the agent's work.
type turns struct {
	host
	*shutdown
	ports      *api.Ports
	transcript *transcript.Pane
	prompt     *prompt.Line
	start      func(ctx context.Context, j job) // runs a turn; turnDone announces its end
	show       func(session.Event) tea.Cmd      // in the conversation
	tell       func(screen.Note) tea.Cmd
	review     func(session.Result) tea.Cmd // opens the review of a staged turn; returns nil if nothing waits
	rewind     func() tea.Cmd               // takes the last message back
	held       func() bool                  // the last message is being taken back

	turn    turn // the running turn
	stopped bool // the user stopped the last turn and has done nothing since
	leaving bool // the interface ends with this turn
	then    []func() tea.Cmd
	claims  session.Claimed // claim check of the last answer
	copy    func(what, text string) tea.Cmd
}

func (t *turns) commands() []command {
	return []command{
		{name: "compact", args: "[what to keep]", help: "sum up the conversation to make room", can: t.canCompact, run: t.compact},
		{name: "claims", hidden: true, help: "tell the model what its answer claims without a call", can: t.canClaims, run: noArgs(t.tellClaims)},
		{name: "evidence", help: "copy what calls show of the last answer, for a commit or pull request", can: t.canEvidence, run: noArgs(t.evidence)},
	}
}

// apply follows the turn's events.
func (t *turns) apply(e session.Event) {
	switch e := e.(type) {
	case session.Claimed:
		t.claims = e
	case session.MessageDone:
		t.turn.heard = t.turn.heard || e.Message.Role == session.User && e.Message.OwnCall == "" && !e.Message.Note
	case session.TurnEnd:
		t.turn.ended = true
	}
}

// end cancels the running turn.
func (t *turns) end() {
	if t.turn.cancel != nil {
		t.turn.cancel()
	}
}

// stop cancels the turn, which keeps its partial output. It returns false if none runs.
func (t *turns) stop() bool {
	if !t.working() {
		return false
	}
	t.turn.cancel()
	t.turn.stopping = true
	return true
}

// stopToRewind takes the message back once the stopping turn has ended. It returns false if no turn
// is stopping or it has no message.
func (t *turns) stopToRewind() bool {
	if !t.turn.stopping || t.turn.shell || t.ports.Rewind == nil {
		return false
	}
	t.turn.rewind = true
	return true
}

// leave stops the running turn and then ends the interface, so that the turn is recorded. It
// returns false if no turn runs or the interface is already leaving.
func (t *turns) leave() bool {
	if !t.working() || t.leaving {
		return false
	}
	t.leaving = true
	t.turn.cancel()
	return true
}

// forget clears stopped, after the user has done something else.
func (t *turns) forget() { t.stopped = false }

// moment returns the turn's part of the status line.
func (t *turns) moment() pane.Moment {
	return pane.Moment{Running: t.working(), Stopping: t.turn.stopping || t.leaving,
		Elapsed: max(t.clock().Sub(t.turn.since), 0), Queued: t.prompt.Queued()}
}

// job is the work for one turn.
type job struct {
	prompt  api.Prompt
	command string // replaces prompt
	// run replaces prompt with another action of the user.
	run func(ctx context.Context) session.Result
	// over, if not nil, is called at the end; the job is then no turn, and its end is not shown.
	over func()
	// compact summarizes the conversation; wish names the information to keep.
	compact bool
	wish    string
	// wake passes background results to the agent.
	wake bool
}

func (t *turns) begin(j job) tea.Cmd {
	t.claims = session.Claimed{}
	ctx, cancel := context.WithCancel(context.Background())
	t.turn = turn{running: true, since: t.clock(), cancel: cancel, shell: j.command != "" || j.compact || j.run != nil, woken: j.wake, prompt: j.prompt, ended: j.over != nil, over: j.over}
	t.stopped = false
	t.start(ctx, j)
	return tick(t.host)
}

// tick redraws a running turn's clock each second.
func tick(h host) tea.Cmd {
	return h.later(time.Second, async.Continuation(func() tea.Cmd {
		if !h.working() {
			return nil
		}
		return tick(h)
	}))
}

// elsewhere takes a prompt from another window.
func (t *turns) elsewhere(p api.Prompt) tea.Cmd {
	if t.working() {
		t.prompt.Enqueue(p)
		return nil
	}
	return t.begin(job{prompt: p})
}

// done ends a turn and runs the jobs that waited for its end.
func (t *turns) done(r session.Result) tea.Cmd {
	cmds := []tea.Cmd{t.finish(r)}
	then := t.then
	t.then = nil
	for _, take := range then {
		cmds = append(cmds, take())
	}
	return tea.Batch(cmds...)
}

// finish ends a turn. After success the next message is sent; otherwise waiting messages return to
// the prompt.
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
	case !shell && !heard && r.Cause != session.CauseDone: // the prompt is not in the conversation
		t.prompt.Unsent(sent)
		t.prompt.Unqueue()
	case rewind:
		t.prompt.Unqueue()
		return t.rewind()
	case r.Cause != session.CauseDone && (!shell || r.Cause == session.CauseInterrupted): // an interrupted user command also returns the queue
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
	case !t.transcript.HasUserMessage():
		return "the conversation is empty"
	}
	return ""
}

// compact summarizes the conversation now.
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

// tellClaims sends the last answer's contradicted claims as the user's message.
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

// evidence shows the evidence for the last answer as a list, and copies it.
func (t *turns) evidence() tea.Cmd {
	list := session.EvidenceText(t.claims.Evidence, t.claims.Claims)
	t.show(session.Notice{Text: strings.TrimSpace(list), Kind: session.Remark})
	return t.copy("the evidence", list)
}

// stir passes background results to an idle agent. After a stop by the user they wait for the next
// message.
func (t *turns) stir() tea.Cmd {
	if t.stopped && !t.working() && t.hasLate() {
		t.showMessage("background results go to the agent with your next message")
	}
	return t.wake()
}

func (t *turns) hasLate() bool { return t.ports.Late != nil && t.ports.Wake != nil && t.ports.Late() }

// wake begins a turn with background results. It returns nil if there are none or the agent must
// not start now.
func (t *turns) wake() tea.Cmd {
	if t.working() || t.stopped || t.leaving || t.held() || !t.hasLate() {
		return nil
	}
	return t.begin(job{wake: true})
}
