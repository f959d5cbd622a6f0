package policy

import (
	"path"
	"strings"
)

func base(program string) string { return path.Base(program) }

func oneOf(name, list string) bool {
	for word := range strings.FieldsSeq(list) {
		if word == name {
			return true
		}
	}
	return false
}

func isShell(name string) bool { return oneOf(name, "sh bash dash zsh ksh ash mksh fish rbash") }

// isBuiltin lists builtins that change what later text means or run text; a rule never allows them.
func isBuiltin(name string) bool {
	return oneOf(name, "eval exec source . trap alias unalias enable hash command builtin printf test [ read mapfile readarray "+
		"declare typeset local export readonly let complete compgen bind set shopt unset coproc fc history")
}

// wrapper reports whether a program starts the one that is among its arguments, and how many words beside
// options come before that one.
func wrapper(name string) (words int, ok bool) {
	switch {
	case oneOf(name, "env nice nohup stdbuf setsid time command builtin exec xargs sudo doas ionice busybox unshare caffeinate chrt"):
		return 0, true
	case oneOf(name, "timeout flock chroot taskset"):
		return 1, true
	}
	return 0, false
}

// lasting reports whether a person may allow a command for the whole session: not when what it runs is
// named, written or fetched elsewhere.
func lasting(s simple) bool {
	name := base(s.name())
	for _, interpreter := range []string{"python", "ruby", "perl", "node", "php", "lua"} { // also python3.13
		if strings.HasPrefix(name, interpreter) {
			return false
		}
	}
	if len(s.words) > 1 && oneOf(name, "npm pnpm yarn") && oneOf(s.words[1].text, "exec x dlx create init") {
		return false
	}
	return !startsPrograms(s) && !isBuiltin(name) &&
		!oneOf(name, "npx pnpx bunx bun deno uv uvx pipx tclsh awk gawk mawk osascript powershell pwsh pkexec ssh")
}

// add takes a simple command, and the programs that it starts in turn.
func (r *reader) add(s simple, depth int) {
	if depth > maxUnwrap {
		r.refuse("the command hides programs behind more than %d others; write them plainly", maxUnwrap)
	}
	if r.count++; r.count > maxSimple {
		r.refuse("the command has more than %d simple commands; put them in a file and run that", maxSimple)
	}
	if r.refused != nil {
		return
	}
	r.into.simples = append(r.into.simples, s)
	name := s.words[0]
	if !name.known {
		r.behindUnknown(s.words, depth)
		return
	}
	program := base(name.text)
	if isBuiltin(program) && !printsOnly(s) {
		r.into.dim("it uses " + program)
	}
	r.texts(program, s.words[1:], depth)
	words, ok := wrapper(program)
	switch {
	case oneOf(program, "find fd"):
		r.afterExec(s.words[1:], depth)
	case ok:
		r.inside(s.words[1:], words, depth)
	}
}

// behindUnknown takes the program in "$SUDO rm x": the first word may well be empty.
func (r *reader) behindUnknown(words []word, depth int) {
	for i, w := range words {
		if w.known {
			r.add(simple{words: words[i:], inner: true}, depth)
			return
		}
	}
}

// printsOnly lets printf and test through without -v, with which they set variables.
func printsOnly(s simple) bool {
	if !oneOf(s.name(), "printf test [") {
		return false
	}
	for _, w := range s.words[1:] {
		if strings.HasPrefix(w.text, "-v") {
			return false
		}
	}
	return true
}

// texts reads arguments that are shell texts themselves.
func (r *reader) texts(program string, args []word, depth int) {
	switch {
	case isShell(program):
		r.afterFlag(args, depth, func(option string) bool {
			return strings.HasPrefix(option, "-") && !strings.HasPrefix(option, "--") && strings.Contains(option, "c") || option == "--command"
		})
	case program == "env":
		r.afterFlag(args, depth, func(option string) bool {
			return strings.HasPrefix(option, "-S") || strings.HasPrefix(option, "--split-string") || option == "-vS"
		})
	case program == "su":
		r.afterFlag(args, depth, func(option string) bool { return option == "-c" || option == "--command" })
	case program == "eval":
		r.join(args, depth)
	case oneOf(program, "trap watch"):
		for _, a := range args {
			r.text(a, depth)
		}
	}
}

// afterFlag reads every argument from the flag on as a text: the shells take further options in between.
func (r *reader) afterFlag(args []word, depth int, isFlag func(string) bool) {
	for i, a := range args {
		if !a.known || !isFlag(a.text) {
			continue
		}
		if _, attached, ok := strings.Cut(a.text, "="); ok {
			r.text(word{text: attached, known: true}, depth)
		} else if strings.HasPrefix(a.text, "-S") {
			r.text(word{text: a.text[2:], known: true}, depth)
		}
		for _, text := range args[i+1:] {
			if !strings.HasPrefix(text.text, "-") || !text.known {
				r.text(text, depth)
			}
		}
		return
	}
}

func (r *reader) text(w word, depth int) {
	if !w.known {
		r.add(simple{words: []word{{}}, inner: true}, depth+1)
		return
	}
	r.nested(w.text, depth+1)
}

// nested reads a text within a command. Its commands are inner ones, and so it is the outer command alone
// that a rule may allow.
func (r *reader) nested(text string, depth int) {
	from := len(r.into.simples)
	opaque := r.into.opaque
	r.script(text, depth)
	r.into.opaque = opaque
	for i := from; i < len(r.into.simples); i++ {
		r.into.simples[i].inner = true
	}
}

func (r *reader) join(args []word, depth int) {
	var texts []string
	for _, a := range args {
		if !a.known {
			r.text(a, depth)
			return
		}
		texts = append(texts, a.text)
	}
	r.nested(strings.Join(texts, " "), depth+1)
}

// inside finds where the wrapped program may begin. An option may or may not take the next word, and which
// ones do differs between systems, so both readings count.
func (r *reader) inside(args []word, skip, depth int) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		isOption := a.known && strings.HasPrefix(a.text, "-") && a.text != "-"
		switch {
		case a.known && a.text == "--":
			continue
		case isOption:
			if i+1 < len(args) && !strings.HasPrefix(args[i+1].text, "-") && !strings.Contains(a.text, "=") {
				r.begin(args[i+1:], skip, depth)
				i++ // and now as the option's value
			}
		case a.known && isAssignment(a.text):
			continue
		case !a.known: // an option, or nothing at all
			r.begin(args[i:], skip, depth)
		default:
			r.begin(args[i:], skip, depth)
			return
		}
	}
}

// begin takes the program that comes after skip more words.
func (r *reader) begin(args []word, skip, depth int) {
	for skip > 0 && len(args) > 0 {
		args, skip = args[1:], skip-1
	}
	for len(args) > 0 && args[0].known && (isAssignment(args[0].text) || args[0].text == "--") {
		args = args[1:]
	}
	if len(args) > 0 {
		r.add(simple{words: args, inner: true}, depth+1)
	}
}

func isAssignment(s string) bool {
	name, _, ok := strings.Cut(s, "=")
	return ok && name != "" && !strings.ContainsAny(name, "/-. ")
}

// afterExec finds what find starts for each file.
func (r *reader) afterExec(args []word, depth int) {
	for i, a := range args {
		if oneOf(a.text, "-exec -execdir -ok -okdir -x -X --exec --exec-batch") && i+1 < len(args) {
			r.add(simple{words: args[i+1:], inner: true}, depth+1)
		}
	}
}
