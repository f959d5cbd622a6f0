package dialect

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"adze/session"
)

// ForFile returns a file's dialect by its path in the project. Codex (0.171) uses Claude Code's.
func ForFile(file string) Dialect {
	switch folder, _, _ := strings.Cut(file, "/"); folder {
	case ".adze", "hooks.json":
		return Own
	case ".claude", ".codex":
		return Claude
	}
	return Unknown
}

// native maps a dialect's event to adze's. An unknown one returns "".
func (d Dialect) native(name string) (e string, at depth, status string) {
	if d == Own && slices.Contains(session.HookEvents(), name) {
		return name, anyDepth, ""
	}
	for _, t := range translations() {
		if d == Claude && t.claude == name {
			return t.event, t.at, t.status
		}
	}
	return "", anyDepth, ""
}

// translation is adze's counterpart to a Claude Code event.
type translation struct {
	claude string
	event  string
	at     depth
	status string // required call status; "" for any
}

func translations() []translation {
	return []translation{
		{"SessionStart", session.HookStart, mainOnly, ""},
		{"SubagentStart", session.HookStart, subOnly, ""},
		{"UserPromptSubmit", session.HookPrompt, mainOnly, ""},
		{"PreToolUse", session.HookBefore, anyDepth, ""},
		{"PostToolUse", session.HookAfter, anyDepth, completed},
		{"PostToolUseFailure", session.HookAfter, anyDepth, "failed"},
		{"PreCompact", session.HookCompact, anyDepth, ""},
		{"Stop", session.HookStop, mainOnly, ""},
		{"SubagentStop", session.HookStop, subOnly, ""},
		{"Notification", session.HookNotify, anyDepth, ""},
	}
}

// Read lists a file's hooks in order, with events in the order of a session. plain is JSON without
// comments; the path file selects the dialect.
func Read(file string, plain []byte) ([]Hook, error) {
	var in struct {
		Hooks   map[string]json.RawMessage `json:"hooks"`
		Disable bool                       `json:"disableAllHooks"`
	}
	if json.Unmarshal(plain, &in) != nil {
		return nil, errors.New("its hooks are none that adze can read")
	}
	d := ForFile(file)
	var out []Hook
	for _, name := range d.ordered(in.Hooks) {
		hooks := d.event(name, in.Hooks[name])
		for n := range hooks {
			if in.Disable {
				hooks[n].Unsupported = "disableAllHooks is set in its file"
			}
		}
		out = append(out, hooks...)
	}
	return out, nil
}

// ordered returns event names: known ones in the order of a session, then the others.
func (d Dialect) ordered(events map[string]json.RawMessage) []string {
	at := func(name string) int {
		e, _, _ := d.native(name)
		if n := slices.Index(session.HookEvents(), e); n >= 0 {
			return n
		}
		return len(session.HookEvents())
	}
	names := slices.Sorted(maps.Keys(events))
	slices.SortStableFunc(names, func(a, b string) int { return at(a) - at(b) })
	return names
}

// event lists the hooks of one event, without entries that have no command.
func (d Dialect) event(name string, raw json.RawMessage) (out []Hook) {
	var entries []json.RawMessage
	if json.Unmarshal(raw, &entries) != nil {
		return nil
	}
	add := func(e entry, matcher string, raw []byte) {
		if h, some := d.hook(name, e, matcher); some {
			h.Raw = raw
			out = append(out, h)
		}
	}
	for _, one := range entries {
		var e entry
		if json.Unmarshal(one, &e) != nil {
			continue
		}
		matcher, _ := e.Matcher.(string)
		if d == Own {
			matcher, e.unknown = e.Tools, unknown(one)
		}
		var inner []json.RawMessage
		if json.Unmarshal(e.Hooks, &inner) != nil {
			add(e, matcher, one)
		}
		for _, program := range inner {
			var in entry
			if json.Unmarshal(program, &in) == nil {
				add(in, matcher, append([]byte(matcher+"\x00"), program...))
			}
		}
	}
	return out
}

// String describes the hook in one line: "before_tool of bash, edit".
func (h Hook) String() string {
	if h.Unsupported != "" {
		return "not run: " + h.Unsupported
	}
	text := h.Event
	switch tools := h.BuiltinTools(); {
	case h.Event != session.HookBefore && h.Event != session.HookAfter:
		if h.Matcher != "" && h.Matcher != "*" {
			text += " of " + h.Matcher
		}
	case len(tools) > 0:
		text += " of " + strings.Join(tools, ", ")
	case h.match.names == nil && h.match.re == nil:
		text += " of every tool"
	default:
		text += " of other tools (" + h.Matcher + ")"
	}
	switch {
	case h.depth == mainOnly:
		text += ", not of subagents"
	case h.depth == subOnly:
		text += ", of subagents"
	}
	if h.status != "" {
		text += ", of calls that " + h.status
	}
	return fmt.Sprintf("%s, at most %s", text, h.Timeout)
}
