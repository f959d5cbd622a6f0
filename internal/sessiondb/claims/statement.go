package claims

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"adze/internal/text/markdown"
)

// A clause is a sentence or a part of one.
type clause []token

// A token is a word, a code span in backticks, or a mark that ends a clause.
type token string

// quotation replaces somebody else's words.
const quotation = token("[…]")

// longestAnswer limits the part of an answer that is read, in bytes, longestQuote the part of a
// statement that is repeated, in characters.
const longestAnswer, longestQuote = 64 << 10, 160

// mark returns the mark, or "" for words and code spans.
func (t token) mark() string {
	switch {
	case strings.Trim(string(t), ".,;:!?…()") != "":
		return ""
	case strings.Contains(string(t), "?"):
		return "?"
	case strings.HasPrefix(string(t), "…"):
		return "."
	}
	return string(t[:1])
}

// code returns a code span's content, or "".
func (t token) code() string {
	if t[0] != '`' {
		return ""
	}
	return strings.TrimSpace(strings.Trim(string(t), "`"))
}

func (t token) in(set string) bool { return sets()[set][strings.ToLower(string(t))] }

// has reports whether one of the words is in a set.
func (c clause) has(set string) bool {
	return slices.ContainsFunc(c, func(t token) bool { return t.in(set) })
}

// only reports whether each word is in one of the sets, except code spans and numbers.
func (c clause) only(names ...string) bool {
	return !slices.ContainsFunc(c, func(t token) bool {
		return t.mark() != "(" && t.code() == "" && !isNumber(t) && !slices.ContainsFunc(names, t.in)
	})
}

// quote returns the clause as written, without markup.
func (c clause) quote() string {
	var parts []string
	for _, t := range c {
		if t.mark() != "" && len(parts) > 0 && t != "(" {
			parts[len(parts)-1] += string(t)
		} else {
			parts = append(parts, string(t))
		}
	}
	runes := []rune(strings.Join(parts, " "))
	if len(runes) > longestQuote {
		return string(runes[:longestQuote-1]) + "…"
	}
	return string(runes)
}

// denies reports a negation.
func (c clause) denies() bool {
	return slices.ContainsFunc(c, func(t token) bool {
		w := strings.ToLower(string(t))
		return t.in("refusals") || strings.HasSuffix(w, "n't") || strings.HasPrefix(w, "fail")
	})
}

// sentences returns the sentences that do not ask.
func sentences(all clause) (out []clause) {
	begin := 0
	for i, t := range append(all, ".") {
		if mark := t.mark(); mark == "." || mark == "!" || mark == "?" {
			if i > begin && mark != "?" {
				out = append(out, all[begin:i:i])
			}
			begin = i + 1
		}
	}
	return out
}

// clauses splits a statement at punctuation and at "and", "but" and "so".
func (c clause) clauses() (out []clause) {
	begin := 0
	for i, t := range append(c, ".") {
		if t.mark() == "(" && i+1 < len(c) && (c[i+1].code() != "" || isNumber(c[i+1])) {
			continue // a number or command that qualifies the clause
		}
		if t.mark() != "" || t.in("joining") {
			if i > begin {
				out = append(out, c[begin:i:i])
			}
			begin = i + 1
		}
	}
	return out
}

func isNumber(t token) bool { return strings.Trim(string(t), "0123456789/%,.") == "" && t.mark() == "" }

// pieces matches code spans, quotations, words and marks.
var pieces = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("``.+?``|`[^`]*`|\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|‘[^’']*[’']|「[^」]*」|[,;:()?!.]+|[^\\s`*()\\[\\]\"“”«»]+")
})

// addresses matches links' targets.
var addresses = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\]\([^)\n]*\)`) })

var plain = sync.OnceValue(func() *strings.Replacer {
	return strings.NewReplacer("**", "", "__", "", "—", " , ", "–", " , ", "\u00a0", " ", "✅", " ", "✓", " ", "✔", " ", "。", ". ", "！", "! ", "？", "? ", "、", ", ", "，", ", ")
})

// tokens splits a block.
func tokens(text string) (out clause) {
	text = addresses().ReplaceAllString(plain().Replace(text), "]")
	out = make(clause, 0, len(text)/6)
	for _, at := range pieces().FindAllStringIndex(text, -1) {
		piece := text[at[0]:at[1]]
		first, size := utf8.DecodeRuneInString(piece)
		_, end := utf8.DecodeLastRuneInString(piece)
		switch {
		case first == '`':
			out = append(out, token("`"+strings.Trim(piece, "`")+"`"))
		case strings.ContainsRune(`"“„«‘「`, first) && len(piece) > size:
			if content := piece[size : len(piece)-end]; strings.ContainsAny(content, " \t`") || content == "" {
				out = append(out, quotation)
			} else {
				out = append(out, token("`"+content+"`"))
			}
		default:
			out = words(out, strings.ReplaceAll(piece, "’", "'"))
		}
	}
	return out
}

// words adds a word and the mark at its end.
func words(out clause, piece string) clause {
	body := strings.TrimRight(piece, ".,;:!?…()")
	if token(piece).in("shortened") {
		body = piece
	}
	if body != "" {
		out = append(out, token(body))
	}
	if tail := piece[len(body):]; tail != "" {
		out = append(out, token(tail))
	}
	return out
}

//go:embed words.txt
var wordList string

// sets returns the sets of words.txt by name.
var sets = sync.OnceValue(func() map[string]map[string]bool {
	out := map[string]map[string]bool{}
	var now map[string]bool
	for line := range strings.Lines(wordList) {
		if name, rest, begins := strings.Cut(line, ":"); begins && line[0] > ' ' && line[0] != '#' {
			now, line = map[string]bool{}, rest
			out[name] = now
		}
		for w := range strings.FieldsSeq(line) {
			if line[0] == '#' {
				break
			}
			now[w] = true
		}
	}
	return out
})

type block struct {
	text string
	lead string // the heading and the line above a list
}

// blocks reads Markdown without code, quotations and unchecked boxes.
func blocks(text string) (out []block) {
	text = strings.ToValidUTF8(text[:min(len(text), longestAnswer)], "?")
	text = strings.NewReplacer("\n• ", "\n- ", "\n– ", "\n- ", "\r\n", "\n").Replace("\n" + text)
	var heading, lead string
	for _, b := range markdown.Read(text) {
		text := strings.TrimSpace(string(b.Text))
		item, quote := false, false
		for _, c := range b.In {
			item, quote = c.Fresh, quote || c.Quote
		}
		switch {
		case quote || b.Kind == markdown.Code || b.Kind == markdown.Table || text == "" || text[0] == '|' || item && strings.HasPrefix(text, "[ ]"):
		case b.Kind == markdown.Heading:
			heading, lead = text, ""
			out = append(out, block{text: text})
		case item:
			if len(text) > 2 && text[0] == '[' && text[2] == ']' { // a task's box
				text = text[3:]
			}
			out = append(out, block{text, heading + " " + lead})
		default:
			if out, lead = append(out, block{text: text, lead: heading}), ""; strings.HasSuffix(strings.TrimRight(text, "*_ "), ":") {
				lead = text
			}
		}
	}
	return out
}
