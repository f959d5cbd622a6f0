package programs

import (
	"path"
	"slices"
	"strings"

	"adze/internal/policy/script"
)

// WritesFile describes an option that writes a file.
const WritesFile = "writes a file"

// does describes a role's effect, or returns "" for an ordinary one.
func does(role string) string {
	switch role {
	case "write", "writes":
		return WritesFile
	case "run":
		return "runs a program"
	case "deletes":
		return "deletes files"
	case "clock":
		return "sets the clock"
	case "config":
		return "reads options from a file"
	}
	return ""
}

// Names lists the files that a program names and its options with further effects, as far as the
// table knows the program.
func Names(words []script.Word) []Access {
	if len(words) == 0 {
		return nil
	}
	words = slices.Clone(words)
	for i, w := range words {
		if !w.Known {
			words[i] = script.Word{Text: w.Spelled, Known: w.Spelled != ""}
		}
	}
	words[0].Text = path.Base(words[0].Text)
	s := scan{parent: tabled()[words[0].Text], use: &Use{}}
	p, args, ok := find(words)
	if words[0].Text == "git" {
		rest := len(words) - len(GitOf(script.Texts(words[1:])).rest)
		s.program = s.parent
		s.read(words[1:rest])
		s.operands, args = nil, words[rest:]
		if p, _, ok = find(slices.Concat(words[:1], words[max(rest-1, 0):rest])); p == s.parent {
			p = &program{}
		}
	}
	if s.program = p; !ok || p.any {
		return s.accesses
	}
	s.read(args)
	s.place()
	if _, looks := Judge(words); !looks && (p.special == "sed" || p.special == "awk") && script.AllKnown(words) {
		s.accesses = append(s.accesses, Access{Option: "its code", Effect: "may write files or run programs"})
	}
	return s.accesses
}

// ExtraAccess lists a program's options with further effects.
func ExtraAccess(words []string) (out []Access) {
	var given []script.Word
	for _, w := range words {
		given = append(given, script.Literal(w))
	}
	seen := map[string]bool{}
	for n := 1; n <= min(3, len(given)); n++ {
		p := tabled()[strings.Join(words[:n], " ")]
		for i := 0; p != nil && i < len(p.listed); i++ {
			name := p.listed[i]
			if what := does(strings.Join(p.effectOptions[name].roles, "")); what != "" && !seen[name] && !(n < len(given) && name == "-c" && words[0] == "git") {
				seen[name] = true
				out = append(out, Access{Option: name, Effect: what})
			}
		}
	}
	return out
}
