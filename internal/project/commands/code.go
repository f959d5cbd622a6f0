package commands

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"adze/internal/policy/programs"
	"adze/internal/policy/script"
)

// placed stands for an argument in a command that is only examined.
const placed = "adze-argument"

// runsArguments returns an error if a program in the command would run an argument as code: as one
// of its words, or as its input. The table of programs is the permission check's.
func (w *weaver) runsArguments() error {
	for _, part := range script.Lower(w.woven(func(string) string { return placed }), "").Parts {
		if part.Call == nil {
			continue
		}
		words := part.Call.Words
		if why := takesCode(words, slices.IndexFunc(words, isPlaced)); why != "" {
			return fmt.Errorf("an argument cannot stand where it does: %s", why)
		}
		if program := readsInput(words); program != "" {
			return fmt.Errorf("%s in it runs what it reads, so that no argument may stand in the same command", program)
		}
	}
	return nil
}

func isPlaced(w *script.Word) bool { return strings.Contains(w.Text, placed) }

// base returns a word's program name, or "" if it is not known.
func base(w *script.Word) string {
	if !w.Known || isPlaced(w) {
		return ""
	}
	return path.Base(w.Text)
}

// takesCode explains why a program would run the word at this index as code, or returns "".
func takesCode(words []*script.Word, at int) string {
	if at <= 0 {
		return "" // none, or the program itself
	}
	first := base(words[0])
	switch {
	case first == "":
		return "which program gets it is not known"
	case programs.IsKind("evaluates", first), slices.Contains([]string{"trap", "alias", "coproc"}, first):
		return first + " would run it"
	case slices.Contains([]string{"printf", "test", "["}, first) && slices.ContainsFunc(words[:at], func(w *script.Word) bool { return w.Equals("-v") }):
		return "-v calculates with a name"
	case codeFlag(words[at-1]):
		if i := slices.IndexFunc(words[:at-1], func(w *script.Word) bool { return base(w) == "" || interprets(base(w)) }); i >= 0 {
			return `the program before it would run it as text; hand it over behind the text, as in bash -c '… "$1"' _ $1`
		}
	}
	return ""
}

// readsInput returns the program in a call that runs its input, or a device file, as code.
func readsInput(words []*script.Word) string {
	for n, w := range words {
		if first := base(words[0]); n > 0 && !programs.IsKind("starts", first) && !programs.IsKind("starts-behind-a-word", first) {
			break
		}
		name, rest := base(w), words[n+1:]
		operand := slices.IndexFunc(rest, func(w *script.Word) bool { return !strings.HasPrefix(w.Text, "-") || !w.Known })
		sourced := name == "source" || name == "."
		if !sourced && (!interprets(name) || slices.ContainsFunc(rest, codeFlag)) {
			continue
		}
		if operand < 0 || base(rest[operand]) == "" || sourced && strings.HasPrefix(rest[operand].Text, "/") ||
			strings.HasPrefix(rest[operand].Text, "/dev/") || strings.HasPrefix(rest[operand].Text, "/proc/") {
			return name
		}
	}
	return ""
}

// interprets reports whether a program can run a word or its input as code.
func interprets(program string) bool {
	_, code := programs.CodeOption(program, "")
	return code || programs.IsKind("shell", program) || program == "su"
}

// codeFlag reports an option that may take code.
func codeFlag(w *script.Word) bool {
	if strings.HasPrefix(w.Text, "--") {
		return slices.Contains([]string{"--command", "--eval", "--execute", "--print"}, w.Text)
	}
	return w.Known && strings.HasPrefix(w.Text, "-") && strings.ContainsAny(w.Text, "cerp")
}
