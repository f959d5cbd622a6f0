// Package dialect reads hooks as adze and Claude Code write them down, and speaks with their
// programs: an entry of a file becomes a Hook, a Moment becomes the JSON that the program reads,
// and its answer becomes an Answer.
//
// The one rule: it is about texts. It opens no file, starts nothing and decides nothing; a phrase
// that has no counterpart in the other language is told and never guessed.
//
// Start reading at Read, then Hook.Applies, Hook.Input and Hook.Answer. names.go is the table of
// names of tools and their arguments, match.go the expressions that choose tools.
//
// Source: the hooks reference of Claude Code (code.claude.com/docs/en/hooks) of 2026.
//
// Known limits: there is no transcript in a file, so transcript_path names an empty one; results of
// tools go to Claude Code's programs as text and a few usual fields, not in the shape of each of
// its tools; hooks of Gemini are listed and not run.
package dialect

import (
	"encoding/json"
	"time"

	"adze/session"
)

// Dialect is whose way of writing a hook down is meant.
type Dialect string

// The dialects. Hooks of an unknown one are listed only.
const (
	Own     Dialect = "adze"
	Claude  Dialect = "claude"
	Unknown Dialect = ""
)

// MaxTime is the most that one hook may take.
const MaxTime = 10 * time.Second

// Hook is one program that an event starts, as a file says it.
type Hook struct {
	Dialect Dialect
	Event   string // one of session.HookEvents; if empty, adze has none like it
	Native  string // the event as the file names it
	Matcher string // which calls, as the file says it; if empty, all

	Argv    []string      // what is started, without a shell
	Shell   string        // or a text for sh
	Timeout time.Duration // at most MaxTime

	// Cannot says why adze does not run it; if empty, it does.
	Cannot string
	Raw    []byte // the entry, with its matcher: what a consent is about

	match  matcher
	depth  depth
	status string // of after_tool: calls that ended so alone; if empty, all
}

// depth says at which agents a hook fires.
type depth int

const (
	anyDepth depth = iota
	mainOnly
	subOnly
)

// Moment is what a program is told.
type Moment struct {
	Event   string // one of session.HookEvents
	Session string
	Agent   string // of a subagent: its kind and what it does
	Cwd     string // absolute
	Mode    string // of permissions

	Call, Tool string
	Arguments  json.RawMessage
	Status     string // of the outcome
	Output     string // what the model gets of it

	Text   string // the prompt, the answer that would end the turn, what a notification says, a wish for a summary
	Kind   string // of session.HookFresh and the others
	Manual bool   // a user wants the summary
	Held   int    // how often hooks have had this turn go on
}

// Decision is what a program says.
type Decision string

// The decisions. Allow is not an objection: it answers no question and lifts no rule.
const (
	Allow Decision = "allow"
	Deny  Decision = "deny"
	Ask   Decision = "ask"
)

// Answer is what came of one program that did as it should.
type Answer struct {
	Decision Decision
	Reason   string
	// Arguments are all that the call is to have instead, in adze's words; if nil, it stays as it is.
	Arguments json.RawMessage
	Context   string // for the model
	Notice    string // for the user
	Stop      bool   // the turn ends
}

// Applies reports whether the hook is about a moment; of a call, it says the tool's name as its
// dialect has it.
func (h Hook) Applies(m Moment) (name string, yes bool) {
	switch {
	case h.Cannot != "" || h.Event != m.Event,
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

// notification is a kind of notification in a dialect's words.
func (d Dialect) notification(kind string) string {
	switch {
	case d == Own:
		return kind
	case kind == session.HookWaits:
		return "permission_prompt"
	}
	return "idle_prompt"
}
