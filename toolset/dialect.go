package toolset

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"adze/tool"
)

// What other assistants' tools are called like and take: Claude Code, codex, opencode, gemini-cli,
// qwen-code, crush, cline, roo, aider, cursor, pi and the editor tools of benchmarks. The names are
// facts of their public schemas. The rule of every idiom here: what it makes does what was asked,
// or it refuses with the next move. What cannot change the meaning of a call is dropped, everything
// else is not.

// pathAliases adds the names that models use for path.
func pathAliases(more map[string]string) map[string]string {
	all := map[string]string{
		"file_path": "path", "filePath": "path", "filename": "path", "file": "path", "file_name": "path",
		"absolute_path": "path", "target_file": "path", "relative_path": "path", "relative_workspace_path": "path",
	}
	maps.Copy(all, more)
	return all
}

// folderAliases adds the names that models use for the folder and the limit of a search.
func folderAliases(more map[string]string) map[string]string {
	all := pathAliases(map[string]string{
		"directory": "path", "dir": "path", "dir_path": "path", "folder": "path", "directory_path": "path",
		"target_directory": "path", "search_path": "path", "search_directory": "path", "root": "path",
		"max_results": "limit", "head_limit": "limit", "total_max_matches": "limit", "max_entries": "limit",
	})
	maps.Copy(all, more)
	return all
}

// written is what a model wrote of the arguments of one idiom.
type written = map[string]any

// remarks are arguments that only talk about the call; a user sees the call itself.
func remarks(names ...string) tool.Idiom {
	names = append([]string{"instruction", "instructions", "purpose", "goal", "summary", "task_progress"}, names...)
	return tool.Idiom{Names: names, Means: func(w written) (written, string) {
		for name, v := range w {
			if _, text := v.(string); !text && v != nil {
				return nil, "is a remark at best; leave " + name + " out"
			}
		}
		return nil, ""
	}}
}

// only drops an argument where it says what this tool does anyway, and refuses any other value.
func only(name, otherwise string, values ...any) tool.Idiom {
	return tool.Idiom{Names: []string{name}, Means: func(w written) (written, string) {
		v := w[name]
		if text, ok := v.(string); ok {
			v = strings.ToLower(text)
		}
		if v == nil || slices.Contains(values, v) {
			return nil, ""
		}
		return nil, otherwise
	}}
}

// indifferent drops arguments that change nothing here, whatever their value of these types.
func indifferent(names ...string) tool.Idiom {
	return tool.Idiom{Names: names, Means: func(w written) (written, string) {
		for _, v := range w {
			switch v.(type) {
			case nil, bool, float64, string:
			default:
				return nil, "is not known here; leave it out"
			}
		}
		return nil, ""
	}}
}

// words reads other words for the values of an argument.
func words(in, name string, means map[string]string) tool.Idiom {
	return tool.Idiom{In: in, Names: []string{name}, Means: func(w written) (written, string) {
		if text, ok := w[name].(string); ok {
			folded := strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(text))
			if meant, ok := means[folded]; ok {
				return written{name: meant}, ""
			}
		}
		return w, ""
	}}
}

// switched reads a boolean of other assistants as one or no argument of this tool.
func switched(name string, on, off written) tool.Idiom {
	return tool.Idiom{Names: []string{name}, Means: func(w written) (written, string) {
		switch w[name] {
		case true, "true":
			return on, ""
		case false, "false":
			return off, ""
		case nil:
			return nil, ""
		}
		return nil, "must be true or false"
	}}
}

// oneOf takes a list of one for what it holds: paths of one file, and a path written as a list.
func oneOf(name, list string) tool.Idiom {
	return tool.Idiom{Names: []string{name, list}, Means: func(w written) (written, string) {
		for _, given := range []string{list, name} {
			items, ok := w[given].([]any)
			if !ok {
				continue
			}
			if text, one := single(items).(string); one && len(w) == 1 {
				return written{name: text}, ""
			}
			return nil, fmt.Sprintf("must hold one; call this tool once for each %s", name)
		}
		if text, ok := w[list].(string); ok && len(w) == 1 {
			return written{name: text}, ""
		}
		return w, ""
	}}
}

func single(items []any) any {
	if len(items) != 1 {
		return nil
	}
	return items[0]
}

// joined takes a list of globs for the same globs with commas between them.
func joined(name string) tool.Idiom {
	return tool.Idiom{Names: []string{name}, Means: func(w written) (written, string) {
		items, ok := w[name].([]any)
		if !ok {
			return w, ""
		}
		var all []string
		for _, item := range items {
			text, ok := item.(string)
			if !ok || len(globs(text)) != 1 {
				return w, ""
			}
			all = append(all, text)
		}
		if len(all) == 0 {
			return nil, ""
		}
		return written{name: strings.Join(all, ",")}, ""
	}}
}

// oneFile takes a list of one file with its own arguments for these arguments.
func oneFile(names ...string) tool.Idiom {
	return tool.Idiom{Names: []string{"files", "file_list"}, Means: func(w written) (written, string) {
		const several = "must hold one file; call this tool once for each"
		for _, v := range w {
			items, _ := v.([]any)
			switch item := single(items).(type) {
			case string:
				return written{"path": item}, ""
			case map[string]any:
				for name := range item {
					if !slices.Contains(names, name) {
						return nil, several + " with " + strings.Join(names, ", ")
					}
				}
				return item, ""
			}
		}
		return nil, several
	}}
}

// whole reads a whole number, also one in quotes.
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

// limited reads a time limit as this tool takes it, at most so many seconds. What is above is held
// to it, but for a round number that other assistants' tools, which count in milliseconds, take:
// 120000 is two minutes. A second name with the unit in it is always milliseconds.
func limited(name string, most int) tool.Idiom {
	millis := []string{name + "_ms", name + "_millis", name + "_milliseconds"}
	return tool.Idiom{Names: append([]string{name}, millis...), Means: func(w written) (written, string) {
		if len(w) != 1 {
			return nil, "is given twice"
		}
		for unit, v := range w {
			n, ok := whole(v)
			switch {
			case !ok || n <= 0:
				return w, ""
			case unit != name, n > most && n >= 10_000 && n%1000 == 0 && n <= most*1000:
				return written{name: float64(min(max(1, (n+999)/1000), most))}, ""
			case n > most:
				return written{name: float64(most)}, ""
			}
		}
		return w, ""
	}}
}

// ignoring are the switches of other assistants' walks: git's rules always hold here.
func ignoring() []tool.Idiom {
	const otherwise = "is not known here: ignored files are left out; list shows them, read takes their path"
	filter := tool.Idiom{Names: []string{"file_filtering_options"}, Means: func(w written) (written, string) {
		options, _ := w["file_filtering_options"].(map[string]any)
		for name, v := range options {
			if v != true || !strings.HasPrefix(name, "respect_") {
				return nil, otherwise
			}
		}
		return nil, ""
	}}
	return []tool.Idiom{
		filter, only("respect_git_ignore", otherwise, true), only("respect_gemini_ignore", otherwise, true),
		only("respect_qwen_ignore", otherwise, true), only("no_ignore", otherwise, false), only("include_ignored", otherwise, false),
	}
}
