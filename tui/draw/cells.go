package draw

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"adze/internal/text/safeterm"
)

// Cells reports whether a terminal assigns cells to grapheme clusters (mode 2027).
type Cells bool

// ByCharacter is how all other terminals count: each character has its own cells.
const ByCharacter Cells = false

// Cells returns how the terminal counts cells.
func (t *Theme) Cells() Cells { return t.counts }

// SetCells sets the method and reports whether it changed. Existing rows keep their widths.
func (t *Theme) SetCells(c Cells) (changed bool) {
	changed, t.counts = t.counts != c, c
	return changed
}

// cells returns the width of s, which may contain a row's attributes.
func (c Cells) cells(s string) (w int) {
	for pos := 0; pos < len(s); {
		n, cw := attributes(s[pos:]), 0
		if n == 0 {
			n, cw = c.cluster(s, pos)
		}
		w, pos = w+cw, pos+n
	}
	return w
}

// attributes returns the length of a leading escape sequence, or 0.
func attributes(s string) int {
	if !strings.HasPrefix(s, "\x1b[") {
		return 0
	}
	return strings.IndexByte(s, 'm') + 1 // a row contains only SGR sequences
}

// shortened truncates a row to w cells, with an ellipsis and all attributes, and returns its width.
func (c Cells) shortened(s string, w int) (string, int) {
	var b strings.Builder
	at, full := 0, w < 1
	for pos := 0; pos < len(s); {
		if n := attributes(s[pos:]); n > 0 {
			b.WriteString(s[pos : pos+n])
			pos += n
			continue
		}
		n, cw := c.cluster(s, pos)
		if !full && at+cw >= w {
			b.WriteString("…")
			at, full = at+1, true
		}
		if !full {
			b.WriteString(s[pos : pos+n])
			at += cw
		}
		pos += n
	}
	return b.String(), at
}

// cluster returns the character's length at pos in bytes and its width in cells.
func (c Cells) cluster(s string, pos int) (n, w int) {
	if s[pos] < 0x80 && (pos+1 == len(s) || s[pos+1] < 0x80) {
		return 1, 1
	}
	text, w := ansi.FirstGraphemeCluster(s[pos:], ansi.GraphemeWidth)
	if c == ByCharacter {
		w = max(w, byCharacter(text))
	}
	return max(len(text), 1), w
}

// byCharacter adds up the widths of a cluster's characters. It returns 0 for symbols, because
// terminals that count characters disagree about them.
func byCharacter(cluster string) (w int) {
	const symbols, scripts = 0x2000, 0xa000
	first, n := utf8.DecodeRuneInString(cluster)
	if n == len(cluster) || first >= symbols && first < scripts || first > 0xffff {
		return 0
	}
	for _, r := range cluster {
		switch {
		case r >= 0x1160 && r <= 0x11ff, r >= 0xd7b0 && r <= 0xd7ff: // vowels and final consonants of Hangul
		default:
			w += ansi.StringWidthWc(string(r))
		}
	}
	return w
}

// Cluster returns the length in bytes and the width in cells for the character at pos, for cursors.
func (c Cells) Cluster(t safeterm.Text, pos int) (n, w int) { return c.cluster(t.String(), pos) }
