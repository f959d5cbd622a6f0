package claims

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// statement is one sentence.
type statement struct {
	tokens []token
	item   bool
	lead   []token // what stands above a list
	asks   bool
}

// token is a word, the content of a code span, or a sign that ends a clause.
type token struct {
	text string // as written
	word string // in lower case; of a code span or a sign it is the sign's
	kind kind
}

type kind int

const (
	word kind = iota
	span
	sign
)

// longestAnswer is how much of an answer is read, in bytes, and longestQuote how much of a
// statement is repeated, in characters.
const longestAnswer, longestQuote = 64 << 10, 160

func statements(answer string) (out []statement) {
	if len(answer) > longestAnswer {
		answer = answer[:longestAnswer]
	}
	for _, b := range blocks(strings.ToValidUTF8(answer, "?")) {
		lead := tokens(b.lead)
		for _, s := range sentences(tokens(b.text)) {
			s.item, s.lead = b.item, lead
			out = append(out, s)
		}
	}
	return out
}

// quote is the statement as it was written, but for its marks.
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

// sentences cuts tokens at their ends.
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

// tokens reads a block. What somebody else said, in quotation marks, is one word of no meaning.
func tokens(text string) (out []token) {
	text = plain().Replace(text)
	out = make([]token, 0, len(text)/6)
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case unicode.IsSpace(r) || r == '*':
			text = text[size:]
		case r == '`':
			var content string
			content, text = codeSpan(text)
			out = append(out, token{"`" + content + "`", strings.TrimSpace(content), span})
		case closing(r) != 0 && quoted(text, r) > 0:
			n := quoted(text, r)
			content := text[size:n]
			if strings.ContainsAny(content, " \t") || content == "" {
				out = append(out, token{"…", "…", word})
			} else {
				out = append(out, token{content, content, span})
			}
			text = text[n+utf8.RuneLen(closing(r)):]
		case r == '[':
			text = text[size:]
		case r == ']':
			if text = text[size:]; strings.HasPrefix(text, "(") {
				if at := strings.IndexByte(text, ')'); at > 0 {
					text = text[at+1:]
				}
			}
		case strings.ContainsRune(",;:()?!.…。！？、，", r):
			out, text = append(out, token{string(r), string(cmp.Or(pairOf(r, "。…！？、，", "..!?,,"), r)), sign}), text[size:]
		default:
			out, text = words(out, text)
		}
	}
	return out
}

var plain = sync.OnceValue(func() *strings.Replacer {
	return strings.NewReplacer("**", "", "__", "", "’", "'", "—", " , ", "–", " , ", "\u00a0", " ", "✅", " ", "✓", " ", "✔", " ")
})

// pairOf is the sign of to that stands where r stands in from; if 0, it does not.
func pairOf(r rune, from, to string) rune {
	at := strings.IndexRune(from, r)
	if at < 0 {
		return 0
	}
	return []rune(to)[utf8.RuneCountInString(from[:at])]
}

// codeSpan is the content of the code at the start of a text, and what stands behind it.
func codeSpan(text string) (content, rest string) {
	ticks := len(text) - len(strings.TrimLeft(text, "`"))
	mark := text[:ticks]
	if at := strings.Index(text[ticks:], mark); at >= 0 {
		return text[ticks : ticks+at], text[2*ticks+at:]
	}
	return "", text[ticks:]
}

// closing is the mark that ends a quotation; if 0, r begins none.
func closing(r rune) rune { return pairOf(r, `"“„«‘「`, `"”“»'」`) }

// quoted is where a quotation at the start of a text ends; if 0, nowhere.
func quoted(text string, open rune) int {
	size := utf8.RuneLen(open)
	if at := strings.IndexRune(text[size:], closing(open)); at >= 0 {
		return size + at
	}
	return 0
}

// words adds the word at the start of a text, and the sign at its end.
func words(out []token, text string) (tokens []token, rest string) {
	end := strings.IndexFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("`*()[]“”\"«»", r) })
	if end < 0 {
		end = len(text)
	}
	if end == 0 {
		_, end = utf8.DecodeRuneInString(text)
	}
	w, rest := text[:end], text[end:]
	body := strings.TrimRight(w, ".,;:!?…")
	if lower := strings.ToLower(w); lower == "e.g." || lower == "i.e." || lower == "etc." {
		return append(out, token{w, lower[:len(lower)-1], word}), rest
	}
	if body != "" {
		out = append(out, token{body, strings.ToLower(body), word})
	}
	if tail := w[len(body):]; tail != "" {
		sure := tail
		if strings.Contains(tail, "?") {
			sure = "?"
		}
		out = append(out, token{tail, sure[:1], sign})
		if strings.HasPrefix(tail, "…") {
			out[len(out)-1].word = "."
		}
	}
	return out, rest
}

// has reports whether one of the words stands in tokens.
func has(tokens []token, set map[string]bool) bool {
	return slices.ContainsFunc(tokens, func(t token) bool { return t.kind == word && set[t.word] })
}

//go:embed words.txt
var wordList string

// in is a set of words.txt by its name.
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

// supposes reports a statement that claims nothing: a question, a condition, a plan, an advice, an
// order.
func (s statement) supposes() bool {
	if s.asks || len(s.tokens) == 0 {
		return true
	}
	return has(s.tokens, in("hypothetical")) || has(s.lead, in("planning")) || has(s.tokens[:1], in("orders"))
}

// denies reports a negation.
func denies(tokens []token) bool {
	return slices.ContainsFunc(tokens, func(t token) bool {
		return t.kind == word && (in("refusals")[t.word] || strings.HasSuffix(t.word, "n't") || strings.HasPrefix(t.word, "fail"))
	})
}

// clause is the part of the statement around a token.
func (s statement) clause(at int) []token {
	ends := func(t token) bool {
		return t.kind == sign && strings.ContainsAny(t.word, ",;:()") || t.kind == word && (t.word == "and" || t.word == "but" || t.word == "so")
	}
	from, to := at, at
	for from > 0 && !ends(s.tokens[from-1]) {
		from--
	}
	for to < len(s.tokens) && !ends(s.tokens[to]) {
		to++
	}
	return s.tokens[from:to]
}
