// Package llmtest plays servers of models for tests: Keeper answers the requests of an adapter with
// prepared answers, OllamaServer is an Ollama as its clients see it, and Chat and Ollama write
// answers in their formats. The suite that all adapters pass is internal/llm/conformance.
//
// The one rule: a fake sends only what the real server was seen to send.
//
// Start at Keeper for one adapter, at OllamaServer for the whole program.
package llmtest

import (
	"strings"
	"unicode/utf8"

	"adze/session"
)

// Answer is what a model says, whatever the format.
type Answer struct {
	Reasoning string
	Text      string
	Calls     []Call
	Length    bool // cut at the output limit
	Usage     session.Usage
	// Piece is the length of deltas in bytes, cut at runes where text is sent; if 0, one piece each.
	Piece int
	cut   func(text string) []string // optional; it cuts deltas instead
}

// Call is a call or its echo in a request. Arguments are JSON.
type Call struct{ ID, Name, Arguments string }

// Stream is an encoded answer.
type Stream struct {
	ContentType string
	Body        string
	Records     []int // where each record begins
	Terminal    int   // where the record begins without which the answer is not complete
}

// Builder writes streams.
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

// Stream is what was written.
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
