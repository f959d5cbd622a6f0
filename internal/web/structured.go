package web

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"adze/internal/text/plural"
)

// longLine is from how many bytes on a line of data was written for programs, and is laid out for
// reading.
const longLine = 300

// laidOut is data as one reads it, and what it is: JSON with a member a line, a feed as its
// entries, XML with an element a line. Text that is none of these stays as it is, and so does data
// that is laid out already.
func (p Page) laidOut(text string, format Format) (Page, bool) {
	body := strings.TrimLeft(strings.TrimPrefix(text, "\ufeff"), " \t\r\n")
	switch {
	case body == "":
		return p, false
	case body[0] == '{' || body[0] == '[':
		valid := json.Valid([]byte(body))
		switch {
		case !valid && !p.Truncated:
			return p, false
		case hasLongLine(body):
			p.Text = indentJSON(body)
		default:
			p.Text = text
		}
		return p, valid || p.Text != text
	case isXML(body):
		if f, ok := readFeed(body); ok {
			p.Title = f.title
			p.Note = fmt.Sprintf("A feed with %s; format raw gives its source.", plural.Of(len(f.entries), "entry"))
			p.Text = f.text(format)
			return p, true
		}
		if hasLongLine(body) {
			p.Text = indentXML(body)
			return p, true
		}
	}
	return p, false
}

// isXML reports a document of XML that is no page.
func isXML(body string) bool {
	head := strings.ToLower(body[:min(len(body), 500)])
	if !strings.HasPrefix(head, "<?xml") && !strings.HasPrefix(head, "<rss") && !strings.HasPrefix(head, "<feed") && !strings.HasPrefix(head, "<rdf:rdf") {
		return false
	}
	return !strings.Contains(head, "<!doctype html") && !strings.Contains(head, "<html")
}

func hasLongLine(s string) bool {
	for line := range strings.Lines(s) {
		if len(line) > longLine {
			return true
		}
	}
	return false
}

// inlineJSON is how long an object or list is that stays on its line.
const inlineJSON = 100

// indentJSON writes JSON with a member or an item a line; short ones stay on one. What is cut off
// at the end may be missing.
func indentJSON(s string) string {
	var compact bytes.Buffer
	if json.Compact(&compact, []byte(s)) == nil {
		s = compact.String()
	}
	var b strings.Builder
	depth := 0
	newline := func() {
		b.WriteByte('\n')
		for range min(depth, 40) {
			b.WriteByte(' ')
		}
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '"':
			end := endOfString(s, i)
			b.WriteString(s[i:end])
			i = end - 1
		case '{', '[':
			if end := endOfShort(s, i); end > 0 {
				b.WriteString(s[i:end])
				i = end - 1
				continue
			}
			b.WriteByte(c)
			depth++
			newline()
		case '}', ']':
			depth = max(0, depth-1)
			newline()
			b.WriteByte(c)
		case ',':
			b.WriteByte(c)
			newline()
		case ':':
			b.WriteString(": ")
		case ' ', '\t', '\r', '\n':
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('\n')
	return b.String()
}

func endOfString(s string, at int) int {
	for i := at + 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(s)
}

// endOfShort is where an object or list ends that is short enough for its line; if 0, it is not.
func endOfShort(s string, at int) int {
	depth := 0
	for i := at; i < len(s) && i < at+inlineJSON; i++ {
		switch s[i] {
		case '"':
			i = endOfString(s, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// indentXML puts each element on a line of its own where there is only space between two tags.
func indentXML(s string) string {
	d := xml.NewDecoder(strings.NewReader(s))
	d.Strict = false
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // it was decoded before
	var b strings.Builder
	depth, from, text := 0, int64(0), false
	for {
		token, err := d.RawToken()
		end := d.InputOffset()
		if err != nil {
			b.WriteString(s[from:])
			return strings.TrimSpace(b.String()) + "\n"
		}
		source := s[from:end]
		from = end
		switch t := token.(type) {
		case xml.CharData:
			if len(bytes.TrimSpace(t)) == 0 {
				continue
			}
			b.WriteString(source)
			text = true
			continue
		case xml.EndElement:
			depth = max(0, depth-1)
			if strings.HasSuffix(b.String()[max(0, b.Len()-2):], "/>") && strings.TrimSpace(source) == "" {
				continue
			}
			if !text && !opened(&b) {
				breakLine(&b, depth)
			}
		case xml.StartElement:
			if !text {
				breakLine(&b, depth)
			}
			depth++
		default:
			if !text {
				breakLine(&b, depth)
			}
		}
		text = false
		b.WriteString(source)
	}
}

// opened reports whether the last that was written is the start of an element.
func opened(b *strings.Builder) bool {
	s := b.String()
	at := strings.LastIndexByte(s[max(0, len(s)-1000):], '<')
	s = s[max(0, len(s)-1000):]
	return at >= 0 && !strings.HasPrefix(s[at:], "</") && !strings.HasSuffix(s, "/>")
}

func breakLine(b *strings.Builder, depth int) {
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	b.WriteString(strings.Repeat(" ", min(depth, 40)))
}
