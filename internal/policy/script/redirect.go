package script

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// redirects takes the files and texts that a program is connected with.
func (r *reader) redirects(s *Step, redirs []*syntax.Redirect, st *state) error {
	for _, redirect := range redirs {
		from := ""
		if redirect.N != nil {
			from = redirect.N.Value
		}
		if len(from) > 1 || strings.Trim(from, "012") != "" {
			return refuse("it redirects an unusual descriptor")
		}
		if err := r.redirect(s, redirect, from, st); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) redirect(s *Step, redirect *syntax.Redirect, from string, st *state) error {
	switch redirect.Op {
	case syntax.DplOut:
		target := redirect.Word.Lit()
		if target != "1" && target != "2" {
			return refuse("it redirects to a descriptor in an unusual way")
		}
		s.pass(from + ">&" + target)
		return nil
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		if from != "" && from != "0" {
			return refuse("it gives text to an unusual descriptor")
		}
		w, err := r.document(redirect, st)
		s.Input = true
		s.pass("<<<" + w.out)
		return err
	case syntax.RdrOut, syntax.AppOut, syntax.RdrIn, syntax.RdrAll, syntax.AppAll:
	default:
		return refuse("it redirects in an unusual way")
	}
	if sub, ok := piped(redirect); ok && (from == "" || from == "0") {
		out, err := r.pipe(sub, st)
		s.Input, s.beside = true, true
		s.pass(from + "< " + out)
		return err
	}
	w, err := r.single(redirect.Word, st)
	if err != nil {
		return err
	}
	write := redirect.Op != syntax.RdrIn
	if (from == "0") == write && from != "" && (write || from != "0") || from != "" && (redirect.Op == syntax.RdrAll || redirect.Op == syntax.AppAll) {
		return refuse("it redirects an unusual descriptor")
	}
	if patterned(redirect.Word) {
		return refuse("it redirects to a place known only when it runs")
	}
	if slices.ContainsFunc(w.Alts, func(path string) bool {
		return strings.HasPrefix(path, "/dev/tcp/") || strings.HasPrefix(path, "/dev/udp/")
	}) {
		return refuse("it connects to the network, as bash does by names below /dev/tcp")
	}
	if text, known := w.Known(); !known || !device(text) {
		s.Files = append(s.Files, File{w, write})
	}
	s.pass(from + redirect.Op.String() + w.out)
	return nil
}

// device reports what is no file.
func device(path string) bool {
	return path == "/dev/null" || path == "/dev/stdout" || path == "/dev/stderr"
}

// patterned reports a word that bash would look up as a pattern, or split.
func patterned(w *syntax.Word) bool {
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(part.Value, "*?[{\\") {
				return true
			}
		case *syntax.SglQuoted, *syntax.DblQuoted:
		default:
			return true
		}
	}
	return false
}

// document is the text of a here-document without its last line end, which <<< adds.
func (r *reader) document(redirect *syntax.Redirect, st *state) (Word, error) {
	if redirect.Op == syntax.WordHdoc {
		return r.single(redirect.Word, st)
	}
	if redirect.Hdoc == nil {
		return Word{}, refuse("its text is missing")
	}
	if quotedEnd(redirect.Word) {
		text := ""
		for _, part := range redirect.Hdoc.Parts {
			lit, ok := part.(*syntax.Lit)
			if !ok {
				return Word{}, refuse("its text cannot be read")
			}
			text += lit.Value
		}
		if redirect.Op == syntax.DashHdoc && strings.Contains(text, "\t") {
			return Word{}, refuse("its text is indented")
		}
		return literal(withoutLastLineEnd(text)), nil
	}
	if redirect.Op == syntax.DashHdoc {
		return Word{}, refuse("its text is indented")
	}
	var b builder
	if err := r.quoted(&b, redirect.Hdoc.Parts, st, true); err != nil {
		return Word{}, err
	}
	if n := len(b.segments); n > 0 && b.segments[n-1].alts != nil {
		last := &b.segments[n-1]
		if len(last.alts) != 1 || !last.literal {
			return Word{}, refuse("its text cannot be read")
		}
		*last = piece(withoutLastLineEnd(last.alts[0]))
	}
	return b.word(), nil
}

func withoutLastLineEnd(s string) string { return strings.TrimSuffix(s, "\n") }

// quotedEnd reports that the end of a here-document was quoted, so that its text is what it is.
func quotedEnd(w *syntax.Word) bool {
	for _, part := range w.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok || strings.Contains(lit.Value, `\`) {
			return true
		}
	}
	return false
}
