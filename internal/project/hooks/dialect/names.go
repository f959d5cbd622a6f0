package dialect

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/text/jsontext"
	"adze/session"
)

// claudeTools maps built-in tools to the names of Claude Code and Codex, the usual one first.
func claudeTools() map[string][]string {
	return map[string][]string{
		"bash": {"Bash"}, "read": {"Read"}, "write": {"Write", "apply_patch"}, "edit": {"Edit", "MultiEdit", "apply_patch"}, "glob": {"Glob"}, "grep": {"Grep"},
		"list": {"LS"}, "todowrite": {"TodoWrite"}, "todoread": {"TodoRead"}, "webfetch": {"WebFetch"}, "websearch": {"WebSearch"},
		"task": {"Agent", "Task"}, "bash_output": {"BashOutput"}, "bash_kill": {"KillShell", "KillBash"}, "ask": {"AskUserQuestion"},
		"skill": {"Skill"},
	}
}

// names returns a dialect's names for a tool. A tool without one keeps its own.
func (d Dialect) names(tool string) []string {
	if theirs := claudeTools()[tool]; d == Claude && theirs != nil {
		return theirs
	}
	return []string{tool}
}

// BuiltinTools lists the built-in tools for a hook, or nil for all tools or none.
func (h Hook) BuiltinTools() (out []string) {
	if h.match.names == nil && h.match.re == nil || h.Event != session.HookBefore && h.Event != session.HookAfter {
		return nil
	}
	for _, tool := range slices.Sorted(maps.Keys(claudeTools())) {
		if _, yes := h.match.first(h.Dialect.names(tool)); yes {
			out = append(out, tool)
		}
	}
	return out
}

// claudeFields maps a tool's arguments with another name in Claude Code, from adze's name.
func claudeFields(tool string) map[string]string {
	switch tool {
	case "read", "write", "edit":
		return map[string]string{"path": filePath}
	case "bash":
		return map[string]string{"background": "run_in_background"}
	case "grep":
		return map[string]string{"include": "glob"}
	case "task":
		return map[string]string{"agent": "subagent_type"}
	}
	return nil
}

const (
	filePath = "file_path" // absolute in Claude Code
	edits    = "edits"     // has another form in Claude Code
	timeout  = "timeout"   // of a command: seconds, in Claude Code milliseconds
	workdir  = "workdir"   // of a command: missing in Claude Code
)

// claudeArguments converts the call's arguments for Claude Code.
func (m Moment) claudeArguments() map[string]json.RawMessage {
	var own map[string]json.RawMessage
	if json.Unmarshal(m.Arguments, &own) != nil {
		return map[string]json.RawMessage{}
	}
	fields := claudeFields(m.Tool)
	out := make(map[string]json.RawMessage, len(own))
	for name, value := range own {
		theirs := cmp.Or(fields[name], name)
		out[theirs] = m.claudeValue(theirs, value)
	}
	return out
}

// claudeValue converts an argument: absolute paths, and times in milliseconds.
func (m Moment) claudeValue(name string, value json.RawMessage) json.RawMessage {
	var path string
	var seconds int64
	switch {
	case name == filePath && json.Unmarshal(value, &path) == nil && path != "" && !filepath.IsAbs(path) && !strings.HasPrefix(path, "~"):
		return encoded(filepath.Join(m.Cwd, path))
	case m.Tool == "bash" && name == timeout && json.Unmarshal(value, &seconds) == nil:
		return encoded(seconds * 1000)
	}
	return value
}

// ownArguments converts a Claude Code program's arguments back.
func (m Moment) ownArguments(updated map[string]json.RawMessage) (json.RawMessage, error) {
	var own map[string]json.RawMessage
	if err := json.Unmarshal(m.Arguments, &own); err != nil {
		return nil, err
	}
	sent, back := m.claudeArguments(), map[string]string{}
	for name, theirs := range claudeFields(m.Tool) {
		back[theirs] = name
	}
	out := map[string]json.RawMessage{}
	if value, had := own[workdir]; had && m.Tool == "bash" { // unknown to the program, which would drop it
		out[workdir] = value
	}
	for theirs, value := range updated {
		name := cmp.Or(back[theirs], theirs)
		before, had := sent[theirs]
		switch {
		case had && same(before, value):
			out[name] = own[name]
		case theirs == edits:
			return nil, fmt.Errorf("its changed %s cannot be translated", edits)
		case m.Tool == "bash" && theirs == timeout:
			var millis float64
			if json.Unmarshal(value, &millis) != nil {
				return nil, errors.New("its changed timeout is no number")
			}
			out[name] = encoded(int64(max(millis, 1)+999) / 1000)
		default:
			out[name] = value
		}
	}
	return encoded(out), nil
}

// same compares two values by their content.
func same(a, b json.RawMessage) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	return bytes.Equal(encoded(x), encoded(y))
}

// encoded encodes JSON without HTML escapes.
func encoded(v any) json.RawMessage {
	raw, err := jsontext.Marshal(v)
	if err != nil { // strings, numbers and maps always encode
		return json.RawMessage("null")
	}
	return raw
}
