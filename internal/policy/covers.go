package policy

import (
	"slices"
	"strings"

	"adze/internal/policy/programs"
	"adze/internal/policy/script"
)

// covers matches the words of a judged program. A word that is known only when it runs is covered
// by * and by **; what may be many words by ** alone.
func (m argvMatcher) covers(words []script.Word) bool {
	if len(words) < len(m.tokens) || len(words) > len(m.tokens) && !m.rest {
		return false
	}
	for i, t := range m.tokens {
		w := words[i]
		if w.Many || !t.any && !(w.Known && slices.Contains(t.oneOf, w.Text)) {
			return false
		}
	}
	return true
}

// ruled finds the rule that allows a program. With * and ** somebody thought of programs, not of
// programs that start programs; through wrappers that cannot be misread the program behind them
// counts.
func (j *judging) ruled(words []script.Word) (Rule, bool) {
	if !words[0].Known {
		return Rule{}, false
	}
	if inner, ok := behindWrapper(words); ok {
		if r, found := j.ruled(inner); found {
			return r, true
		}
	}
	runner := startsPrograms(simple{words: words})
	return strongest(j.rules, func(r Rule) bool {
		if r.Effect != Allow || !r.argv.covers(words) {
			return false
		}
		return !runner || len(r.argv.tokens) > 0 && !r.argv.tokens[0].any
	})
}

// behindWrapper is the program behind nohup, nice, timeout, env, command and xargs, in the forms
// that have one reading.
func behindWrapper(words []script.Word) ([]script.Word, bool) {
	text := func(i int) string {
		if i >= len(words) {
			return ""
		}
		return words[i].Text
	}
	at := 0
	switch {
	case text(0) == "nohup", text(0) == "command":
		at = 1
	case text(0) == "nice" && text(1) == "-n" && plainAmount(text(2)):
		at = 3
	case text(0) == "nice":
		at = 1
	case text(0) == "timeout":
		at = behindTimeout(text)
	case text(0) == "env":
		for at = 1; harmlessAssignment(text(at)); at++ {
		}
	case text(0) == "xargs":
		return behindXargs(words, text)
	}
	if at == 0 || at >= len(words) || text(at) == "" || strings.HasPrefix(text(at), "-") || strings.Contains(text(at), "=") {
		return nil, false
	}
	return words[at:], true
}

func plainAmount(s string) bool { return s != "" && strings.Trim(s, "0123456789.smhd") == "" }

func behindTimeout(text func(int) string) int {
	at := 1
	for {
		switch {
		case text(at) == "-k" && plainAmount(text(at+1)):
			at += 2
		case text(at) == "--foreground" || text(at) == "--preserve-status" || text(at) == "-v":
			at++
		case plainAmount(text(at)):
			return at + 1
		default:
			return 0
		}
	}
}

// harmlessAssignment reports NAME=value behind env.
func harmlessAssignment(text string) bool {
	name, value, ok := strings.Cut(text, "=")
	return ok && programs.RiskySetting(name, value, true) == ""
}

// behindXargs is the program that xargs starts, with the words that it adds: any number of any.
func behindXargs(words []script.Word, text func(int) string) ([]script.Word, bool) {
	at, mark := 1, ""
	for at < len(words) && strings.HasPrefix(text(at), "-") {
		switch o := text(at); {
		case oneOf(o, "-0 -r -t --null --no-run-if-empty -0r -r0"):
		case oneOf(o, "-n -P -L -d") && at+1 < len(words) && text(at+1) != "":
			at++
		case o == "-I" && text(at+1) != "":
			at++
			mark = text(at)
		case strings.HasPrefix(o, "-I") && len(o) > 2:
			mark = o[2:]
		case (strings.HasPrefix(o, "-n") || strings.HasPrefix(o, "-P") || strings.HasPrefix(o, "-L")) && plainAmount(o[2:]):
		default:
			return nil, false
		}
		at++
	}
	if at >= len(words) || text(at) == "" || startsPrograms(simple{words: words[at:]}) {
		return nil, false
	}
	inner := slices.Clone(words[at:])
	if mark == "" {
		return append(inner, script.Word{Many: true}), true
	}
	for i, w := range inner {
		if i == 0 && strings.Contains(w.Text, mark) {
			return nil, false
		}
		if !w.Known || strings.Contains(w.Text, mark) {
			inner[i] = script.Word{}
		}
	}
	return inner, true
}

// literalRule reports a rule that names every word.
func literalRule(r Rule, words []script.Word) bool {
	return !r.argv.rest && len(r.argv.tokens) == len(words) && !slices.ContainsFunc(r.argv.tokens, func(t token) bool { return t.any })
}
