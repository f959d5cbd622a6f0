package redact

import (
	"strings"
	"unsafe"
)

// Stream masks text that comes in pieces. What may be the beginning of a secret waits for the next
// piece; all other text is passed on at once.
type Stream struct {
	m      *Masker
	before string // the last bytes that were passed on, as they were: they tell whether a word begins here
	held   string
	whole  []byte // room of join
}

// Bounds of a Stream.
const (
	context = 8        // bytes of what went before
	maxHeld = 64 << 10 // a beginning that is longer is none
)

// Stream makes one for one text.
func (m *Masker) Stream() *Stream { return &Stream{m: m} }

// Write takes the next piece and returns what can be passed on, masked.
func (t *Stream) Write(piece string) string { return t.pass(piece, false) }

// End returns what still waited.
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
			cut = min(cut, x.Start) // one that lies across the cut waits as a whole
			break
		}
		ready.WriteString(whole[at:x.Start])
		ready.WriteString(Mark)
		at = x.End
	}
	passed := ""
	if at == from && t.held == "" {
		passed = piece[:cut-from] // nearly always, and without a copy
	} else {
		ready.WriteString(whole[at:cut])
		passed = ready.String()
	}
	t.held = strings.Clone(whole[cut:])
	t.before = strings.Clone(whole[max(0, cut-context):cut])
	return passed
}

// join returns what is known of the text and a further piece. It is valid until the next call.
func (t *Stream) join(piece string) string {
	t.whole = append(append(append(t.whole[:0], t.before...), t.held...), piece...)
	return unsafe.String(unsafe.SliceData(t.whole), len(t.whole))
}
