package policy

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"adze/internal/policy/programs"
	"adze/internal/policy/script"
)

const (
	maxCommand   = 64 << 10 // in bytes; longer ones cannot be reviewed
	maxSimple    = 200      // simple commands in one text
	maxUnwrap    = 5        // nested wrappers
	maxNestingIn = 1000     // opening brackets, because parsing takes stack for each
	maxTries     = 5000     // possible program positions
	maxWords     = 1000     // words searched for other programs in one command
)

type simple struct {
	words []script.Word
	inner bool   // found inside a wrapper: counts for deny and ask; for allow, its wrapper counts
	maybe bool   // text that may or may not run: a match is never sure
	why   string // why the program is known only at run time
}

func (s simple) name() string { return s.words[0].Text }

// String returns the words as typed; ? stands for unknown ones.
func (s simple) String() string { return s.shown("?") }

// shown is String with another placeholder.
func (s simple) shown(unknown string) string {
	parts := make([]string, len(s.words))
	for i, w := range s.words {
		parts[i] = unknown
		if w.Known {
			parts[i] = quoteWord(w.Text)
		}
	}
	return strings.Join(parts, " ")
}

// command is a shell text as far as it can be read without running it.
type command struct {
	simples []simple
	refused error             // why the text is refused in every mode
	broken  error             // it or a nested text does not parse
	top     *script.Lowered   // the text itself
	files   []programs.Access // redirections
	home    string
	inner   map[string]*script.Lowered // nested texts
}

// read analyses a shell text; home replaces $HOME.
func read(text, home string) *command {
	c := &command{home: home, inner: map[string]*script.Lowered{}}
	if c.refused = checkBytes(text); c.refused != nil {
		return c
	}
	c.top = c.lower(text)
	r := reader{command: c}
	r.script(text, 0)
	r.evaluated()
	return c
}

// lower parses a nested text once.
func (c *command) lower(text string) *script.Lowered {
	if c.inner[text] == nil {
		c.inner[text] = script.Lower(text, c.home)
	}
	return c.inner[text]
}

// reader finds a command's programs and those that they start in turn. If a started program is
// unknown, every possible position counts.
type reader struct {
	command  *command
	count    int            // simple commands so far
	tries    int            // possible positions for other programs
	guessing bool           // the current text may be no command
	words    []*script.Word // all words
	computes bool           // something evaluates text
}

func (r *reader) refuse(format string, args ...any) {
	if r.command.refused == nil {
		r.command.refused = fmt.Errorf(format, args...)
	}
}

// unknown adds a program known only at run time.
func (r *reader) unknown(why string) {
	r.command.simples = append(r.command.simples, simple{words: []script.Word{{Splits: true}}, inner: true, why: why})
}

// script adds a text's programs; depth counts nested texts.
func (r *reader) script(text string, depth int) {
	if depth > maxUnwrap {
		r.refuse("the command hides programs behind more than %d others; write them plainly", maxUnwrap)
		return
	}
	l := r.command.lower(text)
	if l.Broken != nil {
		if !r.guessing {
			r.command.broken = l.Broken
		}
		r.everyWord(text, r.guessing)
	}
	if l.Deep {
		r.refuse("the command is nested too deeply; write it plainly")
	}
	r.computes = r.computes || l.Computes
	for _, p := range l.Parts {
		switch {
		case r.command.refused != nil:
			return
		case p.Call != nil:
			r.call(p.Call, depth)
		case p.Assign != nil && depth <= maxUnwrap:
			r.assigned(p.Assign)
		case p.Redirect != nil && p.Redirect.Target != nil && !r.guessing:
			kind := programs.Read
			if p.Redirect.Writes {
				kind = programs.Write
			}
			r.command.files = append(r.command.files, programs.Access{Kind: kind, Path: p.Redirect.Target.Spelled})
		case p.Word != nil:
			r.words = append(r.words, p.Word)
		case p.Uncertainty != "":
			r.unknown(p.Uncertainty)
		}
	}
}

// everyWord takes each word as a possible start, so that denies see names in unparsable text or
// another language.
func (r *reader) everyWord(text string, maybe bool) {
	var words []script.Word
	for _, s := range strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(" \t\n;|&()<>{}`'\"$!", c) }) {
		words = append(words, script.Literal(strings.TrimLeft(strings.ReplaceAll(s, `\`, ""), ":.@")))
	}
	if r.tries += len(words); r.tries > maxTries {
		r.unknown("it has more words than are read")
		return
	}
	for i := range words {
		// 16: more than rules have
		r.command.simples = append(r.command.simples, simple{words: words[i:min(i+16, len(words))], inner: true, maybe: maybe})
	}
}

func (r *reader) call(c *script.Call, depth int) {
	words := make([]script.Word, len(c.Words))
	for i, w := range c.Words {
		words[i] = *w
	}
	from, interpreter := len(r.command.simples), ""
	r.add(simple{words: words}, depth)
	for _, started := range r.command.simples[from:] {
		if interpreter == "" {
			interpreter = readsCode(started)
		}
	}
	var given *script.Redirect
	for _, redirect := range c.Redirects {
		if redirect.InputText != nil {
			given = redirect
		}
	}
	switch name := base(words[0].Text); {
	case interpreter != "" && given != nil && given.InputText.Known:
		r.code(interpreter, *given.InputText, depth)
	case interpreter != "":
		r.unknown(interpreter + " reads what it runs from its input")
	case given != nil && words[0].Known && !programs.IsKind("text", name) && !programs.IsKind("input", name):
		r.everyWord(given.Lines, true) // many programs have commands to start others
	}
}

// assigned examines an assignment's value. Many programs run a variable's value: PAGER,
// GIT_SSH_COMMAND, CC.
func (r *reader) assigned(a *script.Assign) {
	runs := programs.IsKind("program-variables", a.Name) ||
		strings.HasPrefix(a.Name, "LD_") || strings.HasPrefix(a.Name, "GIT_") && !strings.HasPrefix(a.Name, "GIT_AUTHOR_") && !strings.HasPrefix(a.Name, "GIT_COMMITTER_")
	for _, w := range a.Values {
		if w.Known {
			r.guess(w.Text)
		} else if runs {
			r.unknown("what " + a.Name + " makes programs run is known only then")
		}
	}
}

// evaluated examines all words in a text with evaluation. Bash evaluates some words again at run
// time: subscripts in variable names, and arithmetic. A command substitution in them runs even if
// quoted, and it is impossible to know which words get there (x='a[$(id)]'; echo $((x))).
func (r *reader) evaluated() {
	all := ""
	for _, w := range r.words {
		all += w.Text
	}
	for _, w := range r.words {
		piece := strings.HasSuffix(w.Text, "$") && strings.Contains(all, "(")
		if r.computes && (piece || strings.Contains(w.Text, "$(") || strings.Contains(w.Text, "`")) {
			r.unknown("a word of it may be evaluated: " + quote(w.Text))
		}
	}
}

// add adds a simple command, and the programs that it starts in turn.
func (r *reader) add(s simple, depth int) {
	if depth > maxUnwrap {
		if r.guessing {
			r.unknown("it holds text within text")
			return
		}
		r.refuse("the command hides programs behind more than %d others; write them plainly", maxUnwrap)
	}
	if s.maybe = r.guessing; s.inner || r.guessing {
		r.tries++
	} else {
		r.count++
	}
	if r.count > maxSimple || r.tries > maxTries {
		r.refuse("the command has more than %d simple commands; put them in a file and run that", maxSimple)
	}
	if r.command.refused != nil {
		return
	}
	r.command.simples = append(r.command.simples, s)
	name := s.words[0]
	switch {
	case !name.Known: // "$SUDO rm x": it may be empty
		if i := slices.IndexFunc(s.words, func(w script.Word) bool { return w.Known }); i >= 0 {
			r.add(simple{words: s.words[i:], inner: true}, depth)
		}
		return
	case strings.HasPrefix(name.Text, "-"): // after time, which is a keyword or a program
		r.findWrapped(s.words, 0, depth)
		return
	}
	r.computes = r.computes || evaluates(s)
	program, args := base(name.Text), s.words[1:]
	if len(args) > maxWords {
		args = args[:maxWords]
		if startsPrograms(s) || programs.IsKind("runs-any-word", program) {
			r.unknown("it has more words than are read")
		}
	}
	r.behind(program, args, depth)
}

// evaluates reports a builtin that takes variable names or arithmetic.
func evaluates(s simple) bool {
	if oneOf(s.name(), "printf test [") { // with -v they set variables, or test them
		return slices.ContainsFunc(s.words[1:], func(w script.Word) bool { return strings.HasPrefix(w.Text, "-v") })
	}
	return programs.IsKind("evaluates", s.name())
}

// behind finds programs started by another.
func (r *reader) behind(program string, args []script.Word, depth int) {
	if skip, ok := wrapper(program); ok {
		r.findWrapped(fill(program, args), skip, depth)
	}
	if at, skip, ok := launcher(program, args); ok {
		r.findWrapped(args[at:], skip, depth)
		if end := slices.IndexFunc(args, func(a script.Word) bool { return a.Text == "--" }); end >= at {
			r.begin(args[end+1:], 0, depth)
		}
	}
	switch {
	case isShell(program): // the text after -c, or a script, which bash looks up like a program
		r.findWrapped(args, 0, depth)
		coded := false
		for _, a := range args {
			option := a.Known && strings.HasPrefix(a.Text, "-")
			if coded && !option {
				r.text(a, depth)
			}
			coded = coded || option && (a.Text == "--command" || !strings.HasPrefix(a.Text, "--") && strings.Contains(a.Text, "c"))
		}
	case program == "eval":
		if i := slices.IndexFunc(args, func(a script.Word) bool { return !a.Known }); i >= 0 {
			r.text(args[i], depth)
		} else {
			r.nested(strings.Join(script.Texts(args), " "), depth+1)
		}
	case program == "alias":
		for _, a := range args {
			_, value, _ := strings.Cut(a.Text, "=")
			for _, text := range append(strings.Split(value, "\n"), value) { // an alias's text has no here-documents
				r.text(script.Word{Text: text, Known: a.Known}, depth)
			}
		}
	case program == ".", program == "source":
		r.begin(args, 0, depth)
	case oneOf(program, "git gh glab"):
		r.git(args)
	case programs.IsKind("runs-any-word", program):
		for i, a := range args {
			if r.command.refused == nil {
				r.text(a, depth)
				r.begin(args[i:], 0, depth)
			}
		}
	}
	if r.command.refused == nil {
		r.options(program, args, depth)
		r.coded(program, args)
	}
}

// options reads programs in option values, --to-command=x or -exec x, for any program.
func (r *reader) options(program string, args []script.Word, depth int) {
	for i, a := range args {
		name, value, attached := strings.Cut(a.Text, "=")
		if a.Known && len(a.Text) > 2 && a.Text[0] == '-' && programs.RunsOption(program, a.Text[:2]) {
			r.text(script.Literal(a.Text[2:]), depth)
		}
		switch {
		case !programs.RunsOption(program, name):
		case !a.Known:
			r.unknown("what its option " + name + " runs is known only then")
		case attached:
			r.text(script.Literal(value), depth)
			if _, command, ok := strings.Cut(value, "="); ok { // --checkpoint-action=exec=
				r.text(script.Literal(command), depth)
			}
		case i+1 < len(args):
			r.begin(args[i+1:], 0, depth)
		}
	}
}

// git examines the programs in git's own words: an alias or a setting after -c, a word after !
// (also for gh alias set), and ext:: addresses.
func (r *reader) git(args []script.Word) {
	for i, a := range args {
		setting := i > 0 && args[i-1].Text == "-c" || strings.HasPrefix(a.Text, "-c") && strings.Contains(a.Text, "=")
		if strings.HasPrefix(a.Text, "--config-env") || strings.HasPrefix(a.Text, "--exec-path=") {
			r.unknown("git takes a setting from elsewhere")
		}
		if !a.Known || !setting && !strings.HasPrefix(a.Text, "!") && !strings.Contains(a.Text, "ext::") {
			continue
		}
		r.perhaps(a.Text)
		if _, value, ok := strings.Cut(a.Text, "="); ok && setting {
			r.guess("git " + value)
		}
	}
}

// text reads a word taken as a command line by a shell or a program.
func (r *reader) text(w script.Word, depth int) {
	if !w.Known {
		r.unknown("a text of it is known only when it runs")
	} else if strings.Trim(w.Text, ";+{}") != "" { // those end find -exec
		r.nested(w.Text, depth+1)
	}
}

// nested reads a text within a command. Its commands are inner ones, so that a rule can allow only
// the outer command.
func (r *reader) nested(text string, depth int) {
	from := len(r.command.simples)
	r.script(text, depth)
	for i := from; i < len(r.command.simples); i++ {
		r.command.simples[i].inner = true
	}
}

// guess reads a text that may run: its matches are never sure.
func (r *reader) guess(text string) {
	if r.guessing || r.command.refused != nil || strings.TrimSpace(text) == "" {
		return
	}
	r.guessing = true
	r.nested(text, 1)
	r.guessing = false
}

// perhaps tries a word as a command line: whole if it has several words, after its first word, and
// after separators between a name and its value.
func (r *reader) perhaps(text string) {
	const before, marks = "!:@+-|\\. =\"'", "=:!,"
	if strings.ContainsAny(text, " \t\n;|&`$(") {
		r.guess(strings.TrimLeft(text, before))
		_, after, _ := strings.Cut(strings.TrimLeft(text, "\\. "), " ")
		r.guess(after)
	}
	for i, tried := 0, 0; i+1 < len(text) && tried < 4; i++ {
		if strings.IndexByte(marks, text[i]) >= 0 && strings.IndexByte(marks, text[i+1]) < 0 && !strings.HasPrefix(text[i+1:], "//") {
			r.guess(strings.TrimLeft(text[i+1:], before))
			tried++
		}
	}
}

// coded looks for code in the words for an interpreter or an unknown program.
func (r *reader) coded(program string, args []script.Word) {
	_, interprets := programs.CodeOption(program, "")
	awk := programs.IsKind("awk", program)
	for i, a := range args {
		before := ""
		if i > 0 {
			before = args[i-1].Text
		}
		follows, _ := programs.CodeOption(program, before)
		switch {
		case interprets && !a.Known && (follows || awk && !oneOf(before, "-v -F -f --assign --field-separator --file")),
			interprets && a.Known && (follows || strings.ContainsAny(a.Text, " ('\"`")):
			r.code(program, a, 0)
		case oneOf(program, "sed gsed") && runsInSed().MatchString(strings.TrimPrefix(strings.TrimPrefix(a.Text, "-e"), "--expression=")):
			r.unknown("a sed script of it can start programs")
		case !programs.IsKind("text", program), program == "cargo" && (strings.HasPrefix(a.Text, "--config=") || before == "--config"):
			r.perhaps(a.Text)
		}
		awk = awk && (a.Known && strings.HasPrefix(a.Text, "-") || oneOf(before, "-v -F -f --assign --field-separator --file"))
	}
}

// code reads the code for a shell or an interpreter.
func (r *reader) code(program string, w script.Word, depth int) {
	switch {
	case isShell(program) || oneOf(program, "at batch . source parallel sem"):
		r.text(w, depth)
	case !w.Known:
		r.unknown(program + " runs code that is known only when it runs")
	case oneOf(program, "make gmake"):
		r.everyWord(strings.ReplaceAll(w.Text, ":", " "), true)
	case oneOf(program, "sed gsed") && runsInSed().MatchString(w.Text), !oneOf(program, "sed gsed") && startsInCode().MatchString(w.Text):
		r.unknown(program + " runs code that can start programs")
	}
}

// readsCode returns the program in a command that reads its code from standard input, or "".
func readsCode(s simple) string {
	name, args := base(s.name()), s.words[1:]
	_, interprets := programs.CodeOption(name, "")
	input := func(w script.Word) bool {
		return !w.Known || oneOf(w.Text, "- -s -is -si -f- --file=- --makefile=-") || strings.Contains(w.Text, "/dev/") || strings.Contains(w.Text, "/proc/")
	}
	switch {
	case !s.words[0].Known || s.maybe:
		return ""
	case oneOf(name, "at batch"), oneOf(name, ". source") && len(args) > 0 && input(args[0]):
		return name
	case oneOf(name, "make gmake sed gsed") || programs.IsKind("awk", name):
		from := func(w script.Word) bool { return w.Known && input(w) }
		if slices.ContainsFunc(args, from) && slices.ContainsFunc(args, func(w script.Word) bool { return strings.HasPrefix(w.Text, "-f") || strings.Contains(w.Text, "file") }) {
			return name
		}
		return ""
	case !isShell(name) && !interprets && !oneOf(name, "parallel sem"):
		return ""
	}
	for _, w := range args {
		switch {
		case input(w):
			return name
		case !strings.HasPrefix(w.Text, "-") || oneOf(w.Text, "--version --help -V -v") || !strings.HasPrefix(w.Text, "--") && strings.ContainsAny(w.Text, "cemrpE"):
			return "" // a file, or code among the words
		}
	}
	return name
}

// findWrapped finds possible starts of the wrapped program. An option may or may not take the next
// word, which differs between systems, so both readings count.
func (r *reader) findWrapped(args []script.Word, skip, depth int) {
	for i := 0; i < len(args) && r.command.refused == nil; i++ {
		a := args[i]
		option := a.Known && strings.HasPrefix(a.Text, "-") && a.Text != "-"
		if a.Known && (a.Text == "--" || isAssignment(a.Text)) || option && strings.Contains(a.Text, "=") {
			continue
		}
		if option {
			if i+1 < len(args) && !strings.HasPrefix(args[i+1].Text, "-") {
				r.begin(args[i+1:], skip, depth)
				i++ // and now as the option's value
			}
			continue
		}
		r.begin(args[i:], skip, depth)
		if a.Known { // otherwise it is an option or nothing
			return
		}
	}
}

// Characters that a program name can have only if a shell reads it.
const shellMarks = " \t\n;|&$`(){}<>!'\"\\"

// begin adds the program after at most skip more words, a number that also differs.
func (r *reader) begin(args []script.Word, skip, depth int) {
	for ; skip >= 0 && r.command.refused == nil; skip-- {
		for len(args) > 0 && args[0].Known && (isAssignment(args[0].Text) || args[0].Text == "--" || args[0].Text == "-") {
			if strings.ContainsAny(args[0].Text, shellMarks) {
				r.text(args[0], depth)
			}
			args = args[1:]
		}
		if len(args) == 0 || args[0].Placeholder { // words from xargs name no program
			return
		}
		if first := args[0]; first.Known && strings.HasPrefix(first.Text, "-") && len(args) > 1 && skip == 0 {
			r.findWrapped(args, 0, depth)
			return
		} else if first.Known && strings.ContainsAny(first.Text, shellMarks) {
			r.text(first, depth)
		}
		words := slices.Clone(args)
		words[len(words)-1].Placeholder = false
		r.add(simple{words: words, inner: true}, depth+1)
		args = args[1:]
	}
}

func isAssignment(s string) bool {
	name, _, ok := strings.Cut(s, "=")
	return ok && name != "" && !strings.ContainsAny(name, "/-. ")
}

// fill marks words replaced by xargs and similar programs as unknown, and adds the words they add.
func fill(program string, args []script.Word) (filled []script.Word) {
	if !oneOf(program, "xargs gxargs parallel sem") {
		return args
	}
	mark, at := "{}", slices.IndexFunc(args, func(a script.Word) bool { return strings.HasPrefix(a.Text, "-I") })
	if at >= 0 {
		if mark = args[at].Text[2:]; mark == "" && at+1 < len(args) {
			at++
			mark = args[at].Text
		}
	}
	for i, a := range args {
		if i > at && mark != "" && strings.Contains(a.Text, mark) {
			a = script.Word{Splits: true}
		}
		filled = append(filled, a)
	}
	return append(filled, script.Word{Splits: true, Placeholder: true})
}

func base(program string) string { return path.Base(program) }

func oneOf(name, list string) bool { return slices.Contains(strings.Fields(list), name) }

func isShell(name string) bool { return programs.IsKind("shell", name) }

// wrapper reports whether a program starts another among its arguments, and how many words besides
// options may precede that.
func wrapper(name string) (words int, ok bool) {
	if programs.IsKind("starts-behind-a-word", name) {
		return 1, true
	}
	return 0, programs.IsKind("starts", name) || strings.HasPrefix(name, "ld-linux") || strings.HasPrefix(name, "ld.so") || strings.HasPrefix(name, "ld-musl")
}

// launcher finds the program after a subcommand: docker exec NAME rm. at is the index after the
// subcommand.
func launcher(program string, args []script.Word) (at, skip int, ok bool) {
	seen := 0
	for i, a := range args {
		if !a.Known || strings.HasPrefix(a.Text, "-") {
			continue
		}
		if seen++; seen > 4 {
			break
		}
		switch key := program + " " + a.Text; {
		case programs.IsKind("starts-in-place", program) && programs.IsKind("starts-by", a.Text):
			return i + 1, 1, true
		case programs.IsKind("runs-tools", program) && programs.IsKind("runs-tools-by", a.Text), key == "git run" && seen > 1, key == "git foreach", key == "cmake env", key == "cmake time":
			return i + 1, 0, true
		}
	}
	return 0, 0, false
}

// startsInCode matches code in common languages that starts a program or hides doing so.
var startsInCode = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("`|\\b(system|popen\\w*|p?exec\\w*|p?spawn\\w*|posix_spawn\\w*|subprocess|pty|ctypes|cffi|importlib|runpy|multiprocessing|asyncio|v?fork\\w*|" +
		"eval|compile|getattr|globals|locals|vars|builtins|child_process|qx|passthru|shell_exec|proc_open|pcntl\\w*|Function|constructor|binding|syscall|" +
		"loadstring|dlopen|Open3|open3|Kernel|send|__\\w+|shell|run|cmd|getline|do shell script|ccall|sh)\\b|\\||\\bopen\\s*\\(?[^)]*-|%x|\\\\x|\\\\u|\\\\0|chr\\b|fromCharCode|decode|pack\\b|:!")
})

// runsInSed matches GNU sed's command e and flag e, which run text.
var runsInSed = sync.OnceValue(func() *regexp.Regexp {
	const address = `(\d+(~\d+)?|\$|/[^/\n]*/[IM]*|\\.[^\n]*)`
	return regexp.MustCompile(`(?s)(^|[;{}\n])\s*(` + address + `\s*(,\s*[+~]?` + address + `)?)?[\s!]*e|s([^\w\s]).*[^\w\s][gpiImM0-9]*e[gpiImM0-9]*(\s|;|}|#|$)`)
})

// Any position, after a value with unknown length.
const anywhere = -1

// afterOptions finds possible positions for a subcommand: after leading options and their values.
// For an unknown option it is uncertain whether it takes the next word.
func afterOptions(program string, words []script.Word) map[int]certainty {
	ends := map[int]certainty{}
	at := map[int]certainty{0: sure}
	for i, w := range words {
		c, reached := at[i]
		if !reached || !w.Known || !strings.HasPrefix(w.Text, "-") || w.Text == "-" {
			continue
		}
		one, two := c, no
		switch takes, known := programs.Globals(program, w.Text); {
		case takes:
			one, two = no, c
		case !known && !strings.Contains(w.Text, "=") && w.Text != "--":
			two = possible
		}
		if two > no && i+1 < len(words) && words[i+1].Splits {
			ends[anywhere] = possible // the value may be many words
		}
		for step, c := range map[int]certainty{1: one, 2: two} {
			if c > no {
				at[i+step] = max(at[i+step], c)
				ends[i+step] = max(ends[i+step], c)
			}
		}
	}
	return ends
}
