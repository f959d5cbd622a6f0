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
func (d *effects) shows(s statement) (out []session.Evidence) {
	if len(s.lead) > 0 && denies(s.lead) || denies(s.tokens) || containsAny(s.tokens, in("elsewhere")) || containsAny(s.tokens, in("qualifying")) {
		return nil
	}
	for _, c := range s.clauses() {
		kind, at := session.CommandClaim, -1
		for _, rule := range []func(*effects, []token) int{testsPass, builds, passed, executed} {
			at = max(at, rule(d, c))
		}
		if at < 0 {
			return nil
		}
		if (statement{tokens: c}).saysTestsPass() {
			kind = session.TestsClaim
		}
		e := session.Evidence{Kind: kind, Call: d.all[at].call, Quote: statement{tokens: c}.quote(), Text: d.all[at].commands[0]}
		if slices.ContainsFunc(d.all[:at], func(x effect) bool { return anyCode(x.changed) }) {
			e.Text += ", after the last edit"
		}
		out = append(out, e)
	}
	return out
}

// clauses splits a statement at punctuation and at "and", "but" and "so".
func (s statement) clauses() (out [][]token) {
	begin := 0
	for i := 0; i <= len(s.tokens); i++ {
		if i < len(s.tokens) && s.tokens[i].kind == sign && s.tokens[i].word == "(" && slices.ContainsFunc(s.tokens[i+1:min(i+2, len(s.tokens))], func(t token) bool { return t.kind == span || isNumber(t.word) }) {
			continue // a number or command that qualifies the clause
		}
		if i == len(s.tokens) || s.tokens[i].kind == sign || s.tokens[i].joins() {
			if i > begin {
				out = append(out, s.tokens[begin:i:i])
			}
			begin = i + 1
		}
	}
	return out
}

// only reports whether each word of a clause is in one of the sets, except one code span and
// numbers.
func only(clause []token, names ...string) (code string, numbers []string, ok bool) {
	for _, t := range clause {
		switch {
		case t.kind == sign && t.word == "(":
		case t.kind == span && code == "":
			code = t.word
		case t.kind == span:
			return "", nil, false
		case isNumber(t.word):
			numbers = append(numbers, strings.Trim(t.word, ",."))
		case !slices.ContainsFunc(names, func(n string) bool { return in(n)[t.word] }):
			return "", nil, false
		}
	}
	return code, numbers, true
}

// testsPass matches "all tests pass", "the 24 tests are green", "`go test ./...` passes".
func testsPass(d *effects, clause []token) int {
	code, numbers, ok := only(clause, "plainTests", "plain")
	at := d.last(func(x effect) bool { return x.opaque || x.mayTest() })
	if !ok || at < 0 || !(statement{tokens: clause}).saysTestsPass() {
		return -1
	}
	x := d.all[at]
	words, alone := x.alone()
	switch {
	case !alone || !x.succeeded || !isTest(words) || d.mayHaveChangedAfter(at) || !someRan(words, x.output),
		code != "" && !sameWords(code, x.commands[0]), code == "" && !whole(words, "wholeTests"),
		slices.ContainsFunc(numbers, func(n string) bool { return !counts(x.output, n) }):
		return -1
	}
	return at
}

// builds matches "the project builds", "the build succeeds", "it compiles".
func builds(d *effects, clause []token) int {
	code, numbers, ok := only(clause, "plainBuild", "plain")
	noun := containsAny(clause, map[string]bool{"build": true})
	if !ok || code != "" || len(numbers) > 0 || !containsAny(clause, in("building")) || noun && !containsAny(clause, in("passes")) {
		return -1
	}
	return d.ranWell(func(words []string) bool { return whole(words, "wholeBuilds") })
}

// passed matches "`go vet ./...` passes", "`make lint` is clean".
func passed(d *effects, clause []token) int {
	code, numbers, ok := only(clause, "plain")
	if !ok || code == "" || len(numbers) > 0 || !containsAny(clause, in("passes")) && !containsAny(clause, in("clean")) || clause[0].kind != span && !in("articles")[clause[0].word] && clause[0].word != "now" {
		return -1
	}
	if all := simple(code); len(all) == 1 && isTest(all[0]) {
		return -1
	}
	return d.ranWell(func(words []string) bool { return slices.Equal(words, strings.Fields(code)) })
}

// executed matches "I ran `make lint`".
func executed(d *effects, clause []token) int {
	code, numbers, ok := only(clause, "plainRan")
	if !ok || code == "" || len(numbers) > 0 || !containsAny(clause, in("executed")) {
		return -1
	}
	at := d.last(func(x effect) bool { return len(x.commands) == 1 && x.ran && !x.job && sameWords(code, x.commands[0]) })
	if at >= 0 && containsAny(clause, map[string]bool{"successfully": true}) && !d.all[at].succeeded {
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

// sameWords reports whether code in an answer equals a command word by word.
func sameWords(code, command string) bool {
	return slices.Equal(strings.Fields(code), strings.Fields(strings.TrimSuffix(strings.TrimSpace(command), "2>&1")))
}

// whole reports whether a command tests or builds all of a project, according to a set; harmless
// flags are ignored.
func whole(words []string, set string) bool {
	rest := slices.DeleteFunc(slices.Clone(words), func(w string) bool {
		name, _, _ := strings.Cut(w, "=")
		return words[0] != "make" && in("flags")[name]
	})
	return in(set)[strings.Join(rest, "_")]
}

// someRan reports whether a test run was not empty, judging by its output: go test also prints "[no
// tests to run]" for a package with only benchmarks, bun prints "0 pass".
func someRan(words []string, output string) bool {
	matches := func(pattern string) bool { return regexp.MustCompile(`(?mi)` + pattern).MatchString(output) }
	switch {
	case words[0] == "go", strings.Contains(output, "[no tests to run]"):
		ran := slices.ContainsFunc(strings.Split(output, "\n"), func(line string) bool {
			return strings.HasPrefix(line, "ok") && len(line) > 2 && (line[2] == ' ' || line[2] == '\t') && !strings.Contains(line, "[no tests to run]")
		})
		return ran && (!matches(`^\s*--- SKIP`) || matches(`^\s*--- PASS`))
	case matches(`\b[1-9]\d* (tests? )?pass`), matches(`\bpass(ed)?:? [1-9]`):
		return true
	case slices.Contains([]string{"cargo", "pytest", "jest", "vitest", "bun"}, words[0]):
		return false
	}
	return !matches(`\b0 (tests? )?pass`) && !matches(`\bpass(ed)?:? 0\b`) && !matches(`\b[1-9]\d* skipped`) && !matches(`\bno tests\b`)
}

// counts reports whether n tests passed according to the output.
func counts(output, n string) bool {
	if n, total, pair := strings.Cut(n, "/"); pair {
		return n == total && counts(output, n)
	}
	return n != "" && regexp.MustCompile(`\b`+regexp.QuoteMeta(n)+` (tests? )?(passed|passing|pass|ok)\b`).MatchString(output)
}
