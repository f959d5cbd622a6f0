package claims

import (
	"regexp"
	"slices"
	"strings"

	"adze/session"
)

// shows returns a statement's clauses with the calls that support them, or nil.
//
// The one rule: a sentence is marked only if every word is understood and every clause is
// supported. "All tests pass" may be; "all tests pass on Windows" is not, whatever ran. A missing
// mark costs little; a wrong one destroys the trust in all others.
func (d *effects) shows(s clause) (out []session.Evidence) {
	if s.denies() || s.has("elsewhere") || s.has("qualifying") {
		return nil
	}
	for _, c := range s.clauses() {
		at := d.support(c)
		if at < 0 {
			return nil
		}
		e := session.Evidence{Kind: session.CommandClaim, Call: d.all[at].call, Quote: c.quote(), Text: d.all[at].commands[0]}
		if c.saysTestsPass() {
			e.Kind = session.TestsClaim
		}
		if slices.ContainsFunc(d.all[:at], func(x effect) bool { return anyCode(x.changed) }) {
			e.Text += ", after the last edit"
		}
		out = append(out, e)
	}
	return out
}

// support returns the call that shows a clause, or -1: "all tests pass", "I ran `make lint`",
// "`go vet ./...` passes", "the project builds".
func (d *effects) support(c clause) int {
	code, numbers, spans := "", []string(nil), 0
	for _, t := range c {
		if span := t.code(); span != "" {
			code = span
			spans++
		} else if isNumber(t) {
			numbers = append(numbers, strings.Trim(string(t), ",."))
		}
	}
	exactly := func(words []string) bool { return slices.Equal(words, strings.Fields(code)) }
	switch all := simple(code); {
	case spans > 1:
	case c.only("plainTests", "plain") && c.saysTestsPass():
		return d.tested(code, numbers)
	case len(numbers) > 0:
	case code == "" && c.only("plainBuild", "plain") && c.has("building") && (!c.has("build") || c.has("passes")):
		return d.ranWell(func(words []string) bool { return whole(words, "wholeBuilds") })
	case code == "":
	case c.only("plainRan") && c.has("executed"):
		at := d.last(func(x effect) bool { words, alone := x.alone(); return alone && exactly(words) })
		if at >= 0 && c.has("well") && !d.all[at].succeeded {
			return -1
		}
		return at
	case c.only("plain") && (c.has("passes") || c.has("clean")) && (c[0].code() != "" || c[0].in("articles")) && !(len(all) == 1 && isTest(all[0])):
		return d.ranWell(exactly)
	}
	return -1
}

// tested returns the newest run that may have been tests, if it shows that the whole project's, or
// those of code, passed.
func (d *effects) tested(code string, numbers []string) int {
	at := d.last(effect.mayTest)
	if at < 0 {
		return -1
	}
	x := d.all[at]
	words, alone := x.alone()
	switch {
	case !alone || !x.succeeded || x.testsFailed() || !isTest(words) || d.mayHaveChangedAfter(at) || !someRan(words, x.output),
		code != "" && !slices.Equal(words, strings.Fields(code)), code == "" && !whole(words, "wholeTests"),
		slices.ContainsFunc(numbers, func(n string) bool { return !counts(x.output, n) }):
		return -1
	}
	return at
}

// ranWell returns the newest matching command if it succeeded and nothing may have changed since.
func (d *effects) ranWell(is func(words []string) bool) int {
	at := d.last(func(x effect) bool { words, alone := x.alone(); return alone && is(words) })
	if at >= 0 && (!d.all[at].succeeded || d.mayHaveChangedAfter(at)) {
		return -1
	}
	return at
}

// mayHaveChangedAfter reports whether a later call may have changed code.
func (d *effects) mayHaveChangedAfter(at int) bool {
	return slices.ContainsFunc(d.all[at+1:], func(x effect) bool {
		return x.opaque || anyCode(x.changed) || slices.ContainsFunc(x.commands, mayWrite)
	})
}

// whole reports whether a command tests or builds all of a project, according to a set; harmless
// flags are ignored.
func whole(words []string, set string) bool {
	rest := slices.DeleteFunc(slices.Clone(words), func(w string) bool {
		name, _, _ := strings.Cut(w, "=")
		return words[0] != "make" && token(name).in("flags")
	})
	return sets()[set][strings.Join(rest, "_")]
}

// someRan reports whether a test run was not empty, judging by its output: go test also ends
// a line in "[no tests to run]" for a package with only benchmarks, bun prints "0 pass".
func someRan(words []string, output string) bool {
	matches := func(pattern string) bool { return regexp.MustCompile(`(?mi)` + pattern).MatchString(output) }
	if words[0] == "go" || strings.Contains(output, "[no tests to run]") {
		return matches(`^ok[ \t].*([^]\n]|statements\])$`) && (!matches(`^\s*--- SKIP`) || matches(`^\s*--- PASS`))
	}
	return matches(`\b[1-9]\d* (tests? )?pass`) || matches(`\bpass(ed)?:? [1-9]`)
}

// counts reports whether n tests passed according to the output.
func counts(output, n string) bool {
	if n, total, pair := strings.Cut(n, "/"); pair {
		return n == total && counts(output, n)
	}
	return n != "" && regexp.MustCompile(`\b`+regexp.QuoteMeta(n)+` (tests? )?(passed|passing|pass|ok)\b`).MatchString(output)
}
