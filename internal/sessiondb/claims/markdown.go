package claims

import "strings"

// block is text that stands together: a paragraph, an item of a list, a heading, a row of a table.
type block struct {
	text string
	item bool   // of a list or a table
	lead string // the heading and the line above a list
}

// blocks reads Markdown without what is code, quoted, or an open box.
func blocks(text string) (out []block) {
	r := reader{}
	for line := range strings.Lines(text) {
		r.line(strings.TrimRight(line, "\r\n"))
	}
	r.end()
	return r.out
}

type reader struct {
	out           []block
	now           block
	more          []string // lines of the block behind its first
	heading, lead string
	fence         string // that closes the code; if empty, there is none
	skip          bool   // what comes belongs to something that claims nothing
}

// end closes the block.
func (r *reader) end() {
	if len(r.more) > 0 {
		r.now.text += " " + strings.Join(r.more, " ")
		r.more = r.more[:0]
	}
	r.now.text = strings.TrimSpace(r.now.text)
	if r.now.text != "" && !r.skip {
		r.now.lead = r.heading + " " + r.lead
		if !r.now.item {
			r.now.lead = r.heading
			r.lead = ""
			if strings.HasSuffix(strings.TrimRight(r.now.text, "*_ "), ":") {
				r.lead = r.now.text
			}
		}
		r.out = append(r.out, r.now)
	}
	r.now, r.skip = block{}, false
}

func (r *reader) line(line string) {
	text := strings.TrimSpace(line)
	if r.fence != "" {
		if strings.HasPrefix(text, r.fence) && strings.Trim(text, r.fence[:1]) == "" {
			r.fence = ""
		}
		return
	}
	for _, mark := range []string{"```", "~~~"} {
		if strings.HasPrefix(text, mark) && !strings.Contains(strings.TrimLeft(text, mark[:1]), mark) {
			r.end()
			r.fence = text[:len(text)-len(strings.TrimLeft(text, mark[:1]))]
			return
		}
	}
	item, rest := listed(text)
	switch {
	case text == "":
		r.end()
	case strings.HasPrefix(text, ">"):
		r.end()
		r.skip, r.now.text = true, text
	case strings.HasPrefix(text, "#"):
		r.end()
		r.heading, r.lead = strings.TrimLeft(text, "# "), ""
		r.now.text = r.heading
		heading := r.heading
		r.heading = ""
		r.end()
		r.heading = heading
	case strings.HasPrefix(text, "|"):
		r.end()
		r.now = block{text: row(text), item: true}
		r.end()
	case item:
		r.end()
		r.now = block{text: rest, item: true}
		if box, after, ok := cutBox(rest); ok {
			r.now.text, r.skip = after, box == ' '
		}
	case r.now.text == "" && len(r.more) == 0 && !r.skip && (strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")):
		// Code by its indentation.
	default:
		r.more = append(r.more, text)
	}
}

// listed reports an item of a list, without its mark.
func listed(text string) (bool, string) {
	for _, mark := range []string{"- ", "* ", "+ ", "• ", "– "} {
		if rest, ok := strings.CutPrefix(text, mark); ok {
			return true, strings.TrimSpace(rest)
		}
	}
	digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
	if digits > 0 && digits < 4 && len(text) > digits+1 && (text[digits] == '.' || text[digits] == ')') && text[digits+1] == ' ' {
		return true, strings.TrimSpace(text[digits+2:])
	}
	return false, ""
}

// cutBox is the mark in the box of a task, and the text behind it.
func cutBox(item string) (mark byte, rest string, ok bool) {
	if len(item) < 3 || item[0] != '[' || item[2] != ']' {
		return 0, item, false
	}
	return item[1], strings.TrimSpace(item[3:]), true
}

// row is the first two cells of a table's row, as a term and what is said of it; of more columns
// nothing is known.
func row(text string) string {
	cells := strings.Split(strings.Trim(text, "| "), "|")
	if len(cells) != 2 || strings.Trim(cells[0], " :-") == "" {
		return ""
	}
	return strings.TrimSpace(cells[0]) + ": " + strings.TrimSpace(cells[1])
}
