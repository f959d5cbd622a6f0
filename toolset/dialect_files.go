package toolset

import (
	"fmt"
	"maps"
	"regexp"
	"strings"
	"sync"

	"adze/tool"
)

func readIdioms() []tool.Idiom {
	const whole = "is not known here: give offset and limit"
	return []tool.Idiom{
		lineRange(), viewRange(), oneOf("path", "paths"), oneFile("path", "offset", "limit", "start_line", "end_line"),
		remarks("description"),
		only("command", "must be view for this tool", "view"), only("mode", whole, "slice"),
		only("encoding", "is found by the tool itself; leave it out", "utf-8", "utf8", "auto"),
		indifferent("show_line_numbers", "line_numbers", "include_line_numbers", "wait_for_previous"),
		only("pages", "is not known here: a PDF goes whole", ""),
	}
}

// editorVerbs are the tools of those who have one for all that is done with files.
func editorVerbs(command string) (verbs []tool.Verb) {
	for _, name := range []string{"str_replace_editor", "str_replace_based_edit_tool", "str_replace_based_edit", "text_editor"} {
		verbs = append(verbs, tool.Verb{Name: name, Argument: "command", Value: command})
	}
	return verbs
}

// lineRange reads a first and a last line.
func lineRange() tool.Idiom {
	names := []string{"start_line", "end_line", "line_start", "line_end", "start_line_one_indexed", "end_line_one_indexed_inclusive", "end_line_one_indexed", "should_read_entire_file"}
	return tool.Idiom{Names: names, Means: func(w written) (written, string) {
		var first, last any
		entire := w["should_read_entire_file"]
		w = maps.Clone(w)
		delete(w, "should_read_entire_file")
		if entire == true {
			return nil, ""
		}
		for name, v := range w {
			if strings.Contains(name, "start") {
				first = v
			} else {
				last = v
			}
		}
		return between(first, last)
	}}
}

// viewRange reads [first, last], where -1 is the end of the file.
func viewRange() tool.Idiom {
	return tool.Idiom{Names: []string{"view_range", "line_range"}, Means: func(w written) (written, string) {
		if len(w) != 1 {
			return nil, "is given twice"
		}
		for _, v := range w {
			if pair, ok := v.([]any); ok && len(pair) == 2 {
				return between(pair[0], pair[1])
			} else if v == nil || ok && len(pair) == 0 {
				return nil, ""
			}
		}
		return nil, "must be two line numbers: the first and the last"
	}}
}

// between is a range of lines in this tool's words; nil is open, and so is a last line of -1.
func between(first, last any) (written, string) {
	from, okFrom := whole(first)
	to, okTo := whole(last)
	if first != nil && (!okFrom || from < 0) || last != nil && (!okTo || to < -1) {
		return nil, "must be a line number, from 1"
	}
	means := written{}
	if from > 0 {
		means["offset"] = float64(from)
	}
	if last == nil || to == -1 {
		return means, ""
	}
	if to < max(from, 1) {
		return nil, fmt.Sprintf("ends at line %d, before it begins", to)
	}
	means["limit"] = float64(to - max(from, 1) + 1)
	return means, ""
}

func writeIdioms() []tool.Idiom {
	const adds = "is not known here: write replaces the file; edit adds to it"
	return []tool.Idiom{
		oneFile("path", "content"), lineCount(), remarks("description", "explanation"),
		only("command", "must be create for this tool", "create"), only("append", adds, false), only("overwrite", adds, true),
		only("mode", adds, "w", "overwrite", "write", "rewrite"), only("encoding", "is that of the old file, else UTF-8; leave it out", "utf-8", "utf8"),
		only("create_dirs", "is always done; leave it out", true), only("create_directories", "is always done; leave it out", true),
		indifferent("wait_for_previous"),
	}
}

// lineCount compares the number of lines that roo's models count with those that came: a content
// that lost some is not written.
func lineCount() tool.Idiom {
	return tool.Idiom{Names: []string{"line_count", "content"}, Means: func(w written) (written, string) {
		count, counted := w["line_count"]
		content, isText := w["content"].(string)
		if !counted || !isText {
			return w, ""
		}
		n, ok := whole(count)
		lines := strings.Count(content, "\n") + 1
		if !ok || n != lines && n != strings.Count(strings.TrimSuffix(content, "\n"), "\n")+1 {
			return nil, fmt.Sprintf("says other than the content, which has %d lines; send it whole, without line_count", lines)
		}
		return written{"content": content}, ""
	}}
}

func editIdioms() []tool.Idiom {
	const exact = "is not known here: old_string is text as it stands in the file"
	return []tool.Idiom{
		expected(""), expected("edits"), blocks(), ownPaths(), remarks("description", "explanation"),
		only("command", "must be str_replace for this tool; write makes a file", "str_replace"),
		only("use_regex", exact, false), only("regex", exact, false), only("ignore_case", exact, false),
		refused("code_edit", "is a sketch, and what it leaves out is a guess: give old_string and new_string"),
		refused("insert_line", "is not known here: give the line as old_string, and with the new text as new_string"),
		refused("start_line", exact), refused("end_line", exact),
		indifferent("wait_for_previous"),
	}
}

func refused(name, why string) tool.Idiom { return only(name, why) }

// expected reads how many places a replacement is to meet: one is the rule here, and several are
// replace_all, which the model must ask for, because nothing counts them.
func expected(in string) tool.Idiom {
	names := []string{"expected_replacements", "replace_all", "allow_multiple"}
	return tool.Idiom{In: in, Names: names, Means: func(w written) (written, string) {
		means := written{}
		if v, ok := w["replace_all"]; ok {
			means["replace_all"] = v
		}
		if v, ok := w["allow_multiple"]; ok {
			if _, twice := means["replace_all"]; twice {
				return nil, "is replace_all, which is given, too"
			}
			means["replace_all"] = v
		}
		if v, ok := w["expected_replacements"]; ok && v != nil && means["replace_all"] != true {
			if n, ok := whole(v); !ok || n != 1 {
				return nil, "above 1 is replace_all: true here; or call edit for each place"
			}
		}
		return means, ""
	}}
}

// ownPaths drops the path that other assistants write in each edit, too, where all are the same.
func ownPaths() tool.Idiom {
	return tool.Idiom{Names: []string{"path", "edits"}, Means: func(w written) (written, string) {
		items, ok := w["edits"].([]any)
		if !ok {
			return w, ""
		}
		path := w["path"]
		edits := make([]any, len(items))
		for i, item := range items {
			one, ok := item.(map[string]any)
			if !ok {
				return w, ""
			}
			kept := written{}
			for name, v := range one {
				if real := pathAliases(nil)[name]; real == "" && name != "path" {
					kept[name] = v
					continue
				}
				if path == nil {
					path = v
				}
				if v != path {
					return nil, "are for several files; call edit once for each"
				}
			}
			edits[i] = kept
		}
		if path == nil {
			return w, ""
		}
		return written{"path": path, "edits": edits}, ""
	}}
}

// searchReplace is a block of cline's replace_in_file and roo's apply_diff: the old lines, a bar,
// the new ones.
var searchReplace = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)\A\s*[-<]{3,} ?SEARCH>?[^\S\n]*\n(?::start_line:[^\n]*\n)?(?::end_line:[^\n]*\n)?(?:-{3,}[^\S\n]*\n)?(?:(.*?\n))??={5,}[^\S\n]*\n(?:(.*?\n))??[+>]{3,} ?REPLACE[^\S\n]*(?:\n|\z)`)
})

// blocks reads a diff of SEARCH/REPLACE blocks as edits of whole lines; each must fit one place, as
// any edit.
func blocks() tool.Idiom {
	return tool.Idiom{Names: []string{"diff"}, Means: func(w written) (written, string) {
		const other = "must be blocks of SEARCH and REPLACE; or give old_string and new_string"
		rest, ok := w["diff"].(string)
		var edits []any
		for ok && strings.TrimSpace(rest) != "" {
			m := searchReplace().FindStringSubmatch(rest)
			if m == nil || strings.Contains(m[1], "SEARCH\n") || strings.Contains("\n"+m[2], "\n=====") {
				return nil, other
			}
			edits = append(edits, written{"old_string": m[1], "new_string": m[2]})
			rest = rest[len(m[0]):]
		}
		if len(edits) == 0 {
			return nil, other
		}
		return written{"edits": edits}, ""
	}}
}

func globIdioms() []tool.Idiom {
	return append(ignoring(), oneOf("path", "paths"), remarks("description", "explanation"), indifferent("wait_for_previous"),
		only("case_sensitive", "is not known here: names are compared with their case; write [aA] for either", true))
}

func grepIdioms() []tool.Idiom {
	const below = "is not known here: all folders below path are searched; glob and read look in one"
	return append(ignoring(),
		words("", "mode", map[string]string{
			"fileswithmatches": "files", "filesonly": "files", "paths": "files", "filepaths": "files", "fileswithmatch": "files",
			"counts": "count", "countmatches": "count", "lines": "content", "matches": "content",
		}),
		indifferent("-n", "line_numbers", "show_line_numbers", "include_line_numbers", "wait_for_previous"),
		switched("names_only", written{"mode": "files"}, nil), switched("files_with_matches", written{"mode": "files"}, nil),
		switched("case_sensitive", nil, written{"ignore_case": true}),
		switched("is_regex", nil, written{"literal": true}), switched("is_regexp", nil, written{"literal": true}),
		only("recursive", below, true), only("-r", below, true), only("offset", "is not known here: narrow with path and include", 0.0),
		joined("include"), joined("exclude"), oneOf("path", "paths"), oneOf("path", "target_directories"), remarks("description", "explanation"))
}

func listIdioms() []tool.Idiom {
	return append(ignoring(), joined("ignore"), oneOf("path", "paths"), remarks("description", "explanation"),
		switched("recursive", written{"depth": float64(listDepth)}, nil),
		only("show_hidden", "is not known here: hidden entries are always listed", true), only("all", "is not known here: hidden entries are always listed", true),
		only("offset", "is not known here: list a folder by itself, or use glob", 0.0, 1.0), indifferent("wait_for_previous"))
}
