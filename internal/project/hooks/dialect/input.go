package dialect

import (
	"path/filepath"
	"strings"

	"adze/session"
)

// Input returns the program's input for an event. name is the tool's, from Applies.
func (h Hook) Input(m Moment, name string) []byte {
	if h.Dialect == Claude {
		return encoded(h.claudeInput(m, name))
	}
	return encoded(ownInput(m))
}

// object is encoded with sorted keys.
type object = map[string]any

func ownInput(m Moment) object {
	o := object{"event": m.Event, "session": m.Session, "cwd": m.Cwd, "mode": m.Mode}
	if m.Agent != "" {
		o["agent"] = m.Agent
	}
	switch m.Event {
	case session.HookStart:
		o["resumed"] = m.Kind == session.HookResumed
	case session.HookPrompt:
		o["prompt"] = m.Text
	case session.HookBefore, session.HookAfter:
		o["call"], o["tool"], o["arguments"] = m.Call, m.Tool, m.Arguments
		if m.Event == session.HookAfter {
			o["status"], o["output"] = m.Status, m.Output
		}
	case session.HookCompact:
		o["manual"] = m.Manual
	case session.HookStop:
		o["text"], o["held"] = m.Text, m.Continuations
	case session.HookNotify:
		o["kind"], o["message"] = m.Kind, m.Text
	}
	return o
}

// noTranscript is an empty file: adze keeps its log in a database.
const noTranscript = "/dev/null"

func (h Hook) claudeInput(m Moment, name string) object {
	o := object{"session_id": m.Session, "transcript_path": noTranscript, "cwd": m.Cwd, "permission_mode": claudeMode(m.Mode), "hook_event_name": h.Native}
	if m.Agent != "" {
		kind, _, _ := strings.Cut(m.Agent, ":")
		o["agent_id"], o["agent_type"] = m.Agent, kind
	}
	switch m.Event {
	case session.HookStart:
		o["source"] = m.Kind
	case session.HookPrompt:
		o["prompt"] = m.Text
	case session.HookBefore, session.HookAfter:
		input := m.claudeArguments()
		o["tool_name"], o["tool_input"], o["tool_use_id"] = name, input, m.Call
		if m.Event == session.HookAfter {
			o["tool_response"] = object{"success": m.Status == completed, "output": m.Output, "stdout": m.Output, "stderr": "", "interrupted": false, "filePath": input[filePath]}
		}
		if h.Native == "PostToolUseFailure" {
			o["error"] = m.Output
		}
	case session.HookCompact:
		o["trigger"], o["custom_instructions"] = trigger(m), m.Text
	case session.HookStop:
		o["stop_hook_active"], o["last_assistant_message"] = m.Continuations > 0, m.Text
	case session.HookNotify:
		o["notification_type"], o["message"] = h.Dialect.notification(m.Kind), m.Text
	}
	return o
}

const completed = "completed"

// claudeMode maps a permission mode to Claude Code's, the stricter one if there are two.
func claudeMode(mode string) string {
	switch mode {
	case "edits", "staged", "auto":
		return "acceptEdits"
	case "plan":
		return "plan"
	case "yolo":
		return "bypassPermissions"
	}
	return "default"
}

// Environment returns additional variables for programs, such as the project's folder.
func Environment(root string) []string {
	return []string{"ADZE_HOOK=1", "CLAUDE_PROJECT_DIR=" + filepath.Clean(root)}
}
