package policy

import (
	"fmt"
	"strings"

	"adze/internal/policy/programs"
	"adze/internal/policy/script"
)

const (
	maxCommand   = 64 << 10 // bytes; longer ones cannot be reviewed
	maxSimple    = 200      // simple commands in one text
	maxUnwrap    = 5        // wrappers around wrappers
	maxNestingIn = 1000     // opening brackets before parsing, which takes stack for each
)

// word is one word of a command. Known says that text is what the program will get.
type word struct {
	text  string
	known bool
	whole bool // not known, but one word: it was written in double quotes

	spelled string // as far as it is known before it runs
}

// wordOf is a word that was read.
func wordOf(w *script.RawWord) word { return word{w.Text, w.Known, w.Whole, w.Spelled} }

func texts(words []word) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.text
	}
	return out
}

// simple is one program with its arguments.
type simple struct {
	words []word
	inner bool   // found inside a wrapper: it counts for deny and ask, its wrapper for allow
	maybe bool   // a text that may be run, or may not: a match of it is never sure
	why   string // what is known only when it runs, for a program that cannot be named
}

func (s simple) name() string { return s.words[0].text }

// String shows the words as they could be typed; ? stands for what is known only when it runs.
func (s simple) String() string {
	parts := make([]string, len(s.words))
	for i, w := range s.words {
		parts[i] = "?"
		if w.known {
			parts[i] = quoteWord(w.text)
		}
	}
	return strings.Join(parts, " ")
}

// command is a shell text as far as it can be read without running it.
type command struct {
	simples []simple
	refused error            // why the text is refused in every mode
	broken  error            // it does not parse, or a text in it does not
	top     *script.Lowered  // the text itself
	files   []programs.Named // of redirections
	home    string
	inner   map[string]*script.Lowered // the texts in it
}

// read analyses a shell text; home stands for $HOME.
func read(text, home string) *command {
	c := &command{home: home, inner: map[string]*script.Lowered{}}
	if c.refused = checkBytes(text); c.refused != nil {
		return c
	}
	c.top = c.lower(text)
	r := reader{into: c}
	r.script(text, 0)
	r.evaluated()
	return c
}

// lower reads a text that stands in the command, once.
func (c *command) lower(text string) *script.Lowered {
	if c.inner[text] == nil {
		c.inner[text] = script.Lower(text, c.home)
	}
	return c.inner[text]
}

// reader fills a command from texts, which nest: sh -c 'env sh -c …'.
type reader struct {
	into     *command
	count    int               // simple commands so far
	tries    int               // places within them where another program may begin
	guessing bool              // the text at hand may be no command at all
	literals []*script.RawWord // every word
	computes bool              // something evaluates text
	prompts  bool              // something expands text as a prompt
}

func (r *reader) refuse(format string, args ...any) {
	if r.into.refused == nil {
		r.into.refused = fmt.Errorf(format, args...)
	}
}

// script takes the programs of a text at a depth of wrappers.
func (r *reader) script(text string, depth int) {
	if depth > maxUnwrap {
		r.refuse("the command hides programs behind more than %d others; write them plainly", maxUnwrap)
		return
	}
	l := r.into.lower(text)
	if l.Broken != nil {
		if !r.guessing {
			r.into.broken = l.Broken
		}
		r.everyWord(text)
	}
	if l.Deep {
		r.refuse("the command is nested too deeply; write it plainly")
	}
	r.prompts, r.computes = r.prompts || l.Prompts, r.computes || l.Computes
	for _, p := range l.Parts {
		switch {
		case r.into.refused != nil:
			return
		case p.Call != nil:
			r.start(p.Call, depth)
		case p.Assign != nil:
			r.assigned(p.Assign, depth)
		case p.Redirect != nil && p.Redirect.Target != nil && !r.guessing:
			kind := programs.Read
			if p.Redirect.Writes {
				kind = programs.Write
			}
			r.into.files = append(r.into.files, programs.Named{Kind: kind, Path: p.Redirect.Target.Spelled})
		case p.Word != nil:
			r.literals = append(r.literals, p.Word)
		case p.Doubt != "":
			r.unknown(p.Doubt)
		}
	}
}

// everyWord takes each word of a text that does not parse for the start of a command, so that
// denies still see the names in it. Such a text is never allowed by a rule, so that nothing is
// lost.
func (r *reader) everyWord(text string) {
	var words []word
	for _, s := range strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(" \t\n;|&()<>{}`'\"$!", c) }) {
		words = append(words, word{text: strings.ReplaceAll(s, `\`, ""), known: true})
	}
	for i := range words {
		// 16: more than rules have
		r.into.simples = append(r.into.simples, simple{words: words[i:min(i+16, len(words))], inner: true, maybe: r.guessing})
	}
}
