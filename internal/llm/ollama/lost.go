package ollama

import "unicode/utf8"

// A server counts every token that the model wrote, including those in a call that it could not
// parse and dropped. The text and thoughts it sent explain some tokens; the rest is lost. A short
// dropped call after much text goes unnoticed if a server joins tokens into one record, which
// Ollama does not.

const (
	// Tokens around a thought and before the answer; gpt-oss writes the most.
	thoughtMarks = 12
	// Least average letters per further token of a word, in a Latin alphabet.
	letters = 3.0
	// With fewer records, the tokens per record are unknown.
	fewRecords = 4
)

// tally counts an answer's text.
type tally struct {
	tokens   float64 // upper bound for the text
	records  int     // not empty
	units    int     // words, numbers and runs of signs; a token rarely covers more than one
	breaks   int     // records that begin with a line break, which may have been held back
	foreign  int     // bytes of digits and other scripts, where token bounds do not show
	bytes    int
	last     rune
	thoughts bool
}

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

// mostTokens returns an upper bound for a text's tokens: a small vocabulary has short words, one
// token for each digit and sign, and one for each byte of other scripts, including spaces between.
func (r *tally) mostTokens(text string) (sum float64) {
	for _, c := range text {
		switch {
		case c|0x20 >= 'a' && c|0x20 <= 'z' && r.last|0x20 >= 'a' && r.last|0x20 <= 'z':
			sum += 1 / letters
		case c == ' ' && r.last < 0x300, c == '\t' && r.last == '\t': // joins the next word
		case c >= 0xc0 && c < 0x300: // accented letters
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

// lost returns how many of the written tokens are missing from the sent text, or 0 if unknown.
func (r *tally) lost(written int) int {
	explained := r.tokens
	// If hardly any record has more than one unit, the server sends each token in its own.
	if r.records >= fewRecords && r.units*5 <= r.records*6 && r.foreign*5 <= r.bytes && r.bytes <= r.records*7 {
		explained = min(explained, float64(r.records+r.breaks)+float64(r.records)/16)
	}
	if r.thoughts {
		explained += thoughtMarks
	}
	return max(0, written-2-int(explained)) // the end of the answer is a token, too
}
