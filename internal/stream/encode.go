package stream

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf16"
	"unicode/utf8"

	"adze/internal/text/jsontext"
	"adze/tool"
)

// Line encodes v on one line without control bytes and hidden characters, for other script output
// of the program.
func Line(v any) string { return string(escapeHidden(cut(v).Raw)) }

// cut encodes v with its long texts separated.
func cut(v any) jsontext.Line {
	var texts []*string
	switch l := v.(type) {
	case messageLine:
		l.Message.Parts = slices.Clone(l.Message.Parts)
		for i := range l.Message.Parts {
			texts = append(texts, &l.Message.Parts[i].Text)
		}
		v = l
	case resultLine:
		texts, v = []*string{&l.Text}, &l
	case endLineOf:
		texts, v = []*string{&l.Output}, &l
	}
	line, err := jsontext.Cut(v, texts...)
	if err != nil {
		// Only a tool's broken metadata could cause this, and that is rejected earlier.
		line.Raw = fmt.Appendf(nil, `{"type":"notice","text":%q}`, "a line could not be encoded: "+err.Error())
	}
	return line
}

// emit writes a line without secrets, control bytes and hidden characters (tool.Hidden), most of
// which encoding/json keeps. Long texts are written in pieces.
func (p *Printer) emit(v any) {
	line, mask := cut(v), p.mask()
	line.Raw = append(mask.JSON(line.Raw), '\n')
	line.Pieces(p.write, func(text string) {
		p.write([]byte{'"'})
		jsontext.Pieces(mask.Value(text), p.write)
		p.write([]byte{'"'})
	})
}

func escapeHidden(line []byte) []byte {
	if !bytes.ContainsFunc(line, escapes) {
		return line
	}
	var b bytes.Buffer
	for len(line) > 0 {
		r, n := utf8.DecodeRune(line)
		switch {
		case escapes(r) && r > 0xFFFF:
			first, second := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, first, second)
		case escapes(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.Write(line[:n])
		}
		line = line[n:]
	}
	return b.Bytes()
}

// escapes reports whether a character is written as \u and its number. encoding/json escapes the
// control characters below it; the line end is not part of the text.
func escapes(r rune) bool { return r > ' ' && tool.Hidden(r) }
