package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Servers and gateways in other languages write integers as 3.0, empty values for null, and numbers
// for strings. Their meaning is certain and accepted; content of another kind is still an error.

// IsSet reports whether an optional field has a value other than null, "", {}, [], false and 0.
func IsSet(raw json.RawMessage) bool {
	switch string(bytes.TrimSpace(raw)) {
	case "", "null", `""`, "{}", "[]", "false", "0":
		return false
	}
	return true
}

// A Number is an integer such as an index: 3, 3.0 and "3" are equal.
type Number int

// UnmarshalJSON ignores null and "".
func (n *Number) UnmarshalJSON(raw []byte) error {
	if string(raw) == "null" || string(raw) == `""` {
		return nil
	}
	f, err := strconv.ParseFloat(string(bytes.Trim(raw, `"`)), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<31 {
		return fmt.Errorf("%s is no whole number", clip(string(raw), 40))
	}
	*n = Number(f)
	return nil
}

// A Count is an informative number, such as tokens: negative or invalid values count as 0.
type Count int

// UnmarshalJSON never fails.
func (c *Count) UnmarshalJSON(raw []byte) error {
	*c = 0
	f, err := strconv.ParseFloat(string(bytes.Trim(raw, `"`)), 64)
	if err == nil && f > 0 && f < 1<<53 {
		*c = Count(f)
	}
	return nil
}

// A Word is an id, a kind or a reason: a number becomes its digits, and anything else "".
type Word string

// UnmarshalJSON never fails.
func (w *Word) UnmarshalJSON(raw []byte) error {
	*w = ""
	switch {
	case len(raw) == 0 || raw[0] == '{' || raw[0] == '[' || string(raw) == "null" || string(raw) == "false":
	case raw[0] == '"':
		var text string
		_ = json.Unmarshal(raw, &text) // a valid string, or the decoder had stopped before
		*w = Word(text)
	default:
		*w = Word(raw)
	}
	return nil
}

// Prose is thinking text: some servers send a list with strings or objects, and some false for
// none. Anything else is ignored.
type Prose string

// UnmarshalJSON never fails.
func (p *Prose) UnmarshalJSON(raw []byte) error {
	*p = ""
	switch {
	case len(raw) == 0:
	case raw[0] == '"':
		var text string
		_ = json.Unmarshal(raw, &text) // a valid string, or the decoder had stopped before
		*p = Prose(text)
	case raw[0] == '[':
		var list []Prose
		_ = json.Unmarshal(raw, &list)
		for _, one := range list {
			*p += one
		}
	case raw[0] == '{':
		var part struct {
			Text     Prose `json:"text"`
			Thinking Prose `json:"thinking"`
			Content  Prose `json:"content"`
		}
		_ = json.Unmarshal(raw, &part)
		*p = cmp.Or(part.Text, part.Thinking, part.Content)
	}
	return nil
}

// Maybe is an optional value that may be empty in any way; a value that is present must have its
// type.
type Maybe[T any] struct{ V T }

// UnmarshalJSON ignores empty values.
func (m *Maybe[T]) UnmarshalJSON(raw []byte) error {
	if !IsSet(raw) {
		return nil
	}
	return json.Unmarshal(raw, &m.V)
}

// Lenient is an informative value: fields of the right type are read.
type Lenient[T any] struct {
	V       T
	Present bool
}

// UnmarshalJSON never fails.
func (a *Lenient[T]) UnmarshalJSON(raw []byte) error {
	if a.Present = IsSet(raw); a.Present {
		_ = json.Unmarshal(raw, &a.V) // valid fields are read anyway
	}
	return nil
}
