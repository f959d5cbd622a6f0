package wire

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// A Scanner reads a stream piece in one pass. An answer has thousands of similar pieces, and
// encoding/json visits each byte about ten times if types unmarshal themselves. A Scanner knows
// only common input: for anything else its methods return false, and the caller drops its result
// and uses encoding/json.
type Scanner struct {
	data []byte
	at   int
}

// Scan returns a scanner for a piece.
func Scan(data []byte) Scanner { return Scanner{data: data} }

// sign consumes a byte and the space before it.
func (s *Scanner) sign(c byte) bool {
	s.space()
	if s.at < len(s.data) && s.data[s.at] == c {
		s.at++
		return true
	}
	return false
}

func (s *Scanner) space() {
	for s.at < len(s.data) && (s.data[s.at] == ' ' || s.data[s.at] == '\n' || s.data[s.at] == '\t' || s.data[s.at] == '\r') {
		s.at++
	}
}

// End reports whether only space follows.
func (s *Scanner) End() bool {
	s.space()
	return s.at == len(s.data)
}

// Object reads an object and calls field for each value. A duplicate field is read twice.
func (s *Scanner) Object(field func(name []byte) bool) bool {
	if !s.sign('{') {
		return false
	}
	if s.sign('}') {
		return true
	}
	for {
		raw, plain := s.string()
		if !plain || !s.sign(':') || !field(raw[1:len(raw)-1]) {
			return false
		}
		if s.sign('}') {
			return true
		}
		if !s.sign(',') {
			return false
		}
	}
}

// Array reads an array and calls element for each value.
func (s *Scanner) Array(element func() bool) bool {
	if !s.sign('[') {
		return false
	}
	if s.at < len(s.data) && s.data[s.at] == ']' { // with a space in it the decoder's result differs
		s.at++
		return true
	}
	for {
		if !element() {
			return false
		}
		if s.sign(']') {
			return true
		}
		if !s.sign(',') {
			return false
		}
	}
}

// Null consumes null if present.
func (s *Scanner) Null() bool { return s.literal("null") }

func (s *Scanner) literal(word string) bool {
	s.space()
	if !bytes.HasPrefix(s.data[s.at:], []byte(word)) {
		return false
	}
	s.at += len(word)
	return true
}

// Text reads a string; null is "".
func (s *Scanner) Text() (text string, ok bool) {
	if s.Null() {
		return "", true
	}
	raw, plain := s.string()
	switch {
	case raw == nil:
		return "", false
	case plain:
		return string(raw[1 : len(raw)-1]), true
	}
	return text, json.Unmarshal(raw, &text) == nil
}

// Quoted returns a raw string with its quotes.
func (s *Scanner) Quoted() (json.RawMessage, bool) {
	raw, plain := s.string()
	if !plain && !json.Valid(raw) {
		return nil, false
	}
	return bytes.Clone(raw), true
}

// string returns a raw string; plain means that it has no escapes.
func (s *Scanner) string() (raw []byte, plain bool) {
	s.space()
	if s.at >= len(s.data) || s.data[s.at] != '"' {
		return nil, false
	}
	plain, ascii := true, true
	for i := s.at + 1; i < len(s.data); i++ {
		switch c := s.data[i]; {
		case c == '"':
			raw, s.at = s.data[s.at:i+1], i+1
			return raw, plain && (ascii || utf8.Valid(raw))
		case c == '\\':
			plain = false
			i++
		case c < ' ':
			return nil, false
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return nil, false
}

// Digits reads a non-negative integer.
func (s *Scanner) Digits() (n int, ok bool) {
	s.space()
	begin := s.at
	for s.at < len(s.data) && s.data[s.at]-'0' <= 9 {
		n = 10*n + int(s.data[s.at]-'0')
		s.at++
	}
	digits := s.at - begin
	return n, digits == 1 || digits > 1 && digits < 18 && s.data[begin] != '0'
}

// Pass skips a string, an integer, true, false or null.
func (s *Scanner) Pass() bool {
	s.space()
	if s.at >= len(s.data) {
		return false
	}
	switch s.data[s.at] {
	case '"':
		raw, plain := s.string()
		return plain || json.Valid(raw)
	case 't':
		return s.literal("true")
	case 'f':
		return s.literal("false")
	case 'n':
		return s.Null()
	}
	_, ok := s.Digits()
	return ok
}
