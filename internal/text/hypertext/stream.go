package hypertext

import (
	"slices"
	"strings"

	"adze/internal/text/markdown"
)

// Stream renders Markdown that arrives in pieces, as sections of self-contained HTML: a paragraph,
// a table, a whole list. Finished sections never change. The zero value is ready to use.
type Stream struct {
	Marks []Mark

	parser  markdown.Parser
	line    strings.Builder
	pending []markdown.Block
}

// maxSection bounds the blocks of a list in one section; the list continues in the next.
const maxSection = 40

// Add adds a piece and returns the sections finished by it.
func (s *Stream) Add(piece string) (finished []string) {
	for {
		line, rest, more := strings.Cut(piece, "\n")
		s.line.WriteString(line)
		if !more {
			return finished
		}
		s.parser.Line(s.line.String())
		s.line.Reset()
		finished = append(finished, s.take(s.parser.Finished())...)
		piece = rest
	}
}

// take adds blocks and returns the finished sections; the last one stays pending.
func (s *Stream) take(blocks []markdown.Block) (finished []string) {
	sections := split(append(s.pending, blocks...))
	if len(sections) == 0 {
		return nil
	}
	last := len(sections) - 1
	s.pending = slices.Clone(sections[last])
	for _, section := range sections[:last] {
		finished = append(finished, s.write(section))
	}
	return finished
}

// Open returns the unfinished sections, rendered as if nothing follows.
func (s *Stream) Open() []string {
	p := s.parser.Clone()
	if s.line.Len() > 0 {
		p.Line(s.line.String())
	}
	p.End()
	var out []string
	for _, section := range split(append(slices.Clip(s.pending), p.Finished()...)) {
		out = append(out, s.write(section))
	}
	return out
}

func (s *Stream) write(section []markdown.Block) string {
	w := &proseWriter{marks: s.Marks}
	for _, b := range section {
		w.block(b)
	}
	w.containers(nil)
	return w.String()
}

func split(blocks []markdown.Block) (out [][]markdown.Block) {
	from := 0
	for i := 1; i <= len(blocks); i++ {
		if i == len(blocks) || parts(blocks[i-1], blocks[i], i-from) {
			out = append(out, blocks[from:i])
			from = i
		}
	}
	return out
}

// parts reports whether a section ends between two blocks, the first of which is the last of n.
func parts(a, b markdown.Block, n int) bool {
	if len(a.In) == 0 || len(b.In) == 0 {
		return true
	}
	outer := b.In[0]
	if !outer.Fresh {
		return outer.Quote != a.In[0].Quote
	}
	return n >= maxSection || !alike(a.In[0], outer)
}

// Sections renders a whole text as sections with remarks; left are those that could not be placed.
func Sections(text string, marks []Mark) (sections []string, left []Mark) {
	text, left = placed(text, marks)
	s := Stream{Marks: marks}
	sections = s.Add(text)
	return append(sections, s.Open()...), left
}
