package list

import (
	"cmp"
	"context"
	"time"

	"adze/tui/async"
)

// SearchAfter is how long the filter must rest before what the rows stand for is searched: who
// types must not start a search with every letter.
const SearchAfter = 150 * time.Millisecond

// found are the rows that a search found, and what is to be said of them.
type found struct {
	rows []Choice
	note string
}

// SearchWith has the open list search in what its rows stand for, and show what it finds below
// them.
func (p *List) SearchWith(look func(ctx context.Context, text string) (rows []Choice, note string, err error)) {
	p.search = &lookup[found]{look: func(ctx context.Context, text string) (f found, err error) {
		f.rows, f.note, err = look(ctx, text)
		return f, err
	}}
}

// Seek is after every key: when the filter changed, what was found for it before goes, and the
// returned message searches. The marked row stays marked.
func (p *List) Seek() async.Then {
	s := p.search
	if !p.Open || s == nil || s.of == p.Filter.Text {
		return nil
	}
	due := s.turn(p.Filter.Text, "searching all sessions…", func() {
		at := p.at
		p.Narrow()
		p.Move(at)
	})
	p.Narrow()
	return due
}

// item is a row by its number: those of the list, then those that were found.
func (p *List) item(i int) Choice {
	if n := i - len(p.items); n >= 0 {
		return p.search.got.rows[n]
	}
	return p.items[i]
}

// says is what stands below the rows.
func (p *List) says(peeks bool) string {
	if p.Wait == "" && !peeks && p.peek != nil && p.peek.failed {
		return p.peek.note // there is no room for the look itself
	}
	if p.Wait == "" && p.search != nil {
		return cmp.Or(p.search.note, p.search.got.note)
	}
	return p.Wait
}

// foundRows are the numbers of the rows that were found, for the filter as it is.
func (p *List) foundRows() (out []int) {
	if p.search == nil || p.search.of != p.Filter.Text {
		return nil
	}
	for i := range p.search.got.rows {
		out = append(out, len(p.items)+i)
	}
	return out
}

// widest is the width of the widest label.
func (p *List) widest() int {
	widest := p.labels
	for _, i := range p.foundRows() {
		widest = max(widest, p.item(i).width(p.theme))
	}
	return widest
}
