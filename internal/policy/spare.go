package policy

import (
	"path"
	"slices"
	"strings"

	"adze/internal/policy/script"
	"adze/tool"
)

// spareOwn refuses a command that writes to adze's own files as far as that can be read off it: a
// redirection, or the argument of a program that changes files. What a script or an interpreter
// does is not seen.
func (p *Policy) spareOwn(v verdict) verdict {
	kept := p.kept()
	if len(kept) == 0 || v.effect == Deny {
		return v
	}
	for _, name := range v.command.written() {
		if !path.IsAbs(name) && !strings.HasPrefix(name, "~") && v.need.Dir != "" {
			name = v.need.Dir + "/" + name
		}
		if place, err := p.place(name); err == nil && keptIn(kept, place) != "" {
			v.effect, v.rule, v.layer, v.reason = Deny, "", builtIn, ownReason("the command "+quote(v.need.Target))
			return v
		}
	}
	return v
}

// writers are programs whose arguments are files that they change.
const writers = "tee cp mv rm rmdir unlink ln install dd truncate touch sed perl chmod chown chgrp mkdir rsync shred sponge patch sqlite3 vi vim nano ed ex"

// written lists the names of files that the command may write, where they are spelled out. In a
// text that does not parse that may be any.
func (c *command) written() (names []string) {
	switch {
	case c.top == nil:
		return nil
	case c.top.Broken != nil:
		return pieces(c.top.Text)
	}
	for _, p := range c.top.Parts {
		switch {
		case p.Redirect != nil && p.Redirect.Writes:
			names = append(names, p.Redirect.Target.Spelled)
		case p.Call != nil && !p.Call.Doubtful:
			names = append(names, writtenByCall(p.Call)...)
		}
	}
	return names
}

// writtenByCall lists the arguments of a program that changes files, also behind wrappers.
func writtenByCall(c *script.Call) (names []string) {
	writes := false
	for _, w := range c.Words {
		if writes {
			if _, value, named := strings.Cut(w.Spelled, "="); named {
				names = append(names, value) // of=FILE
			}
			names = append(names, w.Spelled)
		}
		writes = writes || oneOf(base(w.Spelled), writers)
	}
	return names
}

// judgeExecute judges a command, and what of adze's own it would write.
func (p *Policy) judgeExecute(mode Mode, v verdict) verdict {
	return p.nearOwn(mode, p.spareOwn(p.judgeCommand(mode, v)))
}

// nearOwn takes a command that nobody would be asked about, and that names adze's own files while
// it does more than look, for one that may write them: how is not known of every program. Where
// people are asked they decide, in mode yolo nobody.
func (p *Policy) nearOwn(mode Mode, v verdict) verdict {
	if v.effect == Deny || v.looks || mode != Yolo && v.effect != Allow || !p.namesOwn(v) {
		return v
	}
	doing := "the command " + quote(v.need.Target)
	if mode == Yolo {
		v.effect, v.rule, v.layer, v.reason = Deny, "", builtIn, ownReason(doing)
		return v
	}
	v.effect, v.rule, v.layer, v.run, v.unseen = Ask, "", builtIn, nil, false
	v.offers, v.words, v.inner = nil, nil, nil
	v.reason = doing + " needs approval: it names a place where adze keeps its own configuration and sessions"
	return v
}

// namesOwn reports a command that names a place in a folder of adze's own, as a word, in code, or
// from a folder above it that it names too; or one that removes such a folder whole. What a model
// may read of a session's outputs is none of these.
func (p *Policy) namesOwn(v verdict) bool {
	need := v.need
	kept := p.kept()
	if here, err := p.place("."); len(kept) == 0 || err != nil || keptIn(kept, here) != "" { // who works there names nothing else
		return false
	}
	n := v.command.named(need.Target)
	above := func(at string) bool {
		return at != "" && slices.ContainsFunc(kept, func(folder string) bool { return within(folder, at) && !within(at, folder) })
	}
	own := func(at string) bool {
		return at != "" && keptIn(kept, Place{Abs: at}) != "" && !p.lent(at)
	}
	var bases []string
	for i, at := range p.follow(from(orDot(need.Dir), n.names)) {
		if own(at) {
			return true
		}
		if above(at) && path.Base(n.names[i]) != "." {
			bases = append(bases, at)
		}
	}
	for _, dir := range bases[:min(len(bases), 4)] {
		if slices.ContainsFunc(p.follow(from(dir, n.names)), own) {
			return true
		}
	}
	for _, dir := range append(bases[:min(len(bases), 4):min(len(bases), 4)], orDot(need.Dir)) {
		if slices.ContainsFunc(p.follow(from(dir, n.removed)), above) {
			return true
		}
	}
	return false
}

// aboutOwn reports a rule that names a place among adze's own files, outside of the workspace.
func (p *Policy) aboutOwn(r Rule) bool {
	if r.path.anchor != "abs" {
		return false
	}
	named, _, _ := strings.Cut(strings.NewReplacer("*", "\x00", "?", "\x00", "[", "\x00", "{", "\x00", `\`, "\x00").Replace(r.path.pattern), "\x00")
	here, err := p.place(".")
	return err == nil && keptIn(p.kept(), Place{Abs: named}) != "" && !within(named, here.Abs)
}

// lent reports a place that a rule lets be read whatever it is: the outputs of this session.
func (p *Policy) lent(at string) bool {
	return slices.ContainsFunc(p.rulesFor(tool.Read), func(r Rule) bool {
		return r.Effect == Allow && r.Matcher != "" && r.path.matches(Place{Abs: at, Outside: true}, p.home)
	})
}

// from makes names absolute that are relative to a folder.
func from(dir string, names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = below(dir, name, "~")
	}
	return out
}

// maxNamed bounds the names of one command that are followed.
const maxNamed = 4000

// naming is what a command names, and what of it is removed, moved away or changed with all that is
// in it.
type naming struct{ names, removed []string }

// named is what a text of the command names.
func (c *command) named(text string) (n naming) {
	l := c.lower(text)
	if l.Broken != nil {
		n.names = pieces(text)
		return n
	}
	only := map[*script.RawWord]bool{} // words of programs that only look
	for _, p := range l.Parts {
		switch {
		case len(n.names) >= maxNamed:
			return n
		case p.Word != nil && !only[p.Word]:
			n.name(p.Word.Spelled)
		case p.Call == nil || p.Call.Doubtful:
		case looksOnly(p.Call):
			for _, w := range p.Call.Words {
				only[w] = true
			}
		default:
			c.call(&n, p.Call)
		}
	}
	return n
}

// looksOnly reports a program of the table, whose files are judged as any that are read.
func looksOnly(c *script.Call) bool {
	var words []script.Word
	for _, w := range c.Words {
		words = append(words, script.Word{Alts: []string{w.Spelled}, One: true})
	}
	return quiet(words)
}

// name takes a word, what stands behind = and @ in it, and what an option has attached.
func (n *naming) name(text string) {
	if text == "" || len(text) > 4096 || strings.Contains(text, "\n") {
		return
	}
	n.names = append(n.names, text)
	if _, value, ok := strings.Cut(text, "="); ok {
		n.names = append(n.names, value)
	}
	if at := strings.IndexAny(text, "/~"); at > 0 && strings.IndexByte("-@", text[0]) >= 0 {
		n.names = append(n.names, text[at:])
	}
}

// call looks into code, and for what takes a folder away.
func (c *command) call(n *naming, in *script.Call) {
	var words []string
	for _, w := range in.Words {
		words = append(words, w.Spelled)
	}
	deep := slices.ContainsFunc(words, func(w string) bool { return oneOf(w, "-R -delete -exec --recursive --delete") })
	read, code := false, false // once: all that follows was looked at
	for i, w := range words {
		name := base(w)
		_, interprets := interpreter(name)
		rest := words[i+1:]
		if (isShell(name) || name == "eval") && !read {
			read = true
			for _, text := range rest {
				inner := c.named(text)
				n.names, n.removed = append(n.names, inner.names...), append(n.removed, inner.removed...)
			}
		}
		if (interprets || oneOf(name, "sed gsed sqlite3 vim vi ex ed emacs")) && !code {
			code = true
			for _, text := range rest {
				n.names = append(n.names, pieces(text)...)
			}
		}
		if len(n.removed)+len(n.names) > maxNamed {
			return
		}
		switch {
		case name == "mv" && len(rest) > 0:
			n.removed = append(n.removed, rest[:len(rest)-1]...)
		case oneOf(name, "rm rmdir shred"), deep && oneOf(name, "chmod chown chgrp find rsync"):
			n.removed = append(n.removed, rest...)
		}
	}
}

// pieces are the parts of a text that may be names of files.
func pieces(text string) []string {
	parts := strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(shellMarks+"=,;:[]", c) && c != '\\' })
	return parts[:min(len(parts), maxNamed)]
}
