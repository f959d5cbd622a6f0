package claims

import (
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
			out, text = append(out, token{string(r), plainSign(r), sign}), text[size:]
		default:
			out, text = words(out, text)
		}
	}
	return out
}

var plain = sync.OnceValue(func() *strings.Replacer {
	return strings.NewReplacer("**", "", "__", "", "’", "'", "—", " , ", "–", " , ", "\u00a0", " ", "✅", " ", "✓", " ", "✔", " ")
})

// plainSign is the ASCII sign of the same meaning.
func plainSign(r rune) string {
	switch r {
	case '。', '…':
		return "."
	case '！':
		return "!"
	case '？':
		return "?"
	case '、', '，':
		return ","
	}
	return string(r)
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
func closing(r rune) rune {
	switch r {
	case '"':
		return '"'
	case '“':
		return '”'
	case '„':
		return '“'
	case '«':
		return '»'
	case '‘':
		return '\''
	case '「':
		return '」'
	}
	return 0
}

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

func set(list string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		out[w] = true
	}
	return out
}

// supposes reports a statement that claims nothing: a question, a condition, a plan, an advice, an
// order.
func (s statement) supposes() bool {
	if s.asks || len(s.tokens) == 0 {
		return true
	}
	return has(s.tokens, hypothetical()) || has(s.lead, planning()) || has(s.tokens[:1], orders())
}

var hypothetical = sync.OnceValue(func() map[string]bool {
	return set(`if unless once when whenever until assuming provided should would could might may must will shall won't
		i'll we'll you'll it'll they'll i'd we'd you'd let let's need needs needed want wants wanted going gonna plan plans planned
		intend intends whether expect expects expected hopefully probably likely presumably perhaps maybe ideally try please you can
		suggest suggests recommend recommended recommends propose proposed next todo e.g example examples imagine suppose supposed
		hypothetically require requires required guarantee guarantees otherwise remains soon as-if ask asked asking claim claims
		claimed says said option options`)
})

// planning is what stands above a list of what is not done yet.
var planning = sync.OnceValue(func() map[string]bool {
	return set(`plan plans steps next todo todos suggest suggested suggestion suggestions recommend recommended recommendations
		recommendation would could should will criteria goal goals example examples option options proposal proposed want need
		needed if later future follow-up follow-ups optional you remaining requirements expected`)
})

var orders = sync.OnceValue(func() map[string]bool {
	return set(`run make ensure verify confirm check use add
		create update change fix edit write note consider remember open go put place move rename delete remove test re-run rerun execute`)
})

// denies reports a negation.
func denies(tokens []token) bool {
	return slices.ContainsFunc(tokens, func(t token) bool {
		return t.kind == word && (refusals()[t.word] || strings.HasSuffix(t.word, "n't") || strings.HasPrefix(t.word, "fail"))
	})
}

var refusals = sync.OnceValue(func() map[string]bool {
	return set(`not no never without none cannot neither nor unable nothing nobody hardly barely dont unfortunately`)
})

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
