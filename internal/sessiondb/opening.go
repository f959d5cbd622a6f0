package sessiondb

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"adze/internal/text/jsontext"
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
// ten thousand system prompts. The session's entries hold the full text.
func shorten(data json.RawMessage) *string {
	text := string(data)
	if len(text) <= wholeOpening {
		return &text
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if d.Decode(&v) == nil { // else from a damaged database
		raw, _ := jsontext.Marshal(shortened(v)) // what was decoded can be encoded
		text = string(raw)
	}
	return &text
}

func shortened(v any) any {
	switch v := v.(type) {
	case string:
		return string([]rune(v[:min(len(v), utf8.UTFMax*openingString)])[:min(utf8.RuneCountInString(v), openingString)])
	case []any:
		for i := range v {
			v[i] = shortened(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = shortened(v[key])
		}
	}
	return v
}
