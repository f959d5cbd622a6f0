package ollama

import "unicode/utf8"

// A server counts every token that the model wrote, also those of a call that it could not read and
// dropped. What it sent, the text and the thoughts, explains some of the tokens; the others are
// lost. Where a server joins tokens into one record, which Ollama does not, a short call that was
// dropped behind many words is not seen.

const (
	// thoughtMarks is how many tokens stand around a thought and the answer behind it; gpt-oss
	// writes the most.
	thoughtMarks = 12
	// letters is how many letters a further token of a word has at least, on average, in a Latin
	// alphabet.
	letters = 3.0
	// fewRecords is how many records say nothing yet about how many tokens a record has.
	fewRecords = 4
)

// tally counts what came of an answer.
type tally struct {
	tokens   float64 // that the text may have had at most
	records  int     // with something in them
	units    int     // words, numbers and runs of signs in them; a token is hardly ever more than one
	breaks   int     // records that begin with a line break, which may have been held back before
	foreign  int     // bytes of digits and other scripts, whose tokens show no bounds
	bytes    int
	last     rune
	thoughts bool
}

// take counts one record.
func (r *tally) take(text, thinking string) {
	if text == "" && thinking == "" {
		return
	}
	r.thoughts = r.thoughts || thinking != ""
	r.records++
	both := text + thinking
	r.units += unitsOf(both)
	if both[0] == '\n' {
		r.breaks++
	}
	r.bytes += len(both)
	r.tokens += r.mostTokens(both)
	for _, c := range both {
		if c >= utf8.RuneSelf || c >= '0' && c <= '9' {
			r.foreign += utf8.RuneLen(c)
		}
	}
}

// mostTokens is how many tokens a text has at most: a small vocabulary has short words, one token
// for each digit and sign, and one for each byte of other scripts, with the spaces between.
func (r *tally) mostTokens(text string) (sum float64) {
	for _, c := range text {
		switch {
		case c|0x20 >= 'a' && c|0x20 <= 'z' && r.last|0x20 >= 'a' && r.last|0x20 <= 'z':
			sum += 1 / letters
		case c == ' ' && r.last < 0x300, c == '\t' && r.last == '\t': // it belongs to the next word
		case c >= 0xc0 && c < 0x300: // letters with accents
			sum += 1.5
		case c < utf8.RuneSelf:
			sum++
		case c < 0x800:
			sum += 1.3
		case c < 0x10000:
			sum += 3
		default:
			sum += 4
		}
		r.last = c
	}
	return sum
}

// unitsOf counts words, numbers and runs of signs.
func unitsOf(text string) int {
	count, before := 0, byte(' ')
	for i := range len(text) {
		kind := byte('.')
		switch c := text[i]; {
		case c == ' ' || c == '\t':
			kind = ' '
		case c == '\n':
			kind = '\n'
		case c|0x20 >= 'a' && c|0x20 <= 'z', c >= utf8.RuneSelf:
			kind = 'a'
		case c >= '0' && c <= '9':
			kind = '0'
		}
		if kind != before && kind != ' ' {
			count++
		}
		before = kind
	}
	return count
}

// granular reports a server that sends each token in a record of its own: hardly any record has
// more than one unit.
func (r *tally) granular() bool {
	return r.records >= fewRecords && r.units*5 <= r.records*6 && r.foreign*5 <= r.bytes && r.bytes <= r.records*7
}

// lost is how many of the tokens that the model wrote are in nothing that was sent; if 0, none, as
// far as is known.
func (r *tally) lost(written int) int {
	explained := r.tokens
	if r.granular() {
		explained = min(explained, float64(r.records+r.breaks)+float64(r.records)/16)
	}
	if r.thoughts {
		explained += thoughtMarks
	}
	return max(0, written-2-int(explained)) // the end of the answer is a token, too
}
