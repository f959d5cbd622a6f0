package dialect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"adze/session"
)

// blocks is the exit code for a denial, with the reason on standard error.
const blocks = 2

// noReason replaces a missing reason for a denial.
const noReason = "it gave no reason"

// Answer parses a program's answer to an event. It returns an error if the output does not match
// the dialect. An object of another assistant can object at any exit code, and plain text never
// objects (as in Claude Code 2.1.332).
func (h Hook) Answer(m Moment, exit int, stdout, stderr string) (Answer, error) {
	stdout, stderr = strings.TrimSpace(stdout), strings.TrimSpace(stderr)
	var a Answer
	var err error
	object := h.Dialect != Own && strings.HasPrefix(stdout, "{")
	if object {
		a, err = readClaude(m, stdout)
	}
	objects := a.Decision == Deny || a.Decision == Ask
	switch {
	case exit == blocks:
		if !objects {
			a.Reason = stderr
		}
		return said(m.Event, Answer{Decision: Deny, Reason: a.Reason, Context: a.Context, Notice: a.Notice, Stop: a.Stop})
	case exit != 0 && !objects:
		return Answer{}, fmt.Errorf("exit code %d%s", exit, because(stderr))
	case object:
		return a, err
	case stdout == "":
		return Answer{Decision: Allow}, nil
	case h.Dialect == Own:
		return ownAnswer(m, stdout)
	case m.Event == session.HookBefore && strings.Contains(stdout, "{"):
		return Answer{}, fmt.Errorf("it did not answer with one JSON object: %s", shortened(stdout, 80))
	case m.Event == session.HookStart || m.Event == session.HookPrompt:
		return Answer{Decision: Allow, Context: stdout}, nil
	}
	return Answer{Decision: Allow}, nil // other text is for the user
}

// because returns the first line of a failed program's error output.
func because(stderr string) string {
	line, _, _ := strings.Cut(stderr, "\n")
	if line == "" {
		return ""
	}
	return ": " + shortened(line, 200)
}

func shortened(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

// ownAnswer parses adze's own dialect. An unknown name is an error: a misspelled decision would
// deny nothing.
func ownAnswer(m Moment, stdout string) (Answer, error) {
	var in struct {
		Decision  Decision        `json:"decision"`
		Reason    string          `json:"reason"`
		Arguments json.RawMessage `json:"arguments"`
		Context   string          `json:"context"`
		Notice    string          `json:"notice"`
	}
	dec := json.NewDecoder(strings.NewReader(stdout))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil || dec.More() {
		return Answer{}, fmt.Errorf("it did not answer with one decision: %s", shortened(stdout, 80))
	}
	a := Answer{Decision: in.Decision, Reason: in.Reason, Arguments: in.Arguments, Context: in.Context, Notice: in.Notice}
	if len(a.Arguments) > 0 && m.Event != session.HookBefore {
		return Answer{}, errors.New("only before_tool has arguments to change")
	}
	return said(m.Event, a)
}

// said completes an answer and rejects decisions that the event does not allow.
func said(e string, a Answer) (Answer, error) {
	switch a.Decision {
	case "":
		a.Decision = Allow
	case Allow:
	case Deny:
		if a.Reason == "" {
			a.Reason = noReason
		}
	case Ask:
		if e != session.HookBefore {
			return Answer{}, fmt.Errorf("only before_tool can ask, not %s", e)
		}
	default:
		return Answer{}, fmt.Errorf("%q is no decision; there are allow, deny and ask", shortened(string(a.Decision), 40))
	}
	if a.Decision == Deny {
		switch e {
		case session.HookAfter: // too late to deny; the reason goes to the model
			a.Decision, a.Context = Allow, strings.TrimSpace(a.Context+"\n"+a.Reason)
		case session.HookStart, session.HookNotify, session.HookNeeds:
			return Answer{}, fmt.Errorf("it cannot deny %s: %s", e, shortened(a.Reason, 200))
		}
	}
	return a, nil
}

// claudeAnswer is a Claude Code program's output.
type claudeAnswer struct {
	Continue      *bool  `json:"continue"`
	StopReason    string `json:"stopReason"`
	SystemMessage string `json:"systemMessage"`
	Decision      string `json:"decision"`
	Reason        string `json:"reason"`
	Specific      struct {
		Decision string                     `json:"permissionDecision"`
		Reason   string                     `json:"permissionDecisionReason"`
		Updated  map[string]json.RawMessage `json:"updatedInput"`
		Context  string                     `json:"additionalContext"`
	} `json:"hookSpecificOutput"`
}

func readClaude(m Moment, stdout string) (Answer, error) {
	var in claudeAnswer
	dec := json.NewDecoder(bytes.NewReader([]byte(stdout)))
	if err := dec.Decode(&in); err != nil || dec.More() {
		return Answer{}, fmt.Errorf("it did not answer with one JSON object: %s", shortened(stdout, 80))
	}
	a := Answer{Context: in.Specific.Context, Notice: in.SystemMessage, Stop: in.ends() && m.Event != session.HookStart}
	var err error
	if a.Decision, a.Reason, err = in.decision(m.Event); err != nil {
		return Answer{}, err
	}
	if m.Event == session.HookBefore && a.Decision != Deny && in.Specific.Updated != nil {
		if a.Arguments, err = m.ownArguments(in.Specific.Updated); err != nil {
			return Answer{}, err
		}
	}
	return said(m.Event, a)
}

// decision returns the decision; the call's own field has priority over the older general one.
func (in claudeAnswer) decision(e string) (Decision, string, error) {
	word, reason := in.Decision, in.Reason
	if in.Specific.Decision != "" {
		word, reason = in.Specific.Decision, in.Specific.Reason
	}
	if in.ends() {
		if e == session.HookStop || e == session.HookStart {
			return Allow, "", nil // the end cannot be prevented, and no start is delayed
		}
		word, reason = "deny", in.StopReason
	}
	switch word {
	case "", "allow", "approve":
		return Allow, reason, nil
	case "deny", "block":
		return Deny, reason, nil
	case "ask", "defer": // a deferred answer is the user's
		return Ask, reason, nil
	}
	return "", "", fmt.Errorf("%q is no decision that it could make", shortened(word, 40))
}

// ends reports whether the program wants the turn to end.
func (in claudeAnswer) ends() bool { return in.Continue != nil && !*in.Continue }
