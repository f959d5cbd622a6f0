package policy

import (
	"slices"
	"strings"

	"adze/internal/policy/programs"
)

// add takes a simple command, and the programs that it starts in turn.
func (r *reader) add(s simple, depth int) {
	if depth > maxUnwrap {
		if r.guessing {
			r.unknown("it holds text within text")
			return
		}
		r.refuse("the command hides programs behind more than %d others; write them plainly", maxUnwrap)
	}
	s.maybe = r.guessing
	if s.inner || r.guessing {
		r.tries++
	} else {
		r.count++
	}
	if r.count > maxSimple || r.tries > maxTries {
		r.refuse("the command has more than %d simple commands; put them in a file and run that", maxSimple)
	}
	if r.into.refused != nil {
		return
	}
	r.into.simples = append(r.into.simples, s)
	name := s.words[0]
	if !name.known {
		r.behindUnknown(s.words, depth)
		return
	}
	if strings.HasPrefix(name.text, "-") { // after time, which is a word of the language or a program
		r.inside(s.words, 0, depth)
		return
	}
	program := base(name.text)
	r.computes = r.computes || evaluates(s)
	if _, wraps := wrapper(program); (wraps || programs.Is("runs-any-word", program)) && len(s.words) > maxWords {
		r.unknown("it has more words than are read")
	}
	r.behind(program, s.words[1:min(len(s.words), maxWords)], depth)
}

// behind finds what a program starts.
func (r *reader) behind(program string, args []word, depth int) {
	if skip, ok := wrapper(program); ok {
		filled, added := fill(program, args)
		r.inside(filled, skip, depth, added...)
	}
	if at, skip, ok := launcher(program, args); ok {
		r.inside(args[at:], skip, depth)
		if end := slices.IndexFunc(args, func(a word) bool { return a.text == "--" }); end >= at {
			r.begin(args[end+1:], 0, depth)
		}
	}
	switch {
	case isShell(program):
		r.shell(args, depth)
	case program == "eval":
		r.join(args, depth)
	case program == "alias":
		for _, a := range args {
			_, value, _ := strings.Cut(a.text, "=")
			r.text(word{text: value, known: a.known}, depth)
			for line := range strings.Lines(value) { // what an alias stands for has no here-documents
				r.text(word{text: line, known: a.known}, depth)
			}
		}
	case program == ".", program == "source":
		r.begin(args, 0, depth)
	case oneOf(program, "git gh glab"):
		r.git(args, depth)
	case programs.Is("runs-any-word", program):
		for i, a := range args {
			if r.into.refused != nil {
				return
			}
			r.text(a, depth)
			r.begin(args[i:], 0, depth)
		}
	}
	if r.into.refused != nil {
		return
	}
	r.options(program, args, depth)
	r.guesses(program, args)
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

// unknown stands for a program that nobody can name before it runs.
func (r *reader) unknown(why string) {
	r.into.simples = append(r.into.simples, simple{words: []word{{}}, inner: true, why: why})
}

// shell reads the text after -c: the shells take further options in between. Without -c the first
// word is a script, which bash looks up like a program.
func (r *reader) shell(args []word, depth int) {
	r.inside(args, 0, depth)
	for i, a := range args {
		short := strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "--") && strings.Contains(a.text, "c")
		if !a.known || !short && a.text != "--command" {
			continue
		}
		for _, text := range args[i+1:] {
			if !strings.HasPrefix(text.text, "-") || !text.known {
				r.text(text, depth)
			}
		}
		return
	}
}

// options reads what options name as a program, --to-command=x or -exec x, whatever program they
// belong to.
func (r *reader) options(program string, args []word, depth int) {
	for i, a := range args {
		name, value, attached := strings.Cut(a.text, "=")
		switch {
		case !a.known && programs.RunsOption(program, name):
			r.unknown("what its option " + name + " runs is known only then")
		case !a.known:
		case attached && programs.RunsOption(program, name):
			r.text(word{text: value, known: true}, depth)
			if _, command, ok := strings.Cut(value, "="); ok { // --checkpoint-action=exec=
				r.text(word{text: command, known: true}, depth)
			}
		case !attached && programs.RunsOption(program, a.text) && i+1 < len(args):
			r.begin(args[i+1:], 0, depth)
		}
		if a.known && len(a.text) > 2 && a.text[0] == '-' && programs.RunsOption(program, a.text[:2]) {
			r.text(word{text: a.text[2:], known: true}, depth)
		}
	}
}

// text reads a word that a shell or a program will take for a command line.
func (r *reader) text(w word, depth int) {
	switch {
	case !w.known:
		r.unknown("a text of it is known only when it runs")
		return
	case strings.Trim(w.text, ";+{}") == "": // ends find -exec
		return
	}
	r.nested(w.text, depth+1)
}

// nested reads a text within a command. Its commands are inner ones, and so it is the outer command
// alone that a rule may allow.
func (r *reader) nested(text string, depth int) {
	from := len(r.into.simples)
	r.script(text, depth)
	for i := from; i < len(r.into.simples); i++ {
		r.into.simples[i].inner = true
	}
}

func (r *reader) join(args []word, depth int) {
	for _, a := range args {
		if !a.known {
			r.text(a, depth)
			return
		}
	}
	r.nested(strings.Join(texts(args), " "), depth+1)
}

// inside finds where the wrapped program may begin. An option may or may not take the next word,
// and which ones do differs between systems, so both readings count.
func (r *reader) inside(args []word, skip, depth int, added ...word) {
	for i := 0; i < len(args) && r.into.refused == nil; i++ {
		a := args[i]
		isOption := a.known && strings.HasPrefix(a.text, "-") && a.text != "-"
		switch {
		case a.known && (a.text == "--" || isAssignment(a.text)):
			continue
		case isOption:
			if i+1 < len(args) && !strings.HasPrefix(args[i+1].text, "-") && !strings.Contains(a.text, "=") {
				r.begin(args[i+1:], skip, depth, added...)
				i++ // and now as the option's value
			}
		case !a.known: // an option, or nothing at all
			r.begin(args[i:], skip, depth, added...)
		default:
			r.begin(args[i:], skip, depth, added...)
			return
		}
	}
}

// shellMarks are what a word has that can only be a program's name if a shell reads it.
const shellMarks = " \t\n;|&$`(){}<>!'\"\\"

// begin takes the program that comes after at most skip more words: how many there are differs too.
func (r *reader) begin(args []word, skip, depth int, added ...word) {
	for ; skip >= 0 && r.into.refused == nil; skip-- {
		for len(args) > 0 && args[0].known && (isAssignment(args[0].text) || args[0].text == "--" || args[0].text == "-") {
			if strings.ContainsAny(args[0].text, shellMarks) {
				r.text(args[0], depth)
			}
			args = args[1:]
		}
		if len(args) == 0 {
			return
		}
		if first := args[0]; first.known && strings.HasPrefix(first.text, "-") && len(args) > 1 && skip == 0 {
			r.inside(args, 0, depth, added...)
			return
		} else if first.known && strings.ContainsAny(first.text, shellMarks) {
			r.text(first, depth)
		}
		r.add(simple{words: slices.Concat(args, added), inner: true}, depth+1)
		args = args[1:]
	}
}

func isAssignment(s string) bool {
	name, _, ok := strings.Cut(s, "=")
	return ok && name != "" && !strings.ContainsAny(name, "/-. ")
}

// fill makes unknown what xargs and its like put in place of words; what they add at the end is
// unknown anyway.
func fill(program string, args []word) (filled, added []word) {
	if !oneOf(program, "xargs gxargs parallel sem") {
		return args, nil
	}
	mark, at := "{}", -1
	for i, a := range args {
		if strings.HasPrefix(a.text, "-I") {
			if mark, at = a.text[2:], i; mark == "" && i+1 < len(args) {
				mark, at = args[i+1].text, i+1
			}
			break
		}
	}
	for i, a := range args {
		if i > at && mark != "" && strings.Contains(a.text, mark) {
			a = word{}
		}
		filled = append(filled, a)
	}
	return filled, []word{{}}
}
