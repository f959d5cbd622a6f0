// Package dialect reads hooks in the formats of adze and Claude Code and converts their programs'
// data: a file's entry to a Hook, a Moment to a program's JSON input, and its output to an Answer.
//
// The one rule: it only converts texts. It opens no file, starts nothing and decides nothing; an
// expression without a counterpart is reported and never guessed.
//
// Start reading at Read, then Hook.Applies, Hook.Input and Hook.Answer. names.go maps the names of
// tools and arguments, match.go matches tools.
//
// Source: the hooks reference of Claude Code (code.claude.com/docs/en/hooks) of 2026.
//
// Known limits: no transcript file exists, so transcript_path names an empty one; Claude Code's
// programs get tool results as text and a few usual fields, not in each tool's own form; hooks of
// Gemini are listed and not run.
package dialect

import (
	"encoding/json"
	"time"

	"adze/session"
)

// Dialect is a hook file's format.
type Dialect string

// The dialects. Hooks of an unknown one are only listed.
const (
	Own     Dialect = "adze"
	Claude  Dialect = "claude"
	Unknown Dialect = ""
)

// MaxTime is the longest time for one hook.
const MaxTime = 10 * time.Second

// A Hook is one program for an event, as in its file.
type Hook struct {
	Dialect Dialect
	Event   string // one of session.HookEvents; "" if adze has no counterpart
	Native  string // the file's name for the event
	Matcher string // the file's tool matcher; "" for all

	Argv    []string      // command, without a shell
	Shell   string        // or a text for sh
	Timeout time.Duration // at most MaxTime

	// Unsupported is why adze does not run it, or "".
	Unsupported string
	Raw         []byte // the entry with its matcher, for the consent

	match  matcher
	depth  depth
	status string // for after_tool, the required status; "" for all
}

// depth selects the agents for which a hook fires.
type depth int

const (
	anyDepth depth = iota
	mainOnly
	subOnly
)

// A Moment is an event with its data.
type Moment struct {
	Event   string // one of session.HookEvents
	Session string
	Agent   string // a subagent's kind and task
	Cwd     string // absolute
	Mode    string // permission mode

	Call, Tool string
	Arguments  json.RawMessage
	Status     string // the outcome's
	Output     string // result for the model

	Text          string // prompt, final answer, notification, or instructions for a summary
	Kind          string // of session.HookFresh and the others
	Manual        bool   // the user asked for the summary
	Continuations int    // number of times hooks have continued this turn
}

// Decision is a program's decision.
type Decision string

// The decisions. Allow is only the lack of an objection: it answers no question and overrides no
// rule.
const (
	Allow Decision = "allow"
	Deny  Decision = "deny"
	Ask   Decision = "ask"
)

// An Answer is a program's valid answer.
type Answer struct {
	Decision Decision
	Reason   string
	// Arguments replaces the call's arguments, in adze's names. nil keeps them.
	Arguments json.RawMessage
	Context   string // for the model
	Notice    string // for the user
	Stop      bool   // end the turn
}

// Applies reports whether the hook is for an event. For a call it returns the dialect's name for
// the tool.
func (h Hook) Applies(m Moment) (name string, yes bool) {
	switch {
	case h.Unsupported != "" || h.Event != m.Event,
		h.depth == mainOnly && m.Agent != "", h.depth == subOnly && m.Agent == "",
		h.status != "" && h.status != m.Status:
		return "", false
	}
	switch m.Event {
	case session.HookBefore, session.HookAfter:
		return h.match.first(h.Dialect.names(m.Tool))
	case session.HookStart:
		return "", h.depth == subOnly || h.match.any(m.Kind)
	case session.HookCompact:
		return "", h.match.any(trigger(m))
	case session.HookNotify:
		return "", h.match.any(h.Dialect.notification(m.Kind))
	}
	return "", true
}

func trigger(m Moment) string {
	if m.Manual {
		return "manual"
	}
	return "auto"
}

// notification returns the dialect's name for a kind of notification.
func (d Dialect) notification(kind string) string {
	switch {
	case d == Own:
		return kind
	case kind == session.HookWaits:
		return "permission_prompt"
	}
	return "idle_prompt"
}
