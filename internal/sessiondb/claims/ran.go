package claims

import (
	"slices"
	"strings"

	"adze/session"
)

// ran finds commands that the model says it ran and no call ran: "I ran `go test ./...`", "Ran
// `make lint`".
func ran(w *work, s statement) []session.Claim {
	if w.partial || w.opaque() {
		return nil
	}
	for i, t := range s.tokens {
		if t.kind != word || !in("executed")[t.word] || i > 0 && !byMe(s.tokens[:i]) {
			continue
		}
		command, ok := commandAfter(s.tokens[i+1:])
		if ok && !denies(s.clause(i)) && !w.ran(command) {
			return claim(session.CommandClaim, "says that it ran %s; no call did", strings.Join(command, " "))
		}
	}
	return nil
}

// commandAfter is the command that a verb is about.
func commandAfter(after []token) ([]string, bool) {
	for i, t := range after {
		if t.kind == span {
			all := simple(t.word)
			if len(all) != 1 || !program(all[0][0]) || len(all[0]) == 1 {
				return nil, false
			}
			return all[0], true
		}
		if i > 2 || t.kind != word || !in("articles")[t.word] && t.word != "full" && t.word != "command" && t.word != "again" {
			return nil, false
		}
	}
	return nil, false
}

func program(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == "" && (name[0] < '0' || name[0] > '9')
}

// ran reports a command that may be the one: of the same program with the same subcommand; one that
// only looks, which tools do as well; or any script, which may have run it.
func (w *work) ran(command []string) bool {
	if in("looking")[command[0]] || command[0] == "git" || command[0] == "find" || command[0] == "sed" {
		return true
	}
	for _, d := range w.all {
		if d.tool == command[0] {
			return true
		}
		for _, text := range d.commands {
			if strings.Contains(text, command[0]) && strings.Contains(text, subcommand(command)) {
				return true
			}
			known := func(words []string) bool {
				sub := words[0] == "git" || in("calm "+words[0]) != nil
				return in("looking")[words[0]] || in("calm")[words[0]] || sub && words[0] != "npm" && words[0] != "yarn" && words[0] != "pnpm"
			}
			if slices.ContainsFunc(simple(text), func(words []string) bool { return !known(words) }) {
				return true
			}
		}
	}
	return false
}
