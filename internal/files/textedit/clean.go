package textedit

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Number formats a line like the read tool: its number, right-aligned to width, two spaces, the
// text.
func Number(n, width int, line string) string {
	number := strconv.Itoa(n)
	return strings.Repeat(" ", max(0, width-len(number))) + number + "  " + line
}

// Width returns the number column's width for lines up to last.
func Width(last int) int { return len(strconv.Itoa(last)) }

// cleanedEdit is an edit without additions the model may have made to its copy.
type cleanedEdit struct {
	Edit
	steps  []Step
	inLine bool   // the copy may be part of a line
	partly string // an addition on only some lines of the new text
}

// extent is how much of a text has an addition.
type extent int

const (
	extentNone extent = iota
	extentSome
	extentWhole
)

type cleaner struct {
	step   Step
	name   string
	inLine bool
	quotes bool // decodes only quotes
	strip  func(s string) (string, extent)
	// other replaces off for the new text. Optional.
	other func(s string) (string, extent)
}

// readings lists the possible meanings of an edit, as written first. A cleaner whose addition
// covers the whole copy is also applied to the new text, unless that has none of it.
func (d *doc) readings(e Edit) []cleanedEdit {
	list := []cleanedEdit{d.lookalikes(e)}
	for _, c := range cleaners() {
		for _, r := range list {
			old, had := c.strip(r.Old)
			if had != extentWhole || blank(old) || c.step != Unescaped && slices.Contains(r.steps, c.step) {
				continue
			}
			off := c.strip
			if c.other != nil {
				off = c.other
			}
			next, has := off(r.New)
			r.steps = append(r.steps[:len(r.steps):len(r.steps)], c.step)
			r.inLine = c.inLine && r.inLine
			if r.Old = old; has == extentWhole {
				r.New = next
			} else if has == extentSome && r.partly == "" {
				r.partly = c.name
			}
			list = append(list, r)
		}
	}
	return list
}

func cleaners() []cleaner {
	escapes := func(letters, bare string) cleaner {
		return cleaner{step: Unescaped, name: "escapes", inLine: true, quotes: letters == `"`, strip: func(s string) (string, extent) { return unescaped(s, letters, bare) }}
	}
	list := []cleaner{{step: Fenced, name: "a fence", strip: unfenced}}
	for _, style := range numberStyles() {
		list = append(list, cleaner{step: Numbered, name: "line numbers", strip: func(s string) (string, extent) { return unnumbered(s, style) }})
	}
	for _, mark := range []string{"+ ", "+", "- ", "-", "> ", ">", "| "} {
		twin := map[string]string{"+": "-", "-": "+"}[mark[:1]] + mark[1:]
		c := cleaner{step: Unmarked, name: "marks", strip: func(s string) (string, extent) { return unmarked(s, mark) }}
		c.other = func(s string) (string, extent) {
			if plain, has := unmarked(s, mark); has != extentNone || len(twin) < len(mark) {
				return plain, has
			}
			return unmarked(s, twin)
		}
		list = append(list, c)
	}
	return append(list,
		cleaner{step: Unmarked, name: "marks", strip: func(s string) (string, extent) { return diffSide(s, "-") }, other: func(s string) (string, extent) { return diffSide(s, "+") }},
		escapes(`ntru\/"'`, "\n\t\""), escapes(`"`, `"`), escapes(`'`, `'`), escapes("`", "`"), escapes("n", "\n"), escapes("t", "\t"), escapes("u", ""),
		cleaner{step: Entities, name: "entities", inLine: true, strip: unentitied},
	)
}

func unfenced(s string) (string, extent) {
	first, rest, ok := strings.Cut(strings.Trim(s, "\n"), "\n")
	if !ok || !strings.HasPrefix(first, "```") || strings.ContainsAny(first[3:], " \t`") {
		return s, extentNone
	}
	body, ok := strings.CutSuffix(rest, "```")
	plain, lines := strings.CutSuffix(body, "\n")
	if !ok || strings.Contains(body, "```") || body != "" && !lines {
		return s, extentSome
	}
	return plain, extentWhole
}

// numberStyles are line-number formats of assistants: adze and others, cat -n, grep -n, and models'
// variants.
func numberStyles() []string {
	return []string{"  ", "\t", "→", ": ", ":", " | ", "| ", "|", ". ", ") ", "] ", " - ", " │ ", "│", " "}
}

// numberedLine matches a line number and the text before it.
var numberedLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*(?:L|[Ll]ine |\[)?(\d{1,7})`) })

// unnumbered removes line numbers that count up.
func unnumbered(s, style string) (string, extent) {
	last := -1
	plain, has := offLines(s, func(line string) (string, bool) {
		m := numberedLine().FindStringSubmatch(line)
		if m == nil {
			return line, false
		}
		n, _ := strconv.Atoi(m[1])
		rest, ok := strings.CutPrefix(line[len(m[0]):], style)
		if !ok && strings.TrimSpace(line[len(m[0]):]) == strings.TrimSpace(style) {
			rest, ok = "", true // an empty line
		}
		ok = ok && n > last
		last = n
		return rest, ok
	})
	if blank(plain) {
		return s, extentNone // only a number
	}
	return plain, has
}

// unmarked removes a mark from the start of each line.
func unmarked(s, mark string) (string, extent) {
	return offLines(s, func(line string) (string, bool) {
		if line == strings.TrimRight(mark, " ") {
			return "", true
		}
		return strings.CutPrefix(line, mark)
	})
}

// diffSide returns one side of a diff: each line begins with a space or the side's mark, at least
// one with the mark.
func diffSide(s, mark string) (string, extent) {
	marks := 0
	out, had := offLines(s, func(line string) (string, bool) {
		if rest, ok := strings.CutPrefix(line, mark); ok {
			marks++
			return rest, true
		}
		return strings.CutPrefix(line, " ")
	})
	if had == extentWhole && marks == 0 && mark == "-" {
		return s, extentNone
	}
	return out, had
}

// offLines applies off to each line with text.
func offLines(s string, off func(line string) (string, bool)) (string, extent) {
	lines, ended := linesOf(s)
	with, without := 0, 0
	for i, line := range lines {
		if line == "" {
			continue
		}
		rest, ok := off(line)
		if ok {
			lines[i] = rest
			with++
		} else if !blank(line) {
			without++
		}
	}
	switch {
	case with == 0:
		return s, extentNone
	case without > 0:
		return s, extentSome
	}
	out := strings.Join(lines, "\n")
	if ended {
		out += "\n"
	}
	return out, extentWhole
}

// unescaped decodes the escapes with the listed letters, as in JSON and programming languages. bare
// lists characters that appear only escaped in such a text.
func unescaped(s, letters, bare string) (string, extent) {
	var out strings.Builder
	had := extentWhole
	read := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '\\' || i+1 == len(s) || strings.IndexByte(letters, s[i+1]) < 0 {
			if strings.IndexByte(bare, c) >= 0 {
				had = extentSome
			}
			out.WriteByte(c)
			continue
		}
		i++
		read = true
		switch c = s[i]; c {
		case 'n':
			out.WriteByte('\n')
		case 't':
			out.WriteByte('\t')
		case 'r':
		case 'u':
			n, err := strconv.ParseUint(s[i+1:min(len(s), i+5)], 16, 16)
			if err != nil || i+5 > len(s) || !utf8.ValidRune(rune(n)) {
				return s, extentSome
			}
			out.WriteRune(rune(n))
			i += 4
		default:
			out.WriteByte(c)
		}
	}
	if !read {
		return s, extentNone
	}
	return out.String(), had
}

var entity = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`&(?:lt|gt|amp|quot|apos|#39|#34|#x27);`) })

func unentitied(s string) (string, extent) {
	rest := entity().ReplaceAllString(s, "")
	switch {
	case rest == s:
		return s, extentNone
	case strings.ContainsAny(rest, "<>&"):
		return s, extentSome
	}
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&#34;", `"`, "&#39;", "'", "&#x27;", "'", "&apos;", "'", "&amp;", "&").Replace(s), extentWhole
}

// lookalikes replaces characters in the copy that the file has nowhere, or that precede its lines,
// by the file's equivalents: quotes, dashes and spaces in ASCII, and letters with composed or
// separate marks.
func (d *doc) lookalikes(e Edit) cleanedEdit {
	foreign := map[rune]bool{}
	for _, r := range e.Old {
		if _, ok := plain(r); ok && !strings.ContainsRune(d.Text, r) {
			foreign[r] = true
		}
	}
	off := func(s string) string {
		lines := strings.Split(s, "\n")
		for i, line := range lines {
			body := strings.TrimSpace(line)
			head, tail, _ := strings.Cut(line, body)
			lines[i] = plainer(head) + mapped(body, func(r rune) (string, bool) {
				p, ok := plain(r)
				return p, ok && foreign[r]
			}) + tail
		}
		s = strings.Join(lines, "\n")
		for _, form := range []norm.Form{norm.NFC, norm.NFD} {
			if !form.IsNormalString(e.Old) && form.IsNormalString(d.Text) {
				return form.String(s)
			}
		}
		return s
	}
	r := cleanedEdit{inLine: true, Edit: Edit{Old: off(e.Old), New: off(e.New), All: e.All}}
	if r.Old != e.Old {
		r.steps = []Step{Normalised}
	}
	return r
}

// plainer replaces look-alike characters by ASCII.
func plainer(s string) string {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return mapped(s, plain)
		}
	}
	return s
}

func mapped(s string, f func(rune) (string, bool)) string {
	var out strings.Builder
	for i, r := range s {
		if p, ok := f(r); ok {
			out.WriteString(p)
		} else {
			_, size := utf8.DecodeRuneInString(s[i:])
			out.WriteString(s[i : i+size])
		}
	}
	return out.String()
}

// plain returns a character's ASCII equivalent, if models use one instead.
func plain(r rune) (string, bool) {
	switch r {
	case '\u2018', '\u2019', '\u201a', '\u201b', '\u2032', '\u00b4':
		return "'", true
	case '\u201c', '\u201d', '\u201e', '\u201f', '\u2033', '\u00ab', '\u00bb':
		return `"`, true
	case '\u2010', '\u2011', '\u2012', '\u2013', '\u2014', '\u2015', '\u2212':
		return "-", true
	case '\u00a0', '\u2002', '\u2003', '\u2004', '\u2005', '\u2006', '\u2007', '\u2008', '\u2009', '\u200a', '\u202f', '\u205f', '\u3000':
		return " ", true
	case '\u200b', '\u200c', '\u200d', '\u2060', '\ufeff', '\u00ad':
		return "", true
	case '\u2026':
		return "...", true
	}
	return "", false
}

// added names a prefix, wrapper or escape in the new text that neither the copy nor the file has;
// no file should get it.
func (d *doc) added(e Edit) string {
	for _, c := range cleaners() {
		_, was := c.strip(e.Old)
		_, is := c.strip(e.New)
		if c.step == Entities && is != extentNone && was == extentNone && !entity().MatchString(d.Text) || (c.step != Unescaped || c.quotes) && is == extentWhole && was == extentNone {
			return "new_string has " + c.name + ", which old_string has not"
		}
	}
	if bareEscape(e.New) && !bareEscape(d.Text) {
		return `new_string has \n in the place of line ends`
	}
	return ""
}

// bareEscape reports whether a text has \n outside quotes.
func bareEscape(s string) bool {
	quote := byte(0)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			if s[i+1] == 'n' && quote == 0 {
				return true
			}
			i++
		case c == quote || c == '\n':
			quote = 0
		case quote == 0 && (c == '"' || c == '\'' || c == '`'):
			quote = c
		}
	}
	return false
}
