package sessiondb

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"adze/session"
)

// listHead holds a session's first start entry and first message for lists.
type listHead struct{ start, first *string }

// openingOf returns the missing parts of w's opening, or nil.
func openingOf(entries []session.Entry, w *writer) *listHead {
	var o listHead
	copied := 0 // number of the entries a fork copied
	for i, e := range entries {
		switch {
		case e.Type == session.StartEntry && !w.start && o.start == nil:
			o.start = shorten(e.Data)
			if bytes.Contains(e.Data, []byte(`"copied":`)) { // decoding a system prompt at each start is expensive
				copied = session.Head{Start: e.Data}.Info().Copied
			}
		case e.Type == session.MessageEntry && !w.first && (o.first == nil || i >= copied && isCopied(*o.first)):
			o.first = shorten(e.Data)
			if i < copied {
				*o.first = strings.Replace(*o.first, "{", copiedMark, 1)
			}
		}
	}
	if o == (listHead{}) {
		return nil
	}
	return &o
}

// copiedMark starts a fork's first message if it is the parent's; the fork's own first message
// replaces it.
const copiedMark = `{"copied":true,`

func isCopied(first string) bool { return strings.HasPrefix(first, copiedMark) }

func (o *listHead) save(ctx context.Context, tx *sql.Tx, num int64) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO openings (session, start, first) VALUES (?, ?, ?)
		ON CONFLICT (session) DO UPDATE SET start = coalesce(start, excluded.start),
			first = CASE WHEN substr(first, 1, ?) = ? THEN coalesce(excluded.first, first) ELSE coalesce(first, excluded.first) END`,
		num, o.start, o.first, len(copiedMark), copiedMark)
	return err
}

const (
	// wholeOpening is the largest data of an opening stored unchanged, in bytes.
	wholeOpening = 1024
	// openingString is the length in characters to which strings of larger data are truncated: more
	// than a title needs, and a multiple of four so Base64 stays valid.
	openingString = 256
)

// shorten truncates the long strings of a JSON text: a list of ten thousand sessions must not read
// ten thousand system prompts. The session's entries hold the full text. It makes a single pass
// without decoding, since every run pays for it before its first request.
func shorten(data json.RawMessage) *string {
	text := string(data)
	if len(text) <= wholeOpening {
		return &text
	}
	var b strings.Builder
	for rest := text; rest != ""; {
		quote := strings.IndexByte(rest, '"') + 1
		if quote == 0 {
			b.WriteString(rest)
			break
		}
		b.WriteString(rest[:quote])
		kept, length := cutString(rest[quote:])
		if length < 0 {
			return &text // not JSON: from a damaged database
		}
		b.WriteString(kept)
		b.WriteByte('"')
		rest = rest[quote+length+1:]
	}
	text = b.String()
	return &text
}

// cutString returns the first openingString characters of a JSON string after its opening quote,
// and its full length up to the closing quote, or -1 without one.
func cutString(text string) (kept string, length int) {
	cut, characters := -1, 0
	for at := 0; at < len(text); {
		if characters == openingString && cut < 0 {
			cut = at
		}
		if text[at] == '"' {
			if cut < 0 {
				cut = at
			}
			return text[:cut], at
		}
		at += characterLength(text[at:])
		characters++
	}
	return "", -1
}

// characterLength returns the encoded length of the first character of a JSON string. The two
// halves of a surrogate pair (RFC 8259, section 7) are one character.
func characterLength(text string) int {
	switch {
	case text[0] != '\\':
		_, n := utf8.DecodeRuneInString(text)
		return n
	case !strings.HasPrefix(text, `\u`):
		return 2
	case surrogate(text, "89abAB") && surrogate(text[6:], "cdefCDEF"):
		return 12
	}
	return 6
}

// surrogate reports whether text begins with \uD and one of the digits.
func surrogate(text, digits string) bool {
	return len(text) >= 6 && text[:2] == `\u` && text[2]|0x20 == 'd' && strings.IndexByte(digits, text[3]) >= 0
}
