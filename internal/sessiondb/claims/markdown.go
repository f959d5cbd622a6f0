package claims

import (
	"strings"

	"adze/internal/text/markdown"
)

// block is text that stands together: a paragraph, an item of a list, a heading, a row of a table.
type block struct {
	text string
	item bool   // of a list or a table
	lead string // the heading and the line above a list
}

// blocks reads Markdown without what is code, quoted, or an open box.
func blocks(text string) (out []block) {
	var p markdown.Parser
	for line := range strings.SplitSeq(strings.NewReplacer("\n• ", "\n- ", "\n– ", "\n- ").Replace("\n"+text), "\n") {
		p.Line(strings.TrimRight(line, "\r"))
	}
	p.End()
	var heading, lead string
	for _, b := range p.Finished() {
		text := strings.TrimSpace(string(b.Text))
		item, quote := false, false
		for _, c := range b.In {
			item, quote = c.Fresh, quote || c.Quote
		}
		switch {
		case quote || b.Kind == markdown.Code || text == "":
		case b.Kind == markdown.Heading:
			heading, lead = text, ""
			out = append(out, block{text: text})
		case b.Kind == markdown.Table || text[0] == '|':
			for line := range strings.SplitSeq(text, "\n") {
				if cells := markdown.Cells(line); len(cells) == 2 && strings.Trim(cells[0], " :-") != "" { // a term and what is said of it; of more nothing is known
					out = append(out, block{cells[0] + ": " + cells[1], true, heading + " " + lead})
				}
			}
		case item:
			if len(text) > 2 && text[0] == '[' && text[2] == ']' { // the box of a task
				if text = strings.TrimSpace(text[3:]); strings.HasPrefix(string(b.Text), "[ ]") {
					continue
				}
			}
			out = append(out, block{text, true, heading + " " + lead})
		default:
			if out, lead = append(out, block{text: text, lead: heading}), ""; strings.HasSuffix(strings.TrimRight(text, "*_ "), ":") {
				lead = text
			}
		}
	}
	return out
}
