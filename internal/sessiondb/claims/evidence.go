package claims

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"adze/session"
	"adze/tool"
)

// shownOf returns the clauses of the answer that calls show to be true, in the order of the
// answer. It is pure.
//
// The one rule: a sentence is marked only when each of its words is understood and each of its
// clauses is shown. "All tests pass" may be; "all tests pass on Windows" is not, whatever ran. A
// mark that is missing costs little; a wrong one costs the trust in all others.
func (w *work) shownOf(all []statement) (out []session.Evidence) {
	for _, s := range all {
		if s.supposes() || len(s.lead) > 0 && denies(s.lead) || s.qualified() {
			continue
		}
		out = append(out, w.shows(s)...)
	}
	return out
}

// shows returns what shows each clause of a statement, or nothing.
func (w *work) shows(s statement) (out []session.Evidence) {
	rules := []func(*work, []token) (session.Evidence, bool){testsPass, builds, passed, executed, updated, committed}
	for _, c := range s.clauses() {
		shown := slices.ContainsFunc(rules, func(rule func(*work, []token) (session.Evidence, bool)) bool {
			e, ok := rule(w, c)
			if ok {
				e.Quote = statement{tokens: c}.quote()
				out = append(out, e)
			}
			return ok
		})
		if !shown {
			return nil
		}
	}
	return out
}

// qualified reports a sentence with a word that may change what its clauses mean.
func (s statement) qualified() bool {
	return denies(s.tokens) || has(s.tokens, in("elsewhere")) || has(s.tokens, in("qualifying"))
}

// clauses cuts a statement at signs and at "and", "but" and "so".
func (s statement) clauses() (out [][]token) {
	begin := 0
	for i := 0; i <= len(s.tokens); i++ {
		if i < len(s.tokens) && s.tokens[i].kind == sign && s.tokens[i].word == "(" && slices.ContainsFunc(s.tokens[i+1:min(i+2, len(s.tokens))], func(t token) bool { return t.kind == span || isNumber(t.word) }) {
			continue // how many, or by which command, stands behind what
		}
		if i == len(s.tokens) || s.tokens[i].kind == sign || s.tokens[i].kind == word && (s.tokens[i].word == "and" || s.tokens[i].word == "but" || s.tokens[i].word == "so") {
			if i > begin {
				out = append(out, s.tokens[begin:i:i])
			}
			begin = i + 1
		}
	}
	return out
}

// only reports that each word of a clause is in one of the sets, but for a code span and numbers.
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

// testsPass takes "all tests pass", "the 24 tests are green", "`go test ./...` passes".
func testsPass(w *work, clause []token) (session.Evidence, bool) {
	code, numbers, ok := only(clause, "plainTests", "plain")
	if !ok || !saysTestsPass(statement{tokens: clause}) {
		return session.Evidence{}, false
	}
	at := w.last(func(d deed) bool { return d.opaque || ranTests(d) })
	if at < 0 {
		return session.Evidence{}, false
	}
	d := w.all[at]
	command, alone := d.alone()
	switch {
	case !alone || !d.succeeded || !isTest(d.commands[0]) || w.mayHaveChangedAfter(at):
		return session.Evidence{}, false
	case code != "" && !sameWords(code, d.commands[0]), code == "" && !wholeTests(command):
		return session.Evidence{}, false
	case !someRan(command, d.output):
		return session.Evidence{}, false
	}
	for _, n := range numbers {
		if !counts(d.output, n) {
			return session.Evidence{}, false
		}
	}
	return w.evidence(session.TestsClaim, d, at), true
}

// builds takes "the project builds", "the build succeeds", "it compiles".
func builds(w *work, clause []token) (session.Evidence, bool) {
	code, numbers, ok := only(clause, "plainBuild", "plain")
	if !ok || code != "" || len(numbers) > 0 || !has(clause, in("building")) {
		return session.Evidence{}, false
	}
	noun := has(clause, map[string]bool{"build": true})
	if noun && !has(clause, in("passes")) {
		return session.Evidence{}, false
	}
	return w.ranWell(session.CommandClaim, wholeBuild)
}

// passed takes "`go vet ./...` passes", "`make lint` is clean".
func passed(w *work, clause []token) (session.Evidence, bool) {
	code, numbers, ok := only(clause, "plain")
	if !ok || code == "" || isTest(code) || len(numbers) > 0 || !has(clause, in("passes")) && !has(clause, in("clean")) || clause[0].kind != span && !in("articles")[clause[0].word] && clause[0].word != "now" {
		return session.Evidence{}, false
	}
	return w.ranWell(session.CommandClaim, func(words []string) bool { return slices.Equal(words, strings.Fields(code)) })
}

// executed takes "I ran `make lint`".
func executed(w *work, clause []token) (session.Evidence, bool) {
	code, numbers, ok := only(clause, "plainRan")
	if !ok || code == "" || len(numbers) > 0 || !has(clause, in("executed")) {
		return session.Evidence{}, false
	}
	well := has(clause, map[string]bool{"successfully": true})
	for i, d := range slices.Backward(w.all) {
		if len(d.commands) == 1 && d.ran && !d.job && sameWords(code, d.commands[0]) {
			return w.evidence(session.CommandClaim, d, i), !well || d.succeeded
		}
	}
	return session.Evidence{}, false
}

// updated takes "I updated `a.go`". What the file was changed for is not shown by a call.
func updated(w *work, clause []token) (session.Evidence, bool) {
	verb := slices.IndexFunc(clause, func(t token) bool { return t.kind == word && in("plainChanging")[t.word] })
	if verb < 0 || verb == len(clause)-1 || verb > 0 && !byMe(clause[:verb]) {
		return session.Evidence{}, false
	}
	if _, _, ok := only(clause[:verb], "plainRan"); !ok {
		return session.Evidence{}, false
	}
	after := clause[verb+1:]
	for len(after) > 1 && in("articles")[after[0].word] {
		after = after[1:]
	}
	f, ok := fileOf(after[0])
	if !ok || len(after) != 1 || f.line {
		return session.Evidence{}, false
	}
	for i, d := range slices.Backward(w.all) {
		if d.now && anyEnds(d.changed, f.name) {
			return w.evidence(session.ChangeClaim, d, i), true
		}
	}
	return session.Evidence{}, false
}

// committed takes "I committed the changes as `abc1234`".
func committed(w *work, clause []token) (session.Evidence, bool) {
	code, numbers, ok := only(clause, "plainCommit")
	if !ok || !has(clause, map[string]bool{"committed": true}) || len(numbers) > 0 || code != "" && !commitID().MatchString(code) {
		return session.Evidence{}, false
	}
	for i, d := range slices.Backward(w.all) {
		if words, alone := d.alone(); d.now && alone && d.succeeded && len(words) > 1 && words[0] == "git" && subcommand(words) == "commit" &&
			!slices.Contains(words, "--dry-run") && (code == "" || strings.Contains(d.output, code)) {
			return w.evidence(session.CommandClaim, d, i), true
		}
	}
	return session.Evidence{}, false
}

func commitID() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{7,40}$`) }

// ranWell finds the newest command of a kind, if it succeeded and nothing may have changed since.
func (w *work) ranWell(kind session.ClaimKind, is func(words []string) bool) (session.Evidence, bool) {
	for i, d := range slices.Backward(w.all) {
		words, alone := d.alone()
		if !alone || !is(words) {
			continue
		}
		if !d.succeeded || w.mayHaveChangedAfter(i) {
			break
		}
		return w.evidence(kind, d, i), true
	}
	return session.Evidence{}, false
}

func (w *work) last(is func(deed) bool) int {
	for i, d := range slices.Backward(w.all) {
		if is(d) {
			return i
		}
	}
	return -1
}

// mayHaveChangedAfter reports that something behind a deed may have changed code.
func (w *work) mayHaveChangedAfter(at int) bool {
	return slices.ContainsFunc(w.all[at+1:], func(d deed) bool {
		return d.opaque || anyCode(d.changed) || slices.ContainsFunc(d.commands, func(c string) bool { return mayWrite(c) && !onlyRecords(c) })
	})
}

// onlyRecords reports a git command that changes no file of the project but through a hook, which
// is told with the call.
func onlyRecords(command string) bool {
	words, alone := deed{commands: []string{command}}.alone()
	return alone && words[0] == "git" && in("recording")[subcommand(words)]
}

// evidence words what a deed shows.
func (w *work) evidence(kind session.ClaimKind, d deed, at int) session.Evidence {
	e := session.Evidence{Kind: kind, Call: d.call}
	switch {
	case kind == session.ChangeClaim:
		e.Text = d.tool
	case slices.ContainsFunc(w.all[:at], func(d deed) bool { return anyCode(d.changed) }):
		e.Text = d.commands[0] + ", after the last edit"
	default:
		e.Text = d.commands[0]
	}
	return e
}

// alone is the only simple command of a deed, run where the session works, with nothing that could
// hide how it ended.
func (d deed) alone() (words []string, ok bool) {
	if len(d.commands) != 1 || d.job || d.elsewhere {
		return nil, false
	}
	text := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(d.commands[0]), "2>&1"))
	if strings.ContainsAny(text, ";|&()<>`$\n\\*?{}") {
		return nil, false
	}
	words = strings.Fields(strings.NewReplacer(`"`, "", "'", "").Replace(text))
	return words, len(words) > 0 && !strings.Contains(words[0], "=")
}

// sameWords reports code of an answer that is a command word by word.
func sameWords(code, command string) bool {
	return slices.Equal(strings.Fields(code), strings.Fields(strings.TrimSuffix(strings.TrimSpace(command), "2>&1")))
}

// wholeTests reports a command that runs all tests of a project.
func wholeTests(words []string) bool {
	name, rest := words[0], words[1:]
	switch {
	case name == "go":
		return len(rest) > 0 && rest[0] == "test" && slices.Contains(rest, "./...") && onlyFlags(without(rest[1:], "./..."), "-v", "-race", "-count", "-timeout", "-shuffle", "-cover")
	case name == "cargo":
		return len(rest) > 0 && rest[0] == "test" && onlyFlags(rest[1:], "--workspace", "--all", "--quiet", "-q", "--verbose")
	case in("testers")[name] && name != "vitest":
		return onlyFlags(rest, "-q", "-v", "-vv", "-x", "--verbose", "--quiet", "--tb", "--ci")
	case name == "vitest":
		return slices.Equal(rest, []string{"run"})
	}
	return in("builders")[name] && len(rest) == 1 && (rest[0] == "test" || rest[0] == "t")
}

// wholeBuild reports a command that builds all of a project.
func wholeBuild(words []string) bool {
	name, rest := words[0], words[1:]
	switch name {
	case "go":
		return slices.Equal(rest, []string{"build", "./..."})
	case "cargo":
		return len(rest) > 0 && rest[0] == "build" && onlyFlags(rest[1:], "--workspace", "--all", "--release", "--quiet", "-q")
	case "make":
		return len(rest) == 0 || len(rest) == 1 && (rest[0] == "all" || rest[0] == "build")
	case "npm", "pnpm", "yarn", "bun":
		return slices.Equal(rest, []string{"run", "build"}) || name != "npm" && slices.Equal(rest, []string{"build"})
	case "mvn", "gradle", "dotnet", "swift":
		return len(rest) == 1 && (rest[0] == "build" || rest[0] == "compile" || rest[0] == "package")
	case "tsc":
		return len(rest) == 0 || slices.Equal(rest, []string{"--noEmit"})
	}
	return false
}

// onlyFlags reports words that are all among some flags, with or without a value behind "=".
func onlyFlags(words []string, flags ...string) bool {
	return !slices.ContainsFunc(words, func(w string) bool {
		name, _, _ := strings.Cut(w, "=")
		return !slices.Contains(flags, name)
	})
}

func without(words []string, word string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == word })
}

// someRan reports that a run of tests was not empty, where its output tells.
func someRan(words []string, output string) bool {
	switch words[0] {
	case "go":
		return regexp.MustCompile(`(?m)^ok\s`).MatchString(output)
	case "cargo", "pytest", "jest", "vitest":
		return regexp.MustCompile(`\b[1-9]\d* pass`).MatchString(output)
	}
	return true
}

// counts reports an output in which so many tests passed.
func counts(output, n string) bool {
	if n, total, pair := strings.Cut(n, "/"); pair {
		return n == total && counts(output, n)
	}
	return n != "" && regexp.MustCompile(`\b`+regexp.QuoteMeta(n)+` (tests? )?(passed|passing|pass|ok)\b`).MatchString(output)
}

// anyEnds reports a changed file that is the one named, or ends with it folder by folder.
func anyEnds(changed []string, name string) bool {
	return slices.ContainsFunc(changed, func(c string) bool { return c == name || strings.HasSuffix(c, "/"+name) })
}

// placeOf reads from the metadata of a command whether it is a job, and whether it ran in another
// folder than the session's.
func placeOf(o tool.Outcome) (job, elsewhere bool) {
	var meta struct {
		Job     string `json:"job"`
		Running bool   `json:"running"`
		Workdir string `json:"workdir"`
	}
	_ = json.Unmarshal(o.Metadata, &meta) // a tool without it has none of the three
	return meta.Job != "" || meta.Running, meta.Workdir != ""
}
