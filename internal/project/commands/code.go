package commands

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// readsCode explains why a program would run the word at this offset as code, or returns "".
func readsCode(call *syntax.CallExpr, at int) string {
	var before []string
	for _, arg := range call.Args {
		if int(arg.Pos().Offset()) <= at && at < int(arg.End().Offset()) {
			break
		}
		before = append(before, known(arg))
	}
	if len(before) == 0 || len(before) == len(call.Args) {
		return "" // the program itself, or an assignment before it
	}
	if before[0] == "" {
		return "which program gets it is not known"
	}
	switch before[0] {
	case "eval", "let", "trap", "unset", "declare", "typeset", "local", "readonly", "export", "alias", "read", "mapfile", "readarray", "builtin", "command", "exec", "coproc":
		return before[0] + " would run it"
	case "printf", "test", "[":
		if slices.Contains(before, "-v") {
			return "-v calculates with a name"
		}
	}
	for n, word := range before {
		if n+1 < len(before) && (word == "" || runsText(path.Base(word))) && slices.ContainsFunc(before[n+1:], codeFlag) {
			if codeFlag(before[len(before)-1]) {
				return cmp.Or(word, "the program before it") + ` would run it as text; hand it over behind the text, as in bash -c '… "$1"' _ $1`
			}
		}
	}
	return ""
}

// known returns a word's text if it has no shell expansions, or "".
func known(w *syntax.Word) string {
	var b strings.Builder
	for _, part := range w.Parts {
		switch x := part.(type) {
		case *syntax.Lit:
			b.WriteString(strings.ReplaceAll(x.Value, `\`, ""))
		case *syntax.SglQuoted:
			if x.Dollar {
				return ""
			}
			b.WriteString(x.Value)
		case *syntax.DblQuoted:
			text := known(&syntax.Word{Parts: x.Parts})
			if text == "" && len(x.Parts) > 0 {
				return ""
			}
			b.WriteString(text)
		default:
			return ""
		}
	}
	if strings.ContainsAny(b.String(), "*?[{~") {
		return ""
	}
	return b.String()
}

// runsText reports whether a program runs the word after -c or -e.
func runsText(program string) bool {
	name := strings.TrimRight(program, "0123456789.")
	return slices.Contains([]string{"sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "fish", "busybox", "su", "python", "perl", "ruby", "node", "nodejs", "deno", "php", "lua", "awk", "gawk", "mawk", "osascript"}, name)
}

func codeFlag(word string) bool {
	if strings.HasPrefix(word, "--") {
		return slices.Contains([]string{"--command", "--eval", "--execute", "--print"}, word)
	}
	return strings.HasPrefix(word, "-") && strings.ContainsAny(word, "cerp")
}

// readsInput returns the program in a command that runs its input, or a device file, as code.
func readsInput(file *syntax.File) (program string) {
	syntax.Walk(file, func(n syntax.Node) bool {
		call, is := n.(*syntax.CallExpr)
		if !is || program != "" {
			return true
		}
		var words []string
		for _, arg := range call.Args {
			words = append(words, known(arg))
		}
		for n, word := range words {
			wrapped := n > 0 && slices.Contains(wrappers(), path.Base(words[0]))
			if n > 0 && !wrapped {
				break
			}
			rest := words[n+1:]
			switch {
			case word == "source" || word == ".":
				if len(rest) == 0 || rest[0] == "" || strings.HasPrefix(rest[0], "/") {
					program = word
				}
			case runsText(path.Base(word)) && !slices.ContainsFunc(rest, codeFlag):
				operand := slices.IndexFunc(rest, func(w string) bool { return !strings.HasPrefix(w, "-") })
				if operand < 0 || rest[operand] == "" || strings.HasPrefix(rest[operand], "/dev/") || strings.HasPrefix(rest[operand], "/proc/") {
					program = word
				}
			}
		}
		return true
	})
	return program
}

// wrappers lists programs that run the program named after them.
func wrappers() []string {
	return []string{"env", "timeout", "nice", "nohup", "xargs", "sudo", "doas", "command", "exec", "builtin", "time", "stdbuf", "setsid", "ionice", "chroot", "busybox"}
}
