package script

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"
)

// A Word is one word of a program.
type Word struct {
	Text        string // the exact text if Known, otherwise its literal parts
	Known       bool
	Splits      bool   // not known, and may expand to any number of words
	Spelled     string // as far as known before it runs, including variables' values
	Placeholder bool   // stands for Text or any name that begins with it: find's {}

	written string // the original, for messages
	code    code
}

// Literal returns a literal word.
func Literal(text string) Word {
	return Word{Text: text, Known: true, Spelled: text, code: code{quote(text)}}
}

// Equals reports whether a word is exactly text.
func (w Word) Equals(text string) bool { return w.Known && w.Text == text }

// Written returns the original word, for messages.
func (w Word) Written() string { return w.written }

// Texts returns the words' texts.
func Texts(words []Word) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.Text
	}
	return out
}

// AllKnown reports whether all words are known.
func AllKnown(words []Word) bool {
	return !slices.ContainsFunc(words, func(w Word) bool { return !w.Known })
}

// lowered reads a word for Lower, by the text alone.
func lowered(w *syntax.Word, vars map[string]string) Word {
	out := Word{Known: true, Spelled: spelled(w.Parts, vars)}
	unknown := func(many bool) { out.Known, out.Splits = false, out.Splits || many }
	for i, part := range w.Parts {
		text, known := "", true
		switch part := part.(type) {
		case *syntax.Lit:
			text, known = bare(part.Value, i == 0)
			known = known && !(strings.HasSuffix(part.Value, "$") && i+1 < len(w.Parts)) // bash may see a variable there
			out.Splits = out.Splits || !known
		case *syntax.SglQuoted:
			text, known = part.Value, !(part.Dollar && strings.Contains(part.Value, `\`))
		case *syntax.DblQuoted:
			text, known = quoted(part.Parts, "$`\"\\\n")
			out.Splits = out.Splits || list(part)
		default:
			unknown(true)
		}
		out.Text += text
		out.Known = out.Known && known
	}
	if inBraces(w) {
		unknown(true)
	}
	if out.Splits = out.Splits && !out.Known; out.Known {
		out.Spelled = out.Text
	}
	return out
}

// bare reads unquoted text: a backslash escapes the next character; patterns, braces and a leading
// tilde make it unknown.
func bare(s string, first bool) (text string, known bool) {
	known = !(first && strings.HasPrefix(s, "~") || strings.ContainsAny(s, "*?[") || expandable(s) || strings.Contains(s, "$\\\n"))
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 == len(s) {
			known = false // at the end of the text, where the reader may add a line end
		} else if s[i] == '\\' {
			if i++; s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String(), known
}

// quoted reads text in "…" or in a here-document, where a backslash escapes only special
// characters.
func quoted(parts []syntax.WordPart, special string) (text string, known bool) {
	var b strings.Builder
	for _, part := range parts {
		lit, ok := part.(*syntax.Lit)
		if !ok || strings.Contains(lit.Value, "$\\\n") {
			return b.String(), false
		}
		for i := 0; i < len(lit.Value); i++ {
			if lit.Value[i] == '\\' && i+1 < len(lit.Value) && strings.IndexByte(special, lit.Value[i+1]) >= 0 {
				if i++; lit.Value[i] == '\n' {
					continue
				}
			}
			b.WriteByte(lit.Value[i])
		}
	}
	return b.String(), true
}

// list reports "$@" and "${a[@]}", which are many words in spite of their quotes.
func list(q *syntax.DblQuoted) bool {
	many := false
	syntax.Walk(q, func(n syntax.Node) bool {
		if e, ok := n.(*syntax.ParamExp); ok {
			many = many || e.Param == nil || e.Param.Value == "@" || e.Index != nil || e.Excl || e.Exp != nil
		}
		return true
	})
	return many
}

// inBraces reports a possible brace expansion, even if partly quoted; {} is none, and find and
// xargs use it.
func inBraces(w *syntax.Word) bool {
	unquoted := ""
	for _, part := range w.Parts {
		if lit, ok := part.(*syntax.Lit); ok {
			unquoted += lit.Value
		}
	}
	return expandable(unquoted)
}

func expandable(s string) bool {
	return strings.Contains(s, "{") && (strings.Contains(s, ",") || strings.Contains(s, ".."))
}

// spelled returns a word as far as known before it runs: without backslashes, and with known
// variables' values.
func spelled(parts []syntax.WordPart, vars map[string]string) string {
	var b strings.Builder
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			b.WriteString(strings.ReplaceAll(part.Value, `\`, ""))
		case *syntax.SglQuoted:
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			b.WriteString(spelled(part.Parts, vars))
		case *syntax.ParamExp:
			if part.Param != nil {
				b.WriteString(vars[part.Param.Value])
			}
		}
	}
	return b.String()
}

// segment is part of a word for Read: text, or a value known only at run time.
type segment struct {
	text    string
	pattern bool // unquoted, with a pattern's meaning
	code    code // for a value known only at run time
}

type builder struct {
	segments []segment
	written  string
}

func (b *builder) text(text string) { b.segments = append(b.segments, segment{text: text}) }

func (b *builder) runs(c ...any) { b.segments = append(b.segments, segment{code: c}) }

// word returns the word, with patterns taken literally.
func (b *builder) word() Word {
	w := Word{Known: true, written: b.written}
	for _, s := range b.segments {
		if w.Text += s.text; s.code != nil {
			w.Known = false
			w.code = w.code.add(s.code)
		} else if s.text != "" {
			w.code = w.code.add(quote(s.text))
		}
	}
	if w.Known {
		w.Spelled, w.code = w.Text, code{quote(w.Text)}
	} else {
		w.Text = ""
	}
	return w
}

// words expands words: a pattern can become several.
func (r *reader) words(in []*syntax.Word, st *state) (out []Word, err error) {
	for _, w := range in {
		b, err := r.parts(w, st, true)
		if err != nil {
			return nil, err
		}
		names := []Word{b.word()}
		if slices.ContainsFunc(b.segments, func(s segment) bool { return s.pattern }) {
			names, err = r.match(b, st)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, names...)
	}
	return out, nil
}

// single reads a word without splitting and patterns.
func (r *reader) single(w *syntax.Word, st *state) (Word, error) {
	b, err := r.parts(w, st, false)
	return b.word(), err
}

// parts reads a word. fields means that bash splits and expands it.
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
			err = r.quoted(&b, part.Parts, st, "$`\"\\")
		default:
			err = r.expansion(&b, part, st, fields)
		}
		if err != nil {
			return b, err
		}
	}
	return b, nil
}

func (r *reader) bare(b *builder, s string, first, last bool) error {
	if first && strings.HasPrefix(s, "~") {
		if s = s[1:]; r.Home == "" || s != "" && s[0] != '/' {
			return refuse("it names a home folder")
		}
		b.text(r.Home)
	}
	if strings.Contains(s, "=~") || strings.Contains(s, ":~") || !last && strings.HasSuffix(s, "$") || strings.Contains(s, "[") && strings.Contains(s, "]") {
		return refuse("it has a word that can be read in two ways")
	}
	escaped := false
	for _, c := range s {
		// Some systems treat the bytes 85 and A0 in a letter as blanks.
		blank := strings.IndexByte(string(c), 0x85) >= 0 || strings.IndexByte(string(c), 0xa0) >= 0
		switch {
		case c >= 0x80 && (blank || !unicode.IsLetter(c) && !unicode.IsDigit(c)):
			return refuse("it has an unusual character outside quotes")
		case escaped && (c <= ' ' || c >= 0x7f):
			return refuse("it has a backslash at an unusual place")
		case c == '\\' && !escaped:
			escaped = true
			continue
		}
		b.segments = append(b.segments, segment{text: string(c), pattern: !escaped && (c == '*' || c == '?')})
		escaped = false
	}
	if escaped {
		return refuse("it has a backslash at an unusual place")
	}
	return nil
}

// quoted reads text in double quotes, or in a here-document.
func (r *reader) quoted(b *builder, parts []syntax.WordPart, st *state, special string) error {
	b.text("") // "" is a word, too
	for i, part := range parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			if err := r.expansion(b, part, st, false); err != nil {
				return err
			}
			continue
		}
		s := lit.Value
		if i+1 < len(parts) && strings.HasSuffix(s, "$") || strings.Contains(s, "\\\n") || strings.HasSuffix(s, `\`) && !strings.HasSuffix(s, `\\`) {
			return refuse("it has a backslash or a dollar at an unusual place")
		}
		text, _ := quoted([]syntax.WordPart{lit}, special)
		b.text(text)
	}
	return nil
}

// expansion reads $x, ${x} and "$(…)".
func (r *reader) expansion(b *builder, part syntax.WordPart, st *state, fields bool) error {
	if sub, ok := part.(*syntax.CmdSubst); ok {
		return r.substitution(b, sub, st, fields)
	}
	p, ok := part.(*syntax.ParamExp)
	if !ok {
		return refuse("it contains %s", source(part))
	}
	if plain := (&syntax.ParamExp{Dollar: p.Dollar, Rbrace: p.Rbrace, Short: p.Short, Param: p.Param}); p.Param == nil || source(plain) != source(p) {
		return refuse("it computes with a variable")
	}
	name := p.Param.Value
	value, set := st.vars[name]
	switch {
	case name == "?" || name == "$":
		b.runs(`"$` + name + `"`)
		return nil
	case set:
	case name == "HOME" && r.Home != "":
		value = Literal(r.Home)
	case name == "PWD":
		value = Literal(st.dir)
	case slices.Contains(usual(), name):
		b.runs(`"${` + name + `}"`)
		return nil
	default:
		return refuse("it contains $%s", name)
	}
	switch {
	case fields && !(value.Known && value.Text != "" && strings.Trim(value.Text, unsplit) == ""):
		return refuse("it splits $%s into words; put it in double quotes", name)
	case value.Known:
		b.text(value.Text)
	default:
		b.runs(value.code...)
	}
	return nil
}

// Characters that are never split or expanded.
const unsplit = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/+:@%,=-"

// usual lists environment variables that are the same in every session and hold no secret.
func usual() []string {
	return strings.Fields("PATH USER LOGNAME SHELL TERM EDITOR GOPATH GOROOT GOBIN GOOS GOARCH JAVA_HOME CARGO_HOME RUSTUP_HOME VIRTUAL_ENV " +
		"CONDA_PREFIX CONDA_DEFAULT_ENV NVM_DIR NODE_PATH PYTHONPATH CI HOSTNAME UID EUID PPID BASH_VERSION OSTYPE XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME")
}

// substitution reads "$(…)". The output of a lone cat of a here-document is known.
func (r *reader) substitution(b *builder, sub *syntax.CmdSubst, st *state, fields bool) error {
	switch {
	case sub.Backquotes || sub.TempFile || sub.ReplyVar || len(sub.Stmts) == 0:
		return refuse("it substitutes the output of a command in an unusual way")
	case fields:
		return refuse("it splits %s into words; put it in double quotes", source(sub))
	}
	s := sub.Stmts[0]
	if len(sub.Stmts) == 1 && !s.Background && len(s.Redirs) == 1 && s.Redirs[0].Hdoc != nil && strings.HasPrefix(source(s), "cat <<") {
		if w, err := r.given(s.Redirs[0], st); err == nil && w.Known {
			b.text(strings.TrimRight(w.Text, "\n"))
			return nil
		}
	}
	body, err := r.apart(sub.Stmts, st)
	b.runs(code{`"$(`}.add(body, `)"`)...)
	return err
}

// match expands a pattern in a path's last part into the current names. It rejects a folder whose
// names must not be listed, and a pattern after a program that may have changed files.
func (r *reader) match(b builder, st *state) (words []Word, err error) {
	text, shape, first := "", "", -1
	folders := len(b.segments) > 1 && b.segments[len(b.segments)-1].text == "/" // d/*/
	if folders {
		b.segments = b.segments[:len(b.segments)-1]
	}
	for _, s := range b.segments {
		if s.code != nil {
			return nil, refuse("it has a pattern that is known only when it runs")
		}
		if s.pattern && first < 0 {
			first = len(text)
		}
		text += s.text
		if !s.pattern {
			s.text = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(s.text)
		}
		shape += s.text
	}
	folder, shape := text[:strings.LastIndexByte(text, '/')+1], shape[strings.LastIndexByte(shape, '/')+1:]
	full := st.dir + "/" + folder
	if strings.HasPrefix(folder, "/") {
		full = folder
	}
	switch {
	case r.Names == nil:
		return nil, refuse("it has a pattern, and no folder can be looked at")
	case st.changed || st.lost:
		return nil, refuse("it has a pattern behind a program that may have changed files")
	case first < len(folder) || strings.HasPrefix(shape, "."):
		return nil, refuse("it has a pattern of folders, or of hidden names")
	}
	names, err := r.Names(full)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, refuse("its pattern leads into %s, whose names are not looked up unasked", strings.TrimSuffix(folder, "/"))
	}
	slices.Sort(names)
	for _, name := range names {
		if ok, err := path.Match(shape, name); err != nil || !ok || strings.HasPrefix(name, ".") {
			continue
		}
		if strings.HasPrefix(folder+name, "-") {
			return nil, refuse("its pattern matches a file that looks like an option: %s", name)
		}
		if _, err := r.Names(full + "/" + name); !folders {
			words = append(words, Literal(folder+name))
		} else if err == nil {
			words = append(words, Literal(folder+name+"/"))
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, refuse("its pattern leads into %s, whose names are not looked up unasked", name)
		}
	}
	switch {
	case len(words) > maxNames:
		return nil, refuse("its pattern matches too many names")
	case len(words) == 0 && folders:
		return []Word{Literal(text + "/")}, nil
	case len(words) == 0:
		return []Word{Literal(text)}, nil
	}
	return words, nil
}
