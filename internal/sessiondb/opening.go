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

// listHead is what a list shows of a session: its first start entry and its first message.
type listHead struct{ start, first *string }

// openingOf finds what the opening of w still misses; if nil, nothing.
func openingOf(entries []session.Entry, w *writer) *listHead {
	var o listHead
	copied := 0 // how many of the entries a fork has of its parent
	for i, e := range entries {
		switch {
		case e.Type == session.StartEntry && !w.start && o.start == nil:
			o.start = shorten(e.Data)
			if bytes.Contains(e.Data, []byte(`"copied":`)) { // decoding a system prompt at each start costs more
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

// copiedMark begins the first message of a fork that is its parent's: a message of its own takes
// its place.
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
	// wholeOpening is the size in bytes up to which the data of an opening is kept as it is.
	wholeOpening = 1024
	// openingString is the length in characters to which longer data has its strings cut. It is
	// more than a title needs, and a multiple of four so that Base64 stays readable.
	openingString = 256
)

// shorten cuts the long strings of a JSON text: a list of ten thousand sessions must not read ten
// thousand system prompts. The whole text is in the session's entries. It goes through the text
// once and decodes nothing, since every run pays for it before its first request.
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

// cutString gives the first openingString characters of the JSON string that text begins with,
// after its opening quote, and the length of the whole up to its closing quote; if -1, it has none.
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

// characterLength is the length of the first character, as it is written in a JSON string; the two
// halves of a surrogate pair (RFC 8259, section 7) are one.
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
