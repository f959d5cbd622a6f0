package hypertext

import (
	"bytes"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"

	"adze/internal/text/markdown"
)

// Prose is Markdown as HTML, with the remarks about it in their places; left are those that have
// none.
func (o Options) Prose(text string, marks []Mark) (out string, left []Mark) {
	sections, left := o.Sections(text, marks)
	return strings.Join(sections, ""), left
}

// Sections are the blocks of a Markdown text, each of them HTML that stands alone: a paragraph, a
// table, a whole list. left are the remarks without a place.
func (o Options) Sections(source string, marks []Mark) (sections []string, left []Mark) {
	quotes := make([]string, len(marks))
	for i, m := range marks {
		quotes[i] = m.Quote
	}
	source, placed := markdown.Remarked(source, quotes)
	for i, m := range marks {
		if !placed[i] {
			left = append(left, m)
		}
	}
	for n := parse(source).FirstChild(); n != nil; n = n.NextSibling() {
		sections = append(sections, o.section(source, n, marks))
	}
	return sections, left
}

// section writes one block with its remarks.
func (o Options) section(source string, n ast.Node, marks []Mark) string {
	var b bytes.Buffer
	_ = converter(o.Page).Renderer().Render(&b, []byte(source), n) // a buffer takes all
	return o.remarked(b.String(), marks)
}

// remarked writes the remarks in the place of their characters.
func (o Options) remarked(section string, marks []Mark) string {
	w := &writer{Options: o}
	for _, r := range section {
		n := markdown.RemarkOf(r)
		if n == 0 {
			w.WriteRune(r)
			continue
		}
		if n > len(marks) {
			continue
		}
		class := "remark"
		if marks[n-1].Against {
			class = "remark against"
		}
		w.WriteString(`<span class="` + class + `">`)
		w.prose(marks[n-1].Text)
		w.WriteString("</span>")
	}
	return w.String()
}

func parse(source string) ast.Node {
	return converter(false).Parser().Parse(text.NewReader([]byte(source)))
}

// converter is goldmark with its renderer that lets no HTML through, for a page with a script or
// one without.
func converter(page bool) goldmark.Markdown {
	if page {
		return forPage()
	}
	return forFile()
}

var (
	forPage = sync.OnceValue(func() goldmark.Markdown { return newConverter(Options{Page: true}) })
	forFile = sync.OnceValue(func() goldmark.Markdown { return newConverter(Options{}) })
)

func newConverter(o Options) goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(extension.GFM, &nodes{o}),
		goldmark.WithRendererOptions(html.WithHardWraps(), html.WithWriter(safeWriter{})))
}

// Stream is Markdown that arrives in pieces. A finished section does not change any more. The zero
// value is at the start of a text.
type Stream struct {
	Options Options
	text    string // behind the finished sections
}

// Add takes the next piece and returns the sections that it finished: those before the last block
// of all whole lines.
func (s *Stream) Add(piece string) (finished []string) {
	s.text += piece
	if !strings.Contains(piece, "\n") {
		return nil
	}
	whole := s.text[:strings.LastIndexByte(s.text, '\n')+1]
	doc := parse(whole)
	last := doc.LastChild()
	if last == nil {
		return nil
	}
	for n := doc.FirstChild(); n != last; n = n.NextSibling() {
		finished = append(finished, s.Options.section(whole, n, nil))
	}
	if len(finished) > 0 {
		s.text = s.text[strings.LastIndexByte(whole[:last.Pos()], '\n')+1:]
	}
	return finished
}

// Open are the sections that are not finished, as they would be if nothing more came.
func (s *Stream) Open() []string {
	sections, _ := s.Options.Sections(s.text, nil)
	return sections
}
