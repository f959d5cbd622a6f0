package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"adze/tool"
)

// Hooks are the user's programs that run at certain moments in a session. Their context reaches the
// model as a note, and each run leaves a log entry. Hooks only narrow permissions: no answer allows
// anything.

// Moment names.
const (
	HookStart   = "session_start"  // before this process's first prompt
	HookPrompt  = "prompt"         // before a prompt; may deny it
	HookBefore  = "before_tool"    // before a call's permission check; may deny it, force a question, or change it
	HookAfter   = "after_tool"     // after a call ran
	HookCompact = "before_compact" // before a summary; may deny one that the user wants
	HookStop    = "stop"           // before a turn ends with an answer; a denial continues it
	HookNotify  = "notification"   // the user is asked, or a turn has ended
	HookNeeds   = "needs_you"      // a question waits for the user; reveals nothing about the session
)

// HookEvents lists the moments in session order.
func HookEvents() []string {
	return []string{HookStart, HookPrompt, HookBefore, HookAfter, HookCompact, HookStop, HookNotify, HookNeeds}
}

// Moment kinds with the same name.
const (
	HookFresh, HookResumed = "startup", "resume"   // of HookStart
	HookWaits, HookEnded   = "waiting", "turn_end" // of HookNotify
)

// mostHolds limits how often hooks may continue one turn.
const mostHolds = 3

// ErrHooked ends a turn that a hook prevented.
var ErrHooked = errors.New("a hook denied it")

// A Moment is the input for hooks.
type Moment struct {
	Event   string
	Session ID
	Agent   string // the subagent, or "" for the main conversation
	// Look is the call for HookBefore and HookAfter, else nil.
	Look          *tool.Look
	Text          string // the prompt, answer, notification, or wish for a summary
	Kind          string
	Manual        bool // the user wants the summary
	Continuations int  // how often hooks have continued this turn
	// OnHookEnd is called when a started hook ends. For HookNotify this may be later, from any
	// goroutine.
	OnHookEnd func(HookRun)
	// Starts is called before the first hook starts; may be nil.
	Starts func()
	// Note passes a hook's text to the model.
	Note func(from, text string)
}

// HookRun is a hook entry's data: one program run.
type HookRun struct {
	Hook     string        `json:"hook"`
	Event    string        `json:"event"`
	Agent    string        `json:"agent,omitempty"`
	Call     tool.CallID   `json:"call,omitempty"`
	Tool     string        `json:"tool,omitempty"`
	Decision string        `json:"decision"` // allow, deny, ask, failed or aborted
	Reason   string        `json:"reason,omitempty"`
	Changed  bool          `json:"changed,omitempty"`       // it changed the call's arguments
	Context  int           `json:"context_bytes,omitempty"` // of the text it added
	Duration time.Duration `json:"duration_ns"`
	Sandbox  string        `json:"sandbox,omitempty"`
	Notice   string        `json:"-"` // for the user
}

// Decisions for a hook that made none: it failed, or was aborted with its call or turn.
const HookFailed, HookAborted = "failed", "aborted"

// told describes the hook's effect for the user, or returns "" if it had none.
func (r HookRun) told() string {
	switch {
	case r.Decision == HookFailed:
		return fmt.Sprintf("hook %s failed at %s: %s", r.Hook, r.Event, r.Reason)
	case r.Changed:
		return fmt.Sprintf("hook %s changed the arguments of %s", r.Hook, r.Tool)
	case r.Decision == "deny" && r.Event != HookBefore && r.Event != HookPrompt: // those report it themselves
		return fmt.Sprintf("hook %s at %s: %s", r.Hook, r.Event, r.Reason)
	}
	return ""
}

// hooks runs a session's hooks; nil runs none.
type hooks struct {
	tell    func(ctx context.Context, m Moment) tool.Ruling
	session ID
	agent   string
	started func() bool   // reports whether the log has entries
	ran     func(HookRun) // stores and shows a run
	note    func(Note)
	greeted bool
	around  func(context.Context, *Moment) (end func())
	store   func(context.Context, ...Entry) error
}

func (h *hooks) fire(ctx context.Context, m Moment) tool.Ruling {
	if h == nil {
		return tool.Ruling{}
	}
	m.Session, m.Agent, m.OnHookEnd = h.session, h.agent, h.ran
	m.Note = func(from, text string) { h.note(Note{Kind: HookNote, Source: "hook " + from, Text: text}) }
	defer h.around(ctx, &m)()
	starts := m.Starts
	m.Starts = func() {
		_ = h.store(ctx) // stores held entries first; if this fails, the next entry fails too
		if starts != nil {
			starts()
		}
	}
	return h.tell(ctx, m)
}

// before and after are called by the pipeline.
func (h *hooks) before(ctx context.Context, l tool.Look) tool.Ruling {
	return h.fire(ctx, Moment{Event: HookBefore, Look: &l})
}

func (h *hooks) after(ctx context.Context, l tool.Look) tool.Ruling {
	return h.fire(ctx, Moment{Event: HookAfter, Look: &l})
}

// greet runs the hooks for a session's start, before this process's first prompt.
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

// prompted runs the hooks for a prompt and returns an error if one denies it. It ignores a prompt
// with notes alone.
func (h *hooks) prompted(ctx context.Context, in Input) error {
	if h == nil || in.Text == "" && len(in.Attachments) == 0 {
		return nil
	}
	if r := h.fire(ctx, Moment{Event: HookPrompt, Text: in.Text}); r.Deny != "" {
		return fmt.Errorf("%w: %s", ErrHooked, r.Deny)
	}
	return context.Cause(ctx)
}

// held returns why hooks continue the turn, or "" if it may end.
func (h *hooks) held(t *turn) string {
	if h == nil || t.holds >= mostHolds {
		return ""
	}
	r := h.fire(t.ctx, Moment{Event: HookStop, Text: t.result.Text, Continuations: t.holds})
	if r.Deny == "" {
		return ""
	}
	t.holds++
	return "A hook does not let this turn end yet: " + r.Deny
}

// spared runs the hooks for a summary and returns an error if one denies a summary that the user
// wants.
func (h *hooks) spared(ctx context.Context, manual bool, wish string) error {
	r := h.fire(ctx, Moment{Event: HookCompact, Manual: manual, Text: wish})
	if r.Deny != "" && manual {
		return fmt.Errorf("%w: %s", ErrHooked, r.Deny)
	}
	return nil
}

// InBackground reports whether the session does not wait for the moment's hooks.
func (m Moment) InBackground() bool { return m.Event == HookNotify || m.Event == HookNeeds }

// notify runs the notification hooks without waiting for them.
func (h *hooks) notify(kind, text string) {
	if h != nil && h.agent == "" {
		h.fire(context.Background(), Moment{Event: HookNotify, Kind: kind, Text: text})
		if kind == HookWaits {
			h.fire(context.Background(), Moment{Event: HookNeeds})
		}
	}
}
