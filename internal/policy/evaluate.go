package policy

import (
	"slices"
	"strings"

	"adze/internal/policy/programs"
	"adze/internal/policy/script"
)

// Bash reads some words once more while it runs: the subscript in a variable's name, what
// arithmetic is made of, prompts. A command substitution in such a word runs, however it was
// quoted. Which words end up there cannot be told (x='a[$(id)]'; echo $((x))), so as soon as a text
// evaluates anything, all its words count.

// evaluates reports a builtin that takes the names of variables, or arithmetic.
func evaluates(s simple) bool {
	if oneOf(s.name(), "printf test [") { // with -v they set variables, or test them
		return slices.ContainsFunc(s.words[1:], func(w word) bool { return strings.HasPrefix(w.text, "-v") })
	}
	return programs.Is("evaluates", s.name())
}

// evaluated looks for command substitutions in the words of a text that evaluates any of them.
func (r *reader) evaluated() {
	if !r.computes || r.into.refused != nil {
		return
	}
	texts := make([]string, len(r.literals))
	for i, w := range r.literals {
		texts[i] = w.Text
	}
	all := strings.Join(texts, " ")
	for _, w := range r.literals {
		text := w.Text
		// Only a piece of a substitution, or one that is written in numbers as a prompt may be,
		// cannot be read.
		piece := !w.Known && (strings.Contains(text, "$(") || strings.Contains(text, "`")) || strings.HasSuffix(text, "$") && strings.Contains(all, "(") || strings.Count(text, "`")%2 == 1
		if piece || r.prompts && strings.Contains(text, `\`) {
			r.unknown("a word of it may be evaluated: " + quote(text))
		}
		r.substitutions(text)
	}
}

// substitutions takes the programs in a text that may be expanded.
func (r *reader) substitutions(text string) {
	for i := range len(text) {
		if r.into.refused != nil {
			return
		}
		if text[i] != '`' && !strings.HasPrefix(text[i:], "$(") {
			continue
		}
		if r.into.lower(": "+text[i:]).Broken != nil {
			r.unknown("a word of it may be evaluated: " + quote(text))
			return
		}
		r.nested(": "+text[i:], 1)
		if text[i] == '`' {
			return // the next one closes it
		}
	}
}

// assigned looks at what a variable gets. Many programs run what a variable names: PAGER,
// GIT_SSH_COMMAND, CC.
func (r *reader) assigned(a *script.Assign, depth int) {
	for _, w := range a.Values {
		switch {
		case depth > maxUnwrap:
		case w.Known:
			r.guess(w.Text)
		case runsValue(a.Name):
			r.unknown("what " + a.Name + " makes programs run is known only then")
		}
	}
}

// runsValue reports variables whose value is a program, a command line or a file of them.
func runsValue(name string) bool {
	return programs.Is("program-variables", name) ||
		strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "GIT_") && !strings.HasPrefix(name, "GIT_AUTHOR_") && !strings.HasPrefix(name, "GIT_COMMITTER_")
}
