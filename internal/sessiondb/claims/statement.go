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

type statement struct {
	tokens []token
	lead   []token // the text above a list
	asks   bool
}

// token is a word, a code span's content, or a mark that ends a clause.
type token struct {
	text string // as written
	word string // in lower case; the sign for a code span or mark
	kind kind
}

type kind int

const (
	word kind = iota
	span
	sign
)

// longestAnswer limits the part of an answer that is read, in bytes, longestQuote the part of a
// statement that is repeated, in characters.
const longestAnswer, longestQuote = 64 << 10, 160

func statements(answer string) (out []statement) {
	if len(answer) > longestAnswer {
		answer = answer[:longestAnswer]
	}
	for _, b := range blocks(strings.ToValidUTF8(answer, "?")) {
		lead := tokens(b.lead)
		for _, s := range sentences(tokens(b.text)) {
			s.lead = lead
			out = append(out, s)
		}
	}
	return out
}

// quote returns the statement as written, without markup.
func (s statement) quote() string {
	parts := make([]string, 0, len(s.tokens))
	for _, t := range s.tokens {
		if t.kind == sign && len(parts) > 0 && t.text != "(" {
			parts[len(parts)-1] += t.text
			continue
		}
		parts = append(parts, t.text)
	}
	runes := []rune(strings.Join(parts, " "))
	if len(runes) > longestQuote {
		return string(runes[:longestQuote-1]) + "…"
	}
	return string(runes)
}

func sentences(all []token) (out []statement) {
	var now statement
	begin := 0
	end := func(at int, mark string) {
		if now.tokens = all[begin:at:at]; len(now.tokens) > 0 {
			now.asks = strings.Contains(mark, "?")
			out = append(out, now)
		}
		now, begin = statement{}, at+1
	}
	for i, t := range all {
		if t.kind == sign && strings.ContainsAny(t.word, ".!?") {
			end(i, t.word)
		}
	}
	end(len(all), "")
	return out
}

// pieces matches code spans, quotations, words and marks.
var pieces = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("``.+?``|`[^`]*`|\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|‘[^’']*[’']|「[^」]*」|[,;:()?!.]+|[^\\s`*()\\[\\]\"“”«»]+")
})

// addresses matches links' targets.
var addresses = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\]\([^)\n]*\)`) })

var plain = sync.OnceValue(func() *strings.Replacer {
	return strings.NewReplacer("**", "", "__", "", "—", " , ", "–", " , ", "\u00a0", " ", "✅", " ", "✓", " ", "✔", " ", "。", ". ", "！", "! ", "？", "? ", "、", ", ", "，", ", ")
})

// tokens splits a block. A quotation, being somebody else's words, becomes one meaningless word.
func tokens(text string) (out []token) {
	text = addresses().ReplaceAllString(plain().Replace(text), "]")
	out = make([]token, 0, len(text)/6)
	for _, at := range pieces().FindAllStringIndex(text, -1) {
		piece := text[at[0]:at[1]]
		first, size := utf8.DecodeRuneInString(piece)
		_, end := utf8.DecodeLastRuneInString(piece)
		switch {
		case first == '`':
			content := strings.Trim(piece, "`")
			out = append(out, token{"`" + content + "`", strings.TrimSpace(content), span})
		case strings.ContainsRune(`"“„«‘「`, first) && len(piece) > size:
			if content := piece[size : len(piece)-end]; strings.ContainsAny(content, " \t") || content == "" {
				out = append(out, token{"…", "…", word})
			} else {
				out = append(out, token{content, content, span})
			}
		default:
			out = words(out, strings.ReplaceAll(piece, "’", "'"))
		}
	}
	return out
}

// words adds a word and the mark at its end.
func words(out []token, piece string) []token {
	body := strings.TrimRight(piece, ".,;:!?…()")
	if lower := strings.ToLower(piece); lower == "e.g." || lower == "i.e." || lower == "etc." {
		return append(out, token{piece, lower[:len(lower)-1], word})
	}
	if body != "" {
		out = append(out, token{body, strings.ToLower(body), word})
	}
	if tail := piece[len(body):]; tail != "" {
		mark := tail[:1]
		switch {
		case strings.Contains(tail, "?"):
			mark = "?"
		case strings.HasPrefix(tail, "…"):
			mark = "."
		}
		out = append(out, token{tail, mark, sign})
	}
	return out
}

func containsAny(tokens []token, set map[string]bool) bool {
	return slices.ContainsFunc(tokens, func(t token) bool { return t.kind == word && set[t.word] })
}

//go:embed words.txt
var wordList string

// in returns a set of words.txt by name.
func in(name string) map[string]bool { return sets()[name] }

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

// supposes reports whether a statement claims nothing: a question, condition, plan, advice or
// order.
func (s statement) supposes() bool {
	if s.asks || len(s.tokens) == 0 {
		return true
	}
	return containsAny(s.tokens, in("hypothetical")) || containsAny(s.lead, in("planning")) || containsAny(s.tokens[:1], in("orders"))
}

// denies reports a negation.
func denies(tokens []token) bool {
	return slices.ContainsFunc(tokens, func(t token) bool {
		return t.kind == word && (in("refusals")[t.word] || strings.HasSuffix(t.word, "n't") || strings.HasPrefix(t.word, "fail"))
	})
}

// clause returns the part of the statement around a token.
func (s statement) clause(at int) []token {
	ends := func(t token) bool { return t.kind == sign && strings.ContainsAny(t.word, ",;:()") || t.joins() }
	from, to := at, at
	for from > 0 && !ends(s.tokens[from-1]) {
		from--
	}
	for to < len(s.tokens) && !ends(s.tokens[to]) {
		to++
	}
	return s.tokens[from:to]
}

// joins reports whether a word starts another clause.
func (t token) joins() bool {
	return t.kind == word && (t.word == "and" || t.word == "but" || t.word == "so")
}

type block struct {
	text string
	lead string // the heading and the line above a list
}

// blocks reads Markdown without code, quotations and unchecked boxes.
func blocks(text string) (out []block) {
	text = strings.NewReplacer("\n• ", "\n- ", "\n– ", "\n- ", "\r\n", "\n").Replace("\n" + text)
	var heading, lead string
	for _, b := range markdown.Read(text) {
		text := strings.TrimSpace(string(b.Text))
		item, quote := false, false
		for _, c := range b.In {
			item, quote = c.Fresh, quote || c.Quote
		}
		switch {
		case quote || b.Kind == markdown.Code || text == "":
		case b.Kind == markdown.Heading:
			heading, lead = text, ""
			out = append(out, block{text: text})
		case b.Kind == markdown.Table || text[0] == '|':
		case item:
			if len(text) > 2 && text[0] == '[' && text[2] == ']' { // a task's box
				if text = strings.TrimSpace(text[3:]); strings.HasPrefix(string(b.Text), "[ ]") {
					continue
				}
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
