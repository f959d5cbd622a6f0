package script

import (
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"
)

// segment is a part of a word.
type segment struct {
	alts    []string // if nil, known only when it runs
	literal bool     // it stands there as it is
	pattern bool     // unquoted, with a meaning for file names
	many    bool     // it may become several words, or none
	names   bool     // which are names of files below the folder
	piped   bool     // it is a pipe from a program
	out     string
}

// piece is text that stands for itself.
func piece(text string) segment {
	return segment{alts: []string{text}, literal: true, out: quote(text)}
}

func literal(text string) Word { return Word{Alts: []string{text}, One: true, out: quote(text)} }

// builder puts a word together.
type builder struct{ segments []segment }

func (b *builder) add(s segment) {
	if n := len(b.segments); n > 0 && s.literal && b.segments[n-1].literal && !s.pattern && !b.segments[n-1].pattern {
		b.segments[n-1] = piece(b.segments[n-1].alts[0] + s.alts[0])
		return
	}
	b.segments = append(b.segments, s)
}

// word is the whole: every combination of what its parts may be.
func (b *builder) word() Word {
	w := Word{Alts: []string{""}, One: true}
	for _, s := range b.segments {
		w.out += s.out
		w.One = w.One && !s.many
		var next []string
		for _, a := range w.Alts {
			for _, t := range s.alts {
				next = append(next, a+t)
			}
		}
		if w.Alts = next; len(next) > maxAlternatives {
			w.Alts = nil
		}
	}
	if len(b.segments) == 0 {
		w.out = "''"
	}
	if !w.One {
		w.Alts = nil
	}
	if len(b.segments) == 1 {
		w.Names, w.Piped = b.segments[0].names, b.segments[0].piped
	}
	return w
}

func (b *builder) pattern() bool {
	for _, s := range b.segments {
		if s.pattern {
			return true
		}
	}
	return false
}

// words are the words that several become: braces and patterns make more of one.
func (r *reader) words(in []*syntax.Word, st *state) (out []Word, err error) {
	for _, w := range in {
		for _, one := range braces(w) {
			b, err := r.parts(one, st, true)
			if err != nil {
				return nil, err
			}
			if !b.pattern() {
				out = append(out, b.word())
				continue
			}
			more, err := r.match(b, st)
			if err != nil {
				return nil, err
			}
			out = append(out, more...)
		}
	}
	return out, nil
}

// single reads a word that is neither split nor looked up.
func (r *reader) single(w *syntax.Word, st *state) (Word, error) {
	b, err := r.parts(w, st, false)
	for i := range b.segments {
		s := &b.segments[i]
		s.many = false
		if s.pattern {
			*s = piece(s.alts[0])
		}
	}
	return b.word(), err
}

// parts reads a word. Fields says that it may be split and looked up.
func (r *reader) parts(w *syntax.Word, st *state, fields bool) (builder, error) {
	var b builder
	if inBraces(w) {
		return b, refuse("it has a word in braces")
	}
	for i, part := range w.Parts {
		var err error
		switch part := part.(type) {
		case *syntax.Lit:
			err = r.bare(&b, part.Value, i == 0, i+1 == len(w.Parts))
		case *syntax.SglQuoted:
			if part.Dollar {
				return b, refuse("it writes text as $'…'")
			}
			b.add(piece(part.Value))
		case *syntax.DblQuoted:
			if part.Dollar {
				return b, refuse(`it writes text as $"…"`)
			}
			if len(part.Parts) == 0 {
				b.add(piece(""))
			}
			err = r.quoted(&b, part.Parts, st, false)
		case *syntax.ParamExp, *syntax.CmdSubst:
			err = r.expansion(&b, part, st, fields)
		case *syntax.ProcSubst:
			if !fields || len(w.Parts) != 1 {
				return b, refuse("it contains %s beside other text", source(part))
			}
			out, err := r.pipe(part, st)
			b.add(segment{piped: true, out: out})
			return b, err
		default:
			return b, refuse("it contains %s", source(part))
		}
		if err != nil {
			return b, err
		}
	}
	return b, nil
}

// bare reads unquoted text.
func (r *reader) bare(b *builder, s string, first, last bool) error {
	if first && strings.HasPrefix(s, "~") {
		rest := s[1:]
		if r.Home == "" || rest != "" && rest[0] != '/' {
			return refuse("it names a home folder")
		}
		b.add(piece(r.Home))
		s = rest
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
			b.add(piece(s[i+1 : i+2]))
			size = 2
		case c == '*' || c == '?':
			b.add(segment{alts: []string{string(c)}, literal: true, pattern: true, out: string(c)})
		case c == '[':
			end := strings.IndexByte(s[i:], ']')
			if end < 0 {
				b.add(piece("["))
				break
			}
			if set := s[i : i+end+1]; !plainSet(set) {
				return refuse("it has a pattern that can be read in two ways")
			}
			size = end + 1
			b.add(segment{alts: []string{s[i : i+size]}, literal: true, pattern: true, out: s[i : i+size]})
		case c >= 0x80:
			var err error
			if size, err = letter(s[i:]); err != nil {
				return err
			}
			b.add(piece(s[i : i+size]))
		default:
			b.add(piece(s[i : i+1]))
		}
		i += size
	}
	return nil
}

// plainSet reports [abc], [a-z0-9] and [!a-z].
func plainSet(set string) bool {
	inner := strings.TrimPrefix(strings.TrimPrefix(set[1:len(set)-1], "!"), "^")
	odd := func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_.", c))
	}
	return inner != "" && !strings.ContainsFunc(inner, odd)
}

// letter is the size of a character beyond ASCII. Some systems take the bytes 85 and A0 for blanks.
func letter(s string) (int, error) {
	for i, c := range s {
		if i > 0 {
			s = s[:i]
			break
		}
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			return 0, refuse("it has an unusual character outside quotes")
		}
	}
	if strings.ContainsRune(s, unicode.ReplacementChar) || strings.IndexByte(s, 0x85) >= 0 || strings.IndexByte(s, 0xa0) >= 0 {
		return 0, refuse("it has an unusual character outside quotes")
	}
	return len(s), nil
}

// quoted reads what stands between double quotes, or in a here-document.
func (r *reader) quoted(b *builder, parts []syntax.WordPart, st *state, document bool) error {
	for i, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			text, err := unescaped(part.Value, document, i+1 == len(parts))
			if err != nil {
				return err
			}
			b.add(piece(text))
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
