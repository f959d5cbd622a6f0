package hypertext

import (
	"slices"

	"adze/internal/text/markdown"
)

// maxSection bounds the blocks of a list in one section; the list continues in the next.
const maxSection = 40

// Sections renders Markdown with remarks as sections of self-contained HTML: a paragraph, a table,
// a whole list. Text that follows changes only the last one. left are remarks without a place.
func Sections(text string, marks []Mark) (sections []string, left []Mark) {
	text, left = placed(text, marks)
	for _, section := range split(markdown.Read(text)) {
		w := &proseWriter{marks: marks}
		for _, b := range section {
			w.block(b)
		}
		w.containers(nil)
		sections = append(sections, w.String())
	}
	return sections, left
}

// Growing renders a text that grows. It keeps the sections that no later text changes: a page draws
// a long message many times a second.
type Growing struct {
	settled []string
	at      int // their length in the text
}

// Sections is Sections for the text so far.
func (g *Growing) Sections(text string) []string {
	if n := markdown.Settled(text[g.at:]); n > 0 {
		more, _ := Sections(text[g.at:g.at+n], nil)
		g.settled, g.at = append(g.settled, more...), g.at+n
	}
	open, _ := Sections(text[g.at:], nil)
	return slices.Concat(g.settled, open)
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
