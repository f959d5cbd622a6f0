package script

import (
	"slices"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"
)

// segment is a part of a word: text, or what is known only when it runs.
type segment struct {
	text    string
	pattern bool // unquoted, with a meaning for file names
	code    code // of what is known only when it runs
}

// builder puts a word together.
type builder struct {
	segments []segment
	written  string
}

func (b *builder) add(s segment) { b.segments = append(b.segments, s) }

func (b *builder) text(text string) { b.add(segment{text: text}) }

// word is the whole, in which patterns stand for themselves.
func (b *builder) word() Word {
	w, text := Word{IsKnown: true, written: b.written}, ""
	flush := func() {
		if text != "" {
			w.code = append(w.code, quote(text))
		}
		text = ""
	}
	for _, s := range b.segments {
		if text += s.text; s.code != nil {
			w.IsKnown = false
			flush()
			w.code = w.code.add(s.code)
		}
		w.Text += s.text
	}
	if flush(); w.IsKnown {
		w.code = code{quote(w.Text)}
	} else {
		w.Text = ""
	}
	return w
}

// words are the words that several become: a pattern makes more of one.
func (r *reader) words(in []*syntax.Word, st *state) (out []Word, err error) {
	for _, w := range in {
		b, err := r.parts(w, st, true)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(b.segments, func(s segment) bool { return s.pattern }) {
			out = append(out, b.word())
			continue
		}
		names, err := r.match(b, st)
		if err != nil {
			return nil, err
		}
		out = append(out, names...)
	}
	return out, nil
}

// single reads a word that is neither split nor looked up.
func (r *reader) single(w *syntax.Word, st *state) (Word, error) {
	b, err := r.parts(w, st, false)
	return b.word(), err
}

// parts reads a word. Fields says that bash splits it and looks it up.
func (r *reader) parts(w *syntax.Word, st *state, fields bool) (b builder, err error) {
	if inBraces(w) {
		return b, refuse("it has a word in braces")
	}
	b.written = strings.Trim(source(w), `"`)
	for i, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			err = r.bare(&b, part.Value, i == 0, i+1 == len(w.Parts))
		case *syntax.SglQuoted:
			if part.Dollar {
				return b, refuse("it writes text as $'…'")
			}
			b.text(part.Value)
		case *syntax.DblQuoted:
			if part.Dollar {
				return b, refuse(`it writes text as $"…"`)
			}
			err = r.quoted(&b, part.Parts, st, false)
		case *syntax.ParamExp, *syntax.CmdSubst:
			err = r.expansion(&b, part, st, fields)
		default:
			return b, refuse("it contains %s", source(part))
		}
		if err != nil {
			return b, err
		}
	}
	return b, nil
}

// inBraces reports what may become several words, also where parts of it are quoted.
func inBraces(w *syntax.Word) bool {
	unquoted := ""
	for _, part := range w.Parts {
		if lit, ok := part.(*syntax.Lit); ok {
			unquoted += lit.Value
		}
	}
	return expandable(unquoted)
}

// bare reads unquoted text.
func (r *reader) bare(b *builder, s string, first, last bool) error {
	if first && strings.HasPrefix(s, "~") {
		if s = s[1:]; r.Home == "" || s != "" && s[0] != '/' {
			return refuse("it names a home folder")
		}
		b.text(r.Home)
	}
	if strings.Contains(s, "=~") || strings.Contains(s, ":~") || !last && strings.HasSuffix(s, "$") {
		return refuse("it has a word that can be read in two ways")
	}
	for i := 0; i < len(s); {
		size := 1
		switch c := s[i]; {
		case c == '\\':
			if i+1 >= len(s) || s[i+1] <= ' ' || s[i+1] >= 0x7f {
				return refuse("it has a backslash at an unusual place")
			}
			b.text(s[i+1 : i+2])
			size = 2
		case c == '*' || c == '?' || c == '[' && strings.Contains(s[i:], "]"):
			if c == '[' {
				size = strings.IndexByte(s[i:], ']') + 1
			}
			if c == '[' && !plainSet(s[i:i+size]) {
				return refuse("it has a pattern that can be read in two ways")
			}
			b.add(segment{text: s[i : i+size], pattern: true})
		case c >= 0x80:
			var err error
			if size, err = letter(s[i:]); err != nil {
				return err
			}
			b.text(s[i : i+size])
		default:
			b.text(s[i : i+1])
		}
		i += size
	}
	return nil
}

// plainSet reports [abc], [a-z0-9] and [!a-z].
func plainSet(set string) bool {
	inner := strings.TrimPrefix(strings.TrimPrefix(set[1:len(set)-1], "!"), "^")
	return inner != "" && strings.Trim(inner, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == ""
}

// letter is the size of a character beyond ASCII. Some systems take the bytes 85 and A0 for blanks.
func letter(s string) (int, error) {
	c := []rune(s)[0]
	s = s[:min(len(s), len(string(c)))]
	if !unicode.IsLetter(c) && !unicode.IsDigit(c) || c == unicode.ReplacementChar || strings.IndexByte(s, 0x85) >= 0 || strings.IndexByte(s, 0xa0) >= 0 {
		return 0, refuse("it has an unusual character outside quotes")
	}
	return len(s), nil
}

// quoted reads what stands between double quotes, or in a here-document.
func (r *reader) quoted(b *builder, parts []syntax.WordPart, st *state, document bool) error {
	b.text("") // also "" is a word
	for i, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			text, err := unescaped(part.Value, document, i+1 == len(parts))
			if err != nil {
				return err
			}
			b.text(text)
		case *syntax.ParamExp, *syntax.CmdSubst:
			if err := r.expansion(b, part, st, false); err != nil {
				return err
			}
		default:
			return refuse("it has a text that is known only when it runs")
		}
	}
	return nil
}

// unescaped is text in double quotes, in which a backslash counts before a few characters alone.
func unescaped(s string, document, last bool) (string, error) {
	if !last && strings.HasSuffix(s, "$") || strings.Contains(s, "\\\n") || strings.HasSuffix(s, `\`) && !strings.HasSuffix(s, `\\`) {
		return "", refuse("it has a backslash or a dollar at an unusual place")
	}
	special := "$`\"\\"
	if document {
		special = "$`\\"
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte(special, s[i+1]) >= 0 {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String(), nil
}

// expansion reads $x, ${x} and $(…).
func (r *reader) expansion(b *builder, part syntax.WordPart, st *state, fields bool) error {
	if sub, ok := part.(*syntax.CmdSubst); ok {
		return r.substitution(b, sub, st, fields)
	}
	p := part.(*syntax.ParamExp)
	if p.Param == nil || p.Excl || p.Length || p.Width || p.Index != nil || p.Slice != nil || p.Repl != nil || p.Names != 0 || p.Exp != nil ||
		len(p.Modifiers) > 0 || p.IsSet || p.Flags != nil || p.NestedParam != nil {
		return refuse("it computes with a variable")
	}
	name := p.Param.Value
	value, set := st.vars[name]
	switch {
	case name == "?" || name == "$":
		b.add(segment{code: code{`"$` + name + `"`}})
		return nil
	case !variable(name):
		return refuse("it uses a special variable")
	case set:
	case name == "HOME" && r.Home != "":
		value = Literal(r.Home)
	case name == "PWD":
		value = Literal(st.dir)
	case slices.Contains(usual(), name):
		b.add(segment{code: code{`"${` + name + `}"`}})
		return nil
	default:
		return refuse("it contains $%s", name)
	}
	switch {
	case fields && !(value.IsKnown && value.Text != "" && strings.Trim(value.Text, unsplit) == ""):
		return refuse("it splits $%s into words; put it in double quotes", name)
	case value.IsKnown:
		b.text(value.Text)
	default:
		b.add(segment{code: value.code})
	}
	return nil
}

// unsplit are the characters of a text that nothing splits or looks up.
const unsplit = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/+:@%,=-"

// usual lists variables of the environment that are the same in every session, and hold no secret.
func usual() []string {
	return strings.Fields("PATH USER LOGNAME SHELL TERM EDITOR GOPATH GOROOT GOBIN GOOS GOARCH JAVA_HOME CARGO_HOME RUSTUP_HOME VIRTUAL_ENV " +
		"CONDA_PREFIX CONDA_DEFAULT_ENV NVM_DIR NODE_PATH PYTHONPATH CI HOSTNAME UID EUID PPID BASH_VERSION OSTYPE XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME")
}

// substitution reads "$(…)". What a lone cat of a here-document prints is known.
func (r *reader) substitution(b *builder, sub *syntax.CmdSubst, st *state, fields bool) error {
	switch {
	case sub.Backquotes || sub.TempFile || sub.ReplyVar || len(sub.Stmts) == 0:
		return refuse("it substitutes the output of a command in an unusual way")
	case fields:
		return refuse("it splits %s into words; put it in double quotes", source(sub))
	}
	if text, ok := r.document(sub, st); ok {
		b.text(text)
		return nil
	}
	given := st.given
	body, err := r.apart(sub.Stmts, st)
	st.given = given
	b.add(segment{code: code{`"$(`}.add(body, `)"`)})
	return err
}

// document is the text of $(cat <<'EOF' … EOF).
func (r *reader) document(sub *syntax.CmdSubst, st *state) (string, bool) {
	s := sub.Stmts[0]
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(sub.Stmts) != 1 || s.Negated || s.Background || len(call.Args) != 1 || len(call.Assigns) > 0 || call.Args[0].Lit() != "cat" ||
		len(s.Redirs) != 1 || s.Redirs[0].Op != syntax.Hdoc || s.Redirs[0].N != nil {
		return "", false
	}
	w, err := r.given(s.Redirs[0], st)
	return strings.TrimRight(w.Text, "\n"), err == nil && w.IsKnown
}
