package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"unicode/utf8"

	"adze/session"
)

// opening is what a list shows of a session: its first start entry and its first message.
type opening struct{ start, first *string }

// openingOf finds what the opening of w still misses; nil: nothing.
func openingOf(entries []session.Entry, w *writer) *opening {
	var o opening
	for _, e := range entries {
		switch {
		case e.Type == session.StartEntry && !w.start && o.start == nil:
			o.start = shorten(e.Data)
		case e.Type == session.MessageEntry && !w.first && o.first == nil:
			o.first = shorten(e.Data)
		}
	}
	if o == (opening{}) {
		return nil
	}
	return &o
}

func (o *opening) save(ctx context.Context, tx *sql.Tx, num int64) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO openings (session, start, first) VALUES (?, ?, ?)
		ON CONFLICT (session) DO UPDATE SET start = coalesce(start, excluded.start), first = coalesce(first, excluded.first)`,
		num, o.start, o.first)
	return err
}

const (
	// wholeOpening is the size in bytes up to which the data of an opening is kept as it is.
	wholeOpening = 1024
	// openingString is the length in characters to which longer data has its strings cut. It is more than a
	// title needs, and a multiple of four so that Base64 stays readable.
	openingString = 256
)

// shorten cuts the long strings of a JSON text: a list of ten thousand sessions must not read ten thousand
// system prompts. The whole text is in the session's entries.
func shorten(data json.RawMessage) *string {
	text := string(data)
	if len(data) <= wholeOpening {
		return &text
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return &text
	}
	if short, err := json.Marshal(cutStrings(value)); err == nil {
		text = string(short)
	}
	return &text
}

func cutStrings(value any) any {
	switch v := value.(type) {
	case string:
		if utf8.RuneCountInString(v) > openingString {
			return string([]rune(v)[:openingString])
		}
	case []any:
		for i := range v {
			v[i] = cutStrings(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = cutStrings(v[key])
		}
	}
	return value
}
