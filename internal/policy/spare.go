package policy

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// spareOwn refuses a command that writes to adze's own files as far as that can be read off it: a redirection, or the
// argument of a program that changes files. What a script or an interpreter does is not seen.
func (p *Policy) spareOwn(v verdict) verdict {
	kept := p.kept()
	if len(kept) == 0 || v.effect == Deny {
		return v
	}
	for _, name := range writtenBy(v.need.Target, p.home) {
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
func writers() []string {
	return strings.Fields("tee cp mv rm rmdir unlink ln install dd truncate touch sed perl chmod chown chgrp mkdir rsync shred sponge patch sqlite3 vi vim nano ed ex")
}

// writtenBy lists the names of files that a shell text may write, where they are spelled out.
func writtenBy(text, home string) (names []string) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return nil // such a text is judged as a whole
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.Redirect:
			if n.Word != nil && n.Op != syntax.RdrIn && n.Op != syntax.DplIn && n.Op != syntax.DplOut && n.Op != syntax.WordHdoc {
				names = append(names, spelled(n.Word, home))
			}
		case *syntax.CallExpr:
			names = append(names, writtenByCall(n, home)...)
		}
		return true
	})
	return names
}

// writtenByCall lists the arguments of a program that changes files, also behind wrappers.
func writtenByCall(c *syntax.CallExpr, home string) (names []string) {
	writes := false
	for _, w := range c.Args {
		text := spelled(w, home)
		if writes {
			if _, value, named := strings.Cut(text, "="); named {
				names = append(names, value) // of=FILE
			}
			names = append(names, text)
		}
		writes = writes || oneOf(base(text), strings.Join(writers(), " "))
	}
	return names
}

// spelled is a word as far as it is known before it runs; $HOME is.
func spelled(w *syntax.Word, home string) string {
	var b strings.Builder
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			b.WriteString(strings.ReplaceAll(part.Value, `\`, ""))
		case *syntax.SglQuoted:
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			b.WriteString(spelled(&syntax.Word{Parts: part.Parts}, home))
		case *syntax.ParamExp:
			if part.Param != nil && part.Param.Value == "HOME" {
				b.WriteString(home)
			}
		}
	}
	return b.String()
}

// judgeExecute judges a command, and what of adze's own it would write.
func (p *Policy) judgeExecute(mode Mode, v verdict) verdict {
	return p.spareOwn(p.judgeCommand(mode, v))
}
