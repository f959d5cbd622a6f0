package toolset

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"adze/tool"
	"adze/tool/fuzzy"
)

// Names and arguments here are from other assistants' public tool schemas: Claude Code, codex,
// opencode, gemini-cli, qwen-code, crush, cline, roo, aider, cursor, pi and the editor tools of
// benchmarks. Arguments that cannot change a call's meaning are dropped. Line ranges, seconds and
// argument vectors are converted; anything else is refused with the existing names.

// pathAliases adds models' names for path.
func pathAliases(more map[string]string) map[string]string {
	all := map[string]string{
		"file_path": "path", "filePath": "path", "filename": "path", "file": "path", "file_name": "path",
		"absolute_path": "path", "target_file": "path", "relative_path": "path", "relative_workspace_path": "path",
	}
	maps.Copy(all, more)
	return all
}

// folderAliases adds models' names for the folder and the limit of a search.
func folderAliases(more map[string]string) map[string]string {
	all := pathAliases(map[string]string{
		"directory": "path", "dir": "path", "dir_path": "path", "folder": "path", "directory_path": "path",
		"target_directory": "path", "search_path": "path", "search_directory": "path", "root": "path",
		"max_results": "limit", "head_limit": "limit", "total_max_matches": "limit", "max_entries": "limit",
	})
	maps.Copy(all, more)
	return all
}

// ignored adds arguments that only comment on a call or have no effect here.
func ignored(more map[string][]any) map[string][]any {
	all := map[string][]any{}
	for _, name := range []string{"instruction", "instructions", "purpose", "goal", "summary", "task_progress", "explanation", "description",
		"wait_for_previous", "show_line_numbers", "line_numbers", "include_line_numbers"} {
		all[name] = nil
	}
	maps.Copy(all, more)
	return all
}

// ignoredInWalks adds switches in other assistants' searches for behavior that is standard here.
func ignoredInWalks(more map[string][]any) map[string][]any {
	yes, no := []any{true}, []any{false}
	all := map[string][]any{
		"respect_git_ignore": yes, "respect_gemini_ignore": yes, "respect_qwen_ignore": yes, "no_ignore": no, "include_ignored": no, "offset": {0.0, 1.0},
	}
	maps.Copy(all, more)
	return ignored(all)
}

// editorVerbs returns the tool names of assistants with a single file tool.
func editorVerbs(command string) (verbs []tool.Verb) {
	for _, name := range []string{"str_replace_editor", "str_replace_based_edit_tool", "str_replace_based_edit", "text_editor"} {
		verbs = append(verbs, tool.Verb{Name: name, Argument: "command", Value: command})
	}
	return verbs
}

// take removes an argument with one of these names, ignoring case and separators.
func take(args map[string]any, names ...string) (v any, found bool) {
	for written := range args {
		for _, name := range names {
			if fuzzy.Fold(written) == fuzzy.Fold(name) {
				v = args[written]
				delete(args, written)
				return v, true
			}
		}
	}
	return nil, false
}

// whole reads a whole number, also a quoted one.
func whole(v any) (n int, ok bool) {
	switch v := v.(type) {
	case float64:
		return int(v), v == math.Trunc(v) && math.Abs(v) < 1<<31
	case string:
		n, err := strconv.Atoi(v)
		return n, err == nil
	}
	return 0, false
}

// inSeconds converts a time limit to seconds and limits it to most. A larger round number is in
// milliseconds, as in other assistants' tools: 120000 is two minutes. A name that includes the unit
// always means milliseconds.
func inSeconds(args map[string]any, most int) {
	if _, given := args["timeout"]; !given {
		if v, _ := take(args, "timeout_ms"); v != nil {
			if n, ok := whole(v); ok && n > 0 {
				args["timeout"] = float64(min(max(1, (n+999)/1000), most))
				return
			}
			args["timeout_ms"] = v
		}
		return
	}
	if n, ok := whole(args["timeout"]); ok && n > most {
		if n >= 10_000 && n%1000 == 0 && n <= most*1000 {
			n /= 1000
		}
		args["timeout"] = float64(min(n, most))
	}
}

// asLines reads a first and a last line, also as [first, last], where -1 is the file's end.
func asLines(args map[string]any) {
	before := maps.Clone(args)
	first, named := take(args, "start_line", "line_start", "start_line_one_indexed")
	last, end := take(args, "end_line", "line_end", "end_line_one_indexed", "end_line_one_indexed_inclusive")
	if pair, ok := take(args, "view_range", "line_range"); ok {
		list, _ := pair.([]any)
		if named || end || len(list) != 2 {
			maps.Copy(args, before)
			return
		}
		first, last, named = list[0], list[1], true
	}
	if !named && !end {
		return
	}
	from, okFrom := whole(first)
	to, okTo := whole(last)
	_, offset := args["offset"]
	_, limit := args["limit"]
	if offset || limit || first != nil && (!okFrom || from < 0) || last != nil && (!okTo || to != -1 && to < max(from, 1)) {
		maps.Copy(args, before) // the schema names them
		return
	}
	if from > 0 {
		args["offset"] = float64(from)
	}
	if last != nil && to != -1 {
		args["limit"] = float64(to - max(from, 1) + 1)
	}
}

// asWalk joins lists of globs with commas, and drops gemini-cli options for standard behavior.
func asWalk(args map[string]any) {
	for _, name := range []string{"include", "exclude", "ignore"} {
		items, ok := args[name].([]any)
		texts := make([]string, len(items))
		for i, item := range items {
			text, isText := item.(string)
			texts[i], ok = text, ok && isText && len(globs(text)) == 1
		}
		if ok && len(texts) == 0 {
			delete(args, name)
		} else if ok {
			args[name] = strings.Join(texts, ",")
		}
	}
	options, _ := args["file_filtering_options"].(map[string]any)
	for name, v := range options {
		if v != true || !strings.HasPrefix(name, "respect_") {
			return
		}
	}
	if options != nil {
		delete(args, "file_filtering_options")
	}
}

// asLine joins a program and its arguments to a command line.
func asLine(args map[string]any) {
	items, ok := args["command"].([]any)
	if !ok || len(items) == 0 {
		return
	}
	argv := make([]string, len(items))
	for i, item := range items {
		if argv[i], ok = item.(string); !ok {
			return
		}
	}
	if len(argv) == 3 && slices.Contains([]string{"bash", "/bin/bash", "sh", "/bin/sh"}, argv[0]) && slices.Contains([]string{"-c", "-lc"}, argv[1]) {
		args["command"] = argv[2]
		return
	}
	args["command"] = shellQuoted(argv)
}

func jobAliases() map[string]string {
	return map[string]string{"id": "job", "job_id": "job", "bash_id": "job", "shell_id": "job", "task_id": "job"}
}
