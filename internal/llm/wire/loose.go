package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Servers and gateways that were written in other languages put a whole number as 3.0, leave a
// field empty that should be null, and number what should be named. What that means is certain, so
// it ends no answer; a content of another kind still does.

// Given reports whether an optional field is there and says something: null, "", {}, [], false and
// 0 say nothing.
func Given(raw json.RawMessage) bool {
	switch string(bytes.TrimSpace(raw)) {
	case "", "null", `""`, "{}", "[]", "false", "0":
		return false
	}
	return true
}

// Number is a whole number of the format, such as an index: 3, 3.0 and "3" are one.
type Number int

// UnmarshalJSON reads it; null and "" leave it as it is.
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

// Count is a number that only informs, such as tokens: whatever else stands there, and what is
// below zero, counts as none.
type Count int

// UnmarshalJSON reads it and never fails.
func (c *Count) UnmarshalJSON(raw []byte) error {
	*c = 0
	f, err := strconv.ParseFloat(string(bytes.Trim(raw, `"`)), 64)
	if err == nil && f > 0 && f < 1<<53 {
		*c = Count(f)
	}
	return nil
}

// Word is a name of the format, such as an id, a kind or a reason: a number counts as its digits,
// and what is no word as none.
type Word string

// UnmarshalJSON reads it and never fails.
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

// Prose is a text that models think in: some servers send it in parts, each a text or an object
// with one, and some put false where there is none. What is no text says nothing.
type Prose string

// UnmarshalJSON reads it and never fails.
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

// Maybe is a part of a format that may be empty in any way. What is there must be of its kind.
type Maybe[T any] struct{ V T }

// UnmarshalJSON reads it.
func (m *Maybe[T]) UnmarshalJSON(raw []byte) error {
	if !Given(raw) {
		return nil
	}
	return json.Unmarshal(raw, &m.V)
}

// Aside is a part of a format that only informs: as much of it is read as is of its kind.
type Aside[T any] struct {
	V     T
	Given bool
}

// UnmarshalJSON reads it and never fails.
func (a *Aside[T]) UnmarshalJSON(raw []byte) error {
	if a.Given = Given(raw); a.Given {
		_ = json.Unmarshal(raw, &a.V) // what is of its kind is read all the same
	}
	return nil
}
