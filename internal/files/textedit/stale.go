package textedit

import (
	"fmt"
	"strings"

	"adze/internal/files/diff"
)

const staleLines = 60 // lines of a difference in an error

// fresh rejects places with lines changed since the text was read. Changes elsewhere are harmless.
func (d *doc) fresh(spans []Span) error {
	if !d.Changed || d.ReadText == "" {
		return nil
	}
	changes := diff.Compare(diff.Lines(d.ReadText), diff.Lines(d.Text))
	var hit []diff.Change
	for _, s := range spans {
		first := strings.Count(d.Text[:s.Start], "\n")
		last := first + strings.Count(d.Text[s.Start:max(s.Start, s.End-1)], "\n")
		for _, c := range changes {
			if touches(c.New0, c.New1, first, last) {
				hit = append(hit, c)
			}
		}
	}
	if len(hit) == 0 {
		return nil
	}
	return d.stale(unique(hit))
}

// touches reports whether the lines [from,to) overlap first to last. An empty range, from a
// deletion, must be strictly inside.
func touches(from, to, first, last int) bool {
	if from == to {
		return first < from && from <= last
	}
	return from <= last && to > first
}

func unique(list []diff.Change) (out []diff.Change) {
	seen := map[diff.Change]bool{}
	for _, c := range list {
		if !seen[c] {
			seen[c] = true
			out = append(out, c)
		}
	}
	return out
}

// changedAway returns an error with the difference if Old disappeared since the text was read.
func (d *doc) changedAway(e Edit) error {
	if !d.Changed {
		return nil
	}
	if d.ReadText == "" {
		return refuse(Stale, "old_string is not in %s, which has changed since it was read; read it again", d.Name)
	}
	old := &doc{Source: Source{Name: d.Name, Text: d.ReadText, Newline: d.Newline, Read: true}, rows: rowsOf(d.ReadText)}
	found, err := old.locate(e)
	if err != nil || len(found) == 0 {
		return nil
	}
	s := found[0]
	first, last := old.lineAt(s.Start), old.lineAt(max(s.Start, s.End-1))
	var hit []diff.Change
	for _, c := range diff.Compare(diff.Lines(d.ReadText), diff.Lines(d.Text)) {
		if touches(c.Old0, c.Old1, first, last) {
			hit = append(hit, c)
		}
	}
	if len(hit) == 0 {
		return nil
	}
	return d.stale(hit)
}

func (d *doc) stale(hit []diff.Change) error {
	shown := diff.Print(diff.Side{Name: d.Name, Text: d.ReadText}, diff.Side{Name: d.Name, Text: d.Text}, hit)
	lines := strings.SplitAfter(shown.Text, "\n")
	text := strings.Join(lines[:min(len(lines), staleLines)], "")
	if len(lines) > staleLines {
		text += fmt.Sprintf("(%d more lines)\n", len(lines)-staleLines)
	}
	return refuse(Stale, "the lines to edit in %s have changed since they were read:\n%sread the file again and edit what is there now", d.Name, text)
}
