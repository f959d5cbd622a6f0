package dialect

import (
	"adze/internal/text/jsontext"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"adze/session"
)

// tools are the built-in tools in the words of others, the usual word first.
func (d Dialect) tools() map[string][]string {
	switch d {
	case Claude:
		return map[string][]string{
			"bash": {"Bash"}, "read": {"Read"}, "write": {"Write"}, "edit": {"Edit", "MultiEdit"}, "glob": {"Glob"}, "grep": {"Grep"},
			"list": {"LS"}, "todowrite": {"TodoWrite"}, "todoread": {"TodoRead"}, "webfetch": {"WebFetch"}, "websearch": {"WebSearch"},
			"task": {"Agent", "Task"}, "bash_output": {"BashOutput"}, "bash_kill": {"KillShell", "KillBash"}, "ask": {"AskUserQuestion"},
			"skill": {"Skill"},
		}
	case Codex:
		return map[string][]string{
			"bash": {"Bash"}, "edit": {"Edit", "apply_patch"}, "write": {"Write", "apply_patch"}, "todowrite": {"update_plan"},
			"websearch": {"web_search"}, "task": {"spawn_agent"},
		}
	case Gemini:
		return map[string][]string{
			"bash": {"run_shell_command"}, "read": {"read_file"}, "write": {"write_file"}, "edit": {"replace"}, "glob": {"glob"},
			"grep": {"grep_search", "search_file_content"}, "list": {"list_directory"}, "todowrite": {"write_todos"},
			"webfetch": {"web_fetch"}, "websearch": {"google_web_search"}, "ask": {"ask_user"}, "skill": {"activate_skill"},
		}
	}
	return nil
}

// names are what a dialect calls a tool; one that it does not have keeps its name.
func (d Dialect) names(tool string) []string {
	if theirs := d.tools()[tool]; theirs != nil {
		return theirs
	}
	return []string{tool}
}

// Means lists the built-in tools that a hook is about; if nil, all tools, or it is about none.
func (h Hook) Means() (out []string) {
	if h.match.names == nil && h.match.re == nil || h.Event != session.HookBefore && h.Event != session.HookAfter {
		return nil
	}
	for _, tool := range slices.Sorted(maps.Keys(Claude.tools())) {
		if _, yes := h.match.first(h.Dialect.names(tool)); yes {
			out = append(out, tool)
		}
	}
	return out
}

// fields are the arguments of a tool that a dialect calls otherwise: adze's name, then theirs.
func (d Dialect) fields(tool string) map[string]string {
	switch {
	case d == Own:
		return nil
	case tool == "read", tool == "write", tool == "edit":
		return map[string]string{"path": filePath}
	case d == Gemini && (tool == "glob" || tool == "grep" || tool == "list"):
		return map[string]string{"path": "dir_path"}
	case d == Gemini && tool == "bash":
		return map[string]string{"workdir": "dir_path", "background": "is_background"}
	case tool == "bash":
		return map[string]string{"background": "run_in_background"}
	case tool == "grep":
		return map[string]string{"include": "glob"}
	case tool == "task":
		return map[string]string{"agent": "subagent_type"}
	}
	return nil
}

const (
	filePath = "file_path" // which others have absolute
	edits    = "edits"     // which no other has in this shape
	timeout  = "timeout"   // of a command: seconds, but milliseconds for Claude Code
	workdir  = "workdir"   // of a command: no field of Claude Code
)

// theirs are the arguments of a call as a dialect has them.
func (d Dialect) theirs(cwd, tool string, args json.RawMessage) map[string]json.RawMessage {
	var own map[string]json.RawMessage
	if json.Unmarshal(args, &own) != nil {
		return map[string]json.RawMessage{}
	}
	names := d.fields(tool)
	out := make(map[string]json.RawMessage, len(own))
	for name, value := range own {
		theirs := name
		if other, ok := names[name]; ok {
			theirs = other
		}
		out[theirs] = d.value(cwd, tool, theirs, value)
	}
	return out
}

// value is an argument as a dialect has it: with a path from the root on, and a time in its unit.
func (d Dialect) value(cwd, tool, theirs string, value json.RawMessage) json.RawMessage {
	var path string
	var seconds int64
	switch {
	case theirs == filePath && json.Unmarshal(value, &path) == nil && path != "" && !filepath.IsAbs(path) && !strings.HasPrefix(path, "~"):
		return encoded(filepath.Join(cwd, path))
	case d == Claude && tool == "bash" && theirs == timeout && json.Unmarshal(value, &seconds) == nil:
		return encoded(seconds * 1000)
	}
	return value
}

// ours are the arguments that a program of a dialect wants instead. Merge says that it named only
// what is to be another.
func (d Dialect) ours(m Moment, updated map[string]json.RawMessage, merge bool) (json.RawMessage, error) {
	var own map[string]json.RawMessage
	if err := json.Unmarshal(m.Arguments, &own); err != nil {
		return nil, err
	}
	sent, back := d.theirs(m.Cwd, m.Tool, m.Arguments), map[string]string{}
	for name, theirs := range d.fields(m.Tool) {
		back[theirs] = name
	}
	out := map[string]json.RawMessage{}
	if merge {
		out = maps.Clone(own)
	} else if value, had := own[workdir]; had && m.Tool == "bash" && d != Own { // it does not know it, and would drop it
		out[workdir] = value
	}
	for theirs, value := range updated {
		name := theirs
		if ours, ok := back[theirs]; ok {
			name = ours
		}
		before, had := sent[theirs]
		switch {
		case had && same(before, value):
			out[name] = own[name]
		case d != Own && theirs == edits:
			return nil, fmt.Errorf("its changed %s cannot be translated", edits)
		case d == Claude && m.Tool == "bash" && theirs == timeout:
			var millis float64
			if err := json.Unmarshal(value, &millis); err != nil {
				return nil, fmt.Errorf("its changed timeout is no number")
			}
			out[name] = encoded(int64(max(millis, 1)+999) / 1000)
		default:
			out[name] = value
		}
	}
	return encoded(out), nil
}

// same compares two values by what they say.
func same(a, b json.RawMessage) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	return bytes.Equal(encoded(x), encoded(y))
}

// encoded is a value as JSON, without escapes for HTML.
func encoded(v any) json.RawMessage {
	raw, err := jsontext.Marshal(v)
	if err != nil { // texts, numbers and maps always encode
		return json.RawMessage("null")
	}
	return raw
}
