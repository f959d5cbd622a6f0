package policy

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"adze/internal/policy/programs"
	"adze/internal/policy/script"
)

// covers matches a judged program's words. A word known only at run time is covered by * and **; a
// list of unknown length by ** alone.
func (m argvMatcher) covers(words []script.Word) bool {
	if len(words) < len(m.tokens) || len(words) > len(m.tokens) && !m.anyRest {
		return false
	}
	for i, t := range m.tokens {
		w := words[i]
		if w.Splits || !t.any && !(w.Known && slices.Contains(t.oneOf, w.Text)) {
			return false
		}
	}
	return true
}

// ruled finds the rule that allows a program. A rule with * or ** does not cover programs starting
// others; behind an unambiguous wrapper, the wrapped program is matched.
func (j *judgement) ruled(words []script.Word) (Rule, bool) {
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

// wrapperForm matches the unambiguous forms of nohup, nice, timeout, env, command and xargs, and
// markOption the mark of xargs -I. Words are separated by blanks.
var (
	wrapperForm = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(nohup|command|nice( -n [\d.smhd]+)?|timeout( (-k [\d.smhd]+|--foreground|--preserve-status|-v))* [\d.smhd]+|env( \w+=[^ ]*)*|` +
			`xargs( (-[0rt]|-0r|-r0|--null|--no-run-if-empty|-[nPL] ?\d+|-d [^ ]+|-I ?[^ ]+))*) `)
	})
	markOption = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(` -I ?([^ ]+)`) })
)

// behindWrapper returns the wrapped program.
func behindWrapper(words []script.Word) ([]script.Word, bool) {
	text := ""
	for _, w := range words {
		if !w.Known || w.Text == "" {
			break
		}
		text += strings.ReplaceAll(w.Text, " ", "\x00") + " "
	}
	form := wrapperForm().FindString(text)
	at := strings.Count(form, " ")
	if at == 0 || at >= len(words) || words[at].Text == "" || strings.HasPrefix(words[at].Text, "-") || strings.Contains(words[at].Text, "=") {
		return nil, false
	}
	for _, w := range words[1:at] {
		name, value, set := strings.Cut(w.Text, "=")
		if words[0].Text == "env" && set && programs.RiskySetting(name, value, true) != "" {
			return nil, false
		}
	}
	if words[0].Text != "xargs" {
		return words[at:], true
	}
	return filledByXargs(words[at:], markOption().FindStringSubmatch(form))
}

// filledByXargs returns the program that xargs starts, including the words it adds: any number, or
// one per mark.
func filledByXargs(words []script.Word, mark []string) ([]script.Word, bool) {
	inner := slices.Clone(words)
	switch {
	case startsPrograms(simple{words: words}), mark != nil && strings.Contains(words[0].Text, mark[1]):
		return nil, false
	case mark == nil:
		return append(inner, script.Word{Splits: true}), true
	}
	for i, w := range inner {
		if !w.Known || strings.Contains(w.Text, mark[1]) {
			inner[i] = script.Word{}
		}
	}
	return inner, true
}

// literalRule reports whether a rule names every word.
func literalRule(r Rule, words []script.Word) bool {
	return !r.argv.anyRest && len(r.argv.tokens) == len(words) && !slices.ContainsFunc(r.argv.tokens, func(t token) bool { return t.any })
}
