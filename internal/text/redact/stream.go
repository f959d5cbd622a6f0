package redact

import (
	"strings"
	"unsafe"
)

// Stream masks text that arrives in pieces. A possible start of a secret waits for the next piece;
// other text is passed on at once.
type Stream struct {
	m      *Masker
	before string // last bytes passed on, unmasked, to decide whether a word begins here
	held   string
	whole  []byte
}

// Bounds of a Stream.
const (
	context = 8        // bytes kept from the text before
	maxHeld = 64 << 10 // longer text is not the start of a secret
)

// Stream returns a Stream for one text.
func (m *Masker) Stream() *Stream { return &Stream{m: m} }

// Write adds a piece and returns the masked text that is ready.
func (t *Stream) Write(piece string) string { return t.pass(piece, false) }

// End returns the rest.
func (t *Stream) End() string { return t.pass("", true) }

func (t *Stream) pass(piece string, ended bool) string {
	from := len(t.before)
	whole := t.join(piece)
	ended = ended || len(t.held)+len(piece) >= maxHeld
	found, cut := t.m.find(whole, from, ended)
	if !ended {
		cut = max(from, min(cut, t.m.beginning(whole)))
	}
	var ready strings.Builder
	at := from
	for _, x := range unmarked(whole, found) {
		if x.End > cut {
			cut = min(cut, x.Start) // a span across the cut waits as a whole
			break
		}
		ready.WriteString(whole[at:x.Start])
		ready.WriteString(Mark)
		at = x.End
	}
	passed := ""
	if at == from && t.held == "" {
		passed = piece[:cut-from] // the usual case, without a copy
	} else {
		ready.WriteString(whole[at:cut])
		passed = ready.String()
	}
	t.held = strings.Clone(whole[cut:])
	t.before = strings.Clone(whole[max(0, cut-context):cut])
	return passed
}

// join returns context, held text and piece as one string, valid until the next call.
func (t *Stream) join(piece string) string {
	t.whole = append(append(append(t.whole[:0], t.before...), t.held...), piece...)
	return unsafe.String(unsafe.SliceData(t.whole), len(t.whole))
}
