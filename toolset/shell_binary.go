package toolset

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"adze/internal/sandbox/proc"
	"adze/internal/text"
	"adze/internal/text/plural"
)

// binaryLeast is how many bytes that no text has make an output binary, where they are also a tenth
// of it: a few odd bytes are shown as marks.
const binaryLeast = 16

// isBinary reports whether what a command wrote is no text.
func isBinary(t proc.Text) bool {
	odd := oddBytes(t.Head) + oddBytes(t.Tail)
	return odd >= binaryLeast && odd*10 >= len(t.Head)+len(t.Tail)
}

// binaryShown is what a command wrote that is no text: said and not printed, but for the lines of
// text before and after it.
func binaryShown(t proc.Text, where string) string {
	before := textBefore(t.Head)
	rest := t.Head[len(before):] + t.Tail
	after := rest[len(rest)-len(textAfter(rest)):]
	kind := ""
	if k := text.Sniff([]byte(rest[:min(len(rest), text.HeadSize)])); !k.Text {
		kind = " (" + k.Name + ")"
	}
	size := int64(len(rest)-len(after)) + t.OmittedBytes
	if where == "" {
		where = "write it to a file, or look at it with xxd, strings or file"
	}
	return endLine(plainText(before)) + fmt.Sprintf("[binary output%s: %s not shown; %s]\n", kind, plural.Of(size, "byte"), where) + plainText(after)
}

// tailText is the end of an output as panes show it.
func tailText(s string) string {
	if t := (proc.Text{Head: s}); isBinary(t) {
		return binaryShown(t, "not text")
	}
	s, _ = text.Output([]byte(s))
	return plainText(s)
}

// oddBytes counts bytes that no text for a terminal has: controls, most of a NUL-separated list
// excepted, and what is neither UTF-8 nor a letter of Latin-1.
func oddBytes(s string) (n int) {
	nuls := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			switch {
			case c == 0:
				nuls++
			case c < ' ' && !strings.ContainsRune("\t\n\r\f\v\b\a\x1b", rune(c)), c == 0x7f:
				n++
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 && c < 0xA0 {
			n++
		}
		i += size
	}
	if n > 0 || nuls*4 > len(s) {
		n += nuls
	}
	return n
}

// textBefore is the lines of text that an output begins with.
func textBefore(s string) string {
	end := 0
	for line := range strings.Lines(s) {
		if oddBytes(line) > 0 || !utf8.ValidString(line) || !strings.HasSuffix(line, "\n") {
			break
		}
		end += len(line)
	}
	return s[:end]
}

// textAfter is the lines of text that it ends with; between binary data, a short one is chance.
func textAfter(s string) string {
	start := len(s)
	for start > 0 {
		from := strings.LastIndexByte(s[:start-1], '\n') + 1
		if line := s[from:start]; from == 0 || oddBytes(line) > 0 || strings.Contains(line, "\x00") || !utf8.ValidString(line) {
			break
		}
		start = from
	}
	if len(s)-start < binaryLeast/2 {
		return ""
	}
	return s[start:]
}
