package input

import (
	"bytes"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
)

// MaxPaste is the longest paste, in bytes.
const MaxPaste = 64 << 20

// TooLong reports a dropped paste.
type TooLong struct{ Bytes int }

// pasteBegin and pasteEnd enclose a bracketed paste.
const pasteBegin, pasteEnd = "\x1b[200~", "\x1b[201~"

// interrupt is ctrl+c: alone in a read, it ends a paste whose end was lost.
const interrupt = 0x03

// paste collects a pasted text in pieces, so that it needs at most twice its size.
type paste struct {
	pieces [][]byte
	size   int
	cr     bool   // the last byte was a carriage return
	tail   []byte // may begin pasteEnd
}

// Piece sizes; most pastes are small.
const (
	firstPiece = 4 << 10
	largePiece = 1 << 20
)

// take adds bytes and returns those after the paste.
func (p *paste) take(b []byte) (rest []byte, done bool) {
	if len(b) == 1 && b[0] == interrupt && len(p.tail) == 0 {
		return b, true
	}
	if len(p.tail) > 0 {
		b, p.tail = append(p.tail, b...), nil
	}
	if i := bytes.Index(b, []byte(pasteEnd)); i >= 0 {
		// tmux strips no end from the text. The last one counts, as a terminal sends none elsewhere.
		paste, _, _ := bytes.Cut(b, []byte(pasteBegin))
		i = max(i, bytes.LastIndex(paste, []byte(pasteEnd)))
		p.add(b[:i])
		return b[i+len(pasteEnd):], true
	}
	n := min(len(pasteEnd)-1, len(b))
	for ; n > 0 && !strings.HasPrefix(pasteEnd, string(b[len(b)-n:])); n-- {
	}
	p.add(b[:len(b)-n])
	p.tail = append([]byte(nil), b[len(b)-n:]...)
	return nil, false
}

// add appends bytes and converts line ends to line feeds.
func (p *paste) add(b []byte) {
	for len(b) > 0 {
		if p.cr {
			b, p.cr = bytes.TrimPrefix(b, []byte("\n")), false
			continue
		}
		i := bytes.IndexByte(b, '\r')
		if i < 0 {
			p.keep(b)
			return
		}
		p.keep(append(b[:i:i], '\n'))
		p.cr = true
		b = b[i+1:]
	}
}

func (p *paste) keep(b []byte) {
	p.size += len(b)
	if p.size > MaxPaste {
		p.pieces = nil
		return
	}
	for len(b) > 0 {
		last := len(p.pieces) - 1
		if last < 0 || len(p.pieces[last]) == cap(p.pieces[last]) {
			size := min(max(p.size, firstPiece), largePiece)
			p.pieces = append(p.pieces, make([]byte, 0, size))
			continue
		}
		n := min(len(b), cap(p.pieces[last])-len(p.pieces[last]))
		p.pieces[last] = append(p.pieces[last], b[:n]...)
		b = b[n:]
	}
}

func (p *paste) event() uv.Event {
	if p.size > MaxPaste {
		return TooLong{p.size}
	}
	var text strings.Builder
	text.Grow(p.size)
	for _, piece := range p.pieces {
		text.Write(piece)
	}
	p.pieces = nil
	return uv.PasteEvent{Content: text.String()}
}
