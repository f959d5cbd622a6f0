package textedit

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	reportLines = 12  // lines of the file shown in an error
	reportWidth = 160 // characters of each
	listedLines = 20  // line numbers listed when there are many
	closeEnough = 0.4 // likeness below which nothing is shown as the closest

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
	if e.All {
		move = "they match only roughly, so replace_all does not apply; copy the text exactly as the file has it"
	}
	return refuse(ManyMatches, "%sold_string fits %d places in %s (lines %s%s); %s",
		label, len(found), d.Name, strings.Join(at, ", "), more, move)
}

// missing shows the lines of the file that are most like the ones asked for, and the first that differs.
func (d *doc) missing(e Edit, label string) error {
	if err := d.changedAway(e, label); err != nil {
		return err
	}
	b := blockOf(e.Old)
	at, score := d.closest(b)
	if score < closeEnough {
		return refuse(NoMatch, "%sold_string is not in %s, and nothing there is like it; read the file and copy the text from it", label, d.Name)
	}
	var out strings.Builder
	last := min(at+len(b.lines), len(d.rows))
	fmt.Fprintf(&out, "%sold_string is not in %s. The closest lines are (→ is a tab, · a space at an end):\n", label, d.Name)
	for i := at; i < min(last, at+reportLines); i++ {
		out.WriteString(Number(i+1, Width(last), visible(d.row(i))) + "\n")
	}
	if last-at > reportLines {
		fmt.Fprintf(&out, "(%d more lines)\n", last-at-reportLines)
	}
	d.difference(&out, b, at)
	out.WriteString("Copy the text exactly as the file has it, without line numbers.")
	return refuse(NoMatch, "%s", out.String())
}

func (d *doc) row(i int) string { return d.Text[d.rows[i].start:d.rows[i].end] }

// difference names the first line that is not the same, one that differs only in indentation if there is no other.
func (d *doc) difference(out *strings.Builder, b block, at int) {
	indentation := -1
	for i, line := range b.lines {
		if at+i >= len(d.rows) {
			fmt.Fprintf(out, "The file ends before line %d of yours.\n", i+1)
			return
		}
		have := d.row(at + i)
		if strings.TrimSpace(have) != strings.TrimSpace(line) {
			d.differs(out, line, at+i)
			return
		}
		if have != line && indentation < 0 {
			indentation = i
		}
	}
	if indentation >= 0 {
		d.differs(out, b.lines[indentation], at+indentation)
	}
}

func (d *doc) differs(out *strings.Builder, line string, row int) {
	have := d.row(row)
	column := 0
	if a, b := strings.TrimSpace(line), strings.TrimSpace(have); a != b {
		column = len(indentOf(have)) + utf8.RuneCountInString(a[:commonPrefix(a, b)])
	}
	fmt.Fprintf(out, "First difference, line %d column %d:\n  yours: %s\n  file:  %s\n", row+1, column+1, visible(line), visible(have))
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

// closest finds the block of lines most like b among those that share a line with it, and the one around the line most
// like its longest.
func (d *doc) closest(b block) (at int, score float64) {
	rows := d.lines()
	if len(rows) == 0 || b.blank() || len(d.Text) > LenientLimit {
		return 0, 0
	}
	want := trimmed(b.lines)
	for _, i := range append(d.sharing(want), d.aroundLongest(want)...) {
		if s := d.likeness(i, want); s > score {
			at, score = i, s
		}
	}
	return at, score
}

// sharing lists the few places where most lines agree.
func (d *doc) sharing(want []string) []int {
	const few = 8
	first := map[string][]int{}
	for i, w := range want {
		if w != "" {
			first[w] = append(first[w], i)
		}
	}
	votes := map[int]int{}
	for i := range d.rows {
		for _, j := range first[strings.TrimSpace(d.row(i))] {
			votes[max(0, i-j)]++
		}
	}
	places := slices.Collect(maps.Keys(votes))
	slices.SortFunc(places, func(a, b int) int {
		if votes[a] != votes[b] {
			return votes[b] - votes[a]
		}
		return a - b
	})
	return places[:min(len(places), few)]
}

// likeness is the share of characters that agree, line by line.
func (d *doc) likeness(at int, want []string) float64 {
	same, all := 0, 0
	for i, w := range want {
		have := ""
		if at+i < len(d.rows) {
			have = strings.TrimSpace(d.row(at + i))
		}
		w, have = w[:min(len(w), reportCompared)], have[:min(len(have), reportCompared)]
		long := max(len(w), len(have))
		dist, _ := within(w, have, long)
		same, all = same+long-dist, all+long
		if all > 20*reportCompared {
			break
		}
	}
	return float64(same) / float64(max(1, all))
}

// aroundLongest compares the longest line, the one that says most, with every line of the text.
func (d *doc) aroundLongest(want []string) []int {
	key := 0
	for i, w := range want {
		if len(w) > len(want[key]) {
			key = i
		}
	}
	needle := want[key][:min(len(want[key]), reportCompared)]
	at, score := -1, closeEnough
	budget := similarWork / 4
	for i := range d.rows {
		have := strings.TrimSpace(d.row(i))
		have = have[:min(len(have), reportCompared)]
		long := max(len(needle), len(have))
		limit := int(float64(long) * (1 - score))
		if budget -= 16 + (2*limit+1)*len(needle)/4; budget < 0 {
			break
		}
		if dist, ok := within(needle, have, limit); ok {
			if s := 1 - float64(dist)/float64(max(1, long)); s > score {
				at, score = i, s
			}
		}
	}
	if at < 0 {
		return nil
	}
	return []int{max(0, at-key)}
}
