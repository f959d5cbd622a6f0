package programs

import (
	"path"
	"slices"
	"strings"
	"sync"
)

// kinds holds the lists in kinds.table: names, and options by program.
var kinds = sync.OnceValue(func() map[string]map[string]bool {
	data, err := tables.ReadFile("table/kinds.table")
	if err != nil {
		panic(err) // it is embedded
	}
	all := map[string]map[string]bool{}
	var keys []string
	for line := range strings.Lines(string(data)) {
		list := line
		if key, rest, found := strings.Cut(line, ": "); found && line[0] != ' ' {
			keys, list = braced(key), rest
		}
		for _, key := range keys {
			if all[key] == nil {
				all[key] = map[string]bool{}
			}
			for word := range strings.FieldsSeq(list) {
				for _, name := range braced(word) {
					all[key][name] = line[0] != '#'
				}
			}
		}
	}
	return all
})

// braced expands a{b,c}.
func braced(word string) (out []string) {
	before, rest, found := strings.Cut(word, "{")
	inner, after, closed := strings.Cut(rest, "}")
	if !found || !closed {
		return []string{word}
	}
	for part := range strings.SplitSeq(inner, ",") {
		for _, more := range braced(after) {
			out = append(out, before+part+more)
		}
	}
	return out
}

// IsKind reports whether a program, variable or option is of a kind.
func IsKind(kind, name string) bool { return kinds()[kind][name] }

// CommandIs reports whether a program, or a program with its subcommand, is of a kind.
func CommandIs(kind string, words ...string) bool {
	if len(words) == 0 {
		return false
	}
	name := path.Base(words[0])
	subs := slices.DeleteFunc(slices.Clone(words[1:]), func(w string) bool { return strings.HasPrefix(w, "-") })
	if name == "git" {
		subs = []string{GitOf(words[1:]).Sub}
	}
	for i := 0; i <= min(2, len(subs)); i++ {
		if IsKind(kind, strings.Join(append([]string{name}, subs[:i]...), ".")) {
			return true
		}
	}
	return false
}

// Globals reports whether an option before a program's subcommand takes the next word; known
// reports whether the program is in the table.
func Globals(program, option string) (takes, known bool) {
	list := kinds()["globals "+program]
	return list[option], list != nil
}

// RunsOption reports whether an option's value is a program or a command line. GNU abbreviations
// count.
func RunsOption(program, option string) bool {
	for full := range kinds()["program-options"] {
		if len(option) > len("--o") && strings.HasPrefix(option, "--") && strings.HasPrefix(full, option) {
			return true
		}
	}
	return IsKind("program-options", option) || IsKind("program-options "+program, option) || program == "env" && strings.HasPrefix(option, "-S")
}

// CodeOption reports whether the program is an interpreter, and whether the option takes code.
func CodeOption(program, option string) (code, interprets bool) {
	if IsKind("awk", program) {
		return false, true
	}
	stem := strings.TrimRight(program, "0123456789.-wjit")
	for _, name := range []string{program, stem} {
		if list := kinds()["code "+name]; list != nil {
			return list[option], true
		}
	}
	return false, false
}
