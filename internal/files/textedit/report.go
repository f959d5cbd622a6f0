package textedit

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	reportLines   = 12  // lines of the file shown in an error
	reportWidth   = 160 // characters of each
	reportDiffers = 3   // differences spelt out
	listedLines   = 20  // line numbers listed when there are many
	closeEnough   = 0.4 // likeness below which nothing is shown as the closest

	mostTried      = 8   // lines of a copy looked for one by one
	reportCompared = 400 // bytes of a line compared for finding the closest
)

// many says where the places are.
func (d *doc) many(found []Span, e Edit, label string) error {
	var at []string
	for _, s := range found[:min(len(found), listedLines)] {
		at = append(at, fmt.Sprint(d.lineAt(s.Start)+1))
	}
	more := ""
	if len(found) > listedLines {
		more = fmt.Sprintf(" and %d more", len(found)-listedLines)
	}
	move := "give more of the lines around the one you mean, or set replace_all"
	if len(found) > 0 && !strings.Contains(d.Text, e.Old) {
		move = "old_string is not there exactly as written: copy it again, with more of the lines around the one you mean"
	}
	if e.All {
		move = "they match only roughly, so replace_all does not apply; copy the text exactly as the file has it"
	}
	return refuse(ManyMatches, "%sold_string fits %d places in %s (lines %s%s); %s",
		label, len(found), d.Name, strings.Join(at, ", "), more, move)
}

// missing shows the lines of the file that are most like the ones asked for, and what differs.
func (d *doc) missing(e Edit, label string) error {
	if err := d.changedAway(e, label); err != nil {
		return err
	}
	b := blockOf(e.Old)
	p, ok := d.nearestPlace(b)
	if !ok {
		return refuse(NoMatch, "%sold_string is not in %s, and nothing there is like it; read the file and copy the text from it", label, d.Name)
	}
	return refuse(NoMatch, "%sold_string is not in %s. The closest lines are (→ is a tab, · a space at an end):\n%sCopy the text exactly as the file has it, without line numbers.",
		label, d.Name, d.shown(p, b))
}

// doubtful refuses an edit whose place is found, but not what it is to do there.
func (d *doc) doubtful(p pairing, b block, why *doubt) error {
	return refuse(NoMatch, "old_string is not in %s as written, and what new_string means is not certain. Line %d: %s.\nIts place (→ is a tab, · a space at an end):\n%sCopy old_string again from these lines, and write new_string from that copy.",
		d.Name, why.row+1, why.why, d.shown(p, b))
}

// uncertain refuses an edit whose result is not what anybody wrote.
func (d *doc) uncertain(s Span, e Edit, why *doubt) error {
	b := blockOf(e.Old)
	p := pairing{to: make([]int, len(b.lines))}
	first, last := d.lineAt(s.Start), d.lineAt(max(s.Start, s.End-1))
	for i := range p.to {
		if p.to[i] = first + i; p.to[i] > last {
			p.to[i] = -1
		}
	}
	return d.doubtful(p, b, why)
}

// placed adds to a refusal the lines of the file that it is about.
func (d *doc) placed(err error, e Edit) error {
	r, ok := err.(*Error)
	b := blockOf(e.Old)
	p, found := d.nearestPlace(b)
	if !ok || r.Code != NoMatch || !found {
		return err
	}
	return refuse(r.Code, "%s.\nIts place (→ is a tab, · a space at an end):\n%sCopy old_string again from these lines, and write new_string from that copy.", r.Message, d.shown(p, b))
}

// rivals refuses a copy that is like two places.
func (d *doc) rivals(p, q pairing, b block) error {
	from, end, _ := p.bounds()
	other, last, _ := q.bounds()
	return refuse(ManyMatches, "old_string is not in %s as written, and it is like 2 places: lines %d–%d and lines %d–%d. The first of them (→ is a tab, · a space at an end):\n%sCopy the one you mean exactly, with the line that tells it from the other.",
		d.Name, from+1, end, other+1, last, d.shown(p, b))
}

func (d *doc) row(i int) string { return d.Text[d.rows[i].start:d.rows[i].end] }

// shown prints the lines of a place and the first differences.
func (d *doc) shown(p pairing, b block) string {
	from, end, _ := p.bounds()
	end = max(end, min(from+len(b.lines), len(d.rows)))
	first := d.differences(p, b)
	skip := from
	if len(first) > 0 { // the differences are what matters in a long place
		skip = max(from, min(first[0].row-reportLines/2, end-reportLines))
	}
	var out strings.Builder
	if skip > from {
		fmt.Fprintf(&out, "(%d lines above, from line %d)\n", skip-from, from+1)
	}
	for i := skip; i < min(end, skip+reportLines); i++ {
		out.WriteString(Number(i+1, Width(end), visible(d.row(i))) + "\n")
	}
	if end-skip > reportLines {
		fmt.Fprintf(&out, "(%d more lines)\n", end-skip-reportLines)
	}
	for i, x := range first[:min(len(first), reportDiffers)] {
		if i == 0 {
			out.WriteString("First difference, ")
		} else {
			out.WriteString("Then ")
		}
		out.WriteString(x.text)
	}
	return out.String()
}

// difference is one line that is not the same, in words.
type difference struct {
	row  int
	text string
}

// differences lists what is not the same; what differs in indentation alone counts only if there is
// nothing else.
func (d *doc) differences(p pairing, b block) []difference {
	var list, indents []difference
	_, end, _ := p.bounds()
	next := -1 // the row after the last pair
	add := func(row, column int, yours, file string) {
		list = append(list, difference{row: row, text: fmt.Sprintf("line %d column %d:\n  yours: %s\n  file:  %s\n", row+1, column+1, yours, file)})
	}
	for i, j := range p.to {
		mine := b.lines[i]
		if j < 0 {
			row := max(next, 0)
			if next >= 0 && next < len(d.rows) && (i+1 == len(p.to) || next < end) && !slices.Contains(p.to, next) { // beside it a line that old_string lacks
				add(row, d.column(mine, row), visible(mine), visible(d.row(row)))
				next++
			} else if strings.TrimSpace(mine) != "" {
				add(row, 0, visible(mine), "(no such line here)")
			}
			continue
		}
		for ; next >= 0 && next < j; next++ {
			if strings.TrimSpace(d.row(next)) != "" {
				add(next, 0, "(no such line)", visible(d.row(next)))
			}
		}
		next = j + 1
		switch have := d.row(j); {
		case strings.TrimSpace(have) != strings.TrimSpace(mine):
			add(j, d.column(mine, j), visible(mine), visible(have))
		case have != mine && len(indents) == 0:
			indents = []difference{{row: j, text: fmt.Sprintf("line %d column 1:\n  yours: %s\n  file:  %s\n", j+1, visible(mine), visible(have))}}
		}
	}
	if len(list) == 0 {
		return indents
	}
	return list
}

// column is where a line of the copy begins to differ from the row, in characters.
func (d *doc) column(mine string, row int) int {
	have := d.row(row)
	a, b := strings.TrimSpace(mine), strings.TrimSpace(have)
	return len(indentOf(have)) + utf8.RuneCountInString(a[:commonPrefix(a, b)])
}

// visible shows white space that a reader would miss, and cuts long lines.
func visible(line string) string {
	body := strings.Trim(line, " \t")
	if body == "" {
		return strings.NewReplacer("\t", "→", " ", "·").Replace(line)
	}
	start := strings.Index(line, body)
	mark := strings.NewReplacer("\t", "→", " ", "·")
	body = strings.NewReplacer("\t", "→", "\u00a0", "<U+00A0>", "\u200b", "<U+200B>", "\r", "␍").Replace(body)
	whole := mark.Replace(line[:start]) + body + mark.Replace(line[start+len(strings.Trim(line, " \t")):])
	if utf8.RuneCountInString(whole) > reportWidth {
		return string([]rune(whole)[:reportWidth]) + "…"
	}
	return whole
}
