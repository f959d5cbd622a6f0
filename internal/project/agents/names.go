package agents

import (
	"slices"
	"strings"

	"adze/internal/project/discovery"
)

// words maps other assistants' tool names to adze's, without case, - and _: Claude Code, Codex,
// Gemini, opencode, Cursor and Copilot (which names groups). Tools that belong together come
// together.
func words() map[string]string {
	return map[string]string{
		"read":  "read read_file view cat read_many_files readfile notebookread codebase",
		"write": "write write_file create_file create edit edits editfiles multiedit apply_patch patch newfile",
		"edit":  "edit edits editfiles multiedit replace str_replace apply_patch patch edit_file",
		"glob":  "glob find_files search file_search codebase", "list": "ls list list_directory list_files glob list_dir codebase",
		"grep":           "grep grep_search search_file_content search_text search codesearch codebase usages",
		"bash":           "bash shell run_shell_command run_command execute exec terminal runcommands runcommand runinterminal shell_command",
		"bash_output":    "bash shell run_shell_command run_command execute exec terminal runcommands bash_output bashoutput taskoutput",
		"bash_kill":      "bash shell run_shell_command run_command execute exec terminal runcommands bash_kill killshell killbash taskstop",
		"git_status":     "git_status git_diff git_log changes",
		"list_processes": "list_processes",
		"todowrite":      "todowrite todo todos write_todos update_plan taskcreate taskupdate", "todoread": "todoread todo todos todowrite write_todos update_plan tasklist taskget",
		"webfetch": "webfetch web_fetch fetch web openwebsite", "websearch": "websearch web_search google_web_search web",
		"task": "task agent subagent spawn_agent runsubagent delegate", "ask": "ask askuserquestion ask_user question",
		"skill": "skill activate_skill", "plan": "plan exitplanmode enterplanmode",
		"task_complete": "task_complete complete_task",
	}
}

// toolsNamed returns adze's tools for a name, or none if it is unknown.
func toolsNamed(word string) (out []string) {
	word = discovery.Spelling(strings.TrimPrefix(strings.TrimSpace(word), "functions."))
	for name, theirs := range words() {
		if slices.ContainsFunc(strings.Fields(theirs), func(w string) bool { return discovery.Spelling(w) == word }) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
