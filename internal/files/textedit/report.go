package textedit

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"adze/internal/files/diff"
)

const (
	reportLines   = 12  // file lines shown in an error
	reportWidth   = 160 // characters per line
	reportDiffers = 3   // differences described
	listedLines   = 20  // line numbers listed
	closeEnough   = 0.4 // least likeness for a closest match
	compared      = 400 // bytes per line compared for the closest match
	longest       = 3   // copy lines searched by likeness
)

// many lists the matching places.
func (d *doc) many(found []Span, e Edit) error {
	var at []int
	for _, s := range found {
		at = append(at, d.lineAt(s.Start))
	}
	move := "give more of the lines around the one you mean, or set replace_all"
	if !strings.Contains(d.Text, e.Old) {
		move = "old_string is not there exactly as written: copy it again, with more of the lines around the one you mean"
	}
	return d.fits(at, move)
}

// manyLines lists the places that match an inexact copy.
func (d *doc) manyLines(found [][]int, e Edit) error {
	var at []int
	for _, rows := range found {
		at = append(at, rows[0])
	}
	move := "old_string is not there exactly as written: copy it again, with more of the lines around the one you mean"
	if e.All {
		move = "they match only roughly, so replace_all does not apply; copy the text exactly as the file has it"
	}
	return d.fits(at, move)
}

func (d *doc) fits(at []int, move string) error {
	var list []string
	for _, row := range at[:min(len(at), listedLines)] {
		list = append(list, fmt.Sprint(row+1))
	}
	more := ""
	if len(at) > listedLines {
		more = fmt.Sprintf(" and %d more", len(at)-listedLines)
	}
	return refuse(ManyMatches, "old_string fits %d places in %s (lines %s%s); %s", len(at), d.Name, strings.Join(list, ", "), more, move)
}

// missing shows the file's most similar lines and the differences.
func (d *doc) missing(e Edit) error {
	if err := d.changedAway(e); err != nil {
		return err
	}
	old, _ := linesOf(strings.Trim(e.Old, "\r\n"))
	at, ok := d.nearest(old)
	if !ok {
		return refuse(NoMatch, "old_string is not in %s, and nothing there is like it; read the file and copy the text from it", d.Name)
	}
	return refuse(NoMatch, "old_string is not in %s. The closest lines are (→ is a tab, · a space at an end):\n%sCopy the text exactly as the file has it, without line numbers.",
		d.Name, d.shown(old, at, min(len(d.rows), at+len(old))))
}

// doubtful refuses an edit with a known place but an uncertain effect.
func (d *doc) doubtful(s Span, e Edit, why string) error {
	old, _ := linesOf(strings.Trim(e.Old, "\r\n"))
	first := d.lineAt(s.Start)
	return refuse(NoMatch, "old_string is not in %s as written, and what new_string means is not certain. Line %d: %s.\nIts place (→ is a tab, · a space at an end):\n%sCopy old_string again from these lines, and write new_string from that copy.",
		d.Name, first+1, why, d.shown(old, first, d.lineAt(max(s.Start, s.End-1))+1))
}

// nearest returns the row where most of the copy matches; its longest lines also match by likeness.
func (d *doc) nearest(old []string) (int, bool) {
	if len(d.Text) > LenientLimit {
		return 0, false
	}
	at := map[string][]int{}
	var long []int
	for i, s := range trimmedAll(old) {
		if s != "" {
			at[s], long = append(at[s], i), append(long, i)
		}
	}
	slices.SortStableFunc(long, func(a, b int) int { return len(old[b]) - len(old[a]) })
	long = long[:min(len(long), longest)]
	var want []*pairs
	for _, i := range long {
		want = append(want, pairsOf(strings.TrimSpace(old[i])))
	}
	votes := map[int]float64{} // matching bytes, by first row
	for row := range d.rows {
		s := strings.TrimSpace(d.row(row))
		for _, i := range at[s] {
			votes[max(0, row-i)] += float64(len(s))
		}
		for k, i := range long {
			if like := want[k].likeness(s); like >= closeEnough && like < 1 {
				votes[max(0, row-i)] += like * like * like * float64(len(old[i]))
			}
		}
	}
	best, most := -1, 0.0
	for first := range votes {
		n := votes[first]*2 + votes[first-1] + votes[first+1] // an extra or missing line shifts the match by one
		if best < 0 || n > most || n == most && first < best {
			best, most = first, n
		}
	}
	return best, best >= 0
}

// pairs counts neighboring byte pairs in a line.
type pairs struct {
	has [1 << 16]bool
	n   int
}

func pairsOf(s string) *pairs {
	p := &pairs{n: max(0, min(len(s), compared)-1)}
	for i := 1; i <= p.n; i++ {
		p.has[int(s[i-1])<<8|int(s[i])] = true
	}
	return p
}

// likeness returns the share of common pairs, from 0 to 1.
func (p *pairs) likeness(s string) float64 {
	n, both := max(0, min(len(s), compared)-1), 0
	for i := 1; i <= n; i++ {
		if p.has[int(s[i-1])<<8|int(s[i])] {
			both++
		}
	}
	return 2 * float64(min(both, p.n)) / float64(max(1, n+p.n))
}

// shown prints the rows from first to before end, and the copy's differences.
func (d *doc) shown(old []string, first, end int) string {
	differs, at := d.differences(old, first, end)
	skip := first
	if len(differs) > 0 { // in a long place, the differences matter most
		skip = max(first, min(at-reportLines/2, end-reportLines))
	}
	var out strings.Builder
	if skip > first {
		fmt.Fprintf(&out, "(%d lines above, from line %d)\n", skip-first, first+1)
	}
	for i := skip; i < min(end, skip+reportLines); i++ {
		out.WriteString(Number(i+1, Width(end), visible(d.row(i))) + "\n")
	}
	if end-skip > reportLines {
		fmt.Fprintf(&out, "(%d more lines)\n", end-skip-reportLines)
	}
	for i, text := range differs[:min(len(differs), reportDiffers)] {
		out.WriteString([]string{"First difference, ", "Then "}[min(i, 1)] + text)
	}
	return out.String()
}

// differences describes how the copy differs from the rows; indentation alone counts only if there
// is nothing else. at is the first one's row.
func (d *doc) differences(old []string, first, end int) (list []string, at int) {
	var rows []string
	for i := first; i < end; i++ {
		rows = append(rows, d.row(i))
	}
	add := func(row, column int, yours, file string) {
		if len(list) == 0 {
			at = row
		}
		list = append(list, fmt.Sprintf("line %d column %d:\n  yours: %s\n  file:  %s\n", row+1, column, yours, file))
	}
	for _, c := range diff.Compare(trimmedAll(rows), trimmedAll(old)) {
		for i, k := c.Old0, c.New0; i < c.Old1 || k < c.New1; i, k = i+1, k+1 {
			switch {
			case k >= c.New1:
				add(first+i, 1, "(no such line)", visible(rows[i]))
			case i >= c.Old1:
				add(first+i, 1, visible(old[k]), "(no such line here)")
			default:
				a, b := strings.TrimSpace(old[k]), strings.TrimSpace(rows[i])
				same := 0
				for x, y := []rune(a), []rune(b); same < len(x) && same < len(y) && x[same] == y[same]; {
					same++
				}
				add(first+i, len(indentOf(rows[i]))+same+1, visible(old[k]), visible(rows[i]))
			}
		}
	}
	for i := 0; len(list) == 0 && i < min(len(rows), len(old)); i++ {
		if rows[i] != old[i] {
			add(first+i, 1, visible(old[i]), visible(rows[i]))
		}
	}
	return list, at
}

// visible marks white space that a reader would miss, and shortens long lines.
func visible(line string) string {
	mark := strings.NewReplacer("\t", "→", " ", "·")
	body := strings.Trim(line, " \t")
	if body == "" {
		return mark.Replace(line)
	}
	start := strings.Index(line, body)
	inside := strings.NewReplacer("\t", "→", "\u00a0", "<U+00A0>", "\u200b", "<U+200B>", "\r", "␍").Replace(body)
	out := mark.Replace(line[:start]) + inside + mark.Replace(line[start+len(body):])
	if utf8.RuneCountInString(out) > reportWidth {
		return string([]rune(out)[:reportWidth]) + "…"
	}
	return out
}
