package print

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf8"

	"adze/internal/text/jsontext"
)

// Line encodes v on one line without any control byte, for whatever else the program writes for
// scripts.
func Line(v any) string { return string(escapeControls(cut(v).Raw)) }

// cut makes one line of JSON, without the long texts in it.
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
		// Only a tool's broken metadata could do this, and it was refused before.
		line.Raw = fmt.Appendf(nil, `{"type":"notice","text":%q}`, "a line could not be encoded: "+err.Error())
	}
	return line
}

// emit writes a line without secrets and without any control byte: encoding/json leaves DEL and C1
// as they are. Long texts are written in pieces.
func (p *Printer) emit(v any) {
	line, mask := cut(v), p.mask()
	line.Raw = append(mask.JSON(line.Raw), '\n')
	line.Each(p.write, func(text string) {
		p.write([]byte{'"'})
		jsontext.Pieces(mask.Value(text), p.write)
		p.write([]byte{'"'})
	})
}

func escapeControls(line []byte) []byte {
	if !bytes.ContainsFunc(line, isControl) {
		return line
	}
	var b bytes.Buffer
	for len(line) > 0 {
		r, n := utf8.DecodeRune(line)
		if isControl(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.Write(line[:n])
		}
		line = line[n:]
	}
	return b.Bytes()
}

func isControl(r rune) bool { return r == 0x7f || (r >= 0x80 && r < 0xa0) }
