package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"adze/tool"
)

// Hooks are programs that are told of moments of a session and may have a say. What they add is
// said as a note; each that was started leaves an entry in the log; and they only narrow: no answer
// of theirs is a yes to anything.

// Moments, by their names.
const (
	HookStart   = "session_start"  // before the first prompt of this process
	HookPrompt  = "prompt"         // before a prompt is said; it may be denied
	HookBefore  = "before_tool"    // before a call is judged; it may be denied, asked about, and changed
	HookAfter   = "after_tool"     // after a call ran
	HookCompact = "before_compact" // before a summary; one that a user wants may be denied
	HookStop    = "stop"           // before a turn ends with an answer; a denial has it go on
	HookNotify  = "notification"   // a user is waited for, or a turn has ended
	HookNeeds   = "needs_you"      // a question waits for the user; nothing of the session is told
)

// HookEvents lists the moments in the order of a session.
func HookEvents() []string {
	return []string{HookStart, HookPrompt, HookBefore, HookAfter, HookCompact, HookStop, HookNotify, HookNeeds}
}

// Kinds of moments of one name.
const (
	HookFresh, HookResumed = "startup", "resume"   // of HookStart
	HookWaits, HookEnded   = "waiting", "turn_end" // of HookNotify
)

// mostHolds is how often hooks may have one turn go on.
const mostHolds = 3

// ErrHooked ends a turn that a hook did not let begin.
var ErrHooked = errors.New("a hook denied it")

// Moment is what hooks are told.
type Moment struct {
	Event   string
	Session ID
	Agent   string // the subagent; if empty, the main conversation
	// Look is the call, of HookBefore and HookAfter; nil of others.
	Look   *tool.Look
	Text   string // the prompt, the answer, what a notification says, the wish for a summary
	Kind   string
	Manual bool // a user wants the summary
	Held   int  // how often this turn was had to go on
	// Ran is called with each hook that was started, as soon as it ended. Of HookNotify that may be
	// later, from any goroutine.
	Ran func(HookRun)
	// Starts is called before the first of the hooks is started; if nil, nobody wants to know.
	Starts func()
	// Note hands a hook's words to the model.
	Note func(from, text string)
}

// HookRun is the data of a hook entry: one program that was started.
type HookRun struct {
	Hook     string        `json:"hook"`
	Event    string        `json:"event"`
	Agent    string        `json:"agent,omitempty"`
	Call     tool.CallID   `json:"call,omitempty"`
	Tool     string        `json:"tool,omitempty"`
	Decision string        `json:"decision"` // allow, deny, ask, failed or aborted
	Reason   string        `json:"reason,omitempty"`
	Changed  bool          `json:"changed,omitempty"`       // the arguments of the call
	Context  int           `json:"context_bytes,omitempty"` // that it added
	Duration time.Duration `json:"duration_ns"`
	Sandbox  string        `json:"sandbox,omitempty"`
	Notice   string        `json:"-"` // what it tells the user
}

// Decisions of a hook that made none: it failed, or was ended with what it was started for.
const HookFailed, HookAborted = "failed", "aborted"

// told is what the user sees of it; if empty, nothing was changed by it.
func (r HookRun) told() string {
	switch {
	case r.Decision == HookFailed:
		return fmt.Sprintf("hook %s failed at %s: %s", r.Hook, r.Event, r.Reason)
	case r.Changed:
		return fmt.Sprintf("hook %s changed the arguments of %s", r.Hook, r.Tool)
	case r.Decision == "deny" && r.Event != HookBefore && r.Event != HookPrompt: // those say it themselves
		return fmt.Sprintf("hook %s at %s: %s", r.Hook, r.Event, r.Reason)
	}
	return ""
}

// hooks is where a session tells of its moments. If nil, nobody is told.
type hooks struct {
	tell    func(ctx context.Context, m Moment) tool.Ruling
	session ID
	agent   string
	started func() bool   // the session has entries in its log
	ran     func(HookRun) // stores and shows what one did
	note    func(Note)
	greeted bool
	around  func(context.Context, *Moment) (end func())
	store   func(context.Context, ...Entry) error
}

// fire tells hooks of a moment.
func (h *hooks) fire(ctx context.Context, m Moment) tool.Ruling {
	if h == nil {
		return tool.Ruling{}
	}
	m.Session, m.Agent, m.Ran = h.session, h.agent, h.ran
	m.Note = func(from, text string) { h.note(Note{Kind: HookNote, From: "hook " + from, Text: text}) }
	defer h.around(ctx, &m)()
	starts := m.Starts
	m.Starts = func() {
		_ = h.store(ctx) // what waits: a hook is told of what is stored; a failure is not lost, the next entry fails, too
		if starts != nil {
			starts()
		}
	}
	return h.tell(ctx, m)
}

// before and after are what the pipeline calls.
func (h *hooks) before(ctx context.Context, l tool.Look) tool.Ruling {
	return h.fire(ctx, Moment{Event: HookBefore, Look: &l})
}

func (h *hooks) after(ctx context.Context, l tool.Look) tool.Ruling {
	return h.fire(ctx, Moment{Event: HookAfter, Look: &l})
}

// greet tells hooks that the session begins, before the first prompt of this process.
func (h *hooks) greet(ctx context.Context) {
	if h == nil || h.greeted {
		return
	}
	h.greeted = true
	kind := HookFresh
	if h.started() {
		kind = HookResumed
	}
	h.fire(ctx, Moment{Event: HookStart, Kind: kind})
}

// prompted tells hooks of a prompt as it is about to be said, and why it is not. One that is notes
// alone is nobody's.
func (h *hooks) prompted(ctx context.Context, in Input) error {
	if h == nil || in.Text == "" && len(in.Attachments) == 0 {
		return nil
	}
	if r := h.fire(ctx, Moment{Event: HookPrompt, Text: in.Text}); r.Deny != "" {
		return fmt.Errorf("%w: %s", ErrHooked, r.Deny)
	}
	return context.Cause(ctx)
}

// held is why hooks have the turn go on; if empty, it may end.
func (h *hooks) held(t *turn) string {
	if h == nil || t.holds >= mostHolds {
		return ""
	}
	r := h.fire(t.ctx, Moment{Event: HookStop, Text: t.result.Text, Held: t.holds})
	if r.Deny == "" {
		return ""
	}
	t.holds++
	return "A hook does not let this turn end yet: " + r.Deny
}

// spared tells hooks of a summary, and says why one that a user wants is not made.
func (h *hooks) spared(ctx context.Context, manual bool, wish string) error {
	r := h.fire(ctx, Moment{Event: HookCompact, Manual: manual, Text: wish})
	if r.Deny != "" && manual {
		return fmt.Errorf("%w: %s", ErrHooked, r.Deny)
	}
	return nil
}

// Beside reports a moment for which the session does not wait: its hooks run beside it.
func (m Moment) Beside() bool { return m.Event == HookNotify || m.Event == HookNeeds }

// notify tells hooks what a user may want to know who looks elsewhere. It does not wait for them.
func (h *hooks) notify(kind, text string) {
	if h != nil && h.agent == "" {
		h.fire(context.Background(), Moment{Event: HookNotify, Kind: kind, Text: text})
		if kind == HookWaits {
			h.fire(context.Background(), Moment{Event: HookNeeds})
		}
	}
}
