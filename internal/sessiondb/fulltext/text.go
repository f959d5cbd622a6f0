package fulltext

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"

	"adze/internal/sessiondb"
	"adze/session"
	"adze/tool"
)

// maxResult limits the indexed bytes of a call's result, maxSaid those of a message.
const (
	maxResult = 16 << 10
	maxSaid   = 256 << 10
)

// A Kind is a hit's kind.
type Kind string

const (
	Prompt Kind = "prompt"
	Answer Kind = "answer"
	Called Kind = "call"
)

// types returns the entry types with searchable text.
func types() []session.EntryType {
	return []session.EntryType{session.MessageEntry, session.OutcomeEntry}
}

// words holds an entry's searchable text and its position in the conversation.
type words struct {
	kind    Kind
	text    string
	tool    string
	message string
	call    tool.CallID
}

// wordsOf returns an entry's indexed text, or false. The log was masked when written; only
// arguments that the tool allows to be logged are indexed.
func wordsOf(f sessiondb.ScanResult) (w words, ok bool) {
	switch f.Entry.Type {
	case session.MessageEntry:
		var m session.Message
		if json.Unmarshal(f.Entry.Data, &m) != nil || m.Note || m.Summary || m.OwnCall != "" {
			return w, false // a user's own call is indexed by its outcome
		}
		w = words{kind: Prompt, text: cut(m.Text(), maxSaid), message: m.ID}
		if m.Role == session.Assistant {
			w.kind = Answer
		}
	case session.OutcomeEntry:
		var o struct {
			Call   tool.CallID `json:"call"`
			Tool   string      `json:"tool"`
			Output string      `json:"output"`
			Record struct {
				Message string `json:"message"`
				Args    any    `json:"args"`
			} `json:"record"`
		}
		if json.Unmarshal(f.Entry.Data, &o) != nil {
			return w, false
		}
		text := strings.Join(values([]string{o.Tool}, o.Record.Args), " ")
		w = words{kind: Called, text: text + "\n" + cut(o.Output, maxResult), tool: o.Tool, message: o.Record.Message, call: o.Call}
	}
	return w, strings.ContainsFunc(w.text, inWord)
}

// values appends a JSON value's scalars to out, without field names.
func values(out []string, v any) []string {
	switch v := v.(type) {
	case string:
		return append(out, v)
	case []any:
		for _, e := range v {
			out = values(out, e)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			out = values(out, v[k])
		}
	}
	return out
}

// cut truncates a text to at most n bytes at a character boundary.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "")
}

// inWord reports whether the tokenizer treats a character as part of a word (sqlite.org/fts5.html,
// section 4.3.1).
func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.Co, r)
}

// apart puts spaces around characters of scripts that do not separate words, making each a word.
func apart(text string) string {
	if strings.IndexFunc(text, unspaced) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if unspaced(r) {
			b.WriteByte(' ')
			b.WriteRune(r)
			b.WriteByte(' ')
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func unspaced(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
