// Package llmtest fakes model servers for tests: Keeper answers an adapter's requests with prepared
// replies, OllamaServer behaves like an Ollama, and Chat and Ollama encode answers in their
// formats. The conformance suite for all adapters is internal/llm/conformance.
//
// The one rule: a fake sends only output observed from the real server.
//
// Start at Keeper for one adapter, at OllamaServer for the whole program.
package llmtest

import (
	"strings"
	"unicode/utf8"

	"adze/session"
)

// An Answer is a model's answer, independent of the format.
type Answer struct {
	Reasoning string
	Text      string
	Calls     []Call
	Length    bool // cut at the output limit
	Usage     session.Usage
	// Piece is the delta length in bytes, cut at runes in text; 0 means one piece each.
	Piece int
	cut   func(text string) []string // optional; cuts deltas instead
}

// A Call is a call or its echo in a request. Arguments are JSON.
type Call struct{ ID, Name, Arguments string }

// A Stream is an encoded answer.
type Stream struct {
	ContentType string
	Body        string
	Records     []int // start of each record
	Terminal    int   // start of the record that completes the answer
}

// A Builder writes streams.
type Builder struct {
	ContentType string
	body        strings.Builder
	records     []int
	terminal    int
}

// Record appends one record.
func (b *Builder) Record(text string) {
	b.records = append(b.records, b.body.Len())
	b.body.WriteString(text)
}

// End marks the next record as the terminal one.
func (b *Builder) End() { b.terminal = b.body.Len() }

// Stream returns the stream.
func (b *Builder) Stream() Stream {
	return Stream{b.ContentType, b.body.String(), b.records, b.terminal}
}

// Pieces cuts text into deltas, at runes.
func (a Answer) Pieces(text string) []string {
	if a.cut != nil && text != "" {
		return a.cut(text)
	}
	var out []string
	for a.Piece > 0 && len(text) > a.Piece {
		n := a.Piece
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		out = append(out, text[:n])
		text = text[n:]
	}
	return append(out, text)
}
