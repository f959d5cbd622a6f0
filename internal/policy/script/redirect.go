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
	reads := redirect.Op == syntax.RdrIn
	switch redirect.Op {
	case syntax.DplOut:
		target := redirect.Word.Lit()
		if target != "1" && target != "2" {
			return refuse("it redirects to a descriptor in an unusual way")
		}
		s.passes = s.passes.add(" " + from + ">&" + target)
		return nil
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		if from != "" && from != "0" {
			return refuse("it gives text to an unusual descriptor")
		}
		w, err := r.given(redirect, st)
		s.Input = true
		s.passes = s.passes.add(" <<<", w.code)
		return err
	case syntax.RdrOut, syntax.AppOut, syntax.RdrIn, syntax.RdrAll, syntax.AppAll:
		if from != "" && (reads != (from == "0") || redirect.Op == syntax.RdrAll || redirect.Op == syntax.AppAll) {
			return refuse("it redirects an unusual descriptor")
		}
	default:
		return refuse("it redirects in an unusual way")
	}
	w, err := r.single(redirect.Word, st)
	switch {
	case err != nil:
		return err
	case patterned(redirect.Word) || w.IsKnown && w.Text == "":
		return refuse("it redirects to a place known only when it runs")
	case strings.HasPrefix(w.Text, "/dev/tcp/") || strings.HasPrefix(w.Text, "/dev/udp/"):
		return refuse("it connects to the network, as bash does by names below /dev/tcp")
	case !slices.Contains([]string{"/dev/null", "/dev/stdout", "/dev/stderr"}, w.Text):
		s.Files = append(s.Files, File{w, !reads})
	}
	s.passes = s.passes.add(" "+from+redirect.Op.String(), w.code)
	return nil
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

// given is the text of a here-document without its last line end, which <<< adds.
func (r *reader) given(redirect *syntax.Redirect, st *state) (Word, error) {
	switch {
	case redirect.Op == syntax.WordHdoc:
		return r.single(redirect.Word, st)
	case redirect.Hdoc == nil || redirect.Op == syntax.DashHdoc:
		return Word{}, refuse("its text is missing or indented")
	}
	var b builder
	b.text("")
	if quotedEnd(redirect.Word) {
		for _, part := range redirect.Hdoc.Parts {
			lit, ok := part.(*syntax.Lit)
			if !ok {
				return Word{}, refuse("its text cannot be read")
			}
			b.text(lit.Value)
		}
	} else if err := r.quoted(&b, redirect.Hdoc.Parts, st, true); err != nil {
		return Word{}, err
	}
	last := &b.segments[len(b.segments)-1]
	last.text = strings.TrimSuffix(last.text, "\n")
	return b.word(), nil
}

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
